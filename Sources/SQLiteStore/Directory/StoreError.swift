// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GRDB

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Why a data directory cannot be used.
package enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process uses it; `owner` is its process id, where it is known.
    case inUse(directory: String, owner: Int?)
    /// It cannot be made, read or written.
    case unusable(directory: String, reason: String)
    /// A file was written by a later version, or by a development version before the first release.
    case laterSchema(file: String)
    /// A file is damaged, or not ours.
    case damaged(file: String, reason: String)
    /// Log and ledger do not belong together; `reason` says what to do.
    case mismatch(directory: String, reason: String)
    /// SQLite would confirm what a loss of power takes away.
    case notDurable(file: String, synchronous: Int)

    /// A file that is not there cannot be made.
    static func cannotMake(_ file: String, _ number: Int32) -> StoreError {
        .unusable(directory: Self.folder(of: file), reason: "\(file): \(unsafe String(cString: strerror(number)))")
    }

    private static func folder(of file: String) -> String { (file as NSString).deletingLastPathComponent }

    /// Whether an error says that a file could not be written, for want of room mostly: what it holds may well be right.
    static func isOfWriting(_ error: any Error) -> Bool {
        switch error {
        case let error as DatabaseError:
            error.resultCode == .SQLITE_FULL
                || [
                    .SQLITE_IOERR_WRITE, .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC, .SQLITE_IOERR_TRUNCATE,
                    .SQLITE_IOERR_SHMSIZE,
                ]
                .contains(error.extendedResultCode)
        case let error as CocoaError: error.code == .fileWriteOutOfSpace
        default: false
        }
    }

    /// A file that cannot be opened or read; a damaged log with what to do: everything else is made again from it, and it is not.
    static func unreadable(_ file: String, _ error: any Error) -> StoreError {
        let sentence = StoreFile.sentence(error)
        if Self.isOfWriting(error) {
            return .unusable(
                directory: Self.folder(of: file),
                reason: "\(file): \(sentence); what the file holds is kept as it is: make room, and start again"
            )
        }
        guard file.hasSuffix("/" + StoreDirectory.logFile),
            let code = (error as? DatabaseError)?.resultCode, [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(code)
        else { return .damaged(file: file, reason: sentence) }
        let help =
            "put the newest backup in place with 'cuecast restore --from … --replace', which keeps this file aside"
        return .damaged(file: file, reason: "\(sentence); \(help)")
    }

    package var description: String {
        switch self {
        case .inUse(let directory, let owner?):
            "The data directory \(directory) is in use by the process \(owner)."
        case .inUse(let directory, nil): "The data directory \(directory) is in use by another process."
        case .unusable(let directory, let reason): "The data directory \(directory) cannot be used: \(reason)."
        case .laterSchema(let file):
            "The file \(file) was written by a later version of the gateway, or by one before 0.1.0."
        case .damaged(let file, let reason): "The file \(file) cannot be read: \(reason)."
        case .mismatch(let directory, let reason):
            "The files in \(directory) do not belong together: \(reason)."
        case .notDurable(let file, let synchronous):
            "The file \(file) would not be durable: PRAGMA synchronous reads \(synchronous) and must read 2 (FULL)."
        }
    }
}
