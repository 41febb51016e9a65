// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Foundation
import GRDB
import GatewayCore

/// The data of a session in the books of a data directory, or before it was forgotten.
package struct SessionTraces: Hashable, Sendable {
    /// Records of the event log that name it.
    package var logRecords = 0
    /// Breaks of which the ledger has rows of it.
    package var ledgerBreaks = 0
    /// Its outcomes in the ledger.
    package var ledgerOutcomes = 0
    /// Checked copies of the ledger that hold it.
    package var copies = 0
    /// Files below the data directory in which its bytes or digits stand, by their paths in it.
    package var files: [String] = []

    package init() {}

    /// Whether nothing of it is there.
    package var isEmpty: Bool { self == SessionTraces() }
}

/// Puts other names in the place of a session, in the ledger, its copies and the log.
///
/// The ledger comes first and is made durable, so that it never counts a record of the log anew whose names have changed. The
/// copies follow, then the log. Each step can be repeated with the same names and changes nothing then. While the file of pending
/// work is there, no other code may compare the books: a start finishes this work before it compares them.
struct SessionForgetting: Sendable {
    /// The log's file is written anew while appends wait, so that nothing stays in pages that it uses no more, up to this size.
    static let compactedLogBytesMax = 256 * 1_048_576

    let files: ForgettingFiles
    let copies: LedgerCopies

    init(directory: String) {
        self.files = ForgettingFiles(directory: directory)
        self.copies = LedgerCopies(dataDirectory: directory)
    }

    /// Does what is pending.
    ///
    /// - Parameters:
    ///   - log: open.
    ///   - ledger: open; `nil` where the ledger is of no use and a copy takes its place.
    ///   - isServing: whether appends may not wait for long.
    /// - Returns: the traces found, and the copies with other names, by their numbers; `nil`: nothing was pending.
    /// - Throws: where it has to be done again.
    func finish(
        log: SQLiteEventLog,
        ledger: SQLiteLedger?,
        isServing: Bool
    ) async throws -> (traces: SessionTraces, copies: [UInt64: LedgerCopy?])? {
        guard let names = try self.files.readPending() else { return nil }
        var traces = SessionTraces()
        if let ledger {
            (traces.ledgerBreaks, traces.ledgerOutcomes) = try await ledger.forget(names)
        }
        var changed: [UInt64: LedgerCopy?] = [:]
        for copy in self.copies.list() {
            let bytes = names.session.bytes
            guard try await StoreFiles.onAnotherThread({ FileSearch.holds([bytes], copy.path) }) else { continue }
            changed[copy.number] = .some(
                try await self.replace(copy) { try LedgerForgetting.replace(names, $0) }
            )
            traces.copies += 1
        }
        traces.logRecords = try await log.forget(names)
        try await ledger?.clean(of: names.session)
        try await log.clean(of: names.session, compactBytesMax: isServing ? Self.compactedLogBytesMax : .max)
        try self.files.removePending()
        return (traces, changed)
    }

    /// Makes a copy of a checked copy with other names, which takes its place.
    ///
    /// - Parameters:
    ///   - copy: which.
    ///   - change: changes the file; not called in a transaction.
    /// - Returns: the new one; `nil` where the copy was of no use: then it is removed.
    /// - Throws: where it has to be done again; the copy is as it was.
    func replace(
        _ copy: LedgerCopy,
        _ change: @escaping @Sendable (Database) throws -> Void
    ) async throws -> LedgerCopy? {
        guard await copy.fault() == nil else {
            self.copies.remove(copy)
            return nil
        }
        let new = self.copies.folder + "/forgetting.sqlite"
        return try await StoreFiles.onAnotherThread {
            StoreFiles.remove(new)
            try FileManager.default.copyItem(atPath: copy.path, toPath: new)
            let queue = try DatabaseQueue(path: new)
            let offset = try queue.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA journal_mode = DELETE")
                try change(database)
                try database.execute(sql: "VACUUM")
                return try LedgerSchema.appliedOffsets(database).filter { $0.key != .breaks }.values.max() ?? 0
            }
            try queue.close()
            try StoreFiles.synchronize(new)
            let digest = try FileDigest.of(new).digest
            let name = LedgerCopy.name(copy.number, made: copy.made, offset: offset, digest: digest)
            let path = self.copies.folder + "/" + name
            try StoreFiles.rename(new, to: path)
            if path != copy.path { StoreFiles.remove(copy.path) }
            return LedgerCopy(path: path, number: copy.number, made: copy.made, digest: digest)
        }
    }

    /// Finds the data of a session, without changing anything.
    func traces(of session: SessionID, log: SQLiteEventLog, ledger: SQLiteLedger) async throws -> SessionTraces {
        var traces = SessionTraces()
        traces.logRecords = try await log.recordCount(of: session)
        (traces.ledgerBreaks, traces.ledgerOutcomes) = try await ledger.rowCounts(of: session)
        let copies = self.copies.list()
        traces.copies = try await StoreFiles.onAnotherThread {
            copies.count { FileSearch.holds([session.bytes], $0.path) }
        }
        return traces
    }
}

extension SessionTraces {
    /// The files below a data directory in which a session's bytes or digits stand.
    package static func files(with session: SessionID, in directory: String) async -> [String] {
        let needles = [session.bytes, Array("\(session)".utf8), Array("\(session)".uppercased().utf8)]
        let found = try? await StoreFiles.onAnotherThread {
            FileSearch.files(below: directory).filter { FileSearch.holds(needles, directory + "/" + $0) }
        }
        return found ?? []
    }
}

/// The changes in a ledger's file.
enum LedgerForgetting {
    /// The breaks of which there are rows of a session.
    static func breaks(of session: SessionID, _ database: Database) throws -> [BreakNumber] {
        try Int64.fetchAll(
            database,
            sql: "SELECT break_number FROM sessions WHERE session = ?",
            arguments: [Data(session.bytes)]
        )
        .map { BreakNumber(stored: $0) }
    }

    /// How many outcomes there are of a session in breaks.
    static func outcomes(of session: SessionID, in breaks: [BreakNumber], _ database: Database) throws -> Int {
        let count = try database.cachedStatement(
            sql: "SELECT count(*) FROM outcomes WHERE break_number = ? AND session = ?"
        )
        return try breaks.reduce(0) { sum, number in
            sum + (try Int.fetchOne(count, arguments: [number.stored, Data(session.bytes)]) ?? 0)
        }
    }

    /// Puts other names in the place of a session, in one transaction; not to be called in one.
    ///
    /// - Returns: of how many breaks there were rows, and how many outcomes.
    @discardableResult
    static func replace(_ names: SessionPseudonyms, _ database: Database) throws -> (breaks: Int, outcomes: Int) {
        try database.execute(sql: "PRAGMA secure_delete = ON")
        defer { try? database.execute(sql: "PRAGMA secure_delete = OFF") }
        let session = Data(names.session.bytes)
        var changed = (breaks: 0, outcomes: 0)
        try database.inTransaction(.immediate) {
            for number in try Self.breaks(of: names.session, database) {
                let arguments: StatementArguments = [Data(names[number].bytes), number.stored, session]
                for table in ["sessions", "outcomes"] {
                    try database.cachedStatement(
                        sql: "UPDATE \(table) SET session = ? WHERE break_number = ? AND session = ?"
                    )
                    .execute(arguments: arguments)
                    if table == "outcomes" { changed.outcomes += database.changesCount }
                }
                changed.breaks += 1
            }
            // The record that was counted last may get other names too; the next one that is counted is known again.
            try database.execute(
                sql: "UPDATE applied SET digest = NULL WHERE lane <> ?",
                arguments: [Lane.breaks.description]
            )
            return .commit
        }
        return changed
    }
}

extension SQLiteLedger {
    /// Of how many breaks there are rows of a session, and how many outcomes.
    func rowCounts(of session: SessionID) async throws(LedgerError) -> (breaks: Int, outcomes: Int) {
        try await self.read { database in
            let breaks = try LedgerForgetting.breaks(of: session, database)
            return (breaks.count, try LedgerForgetting.outcomes(of: session, in: breaks, database))
        }
    }

    /// Puts other names in the place of a session, for good.
    func forget(_ names: SessionPseudonyms) async throws(LedgerError) -> (breaks: Int, outcomes: Int) {
        let file = self.file
        return try await self.write { database, _ in
            // The log follows: a loss of power must not bring the old names back.
            defer { try? database.execute(sql: "PRAGMA synchronous = NORMAL") }
            try StoreFile.makeDurable(database, file: file)
            return try LedgerForgetting.replace(names, database)
        }
    }

    /// Writes the file anew where bytes of a session are still in pages that it uses no more, or in what is on its way into it.
    ///
    /// Only readers of reports wait for the ledger meanwhile.
    func clean(of session: SessionID) async throws(LedgerError) {
        let file = self.file
        try await self.write { database, _ in
            // Where a reader keeps it from being emptied, or there is no room, it is told of afterwards: the file is looked at.
            _ = try? database.checkpoint(.truncate)
            guard FileSearch.databaseHolds(session.bytes, file) else { return }
            try? database.execute(sql: "VACUUM")
            _ = try? database.checkpoint(.truncate)
        }
    }
}
