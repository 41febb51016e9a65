// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing

/// Requests that come to the wrong socket.
@Suite(.suiteLimit)
struct RequestEnvelopeTests {
    private var said: Comment { "CUECAST_SEED=\(SeededGenerator.seed)" }

    /// How a socket refuses a request that it cannot read.
    private func refusal(of frame: [UInt8], on audience: RequestEnvelope.Audience) throws -> Refusal {
        do throws(WireError) {
            switch audience {
            case .listeners: _ = try ListenerRequest(decoding: frame)
            case .broadcasters: _ = try BroadcastRequest(decoding: frame)
            }
        } catch {
            return RequestEnvelope.refusal(of: error, in: frame, on: audience)
        }
        throw Readable()
    }

    private struct Readable: Error {}

    @Test func `every broadcaster's request is known on the listeners' socket, with its id`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<1_000 {
            let request = generator.broadcastRequest()
            let frame = request.encoded()
            guard frame.count <= WireLimits.requestFrameBytesMax, (try? ListenerRequest(decoding: frame)) == nil else {
                continue
            }
            #expect(ListenerRequest.requestID(of: frame) == request.id, self.said)
            let refusal = try self.refusal(of: frame, on: .listeners)
            #expect(refusal.status == .invalid)
            #expect(
                refusal.sentence.hasPrefix("This is the listeners' address (requests); broadcasters send a "),
                self.said
            )
        }
    }

    @Test func `every listener's request is known on the broadcasters' socket, with its id`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<1_000 {
            let request = generator.listenerRequest()
            let frame = request.encoded()
            // Sixteen random bytes are hardly ever the text that a token is.
            guard (try? BroadcastRequest(decoding: frame)) == nil else { continue }
            #expect(BroadcastRequest.requestID(of: frame) == request.id, self.said)
            let refusal = try self.refusal(of: frame, on: .broadcasters)
            #expect(refusal.status == .invalid)
            #expect(
                refusal.sentence.hasPrefix("This is the broadcasters' address (broadcast); listeners send a "),
                self.said
            )
        }
    }

    @Test(arguments: [
        (
            BroadcastRequest(id: 7, kind: .list(.init())).encoded(), RequestEnvelope.Audience.listeners,
            "This is the listeners' address (requests); broadcasters send a list request to theirs (broadcast, port 7402 by default)."
        ),
        (
            ListenerRequest(id: 7, session: .random(), kind: .getTime).encoded(), .broadcasters,
            "This is the broadcasters' address (broadcast); listeners send a time request to theirs (requests, port 7401 by default)."
        ),
    ])
    func `a request for the other address is told so in one sentence`(
        frame: [UInt8],
        audience: RequestEnvelope.Audience,
        expected: String
    ) throws {
        #expect(try self.refusal(of: frame, on: audience) == Refusal(.invalid, expected))
    }

    /// It has the fields of a punch.
    @Test func `a batch request without a session is told that it has none`() throws {
        let frame = ProtoWriter {
            $0.varint(1, 7)
            $0.message(11) {
                $0.string(1, "radio1")
                $0.string(2, "noon-1")
            }
        }
        .bytes
        let refusal = try self.refusal(of: frame, on: .listeners)
        #expect(refusal.status == .invalid)
        #expect(refusal.sentence.contains("broadcasters send a punch to theirs (broadcast, port 7402 by default)"))
        #expect(refusal.sentence.hasSuffix(", and listeners send a session of 16 bytes with each request."))
    }

    @Test func `bytes of neither kind are not taken for a request`() throws {
        let session = [UInt8](repeating: 0x81, count: 16)
        let strange: [[UInt8]] = [
            [], [0xFF], [8, 77], Array("GET / HTTP/1.1\r\n\r\n".utf8),
            // An unknown kind of a listener.
            ProtoWriter {
                $0.varint(1, 7)
                $0.bytes(2, session)
                $0.message(99) { _ in }
            }
            .bytes,
            // A cancel that names no break.
            ProtoWriter {
                $0.varint(1, 7)
                $0.message(14) { $0.string(1, "radio1") }
            }
            .bytes,
        ]
        for frame in strange {
            let (here, there) = (
                try self.refusal(of: frame, on: .listeners), try self.refusal(of: frame, on: .broadcasters)
            )
            #expect(!here.sentence.contains("address") && !there.sentence.contains("address"))
        }
    }

    @Test func `a session is not taken for a token`() throws {
        let session = [UInt8](repeating: 9, count: 16)
        let frame = ProtoWriter {
            $0.varint(1, 7)
            $0.bytes(2, session)
            $0.message(11) {
                $0.string(1, "radio1")
                $0.string(2, "b1")
            }
        }
        .bytes
        #expect(throws: WireError.invalid(field: "token", rule: "it has control characters")) {
            try BroadcastRequest(decoding: frame)
        }
        #expect(try self.refusal(of: frame, on: .broadcasters).sentence.contains("listeners send a"))
    }

    @Test func `damaged and random bytes trap nothing, and what can be read of an id is the same for both`() {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<5_000 {
            var frame = generator.bytes(0...200)
            if generator.bool() {
                frame =
                    generator.bool() ? generator.listenerRequest().encoded() : generator.broadcastRequest().encoded()
                for _ in 0..<3 where !frame.isEmpty {
                    frame[generator.number(0...(frame.count - 1))] = UInt8.random(in: 0...255, using: &generator)
                }
            }
            for audience in [RequestEnvelope.Audience.listeners, .broadcasters] {
                _ = try? self.refusal(of: frame, on: audience)
            }
            guard frame.count <= WireLimits.requestFrameBytesMax else { continue }
            #expect(ListenerRequest.requestID(of: frame) == BroadcastRequest.requestID(of: frame), self.said)
        }
    }
}
