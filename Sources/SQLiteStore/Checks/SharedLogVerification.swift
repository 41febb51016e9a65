// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GRDB
import GatewayCore

/// The findings about a log that several gateways share, and about the board that a gateway keeps of it.
package struct SharedLogFindings: Hashable, Sendable {
    /// Records that are missing, cannot be read, or are others than those that the gateway has counted.
    package var log = LedgerDifferences()
    /// The differences between the kept board and the log; `nil`: the gateway keeps none.
    package var board: LedgerDifferences?
    /// The record as of which the board was compared.
    package var boardOffset: UInt64?
    /// The sums of the ledger; `nil`: it was not compared.
    package var keptSums: LedgerSums?
    /// The sums of what was counted anew of the log.
    package var countedSums: LedgerSums?

    var isRight: Bool { self.log.count == 0 && self.board?.count ?? 0 == 0 }
}

/// The sums of a whole ledger.
package struct LedgerSums: Hashable, Sendable {
    package let breaks: Int64
    package let played: Int64
    package let ignored: Int64
    package let failed: Int64
    package let heardMilliseconds: Int64

    init(_ database: Database) throws {
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT count(DISTINCT break_number), total(played), total(ignored), total(failed), total(heard_ms)
                FROM totals
                """
        )
        // Real numbers, which no sum of a damaged file makes overflow.
        func sum(_ place: Int) -> Int64 { Int64(exactly: (row?[place] as Double? ?? 0).rounded()) ?? .max }
        self.breaks = row?[0] ?? 0
        (self.played, self.ignored, self.failed, self.heardMilliseconds) = (sum(1), sum(2), sum(3), sum(4))
    }
}

/// Copies of a gateway's books, and what they say of themselves: they are compared with the log that several gateways share.
struct SharedBooks {
    let mark: SharedLogMark
    /// The copy of the ledger, open.
    let ledger: DatabaseQueue
    /// Of the ledger; `nil`: it was never opened with its log.
    let identity: LogIdentity?
    /// The copy of the board; `nil`: the gateway keeps none.
    let board: KeptBoard?

    /// Counts the whole log anew, and makes the board anew, and compares.
    ///
    /// - Parameters:
    ///   - found: the ledger's findings about itself.
    ///   - log: open.
    ///   - folder: where there is room for a recount.
    ///   - progress: told how far it is.
    /// - Returns: the findings about all.
    /// - Throws: `VerificationError` where the log is another one, and where it cannot be read.
    func compare(
        _ found: LedgerVerification,
        with log: any InspectedLog,
        in folder: String,
        progress: @escaping @Sendable (LedgerVerification.Progress) -> Void
    ) async throws -> LedgerVerification {
        for known in [self.mark.logID, self.identity?.logID].compactMap({ $0 }) where known != log.identity.logID {
            throw VerificationError.unusable(
                "The ledger counts the log \(known), and the servers have the log \(log.identity.logID)."
            )
        }
        if let identity = self.identity, identity.epoch != log.identity.epoch {
            throw VerificationError.unusable(
                "The ledger counts an epoch of the log that is not the one at the servers: the log was restored from a backup, or went back. Start the gateway: it counts a restored log anew."
            )
        }
        var result = found
        let checked = CheckedLog(log, marks: try await self.marks())
        try await checked.compareHeads(of: [.breaks] + Lane.acknowledgementLanes)
        let recount = try await LedgerRecount.make(
            in: folder + "/recount",
            from: nil,
            source: checked,
            through: found.offsets,
            gaps: found.gaps
        ) { progress(.counting($0, of: $1)) }
        // Behind what the ledger counts.
        for lane in Lane.acknowledgementLanes {
            try await checked.read(lane, after: found.offsets[lane] ?? 0) { _ in }
        }
        var findings = SharedLogFindings()
        (findings.board, findings.boardOffset) = try await self.compareBoard(checked, log.identity, progress)
        findings.log = checked.findings
        result.shared = findings
        progress(.comparing)
        let ledger = self.ledger
        let differences = try await StoreFiles.onAnotherThread {
            let other = try StoreFiles.reader(of: recount)
            defer { try? other.close() }
            let sums = try [ledger, other].map { try $0.read { try LedgerSums($0) } }
            return (try LedgerComparison.differences(ledger, other), sums)
        }
        result.differences = differences.0
        result.shared?.keptSums = differences.1.first
        result.shared?.countedSums = differences.1.last
        return result
    }

    private func marks() async throws -> [CheckedLog.Mark] {
        let digests = try await self.ledger.read { try LedgerSchema.digests($0) }
        var marks = digests.map { lane, digest in
            CheckedLog.Mark(lane: lane, offset: digest.offset, digest: digest.digest, verb: "the ledger has counted")
        }
        if let head = self.board?.head {
            marks.append(
                CheckedLog.Mark(lane: .breaks, offset: head.offset, digest: head.digest, verb: "the board has")
            )
        }
        return marks
    }

    private func compareBoard(
        _ checked: CheckedLog,
        _ identity: LogIdentity,
        _ progress: @escaping @Sendable (LedgerVerification.Progress) -> Void
    ) async throws -> (LedgerDifferences?, UInt64?) {
        let names = SipHash(key: identity.logID.low, identity.logID.high)
        let head = try await checked.head(of: .breaks)
        var board = Board(epoch: identity.epoch, names: names)
        var asOf: Board?
        let wanted = self.board?.head?.offset
        try await checked.read(.breaks, after: 0) { records in
            for record in records {
                // The board as of the last record that the kept one has.
                if let wanted, asOf == nil, record.offset > wanted { asOf = board }
                _ = try board.apply(record)
            }
            _ = board.takeChanges()
            progress(.folding(board.offset, of: head))
        }
        guard let kept = self.board else { return (nil, nil) }
        var differences = LedgerDifferences()
        for problem in kept.problems { differences.add("the kept board is damaged: \(problem)") }
        guard let keptHead = kept.head, kept.problems.isEmpty else { return (differences, nil) }
        guard keptHead.logID == identity.logID.description else {
            differences.add("the kept board is of the log \(keptHead.logID)")
            return (differences, nil)
        }
        let loaded: Board
        do {
            loaded = try await kept.load(epoch: identity.epoch, names: names)
        } catch let error as WireError {
            differences.add("the kept board cannot be read: \(error)")
            return (differences, keptHead.offset)
        }
        Self.compare(loaded, asOf ?? board, at: keptHead.offset, &differences)
        return (differences, keptHead.offset)
    }

    private static func compare(
        _ kept: Board,
        _ folded: Board,
        at offset: UInt64,
        _ differences: inout LedgerDifferences
    ) {
        let (mine, anew) = (BoardDigest(kept), BoardDigest(folded))
        guard mine.value(of: kept) != anew.value(of: folded) else { return }
        differences.add(
            mine.firstDifference(from: anew.streams)
                .map { "the board at record \(offset) is another one; the first stream that differs is \($0)" }
                ?? "the board at record \(offset) differs in what belongs to no stream"
        )
    }
}

/// The copy of a snapshot of the board (`BoardCache`), only read.
struct KeptBoard: Sendable {
    private let queue: DatabaseQueue?
    /// The faults of its file; empty: none.
    let problems: [String]
    /// `nil`: there is no snapshot.
    let head: BoardCacheSchema.Head?

    /// Opens a copy.
    ///
    /// - Parameter path: of a file that is not written to.
    init(_ path: String) async {
        let found: (DatabaseQueue?, [String], BoardCacheSchema.Head?)
        do {
            let problems = try await StoreFiles.problems(of: path)
            found = try await StoreFiles.onAnotherThread {
                guard problems.isEmpty else { return (nil, problems, nil) }
                let queue = try StoreFiles.reader(of: path)
                let head = try queue.read { database in
                    // A gateway that was killed while it made the file.
                    guard try database.tableExists("head") else { return nil as BoardCacheSchema.Head? }
                    return try BoardCacheSchema.head(database)
                }
                return (queue, [], head)
            }
        } catch {
            found = (nil, [StoreFile.sentence(error)], nil)
        }
        (self.queue, self.problems, self.head) = found
    }

    /// The board of the snapshot.
    func load(epoch: UInt64, names: SipHash) async throws -> Board {
        let (queue, offset) = (self.queue, self.head?.offset ?? 0)
        return try await StoreFiles.onAnotherThread {
            var loader = BoardLoader(epoch: epoch, names: names)
            var key: String?
            while let queue,
                case let parts = try queue.read({ database in
                    try BoardCacheSchema.parts(database, after: key, bytesMax: 4 * 1_048_576)
                }), let last = parts.last
            {
                for part in parts { try loader.read(try BoardRecord(decoding: part.bytes)) }
                key = last.key
            }
            return loader.finish(at: offset)
        }
    }

    func close() { try? self.queue?.close() }
}
