// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Estimates how many listeners a break will have, from the breaks of earlier days and the listeners of now.
///
/// It is simple on purpose, so that its reader can check it: the middle one of the numbers that breaks of the same time of day had. What
/// changes an audience it does not know: the programme, holidays, the weather.
package struct ListenerForecast: Hashable, Sendable {
    /// A break that is over, with the sessions that got its ads.
    package struct Past: Hashable, Sendable {
        /// In milliseconds since 1970.
        package var startMilliseconds: Int64
        package var sessions: Int64

        package init(startMilliseconds: Int64, sessions: Int64) {
            self.startMilliseconds = startMilliseconds
            self.sessions = sessions
        }
    }

    /// The basis of an estimate.
    package enum Basis: String, Hashable, Sendable {
        /// Breaks of the same time of day.
        case earlierDays
        /// There are none: the listeners of now.
        case now
    }

    package struct Estimate: Hashable, Sendable {
        package var listeners: Int64
        package var basis: Basis
        /// On how many earlier days a break was near enough.
        package var days: Int
        /// The fewest and the most of these days; of `now` the number itself.
        package var range: ClosedRange<Int64>

        package init(listeners: Int64, basis: Basis, days: Int, range: ClosedRange<Int64>) {
            self.listeners = listeners
            self.basis = basis
            self.days = days
            self.range = range
        }
    }

    /// How far from the same time of day a break of an earlier day may be (30 min), in milliseconds.
    package static let nearbyMilliseconds: Int64 = 1_800_000
    /// A day, in milliseconds.
    package static let dayMilliseconds: Int64 = 86_400_000
    /// The most days that may be looked back.
    package static let daysMax = 28

    /// The breaks of earlier days.
    package let past: [Past]
    /// The listeners of now.
    package let listeners: Int64
    /// How many days are looked back.
    package let days: Int

    package init(past: [Past], listeners: Int64, days: Int) {
        self.past = past
        self.listeners = listeners
        self.days = min(max(days, 0), Self.daysMax)
    }

    /// The times of earlier days that matter for breaks of a period, in milliseconds since 1970.
    ///
    /// - Parameters:
    ///   - period: the period.
    ///   - days: how many days are looked back.
    /// - Returns: a time for each day, yesterday's first; they may overlap.
    package static func times(for period: Range<Int64>, days: Int) -> [Range<Int64>] {
        guard days > 0 else { return [] }
        return (1...min(days, Self.daysMax))
            .map { day in
                let back = Int64(day) * Self.dayMilliseconds
                return period.lowerBound - back - Self.nearbyMilliseconds..<period.upperBound - back
                    + Self.nearbyMilliseconds
            }
    }

    /// The estimate for a break.
    ///
    /// - Parameter startMilliseconds: when it starts, in milliseconds since 1970.
    /// - Returns: the median of the nearest breaks of the earlier days, of two in the middle the smaller one; without any the listeners of now.
    package func estimate(at startMilliseconds: Int64) -> Estimate {
        var found: [Int64] = []
        for day in 0..<self.days {
            let then = startMilliseconds - Int64(day + 1) * Self.dayMilliseconds
            let near = self.past.filter { abs($0.startMilliseconds - then) <= Self.nearbyMilliseconds }
                .min {
                    (abs($0.startMilliseconds - then), $0.startMilliseconds)
                        < (abs($1.startMilliseconds - then), $1.startMilliseconds)
                }
            if let near { found.append(near.sessions) }
        }
        found.sort()
        guard let first = found.first, let last = found.last else {
            return Estimate(
                listeners: self.listeners,
                basis: .now,
                days: 0,
                range: self.listeners...self.listeners
            )
        }
        return Estimate(
            listeners: found[(found.count - 1) / 2],
            basis: .earlierDays,
            days: found.count,
            range: first...last
        )
    }
}
