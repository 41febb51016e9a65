// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing

/// Written values can be read again, and are the same.
@Suite(.suiteLimit)
struct RoundTripTests {
    private func check<Value: Equatable>(
        _ name: String,
        times: Int = 150,
        _ make: (inout SeededGenerator) -> Value,
        encode: (Value) -> [UInt8],
        decode: ([UInt8]) throws -> Value,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var generator = SeededGenerator(for: name)
        for _ in 0..<times {
            let value = make(&generator)
            let read = try decode(encode(value))
            try #require(read == value, "CUECAST_SEED=\(SeededGenerator.seed)", sourceLocation: sourceLocation)
        }
    }

    @Test func `notice frames and ticks survive`() throws {
        try self.check(
            #function,
            { $0.noticeFrame() },
            encode: { $0.encoded() },
            decode: { try NoticeFrame(decoding: $0) }
        )
    }

    @Test func `requests of listeners survive`() throws {
        try self.check(
            #function,
            times: 400,
            { $0.listenerRequest() },
            encode: { $0.encoded() },
            decode: { try ListenerRequest(decoding: $0) }
        )
    }

    @Test func `replies to listeners survive`() throws {
        try self.check(
            #function,
            { $0.listenerReply() },
            encode: { $0.encoded() },
            decode: { try ListenerReply(decoding: $0) }
        )
    }

    @Test func `requests of broadcasters survive`() throws {
        try self.check(
            #function,
            { $0.broadcastRequest() },
            encode: { $0.encoded() },
            decode: { try BroadcastRequest(decoding: $0) }
        )
    }

    @Test func `replies to broadcasters survive`() throws {
        try self.check(
            #function,
            { $0.broadcastReply() },
            encode: { $0.encoded() },
            decode: { try BroadcastReply(decoding: $0) }
        )
    }

    @Test func `groups of break entries survive`() throws {
        try self.check(
            #function,
            { $0.breakGroup() },
            encode: { $0.encoded() },
            decode: { try BreakGroup(decoding: $0) }
        )
    }

    @Test func `groups of acknowledgements survive`() throws {
        try self.check(
            #function,
            { $0.acknowledgementGroup() },
            encode: { $0.encoded() },
            decode: { try AcknowledgementGroup(decoding: $0) }
        )
    }

    @Test func `snapshots of the board survive`() throws {
        try self.check(
            #function,
            times: 40,
            { $0.boardRecord() },
            encode: { $0.encoded() },
            decode: { try BoardRecord(decoding: $0) }
        )
    }

    @Test func `delivery tokens survive and keep their size`() throws {
        try self.check(
            #function,
            { $0.delivery() },
            encode: { $0.bytes },
            decode: { try DeliveryToken(bytes: $0) }
        )
        let unsigned = DeliveryToken(session: SessionID(high: 1, low: 2), breakNumber: BreakNumber(rawValue: 3))
        #expect(unsigned.bytes.count == 29)
        #expect(unsigned.codedBytes == nil)
        var generator = SeededGenerator(for: #function)
        let signed = generator.signedDelivery()
        #expect(signed.bytes.count == 58)
        #expect(signed.bytes.count <= WireLimits.deliveryBytesMax)
        // The code is over everything before it.
        #expect(signed.codedBytes == Array(signed.bytes.dropLast(AuthenticationCode.byteCount)))
    }

    @Test func `a delivery token of another version or length is refused`() {
        var generator = SeededGenerator(for: #function)
        for token in [
            DeliveryToken(session: SessionID(high: 1, low: 2), breakNumber: BreakNumber(rawValue: 3)),
            generator.signedDelivery(),
        ] {
            for version in [0, 3, 255] as [UInt8] {
                let bytes = [version] + token.bytes.dropFirst()
                #expect(throws: WireError.self) { try DeliveryToken(bytes: bytes) }
            }
            #expect(throws: WireError.self) { try DeliveryToken(bytes: token.bytes + [0]) }
            for count in 0..<token.bytes.count {
                #expect(throws: WireError.self) { try DeliveryToken(bytes: Array(token.bytes.prefix(count))) }
            }
        }
    }

    @Test func `a break number leaves room for a whole group`() {
        #expect(BreakGroup.breakNumber(offset: 7, index: 0).rawValue == 7 * 1_024)
        #expect(BreakGroup.breakNumber(offset: 7, index: 1_023) < BreakGroup.breakNumber(offset: 8, index: 0))
    }
}
