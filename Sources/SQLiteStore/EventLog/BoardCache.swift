// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GRDB
package import GatewayCore
import Synchronization

/// The newest snapshot of the board of a gateway whose log is not in its data directory: so a start does not read the whole lane.
///
/// It is a cache: where its file is missing or damaged, the start reads the lane. It is also a memory of the log: a log that ends before the
/// snapshot, or has another record there, went back.
///
/// ```swift
/// let cache = try await BoardCache.open(in: directory, of: log)
/// let parts = LogParts(log: log, snapshots: cache, watermarks: cache, maintenance: nil)
/// ```
package final class BoardCache: SnapshotStore, RetentionWatermarks, CachingStore {
    /// The name of the file in the data directory.
    package static let fileName = "board.sqlite"

    private let connection: StoreConnection<BoardCacheWriter>
    let log: any EventLog
    /// The manifest of the snapshot of the log that was taken last; `nil`: none was.
    let taken = Mutex<UInt64?>(nil)

    private init(_ file: String, log: any EventLog) throws(StoreError) {
        let settings = StoreFile.Settings(
            writerCacheKiB: 8 * 1_024,
            readerCacheKiB: 1_024,
            autocheckpointPages: 4_096,
            walBytesKept: 16 * 1_048_576
        )
        let pool = try StoreFile.open(file, settings: settings, migrator: BoardCacheSchema.migrator)
        do {
            self.connection = try StoreConnection(pool) { database in
                let problems = try String.fetchAll(database, sql: "PRAGMA quick_check(1)")
                guard problems == ["ok"] else {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: problems.joined(separator: "; "))
                }
                return BoardCacheWriter()
            }
        } catch {
            try? pool.close()
            throw .damaged(file: file, reason: StoreFile.sentence(error))
        }
        self.log = log
    }

    /// Opens the cache, or makes it; a damaged one is begun anew.
    ///
    /// - Parameters:
    ///   - directory: held, and taken for this log (`SharedLogMark`).
    ///   - log: open.
    /// - Returns: the cache, with a snapshot that the log goes on from, or without one.
    /// - Throws: `unusable` where the log went back or cannot be read, or where no file can be made.
    package static func open(in directory: StoreDirectory, of log: any EventLog) async throws(StoreError) -> BoardCache
    {
        let file = directory.file(Self.fileName)
        let cache: BoardCache
        do throws(StoreError) {
            cache = try BoardCache(file, log: log)
        } catch .damaged {
            for suffix in ["", "-wal", "-shm"] { StoreFiles.remove(file + suffix) }
            cache = try BoardCache(file, log: log)
        }
        do throws(StoreError) {
            try await cache.compare(in: directory)
        } catch {
            await cache.close()
            throw error
        }
        return cache
    }

    /// Looks whether the log has the record of the snapshot.
    private func compare(in directory: StoreDirectory) async throws(StoreError) {
        do {
            guard let head = try await self.connection.read({ try BoardCacheSchema.head($0) }) else { return }
            guard head.logID == self.log.identity.logID.description else {
                // Of another log: the mark of the directory has said that it does not matter.
                return try await self.connection.write { database, _ in try BoardCacheSchema.clear(database) }
            }
            let newest = try await self.log.head(of: .breaks)
            guard head.offset <= newest else {
                throw SharedLogMark.wentBack(
                    "the lane \(Lane.breaks) ends at record \(newest), and the board has record \(head.offset)",
                    in: directory.path
                )
            }
            let record = try await self.log.read(.breaks, after: head.offset - 1, recordsMax: 1, bytesMax: 1).first
            guard record?.offset == head.offset, record?.digest == head.digest else {
                throw SharedLogMark.wentBack(
                    "the lane \(Lane.breaks) has another record \(head.offset) than the one that the board has",
                    in: directory.path
                )
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unusable(directory: directory.path, reason: "the board cannot be compared with the log: \(error)")
        }
    }

    package func releaseCaches() async { await self.connection.releaseCaches() }
    package func cacheBytes() async -> Int { await self.connection.cacheBytes() }

    package func save(_ portion: SnapshotPortion, of lane: Lane) async throws(EventLogError) {
        guard lane == .breaks else { throw .failed("no snapshot is kept of the lane \(lane)") }
        var digest: UInt64?
        if portion.isLast {
            // Asked first: reading waits for a record that is not there.
            guard try await self.log.head(of: lane) >= portion.offset else {
                throw .failed("a snapshot of the lane \(lane) at \(portion.offset) is ahead of its head")
            }
            let record = try await self.log.read(lane, after: portion.offset - 1, recordsMax: 1, bytesMax: 1).first
            guard let record, record.offset == portion.offset else {
                throw .failed("a snapshot of the lane \(lane) at \(portion.offset) is ahead of its head")
            }
            digest = record.digest
        }
        let (logID, last) = (self.log.identity.logID.description, digest)
        let isTaken = try await self.writing { database, writer in
            try writer.take(portion, logID: logID, digest: last, database)
        }
        guard isTaken else { throw .failed("a portion of a snapshot of the lane \(lane) follows none") }
    }

    /// Keeps a portion of another snapshot, which takes the place of everything with its last one.
    func replace(by portion: SnapshotPortion, digest: UInt64) async throws(EventLogError) {
        let logID = self.log.identity.logID.description
        let isTaken = try await self.writing { database, writer in
            try writer.take(portion, logID: logID, digest: digest, replacesAll: true, database)
        }
        guard isTaken else { throw .failed("a portion of a snapshot follows none") }
    }

    /// Forgets the snapshot.
    func drop() async throws(EventLogError) {
        try await self.writing { database, _ in try BoardCacheSchema.clear(database) }
    }

    package func snapshotOffset(of lane: Lane) async throws(EventLogError) -> UInt64? {
        guard lane == .breaks else { return nil }
        return try await self.reading { try BoardCacheSchema.head($0)?.offset }
    }

    package func snapshotParts(
        of lane: Lane,
        after key: String?,
        bytesMax: Int
    ) async throws(EventLogError) -> [SnapshotPart] {
        guard lane == .breaks else { return [] }
        return try await self.reading { try BoardCacheSchema.parts($0, after: key, bytesMax: bytesMax) }
    }

    /// No record of a shared log is forgotten.
    package func advance(_ reader: LogReader, in lane: Lane, through offset: UInt64) {}

    package func release(keeping records: UInt64) async throws(EventLogError) {}

    package func close() async { await self.connection.close { _, _ in } }

    private func reading<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(EventLogError) -> Value {
        do {
            return try await self.connection.read(body)
        } catch is StoreClosed {
            throw .closed
        } catch let error as DatabaseError where [.SQLITE_MISUSE, .SQLITE_INTERRUPT].contains(error.resultCode) {
            // Closing interrupts readers, and refuses new ones.
            throw .closed
        } catch {
            throw .failed(StoreFile.sentence(error))
        }
    }

    private func writing<Value: Sendable>(
        _ body: @escaping @Sendable (Database, BoardCacheWriter) throws -> Value
    ) async throws(EventLogError) -> Value {
        do {
            return try await self.connection.write(body)
        } catch is StoreClosed {
            throw .closed
        } catch {
            throw .failed(StoreFile.sentence(error))
        }
    }
}

/// The tables of the cache.
enum BoardCacheSchema {
    /// The snapshot that readers see.
    struct Head: Hashable, Sendable {
        let logID: String
        let offset: UInt64
        /// Of the record at that offset.
        let digest: UInt64
    }

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(
                sql: """
                    CREATE TABLE parts (key BLOB PRIMARY KEY, bytes BLOB NOT NULL) STRICT, WITHOUT ROWID;
                    -- Of a change that has not ended; without bytes: the part is no more.
                    CREATE TABLE coming (key BLOB PRIMARY KEY, bytes BLOB) STRICT, WITHOUT ROWID;
                    CREATE TABLE head (
                        one INTEGER PRIMARY KEY CHECK (one = 1), log TEXT NOT NULL, offset INTEGER NOT NULL,
                        digest INTEGER NOT NULL
                    ) STRICT;
                    """
            )
        }
        return migrator
    }

    static func head(_ database: Database) throws -> Head? {
        guard let row = try Row.fetchOne(database, sql: "SELECT log, offset, digest FROM head") else { return nil }
        let (logID, offset, digest): (String, Int64, Int64) = (row[0], row[1], row[2])
        guard offset > 0 else { return nil }
        return Head(logID: logID, offset: UInt64(offset), digest: UInt64(bitPattern: digest))
    }

    static func clear(_ database: Database) throws {
        try database.inTransaction(.immediate) {
            try database.execute(sql: "DELETE FROM head; DELETE FROM parts; DELETE FROM coming")
            return .commit
        }
    }

    static func parts(_ database: Database, after key: String?, bytesMax: Int) throws -> [SnapshotPart] {
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT key, bytes FROM parts WHERE ? IS NULL OR key > ? ORDER BY key",
            arguments: [key.map { Data($0.utf8) }, key.map { Data($0.utf8) }]
        )
        var parts: [SnapshotPart] = []
        var bytes = 0
        while let row = try rows.next() {
            let (key, content): (Data, Data) = (row[0], row[1])
            parts.append(SnapshotPart(key: String(decoding: key, as: UTF8.self), bytes: Array(content)))
            bytes += content.count
            if bytes >= bytesMax { break }
        }
        return parts
    }
}

/// The state of the writing connection.
///
/// Safety: touched only on that connection's queue (`StoreConnection`).
private final class BoardCacheWriter: @unchecked Sendable {
    /// The offset of the change whose portions are coming; `nil`: none is.
    private var coming: UInt64?

    /// Keeps a portion; the last one of a change makes all of it what readers see.
    ///
    /// - Returns: whether it follows the portions before it.
    func take(
        _ portion: SnapshotPortion,
        logID: String,
        digest: UInt64?,
        replacesAll: Bool = false,
        _ database: Database
    ) throws -> Bool {
        guard portion.isFirst || self.coming == portion.offset else { return false }
        try database.inTransaction(.immediate) {
            if portion.isFirst { try database.execute(sql: "DELETE FROM coming") }
            for part in portion.parts {
                try database.execute(
                    sql: "INSERT OR REPLACE INTO coming (key, bytes) VALUES (?, ?)",
                    arguments: [Data(part.key.utf8), Data(part.bytes)]
                )
            }
            for key in portion.removed {
                try database.execute(
                    sql: "INSERT OR REPLACE INTO coming (key, bytes) VALUES (?, NULL)",
                    arguments: [Data(key.utf8)]
                )
            }
            if portion.isLast {
                if replacesAll { try database.execute(sql: "DELETE FROM parts; DELETE FROM head") }
                try Self.settle(portion.offset, logID: logID, digest: digest ?? 0, database)
            }
            return .commit
        }
        self.coming = portion.isLast ? nil : portion.offset
        return true
    }

    private static func settle(_ offset: UInt64, logID: String, digest: UInt64, _ database: Database) throws {
        // A snapshot at a later offset stays.
        guard try BoardCacheSchema.head(database).map({ $0.offset <= offset }) ?? true else { return }
        try database.execute(
            sql: """
                DELETE FROM parts WHERE key IN (SELECT key FROM coming WHERE bytes IS NULL);
                INSERT OR REPLACE INTO parts (key, bytes) SELECT key, bytes FROM coming WHERE bytes IS NOT NULL;
                DELETE FROM coming;
                """
        )
        try database.execute(
            sql: "INSERT OR REPLACE INTO head (one, log, offset, digest) VALUES (1, ?, ?, ?)",
            arguments: [logID, Int64(clamping: offset), Int64(bitPattern: digest)]
        )
    }
}
