// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A folder with an event log and a ledger, held by one process at a time.
///
/// ```swift
/// let directory = try StoreDirectory(path: "/var/lib/cuecast")
/// let log = try SQLiteEventLog(in: directory)
/// let ledger = try SQLiteLedger(in: directory)
/// ```
///
/// The hold is an advisory lock of the operating system on the file `cuecast.lock`: it ends when everything opened in the
/// directory is closed and nobody keeps this value, and with the process, however that ends.
package final class StoreDirectory: Sendable {
    package let path: String
    private let descriptor: Int32

    /// Makes the folder if necessary, and holds it.
    ///
    /// - Parameter path: the folder.
    /// - Throws: `inUse` when somebody else holds it, `unusable` when it cannot be made or written.
    package init(path: String) throws(StoreError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw .unusable(directory: path, reason: error.localizedDescription)
        }
        let file = path + "/cuecast.lock"
        let descriptor = unsafe open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .unusable(directory: path, reason: unsafe String(cString: strerror(errno)))
        }
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
    }

    deinit {
        // Said in so many words: a process that is just being started has a copy of the descriptor until it runs, and
        // closing ours alone would leave the lock to it.
        flock(self.descriptor, LOCK_UN)
        close(self.descriptor)
    }

    func file(_ name: String) -> String { self.path + "/" + name }
}
