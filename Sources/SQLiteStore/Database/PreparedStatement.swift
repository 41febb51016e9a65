// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GRDB
import GRDBSQLite

/// A prepared statement with exactly one owner, for what is done a hundred thousand times a second.
///
/// GRDB's own statements box every argument; this one binds integers and bytes as they are.
///
/// ```swift
/// statement.bind(1, number)
/// statement.bind(2, bytes)  // which stay where they are until the statement has run
/// try statement.run()
/// ```
///
/// Only for the queue of its connection, like everything that touches the connection.
@safe
struct PreparedStatement: ~Copyable {
    private let handle: OpaquePointer
    private let connection: OpaquePointer

    init(_ sql: String, in database: Database) throws {
        guard let connection = unsafe database.sqliteConnection else { throw StoreClosed() }
        var handle: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle = unsafe handle else {
            throw unsafe Self.error(code, on: connection)
        }
        unsafe self.handle = handle
        unsafe self.connection = connection
    }

    deinit { unsafe sqlite3_finalize(self.handle) }

    /// Binds an integer; parameters are counted from 1.
    func bind(_ index: Int32, _ value: Int64) {
        let code = unsafe sqlite3_bind_int64(self.handle, index, value)
        // The only ways to fail are an index that does not exist and a statement that is running: mistakes of ours.
        precondition(code == SQLITE_OK, "the statement has no parameter \(index), or it is running")
    }

    /// Binds nothing.
    func bindNull(_ index: Int32) {
        let code = unsafe sqlite3_bind_null(self.handle, index)
        precondition(code == SQLITE_OK, "the statement has no parameter \(index), or it is running")
    }

    /// Binds bytes without copying them: they must not move or change until the statement has run.
    func bind(_ index: Int32, unsafeBytes bytes: UnsafeRawBufferPointer) {
        // A null pointer would bind NULL; no bytes are still bytes.
        let code =
            if let address = bytes.baseAddress {
                unsafe sqlite3_bind_blob64(self.handle, index, address, UInt64(bytes.count), nil)
            } else {
                unsafe sqlite3_bind_zeroblob(self.handle, index, 0)
            }
        precondition(code == SQLITE_OK, "the statement has no parameter \(index), or it is running, or is too long")
    }

    /// Runs a statement that returns no rows.
    func run() throws {
        let code = unsafe sqlite3_step(self.handle)
        guard code == SQLITE_DONE else {
            let error = unsafe Self.error(code, on: self.connection)
            unsafe sqlite3_reset(self.handle)
            throw error
        }
        unsafe sqlite3_reset(self.handle)
    }

    /// Runs a statement that inserts a row or does nothing.
    ///
    /// - Returns: whether there is a new row.
    func runInserts() throws -> Bool {
        try self.run()
        return unsafe sqlite3_changes(self.connection) == 1
    }

    /// Runs a query for one integer.
    ///
    /// - Returns: the first column of the first row; `nil` where there is no row.
    func integer() throws -> Int64? {
        let code = unsafe sqlite3_step(self.handle)
        let value: Int64? = code == SQLITE_ROW ? unsafe sqlite3_column_int64(self.handle, 0) : nil
        let error = code == SQLITE_ROW || code == SQLITE_DONE ? nil : unsafe Self.error(code, on: self.connection)
        unsafe sqlite3_reset(self.handle)
        if let error { throw error }
        return value
    }

    /// One row of a query, as long as the call lasts that has it.
    @safe
    struct Row: ~Copyable {
        fileprivate let handle: OpaquePointer

        /// The integer in a column; columns are counted from 0.
        ///
        /// What is no integer is made one, as SQLite does it: `NULL` is 0.
        func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(self.handle, column) }
    }

    /// Runs a query, and calls `body` with each row.
    func forEachRow(_ body: (borrowing Row) -> Void) throws {
        let row = unsafe Row(handle: self.handle)
        var code = unsafe sqlite3_step(self.handle)
        while code == SQLITE_ROW {
            body(row)
            code = unsafe sqlite3_step(self.handle)
        }
        let error = code == SQLITE_DONE ? nil : unsafe Self.error(code, on: self.connection)
        unsafe sqlite3_reset(self.handle)
        if let error { throw error }
    }

    private static func error(_ code: Int32, on connection: OpaquePointer) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code),
            message: unsafe String(cString: sqlite3_errmsg(connection))
        )
    }
}
