// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GRDB
import GatewayCore

/// The differences between two ledgers.
package struct LedgerDifferences: Hashable, Sendable {
    /// The most differences that are described.
    package static let sentencesMax = 100

    /// How many there are.
    package private(set) var count = 0
    /// The first of them, for people.
    package private(set) var sentences: [String] = []

    package init() {}

    mutating func add(_ sentence: @autoclosure () throws -> String) rethrows {
        self.count += 1
        if self.sentences.count < Self.sentencesMax { self.sentences.append(try sentence()) }
    }

    /// Takes over others.
    mutating func add(_ others: LedgerDifferences) {
        self.count += others.count
        self.sentences += others.sentences.prefix(Self.sentencesMax - self.sentences.count)
    }
}

/// Compares a ledger with a recount of the same records, row by row.
///
/// Both are read in the order of their keys, so that it takes no memory however large they are. What each alone has
/// forgotten (rows of old breaks, totals of older ones) is left out; what depends on how records were grouped into
/// transactions, and means nothing, is left out as well.
enum LedgerComparison {
    private struct Table {
        let name: String
        let keys: [String]
        /// The values as SQL, with the names to tell them by.
        let values: [(name: String, sql: String)]
        var condition = "1"
        /// Whether it holds who did what, which is forgotten before the totals.
        var holdsRows = false

        var select: String {
            let columns = self.keys + self.values.map(\.sql)
            return """
                SELECT \(columns.joined(separator: ", ")) FROM \(self.name) WHERE \(self.condition)
                ORDER BY \(self.keys.joined(separator: ", "))
                """
        }
    }

    private static let tables: [Table] = [
        Table(
            name: "totals",
            keys: ["break_number", "ordinal"],
            values: Self.plain([
                "played", "ignored", "failed", "covered", "uncovered", "inferred", "muted", "heard_ms", "repeats",
                "contradictions", "clicked",
            ])
        ),
        // A count that went back to 0 may have a row or none.
        Table(
            name: "firsts",
            keys: ["break_number", "first"],
            values: Self.plain(["sessions"]),
            condition: "sessions <> 0"
        ),
        Table(
            name: "reasons",
            keys: ["break_number", "ordinal", "reason"],
            values: Self.plain(["ignored"]),
            condition: "ignored <> 0"
        ),
        // Of a session without a batch, which of its outcomes made it known is by chance.
        Table(
            name: "sessions",
            keys: ["break_number", "session"],
            values: Self.plain(["first"])
                + ["variant", "at_us"].map { ($0, "iif(first < \(LedgerSchema.neverDelivered), \($0), 0)") },
            holdsRows: true
        ),
        Table(
            name: "outcomes",
            keys: ["break_number", "session", "ordinal"],
            values: Self.plain([
                "kind", "evidence", "reason", "heard_ms", "quartiles", "muted", "vast_error", "occurred_us",
                "received_us", "clicked",
            ]),
            holdsRows: true
        ),
    ]

    private static func plain(_ names: [String]) -> [(name: String, sql: String)] { names.map { ($0, $0) } }

    /// Compares.
    ///
    /// - Parameters:
    ///   - ledger: the ledger to check; it is not written to meanwhile.
    ///   - recount: the ledger that should be equal.
    /// - Returns: the differences.
    /// - Throws: where one of them cannot be read.
    static func differences(_ ledger: some DatabaseReader, _ recount: some DatabaseReader) throws -> LedgerDifferences {
        try ledger.read { ledger in
            try recount.read { recount in
                var differences = LedgerDifferences()
                let left = try Forgotten(ledger)
                let right = try Forgotten(recount)
                let forgotten = left.totals.union(right.totals)
                let withoutRows = left.rows.union(right.rows).union(forgotten)
                for table in Self.tables {
                    let leftOut = table.holdsRows ? withoutRows : forgotten
                    try Self.compare(table, ledger, recount, without: leftOut, &differences)
                }
                return differences
            }
        }
    }

    /// The breaks of which a ledger has forgotten something.
    private struct Forgotten {
        let totals: Set<Int64>
        let rows: Set<Int64>

        init(_ database: Database) throws {
            self.totals = try Int64.fetchSet(database, sql: "SELECT break_number FROM forgotten")
            self.rows = try Int64.fetchSet(database, sql: "SELECT break_number FROM breaks WHERE row_state <> 0")
        }
    }

    private static func compare(
        _ table: Table,
        _ ledger: Database,
        _ recount: Database,
        without leftOut: Set<Int64>,
        _ differences: inout LedgerDifferences
    ) throws {
        let left = try TableCursor(ledger, table.select, keys: table.keys.count, without: leftOut)
        let right = try TableCursor(recount, table.select, keys: table.keys.count, without: leftOut)
        var mine = try left.next()
        var other = try right.next()
        while mine != nil || other != nil {
            switch Self.order(mine, other) {
            case .orderedAscending:
                if let row = mine {
                    try differences.add(
                        "\(try Self.name(row, table, ledger)) is in the ledger and not in the recount"
                    )
                }
                mine = try left.next()
            case .orderedDescending:
                if let row = other {
                    try differences.add(
                        "\(try Self.name(row, table, ledger)) is in the recount and not in the ledger"
                    )
                }
                other = try right.next()
            case .orderedSame:
                if let row = mine, let twin = other, row.values != twin.values {
                    let what = zip(table.values, zip(row.values, twin.values))
                        .filter { $0.1.0 != $0.1.1 }
                        .map {
                            "\($0.0.name) is \(Self.text($0.1.0)) in the ledger and \(Self.text($0.1.1)) by the recount"
                        }
                    try differences.add("\(try Self.name(row, table, ledger)): \(what.joined(separator: ", "))")
                }
                mine = try left.next()
                other = try right.next()
            }
        }
    }

    /// Which of two rows comes first; a row that is not there comes last.
    private static func order(_ left: TableCursor.Entry?, _ right: TableCursor.Entry?) -> ComparisonResult {
        guard let left else { return .orderedDescending }
        guard let right else { return .orderedAscending }
        for (mine, other) in zip(left.keys, right.keys) {
            switch (mine.storage, other.storage) {
            case (.int64(let mine), .int64(let other)) where mine != other:
                return mine < other ? .orderedAscending : .orderedDescending
            case (.blob(let mine), .blob(let other)) where mine != other:
                return mine.lexicographicallyPrecedes(other) ? .orderedAscending : .orderedDescending
            default: continue
            }
        }
        return .orderedSame
    }

    /// A row for people: the break with its name, and the rest of its key.
    private static func name(_ row: TableCursor.Entry, _ table: Table, _ ledger: Database) throws -> String {
        let number = Int64.fromDatabaseValue(row.keys[0]) ?? 0
        let named = try Row.fetchOne(
            ledger,
            sql: "SELECT stream, id FROM breaks WHERE break_number = ?",
            arguments: [number]
        )
        let known = named.map { " (\($0["stream"] as String)/\($0["id"] as String))" } ?? ""
        let rest = zip(table.keys, row.keys).dropFirst().map { key, value in "\(key) \(Self.text(value))" }
        return "break \(number)\(known), \(table.name), \(rest.joined(separator: ", "))"
    }

    private static func text(_ value: DatabaseValue) -> String {
        guard case .blob(let data) = value.storage else { return "\(value)" }
        return data.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}

/// The rows of a table in the order of their keys, without those of some breaks.
private final class TableCursor {
    struct Entry {
        let keys: [DatabaseValue]
        let values: [DatabaseValue]
    }

    private let rows: RowCursor
    private let keyCount: Int
    private let leftOut: Set<Int64>

    init(_ database: Database, _ sql: String, keys: Int, without leftOut: Set<Int64>) throws {
        self.rows = try Row.fetchCursor(database, sql: sql)
        self.keyCount = keys
        self.leftOut = leftOut
    }

    func next() throws -> Entry? {
        while let row = try self.rows.next() {
            let number: Int64 = row[0]
            guard !self.leftOut.contains(number) else { continue }
            let values = Array(row.databaseValues)
            return Entry(keys: Array(values[..<self.keyCount]), values: Array(values[self.keyCount...]))
        }
        return nil
    }
}
