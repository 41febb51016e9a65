// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GRDB
import GRDBSQLite

extension Database {
    /// The memory of this connection's pages, in bytes (`SQLITE_DBSTATUS_CACHE_USED` in sqlite.org/c3ref/c_dbstatus_options.html).
    var cacheBytes: Int {
        guard let connection = unsafe self.sqliteConnection else { return 0 }
        var (bytes, unused): (Int32, Int32) = (0, 0)
        // Safety: the connection is open, this is its queue, and the call only writes into the two numbers.
        let code = unsafe sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_USED, &bytes, &unused, 0)
        return code == SQLITE_OK ? Int(bytes) : 0
    }
}
