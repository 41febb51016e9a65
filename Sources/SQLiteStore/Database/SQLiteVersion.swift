// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GRDBSQLite

/// The SQLite library in use, which need not be the one that was compiled against.
package enum SQLiteVersion {
    /// Its version, such as `3.40.1`.
    package static var text: String { unsafe String(cString: sqlite3_libversion()) }
}
