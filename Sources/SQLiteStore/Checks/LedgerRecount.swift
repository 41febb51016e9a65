// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
package import GatewayCore

/// Where the records of a log are read once more.
package protocol RecordSource: Sendable {
    /// Records of a lane after an offset; there is at least one.
    ///
    /// - Throws: `EventLogError.pruned` where the next one is not kept any more.
    func records(of lane: Lane, after offset: UInt64, recordsMax: Int, bytesMax: Int) async throws -> [LoggedRecord]
    /// The newest record of a lane.
    func head(of lane: Lane) async throws -> UInt64
    /// The offset of the record before one in its lane.
    func preceding(_ offset: UInt64, in lane: Lane) -> UInt64
}

/// An open log as a source.
struct OpenLogSource: RecordSource {
    let log: any EventLog

    func records(of lane: Lane, after offset: UInt64, recordsMax: Int, bytesMax: Int) async throws -> [LoggedRecord] {
        try await self.log.read(lane, after: offset, recordsMax: recordsMax, bytesMax: bytesMax)
    }

    func head(of lane: Lane) async throws -> UInt64 { try await self.log.head(of: lane) }

    func preceding(_ offset: UInt64, in lane: Lane) -> UInt64 { self.log.identity.preceding(offset, in: lane) }
}

extension RecordSource {
    /// The last of the records after an offset that are not kept any more.
    ///
    /// - Returns: `nil` where the next one is there, or nothing was ever recorded after the offset.
    func lastMissing(of lane: Lane, after offset: UInt64) async throws -> UInt64? {
        guard try await self.head(of: lane) > offset else { return nil }
        do {
            _ = try await self.records(of: lane, after: offset, recordsMax: 1, bytesMax: 1)
            return nil
        } catch EventLogError.pruned(_, let firstKept) {
            return self.preceding(firstKept, in: lane)
        }
    }

    /// Whether nothing after an offset is missing.
    func goesOn(_ lane: Lane, after offset: UInt64) async throws -> Bool {
        try await self.lastMissing(of: lane, after: offset) == nil
    }
}

/// Counts the records of a log into a ledger of its own.
enum LedgerRecount {
    /// The most groups applied in one transaction.
    private static let groupsPerTransactionMax = 256
    /// The most bytes of groups applied in one transaction.
    private static let bytesPerTransactionMax = 4 * 1_048_576

    /// Counts up to given offsets.
    ///
    /// - Parameters:
    ///   - folder: exists; the ledger is made in it.
    ///   - base: a copy to begin with; `nil`: nothing is counted yet.
    ///   - source: the log.
    ///   - through: up to which offset of each lane.
    ///   - gaps: records that are known to be missing: they are passed over.
    ///   - progress: told how many of how many records are counted.
    /// - Returns: the ledger's file, closed.
    /// - Throws: where a record cannot be read or counted, or the task is cancelled.
    static func make(
        in folder: String,
        from base: String?,
        source: some RecordSource,
        through: [Lane: UInt64],
        gaps: [LedgerGap],
        progress: @Sendable (UInt64, UInt64) -> Void = { _, _ in }
    ) async throws -> String {
        let directory = try StoreDirectory(path: folder)
        if let base { try FileManager.default.copyItem(atPath: base, toPath: directory.file("ledger.sqlite")) }
        let ledger = try SQLiteLedger(in: directory)
        do {
            let lanes = through.filter { $0.key != .breaks }.sorted { $0.key.description < $1.key.description }
            var total: UInt64 = 0
            for (lane, last) in lanes {
                let applied = try await ledger.appliedOffset(of: lane)
                total += last > applied ? last - applied : 0
            }
            var done: UInt64 = 0
            for (lane, last) in lanes {
                try await Self.count(lane, through: last, into: ledger, from: source, gaps) { records in
                    done += records
                    progress(done, total)
                }
            }
        } catch {
            await ledger.close()
            throw error
        }
        await ledger.close()
        return directory.file("ledger.sqlite")
    }

    private static func count(
        _ lane: Lane,
        through last: UInt64,
        into ledger: SQLiteLedger,
        from source: some RecordSource,
        _ gaps: [LedgerGap],
        counted: (UInt64) -> Void
    ) async throws {
        var applied = try await ledger.appliedOffset(of: lane)
        while applied < last {
            try Task.checkCancellation()
            let records: [LoggedRecord]
            do {
                records = try await source.records(
                    of: lane,
                    after: applied,
                    recordsMax: Self.groupsPerTransactionMax,
                    bytesMax: Self.bytesPerTransactionMax
                )
            } catch EventLogError.pruned(let lane, let firstKept) {
                guard let gap = gaps.first(where: { $0.lane == lane && $0.first <= applied + 1 && $0.last > applied })
                else { throw EventLogError.pruned(lane: lane, firstKept: firstKept) }
                try await ledger.skip(gap)
                counted(gap.last - applied)
                applied = gap.last
                continue
            }
            let wanted = records.prefix { $0.offset <= last }
            guard let end = wanted.last else { return }
            try await ledger.apply(try LedgerPosting.postings(of: Array(wanted)), of: lane)
            counted(end.offset - applied)
            applied = end.offset
        }
    }
}
