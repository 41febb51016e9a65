// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing

/// Whatever the bytes are, reading them ends in a value or in an error with a sentence.
@Suite(.suiteLimit)
struct HostileBytesTests {
    /// One kind of bytes that come from outside.
    struct Format: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sample: @Sendable (inout SeededGenerator) -> [UInt8]
        /// Reads the bytes and writes what was read.
        let reread: @Sendable ([UInt8]) throws -> [UInt8]
        /// Where unequal bytes can be the same value: compares what was read.
        let same: @Sendable ([UInt8], [UInt8]) throws -> Bool

        init<Value: Equatable & SendableMetatype>(
            _ name: String,
            _ sample: @escaping @Sendable (inout SeededGenerator) -> Value,
            _ encode: @escaping @Sendable (Value) -> [UInt8],
            _ decode: @escaping @Sendable ([UInt8]) throws -> Value
        ) {
            self.testDescription = name
            self.sample = { encode(sample(&$0)) }
            self.reread = { encode(try decode($0)) }
            self.same = { try decode($0) == decode($1) }
        }
    }

    static let formats: [Format] = [
        Format("notice frame", { $0.noticeFrame() }, { $0.encoded() }, { try NoticeFrame(decoding: $0) }),
        Format("request", { $0.listenerRequest() }, { $0.encoded() }, { try ListenerRequest(decoding: $0) }),
        Format("reply", { $0.listenerReply() }, { $0.encoded() }, { try ListenerReply(decoding: $0) }),
        Format(
            "broadcast request",
            { $0.broadcastRequest() },
            { $0.encoded() },
            { try BroadcastRequest(decoding: $0) }
        ),
        Format("broadcast reply", { $0.broadcastReply() }, { $0.encoded() }, { try BroadcastReply(decoding: $0) }),
        Format("break group", { $0.breakGroup() }, { $0.encoded() }, { try BreakGroup(decoding: $0) }),
        Format(
            "acknowledgement group",
            { $0.acknowledgementGroup() },
            { $0.encoded() },
            { try AcknowledgementGroup(decoding: $0) }
        ),
        Format("board", { $0.boardRecord() }, { $0.encoded() }, { try BoardRecord(decoding: $0) }),
        Format(
            "delivery token",
            { $0.delivery() },
            { $0.bytes },
            { try DeliveryToken(bytes: $0) }
        ),
    ]

    @Test(arguments: HostileBytesTests.formats)
    func `random bytes are a value or an error`(format: Format) throws {
        var generator = SeededGenerator(for: #function + format.testDescription)
        try self.check(format, Array(repeating: 0, count: 300).map { _ in generator.bytes(0...80) })
    }

    @Test(arguments: HostileBytesTests.formats)
    func `damaged frames are a value or an error`(format: Format) throws {
        var generator = SeededGenerator(for: #function + format.testDescription)
        for _ in 0..<40 {
            let sample = format.sample(&generator)
            let other = format.sample(&generator)
            try self.check(format, (0..<12).map { _ in Self.damage(sample, other, &generator) })
        }
    }

    @Test(arguments: HostileBytesTests.formats)
    func `every beginning of a frame is a value or an error`(format: Format) throws {
        var generator = SeededGenerator(for: #function + format.testDescription)
        let sample = format.sample(&generator)
        try self.check(format, (0..<min(sample.count, 300)).map { Array(sample.prefix($0)) })
    }

    @Test func `deep nesting is refused`() {
        // Groups within groups: the parser must not follow them to the end of the stack.
        let deep = [UInt8](repeating: 0x0B, count: WireLimits.requestFrameBytesMax)
        #expect(throws: WireError.malformed(what: "a request")) { try ListenerRequest(decoding: deep) }
    }

    @Test func `text that is not UTF-8 is refused`() {
        let request = ProtoWriter {
            $0.bytes(2, [UInt8](repeating: 1, count: 16))
            $0.message(14) { $0.bytes(1, [0xC3, 0x28]) }
        }
        #expect(throws: WireError.malformed(what: "a request")) { try ListenerRequest(decoding: request.bytes) }
        #expect(ListenerRequest.requestID(of: request.bytes) == 0)
    }

    /// Checks that readable bytes are written so that they read as the same again, and that every error has a sentence.
    private func check(_ format: Format, _ frames: [[UInt8]]) throws {
        for frame in frames {
            do {
                let written = try format.reread(frame)
                try #require(
                    try format.same(frame, written),
                    "CUECAST_SEED=\(SeededGenerator.seed) \(format.testDescription) \(frame)"
                )
            } catch let error as WireError {
                #expect(error.description.hasSuffix("."))
                #expect(error.status != .ok)
            }
        }
    }

    static func damage(_ frame: [UInt8], _ other: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = frame
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let at = Int.random(in: 0...max(0, bytes.count - 1), using: &generator)
            switch generator.number(0...6) {
            case 0 where !bytes.isEmpty: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1 where !bytes.isEmpty: bytes[at] = generator.pick([0, 1, 0x7F, 0x80, 0xFF])
            case 2: bytes.removeSubrange(at..<min(bytes.count, at + generator.number(0...8)))
            case 3: bytes.insert(contentsOf: generator.bytes(1...8), at: min(at, bytes.count))
            // The largest number that a varint holds: a length, a count or a time gone wrong.
            case 4:
                bytes.insert(contentsOf: [UInt8](repeating: 0xFF, count: 9) + [1], at: min(at, bytes.count))
            case 5: bytes = Array(bytes.prefix(at)) + Array(other.suffix(generator.number(0...other.count)))
            default: bytes += bytes.prefix(generator.number(0...bytes.count))
            }
        }
        return bytes
    }
}
