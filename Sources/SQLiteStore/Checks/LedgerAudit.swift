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

    static func differences(_ database: Database) throws -> [String] {
        let numbers = try Int64.fetchAll(
            database,
            sql: """
                SELECT break_number FROM breaks UNION SELECT break_number FROM firsts
                UNION SELECT break_number FROM totals UNION SELECT break_number FROM reasons
                UNION SELECT break_number FROM sessions UNION SELECT break_number FROM outcomes
                """
        )
        return try numbers.flatMap { number in
            var audit = LedgerAudit(database: database, number: number, totals: try BreakTotals(of: number, database))
            try audit.run()
            return audit.differences.prefix(Self.differencesPerBreakMax)
        }
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
            try self.compareOutcomes()
            try self.compareReasons()
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

    private mutating func compareOutcomes() throws {
        let statement = try self.database.cachedStatement(
            sql: """
                SELECT outcomes.ordinal AS ordinal, sum(kind = 1) AS played, sum(kind = 2) AS ignored,
                    sum(kind = 3) AS failed, sum(ifnull(first <= outcomes.ordinal, 0)) AS covered,
                    sum(ifnull(first > outcomes.ordinal, 0)) AS uncovered, sum(kind = 1 AND evidence = 2) AS inferred,
                    sum(kind = 1 AND muted <> 0) AS muted, sum((kind = 1) * heard_ms) AS heard_ms,
                    sum(clicked <> 0) AS clicked, sum(first IS NULL) AS orphans
                FROM outcomes LEFT JOIN sessions
                    ON sessions.break_number = outcomes.break_number AND sessions.session = outcomes.session
                WHERE outcomes.break_number = ? GROUP BY outcomes.ordinal
                """
        )
        var seen: Set<Int64> = []
        for row in try Row.fetchAll(statement, arguments: [self.number]) {
            let ordinal: Int64 = row["ordinal"]
            seen.insert(ordinal)
            let kept = self.totals.advertisements[ordinal] ?? .init()
            for (column, value) in [
                ("played", kept.counts.played), ("ignored", kept.counts.ignored), ("failed", kept.counts.failed),
                ("covered", kept.covered), ("uncovered", kept.uncovered), ("inferred", kept.counts.inferred),
                ("muted", kept.counts.muted), ("heard_ms", kept.counts.heardMilliseconds),
                ("clicked", kept.counts.clicked), ("orphans", 0),
            ] {
                self.compare("\(column) of advertisement \(ordinal)", kept: value, counted: row[column])
            }
        }
        for (ordinal, kept) in self.totals.advertisements where !seen.contains(ordinal) {
            let outcomes = kept.counts.played + kept.counts.ignored + kept.counts.failed
            self.compare("the number of outcomes of advertisement \(ordinal)", kept: outcomes, counted: 0)
        }
    }

    private mutating func compareReasons() throws {
        let statement = try self.database.cachedStatement(
            sql: """
                SELECT ordinal, reason, count(*) FROM outcomes WHERE break_number = ? AND kind = 2
                GROUP BY ordinal, reason
                """
        )
        var counted: [Int64: [Int: Int64]] = [:]
        for row in try Row.fetchAll(statement, arguments: [self.number]) {
            counted[row[0], default: [:]][row[1]] = row[2]
        }
        for ordinal in Set(counted.keys).union(self.totals.advertisements.keys).sorted() {
            let byReason = self.totals.advertisements[ordinal]?.counts.ignoredBy ?? [:]
            for reason in Outcome.Reason.allCases {
                self.compare(
                    "ignored (\(reason)) of advertisement \(ordinal)",
                    kept: byReason[reason] ?? 0,
                    counted: counted[ordinal]?[reason.rawValue] ?? 0
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
