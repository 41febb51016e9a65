// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The gateway's clock: the truth about when breaks start, for all listeners.
package protocol GatewayClock: Sendable {
    /// The gateway time.
    func now() -> Timestamp

    /// The gateway time, with how far commands have made it jump.
    func reading() -> ClockReading
}

extension GatewayClock {
    package func reading() -> ClockReading {
        ClockReading(now: self.now())
    }
}

/// The machine's wall clock as it is: an administrator who sets it can make it jump either way.
///
/// Peers in tests use it; a gateway has a `SteeredClock`.
package struct SystemClock: GatewayClock {
    package init() {}

    package func now() -> Timestamp { ClockSources.system.wall() }
}

/// The two clocks of the machine that a gateway's clock is made of.
package struct ClockSources: Sendable {
    /// Nanoseconds from any beginning; never set, never back.
    package let monotonic: @Sendable () -> Int64
    package let wall: @Sendable () -> Timestamp

    package init(monotonic: @escaping @Sendable () -> Int64, wall: @escaping @Sendable () -> Timestamp) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// The machine's own clocks.
    ///
    /// The monotonic one goes on while the machine sleeps: after waking, breaks that were over meanwhile are over, and the wall
    /// clock is not further away than before.
    package static let system = ClockSources(
        monotonic: {
            #if canImport(Glibc)
            let time = Self.time(CLOCK_BOOTTIME)
            #else
            let time = Self.time(CLOCK_MONOTONIC)
            #endif
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        },
        wall: {
            let time = Self.time(CLOCK_REALTIME)
            return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
        }
    )

    private static func time(_ clock: clockid_t) -> timespec {
        var time = timespec()
        // It fails for clocks that there are not, and these there are.
        _ = unsafe clock_gettime(clock, &time)
        return time
    }

    /// Both clocks at one instant, as near as they can be read together.
    func sample() -> (wall: Timestamp, monotonic: Int64) {
        var best: (wall: Timestamp, monotonic: Int64, within: Int64)?
        // Between two readings the thread may be put aside for long; the tightest of a few is taken.
        for _ in 0..<5 {
            let before = self.monotonic()
            let wall = self.wall()
            let within = self.monotonic() - before
            if best.map({ within < $0.within }) ?? true { best = (wall, before + within / 2, within) }
            if within < 20_000 { break }
        }
        return best.map { ($0.wall, $0.monotonic) } ?? (self.wall(), self.monotonic())
    }
}
