// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// Outcomes are taken with a delivery that a gateway with the same keys made, and with no other.
@Suite(.suiteLimit)
struct SignedDeliveryTests {
    private func counter(_ change: (inout ListenerRequestHandler.Settings) -> Void = { _ in }) -> Counter {
        var counter = Counter(change)
        _ = counter.desk.ask(.publish(Sample.publish(start: .at(Sample.at(20)))), at: 1)
        _ = counter.desk.tick(at: 12)
        return counter
    }

    private func number(_ counter: Counter) throws -> BreakNumber { try #require(counter.desk["b1"]).number }

    private func key(_ byte: UInt8, _ state: SigningKey.State = .signing) throws -> SigningKey {
        try #require(SigningKey(secret: Array(repeating: byte, count: 32), state: state, since: Sample.at(0)))
    }

    private func keys(_ keys: SigningKey...) throws -> MessageKeys { MessageKeys(try KeyRing(keys)) }

    /// The refusal of an acknowledgement with this delivery, in both ways of reading requests: in place, and decoded in full.
    private func refusal(_ delivery: [UInt8], _ counter: Counter, _ advertisement: String = "ad0") throws -> Refusal? {
        // A break without a request since the board changed is decoded in full.
        var decoded = counter
        let slow = try decoded.acknowledge([Counter.played(advertisement, at: 25)], delivery: delivery, at: 31)
        var inPlace = counter
        _ = try inPlace.batch(by: Sample.session(9), at: 21)
        let fast = try inPlace.acknowledge([Counter.played(advertisement, at: 25)], delivery: delivery, at: 31)
        #expect(slow.refusal == fast.refusal)
        #expect((slow.deferred == nil) == (slow.refusal != nil))
        return slow.refusal
    }

    @Test func `a delivery is accepted unchanged, and with no change`() throws {
        var counter = self.counter()
        let batch = try #require(try counter.batch(at: 21).batch)
        #expect(try self.refusal(batch.delivery, counter) == nil)
        for bit in 0..<(8 * batch.delivery.count) {
            var forged = batch.delivery
            forged[bit / 8] ^= 1 << (bit % 8)
            let refusal = try self.refusal(forged, counter)
            #expect(refusal?.status == .deliveryInvalid, "bit \(bit): \(String(describing: refusal))")
        }
        for count in 0..<batch.delivery.count {
            let refusal = try self.refusal(Array(batch.delivery.prefix(count)), counter)
            #expect(refusal?.status == .deliveryInvalid)
        }
    }

    @Test func `a delivery is taken at any gateway with the keys, and by the state of its key`() throws {
        var counter = self.counter()
        let number = try self.number(counter)
        let mine = try self.key(1)
        let delivery = Counter.delivery(of: number, keys: try self.keys(mine)).bytes
        counter.handler.keys = try self.keys(self.key(1))
        #expect(try self.refusal(delivery, counter) == nil)
        counter.handler.keys = try self.keys(self.key(2), self.key(1, .verifyOnly))
        #expect(try self.refusal(delivery, counter) == nil)
        counter.handler.keys = try self.keys(self.key(2), self.key(1, .revoked))
        #expect(
            try self.refusal(delivery, counter)
                == Refusal(.deliveryInvalid, "The delivery was signed with a key that was withdrawn.")
        )
        counter.handler.keys = try self.keys(self.key(2))
        #expect(
            try self.refusal(delivery, counter)
                == Refusal(.deliveryInvalid, "The delivery was signed with a key that this gateway does not have.")
        )
    }

    @Test func `a code of another key is not taken under the id of a known one`() throws {
        var counter = self.counter()
        let number = try self.number(counter)
        let (known, foreign) = (try self.keys(self.key(1)), try self.keys(self.key(2)))
        counter.handler.keys = known
        var bytes = Counter.delivery(of: number, keys: foreign).bytes
        bytes.replaceSubrange(1..<5, with: Counter.delivery(of: number, keys: known).bytes[1..<5])
        #expect(
            try self.refusal(bytes, counter)
                == Refusal(.deliveryInvalid, "The delivery is not one that a gateway made.")
        )
    }

    @Test func `nothing before the batch of a delivery is taken with it`() throws {
        let counter = self.counter()
        let number = try self.number(counter)
        let delivery = Counter.delivery(of: number, first: 1).bytes
        #expect(
            try self.refusal(delivery, counter)
                == Refusal(.deliveryInvalid, "The batch of this delivery began behind the advertisement ad0.")
        )
        #expect(try self.refusal(delivery, counter, "ad1") == nil)
    }

    @Test func `a delivery without a signature is refused`() throws {
        let counter = self.counter()
        let unsigned = DeliveryToken(session: Sample.session(), breakNumber: try self.number(counter)).bytes
        #expect(try self.refusal(unsigned, counter) == Refusal(.deliveryInvalid, "The delivery is not signed."))
    }
}
