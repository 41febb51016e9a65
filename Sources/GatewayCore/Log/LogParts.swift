// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A log on this machine: one store is all of it.
package typealias LocalEventLog = EventLog & SnapshotStore & RetentionWatermarks & LogMaintenance

/// A board as of a record, as one number (`BoardDigest.value`).
package struct BoardMark: Hashable, Sendable {
    package let offset: UInt64
    package let digest: UInt64

    package init(offset: UInt64, digest: UInt64) {
        self.offset = offset
        self.digest = digest
    }
}

/// The event log of a gateway, and what stands beside it.
package struct LogParts: Sendable {
    package let log: any EventLog
    package let snapshots: any SnapshotStore
    package let watermarks: any RetentionWatermarks
    /// `nil`: the log is not on this machine.
    package let maintenance: (any LogMaintenance)?
    /// The snapshots that the gateways of the log leave for those that begin; `nil`: there are none.
    package var archive: SnapshotArchive?
    /// The board's number at the gateway that left the snapshot from which this one begins; `nil`: it begins from its own.
    package var began: BoardMark?
    /// Passes over the snapshot from which the board was to begin, because its parts cannot be read, and takes an older one of the log.
    ///
    /// It gets the reason, and gives the mark of the one that it took, or `nil`: the board begins with the first record. `nil`: there is
    /// no other way to begin, because the log forgets its first records.
    package var another: (@Sendable (String) async throws -> BoardMark?)?

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
    ///   - archive: the snapshots for those that begin; `nil`: there are none.
    ///   - began: the number that the board has to come to, where this gateway took it from there; `nil`: it took none.
    package init(
        shared log: any EventLog,
        snapshots: any SnapshotStore & RetentionWatermarks,
        archive: SnapshotArchive? = nil,
        began: BoardMark? = nil
    ) {
        self.init(log: log, snapshots: snapshots, watermarks: snapshots, maintenance: nil)
        (self.archive, self.began) = (archive, began)
    }

    /// Whether several gateways share the log: then it is not on this machine.
    package var isShared: Bool { self.maintenance == nil }

    /// How much of its room the log uses; `nil` where it has no bound of its own.
    package var usage: LogUsage? { self.maintenance?.usage }
}
