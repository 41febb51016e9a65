// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GRDB
import GatewayCore

/// The tables of the ledger, and the offsets up to which they count.
///
/// The totals of an advertisement are kept so that every order of deliveries, outcomes and the break's summary comes to
/// the same numbers, without knowing how many advertisements the break has:
///
/// - `sessions.first` is the ordinal of the first advertisement in the largest batch that the session was handed, or
///   `neverDelivered` where only outcomes prove that it got one.
/// - `firsts` counts a break's sessions by that number: the batches that held an advertisement are the sum over the
///   firsts of its variant at or below its ordinal. An ordinal says its variant (`AdOrdinal`), so each advertisement's counts are those
///   of its variant. A session that was handed batches of several variants counts for the first of them, by their numbers.
/// - `totals` splits the outcomes of an advertisement twice: by kind (`played`, `ignored`, `failed`), and by whether
///   such a batch held it (`covered`) or not (`uncovered`).
///
/// So `delivered` is batches + `uncovered`, and `unknown` is batches − `covered`. That reports balance is not given by
/// this arithmetic: it holds only as long as both splits count the same rows.
enum LedgerSchema {
    /// Stands for "no batch": above every ordinal.
    static let neverDelivered = Int64(UInt32.max) + 1

    /// Whether the largest batch that a session was handed, from the stored number on, held an advertisement.
    static func batch(from first: Int64, holds ordinal: Int64) -> Bool {
        guard let first = UInt32(exactly: first), let ordinal = UInt32(exactly: ordinal) else { return false }
        return AdOrdinal.batch(from: first, holds: ordinal)
    }

    /// The state of a break's rows in `sessions` and `outcomes`.
    enum Rows: Int64 {
        case kept = 0
        /// Being deleted; nothing is counted any more.
        case going = 1
        case gone = 2
    }

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        // Files of development versions before the first release have other names here, and are refused.
        migrator.registerMigration("ledger 0.1") { database in
            try StoreIdentity.createTables(database)
            try database.execute(
                sql: """
                    -- Up to which offset of each lane everything counts. `digest`: what the record there comes to
                    -- (`LoggedRecord.digest`); NULL: it is not known.
                    CREATE TABLE applied (
                        lane TEXT PRIMARY KEY, applied_offset INTEGER NOT NULL, digest INTEGER
                    ) STRICT, WITHOUT ROWID;

                    -- `through`: the offset of the lane `breaks` up to which this is true; `row_state`: see Rows.
                    CREATE TABLE breaks (
                        break_number INTEGER PRIMARY KEY, stream TEXT NOT NULL, id TEXT NOT NULL,
                        broadcaster TEXT NOT NULL, published_us INTEGER NOT NULL, start_us INTEGER, end_us INTEGER,
                        cancelled INTEGER NOT NULL, expired INTEGER NOT NULL, pre_stream INTEGER NOT NULL,
                        through INTEGER NOT NULL, row_state INTEGER NOT NULL DEFAULT 0
                    ) STRICT;
                    CREATE INDEX breaks_by_stream ON breaks (stream, break_number);
                    CREATE INDEX breaks_by_id ON breaks (id, break_number);
                    CREATE TABLE advertisements (
                        break_number INTEGER NOT NULL, ordinal INTEGER NOT NULL, id TEXT NOT NULL, title TEXT NOT NULL,
                        duration_us INTEGER NOT NULL, PRIMARY KEY (break_number, ordinal)
                    ) STRICT, WITHOUT ROWID;
                    -- Breaks of which even the totals were forgotten: what comes for them counts no more.
                    CREATE TABLE forgotten (break_number INTEGER PRIMARY KEY) STRICT;

                    -- Who did what. Keys begin with the break: what is written at one time lies together.
                    CREATE TABLE sessions (
                        break_number INTEGER NOT NULL, session BLOB NOT NULL, first INTEGER NOT NULL,
                        variant INTEGER NOT NULL, at_us INTEGER NOT NULL, PRIMARY KEY (break_number, session)
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE outcomes (
                        break_number INTEGER NOT NULL, session BLOB NOT NULL, ordinal INTEGER NOT NULL,
                        kind INTEGER NOT NULL, evidence INTEGER NOT NULL, reason INTEGER NOT NULL,
                        heard_ms INTEGER NOT NULL, quartiles INTEGER NOT NULL, muted INTEGER NOT NULL,
                        vast_error INTEGER NOT NULL, occurred_us INTEGER NOT NULL, received_us INTEGER NOT NULL,
                        clicked INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (break_number, session, ordinal)
                    ) STRICT, WITHOUT ROWID;

                    -- How often it was made sure that everything applied survives a loss of power.
                    CREATE TABLE checkpoints (count INTEGER NOT NULL) STRICT;
                    INSERT INTO checkpoints (count) VALUES (0);

                    -- The totals.
                    CREATE TABLE firsts (
                        break_number INTEGER NOT NULL, first INTEGER NOT NULL, sessions INTEGER NOT NULL,
                        PRIMARY KEY (break_number, first)
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE totals (
                        break_number INTEGER NOT NULL, ordinal INTEGER NOT NULL, played INTEGER NOT NULL,
                        ignored INTEGER NOT NULL, failed INTEGER NOT NULL, covered INTEGER NOT NULL,
                        uncovered INTEGER NOT NULL, inferred INTEGER NOT NULL, muted INTEGER NOT NULL,
                        heard_ms INTEGER NOT NULL, repeats INTEGER NOT NULL, contradictions INTEGER NOT NULL,
                        clicked INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (break_number, ordinal)
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE reasons (
                        break_number INTEGER NOT NULL, ordinal INTEGER NOT NULL, reason INTEGER NOT NULL,
                        ignored INTEGER NOT NULL, PRIMARY KEY (break_number, ordinal, reason)
                    ) STRICT, WITHOUT ROWID;

                    -- Records that were lost before they were counted, and between which instants that may have been.
                    CREATE TABLE gaps (
                        lane TEXT NOT NULL, first_offset INTEGER NOT NULL, last_offset INTEGER NOT NULL,
                        from_us INTEGER NOT NULL, to_us INTEGER NOT NULL, PRIMARY KEY (lane, first_offset)
                    ) STRICT, WITHOUT ROWID;
                    """
            )
        }
        migrator.registerMigration("ledger 0.2") { database in
            try database.execute(
                sql: """
                    -- The names of a break's variants; none of a break that has one list.
                    CREATE TABLE variants (
                        break_number INTEGER NOT NULL, variant INTEGER NOT NULL, name TEXT NOT NULL,
                        PRIMARY KEY (break_number, variant)
                    ) STRICT, WITHOUT ROWID;
                    """
            )
        }
        return migrator
    }

    /// The permanently missing records, oldest first.
    static func gaps(_ database: Database) throws -> [LedgerGap] {
        try Row.fetchAll(
            database,
            sql: "SELECT lane, first_offset, last_offset, from_us, to_us FROM gaps ORDER BY to_us, lane, first_offset"
        )
        .map { row in
            let (first, last): (Int64, Int64) = (row[1], row[2])
            return LedgerGap(
                lane: Lane(name: row[0]),
                first: UInt64(first),
                last: UInt64(last),
                from: Timestamp(microseconds: row[3]),
                to: Timestamp(microseconds: row[4])
            )
        }
    }

    /// Passes over records that are gone, and keeps that they are; to be called in a transaction.
    static func skip(_ gap: LedgerGap, _ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO gaps (lane, first_offset, last_offset, from_us, to_us) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET last_offset = max(last_offset, excluded.last_offset),
                    to_us = max(to_us, excluded.to_us)
                """,
            arguments: [
                gap.lane.description, Int64(clamping: gap.first), Int64(clamping: gap.last), gap.from.microseconds,
                gap.to.microseconds,
            ]
        )
        try Self.setAppliedOffset(gap.last, of: gap.lane, database)
    }

    static func appliedOffset(of lane: Lane, _ database: Database) throws -> UInt64 {
        let offset = try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT applied_offset FROM applied WHERE lane = ?"),
            arguments: [lane.description]
        )
        return UInt64(offset ?? 0)
    }

    static func appliedOffsets(_ database: Database) throws -> [Lane: UInt64] {
        var offsets: [Lane: UInt64] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT lane, applied_offset FROM applied") {
            let offset: Int64 = row[1]
            offsets[Lane(name: row[0])] = UInt64(offset)
        }
        return offsets
    }

    /// Moves the applied offset of a lane forward; never back.
    ///
    /// - Parameters:
    ///   - offset: where it is now.
    ///   - lane: which lane.
    ///   - digest: of the record there, where it is known.
    ///   - database: in a transaction.
    /// - Throws: the error of SQLite.
    static func setAppliedOffset(
        _ offset: UInt64,
        of lane: Lane,
        digest: UInt64? = nil,
        _ database: Database
    ) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO applied (lane, applied_offset, digest) VALUES (?, ?, ?)
                ON CONFLICT (lane) DO UPDATE SET applied_offset = excluded.applied_offset, digest = excluded.digest
                    WHERE excluded.applied_offset > applied_offset
                """
        )
        .execute(arguments: [
            lane.description, Int64(clamping: offset), digest.map { Int64(bitPattern: $0) },
        ])
    }

    /// Sets where the ledger goes on in a lane, wherever it is now.
    static func replaceAppliedOffset(_ offset: UInt64, of lane: Lane, _ database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO applied (lane, applied_offset, digest) VALUES (?, ?, NULL)",
            arguments: [lane.description, Int64(offset)]
        )
    }

    /// The digests of the last applied records, if they are known.
    static func digests(_ database: Database) throws -> [Lane: (offset: UInt64, digest: UInt64)] {
        var digests: [Lane: (offset: UInt64, digest: UInt64)] = [:]
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT lane, applied_offset, digest FROM applied WHERE digest IS NOT NULL"
        )
        for row in rows {
            let (offset, digest): (Int64, Int64) = (row[1], row[2])
            digests[Lane(name: row[0])] = (UInt64(offset), UInt64(bitPattern: digest))
        }
        return digests
    }

    /// Notes how far the ledger had counted in a lane before the epochs that it now goes on to; to be called in the
    /// transaction that applies what jumps there.
    static func note(_ posting: LedgerPosting, of lane: Lane, _ database: Database) throws {
        guard posting.offset != posting.previous + 1 else { return }
        try database.execute(
            sql: """
                INSERT INTO epoch_lanes (ordinal, lane, last_offset)
                    SELECT ordinal, ?1, ?2 FROM epochs WHERE base >= ?2 AND base < ?3 AND ordinal > 0
                ON CONFLICT (ordinal, lane) DO UPDATE SET last_offset = max(last_offset, excluded.last_offset)
                """,
            arguments: [lane.description, Int64(posting.previous), Int64(posting.offset)]
        )
    }
}

extension BreakNumber {
    /// As SQLite keeps it: the same bits, signed.
    var stored: Int64 { Int64(bitPattern: self.rawValue) }

    init(stored: Int64) { self.init(rawValue: UInt64(bitPattern: stored)) }
}
