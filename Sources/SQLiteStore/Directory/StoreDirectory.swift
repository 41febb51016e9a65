// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import SecretFiles
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A folder with an event log and a ledger, held by one process at a time.
///
/// ```swift
/// let directory = try StoreDirectory(path: "/var/lib/cuecast")
/// let stores = try Stores.open(in: directory)
/// ```
///
/// The hold is an advisory lock of the operating system on the file `cuecast.lock`. It ends when everything opened in the directory
/// is closed and no reference to this value is left. It also ends with the process, in every case.
///
/// The file `cuecast.open` is there as long as a store is open. Where it is found at the start, the process before did
/// not close its stores.
package final class StoreDirectory: Sendable {
    /// The event log's file.
    package static let logFile = "events.sqlite"
    /// The ledger's file.
    package static let ledgerFile = "ledger.sqlite"
    private static let lockFile = "cuecast.lock"
    private static let openFile = "cuecast.open"

    private struct State {
        var openStores = 0
        var everOpened = false
        var allClean = true
    }

    package let path: String
    /// Whether the process that had the stores open before closed them.
    package let wasClosedCleanly: Bool
    /// Whether the log was open when the process before ended, and its write-ahead log, with what was recorded last, is
    /// gone.
    package let isLogTailMissing: Bool
    private let descriptor: Int32
    private let state = Mutex(State())

    /// Makes the folder if necessary, and holds it.
    ///
    /// - Parameter path: the folder.
    /// - Throws: `inUse` when another process holds it, `unusable` when it cannot be made or written.
    package init(path: String) throws(StoreError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw .unusable(directory: path, reason: StoreFile.sentence(error))
        }
        let file = path + "/" + Self.lockFile
        let descriptor = unsafe open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.cannotMake(Self.lockFile, in: path, errno) }
        FolderOwner.take(descriptor, at: file)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let isHeld = errno == EWOULDBLOCK
            let reason = unsafe String(cString: strerror(errno))
            close(descriptor)
            guard isHeld else { throw .unusable(directory: path, reason: reason) }
            let owner = (try? String(contentsOfFile: file, encoding: .utf8)).flatMap { Int($0) }
            throw .inUse(directory: path, owner: owner)
        }
        // For the sentence that the next one gets; the lock does not depend on it.
        try? Data("\(getpid())".utf8).write(to: URL(fileURLWithPath: file))
        self.path = path
        self.descriptor = descriptor
        self.wasClosedCleanly = !Self.exists(path, Self.openFile)
        self.isLogTailMissing =
            !self.wasClosedCleanly && Self.exists(path, Self.logFile) && !Self.exists(path, Self.logFile + "-wal")
        self.makePrivate()
    }

    deinit {
        self.noteTail()
        // Said in so many words: a process that is just being started has a copy of the descriptor until it runs, and
        // closing ours alone would leave the lock to it.
        flock(self.descriptor, LOCK_UN)
        close(self.descriptor)
    }

    /// A start that could not open the stores has opened and closed the log's file, and SQLite may have moved its write-ahead log into it:
    /// then nothing is missing at the next start.
    private func noteTail() {
        guard !self.wasClosedCleanly, !self.isLogTailMissing, !self.state.withLock(\.everOpened),
            Self.exists(self.path, Self.logFile), !Self.exists(self.path, Self.logFile + "-wal")
        else { return }
        _ = unsafe unlink(self.file(Self.openFile))
    }

    func file(_ name: String) -> String { self.path + "/" + name }

    private static func exists(_ path: String, _ name: String) -> Bool {
        FileManager.default.fileExists(atPath: path + "/" + name)
    }

    /// Why a file that only says something by being there is not there; `number` is the system's for it.
    private static func cannotMake(_ name: String, in directory: String, _ number: Int32) -> StoreError {
        var status = stat()
        let isInTheWay = unsafe lstat(directory + "/" + name, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        let reason = unsafe String(cString: strerror(number))
        return .unusable(
            directory: directory,
            reason: "\(name) in it cannot be made: \(reason)\(isInTheWay ? "; remove what has that name" : "")"
        )
    }

    /// Whether there is an event log or a ledger.
    package var hasStores: Bool {
        Self.exists(self.path, Self.logFile) || Self.exists(self.path, Self.ledgerFile)
    }

    /// Lets only the owner into the folder, where it holds nothing but stores, or nothing.
    private func makePrivate() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: self.path)) ?? []
        guard self.hasStores || names.allSatisfy({ $0 == Self.lockFile }) else { return }
        // It fails where the folder belongs to another user, who has decided who may enter.
        _ = unsafe chmod(self.path, 0o700)
        _ = fchmod(self.descriptor, 0o600)
    }

    /// A store is open: its files are there.
    func storeOpened() throws(StoreError) {
        let isFirst = self.state.withLock { state in
            state.openStores += 1
            state.everOpened = true
            return state.openStores == 1
        }
        guard isFirst else { return }
        let file = self.file(Self.openFile)
        let descriptor = unsafe open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.cannotMake(Self.openFile, in: self.path, errno) }
        FolderOwner.take(descriptor, at: file)
        close(descriptor)
        do {
            // With the names of the files that were just made.
            try StoreFiles.synchronizeFolder(of: file)
        } catch {
            throw .unusable(directory: self.path, reason: "\(error)")
        }
    }

    /// A store is closed; with the last one the folder is left in order, if all of them were.
    func storeClosed(isClean: Bool) {
        let isOver = self.state.withLock { state in
            state.openStores -= 1
            state.allClean = state.allClean && isClean
            return state.openStores == 0 && state.allClean
        }
        if isOver { _ = unsafe unlink(self.file(Self.openFile)) }
    }
}
