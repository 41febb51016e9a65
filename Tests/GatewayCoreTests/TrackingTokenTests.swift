// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// The content of tracking URLs, and the names of players that have no session of their own.
@Suite(.suiteLimit)
struct TrackingTokenTests {
    private static func key(_ byte: UInt8, _ state: SigningKey.State = .signing) throws -> SigningKey {
        try #require(SigningKey(secret: Array(repeating: byte, count: 32), state: state, since: Sample.at(0)))
    }

    private static func keys(_ keys: SigningKey...) throws -> MessageKeys { MessageKeys(try KeyRing(keys)) }

    private static func delivery(_ keys: MessageKeys, _ session: Int = 1, first: Int = 0) -> DeliveryToken {
        keys.delivery(
            to: Sample.session(UInt64(session)),
            of: BreakNumber(rawValue: 7),
            first: first,
            at: Sample.at(5)
        )
    }

    @Test func `every kind and ordinal is read as it was written, in one encoding`() throws {
        let keys = try Self.keys(Self.key(1))
        let delivery = Self.delivery(keys)
        var seen: Set<[UInt8]> = []
        for kind in TrackingKind.allCases {
            for ordinal in [0, 1, 63, 255] {
                let token = try #require(keys.tracking(kind, ordinal: ordinal, of: delivery))
                #expect(token.bytes.count == TrackingToken.byteCount)
                #expect(TrackingToken(bytes: token.bytes) == token)
                #expect(keys.fault(of: token) == nil)
                #expect(seen.insert(token.bytes).inserted)
            }
        }
        #expect(keys.tracking(.complete, ordinal: 256, of: delivery) == nil)
        #expect(keys.tracking(.complete, ordinal: -1, of: delivery) == nil)
    }

    @Test func `nothing of it can be changed, cut, lengthened or swapped`() throws {
        let keys = try Self.keys(Self.key(1))
        let token = try #require(keys.tracking(.complete, ordinal: 1, of: Self.delivery(keys)))
        func isTaken(_ bytes: [UInt8]) -> Bool {
            TrackingToken(bytes: bytes).map { keys.fault(of: $0) == nil } ?? false
        }
        #expect(isTaken(token.bytes))
        for bit in 0..<(8 * token.bytes.count) {
            var forged = token.bytes
            forged[bit / 8] ^= 1 << (bit % 8)
            #expect(!isTaken(forged), "bit \(bit)")
        }
        for count in 0..<token.bytes.count { #expect(!isTaken(Array(token.bytes.prefix(count)))) }
        #expect(!isTaken(token.bytes + [0]))
        // The delivery of another session, with the code of this one.
        let other = try #require(keys.tracking(.complete, ordinal: 1, of: Self.delivery(keys, 2)))
        let swapped =
            Array(other.bytes.dropLast(AuthenticationCode.byteCount))
            + Array(token.bytes.suffix(AuthenticationCode.byteCount))
        #expect(!isTaken(swapped))
        // What signs deliveries signs no tracking.
        var asDelivery = Array(token.bytes.dropLast(AuthenticationCode.byteCount))
        let code = try #require(token.delivery.signature).code
        for number in [code.high, code.low] {
            asDelivery += (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
        }
        #expect(!isTaken(asDelivery))
    }

    @Test func `random bytes are no tokens, and never trap`() {
        var random = SeededGenerator(for: "random tracking tokens")
        for _ in 0..<5_000 {
            var bytes = random.bytes(0...(TrackingToken.byteCount + 2))
            if random.bool(), bytes.count > 3 { (bytes[0], bytes[1], bytes[3]) = (1, random.number(0...14), 2) }
            guard let token = TrackingToken(bytes: bytes) else { continue }
            #expect(token.bytes == bytes, "CUECAST_SEED=\(SeededGenerator.seed)")
            #expect(MessageKeys.fixed.fault(of: token) != nil, "CUECAST_SEED=\(SeededGenerator.seed)")
        }
    }

    @Test func `it is taken by the state of the key of its delivery`() throws {
        let before = try Self.keys(Self.key(1))
        let delivery = Self.delivery(before)
        let token = try #require(before.tracking(.skip, ordinal: 0, of: delivery))
        let rotated = try Self.keys(Self.key(2), Self.key(1, .verifyOnly))
        #expect(rotated.fault(of: token) == nil)
        // Also what is signed after that, for a delivery from before.
        #expect(rotated.tracking(.skip, ordinal: 0, of: delivery) == token)
        let revoked = try Self.keys(Self.key(2), Self.key(1, .revoked))
        #expect(revoked.fault(of: token) == .revokedKey)
        #expect(revoked.tracking(.skip, ordinal: 0, of: delivery) == nil)
        let others = try Self.keys(Self.key(3))
        #expect(others.fault(of: token) == .unknownKey)
        #expect(others.tracking(.skip, ordinal: 0, of: delivery) == nil)
        // A delivery of a gateway that did not sign has none.
        let unsigned = DeliveryToken(session: Sample.session(1), breakNumber: BreakNumber(rawValue: 7))
        #expect(before.tracking(.skip, ordinal: 0, of: unsigned) == nil)
    }

    @Test func `a player's name gives one session on a stream, which follows from the key`() throws {
        let keys = try Self.keys(Self.key(1))
        let session = keys.session(of: "player-1", on: Sample.stream)
        #expect(keys.session(of: "player-1", on: Sample.stream) == session)
        #expect(keys.session(of: "player-2", on: Sample.stream) != session)
        #expect(keys.session(of: "player-1", on: Sample.stream("other")) != session)
        #expect(try Self.keys(Self.key(2)).session(of: "player-1", on: Sample.stream) != session)
        // No name of one stream is one of another.
        #expect(
            keys.session(of: "bc", on: Sample.stream("a")) != keys.session(of: "c", on: Sample.stream("ab"))
        )
    }

    @Test func `a serving has a name of its own that tells nothing`() throws {
        let keys = try Self.keys(Self.key(1))
        let delivery = Self.delivery(keys)
        let id = keys.servingID(of: delivery, ordinal: 0)
        #expect(id.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
        #expect(!id.replacing("-", with: "").contains(delivery.session.description))
        #expect(keys.servingID(of: Self.delivery(keys, first: 1), ordinal: 0) == id, "asked for again it is the same")
        #expect(keys.servingID(of: delivery, ordinal: 1) != id)
        #expect(keys.servingID(of: Self.delivery(keys, 2), ordinal: 0) != id)
    }

    @Test func `the break that runs comes first, then those behind it, and none that has no start yet`() throws {
        var desk = Desk()
        for (id, start) in [("late", 200.0), ("runs", 100), ("next", 150)] {
            _ = desk.ask(.publish(Sample.publish(id, start: .at(Sample.at(start)))), at: 90)
        }
        _ = desk.ask(.publish(Sample.publish("cued", start: nil)), at: 90)
        _ = desk.ask(.publish(Sample.publish("pre", start: nil, preStream: true)), at: 90)
        func ids(_ at: Double, _ most: Int = 3) -> [String] {
            desk.board.stream(Sample.stream)?.playable(after: Sample.at(at), most: most).map(\.key.id.description) ?? []
        }
        #expect(ids(95).isEmpty, "none with a start was announced")
        for time in [95.0, 145, 195] { _ = desk.tick(at: time) }
        #expect(ids(95) == ["runs", "next", "late"])
        #expect(ids(95, 2) == ["runs", "next"])
        #expect(ids(129.999_999) == ["runs", "next", "late"])
        #expect(ids(130) == ["next", "late"], "at its end it is over")
        #expect(ids(230) == [])
        _ = desk.ask(.cancel(Sample.key("late")), at: 196)
        #expect(ids(95) == ["runs", "next"])
    }
}
