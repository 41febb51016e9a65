// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Dispatch
import Foundation
import GRDB

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Why a file could not be copied.
///
/// The file itself is as it was, and of the copy nothing is left.
package enum StoreCopyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The disk has not enough room for the copy.
    case noSpace(path: String, bytesNeeded: Int, bytesFree: Int)
    /// The copy was made, and did not pass its check: the file that was copied is damaged, or the disk is.
    case damaged(path: String, problems: [String])
    /// Another process writes to the file all the time.
    case neverDone(path: String, restarts: Int)
    /// The task was cancelled.
    case cancelled
    /// The file is closed, or closing.
    case closed
    case failed(String)

    package var description: String {
        switch self {
        case .noSpace(let path, let needed, let free):
            "The copy \(path) needs \(needed) bytes (\(StoreCopyLimits.bytesKeptFree) of them stay free), and \(free) are free."
        case .damaged(let path, let problems):
            "The copy \(path) is damaged: \(problems.joined(separator: "; "))."
        case .neverDone(let path, let restarts):
            "The copy \(path) was begun \(restarts) times: another process writes to the file."
        case .cancelled: "The copy was cancelled."
        case .closed: "The file is closed."
        case .failed(let reason): "The copy failed: \(reason)"
        }
    }
}

/// How far a copy is.
package struct StoreCopyProgress: Hashable, Sendable {
    package let pagesDone: Int
    package let pagesTotal: Int

    package init(pagesDone: Int, pagesTotal: Int) {
        self.pagesDone = pagesDone
        self.pagesTotal = pagesTotal
    }
}

/// A copy that was made, checked, and will survive a loss of power.
package struct StoreCopy: Hashable, Sendable {
    package let path: String
    package let bytes: Int
    /// The digest of its bytes, see `FileDigest`.
    package let digest: UInt64

    package init(path: String, bytes: Int, digest: UInt64) {
        self.path = path
        self.bytes = bytes
        self.digest = digest
    }
}

/// The bounds of copying a file.
package enum StoreCopyLimits {
    /// How much is copied in one step; what else is asked of the writer waits no longer than for this.
    package static let stepBytesMax = 1_048_576
    /// A copy that had to begin again so often is given up.
    package static let restartsMax = 20
    /// So much stays free on the disk beside the copy.
    package static let bytesKeptFree = 64 * 1_048_576
    /// The most problems that a check names.
    package static let problemsMax = 20

    /// Looks whether there is room for a copy.
    ///
    /// - Parameters:
    ///   - path: of the copy.
    ///   - bytes: how large it becomes.
    ///   - free: how much may still be written there.
    /// - Returns: why there is not enough; `nil`: there is, or the free space is unknown.
    package static func refusal(of path: String, bytes: Int, free: Int?) -> StoreCopyError? {
        let needed = bytes + Self.bytesKeptFree
        guard let free, free < needed else { return nil }
        return .noSpace(path: path, bytesNeeded: needed, bytesFree: free)
    }
}

extension StoreConnection {
    /// Copies the file while it is written to.
    ///
    /// Each step is a job of its own on the writer's queue, with what else is asked of the writer between them, and a
    /// rest as long as the step took. The copy is made under another name, synchronised, checked by a reader of its
    /// own, and given its name when it is right. It holds everything that was committed when its last step ran.
    ///
    /// - Parameters:
    ///   - path: where; a file of that name is replaced.
    ///   - pagesPerStep: how many pages a step copies; `nil`: as many as make `stepBytesMax`.
    ///   - niceness: of its check.
    ///   - progress: called after each step, in order, by one caller at a time.
    /// - Returns: the copy, checked, under its name.
    /// - Throws: also when the task is cancelled; nothing is left of the copy then.
    func copy(
        to path: String,
        pagesPerStep: Int? = nil,
        niceness: StoreFiles.CheckNiceness = .awaited,
        progress: @escaping @Sendable (StoreCopyProgress) -> Void = { _ in }
    ) async throws(StoreCopyError) -> StoreCopy {
        let partial = path + ".partial"
        do {
            StoreFiles.remove(partial)
            let pages = try await self.requireSpace(for: path)
            try await self.copyPages(to: partial, pagesPerStep: pagesPerStep ?? pages, progress: progress)
            let copy = try await StoreFiles.settle(partial, as: path, niceness)
            return copy
        } catch {
            StoreFiles.remove(partial)
            throw Self.copyError(error)
        }
    }

    /// Makes sure that the disk has room for a copy.
    ///
    /// - Returns: how many pages a step copies.
    private func requireSpace(for path: String) async throws -> Int {
        let (pageBytes, pageCount) = try await self.write { database, _ in
            (
                try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 4_096,
                try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            )
        }
        let free = StoreFiles.bytesFree(at: (path as NSString).deletingLastPathComponent)
        if let refusal = StoreCopyLimits.refusal(of: path, bytes: pageBytes * pageCount, free: free) { throw refusal }
        return max(1, StoreCopyLimits.stepBytesMax / max(1, pageBytes))
    }

    private func copyPages(
        to partial: String,
        pagesPerStep: Int,
        progress: @escaping @Sendable (StoreCopyProgress) -> Void
    ) async throws {
        let backup = try await self.beginBackup(to: partial)
        do {
            while true {
                try Task.checkCancellation()
                let clock = ContinuousClock()
                let (isDone, took, now) = try await self.write { _, _ in
                    var isDone = false
                    let took = try clock.measure { isDone = try backup.step(pages: pagesPerStep) }
                    return (isDone, took, backup.pages)
                }
                progress(StoreCopyProgress(pagesDone: now.total - now.remaining, pagesTotal: now.total))
                if isDone { break }
                guard backup.restarts <= StoreCopyLimits.restartsMax else {
                    throw StoreCopyError.neverDone(path: partial, restarts: backup.restarts)
                }
                try await Task.sleep(for: min(took, .milliseconds(100)))
            }
            try await self.endBackup(backup)
        } catch {
            await self.abandonBackup(backup)
            throw error
        }
    }

    private static func copyError(_ error: any Error) -> StoreCopyError {
        switch error {
        case let error as StoreCopyError: error
        case is CancellationError: .cancelled
        case is StoreClosed: .closed
        default: .failed(StoreFile.sentence(error))
        }
    }
}
