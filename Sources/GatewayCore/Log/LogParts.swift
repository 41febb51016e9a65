// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A log on this machine: one store is all of it.
package typealias LocalEventLog = EventLog & SnapshotStore & RetentionWatermarks & LogMaintenance

/// The event log of a gateway, and what stands beside it.
package struct LogParts: Sendable {
    package let log: any EventLog
    package let snapshots: any SnapshotStore
    package let watermarks: any RetentionWatermarks
    /// `nil`: the log is not on this machine.
    package let maintenance: (any LogMaintenance)?

    package init(
        log: any EventLog,
        snapshots: any SnapshotStore,
        watermarks: any RetentionWatermarks,
        maintenance: (any LogMaintenance)?
    ) {
        self.log = log
        self.snapshots = snapshots
        self.watermarks = watermarks
        self.maintenance = maintenance
    }

    /// The parts of a log on this machine.
    package init(local log: any LocalEventLog) {
        self.init(log: log, snapshots: log, watermarks: log, maintenance: log)
    }

    /// The parts of a log that several gateways share.
    ///
    /// - Parameters:
    ///   - log: which they share.
    ///   - snapshots: of this gateway.
    package init(shared log: any EventLog, snapshots: any SnapshotStore & RetentionWatermarks) {
        self.init(log: log, snapshots: snapshots, watermarks: snapshots, maintenance: nil)
    }

    /// Whether several gateways share the log: then it is not on this machine.
    package var isShared: Bool { self.maintenance == nil }

    /// How much of its room the log uses; `nil` where it has no bound of its own.
    package var usage: LogUsage? { self.maintenance?.usage }
}
