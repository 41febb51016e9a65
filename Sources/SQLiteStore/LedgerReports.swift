// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GRDB
import GatewayCore

/// Reads the books, and counts them anew.
enum LedgerReports {
    static func report(_ query: ReportQuery, from database: Database) throws -> Report {
        var conditions = ["1"]
        var arguments: [any DatabaseValueConvertible] = []
        if let stream = query.stream {
            conditions.append("stream = ?")
            arguments.append(stream.description)
        }
        if let id = query.breakID {
            conditions.append("id = ?")
            arguments.append(id.description)
        }
        if let before = query.before {
            conditions.append("number < ?")
            arguments.append(before.stored)
        }
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT * FROM breaks WHERE \(conditions.joined(separator: " AND ")) ORDER BY number DESC
                LIMIT \(query.limit + 1)
                """,
            arguments: StatementArguments(arguments)
        )
        return Report(
            breaks: try rows.prefix(query.limit).map { try Self.entry($0, now: query.now, from: database) },
            offsets: try LedgerSchema.appliedOffsets(in: database),
            more: rows.count > query.limit
        )
    }

    private static func entry(_ row: Row, now: Timestamp, from database: Database) throws -> Report.Break {
        let stored: Int64 = row["number"]
        let number = BreakNumber(stored: stored)
        let firsts = try Self.firsts(of: stored, in: database)
        let advertisements =
            try Row.fetchAll(
                database,
                sql: """
                    SELECT advertisements.ordinal AS place, id, title, milliseconds, totals.* FROM advertisements
                    LEFT JOIN totals ON totals.break = advertisements.break AND totals.ordinal = advertisements.ordinal
                    WHERE advertisements.break = ? ORDER BY advertisements.ordinal
                    """,
                arguments: [stored]
            )
            .map { row in
                let ordinal: Int64 = row["place"]
                let milliseconds: Int64 = row["milliseconds"]
                var counts = Self.counts(row, batches: firsts.filter { $0.key <= ordinal }.values.reduce(0, +))
                for reason in try Row.fetchAll(
                    database,
                    sql: "SELECT reason, ignored FROM reasons WHERE break = ? AND ordinal = ?",
                    arguments: [stored, ordinal]
                ) {
                    if let known = Outcome.Reason(rawValue: reason[0]) { counts.ignoredBy[known] = reason[1] }
                }
                return Report.Advertisement(
                    id: try AdvertisementID(row["id"]),
                    title: row["title"],
                    duration: .milliseconds(milliseconds),
                    counts: counts
                )
            }
        let start: Int64? = row["start"]
        let end: Int64? = row["end"]
        let published: Int64 = row["published"]
        let summary = BreakSummary(
            number: number,
            key: BreakKey(stream: try StreamID(row["stream"]), id: try BreakID(row["id"])),
            broadcaster: row["broadcaster"],
            published: Timestamp(microseconds: published),
            start: start.map { Timestamp(microseconds: $0) },
            end: end.map { Timestamp(microseconds: $0) },
            cancelled: row["cancelled"],
            expired: row["expired"],
            preStream: row["pre_stream"],
            advertisements: advertisements.map {
                BreakSummary.Advertisement(id: $0.id, title: $0.title, duration: $0.duration)
            }
        )
        return Report.Break(
            summary: summary,
            sessions: firsts.values.reduce(0, +),
            advertisements: advertisements,
            settled: summary.end.map { $0 + Report.settleAfter <= now } ?? false
        )
    }

    private static func firsts(of number: Int64, in database: Database) throws -> [Int64: Int64] {
        var firsts: [Int64: Int64] = [:]
        for row in try Row.fetchAll(
            database,
            sql: "SELECT first, sessions FROM firsts WHERE break = ?",
            arguments: [number]
        ) {
            firsts[row[0]] = row[1]
        }
        return firsts
    }

    /// The counts of one advertisement.
    ///
    /// - Parameters:
    ///   - row: of `totals`; all columns may be absent.
    ///   - batches: how many sessions were handed a batch that held it.
    /// - Returns: the counts; `delivered` and `unknown` follow from the batches and from how many outcomes they cover,
    ///   the others are kept: that they balance is not given by arithmetic.
    private static func counts(_ row: Row, batches: Int64) -> OutcomeCounts {
        var counts = OutcomeCounts()
        let covered: Int64 = row["covered"] ?? 0
        let uncovered: Int64 = row["uncovered"] ?? 0
        counts.delivered = batches + uncovered
        counts.unknown = batches - covered
        counts.played = row["played"] ?? 0
        counts.ignored = row["ignored"] ?? 0
        counts.failed = row["failed"] ?? 0
        counts.inferred = row["inferred"] ?? 0
        counts.repeats = row["repeats"] ?? 0
        counts.contradictions = row["contradictions"] ?? 0
        counts.heardMilliseconds = row["heard"] ?? 0
        counts.muted = row["muted"] ?? 0
        return counts
    }

    /// Counts everything anew from the rows, and compares with the totals.
    static func audit(_ database: Database) throws -> [String] {
        var differences: [String] = []
        // Breaks whose rows are forgotten cannot be counted anew; breaks that only acknowledgements name can.
        let forgotten = "SELECT number FROM breaks WHERE has_rows = 0"
        let totals = """
            SELECT break, ordinal, played, ignored, failed, covered, uncovered, inferred, heard, muted FROM totals
            WHERE break NOT IN (\(forgotten))
            """
        let counted = """
            SELECT o.break, o.ordinal, sum(o.kind = 1), sum(o.kind = 2), sum(o.kind = 3), sum(s.first <= o.ordinal),
                sum(s.first > o.ordinal), sum(o.kind = 1 AND o.evidence = 2), sum((o.kind = 1) * o.heard),
                sum(o.kind = 1 AND o.muted)
            FROM outcomes o JOIN sessions s ON s.break = o.break AND s.session = o.session
            GROUP BY o.break, o.ordinal
            """
        differences += try Self.differences("outcomes", totals, counted, in: database)
        differences += try Self.differences(
            "sessions",
            "SELECT break, first, sessions FROM firsts WHERE sessions <> 0 AND break NOT IN (\(forgotten))",
            "SELECT break, first, count(*) FROM sessions GROUP BY break, first",
            in: database
        )
        differences += try Self.differences(
            "reasons",
            "SELECT break, ordinal, reason, ignored FROM reasons WHERE break NOT IN (\(forgotten))",
            "SELECT break, ordinal, reason, count(*) FROM outcomes WHERE kind = 2 GROUP BY break, ordinal, reason",
            in: database
        )
        let orphans = try Int.fetchOne(
            database,
            sql: """
                SELECT count(*) FROM outcomes o
                WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.break = o.break AND s.session = o.session)
                """
        )
        if let orphans, orphans > 0 { differences.append("\(orphans) outcomes belong to no session") }
        return differences
    }

    private static func differences(
        _ what: String,
        _ kept: String,
        _ counted: String,
        in database: Database
    ) throws -> [String] {
        let extra = try Row.fetchAll(database, sql: "\(kept) EXCEPT \(counted) LIMIT 20")
        let missing = try Row.fetchAll(database, sql: "\(counted) EXCEPT \(kept) LIMIT 20")
        return extra.map { "\(what): the totals say \($0.text), the rows do not" }
            + missing.map { "\(what): the rows say \($0.text), the totals do not" }
    }
}

extension Row {
    /// The values in order, for people.
    fileprivate var text: String { self.databaseValues.map { "\($0)" }.joined(separator: " ") }
}
