// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GRDB
import GatewayCore

/// The tables of the ledger, and the statements that are not about who did what.
enum LedgerSchema {
    /// Stands for "no batch was handed out": greater than every ordinal.
    static let neverDelivered = Int64(UInt32.max)

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            // `sessions.first` is the ordinal of the first advertisement of the largest batch that the session got.
            // `firsts` counts a break's sessions by it, so that the number of deliveries of an advertisement is a sum
            // over the firsts up to its ordinal, however many advertisements there are.
            // `covered` and `uncovered` split the outcomes by whether a batch held the advertisement.
            try database.execute(
                sql: """
                    CREATE TABLE applied (lane TEXT PRIMARY KEY, offset INTEGER NOT NULL) WITHOUT ROWID;
                    CREATE TABLE breaks (
                        number INTEGER PRIMARY KEY, stream TEXT NOT NULL, id TEXT NOT NULL, broadcaster TEXT NOT NULL,
                        published INTEGER NOT NULL, start INTEGER, end INTEGER, cancelled INTEGER NOT NULL,
                        expired INTEGER NOT NULL, pre_stream INTEGER NOT NULL, has_rows INTEGER NOT NULL DEFAULT 1
                    );
                    CREATE INDEX breaks_by_name ON breaks (stream, id);
                    CREATE TABLE advertisements (
                        break INTEGER NOT NULL, ordinal INTEGER NOT NULL, id TEXT NOT NULL, title TEXT NOT NULL,
                        milliseconds INTEGER NOT NULL, PRIMARY KEY (break, ordinal)
                    ) WITHOUT ROWID;
                    CREATE TABLE sessions (
                        break INTEGER NOT NULL, session BLOB NOT NULL, first INTEGER NOT NULL, variant INTEGER NOT NULL,
                        at INTEGER NOT NULL, PRIMARY KEY (break, session)
                    ) WITHOUT ROWID;
                    CREATE TABLE outcomes (
                        break INTEGER NOT NULL, session BLOB NOT NULL, ordinal INTEGER NOT NULL, kind INTEGER NOT NULL,
                        evidence INTEGER NOT NULL, reason INTEGER NOT NULL, heard INTEGER NOT NULL,
                        quartiles INTEGER NOT NULL, muted INTEGER NOT NULL, vast_error INTEGER NOT NULL,
                        occurred INTEGER NOT NULL, received INTEGER NOT NULL, PRIMARY KEY (break, session, ordinal)
                    ) WITHOUT ROWID;
                    CREATE TABLE firsts (
                        break INTEGER NOT NULL, first INTEGER NOT NULL, sessions INTEGER NOT NULL,
                        PRIMARY KEY (break, first)
                    ) WITHOUT ROWID;
                    CREATE TABLE totals (
                        break INTEGER NOT NULL, ordinal INTEGER NOT NULL, played INTEGER NOT NULL,
                        ignored INTEGER NOT NULL, failed INTEGER NOT NULL, covered INTEGER NOT NULL,
                        uncovered INTEGER NOT NULL, inferred INTEGER NOT NULL, repeats INTEGER NOT NULL,
                        contradictions INTEGER NOT NULL, heard INTEGER NOT NULL, muted INTEGER NOT NULL,
                        PRIMARY KEY (break, ordinal)
                    ) WITHOUT ROWID;
                    CREATE TABLE reasons (
                        break INTEGER NOT NULL, ordinal INTEGER NOT NULL, reason INTEGER NOT NULL,
                        ignored INTEGER NOT NULL, PRIMARY KEY (break, ordinal, reason)
                    ) WITHOUT ROWID;
                    """
            )
        }
        return migrator
    }

    static func appliedOffset(of lane: Lane, in database: Database) throws -> UInt64 {
        let offset = try Int64.fetchOne(
            database,
            sql: "SELECT offset FROM applied WHERE lane = ?",
            arguments: [lane.description]
        )
        return UInt64(offset ?? 0)
    }

    static func appliedOffsets(in database: Database) throws -> [Lane: UInt64] {
        var offsets: [Lane: UInt64] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT lane, offset FROM applied") {
            let offset: Int64 = row[1]
            offsets[Lane(name: row[0])] = UInt64(offset)
        }
        return offsets
    }

    static func setAppliedOffset(_ offset: UInt64, of lane: Lane, in database: Database) throws {
        try database.execute(
            sql:
                "INSERT INTO applied (lane, offset) VALUES (?, ?) ON CONFLICT (lane) DO UPDATE SET offset = excluded.offset",
            arguments: [lane.description, Int64(offset)]
        )
    }

    static func record(_ each: BreakSummary, in database: Database) throws {
        let number = each.number.stored
        try database.cachedStatement(
            sql: """
                INSERT INTO breaks
                    (number, stream, id, broadcaster, published, start, end, cancelled, expired, pre_stream)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (number) DO UPDATE SET
                    start = excluded.start, end = excluded.end, cancelled = excluded.cancelled,
                    expired = excluded.expired
                """
        )
        .execute(arguments: [
            number, each.key.stream.description, each.key.id.description, each.broadcaster,
            each.published.microseconds, each.start?.microseconds, each.end?.microseconds, each.cancelled,
            each.expired, each.preStream,
        ])
        try database.cachedStatement(sql: "DELETE FROM advertisements WHERE break = ?").execute(arguments: [number])
        let insert = try database.cachedStatement(
            sql: "INSERT INTO advertisements (break, ordinal, id, title, milliseconds) VALUES (?, ?, ?, ?, ?)"
        )
        for (ordinal, advertisement) in each.advertisements.enumerated() {
            try insert.execute(arguments: [
                number, ordinal, advertisement.id.description, advertisement.title,
                Int64(advertisement.duration.inMilliseconds),
            ])
        }
    }

    static func breaksWithRows(endedBefore limit: Timestamp, in database: Database) throws -> [BreakNumber] {
        try Int64.fetchAll(
            database,
            sql: "SELECT number FROM breaks WHERE has_rows = 1 AND end < ? ORDER BY number",
            arguments: [limit.microseconds]
        )
        .map { BreakNumber(stored: $0) }
    }

    /// Forgets who did what in a break; its totals stay.
    static func forgetRows(of number: BreakNumber, in database: Database) throws {
        for table in ["outcomes", "sessions"] {
            try database.execute(sql: "DELETE FROM \(table) WHERE break = ?", arguments: [number.stored])
        }
        try database.execute(sql: "UPDATE breaks SET has_rows = 0 WHERE number = ?", arguments: [number.stored])
    }

    static func forgetTotals(endedBefore limit: Timestamp, in database: Database) throws {
        let old = "SELECT number FROM breaks WHERE has_rows = 0 AND end < ?"
        for table in ["advertisements", "firsts", "totals", "reasons"] {
            try database.execute(
                sql: "DELETE FROM \(table) WHERE break IN (\(old))",
                arguments: [limit.microseconds]
            )
        }
        try database.execute(
            sql: "DELETE FROM breaks WHERE has_rows = 0 AND end < ?",
            arguments: [limit.microseconds]
        )
    }
}

extension BreakNumber {
    /// As SQLite keeps it: the same bits, signed.
    var stored: Int64 { Int64(bitPattern: self.rawValue) }

    init(stored: Int64) { self.init(rawValue: UInt64(bitPattern: stored)) }
}
