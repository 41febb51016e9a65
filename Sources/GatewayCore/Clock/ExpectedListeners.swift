// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// How many listeners a stream is expected to have: those that are known, or, soon after a start, those that there were.
///
/// After a restart no listener has a lease until it asks, although all are still there. A request window that was sized for no
/// listeners would let them all ask in one instant.
package struct ExpectedListeners: Hashable, Sendable {
    private var remembered: [StreamID: Int]
    private let until: Timestamp

    /// - Parameters:
    ///   - remembered: how many each stream had.
    ///   - until: from this instant on only those count that are known; by steady time.
    package init(remembered: [StreamID: Int] = [:], until: Timestamp = Timestamp(microseconds: .min)) {
        self.remembered = remembered
        self.until = until
    }

    /// How many listeners of a stream will ask.
    ///
    /// - Parameters:
    ///   - stream: which one.
    ///   - live: how many have a lease.
    ///   - steady: steady time.
    /// - Returns: the larger of the two numbers, soon after a start.
    package func count(of stream: StreamID, live: Int, at steady: Timestamp) -> Int {
        guard steady < self.until, let remembered = self.remembered[stream] else { return live }
        return max(live, remembered)
    }

    /// The listeners to remember for the next start: until this start is over, listeners that have not come back yet are not
    /// forgotten.
    package func merged(with live: [StreamID: Int], at steady: Timestamp) -> [StreamID: Int] {
        guard steady < self.until else { return live }
        return live.merging(self.remembered) { max($0, $1) }
    }
}
