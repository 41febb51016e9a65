// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Times of this machine, in microseconds of its monotonic clock; also lengths of time.
package typealias Microseconds = Int64

/// How far the gateway's clock is ahead of this machine's monotonic one.
///
/// A request sent at t1 and answered at t4 with the gateway's time T bounds the offset: T − t4 ≤ o ≤ T − t1. All
/// listeners of a process share one clock, so that thousands of answers narrow it down to the fastest of them.
package struct GatewayClockEstimate: Sendable {
    /// How fast two clocks may drift apart: 100 parts in a million.
    private static let driftPerMillion: Microseconds = 100

    private var lower: Microseconds = 0
    private var upper: Microseconds = 0
    private var updated: Microseconds?
    /// The offset where the gateway's clock is this machine's own, from the system; used while it can be true.
    private let likely: Microseconds?

    /// - Parameter likely: how far this machine's own wall clock is ahead of its monotonic one.
    package init(likely: Microseconds? = nil) {
        self.likely = likely
    }

    /// Whether anything is known.
    package var isKnown: Bool { self.updated != nil }

    /// Half the width of what the offset can be.
    package var bound: Microseconds { (self.upper - self.lower) / 2 }

    /// Whether the gateway's clock is this machine's, as far as can be told.
    package var isThisMachines: Bool {
        guard let likely, self.updated != nil else { return false }
        return self.lower <= likely && likely <= self.upper
    }

    /// The best estimate.
    package var offset: Microseconds {
        if let likely, self.isThisMachines || self.updated == nil { return likely }
        return self.lower + (self.upper - self.lower) / 2
    }

    package mutating func sample(sent: Microseconds, answered gateway: Timestamp, received: Microseconds) {
        guard received >= sent else { return }
        let (low, lowOverflow) = gateway.microseconds.subtractingReportingOverflow(received)
        let (high, highOverflow) = gateway.microseconds.subtractingReportingOverflow(sent)
        guard !lowOverflow, !highOverflow else { return }
        if let updated = self.updated {
            let drift = (received - updated) / 1_000_000 * Self.driftPerMillion
            self.lower = max(self.lower - drift, low)
            self.upper = min(self.upper + drift, high)
            // Clocks that were set: begin anew.
            if self.lower > self.upper { (self.lower, self.upper) = (low, high) }
            // Keep the time of the last widening while less than a second has passed.
            if received - updated >= 1_000_000 { self.updated = received }
        } else {
            (self.lower, self.upper, self.updated) = (low, high, received)
        }
    }

    /// When this machine's clock shows what the gateway's calls `time`.
    package func local(_ time: Timestamp) -> Microseconds {
        time.microseconds.subtractingReportingOverflow(self.offset).partialValue
    }

    /// The time of the gateway's clock when this machine's shows `time`.
    package func gateway(_ time: Microseconds) -> Timestamp {
        Timestamp(microseconds: time.addingReportingOverflow(self.offset).partialValue)
    }
}
