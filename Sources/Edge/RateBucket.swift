// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How much of something may be had at once, and how fast it comes again.
///
/// Clock-free: the caller says what time it is, by a clock that is never set.
package struct RateBucket: Hashable, Sendable {
    /// How much may be had, and how fast it comes again.
    package struct Limit: Hashable, Sendable {
        /// How many at once.
        package let atOnce: Float
        /// How many more in a second.
        package let perSecond: Float

        package init(atOnce: Float, perSecond: Float) {
            self.atOnce = atOnce
            self.perSecond = perSecond
        }

        /// So many a second, and twice as many at once; 0: no limit.
        package static func rate(_ perSecond: Int) -> Limit {
            Limit(atOnce: 2 * Float(perSecond), perSecond: Float(perSecond))
        }

        /// So many within a time; 0: no limit.
        package static func count(_ count: Int, within time: Duration) -> Limit {
            Limit(atOnce: Float(count), perSecond: Float(count) / Float(max(1, time.components.seconds)))
        }

        package var isNone: Bool { self.atOnce <= 0 }
    }

    /// What is left.
    private var left: Float
    /// When it was filled up last, in nanoseconds.
    private var filled: UInt64

    /// A full bucket.
    package init(_ limit: Limit, at now: UInt64) {
        self.left = limit.atOnce
        self.filled = now
    }

    /// Whether there is one more.
    package mutating func hasOne(of limit: Limit, at now: UInt64) -> Bool {
        guard !limit.isNone else { return true }
        if self.left < 1, now > self.filled {
            self.left = min(limit.atOnce, self.left + Float(now - self.filled) / 1e9 * limit.perSecond)
            self.filled = now
        }
        return self.left >= 1
    }

    /// Takes one, which may be one too many: that is paid back.
    @inline(__always)
    package mutating func takeOne() { self.left -= 1 }
}
