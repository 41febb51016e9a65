// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
package import GatewayCore
import Synchronization

extension BoardCache {
    /// A portion of a snapshot is written in one transaction.
    private static let partsPerTransactionMax = 2_048

    /// Takes a snapshot that gateways of this log left, where the one that is kept here is none, or is far behind.
    ///
    /// The newest one is tried first. One that is not whole, damaged, of another log or of newer rules is passed over. One that the log
    /// contradicts shows that the log went back: then nothing is opened.
    ///
    /// - Parameters:
    ///   - archive: the snapshots of the log; `nil`: the log has none.
    ///   - directory: for sentences.
    ///   - rulesKnown: the newest version of the rules that the gateway knows.
    ///   - tell: is told of what is passed over.
    /// - Returns: the board that the snapshot has to come to; `nil`: the gateway begins from its own one, or from the first record.
    /// - Throws: `unusable` where the log went back or cannot be read.
    package func begin(
        from archive: SnapshotArchive?,
        in directory: String,
        rulesKnown: UInt32 = FoldRules.newest,
        tell: (String) -> Void
    ) async throws(StoreError) -> BoardMark? {
        try await self.begin(from: archive, below: .max, in: directory, rulesKnown: rulesKnown, tell: tell)
    }

    /// Passes over the snapshot that is kept here, because its parts cannot be read, and takes one of the log: an older one than was
    /// taken last.
    ///
    /// - Parameters:
    ///   - reason: why the one that is kept here cannot be used.
    ///   - archive: the snapshots of the log; `nil`: the log has none.
    ///   - directory: for sentences.
    ///   - rulesKnown: the newest version of the rules that the gateway knows.
    ///   - tell: is told of what is passed over.
    /// - Returns: the board that the snapshot has to come to; `nil`: the gateway begins from the first record.
    /// - Throws: `unusable` where the log went back or cannot be read.
    package func beginAgain(
        because reason: String,
        from archive: SnapshotArchive?,
        in directory: String,
        rulesKnown: UInt32 = FoldRules.newest,
        tell: (String) -> Void
    ) async throws(StoreError) -> BoardMark? {
        let before = self.taken.withLock(\.self)
        tell("the snapshot \(before.map { "\($0) of the log" } ?? "of this gateway") is passed over: \(reason)")
        do throws(EventLogError) {
            try await self.drop()
        } catch {
            throw .unusable(directory: directory, reason: "the snapshot of the board cannot be removed: \(error)")
        }
        return try await self.begin(
            from: archive,
            below: before ?? .max,
            in: directory,
            rulesKnown: rulesKnown,
            tell: tell
        )
    }

    private func begin(
        from archive: SnapshotArchive?,
        below sequence: UInt64,
        in directory: String,
        rulesKnown: UInt32,
        tell: (String) -> Void
    ) async throws(StoreError) -> BoardMark? {
        self.taken.withLock { $0 = nil }
        guard let archive else { return nil }
        do {
            let own = try await self.snapshotOffset(of: .breaks)
            if let own, try await self.log.head(of: .breaks) <= own + SnapshotLimits.ownBehindMax { return nil }
            let listing = try await archive.list()
            for sequence in listing.damaged { tell("the snapshot \(sequence) of the log is damaged") }
            for entry in listing.entries where entry.sequence < sequence {
                let manifest = entry.manifest
                if let own, manifest.offset <= own + SnapshotLimits.ownBehindMax { return nil }
                if let fault = manifest.fault(for: self.log.identity, rulesKnown: rulesKnown) {
                    tell("the snapshot \(entry.sequence) of the log is passed over: \(fault)")
                    continue
                }
                try await self.compare(manifest, in: directory)
                do {
                    try await self.take(entry, from: archive)
                    self.taken.withLock { $0 = entry.sequence }
                    return BoardMark(offset: manifest.offset, digest: manifest.board)
                } catch let fault as SnapshotFault {
                    tell("the snapshot \(entry.sequence) of the log is passed over: \(fault)")
                }
            }
            if !listing.entries.isEmpty { tell("no snapshot of the log can be used: the whole lane is read") }
            return nil
        } catch let error as StoreError {
            throw error
        } catch let fault as SnapshotFault {
            // It is only to be quicker.
            tell("the snapshots of the log cannot be read: \(fault)")
            return nil
        } catch {
            throw .unusable(directory: directory, reason: "the board cannot be compared with the log: \(error)")
        }
    }

    /// Looks whether the log has what the gateway that made a snapshot had read of it.
    private func compare(_ manifest: SnapshotManifest, in directory: String) async throws {
        // A later version may have more lanes.
        for lane in [Lane.breaks] + Lane.acknowledgementLanes {
            guard let mark = manifest.lanes[lane], mark.offset > 0 else { continue }
            let head = try await self.log.head(of: lane)
            guard mark.offset <= head else {
                throw SharedLogMark.wentBack(
                    "the lane \(lane) ends at record \(head), and a snapshot of the log was made as of record \(mark.offset)",
                    in: directory
                )
            }
            let record = try await self.log.read(lane, after: mark.offset - 1, recordsMax: 1, bytesMax: 1).first
            guard record?.offset == mark.offset, record?.digest == mark.digest else {
                throw SharedLogMark.wentBack(
                    "the lane \(lane) has another record \(mark.offset) than the one that a snapshot of the log was made of",
                    in: directory
                )
            }
        }
    }

    /// Keeps a snapshot of the log as the own one.
    private func take(_ entry: SnapshotArchive.Entry, from archive: SnapshotArchive) async throws {
        let offset = entry.manifest.offset
        var waiting: [SnapshotPart] = []
        var isFirst = true
        func flush(isLast: Bool) async throws {
            try await self.replace(
                by: SnapshotPortion(offset: offset, parts: waiting, isFirst: isFirst, isLast: isLast),
                digest: entry.manifest.lanes[.breaks]?.digest ?? 0
            )
            (waiting, isFirst) = ([], false)
        }
        try await archive.read(entry) { parts in
            waiting += parts
            if waiting.count >= Self.partsPerTransactionMax { try await flush(isLast: false) }
        }
        // Only now it is certain that everything was what was written.
        try await flush(isLast: true)
    }
}
