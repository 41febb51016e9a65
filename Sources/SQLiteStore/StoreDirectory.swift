// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Why a data directory cannot be used.
package enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process uses it.
    case inUse(path: String)
    /// It cannot be made or written.
    case notWritable(path: String, reason: String)
    /// A file was written by a later version.
    case newerSchema(path: String)
    /// A file is damaged, or not ours.
    case damaged(path: String, reason: String)
    /// SQLite does not keep what a setting promises.
    case notDurable(path: String, synchronous: Int)

    package var description: String {
        switch self {
        case .inUse(let path): "The data directory \(path) is used by another process."
        case .notWritable(let path, let reason): "The data directory \(path) cannot be used: \(reason)."
        case .newerSchema(let path): "The file \(path) was written by a later version of the gateway."
        case .damaged(let path, let reason): "The file \(path) cannot be read: \(reason)."
        case .notDurable(let path, let synchronous):
            "The file \(path) would not be durable: PRAGMA synchronous reads \(synchronous) and must read 2 (FULL)."
        }
    }
}

/// A folder with an event log and a ledger, held by one process at a time.
///
/// The hold is an advisory lock of the operating system: it ends with the process, however that ends.
package final class StoreDirectory: Sendable {
    package let path: String
    private let descriptor: Int32

    /// Makes the folder if necessary, and holds it.
    ///
    /// - Parameter path: the folder.
    /// - Throws: `inUse` or `notWritable`.
    package init(path: String) throws(StoreError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw .notWritable(path: path, reason: error.localizedDescription)
        }
        let descriptor = unsafe open(path + "/cuecast.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .notWritable(path: path, reason: unsafe String(cString: strerror(errno)))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .inUse(path: path)
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }

    func file(_ name: String) -> String { self.path + "/" + name }
}
