// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// How far clocks of gateways are apart.
@Suite(.suiteLimit)
struct ClockOffsetTests {
    private func time(_ milliseconds: Int64) -> Timestamp { Sample.t0.advanced(microseconds: milliseconds * 1_000) }

    /// A beat and its echo: the other clock is ahead by so much, and the ways take so long.
    private func add(_ ahead: Int64, there: Int64, stay: Int64 = 700, back: Int64, to offset: inout ClockOffset) {
        offset.add(
            sent: self.time(0),
            heardThere: self.time(there + ahead),
            sentBack: self.time(there + stay + ahead),
            heard: self.time(there + stay + back)
        )
    }

    @Test func `with ways of the same length the difference is exact`() {
        for ahead in [-3_600_000, -51, -1, 0, 1, 50, 80, 3_600_000] as [Int64] {
            var offset = ClockOffset()
            self.add(ahead, there: 20, back: 20, to: &offset)
            #expect(offset.best?.ahead == ahead * 1_000 && offset.best?.way == 40_000)
        }
    }

    @Test func `the difference is never wrong by more than half of the way`() {
        var generator = SeededGenerator(for: "clock offsets")
        for _ in 0..<1_000 {
            let ahead = Int64.random(in: -1_000...1_000, using: &generator)
            var offset = ClockOffset()
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                let (there, back) = (
                    generator.number(0...400 as ClosedRange<Int64>), generator.number(0...400 as ClosedRange<Int64>)
                )
                self.add(ahead, there: there, back: back, to: &offset)
            }
            guard let best = offset.best else {
                Issue.record("no measure")
                return
            }
            #expect(abs(best.ahead - ahead * 1_000) <= best.way / 2 + 1)
            #expect(best.certain <= abs(ahead) * 1_000 + 1)
        }
    }

    @Test func `the shortest of the newest ways counts`() {
        var offset = ClockOffset()
        self.add(0, there: 1, back: 1, to: &offset)
        for _ in 1..<ClockOffset.measuresKept { self.add(100, there: 300, back: 300, to: &offset) }
        #expect(offset.best?.ahead == 0)
        self.add(100, there: 300, back: 300, to: &offset)
        #expect(offset.best?.ahead == 100_000)
    }

    @Test func `50 ms are no alarm, and more is one, where the way leaves no doubt`() {
        var offset = ClockOffset()
        self.add(50, there: 0, back: 0, to: &offset)
        #expect(!offset.isTooLarge)
        offset = ClockOffset()
        self.add(51, there: 0, back: 0, to: &offset)
        #expect(offset.isTooLarge)
        offset = ClockOffset()
        self.add(51, there: 10, back: 10, to: &offset)
        #expect(!offset.isTooLarge)
        self.add(-90, there: 10, back: 10, to: &offset)
        self.add(-90, there: 1, back: 1, to: &offset)
        #expect(offset.isTooLarge)
    }

    @Test func `what cannot be true is no measure, and nothing traps`() {
        var offset = ClockOffset()
        // Longer at the other one than it was away.
        offset.add(sent: self.time(0), heardThere: self.time(0), sentBack: self.time(500), heard: self.time(400))
        // Away for too long.
        self.add(0, there: 5_000, back: 5_001, to: &offset)
        #expect(offset.best == nil)
        self.add(0, there: 5_000, back: 5_000, to: &offset)
        #expect(offset.best != nil)
        var generator = SeededGenerator(for: "absurd clocks")
        for _ in 0..<1_000 {
            func absurd() -> Timestamp { Timestamp(microseconds: generator.number(Int64.min...Int64.max)) }
            let times = (absurd(), absurd(), absurd(), absurd())
            offset.add(sent: times.0, heardThere: times.1, sentBack: times.2, heard: times.3)
            _ = offset.best?.certain
        }
    }
}
