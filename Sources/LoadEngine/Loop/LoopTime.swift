// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Glibc
import SystemSupport

/// An instant by the monotonic clock, in nanoseconds.
package struct LoopTime: Hashable, Sendable, Comparable {
    /// Nanoseconds since some instant before the process began.
    package let nanoseconds: UInt64

    package init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// Reads the clock.
    package static func now() -> LoopTime {
        LoopTime(nanoseconds: System.monotonicNanoseconds())
    }

    package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Saturates at the ends of what 64 bits hold.
    package static func + (left: Self, right: Duration) -> LoopTime {
        let (seconds, attoseconds) = right.components
        let change = Int128(seconds) * 1_000_000_000 + Int128(attoseconds / 1_000_000_000)
        return LoopTime(nanoseconds: UInt64(clamping: Int128(left.nanoseconds) + change))
    }

    /// The nanoseconds from `right` to `left`; 0 where `left` is the earlier one.
    package static func - (left: Self, right: Self) -> UInt64 {
        left.nanoseconds > right.nanoseconds ? left.nanoseconds - right.nanoseconds : 0
    }
}

/// The resources that the process has used.
package enum ProcessUsage {
    /// User and system time of this process, in seconds.
    package static func cpuSeconds() -> Double { System.cpuSeconds() }
}
