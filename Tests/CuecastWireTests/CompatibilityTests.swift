// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing

/// Older and newer versions can talk to each other.
@Suite(.suiteLimit)
struct CompatibilityTests {
    /// A field of each wire type that no version so far has.
    private static let unknown = ProtoWriter {
        $0.varint(1_001, .max)
        $0.fixed64(1_002, 5)
        $0.string(1_003, "later")
        $0.message(1_004) { $0.varint(1, 1) }
    }
    .bytes

    @Test func `unknown fields change nothing`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<50 {
            let frame = generator.noticeFrame()
            #expect(try NoticeFrame(decoding: frame.encoded() + Self.unknown) == frame)
            let request = generator.listenerRequest()
            #expect(try ListenerRequest(decoding: request.encoded() + Self.unknown) == request)
            let reply = generator.listenerReply()
            #expect(try ListenerReply(decoding: reply.encoded() + Self.unknown) == reply)
            let broadcast = generator.broadcastRequest()
            #expect(try BroadcastRequest(decoding: broadcast.encoded() + Self.unknown) == broadcast)
            let answer = generator.broadcastReply()
            #expect(try BroadcastReply(decoding: answer.encoded() + Self.unknown) == answer)
            let group = generator.breakGroup()
            #expect(try BreakGroup(decoding: group.encoded() + Self.unknown) == group)
            let acknowledgements = generator.acknowledgementGroup()
            #expect(try AcknowledgementGroup(decoding: acknowledgements.encoded() + Self.unknown) == acknowledgements)
        }
    }

    @Test func `unknown fields of inner messages change nothing`() throws {
        let plain = Raw.acknowledge(outcomes: [Raw.outcome("ad")])
        let extended = Raw.acknowledge(outcomes: [Raw.outcome("ad") { $0.append(Self.unknown) }])
        #expect(try ListenerRequest(decoding: extended) == ListenerRequest(decoding: plain))
        let publish = Raw.publish(advertisements: [Raw.advertisement("ad") { $0.append(Self.unknown) }]) {
            $0.append(Self.unknown)
        }
        #expect(try BroadcastRequest(decoding: publish) == BroadcastRequest(decoding: Raw.publish()))
    }

    @Test(arguments: [15, 16, 99])
    func `a request of an unknown kind is not supported and its id can be read`(kind: Int) {
        let frame = Raw.request(kind: kind) { $0.varint(1, 1) }
        #expect(throws: WireError.unsupported) { try ListenerRequest(decoding: frame) }
        #expect(ListenerRequest.requestID(of: frame) == 77)
        #expect(WireError.unsupported.status == .unsupported)
    }

    @Test(arguments: [22, 23, 99])
    func `a broadcaster's request of an unknown kind is not supported and its id can be read`(kind: Int) {
        let frame = Raw.broadcast(kind: kind)
        #expect(throws: WireError.unsupported) { try BroadcastRequest(decoding: frame) }
        #expect(BroadcastRequest.requestID(of: frame) == 77)
    }

    @Test func `the id can be read of what breaks a rule, and is 0 where nothing can be read`() {
        let short = Raw.request(kind: 13, session: [1]) { _ in }
        #expect(throws: WireError.self) { try ListenerRequest(decoding: short) }
        #expect(ListenerRequest.requestID(of: short) == 77)
        #expect(ListenerRequest.requestID(of: [0xFF]) == 0)
        let empty = Raw.publish(advertisements: [])
        #expect(BroadcastRequest.requestID(of: empty) == 77)
        #expect(BroadcastRequest.requestID(of: [0xFF]) == 0)
        let large = ProtoWriter.padding(Raw.join(), to: WireLimits.requestFrameBytesMax + 1)
        #expect(ListenerRequest.requestID(of: large) == 0, "what is too large is not even read")
    }

    @Test func `an empty request is of no kind`() {
        #expect(throws: WireError.unsupported) { try ListenerRequest(decoding: []) }
        #expect(throws: WireError.unsupported) { try BroadcastRequest(decoding: []) }
    }

    @Test(arguments: [0, 21, 1_000] as [UInt64], [true, false])
    func `a status of a later version refuses, and says whether a retry helps`(status: UInt64, retry: Bool) throws {
        let frame = ProtoWriter {
            $0.varint(2, status)
            $0.string(3, "Later.")
            $0.varint(4, retry ? 1 : 0)
            $0.varint(5, 250)
        }
        .bytes
        let expected = Refusal(retry ? .unavailable : .invalid, "Later.", retryAfter: .milliseconds(250))
        #expect(try ListenerReply(decoding: frame).body == .refused(expected))
        #expect(try BroadcastReply(decoding: frame).body == .refused(expected))
        #expect(expected.status.canRetry == retry)
    }

    @Test func `the statuses are those of the contract`() throws {
        let proto = try RepositoryFile.text("proto/cuecast/v1/status.proto")
        let entries = proto.matches(of: /STATUS_CODE_([A-Z_]+) = (\d+);/).map { (String($0.1), Int($0.2)) }
        #expect(entries.count == StatusCode.allCases.count + 1)
        for (name, number) in entries where name != "UNSPECIFIED" {
            #expect(number.flatMap { StatusCode(rawValue: $0) }?.name == name)
        }
    }

    @Test func `the sentence of an error names what is wrong`() {
        let errors: [(WireError, String, StatusCode)] = [
            (.malformed(what: "a request"), "This is not a request.", .invalid),
            (.invalid(field: "a", rule: "b"), "The field a is not valid: b.", .invalid),
            (.tooLarge(limit: "xMax", maximum: 1, found: 2), "The limit xMax is 1, and this has 2.", .tooLarge),
            (.unsupported, "This gateway does not know this kind of request.", .unsupported),
        ]
        for (error, sentence, status) in errors {
            #expect(error.description == sentence)
            #expect(Refusal(error).sentence == sentence)
            #expect(Refusal(error).description == "\(status.name): \(sentence)")
            #expect(Refusal(error).status == status)
        }
    }
}
