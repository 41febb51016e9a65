// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization

/// How much of something was taken, and so how much is left, of what may be had at once and comes again with time.
///
/// Clock-free: the caller says what time it is, by a clock that is never set. All that it keeps is when it will be full again.
package struct RateBucket: Hashable, Sendable {
    /// How much may be had, and how fast it comes again.
    package struct Limit: Hashable, Sendable {
        /// How long it takes until one more comes, in nanoseconds; 0: no limit.
        fileprivate let each: UInt64
        /// At least one is left as long as the bucket will be full again within this time, in nanoseconds.
        fileprivate let slack: UInt64

        private init(atOnce: Int, each: UInt64) {
            self.each = atOnce > 0 ? max(1, each) : 0
            self.slack = atOnce > 0 ? UInt64(atOnce - 1) * self.each : 0
        }

        /// So many a second, and twice as many at once; 0: no limit.
        package static func rate(_ perSecond: Int) -> Limit { .rate(perSecond, atOnce: 2 * max(0, perSecond)) }

        /// So many a second, and so many at once; 0: no limit.
        package static func rate(_ perSecond: Int, atOnce: Int) -> Limit {
            let count = max(0, perSecond)
            return Limit(
                atOnce: count > 0 ? atOnce : 0,
                each: (1_000_000_000 + UInt64(count) / 2) / UInt64(max(1, count))
            )
        }

        /// So many within a time; 0: no limit.
        package static func count(_ count: Int, within time: Duration) -> Limit {
            let seconds = UInt64(max(1, time.components.seconds))
            return Limit(atOnce: max(0, count), each: seconds * 1_000_000_000 / UInt64(max(1, count)))
        }

        package var isNone: Bool { self.each == 0 }
    }

    /// When it is full again, in nanoseconds.
    fileprivate var fullAt: UInt64

    /// A full bucket.
    package init() {
        self.init(fullAt: 0)
    }

    fileprivate init(fullAt: UInt64) {
        self.fullAt = fullAt
    }

    /// Whether there is one more.
    @inline(__always)
    package func hasOne(of limit: Limit, at now: UInt64) -> Bool {
        limit.isNone || self.fullAt <= now + limit.slack
    }

    /// Takes one, which may be one too many: that is paid back.
    @inline(__always)
    package mutating func takeOne(of limit: Limit, at now: UInt64) {
        if !limit.isNone { self.fullAt = max(self.fullAt, now) + limit.each }
    }
}

/// A ``RateBucket`` that several threads take from.
package final class SharedRateBucket: Sendable {
    package let limit: RateBucket.Limit
    private let fullAt = Atomic<UInt64>(RateBucket().fullAt)

    /// A full bucket.
    package init(_ limit: RateBucket.Limit) {
        self.limit = limit
    }

    /// Whether there is one more.
    @inline(__always)
    package func hasOne(at now: UInt64) -> Bool {
        self.limit.isNone || RateBucket(fullAt: self.fullAt.load(ordering: .relaxed)).hasOne(of: self.limit, at: now)
    }

    /// Takes one, which may be one too many: that is paid back.
    @inline(__always)
    package func takeOne(at now: UInt64) {
        guard !self.limit.isNone else { return }
        var before = self.fullAt.load(ordering: .relaxed)
        while true {
            var bucket = RateBucket(fullAt: before)
            bucket.takeOne(of: self.limit, at: now)
            let (isDone, found) = self.fullAt.weakCompareExchange(
                expected: before,
                desired: bucket.fullAt,
                ordering: .relaxed
            )
            if isDone { return }
            before = found
        }
    }
}
