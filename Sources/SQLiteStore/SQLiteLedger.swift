// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Dispatch
import GRDB
package import GatewayCore

/// The ledger in one SQLite file.
///
/// It may lose its newest transactions with the power (`synchronous=NORMAL`): the log has them, and they are applied
/// again.
package final class SQLiteLedger: Ledger {
    private let directory: StoreDirectory
    private let pool: DatabasePool

    /// Opens the ledger, or makes it.
    ///
    /// - Parameter directory: where; the file is `ledger.sqlite`.
    /// - Throws: when the file is damaged or of a later version.
    package init(in directory: StoreDirectory) throws(StoreError) {
        self.directory = directory
        self.pool = try StoreFile.open(directory.file("ledger.sqlite"), migrator: LedgerSchema.migrator)
    }

    package func appliedOffset(of lane: Lane) async throws(LedgerError) -> UInt64 {
        try await self.read { try LedgerSchema.appliedOffset(of: lane, in: $0) }
    }

    package func apply(_ postings: [LedgerPosting], of lane: Lane) async throws(LedgerError) {
        try await self.write { database in
            var applied = try LedgerSchema.appliedOffset(of: lane, in: database)
            var writer = LedgerWriter(database)
            for posting in postings where posting.offset > applied {
                guard posting.offset == applied + 1 else {
                    throw LedgerError.outOfOrder(lane: lane, applied: applied, found: posting.offset)
                }
                try writer.post(posting)
                applied = posting.offset
            }
            try writer.finish()
            try LedgerSchema.setAppliedOffset(applied, of: lane, in: database)
        }
    }

    package func record(_ breaks: [BreakSummary], through offset: UInt64) async throws(LedgerError) {
        try await self.write { database in
            for each in breaks { try LedgerSchema.record(each, in: database) }
            let applied = try LedgerSchema.appliedOffset(of: .breaks, in: database)
            try LedgerSchema.setAppliedOffset(max(applied, offset), of: .breaks, in: database)
        }
    }

    package func checkpoint() async throws(LedgerError) -> [Lane: UInt64] {
        do {
            let offsets = try await self.pool.read { try LedgerSchema.appliedOffsets(in: $0) }
            // Moves everything that is committed into the file and makes it durable (SQLite, "Write-Ahead Logging",
            // section 3.1); what was read before is part of it.
            _ = try await self.pool.writeWithoutTransaction { try $0.checkpoint(.full) }
            return offsets
        } catch {
            throw .failed("\(error)")
        }
    }

    package func report(_ query: ReportQuery) async throws(LedgerError) -> Report {
        try await self.read { try LedgerReports.report(query, from: $0) }
    }

    package func audit() async throws(LedgerError) -> [String] {
        try await self.read { try LedgerReports.audit($0) }
    }

    package func prune(
        rowsOfBreaksEndedBefore rowsLimit: Timestamp,
        totalsBefore totalsLimit: Timestamp
    ) async throws(LedgerError) -> [BreakNumber] {
        let numbers = try await self.read { try LedgerSchema.breaksWithRows(endedBefore: rowsLimit, in: $0) }
        for number in numbers {
            // One break at a time: what is applied meanwhile waits for one, not for all.
            try await self.write { try LedgerSchema.forgetRows(of: number, in: $0) }
        }
        try await self.write { try LedgerSchema.forgetTotals(endedBefore: totalsLimit, in: $0) }
        return numbers
    }

    package func close() async {
        _ = try? await self.pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try? self.pool.close()
    }

    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(LedgerError) -> Value {
        do {
            return try await self.pool.read(body)
        } catch {
            throw Self.failure(error)
        }
    }

    private func write(_ body: @escaping @Sendable (Database) throws -> Void) async throws(LedgerError) {
        do {
            try await self.pool.write(body)
        } catch {
            throw Self.failure(error)
        }
    }

    private static func failure(_ error: any Error) -> LedgerError {
        if let error = error as? LedgerError { return error }
        if let error = error as? DatabaseError, error.resultCode == .SQLITE_MISUSE { return .closed }
        return .failed("\(error)")
    }
}
