// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import TestSupport
import Testing

@testable import ZMTP

/// What a reader of frames said.
private enum Told: Hashable {
    case ping([UInt8])
    case pong
    case close(UInt16?)
    case failed(WebSocketFailure)
}

/// What bytes say to a reader that gets them in parts.
///
/// - Parameters:
///   - bytes: of the peer.
///   - frameBytesMax: the longest ZeroMQ frame.
///   - fragmentsMax: the most fragments of a message.
///   - isClient: whether the peer masks its frames.
///   - partMax: parts have one byte to so many.
///   - generator: chooses how long each is.
/// - Returns: the ZeroMQ frames as ZMTP has them, and what else was said.
private func read(
    _ bytes: [UInt8],
    frameBytesMax: Int = 4_096,
    fragmentsMax: Int = WebSocketFrameReader.fragmentsDefaultMax,
    isClient: Bool = true,
    partMax: Int = .max,
    _ generator: inout SeededGenerator
) -> (frames: [UInt8], told: [Told]) {
    var reader = WebSocketFrameReader(
        ofClient: isClient,
        frameBytesMax: frameBytesMax,
        fragmentsMax: fragmentsMax
    )
    var (output, end, told, rest) = ([UInt8](), 0, [Told](), bytes[...])
    parts: while !rest.isEmpty {
        let part = Array(rest.prefix(Int.random(in: 1...min(partMax, rest.count), using: &generator)))
        rest = rest.dropFirst(part.count)
        var offset = 0
        while true {
            let event = reader.next(in: part.span, at: &offset, into: &output, at: &end)
            let heldMax =
                frameBytesMax + 1 + WebSocketFrameHeader.bytesMax + WebSocketFrameHeader.controlBytesMax
            #expect(reader.bytesHeld <= heldMax)
            switch event {
            case .needsMore:
                #expect(offset == part.count)
                continue parts
            case .ping(let payload): told.append(.ping(payload))
            case .pong: told.append(.pong)
            case .close(let code): told.append(.close(code))
            case .failed(let failure):
                #expect(reader.next(in: part.span, at: &offset, into: &output, at: &end) == .failed(failure))
                told.append(.failed(failure))
                break parts
            }
        }
    }
    return (Array(output[..<end]), told)
}

private func failure(_ bytes: [UInt8], isClient: Bool = true, frameBytesMax: Int = 4_096) -> WebSocketFailure? {
    var generator = SeededGenerator(seed: 1)
    let told = read(bytes, frameBytesMax: frameBytesMax, isClient: isClient, &generator).told
    guard case .failed(let failure)? = told.last else { return nil }
    return failure
}

/// A frame of a client, masked.
private func frame(
    _ opcode: WebSocketFrameHeader.Opcode,
    _ payload: [UInt8],
    isFinal: Bool = true,
    mask: UInt32 = 0x1234_5678
) -> [UInt8] {
    var bytes: [UInt8] = []
    WebSocketFrameHeader.append(opcode, payloadBytes: payload.count, isFinal: isFinal, mask: mask, to: &bytes)
    for (index, byte) in payload.enumerated() {
        bytes.append(byte ^ UInt8(truncatingIfNeeded: mask >> UInt32(24 - 8 * (index & 3))))
    }
    return bytes
}

@Suite(.suiteLimit)
struct WebSocketFrameTests {
    /// A client's stream of random messages, whole and in fragments with control frames between them, and what is to be read.
    private func stream(_ generator: inout SeededGenerator) -> (bytes: [UInt8], frames: [UInt8], told: [Told]) {
        var (bytes, frames, told) = ([UInt8](), [UInt8](), [Told]())
        func control() {
            let payload = (0..<Int.random(in: 0...125, using: &generator)).map { UInt8(truncatingIfNeeded: $0) }
            let isPing = Bool.random(using: &generator)
            bytes += frame(isPing ? .ping : .pong, payload, mask: UInt32.random(in: 0 ... .max, using: &generator))
            told.append(isPing ? .ping(payload) : .pong)
        }
        for _ in 0..<Int.random(in: 0...20, using: &generator) {
            let count = [0, 1, 20, 124, 125, 255, 256, 3_000].randomElement(using: &generator) ?? 0
            let body = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let flags = [ZWSFraming.Flags.last, .more, .command].randomElement(using: &generator) ?? .last
            FrameHeader.append(bodyBytes: count, more: flags == .more, isCommand: flags == .command, to: &frames)
            frames += body
            var rest = ([flags.rawValue] + body)[...]
            var isFirst = true
            var fragments = Int.random(in: 0...4, using: &generator)
            while fragments > 0 {
                fragments -= 1
                let part = rest.prefix(Int.random(in: 0...rest.count, using: &generator))
                rest = rest.dropFirst(part.count)
                bytes += frame(isFirst ? .binary : .continuation, Array(part), isFinal: false)
                isFirst = false
                if Bool.random(using: &generator) { control() }
            }
            bytes += frame(isFirst ? .binary : .continuation, Array(rest))
            if Bool.random(using: &generator) { control() }
        }
        return (bytes, frames, told)
    }

    @Test func `however a stream is cut, the same frames come of it`() {
        var generator = SeededGenerator(seed: 45)
        for _ in 0..<300 {
            let (bytes, frames, told) = self.stream(&generator)
            let partMax = [1, 2, 7, 64, 5_000].randomElement(using: &generator) ?? 1
            let found = read(bytes, partMax: partMax, &generator)
            #expect(found.frames == frames)
            #expect(found.told == told)
        }
    }

    @Test func `no bytes make a reader trap, and however they are cut it says the same`() {
        var generator = SeededGenerator(seed: 6_455)
        for _ in 0..<500 {
            var (bytes, _, _) = self.stream(&generator)
            bytes = Array(bytes.prefix(1_000))
            for _ in 0..<Int.random(in: 0...6, using: &generator) where !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^=
                    1 << UInt8.random(in: 0...7, using: &generator)
            }
            let whole = read(bytes, frameBytesMax: 1_024, &generator)
            let cut = read(bytes, frameBytesMax: 1_024, partMax: 3, &generator)
            #expect(whole.told == cut.told)
            #expect(whole.frames == cut.frames)
        }
    }

    @Test(arguments: [0, 1, 7, 8, 9, 16, 31])
    func `a mask is applied byte by byte as the RFC says, from any byte on`(count: Int) {
        for key in [0, 0x0102_0304, 0xFF00_AA55, .max, .random(in: 1 ... .max)] as [UInt32] {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255) }
            for before in 0..<9 {
                // RFC 6455, section 5.3: octet i is changed by octet i modulo 4 of the key.
                let octets = [key >> 24, key >> 16 & 0xFF, key >> 8 & 0xFF, key & 0xFF].map { UInt8($0) }
                let expected = bytes.enumerated().map { $1 ^ octets[($0 + before) % 4] }
                let mask = WebSocketMask(key, after: before)
                #expect(bytes.indices.map { bytes[$0] ^ mask[$0] } == expected)
                var result = [UInt8](repeating: 1, count: count)
                // Safety: both arrays have the same length.
                unsafe bytes.withUnsafeBytes { source in
                    unsafe result.withUnsafeMutableBytes { unsafe mask.apply(to: source, into: $0) }
                }
                #expect(result == expected)
            }
        }
    }

    @Test func `what the server writes, a client reads, and the other way round`() {
        var generator = SeededGenerator(seed: 7)
        var frames: [UInt8] = []
        Outgoing.appendRequest([UInt8](repeating: 5, count: 70_000), to: &frames)
        Outgoing.appendReady(.dealer, to: &frames)
        Outgoing.appendSubscription(Array("radio1".utf8) + [0], to: &frames)
        var (server, client): ([UInt8], [UInt8]) = ([], [])
        ZWSFraming.append(zmtp: frames, to: &server)
        ZWSFraming.append(zmtp: frames, mask: { UInt32.random(in: 0 ... .max, using: &generator) }, to: &client)
        var cuts = SeededGenerator(seed: 8)
        let read1 = read(server, frameBytesMax: 70_000, isClient: false, partMax: 999, &cuts)
        let read2 = read(client, frameBytesMax: 70_000, partMax: 999, &cuts)
        #expect(read1.frames == frames && read1.told.isEmpty)
        #expect(read2.frames == frames && read2.told.isEmpty)
    }

    @Test func `frames that violate the protocol are refused`() {
        #expect(failure([0xC2]) == .reservedBits(0x40))
        #expect(failure([0x83]) == .unknownOpcode(3))
        #expect(failure([0x81]) == .text)
        #expect(failure([0x82, 0x01]) == .notMasked)
        #expect(failure([0x82, 0x81], isClient: false) == .masked)
        #expect(failure([0x09]) == .malformedControlFrame)
        #expect(failure([0x89, 0xFE]) == .malformedControlFrame)
        #expect(failure([0x82, 0xFE, 0, 125]) == .lengthNotMinimal)
        #expect(failure([0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]) == .lengthNotMinimal)
        #expect(failure(frame(.continuation, [0])) == .nothingToContinue)
        #expect(failure(frame(.binary, [0], isFinal: false) + frame(.binary, [0])) == .messageInMessage)
        #expect(failure(frame(.binary, [])) == .noFlags)
        #expect(failure(frame(.binary, [], isFinal: false) + frame(.continuation, [])) == .noFlags)
        #expect(failure(frame(.binary, [3])) == .reservedFlags(3))
        let longest: [UInt8] = [0x82, 0xFF] + [UInt8](repeating: 0xFF, count: 12)
        #expect(failure(longest) == .tooLong(bytes: .max, bytesMax: 4_097))
        #expect(
            failure(frame(.binary, [0], isFinal: false) + [0x80, 0xFF] + [UInt8](repeating: 0xFF, count: 12))
                == .tooLong(bytes: .max, bytesMax: 4_097)
        )
    }

    @Test func `a message may be as long as the limit, and not one byte longer`() {
        let body = [UInt8](repeating: 0, count: 11)
        #expect(failure(frame(.binary, body), frameBytesMax: 10) == nil)
        #expect(failure(frame(.binary, body + [0]), frameBytesMax: 10) == .tooLong(bytes: 12, bytesMax: 11))
        let begun = frame(.binary, body, isFinal: false)
        #expect(failure(begun + frame(.continuation, []), frameBytesMax: 10) == nil)
        #expect(failure(begun + frame(.continuation, [0]), frameBytesMax: 10) == .tooLong(bytes: 12, bytesMax: 11))
    }

    @Test func `a message may have as many fragments as the limit, and not one more`() {
        func fragments(_ count: Int) -> [UInt8] {
            var bytes = frame(.binary, [0], isFinal: false)
            for _ in 1..<count { bytes += frame(.continuation, [], isFinal: false) }
            return bytes
        }
        let most = WebSocketFrameReader.fragmentsDefaultMax
        #expect(failure(fragments(most - 1) + frame(.continuation, [])) == nil)
        #expect(failure(fragments(most) + frame(.continuation, [])) == .tooManyFragments(fragmentsMax: most))
    }

    @Test func `a close frame has a code that may be sent, and a reason in UTF-8`() {
        var generator = SeededGenerator(seed: 3)
        func told(_ payload: [UInt8]) -> Told? {
            read(frame(.close, payload) + frame(.ping, []), &generator).told.last
        }
        #expect(told([]) == .close(nil))
        #expect(told([0x03, 0xE8]) == .close(1_000))
        #expect(told([0x0F, 0xA0] + Array("Grüße".utf8)) == .close(4_000))
        #expect(told([1]) == .failed(.malformedClose))
        #expect(told([0x03, 0xED]) == .failed(.malformedClose))
        #expect(told([0x03, 0xE8, 0xFF]) == .failed(.malformedClose))
        var bytes: [UInt8] = []
        ZWSFraming.appendClose(1_008, String(repeating: "ü", count: 200), to: &bytes)
        #expect(bytes.count == 2 + 2 + 122)
        #expect(read(bytes, isClient: false, &generator).told == [.close(1_008)])
    }

    @Test func `each failure has a code and a sentence`() {
        #expect(WebSocketFailure.text.closeCode == 1_003)
        #expect(WebSocketFailure.tooLong(bytes: 2, bytesMax: 1).closeCode == 1_009)
        #expect(WebSocketFailure.tooManyFragments(fragmentsMax: 1).closeCode == 1_008)
        #expect(WebSocketFailure.notMasked.closeCode == 1_002)
        #expect("\(WebSocketFailure.tooLong(bytes: 2, bytesMax: 1))" == "a message of 2 bytes is longer than 1")
    }
}

@Suite(.suiteLimit)
struct WebSocketUpgradeTests {
    private static let lines = [
        "GET /zeromq?x=1 HTTP/1.1", "Host: server.example.com", "Upgrade: websocket",
        "Connection: keep-alive, Upgrade", "Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==",
        "Sec-WebSocket-Protocol: ZWS1.0, ZWS2.0/NULL,ZWS2.0", "Sec-WebSocket-Version: 13",
        "Origin: http://example.com",
    ]

    private func request(_ change: (inout [String]) -> Void = { _ in }) -> [UInt8] {
        var lines = Self.lines
        change(&lines)
        return Array((lines.map { $0 + "\r\n" }.joined() + "\r\n").utf8)
    }

    private func refusal(_ bytes: [UInt8]) -> WebSocketRefusal? {
        var reader = WebSocketUpgradeReader()
        do throws(WebSocketRefusal) {
            _ = try reader.next(in: bytes.span)
            return nil
        } catch {
            return error
        }
    }

    private func refusal(_ line: Int, _ text: String) -> WebSocketRefusal? {
        self.refusal(self.request { $0[line] = text })
    }

    @Test func `the keys of both RFCs are answered as they say`() {
        #expect(WebSocketKey.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(WebSocketKey.accept("x3JJHMbDL1EzLkh9GBhXDw==") == "HSmrc0sMlYUkAGmm5OPpG2HaGWk=")
    }

    @Test func `SHA-1 gives the digests of its standard's examples, whatever the length`() {
        func hex(_ text: String) -> String {
            WebSocketKey.sha1(Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        #expect(hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(hex("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        )
        #expect(hex(String(repeating: "a", count: 1_000)) == "291e9a6c66994949b57ba5e650361e98fc36b1ba")
    }

    @Test(arguments: [1, 3, 1_000])
    func `a request is read however it is cut, and what follows it is left`(step: Int) throws {
        let bytes = self.request() + [0x82, 0x80]
        var reader = WebSocketUpgradeReader()
        var upgrade: WebSocketUpgrade?
        var count = 0
        while upgrade == nil, count < bytes.count {
            count = min(count + step, bytes.count)
            upgrade = try reader.next(in: bytes.span.extracting(0..<count))
        }
        let found = try #require(upgrade)
        #expect(found.path == "/zeromq")
        #expect(found.host == "server.example.com")
        #expect(found.origin == "http://example.com")
        #expect(found.mechanism == .null)
        #expect(found.byteCount == bytes.count - 2)
        let answer = String(decoding: found.answer, as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"))
        #expect(answer.contains("\r\nSec-WebSocket-Protocol: ZWS2.0/NULL\r\n"))
        #expect(answer.contains("\r\nSec-WebSocket-Accept: HSmrc0sMlYUkAGmm5OPpG2HaGWk=\r\n"))
        #expect(answer.hasSuffix("\r\n\r\n"))
    }

    @Test func `requests that ask for something else are refused by name`() {
        #expect(self.refusal(self.request()) == nil)
        #expect(self.refusal([0xFF, 0]) == .notHTTP)
        #expect(self.refusal([0x16, 3, 1]) == .notHTTP)
        #expect(self.refusal(0, "GET /") == .malformedLine(1))
        #expect(self.refusal(0, "GET http://x/ HTTP/1.1") == .malformedLine(1))
        #expect(self.refusal(0, "POST / HTTP/1.1") == .method)
        #expect(self.refusal(0, "GET / HTTP/1.0") == .httpVersion)
        #expect(self.refusal(1, "Host") == .malformedLine(2))
        #expect(self.refusal(1, " Host: folded") == .malformedLine(2))
        #expect(self.refusal(1, "Ho st: x") == .malformedLine(2))
        #expect(self.refusal(1, "X: \u{1}") == .malformedLine(2))
        #expect(self.refusal(1, "Origin: http://example.com") == .field("Host"))
        #expect(self.refusal(2, "Upgrade: h2c") == .noUpgrade)
        #expect(self.refusal(3, "Connection: keep-alive") == .noUpgrade)
        #expect(self.refusal(4, "Sec-WebSocket-Key: short") == .field("Sec-WebSocket-Key"))
        #expect(self.refusal(5, "Sec-WebSocket-Protocol: ZWS1.0") == .subprotocol)
        #expect(self.refusal(6, "Sec-WebSocket-Version: 8") == .version)
        #expect(self.refusal(self.request { $0 += [Self.lines[7]] }) == .field("Origin"))
        #expect(self.refusal(self.request { $0 += ["Content-Length: 1"] }) == .body)
        #expect(self.refusal(self.request { $0 += ["Content-Length: 0"] }) == nil)
        #expect(self.refusal(self.request { $0 += ["Transfer-Encoding: chunked"] }) == .body)
        #expect(self.refusal(Array("GET / HTTP/1.1\nHost: x\n\n".utf8)) == .malformedLine(1))
    }

    @Test func `a head is bounded in bytes and lines`() {
        let rest = self.request().count + "X: \r\n".utf8.count
        let most = WebSocketUpgradeReader.headBytesMax - rest
        #expect(self.refusal(self.request { $0 += ["X: " + String(repeating: "x", count: most)] }) == nil)
        #expect(self.refusal(self.request { $0 += ["X: " + String(repeating: "x", count: most + 1)] }) == .headTooLong)
        let lines = WebSocketUpgradeReader.linesMax - Self.lines.count
        #expect(self.refusal(self.request { $0 += [String](repeating: "X: 1", count: lines) }) == nil)
        #expect(self.refusal(self.request { $0 += [String](repeating: "X: 1", count: lines + 1) }) == .tooManyLines)
    }

    @Test func `no bytes make the reader trap`() {
        var generator = SeededGenerator(seed: 42)
        for _ in 0..<2_000 {
            var bytes = self.request()
            for _ in 0..<Int.random(in: 1...5, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            _ = self.refusal(bytes)
        }
    }

    @Test func `a refusal has a status and says why`() {
        let text = String(decoding: WebSocketRefusal.origin.answer, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
        #expect(text.contains("pages of its origin may not listen here"))
        #expect(String(decoding: WebSocketRefusal.method.answer, as: UTF8.self).contains("\r\nAllow: GET\r\n"))
        let version = String(decoding: WebSocketRefusal.version.answer, as: UTF8.self)
        #expect(version.hasPrefix("HTTP/1.1 426 Upgrade Required\r\n"))
        #expect(version.contains("\r\nSec-WebSocket-Version: 13\r\n"))
    }
}
