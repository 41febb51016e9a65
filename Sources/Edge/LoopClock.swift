// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import SystemSupport

/// The time of an ``EdgeLoop`` as it was read last, and what is due by it.
///
/// Times are in nanoseconds, by a clock that is never set.
struct LoopClock {
    private static let second: UInt64 = 1_000_000_000

    private(set) var now = System.monotonicNanoseconds()
    private let tickInterval: UInt64
    private var nextTick: UInt64
    private var nextSecond: UInt64
    private var nextMinute: UInt64

    init(tickInterval: Duration) {
        self.tickInterval = UInt64(tickInterval.inMicroseconds) * 1_000
        self.nextTick = self.now
        self.nextSecond = self.now + Self.second
        self.nextMinute = self.now
    }

    /// The time as a timestamp: it never jumps.
    var elapsed: Timestamp { Timestamp(microseconds: Int64(self.now / 1_000)) }

    /// How long nothing is due.
    var idle: UInt64 {
        let next = min(self.nextTick, self.nextSecond)
        return next <= self.now ? 0 : next - self.now
    }

    mutating func read() { self.now = System.monotonicNanoseconds() }

    /// Whether a tick is due; the next one is after its interval.
    mutating func takeTick() -> Bool { Self.take(&self.nextTick, at: self.now, every: self.tickInterval) }

    /// Whether a second is over; the next one begins.
    mutating func takeSecond() -> Bool { Self.take(&self.nextSecond, at: self.now, every: Self.second) }

    /// Whether a minute is over; the next one begins.
    mutating func takeMinute() -> Bool { Self.take(&self.nextMinute, at: self.now, every: 60 * Self.second) }

    private static func take(_ next: inout UInt64, at now: UInt64, every interval: UInt64) -> Bool {
        guard now >= next else { return false }
        next = now + interval
        return true
    }
}
