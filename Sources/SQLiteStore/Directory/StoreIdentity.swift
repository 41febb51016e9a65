// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GRDB
import GatewayCore

/// The tables that say which log a file belongs to, the same in the log's file and in the ledger's.
enum StoreIdentity {
    /// Makes the tables, empty; to be called in a migration.
    ///
    /// `epoch_lanes.last_offset` says how far the file itself was in a lane before the epoch: in the log's file what is
    /// recorded, in the ledger's what is counted.
    static func createTables(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE identity (log_high INTEGER NOT NULL, log_low INTEGER NOT NULL) STRICT;
                CREATE TABLE epochs (
                    ordinal INTEGER PRIMARY KEY, epoch INTEGER NOT NULL UNIQUE, base INTEGER NOT NULL
                ) STRICT;
                CREATE TABLE epoch_lanes (
                    ordinal INTEGER NOT NULL, lane TEXT NOT NULL, last_offset INTEGER NOT NULL,
                    PRIMARY KEY (ordinal, lane)
                ) STRICT, WITHOUT ROWID;
                -- A row: this file is a backup's copy, made then.
                CREATE TABLE backup_mark (at_us INTEGER NOT NULL) STRICT;
                """
        )
    }

    /// Writes an identity in place of the one that is there; to be called in a transaction.
    static func write(_ identity: LogIdentity, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM identity; DELETE FROM epochs; DELETE FROM epoch_lanes")
        try database.execute(
            sql: "INSERT INTO identity (log_high, log_low) VALUES (?, ?)",
            arguments: [Int64(bitPattern: identity.logID.high), Int64(bitPattern: identity.logID.low)]
        )
        for (ordinal, epoch) in identity.epochs.enumerated() {
            try database.execute(
                sql: "INSERT INTO epochs (ordinal, epoch, base) VALUES (?, ?, ?)",
                arguments: [ordinal, Int64(bitPattern: epoch.number), Int64(epoch.base)]
            )
            for (lane, last) in epoch.last {
                try database.execute(
                    sql: "INSERT INTO epoch_lanes (ordinal, lane, last_offset) VALUES (?, ?, ?)",
                    arguments: [ordinal, lane.description, Int64(last)]
                )
            }
        }
    }

    /// The identity that stands in a file; `nil`: none yet.
    static func read(_ database: Database) throws -> LogIdentity? {
        guard let row = try Row.fetchOne(database, sql: "SELECT log_high, log_low FROM identity") else { return nil }
        let (high, low): (Int64, Int64) = (row[0], row[1])
        var last: [Int64: [Lane: UInt64]] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT ordinal, lane, last_offset FROM epoch_lanes") {
            let (ordinal, offset): (Int64, Int64) = (row[0], row[2])
            last[ordinal, default: [:]][Lane(name: row[1])] = try Self.offset(offset)
        }
        let epochs = try Row.fetchAll(database, sql: "SELECT ordinal, epoch, base FROM epochs ORDER BY ordinal")
            .map { row in
                let (ordinal, number, base): (Int64, Int64, Int64) = (row[0], row[1], row[2])
                return LogIdentity.Epoch(
                    number: UInt64(bitPattern: number),
                    base: try Self.offset(base),
                    last: last[ordinal] ?? [:]
                )
            }
        let logID = LogID(high: UInt64(bitPattern: high), low: UInt64(bitPattern: low))
        guard let identity = LogIdentity(logID: logID, epochs: epochs) else { throw Self.damaged }
        return identity
    }

    /// The identity of a log's file.
    static func log(_ database: Database) throws -> LogIdentity {
        guard let identity = try Self.read(database) else { throw Self.damaged }
        return identity
    }

    /// Whether a file is a backup's copy that was not restored.
    static func isBackup(_ database: Database) throws -> Bool {
        try Bool.fetchOne(database, sql: "SELECT 1 FROM backup_mark") ?? false
    }

    /// Says in a file that it is a backup's copy.
    static func markBackup(at instant: Timestamp, _ database: Database) throws {
        try database.execute(
            sql: "DELETE FROM backup_mark; INSERT INTO backup_mark (at_us) VALUES (?)",
            arguments: [instant.microseconds]
        )
    }

    static func removeBackupMark(_ database: Database) throws {
        try database.execute(sql: "DELETE FROM backup_mark")
    }

    private static func offset(_ stored: Int64) throws -> UInt64 {
        guard stored >= 0 else { throw Self.damaged }
        return UInt64(stored)
    }

    private static var damaged: DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the identity of the log is damaged")
    }
}
