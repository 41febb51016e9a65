// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GRDB

/// The totals of the outcomes of one break, counted from their rows in one pass.
///
/// Rows come in the order of their keys, session by session; no query sorts them, because a sort takes longer than all the rest of a
/// check.
struct RowTally {
    /// The totals of the rows of one advertisement.
    struct Advertisement: Hashable {
        let ordinal: Int64
        var played: Int64 = 0
        var ignored: Int64 = 0
        var failed: Int64 = 0
        var covered: Int64 = 0
        var uncovered: Int64 = 0
        var inferred: Int64 = 0
        var muted: Int64 = 0
        var heardMilliseconds: Int64 = 0
        var clicked: Int64 = 0
        /// Outcomes of a session that is not there.
        var orphans: Int64 = 0
        /// Of `ignored`, by the number of the reason.
        var reasons: [Int64: Int64] = [:]
    }

    /// The columns of a row, in the order in which the queries name them.
    private enum Column: Int32 {
        case ordinal, first, kind, evidence, reason, heardMilliseconds, muted, clicked
    }

    private static let columns = "ordinal, first, kind, evidence, reason, heard_ms, muted, clicked"

    private(set) var advertisements: [Advertisement] = []
    private var places: [Int64: Int] = [:]
    private var place = 0
    private var rowCount: Int64 = 0

    /// Counts the rows of a break.
    ///
    /// - Throws: the error of SQLite.
    init(of number: Int64, _ database: Database) throws {
        let delivered = try PreparedStatement(
            """
            SELECT \(Self.columns) FROM sessions CROSS JOIN outcomes
                ON outcomes.break_number = sessions.break_number AND outcomes.session = sessions.session
            WHERE sessions.break_number = ?
            """,
            in: database
        )
        delivered.bind(1, number)
        try delivered.forEachRow { self.add($0, hasSession: true) }
        let there = try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT count(*) FROM outcomes WHERE break_number = ?"),
            arguments: [number]
        )
        if there != self.rowCount { try self.addOrphans(of: number, database) }
    }

    private mutating func addOrphans(of number: Int64, _ database: Database) throws {
        let orphans = try PreparedStatement(
            """
            SELECT \(Self.columns) FROM (SELECT *, NULL AS first FROM outcomes) AS outcomes
            WHERE break_number = ?1 AND NOT EXISTS (
                SELECT 1 FROM sessions WHERE sessions.break_number = ?1 AND sessions.session = outcomes.session
            )
            """,
            in: database
        )
        orphans.bind(1, number)
        try orphans.forEachRow { self.add($0, hasSession: false) }
    }

    // Sums may wrap in a damaged file: they differ from the totals then, as any other wrong sum does.
    private mutating func add(_ row: borrowing PreparedStatement.Row, hasSession: Bool) {
        func value(_ column: Column) -> Int64 { row.integer(column.rawValue) }
        let ordinal = value(.ordinal)
        self.rowCount += 1
        self.find(ordinal)
        let place = self.place
        if hasSession {
            if LedgerSchema.batch(from: value(.first), holds: ordinal) {
                self.advertisements[place].covered += 1
            } else {
                self.advertisements[place].uncovered += 1
            }
        } else {
            self.advertisements[place].orphans += 1
        }
        if value(.clicked) != 0 { self.advertisements[place].clicked += 1 }
        switch Outcome.Kind(rawValue: Int(value(.kind))) {
        case .played:
            self.advertisements[place].played += 1
            self.advertisements[place].heardMilliseconds &+= value(.heardMilliseconds)
            if value(.evidence) == Int64(Outcome.Evidence.inferred.rawValue) {
                self.advertisements[place].inferred += 1
            }
            if value(.muted) != 0 { self.advertisements[place].muted += 1 }
        case .ignored:
            self.advertisements[place].ignored += 1
            self.advertisements[place].reasons[value(.reason), default: 0] += 1
        case .failed: self.advertisements[place].failed += 1
        default: break
        }
    }

    /// Finds the place of an advertisement: mostly the one behind that of the row before, or the first.
    private mutating func find(_ ordinal: Int64) {
        let next = self.place + 1
        if next < self.advertisements.count, self.advertisements[next].ordinal == ordinal {
            self.place = next
        } else if let known = self.places[ordinal] {
            self.place = known
        } else {
            self.place = self.advertisements.count
            self.places[ordinal] = self.place
            self.advertisements.append(Advertisement(ordinal: ordinal))
        }
    }
}
