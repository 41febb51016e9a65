// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GRDB
import GatewayCore

/// Counts what the sessions with one choice of ads did in a break, from their rows: the totals that are kept are of all choices
/// together.
///
/// A session has the variant of the largest batch that it was handed, and 0 where only its outcomes are known, so that it counts for
/// exactly one: the books of all variants come to the totals, but for repeats and contradictions, which leave no rows.
///
/// Everything is of one moment, that of the reader's transaction. It is read in pieces in the order of the sessions, as the tables have
/// it: a piece bounds what is held in memory, and a task that was cancelled stops at the next one.
enum VariantTotals {
    /// Of how many sessions the rows are read in one piece.
    private static let sessionsPerPieceMax = 4_096
    /// Below and above every session: blobs are compared byte by byte.
    private static let lowest = Data().databaseValue
    private static let highest = Data(repeating: .max, count: WireLimits.sessionBytes + 1).databaseValue

    /// Counts a break's rows.
    ///
    /// - Parameters:
    ///   - number: the break's.
    ///   - variant: which choice of ads.
    ///   - database: of a reader, in a transaction.
    /// - Returns: its totals, without repeats and contradictions.
    /// - Throws: the error of SQLite, and `CancellationError`.
    static func count(of number: Int64, variant: UInt32, _ database: Database) throws -> BreakTotals {
        var firsts: [Int64: Int64] = [:]
        var advertisements: [Int64: BreakTotals.Advertisement] = [:]
        let sessions = try database.cachedStatement(
            sql: """
                SELECT first, count(*) FROM sessions
                WHERE break_number = ? AND session >= ? AND session < ? AND variant = ? GROUP BY first
                """
        )
        // Sessions first, then the rows of each, which lie together: SQLite keeps the order of a CROSS JOIN.
        let outcomes = try database.cachedStatement(
            sql: """
                SELECT ordinal, kind, reason, count(*) AS count, sum(first <= ordinal) AS covered,
                    sum(evidence = 2) AS inferred, sum(muted <> 0) AS muted, sum(heard_ms) AS heard_ms,
                    sum(clicked <> 0) AS clicked
                FROM sessions CROSS JOIN outcomes
                    ON outcomes.break_number = sessions.break_number AND outcomes.session = sessions.session
                WHERE sessions.break_number = ? AND sessions.session >= ? AND sessions.session < ? AND variant = ?
                GROUP BY ordinal, kind, reason
                """
        )
        var from: DatabaseValue? = Self.lowest
        while let begin = from {
            try Task.checkCancellation()
            from = try Self.session(of: number, behind: begin, database)
            let arguments: StatementArguments = [number, begin, from ?? Self.highest, Int64(variant)]
            for row in try Row.fetchAll(sessions, arguments: arguments) {
                let count: Int64 = row[1]
                firsts[row[0], default: 0] += count
            }
            for row in try Row.fetchAll(outcomes, arguments: arguments) {
                advertisements[row["ordinal"], default: .init()].add(row)
            }
        }
        return BreakTotals(firsts: firsts, advertisements: advertisements)
    }

    /// The session with which the piece behind one begins; `nil`: that is the last.
    private static func session(
        of number: Int64,
        behind begin: DatabaseValue,
        _ database: Database
    ) throws -> DatabaseValue? {
        let statement = try database.cachedStatement(
            sql: """
                SELECT session FROM sessions WHERE break_number = ? AND session >= ? ORDER BY session LIMIT 1 OFFSET ?
                """
        )
        return try Row.fetchOne(statement, arguments: [number, begin, Self.sessionsPerPieceMax])?[0]
    }
}

extension BreakTotals.Advertisement {
    /// Outcomes of one kind, for one reason.
    fileprivate mutating func add(_ row: Row) {
        let (kind, reason, count): (Int64, Int64, Int64) = (row["kind"], row["reason"], row["count"])
        let (covered, clicked): (Int64, Int64) = (row["covered"], row["clicked"])
        self.covered += covered
        self.uncovered += count - covered
        self.counts.clicked += clicked
        switch Outcome.Kind(rawValue: Int(kind)) {
        case .played:
            let (inferred, muted, heard): (Int64, Int64, Int64) = (row["inferred"], row["muted"], row["heard_ms"])
            self.counts.played += count
            self.counts.inferred += inferred
            self.counts.muted += muted
            self.counts.heardMilliseconds += heard
        case .ignored:
            self.counts.ignored += count
            if let reason = Outcome.Reason(rawValue: Int(reason)) { self.counts.ignoredBy[reason, default: 0] += count }
        case .failed: self.counts.failed += count
        case nil: break
        }
    }
}
