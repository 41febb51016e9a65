// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GRDB
import GRDBSQLite

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The effect of a failed writing connection on the log (docs/internals/decisions/0023).
package enum LogFailure: Hashable, Sendable {
    /// Another process has the file for a moment: the writer tries the same again.
    case retry
    /// There is no room, and nothing of the transaction is in the file: it is refused, and the log goes on.
    case outOfSpace
    /// The contents of the file are uncertain: the log accepts no more appends.
    case uncertain

    /// The activity of the connection.
    package enum Phase: CaseIterable, Hashable, Sendable {
        /// Beginning a transaction.
        case begin
        /// Changing rows in one.
        case write
        /// Making it durable.
        case commit
        /// Moving what is durable in the write-ahead log into the file.
        case checkpoint
    }

    /// Decides.
    ///
    /// - Parameters:
    ///   - code: SQLite's extended result code.
    ///   - systemError: the `errno` of the file.
    ///   - phase: the activity of the connection.
    ///   - isUndone: whether it was verified that the transaction is over and its newest record is not in the file. A
    ///     checkpoint undoes nothing: what it moves stays in the write-ahead log until all of it is synchronised.
    package init(code: Int32, systemError: Int32, phase: Phase, isUndone: Bool) {
        guard isUndone || phase == .checkpoint else {
            self = .uncertain
            return
        }
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: self = .retry
        case SQLITE_FULL: self = .outOfSpace
        // SQLite says FULL for ENOSPC only; a quota and a limit of the process are room too.
        case SQLITE_IOERR where code == Self.writeFailed && [ENOSPC, EDQUOT, EFBIG].contains(systemError):
            self = .outOfSpace
        default: self = .uncertain
        }
    }

    /// SQLITE_IOERR_WRITE, which is a macro that Swift does not see.
    private static let writeFailed = SQLITE_IOERR | (3 << 8)
}

/// A failure of the log's writing connection, decided.
struct LogWriteError: Error {
    let failure: LogFailure
    /// The error as a sentence for people.
    let sentence: String

    /// Decides about what a connection threw; to be called before the connection does anything else.
    init(_ error: any Error, in phase: LogFailure.Phase, on database: Database, isUndone: () -> Bool) {
        self.sentence = StoreFile.sentence(error)
        guard let error = error as? DatabaseError else {
            self.failure = .uncertain
            return
        }
        let systemError = database.lastSystemError(ofWriteAheadLog: phase != .checkpoint)
        self.failure = LogFailure(
            code: error.extendedResultCode.rawValue,
            systemError: systemError,
            phase: phase,
            isUndone: isUndone()
        )
    }
}

extension Database {
    /// The `errno` of the newest call that failed on the file, or on its write-ahead log; 0: none did.
    ///
    /// `sqlite3_system_errno` reads `errno` later, when other calls have changed it.
    fileprivate func lastSystemError(ofWriteAheadLog isLog: Bool) -> Int32 {
        guard let connection = unsafe self.sqliteConnection else { return 0 }
        var file: UnsafeMutablePointer<sqlite3_file>?
        let which = isLog ? SQLITE_FCNTL_JOURNAL_POINTER : SQLITE_FCNTL_FILE_POINTER
        guard unsafe sqlite3_file_control(connection, "main", which, &file) == SQLITE_OK, let file = unsafe file,
            let methods = unsafe file.pointee.pMethods
        else { return 0 }
        var number: Int32 = 0
        guard unsafe methods.pointee.xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number) == SQLITE_OK else { return 0 }
        return number
    }
}
