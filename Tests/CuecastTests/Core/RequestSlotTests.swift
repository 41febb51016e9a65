// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@testable import Cuecast

@Suite(.timeLimit(.minutes(1)))
struct RequestSlotTests {
    let window = RequestWindow(from: gateway(100), by: gateway(106))

    @Test func `slots are spread evenly over the window`() {
        var tenths = [Int](repeating: 0, count: 10)
        for number in 0..<10_000 as Range<UInt64> {
            let session = SessionID(high: number, low: number &* 7)
            let slot = RequestSlot.instant(in: self.window, session: session, break: breakID("b1"))
            let share = (slot - self.window.from).inSeconds / 6
            #expect(share >= 0 && share < 1)
            tenths[Int(share * 10)] += 1
        }
        // 1,000 each on average; six standard deviations of the binomial distribution are 180.
        #expect(tenths.allSatisfy { abs($0 - 1_000) < 180 }, "\(tenths)")
    }

    @Test func `a session asks at another place of the window for another break`() {
        let session = SessionID(high: 1, low: 2)
        let slots = Set(
            (0..<100).map { RequestSlot.instant(in: self.window, session: session, break: breakID("b\($0)")) }
        )
        #expect(slots.count > 95)
    }

    @Test func `the same session and break give the same slot`() {
        let session = SessionID(high: 1, low: 2)
        let first = RequestSlot.instant(in: self.window, session: session, break: breakID("b1"))
        #expect(RequestSlot.instant(in: self.window, session: session, break: breakID("b1")) == first)
    }

    @Test func `an empty or reversed window means its beginning`() {
        let session = SessionID(high: 1, low: 2)
        for by in [100.0, 90.0] {
            let window = RequestWindow(from: gateway(100), by: gateway(by))
            #expect(RequestSlot.instant(in: window, session: session, break: breakID("b1")) == gateway(100))
        }
    }

    @Test func `the widest window does not overflow`() {
        let window = RequestWindow(from: Timestamp(microseconds: .min), by: Timestamp(microseconds: .max))
        let slot = RequestSlot.instant(in: window, session: SessionID(high: 1, low: 2), break: breakID("b1"))
        #expect(slot >= window.from)
    }

    @Test func `the hash is the same in every release`() {
        // Apps keep an advertisement's id, which is this hash: it may never change.
        #expect(advertisement("spot-1").id == 6_847_109_315_337_020_634)
        #expect(
            StableHash.hash([Array("ab".utf8), Array("c".utf8)])
                != StableHash.hash([Array("a".utf8), Array("bc".utf8)])
        )
    }
}
