// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakPlanning
import TestSupport
import Testing

/// How many listeners a break may have.
@Suite(.suiteLimit)
struct ListenerForecastTests {
    static let start: Int64 = 1_795_780_800_000
    static let day = ListenerForecast.dayMilliseconds
    static let nearby = ListenerForecast.nearbyMilliseconds

    private static func past(days: Int64, off milliseconds: Int64 = 0, _ sessions: Int64) -> ListenerForecast.Past {
        ListenerForecast.Past(startMilliseconds: Self.start - days * Self.day + milliseconds, sessions: sessions)
    }

    private static func estimate(_ past: [ListenerForecast.Past], days: Int = 7) -> ListenerForecast.Estimate {
        ListenerForecast(past: past, listeners: 42, days: days).estimate(at: Self.start)
    }

    @Test func `without an earlier day the listeners of now count`() {
        let none = ListenerForecast.Estimate(listeners: 42, basis: .now, days: 0, range: 42...42)
        #expect(Self.estimate([]) == none)
        #expect(Self.estimate([Self.past(days: 1, 10)], days: 0) == none)
        #expect(Self.estimate([Self.past(days: 8, 10)]) == none)
        #expect(Self.estimate([Self.past(days: 0, off: -60_000, 10)]) == none)
    }

    @Test func `a break of an earlier day counts up to half an hour away, and no further`() {
        for sign in [-1, 1] as [Int64] {
            #expect(Self.estimate([Self.past(days: 1, off: sign * Self.nearby, 10)]).listeners == 10)
            #expect(Self.estimate([Self.past(days: 1, off: sign * (Self.nearby + 1), 10)]).basis == .now)
        }
        let day = [
            Self.past(days: 1, off: -600_000, 1), Self.past(days: 1, off: 60_000, 2),
            Self.past(days: 1, off: 61_000, 3),
        ]
        #expect(Self.estimate(day).listeners == 2, "the nearest one of a day counts")
        #expect(Self.estimate([Self.past(days: 7, 10)]).days == 1)
    }

    @Test func `as many days as daysMax are looked back, and no more`() {
        #expect(ListenerForecast.daysMax == 28)
        #expect(Self.estimate([Self.past(days: 28, 10)], days: 28).listeners == 10)
        #expect(Self.estimate([Self.past(days: 28, 10)], days: 27).basis == .now)
        #expect(Self.estimate([Self.past(days: 29, 10)], days: 29).basis == .now)
        #expect(ListenerForecast.times(for: Self.start..<Self.start + 1, days: 29).count == 28)
    }

    @Test func `the estimate is the median of the days, with their range`() {
        let past = [5, 100, 7, 9].enumerated().map { Self.past(days: Int64($0.offset) + 1, $0.element) }
        #expect(
            Self.estimate(past) == ListenerForecast.Estimate(listeners: 7, basis: .earlierDays, days: 4, range: 5...100)
        )
        #expect(Self.estimate(Array(past.prefix(3))).listeners == 7)
        #expect(
            Self.estimate(past, days: 2)
                == ListenerForecast.Estimate(listeners: 5, basis: .earlierDays, days: 2, range: 5...100)
        )
    }

    @Test func `the times that are asked for hold every break that may count`() {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<500 {
            let length = Int64.random(in: 1...Self.day, using: &generator)
            let days = Int.random(in: 0...30, using: &generator)
            let times = ListenerForecast.times(for: Self.start..<Self.start + length, days: days)
            #expect(times.count == min(days, ListenerForecast.daysMax))
            let one = Self.start + Int64.random(in: 0..<length, using: &generator)
            let back = Int64.random(in: 1...30, using: &generator)
            let then = one - back * Self.day + Int64.random(in: -Self.nearby...Self.nearby, using: &generator)
            let past = ListenerForecast.Past(startMilliseconds: then, sessions: 1)
            let counts = ListenerForecast(past: [past], listeners: 0, days: days).estimate(at: one).days == 1
            if counts {
                // The end of a time is not in it, but for a break at the very end of the period.
                #expect(
                    times.contains { $0.contains(then) || $0.upperBound == then },
                    "CUECAST_SEED=\(SeededGenerator.seed)"
                )
            }
        }
    }
}
