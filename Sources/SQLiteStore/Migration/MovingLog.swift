// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GRDB
package import GatewayCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The data directory of a stopped gateway whose event log moves to servers that several gateways share.
///
/// Nothing in it is changed but the mark at the end; a folder for a recount comes and goes.
///
/// ```swift
/// let moving = try await MovingLog.open("/var/lib/cuecast")
/// try await moving.forEachPortion(of: .breaks, after: head) { try await target.append($0, to: .breaks) }
/// let result = try await moving.compare(with: stored, prefix: "cuecast") { print($0) }
/// if result.isRight { try moving.markMoved(to: mark) }
/// ```
package final class MovingLog: Sendable {
    /// All lanes of a log.
    package static let lanes = [Lane.breaks] + Lane.acknowledgementLanes

    private let directory: StoreDirectory
    /// A folder for this run.
    private let folder: String
    private let hold: StoreDirectory
    private let log: EventLogFile
    /// The newest record of each lane.
    package let heads: [Lane: UInt64]
    /// Where it was moved to before; `nil`: it was not.
    package let moved: SharedLogMark?

    private init(
        _ directory: StoreDirectory,
        _ folder: String,
        _ hold: StoreDirectory,
        _ log: EventLogFile,
        _ heads: [Lane: UInt64],
        _ moved: SharedLogMark?
    ) {
        (self.directory, self.folder, self.hold) = (directory, folder, hold)
        (self.log, self.heads, self.moved) = (log, heads, moved)
    }

    /// Takes a data directory.
    ///
    /// - Parameter path: of the directory.
    /// - Returns: its log.
    /// - Throws: `StoreError` with what to do: `inUse` where a gateway runs in it, `unusable` where its log cannot be moved.
    package static func open(_ path: String) async throws -> MovingLog {
        for name in [StoreDirectory.logFile, StoreDirectory.ledgerFile]
        where !FileManager.default.fileExists(atPath: path + "/" + name) {
            throw StoreError.unusable(
                directory: path,
                reason: "there is no \(name) in it: only a gateway on its own store can move"
            )
        }
        let directory = try StoreDirectory(path: path)
        func refuse(_ reason: String) -> StoreError { .unusable(directory: path, reason: reason) }
        guard try SharedLogMark.read(in: path) == nil else {
            throw refuse("several gateways share its event log already")
        }
        guard !directory.isRestoreUnfinished else {
            throw refuse("a restore did not end there: do it again with cuecast restore --replace")
        }
        guard directory.wasClosedCleanly, !ForgettingFiles(directory: path).isPending else {
            throw refuse(
                "its gateway was killed, or a session is being forgotten: start the gateway, and stop it with SIGTERM"
            )
        }
        let folder = path + "/" + LedgerVerification.folderPrefix + UUID().uuidString
        let hold = try StoreDirectory(path: folder)
        do {
            let log = try await LedgerVerification.openLog(in: path, folder: folder, isRunning: false)
            do {
                let heads = try await Self.heads(of: log, refuse)
                return MovingLog(directory, folder, hold, log, heads, try MigrationMark.read(in: path))
            } catch {
                log.close()
                throw error
            }
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }

    /// The newest record of each lane, where all records since the first one are there.
    private static func heads(
        of log: EventLogFile,
        _ refuse: (String) -> StoreError
    ) async throws -> [Lane: UInt64] {
        guard try await !log.isBackup() else {
            throw refuse("it is the copy of a backup, which was not restored")
        }
        guard log.epochCount == 1 else {
            throw refuse(
                "its log went on in a new epoch after a restore or a loss, with offsets that a shared log cannot have; end its breaks, keep its reports, and begin with an empty shared log"
            )
        }
        var heads: [Lane: UInt64] = [:]
        for lane in Self.lanes {
            let head = try await log.head(of: lane)
            heads[lane] = head
            guard head > 0 else { continue }
            do {
                _ = try await log.records(of: lane, after: 0, recordsMax: 1, bytesMax: 1)
            } catch EventLogError.pruned(_, let firstKept) {
                throw refuse(
                    "its log keeps the lane \(lane) from record \(firstKept) on only (keepLogRecords), and a shared log needs every record since the first; end its breaks, keep its reports, and begin with an empty shared log"
                )
            }
        }
        return heads
    }

    /// Reads records of a lane in portions of a bounded size.
    ///
    /// - Parameters:
    ///   - lane: which lane.
    ///   - offset: begins behind it.
    ///   - last: ends with it; `nil`: with the newest record.
    ///   - body: gets each portion.
    /// - Throws: where the log cannot be read, and the errors of `body`.
    package func forEachPortion(
        of lane: Lane,
        after offset: UInt64,
        through last: UInt64? = nil,
        _ body: ([LoggedRecord]) async throws -> Void
    ) async throws {
        let end = last ?? self.heads[lane] ?? 0
        var offset = offset
        while offset < end {
            try Task.checkCancellation()
            let records = try await self.portion(of: lane, after: offset, through: end)
            try await body(records)
            offset = records.last?.offset ?? end
        }
    }

    /// - Returns: at least one record.
    private func portion(of lane: Lane, after offset: UInt64, through end: UInt64) async throws -> [LoggedRecord] {
        let records = try await self.log.records(
            of: lane,
            after: offset,
            recordsMax: Int(clamping: min(end - offset, UInt64(RecordComparison.recordsMax))),
            bytesMax: RecordComparison.bytesMax
        )
        guard !records.isEmpty else {
            throw StoreError.damaged(
                file: self.directory.file(StoreDirectory.logFile),
                reason: "the lane \(lane) has no record \(offset + 1)"
            )
        }
        return records
    }

    /// Compares the log, its board and the ledger of the directory with the log at the servers.
    ///
    /// - Parameters:
    ///   - shared: opened after the last append.
    ///   - prefix: of the shared log.
    ///   - progress: told how far it is.
    /// - Returns: the findings; `shared?.board` is about the boards that both logs come to.
    /// - Throws: `VerificationError`, and where one of them cannot be read.
    package func compare(
        with shared: any InspectedLog,
        prefix: String,
        progress: @escaping @Sendable (LedgerVerification.Progress) -> Void
    ) async throws -> LedgerVerification {
        progress(.copying)
        let folder = self.folder + "/" + UUID().uuidString
        let copy = try await LedgerVerification.copyOfLedger(
            in: self.directory.path,
            folder: folder,
            isRunning: false
        )
        guard let ledger = copy.reader else { return copy.found }
        defer { try? ledger.close() }
        let mark = SharedLogMark(logID: shared.identity.logID, prefix: prefix)
        // The ledger counts the log from which the records come.
        let books = SharedBooks(mark: mark, ledger: ledger, identity: nil, board: nil)
        var result = try await books.compare(copy.found, with: shared, in: folder, progress: progress)
        let boards = try await self.compareBoards(with: shared)
        result.shared?.board = boards
        result.shared?.boardOffset = self.heads[.breaks]
        return result
    }

    /// Looks whether what is at the servers already is the beginning of this log.
    ///
    /// - Parameter shared: opened before the first append.
    /// - Returns: the differences; none where nothing is there yet, or an earlier try was cut off.
    /// - Throws: where one of the logs cannot be read.
    package func compareBeginning(with shared: any InspectedLog) async throws -> LedgerDifferences {
        var differences = LedgerDifferences()
        for lane in Self.lanes {
            let (head, own) = (try await shared.head(of: lane), self.heads[lane] ?? 0)
            if head > own { differences.add("the lane \(lane) has \(head) records at the servers, and \(own) here") }
            differences.add(try await self.compareRecords(of: lane, with: shared, through: min(head, own)))
        }
        return differences
    }

    /// Compares records byte by byte.
    ///
    /// - Parameters:
    ///   - lane: which lane.
    ///   - shared: the other log.
    ///   - last: the last record to compare.
    ///   - body: gets the pairs that are equal, in order.
    /// - Returns: the first difference: nothing is compared behind it.
    /// - Throws: where one of the logs cannot be read, and the errors of `body`.
    private func compareRecords(
        of lane: Lane,
        with shared: any InspectedLog,
        through last: UInt64,
        _ body: ([(LoggedRecord, LoggedRecord)]) throws -> Void = { _ in }
    ) async throws -> LedgerDifferences {
        let checked = CheckedLog(shared, marks: [])
        let difference = try await RecordComparison.firstDifference(
            of: lane,
            after: 0,
            through: last,
            source: { try await self.portion(of: lane, after: $0, through: last) },
            shared: { offset in
                try await checked.records(
                    of: lane,
                    after: offset,
                    recordsMax: RecordComparison.recordsMax,
                    bytesMax: RecordComparison.bytesMax
                )
            },
            isSame: { $0.bytes == $1.bytes },
            equal: body
        )
        var differences = LedgerDifferences()
        if let difference { differences.add(difference) }
        return differences
    }

    /// Makes a board of each log, and compares them; the records as well.
    private func compareBoards(with shared: any InspectedLog) async throws -> LedgerDifferences {
        var differences = LedgerDifferences()
        let id = shared.identity.logID
        let empty = Board(epoch: shared.identity.epoch, names: SipHash(key: id.low, id.high))
        var (mine, others) = (empty, empty)
        for lane in Self.lanes {
            let (head, own) = (try await shared.head(of: lane), self.heads[lane] ?? 0)
            if head != own {
                differences.add("the lane \(lane) ends at record \(head) at the servers, and at record \(own) here")
            }
            differences.add(
                try await self.compareRecords(of: lane, with: shared, through: min(head, own)) { pairs in
                    guard lane == .breaks else { return }
                    for (record, other) in pairs {
                        _ = try mine.apply(record)
                        _ = try others.apply(other)
                        (_, _) = (mine.takeChanges(), others.takeChanges())
                    }
                }
            )
        }
        let (digest, other) = (BoardDigest(mine), BoardDigest(others))
        if digest.value(of: mine) != other.value(of: others) {
            differences.add(
                digest.firstDifference(from: other.streams).map { "the boards differ first in the stream \($0)" }
                    ?? "the boards differ in what belongs to no stream"
            )
        }
        return differences
    }

    /// Marks the directory: no gateway starts on it any more.
    ///
    /// - Parameter log: where its log is now.
    /// - Throws: `StoreError` where that cannot be written.
    package func markMoved(to log: SharedLogMark) throws { try MigrationMark.put(log, in: self.directory) }

    /// The files beside the stores that the gateways of the shared log need, as far as they are there.
    package var filesToCopy: [String] {
        KeyBackup.files.map { self.directory.file($0) }.filter { FileManager.default.fileExists(atPath: $0) }
    }

    /// Lets the directory go.
    package func close() {
        self.log.close()
        try? FileManager.default.removeItem(atPath: self.folder)
    }
}
