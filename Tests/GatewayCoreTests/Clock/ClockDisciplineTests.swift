// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

@Suite(.suiteLimit)
struct ClockDisciplineTests {
    private static let second: Int64 = 1_000_000_000
    private static let begin = Timestamp(microseconds: 1_800_000_000_000_000)

    /// A clock and the two that it is made of.
    private struct Bench {
        var monotonic: Int64 = 5 * second
        /// How far the wall clock was set.
        var set: Duration = .zero
        var clock: ClockDiscipline

        init(_ settings: ClockSettings = ClockSettings(), ahead: Duration = .zero, goesBack: Bool = false) {
            self.clock = ClockDiscipline(
                showing: ClockDisciplineTests.begin + ahead,
                at: 5 * ClockDisciplineTests.second,
                settings: settings,
                goesBack: goesBack
            )
        }

        var wall: Timestamp {
            ClockDisciplineTests.begin + .nanoseconds(self.monotonic - 5 * ClockDisciplineTests.second) + self.set
        }
        var shown: Timestamp { self.clock.reading(at: self.monotonic).now }
        /// How far the clock is from the wall clock.
        var difference: Duration { self.wall - self.shown }

        mutating func pass(_ duration: Duration) {
            var left = duration.inMicroseconds * 1_000
            while left > 0 {
                let step = min(left, ClockDisciplineTests.second)
                self.monotonic += step
                left -= step
                self.clock.observe(wall: self.wall, at: self.monotonic)
            }
        }
    }

    @Test func `it shows the wall clock, to the microsecond, while that is not set`() {
        var bench = Bench()
        for _ in 0..<1_000 {
            bench.pass(.milliseconds(333))
            #expect(abs(bench.difference.inMicroseconds) <= 1)
            #expect(bench.clock.state == .following)
        }
    }

    @Test(arguments: [Duration.seconds(1), .milliseconds(100), .milliseconds(-100), .seconds(-1)])
    func `a difference up to the limit goes at the slew rate, and no faster`(_ set: Duration) {
        var bench = Bench()
        bench.set = set
        bench.pass(.seconds(1))
        for _ in 0..<100 {
            let (before, since) = (bench.shown, bench.monotonic)
            bench.pass(.seconds(10))
            let rate = Double((bench.shown - before).inMicroseconds) / (Double(bench.monotonic - since) / 1_000) - 1
            #expect(abs(rate) <= 50.2e-6)
            #expect(bench.clock.state == .following)
        }
        // A second at 50 parts per million takes 20,000 seconds.
        bench.pass(.seconds(20_000))
        #expect(abs(bench.difference.inMicroseconds) <= 2)
    }

    @Test func `a difference of the limit is followed, one microsecond more is not, until it is gone`() {
        let settings = ClockSettings()
        for sign in [1, -1] {
            var bench = Bench()
            bench.set = settings.differenceMax * sign
            bench.clock.observe(wall: bench.wall, at: bench.monotonic)
            #expect(bench.clock.state == .following)

            var other = Bench()
            other.set = (settings.differenceMax + .microseconds(1)) * sign
            other.clock.observe(wall: other.wall, at: other.monotonic)
            #expect(other.clock.state == .apart)
            let before = other.shown
            other.pass(.seconds(100))
            #expect(other.clock.state == .apart)
            #expect(other.shown - before == .seconds(100), "it goes on at its own rate")
            other.set = .zero
            other.pass(.seconds(1))
            #expect(other.clock.state == .following)
        }
    }

    @Test func `a step of an hour changes nothing that is shown, forward or back`() {
        for hour in [Duration.seconds(3_600), .seconds(-3_600)] {
            var bench = Bench()
            bench.pass(.seconds(10))
            bench.set = hour
            bench.pass(.seconds(600))
            #expect(bench.clock.state == .apart)
            #expect(bench.shown == Self.begin + .seconds(610))
            #expect(abs((bench.clock.difference - hour).inMicroseconds) <= 1)
        }
    }

    @Test func `the command forward jumps, and steady time does not`() throws {
        var bench = Bench()
        bench.set = .seconds(3_600)
        bench.pass(.seconds(5))
        let steady = bench.clock.reading(at: bench.monotonic).steady
        try bench.clock.step(toWall: bench.wall, at: bench.monotonic)
        #expect(bench.shown == bench.wall)
        #expect(bench.clock.state == .following)
        #expect(bench.clock.reading(at: bench.monotonic).steady == steady)
        bench.pass(.seconds(5))
        #expect(bench.clock.reading(at: bench.monotonic).steady == steady + .seconds(5))
    }

    @Test func `the command back lets the wall clock catch up, and nothing shown goes back`() throws {
        var bench = Bench()
        bench.set = .seconds(-60)
        bench.pass(.seconds(5))
        #expect(bench.clock.state == .apart)
        try bench.clock.step(toWall: bench.wall, at: bench.monotonic)
        #expect(bench.clock.state == .goingBack)
        // 60 s at 5 percent: 20 minutes.
        #expect(bench.clock.settlesAfter == .seconds(1_200))
        var last = bench.shown
        for _ in 0..<1_200 {
            #expect(bench.clock.state == .goingBack)
            bench.pass(.seconds(1))
            #expect(bench.shown > last)
            last = bench.shown
        }
        bench.pass(.seconds(2))
        #expect(bench.clock.state == .following)
        #expect(abs(bench.difference.inMicroseconds) <= 5)
    }

    @Test func `the command goes back as far as the limit, and no further`() throws {
        let settings = ClockSettings()
        var bench = Bench()
        bench.set = .zero - settings.stepBackMax
        try bench.clock.step(toWall: bench.wall, at: bench.monotonic)
        #expect(bench.clock.state == .goingBack)

        var other = Bench()
        other.set = .zero - settings.stepBackMax - .microseconds(1)
        other.pass(.seconds(1))
        let before = other.clock
        #expect(throws: ClockDiscipline.StepRefusal.self) {
            try other.clock.step(toWall: other.wall, at: other.monotonic)
        }
        #expect(other.clock.state == .apart)
        #expect(other.clock.reading(at: other.monotonic) == before.reading(at: other.monotonic))
    }

    @Test func `a clock that begins ahead goes back by itself`() {
        var bench = Bench(ahead: .seconds(10), goesBack: true)
        bench.pass(.seconds(1))
        #expect(bench.clock.state == .goingBack)
        bench.pass(.seconds(210))
        #expect(bench.clock.state == .following)
        #expect(bench.clock.reading(at: bench.monotonic).steppedMicroseconds == 0)
    }

    @Test(arguments: 0..<200)
    func `whatever happens to the wall clock, what is shown never goes back`(_ seed: Int) {
        var random = SeededGenerator(for: "wall clock \(seed)")
        var settings = ClockSettings()
        settings.slewPartsPerMillion = .random(in: 1...500, using: &random)
        settings.stepBackPartsPerMillion = .random(in: 1_000...500_000, using: &random)
        var bench = Bench(
            settings,
            ahead: .milliseconds(.random(in: 0...10_000, using: &random)),
            goesBack: .random(using: &random)
        )
        var last = bench.shown
        var lastSteady = bench.clock.reading(at: bench.monotonic).steady
        for _ in 0..<500 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0: bench.set += .microseconds(.random(in: -2_000_000...2_000_000, using: &random))
            case 1: bench.set += .seconds(.random(in: -100_000_000...100_000_000, using: &random))
            case 2: bench.set = .zero
            case 3: try? bench.clock.step(toWall: bench.wall, at: bench.monotonic)
            case 4: bench.set = .microseconds([Int64.max, .min, 0].randomElement(using: &random) ?? 0)
            case 5...8: bench.clock.observe(wall: bench.wall, at: bench.monotonic)
            default: bench.monotonic += .random(in: 0...5_000_000_000, using: &random)
            }
            let reading = bench.clock.reading(at: bench.monotonic)
            #expect(reading.now >= last, "seed \(seed)")
            if reading.now.microseconds < .max / 2 {
                #expect(reading.steady >= lastSteady, "seed \(seed)")
                lastSteady = reading.steady
            }
            // A thread that read the monotonic clock before the clock was bent shows no later time than the bend.
            #expect(bench.clock.reading(at: bench.monotonic - 1_000_000).now <= reading.now)
            last = reading.now
        }
    }
}
