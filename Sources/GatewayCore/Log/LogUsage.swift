// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How much of the room that it may take a log uses.
///
/// New work is refused at `bytesMax`. What must be written all the same (the ends and starts of breaks that are there, what
/// timers decide) has `EventLogLimits.reservedBytes` more.
package struct LogUsage: Hashable, Sendable {
    /// The bytes that records and snapshots take in the store; room that was freed and is used again is not among them.
    package let bytes: Int
    /// New work is refused when so many are used.
    package let bytesMax: Int

    package init(bytes: Int, bytesMax: Int) {
        self.bytes = bytes
        self.bytesMax = bytesMax
    }

    /// Whether an operator should do something before new work is refused.
    package var isNear: Bool { self.share >= EventLogLimits.nearShare }

    /// Whether new work is refused.
    package var isReached: Bool { self.bytes >= self.bytesMax }

    /// Whether not even what must be written is taken.
    package var isExhausted: Bool { self.bytes >= self.bytesMax.addingWithoutOverflow(EventLogLimits.reservedBytes) }

    /// The used share of the capacity; above 1 if the reserve is used.
    package var share: Double { Double(self.bytes) / Double(max(1, self.bytesMax)) }
}

extension Int {
    fileprivate func addingWithoutOverflow(_ other: Int) -> Int {
        let (sum, overflows) = self.addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
