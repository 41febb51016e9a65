// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import SecretFiles

/// Puts something right in the place of a ledger that is lost, damaged, or too old for its log.
struct LedgerReplacement {
    /// Where ledgers are kept that something was wrong with; nothing is removed from it.
    static let asideName = "set-aside"
    /// How many groups of the lane `breaks` are read at once.
    private static let groupsPerReadMax = 64
    private static let bytesPerReadMax = 16 * 1_048_576

    let directory: StoreDirectory
    let copies: LedgerCopies
    let log: any EventLog
    let lanes: [Lane]
    let now: Timestamp
    /// Where the file was moved already; `nil`: it is still in its place, or there was none.
    var keptAside: String?
    /// Whether an empty ledger is told at once of all breaks that the log knows; else that is owed.
    var tellsBreaks = true

    private var file: String { self.directory.file("ledger.sqlite") }
    private var source: OpenLogSource { OpenLogSource(log: self.log) }

    /// Replaces the ledger's file, which is not open.
    ///
    /// The newest copy that is as it was written and that the log goes on from takes its place; an empty ledger where
    /// there is none and the log begins at its first record. Else history is gone: the newest copy there is goes on
    /// behind a gap.
    ///
    /// - Parameters:
    ///   - reason: the fault, as in "is damaged".
    ///   - isUsable: whether the ledger itself is right, and only too old for the log: then it may go on behind a gap.
    /// - Returns: the ledger, open, and what was done.
    /// - Throws: where the log cannot be read, or no file can be put in the place.
    func run(because reason: String, isUsable: Bool) async throws -> (SQLiteLedger, LedgerRecovery) {
        var newest: LedgerCopy?
        for copy in self.copies.list() {
            guard await copy.fault() == nil, let offsets = try? copy.offsets(), try await self.isBehindLog(offsets)
            else { continue }
            if try await self.goesOn(offsets) { return try await self.install(copy, because: reason) }
            if newest == nil { newest = copy }
        }
        if !isUsable, try await self.goesOn([:]) { return try await self.install(nil, because: reason) }
        if isUsable { return try await self.keep(because: reason) }
        return try await self.install(newest, because: reason)
    }

    /// Whether the log knows everything that is counted.
    private func isBehindLog(_ offsets: [Lane: UInt64]) async throws -> Bool {
        for (lane, offset) in offsets where try await self.log.head(of: lane) < offset { return false }
        return true
    }

    /// Whether the log still has everything after what is counted.
    private func goesOn(_ offsets: [Lane: UInt64]) async throws -> Bool {
        for lane in self.lanes where try await !self.source.goesOn(lane, after: offsets[lane] ?? 0) { return false }
        return true
    }

    /// Takes a copy, or nothing, as the ledger.
    private func install(_ copy: LedgerCopy?, because reason: String) async throws -> (SQLiteLedger, LedgerRecovery) {
        let aside = try self.keptAside ?? Self.setAside(in: self.directory, now: self.now)
        if let copy {
            let (from, partial, file) = (copy.path, self.file + ".partial", self.file)
            try await StoreFiles.onAnotherThread {
                StoreFiles.remove(partial)
                try FileManager.default.copyItem(atPath: from, toPath: partial)
                try StoreFiles.synchronize(partial)
                try StoreFiles.rename(partial, to: file)
            }
        }
        let ledger = try SQLiteLedger(in: self.directory)
        let gaps = try await self.skipGaps(in: ledger, since: copy?.made)
        if copy == nil, self.tellsBreaks { try await self.replayBreaks(into: ledger) }
        return (ledger, LedgerRecovery(reason: reason, keptAside: aside, copy: copy?.made, gaps: gaps))
    }

    /// Goes on with the ledger that is there.
    private func keep(because reason: String) async throws -> (SQLiteLedger, LedgerRecovery) {
        let ledger = try SQLiteLedger(in: self.directory)
        let gaps = try await self.skipGaps(in: ledger, since: nil)
        return (ledger, LedgerRecovery(reason: reason, keptAside: nil, copy: nil, gaps: gaps))
    }

    /// Moves what is there to where it is kept.
    ///
    /// - Returns: where; `nil`: there was nothing.
    static func setAside(in directory: StoreDirectory, now: Timestamp) throws -> String? {
        let manager = FileManager.default
        let file = directory.file(StoreDirectory.ledgerFile)
        var parts = ["", "-wal"].filter { manager.fileExists(atPath: file + $0) }
        // A folder where SQLite would put a file of its own keeps it from opening the ledger, and cannot simply be removed.
        parts += ["-shm", "-journal"].filter { Self.isFolder(file + $0) }
        guard !parts.isEmpty else { return nil }
        let folder = try Self.asideFolder(in: directory)
        var name = "ledger-\(CopyTime.text(now))"
        var number = 1
        while manager.fileExists(atPath: "\(folder)/\(name).sqlite") {
            number += 1
            name = "ledger-\(CopyTime.text(now))-\(number)"
        }
        let target = "\(folder)/\(name).sqlite"
        for part in parts { try StoreFiles.rename(file + part, to: target + part) }
        // An index of the write-ahead log belongs to a process.
        StoreFiles.remove(file)
        return target
    }

    /// Where everything is kept that something was wrong with; made where there is none.
    static func asideFolder(in directory: StoreDirectory) throws -> String {
        let folder = directory.file(Self.asideName)
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        FolderOwner.take(folder)
        return folder
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// Passes over what the log has forgotten and the ledger has not counted.
    private func skipGaps(in ledger: SQLiteLedger, since: Timestamp?) async throws -> [LedgerGap] {
        var gaps: [LedgerGap] = []
        for lane in self.lanes {
            let applied = try await ledger.appliedOffset(of: lane)
            guard let last = try await self.source.lastMissing(of: lane, after: applied) else { continue }
            let newest = try await ledger.newestTime()
            let gap = LedgerGap(
                lane: lane,
                first: applied + 1,
                last: last,
                from: since ?? newest,
                to: try await self.time(of: lane, after: last)
            )
            try await ledger.skip(gap)
            gaps.append(gap)
        }
        return gaps
    }

    /// When the record after an offset was made; now where it does not tell.
    private func time(of lane: Lane, after offset: UInt64) async throws -> Timestamp {
        guard try await self.log.head(of: lane) > offset,
            let record = try await self.log.read(lane, after: offset, recordsMax: 1, bytesMax: 1).first
        else { return self.now }
        let posting = try LedgerPosting(record)
        return (posting.outcomes.map(\.received) + posting.deliveries.map(\.at)).min() ?? self.now
    }

    /// Tells an empty ledger of all breaks that the log knows, where it knows them from the first: the board has only
    /// those that are not old.
    private func replayBreaks(into ledger: SQLiteLedger) async throws {
        let head = try await self.log.head(of: .breaks)
        guard head > 0, try await self.source.goesOn(.breaks, after: 0) else { return }
        var board = Board(epoch: self.log.epoch)
        while board.offset < head {
            let records = try await self.log.read(
                .breaks,
                after: board.offset,
                recordsMax: Self.groupsPerReadMax,
                bytesMax: Self.bytesPerReadMax
            )
            guard !records.isEmpty else { throw EventLogError.closed }
            var changed: [BreakNumber: BreakSummary] = [:]
            for record in records {
                for result in try board.apply(record)?.results ?? [] {
                    if case .changed(let each, _) = result { changed[each.number] = each.summary }
                }
            }
            let summaries = changed.values.sorted { $0.number < $1.number }
            try await ledger.record(summaries, through: board.offset)
        }
    }
}
