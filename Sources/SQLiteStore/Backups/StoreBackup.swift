// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GRDB
import GRDBSQLite

/// SQLite's online backup from a writing connection into a file of its own.
///
/// What the same connection writes between two steps is carried into the copy by SQLite, so that writes do not make it
/// begin again; and nothing is read between the steps, so that the write-ahead log can be emptied meanwhile.
///
/// ```swift
/// let backup = try StoreBackup(from: database, to: path)
/// while try !backup.step(pages: 256) {}
/// try backup.finish()
/// ```
///
/// Safety: it is touched only on the queue of the connection that it copies from; nothing else knows its handles.
@safe
final class StoreBackup: @unchecked Sendable {
    private var destination: OpaquePointer?
    private var backup: OpaquePointer?
    /// How many pages were copied when the last step ended; each step makes it more unless the backup began again.
    private var done = 0
    /// How often it had to begin again or to wait, because another process wrote to the file, or a large transaction was rolled
    /// back.
    private(set) var restarts = 0

    /// Begins a backup.
    ///
    /// - Parameters:
    ///   - database: the writing connection; not in a transaction.
    ///   - path: a file that does not exist.
    /// - Throws: `StoreClosed`, or what SQLite says.
    init(from database: Database, to path: String) throws {
        guard let source = unsafe database.sqliteConnection else { throw StoreClosed() }
        var destination: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX
        let code = unsafe sqlite3_open_v2(path, &destination, flags, nil)
        guard code == SQLITE_OK, let destination = unsafe destination else {
            let error = unsafe Self.error(code, on: destination)
            unsafe sqlite3_close(destination)
            throw error
        }
        // A copy that is not finished is thrown away, so that it needs no journal; it is synchronised once it is whole, where no
        // caller waits for it.
        let settings = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -2048"
        let set = unsafe sqlite3_exec(destination, settings, nil, nil, nil)
        guard set == SQLITE_OK, let backup = unsafe sqlite3_backup_init(destination, "main", source, "main") else {
            let error = unsafe Self.error(set == SQLITE_OK ? sqlite3_errcode(destination) : set, on: destination)
            unsafe sqlite3_close(destination)
            throw error
        }
        unsafe self.destination = destination
        unsafe self.backup = backup
    }

    deinit { self.abandon() }

    /// Copies some pages.
    ///
    /// - Returns: whether all are there.
    func step(pages: Int) throws -> Bool {
        guard let backup = unsafe self.backup else { throw StoreClosed() }
        let code = unsafe sqlite3_backup_step(backup, Int32(clamping: max(1, pages)))
        switch code {
        case SQLITE_DONE: return true
        case SQLITE_OK, SQLITE_BUSY, SQLITE_LOCKED:
            let now = self.pages
            let done = now.total - now.remaining
            if code != SQLITE_OK || done <= self.done { self.restarts += 1 }
            self.done = done
            return false
        default: throw unsafe Self.error(code, on: self.destination)
        }
    }

    /// How many pages are to be copied in all, and how many of them are not yet.
    var pages: (total: Int, remaining: Int) {
        guard let backup = unsafe self.backup else { return (0, 0) }
        return unsafe (Int(sqlite3_backup_pagecount(backup)), Int(sqlite3_backup_remaining(backup)))
    }

    /// Ends a backup of which the last step said that everything is there.
    func finish() throws {
        let code = unsafe sqlite3_backup_finish(self.backup)
        unsafe self.backup = nil
        let error = code == SQLITE_OK ? nil : unsafe Self.error(code, on: self.destination)
        let closed = unsafe sqlite3_close(self.destination)
        unsafe self.destination = nil
        if let error { throw error }
        guard closed == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: closed)) }
    }

    /// Ends a backup that is not wanted any more; the file is of no use.
    func abandon() {
        if unsafe self.backup != nil { unsafe sqlite3_backup_finish(self.backup) }
        if unsafe self.destination != nil { unsafe sqlite3_close(self.destination) }
        unsafe self.backup = nil
        unsafe self.destination = nil
    }

    private static func error(_ code: Int32, on connection: OpaquePointer?) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code),
            message: unsafe connection.map { unsafe String(cString: sqlite3_errmsg($0)) }
        )
    }
}
