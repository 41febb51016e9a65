// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GRDB
import GatewayCore

/// Writes what is known of breaks, and forgets them.
enum LedgerBreaks {
    /// How many rows are deleted in one transaction; what is applied meanwhile need not wait for more.
    private static let rowsPerPruneMax = 20_000
    /// Of how many breaks the totals are deleted in one transaction.
    private static let breaksPerPruneMax = 200

    /// Writes a break, unless something newer is known of it or it was forgotten; to be called in a transaction.
    static func record(_ each: BreakSummary, through offset: UInt64, _ database: Database) throws {
        let number = each.number.stored
        let isForgotten = try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT 1 FROM forgotten WHERE break_number = ?"),
            arguments: [number]
        )
        guard isForgotten == nil else { return }
        try database.cachedStatement(
            sql: """
                INSERT INTO breaks (break_number, stream, id, broadcaster, published_us, start_us, end_us, cancelled,
                    expired, pre_stream, through)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (break_number) DO UPDATE SET
                    stream = excluded.stream, id = excluded.id, broadcaster = excluded.broadcaster,
                    published_us = excluded.published_us, start_us = excluded.start_us, end_us = excluded.end_us,
                    cancelled = excluded.cancelled, expired = excluded.expired, pre_stream = excluded.pre_stream,
                    through = excluded.through
                WHERE excluded.through >= breaks.through
                """
        )
        .execute(arguments: [
            number, each.key.stream.description, each.key.id.description, each.broadcaster,
            each.published.microseconds, each.start?.microseconds, each.end?.microseconds, each.cancelled,
            each.expired, each.preStream, Int64(clamping: offset),
        ])
        guard database.changesCount == 1 else { return }
        try database.cachedStatement(sql: "DELETE FROM advertisements WHERE break_number = ?")
            .execute(arguments: [number])
        let insert = try database.cachedStatement(
            sql: """
                INSERT INTO advertisements (break_number, ordinal, id, title, duration_us) VALUES (?, ?, ?, ?, ?)
                """
        )
        for (ordinal, advertisement) in zip(each.ordinals, each.advertisements) {
            try insert.execute(arguments: [
                number, Int64(ordinal), advertisement.id.description, advertisement.title,
                advertisement.duration.inMicroseconds,
            ])
        }
        try database.cachedStatement(sql: "DELETE FROM variants WHERE break_number = ?").execute(arguments: [number])
        for (index, name) in each.variants.enumerated() {
            try database.cachedStatement(sql: "INSERT INTO variants (break_number, variant, name) VALUES (?, ?, ?)")
                .execute(arguments: [number, index + 1, name])
        }
    }

    /// Notes that the breaks up to a record have still to be told; to be called in a transaction.
    static func owe(through offset: UInt64, _ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS owed_breaks (
                    one INTEGER PRIMARY KEY CHECK (one = 1), through INTEGER NOT NULL
                ) STRICT;
                """
        )
        try database.execute(
            sql: """
                INSERT INTO owed_breaks (one, through) VALUES (1, ?)
                ON CONFLICT DO UPDATE SET through = max(through, excluded.through)
                """,
            arguments: [Int64(clamping: offset)]
        )
    }

    /// The record up to which breaks have still to be told; `nil`: none have.
    static func owed(_ database: Database) throws -> UInt64? {
        // A ledger that has never owed anything has no such table.
        guard try database.tableExists("owed_breaks") else { return nil }
        return try Int64.fetchOne(database, sql: "SELECT through FROM owed_breaks").map { UInt64(clamping: $0) }
    }

    /// The breaks up to a record have been told; to be called in a transaction.
    static func settle(through offset: UInt64, _ database: Database) throws {
        guard try Self.owed(database) != nil else { return }
        try database.execute(
            sql: "DELETE FROM owed_breaks WHERE through <= ?",
            arguments: [Int64(clamping: offset)]
        )
    }

    /// The offset in the highest number of a break that there is anything of; 0: none.
    static func highestOffset(_ database: Database) throws -> UInt64 {
        // Each is the last entry of a key.
        try ["breaks", "forgotten", "sessions", "outcomes", "totals"]
            .compactMap { table in try Int64.fetchOne(database, sql: "SELECT max(break_number) FROM \(table)") }
            .map { BreakNumber(stored: $0).rawValue / UInt64(BreakGroup.groupEntriesMax) }
            .max() ?? 0
    }

    /// The newest of the known breaks that were published up to an offset.
    static func newest(
        _ count: Int,
        upTo offset: UInt64,
        _ database: Database
    ) throws -> [(number: BreakNumber, key: BreakKey)] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT break_number, stream, id FROM breaks WHERE break_number < ? ORDER BY break_number DESC LIMIT ?
                """,
            arguments: [BreakGroup.breakNumber(offset: offset + 1, index: 0).stored, count]
        )
        .map { row in
            let (number, stream, id): (Int64, String, String) = (row[0], row[1], row[2])
            return (BreakNumber(stored: number), BreakKey(stream: try StreamID(stream), id: try BreakID(id)))
        }
    }

    /// Lets what comes replace what is known of breaks from records that the log does not have any more.
    static func forgetNews(after offset: UInt64, _ database: Database) throws {
        try database.execute(
            sql: "UPDATE breaks SET through = ?1 WHERE through > ?1",
            arguments: [Int64(offset)]
        )
    }

    /// The breaks whose rows are to go: those that ended before an instant, and those begun earlier.
    static func withRows(endedBefore limit: Timestamp, _ database: Database) throws -> [BreakNumber] {
        try Int64.fetchAll(
            database,
            sql: """
                SELECT break_number FROM breaks WHERE row_state = ? OR (row_state = ? AND end_us < ?)
                ORDER BY break_number
                """,
            arguments: [
                LedgerSchema.Rows.going.rawValue, LedgerSchema.Rows.kept.rawValue, limit.microseconds,
            ]
        )
        .map { BreakNumber(stored: $0) }
    }

    /// Forgets a portion of a break's rows in a transaction.
    ///
    /// From the first portion on, nothing is counted for it.
    ///
    /// - Returns: whether there are more.
    static func forgetRows(of number: BreakNumber, _ database: Database) throws -> Bool {
        var isMore = false
        try database.inTransaction(.immediate) {
            isMore = try Self.forgetRows(of: number, in: "outcomes", database)
            if !isMore { isMore = try Self.forgetRows(of: number, in: "sessions", database) }
            let state = isMore ? LedgerSchema.Rows.going : .gone
            try database.execute(
                sql: "UPDATE breaks SET row_state = ? WHERE break_number = ?",
                arguments: [state.rawValue, number.stored]
            )
            return .commit
        }
        return isMore
    }

    private static func forgetRows(of number: BreakNumber, in table: String, _ database: Database) throws -> Bool {
        let end = try Row.fetchOne(
            database,
            sql: "SELECT session FROM \(table) WHERE break_number = ? ORDER BY session LIMIT 1 OFFSET ?",
            arguments: [number.stored, Self.rowsPerPruneMax]
        )
        guard let end else {
            try database.execute(sql: "DELETE FROM \(table) WHERE break_number = ?", arguments: [number.stored])
            return false
        }
        let session: DatabaseValue = end[0]
        try database.execute(
            sql: "DELETE FROM \(table) WHERE break_number = ? AND session < ?",
            arguments: [number.stored, session]
        )
        return true
    }

    /// Forgets the totals of a portion of the breaks that ended before an instant and have no rows any more, in a
    /// transaction.
    ///
    /// - Returns: whether there are more.
    static func forgetTotals(endedBefore limit: Timestamp, _ database: Database) throws -> Bool {
        let numbers = try Int64.fetchAll(
            database,
            sql: "SELECT break_number FROM breaks WHERE row_state = ? AND end_us < ? LIMIT ?",
            arguments: [LedgerSchema.Rows.gone.rawValue, limit.microseconds, Self.breaksPerPruneMax]
        )
        try database.inTransaction(.immediate) {
            for number in numbers {
                for table in ["advertisements", "variants", "firsts", "totals", "reasons", "breaks"] {
                    try database.cachedStatement(sql: "DELETE FROM \(table) WHERE break_number = ?")
                        .execute(arguments: [number])
                }
                try database.cachedStatement(sql: "INSERT INTO forgotten (break_number) VALUES (?)")
                    .execute(arguments: [number])
            }
            return .commit
        }
        return numbers.count == Self.breaksPerPruneMax
    }
}
