// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GRDB
import GatewayCore

/// How far the writers of each lane are, where several gateways share the log.
///
/// The first record that says who appended it makes the table: the ledger of a log on this machine has none, and stays a file that
/// earlier versions open.
enum LedgerWriters {
    /// The postings that have an effect; to be called in the transaction that applies them.
    ///
    /// - Parameters:
    ///   - postings: those that follow what is applied.
    ///   - lane: their lane.
    ///   - database: in a transaction.
    /// - Returns: all of them where the log does not keep who appended a group.
    /// - Throws: the errors of SQLite.
    static func effective(
        _ postings: ArraySlice<LedgerPosting>,
        of lane: Lane,
        _ database: Database
    ) throws -> ArraySlice<LedgerPosting> {
        guard postings.contains(where: { $0.mark != nil }) else { return postings }
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS writers (
                    lane TEXT NOT NULL, writer INTEGER NOT NULL, number INTEGER NOT NULL, at_us INTEGER NOT NULL,
                    PRIMARY KEY (lane, writer)
                ) STRICT, WITHOUT ROWID
                """
        )
        let before = try Self.records(of: lane, database)
        var table = WriterTable(before)
        let effective = LedgerPosting.effective(postings, &table)
        let after = table.records
        let kept = Set(after.map(\.writer))
        for each in before where !kept.contains(each.writer) {
            try database.execute(
                sql: "DELETE FROM writers WHERE lane = ? AND writer = ?",
                arguments: [lane.description, Int64(bitPattern: each.writer)]
            )
        }
        let known = Set(before)
        for each in after where !known.contains(each) {
            try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO writers (lane, writer, number, at_us) VALUES (?, ?, ?, ?)"
            )
            .execute(arguments: [
                lane.description, Int64(bitPattern: each.writer), Int64(bitPattern: each.number), each.at.microseconds,
            ])
        }
        return effective
    }

    /// How far the writers of a lane are; empty where no record has said who appended it.
    private static func records(of lane: Lane, _ database: Database) throws -> [WriterRecord] {
        try Row.fetchAll(
            database,
            sql: "SELECT writer, number, at_us FROM writers WHERE lane = ?",
            arguments: [lane.description]
        )
        .map { row in
            let (writer, number): (Int64, Int64) = (row[0], row[1])
            return WriterRecord(
                writer: UInt64(bitPattern: writer),
                number: UInt64(bitPattern: number),
                at: Timestamp(microseconds: row[2])
            )
        }
    }
}
