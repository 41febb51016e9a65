// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import GRDB
package import GatewayCore
import Synchronization

/// The ledger in one SQLite file.
///
/// It may lose its newest transactions with the power (`synchronous=NORMAL`): the log has them, and they are applied
/// again. A call that fails has changed nothing and may be repeated.
package final class SQLiteLedger: Ledger, CachingStore {
    private let directory: Mutex<StoreDirectory?>
    private let connection: StoreConnection<LedgerWriter>
    let file: String

    /// Opens the ledger, or makes it.
    ///
    /// - Parameter directory: where; the file is `ledger.sqlite`.
    /// - Throws: `damaged` or `laterSchema`.
    package convenience init(in directory: StoreDirectory) throws(StoreError) {
        try self.init(Self.openFile(in: directory), in: directory)
    }

    /// Opens the ledger's file, or makes it, without reading what is in it.
    static func openFile(in directory: StoreDirectory) throws(StoreError) -> DatabasePool {
        let settings = StoreFile.Settings(
            // The rows of the breaks that are on air at the same time are written in random order.
            writerCacheKiB: 64 * 1_024,
            readerCacheKiB: 8 * 1_024,
            autocheckpointPages: 4_096,
            walBytesKept: 64 * 1_048_576
        )
        return try StoreFile.open(
            directory.file(StoreDirectory.ledgerFile),
            settings: settings,
            migrator: LedgerSchema.migrator
        )
    }

    /// Takes over a file that is open.
    init(_ pool: DatabasePool, in directory: StoreDirectory) throws(StoreError) {
        let file = directory.file(StoreDirectory.ledgerFile)
        do {
            self.connection = try StoreConnection(pool) { try LedgerWriter($0) }
        } catch {
            throw .unreadable(file, error)
        }
        try directory.storeOpened()
        self.directory = Mutex(directory)
        self.file = file
    }

    /// The value of `PRAGMA synchronous` on the writing connection: 1 (NORMAL).
    package func synchronousMode() async throws(LedgerError) -> Int {
        try await self.write { database, _ in try Int.fetchOne(database, sql: "PRAGMA synchronous") ?? -1 }
    }

    package var fileBytes: Int? { StoreFile.bytes(of: self.file) }

    package func releaseCaches() async { await self.connection.releaseCaches() }
    package func cacheBytes() async -> Int { await self.connection.cacheBytes() }

    package func appliedOffset(of lane: Lane) async throws(LedgerError) -> UInt64 {
        try await self.read { try LedgerSchema.appliedOffset(of: lane, $0) }
    }

    @discardableResult
    package func apply(_ postings: [LedgerPosting], of lane: Lane) async throws(LedgerError) -> NewOutcomes {
        try await self.write { database, writer in
            var counted = NewOutcomes()
            try database.inTransaction(.immediate) {
                let applied = try LedgerSchema.appliedOffset(of: lane, database)
                let new = try LedgerPosting.following(applied, in: postings, of: lane)
                guard let last = new.last else { return .rollback }
                counted = try writer.apply(try LedgerWriters.effective(new, of: lane, database))
                for posting in new { try LedgerSchema.note(posting, of: lane, database) }
                try LedgerSchema.setAppliedOffset(last.offset, of: lane, digest: last.digest, database)
                return .commit
            }
            return counted
        }
    }

    package func record(_ breaks: [BreakSummary], through offset: UInt64) async throws(LedgerError) {
        try await self.write { database, _ in
            try database.inTransaction(.immediate) {
                for each in breaks { try LedgerBreaks.record(each, through: offset, database) }
                try LedgerSchema.setAppliedOffset(offset, of: .breaks, database)
                return .commit
            }
        }
    }

    package func checkpoint() async throws(LedgerError) -> [Lane: UInt64] {
        let file = self.file
        return try await self.write { database, _ in
            let offsets = try LedgerSchema.appliedOffsets(database)
            // A commit with FULL synchronises the whole write-ahead log, with everything committed before. A checkpoint
            // would too, but it waits for readers, and an audit may read for long.
            defer { try? database.execute(sql: "PRAGMA synchronous = NORMAL") }
            try StoreFile.makeDurable(database, file: file)
            try database.inTransaction(.immediate) {
                try database.execute(sql: "UPDATE checkpoints SET count = count + 1")
                return .commit
            }
            return offsets
        }
    }

    package func report(_ query: ReportQuery) async throws(LedgerError) -> Report {
        try await self.read { try LedgerReports.report(query, $0) }
    }

    package func audit() async throws(LedgerError) -> [String] {
        try await self.read { try LedgerAudit.differences($0) }
    }

    package func prune(
        rowsOfBreaksEndedBefore rowsLimit: Timestamp,
        totalsBefore totalsLimit: Timestamp
    ) async throws(LedgerError) -> [BreakNumber] {
        let numbers = try await self.read { try LedgerBreaks.withRows(endedBefore: rowsLimit, $0) }
        for number in numbers {
            while try await self.write({ database, _ in try LedgerBreaks.forgetRows(of: number, database) }) {}
        }
        while try await self.write({ database, _ in
            try LedgerBreaks.forgetTotals(endedBefore: totalsLimit, database)
        }) {}
        return numbers
    }

    /// Up to which offset each lane is applied.
    package func appliedOffsets() async throws(LedgerError) -> [Lane: UInt64] {
        try await self.read { try LedgerSchema.appliedOffsets($0) }
    }

    /// Notes that breaks have still to be told, up to a record of their lane.
    func oweBreaks(through offset: UInt64) async throws(LedgerError) {
        try await self.write { database, _ in
            try database.inTransaction(.immediate) {
                try LedgerBreaks.owe(through: offset, database)
                return .commit
            }
        }
    }

    /// The record up to which breaks have still to be told; `nil`: none have.
    func owedBreaks() async throws(LedgerError) -> UInt64? { try await self.read { try LedgerBreaks.owed($0) } }

    /// The breaks up to a record have been told.
    func settleBreaks(through offset: UInt64) async throws(LedgerError) {
        try await self.write { database, _ in
            try database.inTransaction(.immediate) {
                try LedgerBreaks.settle(through: offset, database)
                return .commit
            }
        }
    }

    /// Passes over records that are gone for good, and keeps that they are.
    package func skip(_ gap: LedgerGap) async throws(LedgerError) {
        try await self.write { database, _ in
            try database.inTransaction(.immediate) {
                try LedgerSchema.skip(gap, database)
                return .commit
            }
        }
    }

    /// The instant of the newest thing that is counted; the beginning of time where nothing is.
    package func newestTime() async throws(LedgerError) -> Timestamp {
        try await self.read { database in
            let newest = try Int64.fetchOne(
                database,
                sql: """
                    SELECT max(at) FROM (SELECT max(received_us) AS at FROM outcomes UNION ALL
                        SELECT max(at_us) FROM sessions)
                    """
            )
            return Timestamp(microseconds: newest ?? 0)
        }
    }

    /// The permanently missing records, oldest first.
    package func gaps() async throws(LedgerError) -> [LedgerGap] {
        try await self.read { try LedgerSchema.gaps($0) }
    }

    /// The faults that SQLite finds in the file; empty: none.
    ///
    /// It reads all of it.
    package func problems() async throws(LedgerError) -> [String] {
        try await self.read { database in
            let found = try String.fetchAll(
                database,
                sql: "PRAGMA integrity_check(\(StoreCopyLimits.problemsMax))"
            )
            return found == ["ok"] ? [] : found
        }
    }

    /// Copies the ledger while it is written to; see `StoreConnection.copy(to:pagesPerStep:progress:)`.
    ///
    /// - Parameters:
    ///   - path: where; a file of that name is replaced.
    ///   - pagesPerStep: how many pages are copied between two transactions; `nil`: about a megabyte.
    ///   - progress: called after each step, by one caller at a time.
    /// - Returns: the copy, checked.
    /// - Throws: also when the task is cancelled; nothing is left of the copy then.
    package func copy(
        to path: String,
        pagesPerStep: Int? = nil,
        progress: @escaping @Sendable (StoreCopyProgress) -> Void = { _ in }
    ) async throws(StoreCopyError) -> StoreCopy {
        try await self.connection.copy(to: path, pagesPerStep: pagesPerStep, progress: progress)
    }

    /// Copies the ledger while no caller waits: its check takes until the machine has time for it.
    ///
    /// - Parameter path: where; a file of that name is replaced.
    /// - Returns: the copy, checked.
    /// - Throws: also when the task is cancelled; nothing is left of the copy then.
    func copyUnhurried(to path: String) async throws(StoreCopyError) -> StoreCopy {
        try await self.connection.copy(to: path, niceness: .unhurried)
    }

    package func close() async {
        await self.connection.close { database, _ in
            // Where this fails, everything is in the write-ahead log.
            _ = try? database.checkpoint(.truncate)
        }
        self.directory.withLock { directory in
            directory?.storeClosed(isClean: true)
            directory = nil
        }
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(LedgerError) -> Value {
        do {
            return try await self.connection.read(body)
        } catch {
            throw Self.failure(error)
        }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database, LedgerWriter) throws -> Value
    ) async throws(LedgerError) -> Value {
        do {
            return try await self.connection.write(body)
        } catch {
            throw Self.failure(error)
        }
    }

    private static func failure(_ error: any Error) -> LedgerError {
        switch error {
        case let error as LedgerError: error
        case is StoreClosed: .closed
        // Closing interrupts readers, and refuses new ones.
        case let error as DatabaseError where [.SQLITE_MISUSE, .SQLITE_INTERRUPT].contains(error.resultCode): .closed
        case let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode):
            .damaged(StoreFile.sentence(error))
        default: .failed(StoreFile.sentence(error))
        }
    }
}
