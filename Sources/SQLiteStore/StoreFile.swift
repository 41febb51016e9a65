// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GRDB

/// What the log's file and the ledger's have in common.
///
/// One connection does all writes and all checkpoints; readers are read-only. (SQLite before 3.51.3 can corrupt a file in
/// WAL mode when two connections write or checkpoint at the same moment.)
enum StoreFile {
    /// How many frames of the write-ahead log are written before the writer moves them into the file.
    static let checkpointFrames = 4_000

    /// Opens a file in WAL mode and brings its schema up to date.
    static func open(_ path: String, migrator: DatabaseMigrator) throws(StoreError) -> DatabasePool {
        var configuration = Configuration()
        configuration.maximumReaderCount = 2
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA wal_autocheckpoint = \(Self.checkpointFrames)")
        }
        do {
            let pool = try DatabasePool(path: path, configuration: configuration)
            guard try pool.read({ try !migrator.hasBeenSuperseded($0) }) else {
                throw StoreError.newerSchema(path: path)
            }
            try migrator.migrate(pool)
            return pool
        } catch let error as StoreError {
            throw error
        } catch {
            throw .damaged(path: path, reason: "\(error)")
        }
    }
}
