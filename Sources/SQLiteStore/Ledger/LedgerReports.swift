// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GRDB
import GatewayCore

/// Reads the books.
enum LedgerReports {
    static func report(_ query: ReportQuery, _ database: Database) throws -> Report {
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
            conditions.append("break_number < ?")
            // Comes from outside; numbers of breaks stay far below what SQLite's integers hold.
            arguments.append(Int64(clamping: before.rawValue))
        }
        let limit = min(max(query.limit, 1), ReportQuery.breaksMax)
        let (wanted, wantedArguments) = Self.wanted(query)
        let cursor = try Row.fetchCursor(
            database,
            sql: """
                SELECT *, \(wanted) AS wanted FROM breaks WHERE \(conditions.joined(separator: " AND "))
                ORDER BY break_number DESC
                """,
            arguments: StatementArguments(wantedArguments + arguments)
        )
        var rows: [Row] = []
        var (looked, more) = (0, false)
        var last: Int64?
        while let row = try cursor.next() {
            guard rows.count < limit, looked < ReportQuery.breaksLookedAtMax else {
                more = true
                break
            }
            looked += 1
            last = row["break_number"]
            let isWanted: Bool = row["wanted"]
            if isWanted { rows.append(row.copy()) }
        }
        let gaps = try LedgerSchema.gaps(database)
        var report = Report(
            breaks: try rows.map { row in
                let totals = try BreakTotals(of: row["break_number"], database)
                var each = query.part(of: try Self.entry(row, totals, now: query.now, gaps, database))
                if let variant = query.variant { each.sessions = totals.sessions(of: variant) }
                return each
            },
            offsets: try LedgerSchema.appliedOffsets(database),
            more: more,
            lookedThrough: more ? last.map { BreakNumber(stored: $0) } : nil,
            gaps: gaps,
            variant: query.variant
        )
        if try LedgerBreaks.owed(database) != nil { report.pending.insert(.olderBreaks) }
        return report
    }

    /// The conditions of a query beside those that an index serves: the examined breaks count whether they match or not.
    private static func wanted(_ query: ReportQuery) -> (sql: String, arguments: [any DatabaseValueConvertible]) {
        var conditions = ["1"]
        var arguments: [any DatabaseValueConvertible] = []
        if let from = query.from {
            conditions.append("coalesce(start_us >= ?, 0)")
            arguments.append(from.microseconds)
        }
        if let to = query.to {
            conditions.append("coalesce(start_us < ?, 0)")
            arguments.append(to.microseconds)
        }
        if let advertisement = query.advertisement {
            conditions.append(
                """
                EXISTS (SELECT 1 FROM advertisements
                    WHERE advertisements.break_number = breaks.break_number AND advertisements.id = ?)
                """
            )
            arguments.append(advertisement.description)
        }
        return (conditions.joined(separator: " AND "), arguments)
    }

    private static func entry(
        _ row: Row,
        _ totals: BreakTotals,
        now: Timestamp,
        _ gaps: [LedgerGap],
        _ database: Database
    ) throws -> Report.Break {
        let number: Int64 = row["break_number"]
        let published: Int64 = row["published_us"]
        let start: Int64? = row["start_us"]
        let end: Int64? = row["end_us"]
        let advertisements = try Self.advertisements(of: number, database)
        let summary = BreakSummary(
            number: BreakNumber(stored: number),
            key: BreakKey(stream: try StreamID(row["stream"]), id: try BreakID(row["id"])),
            broadcaster: row["broadcaster"],
            published: Timestamp(microseconds: published),
            start: start.map { Timestamp(microseconds: $0) },
            end: end.map { Timestamp(microseconds: $0) },
            cancelled: row["cancelled"],
            expired: row["expired"],
            preStream: row["pre_stream"],
            advertisements: advertisements,
            variants: try String.fetchAll(
                database.cachedStatement(sql: "SELECT name FROM variants WHERE break_number = ? ORDER BY variant"),
                arguments: [number]
            )
        )
        return Report.Break(
            summary: summary,
            sessions: totals.sessions,
            advertisements: zip(summary.ordinals, advertisements)
                .map { Report.Advertisement($1, counts: totals.counts(of: Int64($0))) },
            settled: summary.end.map { $0 + Report.settleAfter <= now } ?? false,
            complete: !gaps.contains { $0.mayHold(published: summary.published, end: summary.end) }
        )
    }

    private static func advertisements(
        of number: Int64,
        _ database: Database
    ) throws -> [BreakSummary.Advertisement] {
        try Row.fetchAll(
            database.cachedStatement(
                sql:
                    "SELECT id, title, duration_us, ordinal FROM advertisements WHERE break_number = ? ORDER BY ordinal"
            ),
            arguments: [number]
        )
        .map { row in
            let (duration, ordinal): (Int64, Int64) = (row[2], row[3])
            return BreakSummary.Advertisement(
                id: try AdvertisementID(row[0]),
                title: row[1],
                duration: .microseconds(duration),
                variant: AdOrdinal.variant(of: UInt32(clamping: ordinal))
            )
        }
    }
}

/// The totals of one break.
struct BreakTotals {
    /// One advertisement's row.
    struct Advertisement {
        var counts = OutcomeCounts()
        var covered: Int64 = 0
        var uncovered: Int64 = 0
    }

    /// How many sessions were handed a largest batch that begins at an ordinal.
    private(set) var firsts: [Int64: Int64] = [:]
    private(set) var advertisements: [Int64: Advertisement] = [:]

    /// Reads them as they are kept.
    init(of number: Int64, _ database: Database) throws {
        let firsts = try database.cachedStatement(
            sql: "SELECT first, sessions FROM firsts WHERE break_number = ? AND sessions <> 0"
        )
        for row in try Row.fetchAll(firsts, arguments: [number]) { self.firsts[row[0]] = row[1] }

        let totals = try database.cachedStatement(sql: "SELECT * FROM totals WHERE break_number = ?")
        for row in try Row.fetchAll(totals, arguments: [number]) {
            var advertisement = Advertisement(covered: row["covered"], uncovered: row["uncovered"])
            advertisement.counts.played = row["played"]
            advertisement.counts.ignored = row["ignored"]
            advertisement.counts.failed = row["failed"]
            advertisement.counts.inferred = row["inferred"]
            advertisement.counts.muted = row["muted"]
            advertisement.counts.heardMilliseconds = row["heard_ms"]
            advertisement.counts.repeats = row["repeats"]
            advertisement.counts.contradictions = row["contradictions"]
            advertisement.counts.clicked = row["clicked"]
            self.advertisements[row["ordinal"]] = advertisement
        }

        let reasons = try database.cachedStatement(
            sql: "SELECT ordinal, reason, ignored FROM reasons WHERE break_number = ?"
        )
        for row in try Row.fetchAll(reasons, arguments: [number]) {
            guard let reason = Outcome.Reason(rawValue: row[1]) else { continue }
            self.advertisements[row[0], default: Advertisement()].counts.ignoredBy[reason] = row[2]
        }
    }

    /// How many sessions were handed a batch or acknowledged something.
    var sessions: Int64 { self.firsts.values.reduce(0, +) }

    /// How many sessions were handed a batch of a variant.
    ///
    /// Of a session without a batch it is not kept of which variant its outcomes are: it is among ``sessions`` only.
    func sessions(of variant: UInt32) -> Int64 {
        self.firsts.reduce(0) { sum, entry in
            guard let first = UInt32(exactly: entry.key), AdOrdinal.variant(of: first) == variant else { return sum }
            return sum + entry.value
        }
    }

    /// How many sessions were handed a batch that held an advertisement.
    func batches(holding ordinal: Int64) -> Int64 {
        self.firsts.reduce(0) { LedgerSchema.batch(from: $1.key, holds: ordinal) ? $0 + $1.value : $0 }
    }

    func counts(of ordinal: Int64) -> OutcomeCounts {
        let advertisement = self.advertisements[ordinal] ?? Advertisement()
        let batches = self.batches(holding: ordinal)
        var counts = advertisement.counts
        counts.delivered = batches + advertisement.uncovered
        counts.unknown = batches - advertisement.covered
        return counts
    }
}
