// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@Suite(.suiteLimit)
struct RequestSlotTests {
    let window = RequestWindow(from: Self.gateway(100), by: Self.gateway(106))

    private static func gateway(_ seconds: Double) -> Timestamp {
        Timestamp(microseconds: 1_700_000_000_000_000) + .seconds(seconds)
    }

    @Test func `slots are spread evenly over the window`() throws {
        var tenths = [Int](repeating: 0, count: 10)
        for number in 0..<10_000 as Range<UInt64> {
            let session = SessionID(high: number, low: number &* 7)
            let slot = try RequestSlot.instant(in: self.window, session: session, break: BreakID("b1"))
            let share = (slot - self.window.from).inSeconds / 6
            #expect(share >= 0 && share < 1)
            tenths[Int(share * 10)] += 1
        }
        // 1,000 each on average; six standard deviations of the binomial distribution are 180.
        #expect(tenths.allSatisfy { abs($0 - 1_000) < 180 }, "\(tenths)")
    }

    @Test func `a session asks at another place of the window for another break`() throws {
        let session = SessionID(high: 1, low: 2)
        let slots = Set(
            try (0..<100).map { try RequestSlot.instant(in: self.window, session: session, break: BreakID("b\($0)")) }
        )
        #expect(slots.count > 95)
    }

    @Test func `the same session and break give the same slot`() throws {
        let session = SessionID(high: 1, low: 2)
        let first = try RequestSlot.instant(in: self.window, session: session, break: BreakID("b1"))
        #expect(try RequestSlot.instant(in: self.window, session: session, break: BreakID("b1")) == first)
    }

    @Test func `the slot is the one that players in other languages work out`() throws {
        // The same numbers are in clients/javascript/test/policies.test.js.
        let slot = try RequestSlot.instant(
            in: RequestWindow(
                from: Timestamp(microseconds: 1_790_000_000_000_000),
                by: Timestamp(microseconds: 1_790_000_008_000_000)
            ),
            session: SessionID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF),
            break: BreakID("noon-1")
        )
        #expect(slot == Timestamp(microseconds: 1_790_000_000_610_917))
    }

    @Test func `an empty or reversed window means its beginning`() throws {
        let session = SessionID(high: 1, low: 2)
        for by in [100.0, 90.0] {
            let window = RequestWindow(from: Self.gateway(100), by: Self.gateway(by))
            #expect(try RequestSlot.instant(in: window, session: session, break: BreakID("b1")) == Self.gateway(100))
        }
    }

    @Test func `the widest window does not overflow`() throws {
        let window = RequestWindow(from: Timestamp(microseconds: .min), by: Timestamp(microseconds: .max))
        let slot = try RequestSlot.instant(in: window, session: SessionID(high: 1, low: 2), break: BreakID("b1"))
        #expect(slot >= window.from)
    }

    @Test func `the hash of a part list is the hash of its parts one after the other`() {
        #expect(
            StableHash.hash([Array("ab".utf8), Array("c".utf8)])
                != StableHash.hash([Array("a".utf8), Array("bc".utf8)])
        )
        var hash = StableHash()
        hash.add("ab".utf8)
        hash.add("c".utf8)
        #expect(hash.value == StableHash.hash([Array("ab".utf8), Array("c".utf8)]))
    }

    @Test func `a slot is where the hash of session and break puts it`() throws {
        let session = SessionID(high: 0x0102_0304_0506_0708, low: 0xFFEE_DDCC_BBAA_9988)
        let id = try BreakID("noon")
        let hash = StableHash.hash([session.bytes, Array("noon".utf8)])
        let offset = UInt64(6_000_000).multipliedFullWidth(by: hash).high
        #expect(
            RequestSlot.instant(in: self.window, session: session, break: id)
                == self.window.from + .microseconds(Int64(offset))
        )
    }
}
