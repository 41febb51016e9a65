// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GRDB
import GatewayCore

/// Looks for damage in a ledger: in its file, between its totals and its rows, and against a recount.
enum LedgerCheck {
    /// Under which name folders for recounts are made in the data directory.
    private static let folderPrefix = "recount-"

    /// The base of a recount.
    enum Base {
        case copy(LedgerCopy)
        /// The log begins at its first record.
        case nothing
    }

    /// Checks a ledger while it is written to.
    ///
    /// - Parameters:
    ///   - ledger: open.
    ///   - copies: the copies from which a recount may begin.
    ///   - source: the log.
    ///   - directory: where there is room for a copy and a recount.
    ///   - prefersCopies: whether the recount begins with the newest copy also where the log is whole: it is far away, and long.
    /// - Returns: a sentence for each thing that is wrong.
    /// - Throws: where the check could not be made, which says nothing about the ledger.
    static func differences(
        of ledger: SQLiteLedger,
        copies: LedgerCopies,
        source: some RecordSource,
        directory: StoreDirectory,
        prefersCopies: Bool = false
    ) async throws -> [String] {
        try await Self.withFolder(in: directory.path) { folder in
            let copy: StoreCopy
            do {
                copy = try await ledger.copy(to: folder + "/checked.sqlite")
            } catch let error as StoreCopyError {
                // A copy that is damaged may have become so while it was written: only the ledger itself tells.
                guard case .damaged = error, case let problems = try await ledger.problems(), !problems.isEmpty else {
                    throw error
                }
                return problems
            }
            return try await Self.differences(
                of: copy.path,
                copies: copies,
                source: source,
                folder: folder,
                prefersCopies: prefersCopies
            )
        }
    }

    private static func differences(
        of checked: String,
        copies: LedgerCopies,
        source: some RecordSource,
        folder: String,
        prefersCopies: Bool
    ) async throws -> [String] {
        let reader = try StoreFiles.reader(of: checked)
        defer { try? reader.close() }
        let (audit, offsets, gaps, identity) = try await StoreFiles.onAnotherThread {
            try reader.read {
                (
                    try LedgerAudit.differences($0), try LedgerSchema.appliedOffsets($0),
                    try LedgerSchema.gaps($0), try StoreIdentity.read($0)
                )
            }
        }
        guard audit.isEmpty else { return audit }
        let base = try await Self.base(
            for: offsets,
            of: identity,
            gaps: gaps,
            copies: copies.list(),
            source: source,
            prefersCopies: prefersCopies
        )
        guard let base else { return [] }
        let recount = try await LedgerRecount.make(
            in: folder + "/recount",
            from: base.path,
            source: source,
            through: offsets,
            gaps: gaps
        )
        return try await StoreFiles.onAnotherThread {
            let other = try StoreFiles.reader(of: recount)
            defer { try? other.close() }
            return try LedgerComparison.differences(reader, other).sentences
        }
    }

    /// The base of a recount: nothing if the log is complete, else the first of the copies that fits.
    ///
    /// - Parameters:
    ///   - offsets: up to where is to be counted.
    ///   - identity: the ledger's own identity.
    ///   - gaps: records that are known to be missing.
    ///   - copies: in the order in which they are tried.
    ///   - source: the log.
    ///   - prefersCopies: whether a copy is taken also where the log is complete.
    /// - Returns: `nil` where the log is not whole, or has lost what was counted, and goes on from none of the copies.
    /// - Throws: where the log cannot be read.
    static func base(
        for offsets: [Lane: UInt64],
        of identity: LogIdentity?,
        gaps: [LedgerGap],
        copies: [LedgerCopy],
        source: some RecordSource,
        prefersCopies: Bool = false
    ) async throws -> Base? {
        if prefersCopies {
            let copy = try await Self.copy(for: offsets, of: identity, copies: copies, source: source)
            if let copy { return .copy(copy) }
        }
        let lanes = offsets.filter { $0.key != .breaks }
        if gaps.isEmpty, Self.reachesAll(of: identity, Array(lanes.keys), after: [:], source),
            try await Self.goesOn(lanes.mapValues { _ in 0 }, source)
        {
            return .nothing
        }
        guard !prefersCopies else { return nil }
        return try await Self.copy(for: offsets, of: identity, copies: copies, source: source).map { .copy($0) }
    }

    /// The first of the copies that fits.
    private static func copy(
        for offsets: [Lane: UInt64],
        of identity: LogIdentity?,
        copies: [LedgerCopy],
        source: some RecordSource
    ) async throws -> LedgerCopy? {
        let lanes = offsets.filter { $0.key != .breaks }
        for copy in copies {
            guard await copy.fault() == nil, let counted = try? copy.offsets(),
                counted.allSatisfy({ lane, offset in lane == .breaks || offset <= offsets[lane] ?? 0 }),
                Self.reachesAll(of: identity, Array(lanes.keys), after: counted, source),
                try await Self.goesOn(lanes.merging(counted) { $1 }.filter { $0.key != .breaks }, source)
            else { continue }
            return copy
        }
        return nil
    }

    /// Whether a recount after these offsets comes by everything that a ledger has counted.
    ///
    /// Where a log was lost, or put back to an earlier state, a new epoch began: counts that the ledger made before it stay, and
    /// cannot be recounted.
    private static func reachesAll(
        of identity: LogIdentity?,
        _ lanes: [Lane],
        after offsets: [Lane: UInt64],
        _ source: some RecordSource
    ) -> Bool {
        (identity?.epochs.dropFirst() ?? [])
            .allSatisfy { epoch in
                lanes.allSatisfy { lane in
                    epoch.last(of: lane) <= max(source.preceding(epoch.base + 1, in: lane), offsets[lane] ?? 0)
                }
            }
    }

    private static func goesOn(_ offsets: [Lane: UInt64], _ source: some RecordSource) async throws -> Bool {
        for (lane, offset) in offsets where try await !source.goesOn(lane, after: offset) { return false }
        return true
    }

    /// Lends a folder that is gone afterwards; folders that a killed process left go as well.
    static func withFolder<Value>(
        in parent: String,
        _ body: (String) async throws -> Value
    ) async throws -> Value {
        let folder = parent + "/" + Self.folderPrefix + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try await body(folder)
    }

    /// Removes the folders that killed processes left; only the holder of the directory calls it.
    static func removeLeftFolders(in parent: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where name.hasPrefix(Self.folderPrefix) {
            try? FileManager.default.removeItem(atPath: parent + "/" + name)
        }
    }
}

extension LedgerCheck.Base {
    /// The file of the copy.
    var path: String? {
        switch self {
        case .copy(let copy): copy.path
        case .nothing: nil
        }
    }
}
