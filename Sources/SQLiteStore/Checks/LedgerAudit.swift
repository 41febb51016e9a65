// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GRDB
import GatewayCore

/// Counts every break anew from its rows, and compares with the totals.
///
/// What cannot be counted anew is compared with itself: the totals of breaks whose rows were forgotten hold every
/// outcome twice (by kind and by coverage) and every reason. Repeats and contradictions leave no rows.
struct LedgerAudit {
    /// A break with more differences than this is described by the first ones.
    private static let differencesPerBreakMax = 20

    private let database: Database
    private let number: Int64
    private let totals: BreakTotals
    private var differences: [String] = []

    /// Audits all breaks.
    ///
    /// - Throws: the error of SQLite; `CancellationError` where it was cancelled between two breaks.
    static func differences(_ database: Database, _ cancellation: Cancellation? = nil) throws -> [String] {
        let numbers = try Self.breakNumbers(database)
        return try numbers.flatMap { number in
            try cancellation?.check()
            var audit = LedgerAudit(database: database, number: number, totals: try BreakTotals(of: number, database))
            try audit.run()
            return audit.differences.prefix(Self.differencesPerBreakMax)
        }
    }

    /// The breaks of which there is anything; found by a search for the next one, whatever the number of rows of each.
    private static func breakNumbers(_ database: Database) throws -> [Int64] {
        let next = { (table: String) in
            """
            SELECT * FROM (
                WITH RECURSIVE found (number) AS (
                    SELECT min(break_number) FROM \(table) UNION ALL
                    SELECT (SELECT min(break_number) FROM \(table) WHERE break_number > number) FROM found
                        WHERE number IS NOT NULL
                ) SELECT number FROM found WHERE number IS NOT NULL
            )
            """
        }
        let tables = ["breaks", "firsts", "totals", "reasons", "sessions", "outcomes"]
        return try Int64.fetchAll(database, sql: tables.map(next).joined(separator: " UNION "))
    }

    private mutating func run() throws {
        self.compareWithItself()
        let state = try Int64.fetchOne(
            self.database.cachedStatement(sql: "SELECT row_state FROM breaks WHERE break_number = ?"),
            arguments: [self.number]
        )
        // Breaks that only deliveries and outcomes name have their rows too.
        switch LedgerSchema.Rows(rawValue: state ?? LedgerSchema.Rows.kept.rawValue) {
        case .kept:
            try self.compareSessions()
            let tally = try RowTally(of: self.number, self.database)
            self.compareOutcomes(tally)
            self.compareReasons(tally)
        case .going: break
        case .gone: try self.expectNoRows()
        case nil: self.differences.append("break \(self.number): the state of its rows is \(state ?? -1)")
        }
    }

    private mutating func compare(_ what: String, kept: Int64, counted: Int64) {
        guard kept != counted else { return }
        self.differences.append("break \(self.number): \(what) is \(kept) in the totals and \(counted) by its rows")
    }

    private mutating func compareWithItself() {
        for (ordinal, each) in self.totals.advertisements.sorted(by: { $0.key < $1.key }) {
            let outcomes = each.counts.played + each.counts.ignored + each.counts.failed
            if outcomes != each.covered + each.uncovered {
                self.differences.append(
                    """
                    break \(self.number): advertisement \(ordinal) has \(outcomes) outcomes by kind and \
                    \(each.covered + each.uncovered) by delivery
                    """
                )
            }
            let reasons = each.counts.ignoredBy.values.reduce(0, +)
            if reasons != each.counts.ignored {
                self.differences.append(
                    """
                    break \(self.number): advertisement \(ordinal) was ignored \(each.counts.ignored) times and for \
                    \(reasons) reasons
                    """
                )
            }
            let counts = self.totals.counts(of: ordinal)
            if counts.unknown < 0 || each.uncovered < 0 || counts.inferred > counts.played
                || counts.muted > counts.played || counts.clicked < 0 || counts.clicked > outcomes
            {
                self.differences.append("break \(self.number): advertisement \(ordinal) has impossible counts")
            }
        }
    }

    private mutating func compareSessions() throws {
        var counted: [Int64: Int64] = [:]
        let statement = try self.database.cachedStatement(
            sql: "SELECT first, count(*) FROM sessions WHERE break_number = ? GROUP BY first"
        )
        for row in try Row.fetchAll(statement, arguments: [self.number]) { counted[row[0]] = row[1] }
        for first in Set(counted.keys).union(self.totals.firsts.keys).sorted() {
            let what =
                first == LedgerSchema.neverDelivered
                ? "the number of sessions without a batch" : "the number of sessions with a batch from \(first) on"
            self.compare(what, kept: self.totals.firsts[first] ?? 0, counted: counted[first] ?? 0)
        }
        let empty = try Int64.fetchOne(
            self.database.cachedStatement(
                sql: """
                    SELECT count(*) FROM sessions WHERE break_number = ?1 AND first = ?2 AND NOT EXISTS (
                        SELECT 1 FROM outcomes
                        WHERE outcomes.break_number = ?1 AND outcomes.session = sessions.session
                    )
                    """
            ),
            arguments: [self.number, LedgerSchema.neverDelivered]
        )
        if let empty, empty > 0 {
            self.differences.append("break \(self.number): \(empty) sessions have neither a batch nor an outcome")
        }
    }

    private mutating func compareOutcomes(_ tally: RowTally) {
        for counted in tally.advertisements.sorted(by: { $0.ordinal < $1.ordinal }) {
            let ordinal = counted.ordinal
            let kept = self.totals.advertisements[ordinal] ?? .init()
            for (column, kept, counted) in [
                ("played", kept.counts.played, counted.played), ("ignored", kept.counts.ignored, counted.ignored),
                ("failed", kept.counts.failed, counted.failed), ("covered", kept.covered, counted.covered),
                ("uncovered", kept.uncovered, counted.uncovered), ("inferred", kept.counts.inferred, counted.inferred),
                ("muted", kept.counts.muted, counted.muted),
                ("heard_ms", kept.counts.heardMilliseconds, counted.heardMilliseconds),
                ("clicked", kept.counts.clicked, counted.clicked), ("orphans", 0, counted.orphans),
            ] {
                self.compare("\(column) of advertisement \(ordinal)", kept: kept, counted: counted)
            }
        }
        let seen = Set(tally.advertisements.map(\.ordinal))
        for (ordinal, kept) in self.totals.advertisements where !seen.contains(ordinal) {
            let outcomes = kept.counts.played + kept.counts.ignored + kept.counts.failed
            self.compare("the number of outcomes of advertisement \(ordinal)", kept: outcomes, counted: 0)
        }
    }

    private mutating func compareReasons(_ tally: RowTally) {
        var counted: [Int64: [Int64: Int64]] = [:]
        for each in tally.advertisements { counted[each.ordinal] = each.reasons }
        for ordinal in Set(counted.keys).union(self.totals.advertisements.keys).sorted() {
            let byReason = self.totals.advertisements[ordinal]?.counts.ignoredBy ?? [:]
            for reason in Outcome.Reason.allCases {
                self.compare(
                    "ignored (\(reason)) of advertisement \(ordinal)",
                    kept: byReason[reason] ?? 0,
                    counted: counted[ordinal]?[Int64(reason.rawValue)] ?? 0
                )
            }
        }
    }

    private mutating func expectNoRows() throws {
        for table in ["sessions", "outcomes"] {
            let isThere = try Int64.fetchOne(
                self.database.cachedStatement(sql: "SELECT 1 FROM \(table) WHERE break_number = ? LIMIT 1"),
                arguments: [self.number]
            )
            if isThere != nil {
                self.differences.append("break \(self.number): it has \(table), which were forgotten")
            }
        }
    }
}
