// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// When a gateway writes a snapshot for all: the one that ranks first as a rule, and the next one where it does not.
package struct SnapshotSchedule: Hashable, Sendable {
    /// After how many records of the lane `breaks` one is due.
    package var records: UInt64
    /// After how long one is due, where there are some records.
    package var interval: Duration

    /// - Parameters:
    ///   - records: after how many records of the lane `breaks` one is due.
    ///   - interval: after how long one is due, where there are `recordsMin` records.
    package init(records: UInt64 = SnapshotLimits.records, interval: Duration = SnapshotLimits.interval) {
        self.records = records
        self.interval = interval
    }

    /// Whether one is due.
    ///
    /// - Parameters:
    ///   - newest: the newest snapshot; `nil`: there is none.
    ///   - offset: of the board.
    ///   - now: by the gateway's clock; where it is before the newest snapshot was made, only the records count.
    ///   - rank: how many gateways write one before this one: each leaves half of the records, and of the time, more to the ones before.
    /// - Returns: whether this gateway writes one.
    package func isDue(newest: SnapshotManifest?, offset: UInt64, now: Timestamp, rank: Int) -> Bool {
        let (known, share) = (newest?.offset ?? 0, UInt64(clamping: min(rank, 1_024)) + 2)
        guard offset > known else { return false }
        let count = offset - known
        let (records, few) = (max(2, self.records), min(SnapshotLimits.recordsMin, max(1, self.records)))
        guard let newest else { return count >= few * share / 2 }
        return count >= records / 2 * share || count >= few && now - newest.made >= self.interval * Int(share) / 2
    }

    /// How long a gateway waits with the next one, so that one that cannot be written does not fill the servers.
    ///
    /// - Parameter failures: how many could not be written, one after the other.
    /// - Returns: at most `interval`.
    package func wait(afterFailures failures: Int) -> Duration {
        guard failures > 0 else { return .zero }
        return min(SnapshotLimits.retryInterval * (1 << min(failures - 1, 16)), self.interval)
    }
}
