// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GRDB
package import GatewayCore

/// A backup of a log that several gateways share: all its records, in a file of SQLite.
///
/// ```swift
/// let backup = try await SharedLogBackup.open("/mnt/backup/2026-11-28")
/// try await backup.forEachPortion(of: .breaks, after: head) { try await target.append($0, to: .breaks) }
/// ```
package final class SharedLogBackup: Sendable {
    /// The name of the file in the backup's folder.
    package static let fileName = "shared-log.sqlite"
    /// All lanes of a log; the breaks come last, so that they are there for all acknowledgements that are.
    package static let lanes = Lane.acknowledgementLanes + [.breaks]

    package let folder: String
    package let manifest: BackupManifest
    /// As it was when the backup was made.
    package let identity: LogIdentity
    /// The newest record of each lane.
    package let heads: [Lane: UInt64]
    package let forgotten: ForgottenInLog
    private let queue: DatabaseQueue

    private init(_ folder: String, _ manifest: BackupManifest, _ queue: DatabaseQueue) throws {
        let (identity, forgotten) = try queue.read { database in
            (try StoreIdentity.log(database), try SharedLogBackupSchema.forgotten(database))
        }
        guard identity.logID.description == manifest.logID, String(identity.epoch, radix: 16) == manifest.epoch else {
            throw BackupError.damaged("\(Self.fileName) and the manifest in \(folder) are of different logs")
        }
        var heads: [Lane: UInt64] = [:]
        for lane in Self.lanes {
            let head = try queue.read { try SharedLogBackupSchema.head(of: lane, identity, $0) }
            guard let head, head == manifest.logOffsets[lane.description] else {
                throw BackupError.damaged("\(folder)/\(Self.fileName) lacks records of the lane \(lane)")
            }
            heads[lane] = head
        }
        (self.folder, self.manifest, self.queue) = (folder, manifest, queue)
        (self.identity, self.heads, self.forgotten) = (identity, heads, forgotten)
    }

    /// Opens a backup, and makes sure that it is whole.
    ///
    /// - Parameter folder: of the backup; it stays as it is.
    /// - Returns: the backup.
    /// - Throws: `damaged` where it is not as it was written, or is of something else.
    package static func open(_ folder: String) async throws(BackupError) -> SharedLogBackup {
        let manifest = try StoreBackups.manifest(in: folder)
        guard let expected = manifest.files[Self.fileName] else {
            throw .damaged("\(folder) is the backup of one gateway with a log of its own: use 'cuecast restore'")
        }
        do {
            let path = folder + "/" + Self.fileName
            guard FileManager.default.fileExists(atPath: path) else {
                throw BackupError.damaged("there is no \(Self.fileName) in \(folder)")
            }
            let found = try await StoreFiles.onAnotherThread { try StoreBackups.file(path) }
            guard found == expected else { throw BackupError.damaged("\(path) is not as it was written") }
            let problems = try await StoreFiles.problems(of: path)
            if let problem = problems.first { throw BackupError.damaged("\(path): \(problem)") }
            return try await StoreFiles.onAnotherThread {
                let queue = try StoreFiles.reader(of: path)
                try queue.read { try StoreFile.requireKnown($0, SharedLogBackupSchema.migrator, file: path) }
                return try SharedLogBackup(folder, manifest, queue)
            }
        } catch {
            throw StoreBackups.backupError(error)
        }
    }

    /// Reads records of a lane in portions of a bounded size.
    ///
    /// - Parameters:
    ///   - lane: which lane.
    ///   - offset: begins behind it.
    ///   - last: ends with it; `nil`: with the newest record.
    ///   - body: gets each portion.
    /// - Throws: `BackupError` where the file cannot be read, and the errors of `body`.
    package func forEachPortion(
        of lane: Lane,
        after offset: UInt64,
        through last: UInt64? = nil,
        _ body: ([LoggedRecord]) async throws -> Void
    ) async throws {
        let end = last ?? self.heads[lane] ?? 0
        var offset = offset
        while offset < end {
            try Task.checkCancellation()
            let records = try await self.portion(of: lane, after: offset, through: end)
            try await body(records)
            offset = records.last?.offset ?? end
        }
    }

    /// - Returns: at least one record.
    /// - Throws: `failed` where the file cannot be read, and `damaged` where it ends before.
    private func portion(of lane: Lane, after offset: UInt64, through end: UInt64) async throws -> [LoggedRecord] {
        let (queue, identity) = (self.queue, self.identity)
        let records: [LoggedRecord]
        do {
            records = try await StoreFiles.onAnotherThread {
                try queue.read { database in
                    try SharedLogBackupSchema.records(of: lane, after: offset, through: end, identity, database)
                }
            }
        } catch {
            throw StoreBackups.backupError(error)
        }
        guard !records.isEmpty else {
            throw BackupError.damaged("\(self.folder)/\(Self.fileName) ends before record \(end) of \(lane)")
        }
        return records
    }

    /// The newest record of the last lane that has any; `nil`: there are no records.
    ///
    /// A restore stores it only when all others were compared.
    package var last: (lane: Lane, offset: UInt64)? {
        Self.lanes.last { self.heads[$0] ?? 0 > 0 }.map { ($0, self.heads[$0] ?? 0) }
    }

    /// Compares records with those that servers have: bytes, writers, and when they were stored first.
    ///
    /// - Parameters:
    ///   - shared: the log that is being restored.
    ///   - begins: behind which record of each lane.
    ///   - ends: up to which record of each lane.
    ///   - progress: told which record of which lane was compared.
    /// - Returns: the first difference of each lane; none: they are the same.
    /// - Throws: `BackupError` where the file cannot be read, and where the servers cannot be.
    package func compare(
        with shared: any InspectedLog,
        after begins: [Lane: UInt64] = [:],
        through ends: [Lane: UInt64],
        progress: (Lane, UInt64) -> Void
    ) async throws -> LedgerDifferences {
        var differences = LedgerDifferences()
        for lane in Self.lanes {
            let end = ends[lane] ?? 0
            let difference = try await RecordComparison.firstDifference(
                of: lane,
                after: begins[lane] ?? 0,
                through: end,
                source: { try await self.portion(of: lane, after: $0, through: end) },
                shared: { offset in
                    let portion = try await shared.portion(
                        of: lane,
                        after: offset,
                        recordsMax: RecordComparison.recordsMax,
                        bytesMax: RecordComparison.bytesMax
                    )
                    return portion.faults.isEmpty ? portion.records : []
                },
                isSame: { $0.bytes == $1.bytes && $0.mark == $1.mark },
                equal: { pairs in
                    if let last = pairs.last { progress(lane, last.0.offset) }
                }
            )
            if let difference { differences.add(difference) }
        }
        return differences
    }

    /// The files of the backup that gateways on new data directories need.
    package var filesToCopy: [String] {
        KeyBackup.files.filter { self.manifest.files[$0] != nil }.map { self.folder + "/" + $0 }
    }

    package func close() { try? self.queue.close() }
}

/// The tables of a backup of a shared log.
enum SharedLogBackupSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try StoreIdentity.createTables(database)
            try database.execute(
                sql: """
                    -- `origin`, `number`, `at_us`: the writer of the record, its number, and when it was stored.
                    CREATE TABLE records (
                        lane TEXT NOT NULL, offset INTEGER NOT NULL, origin INTEGER, number INTEGER, at_us INTEGER,
                        bytes BLOB NOT NULL, PRIMARY KEY (lane, offset)
                    ) STRICT;
                    CREATE TABLE forgotten_key (key TEXT NOT NULL) STRICT;
                    CREATE TABLE forgotten (hash INTEGER PRIMARY KEY, at_us INTEGER NOT NULL) STRICT;
                    """
            )
        }
        return migrator
    }

    static func insert(_ records: [LoggedRecord], _ lane: Lane, _ database: Database) throws {
        let statement = try database.cachedStatement(
            sql: "INSERT INTO records (lane, offset, origin, number, at_us, bytes) VALUES (?, ?, ?, ?, ?, ?)"
        )
        for record in records {
            try statement.execute(arguments: [
                lane.description, Int64(clamping: record.offset), record.mark.map { Int64(bitPattern: $0.id.origin) },
                record.mark.map { Int64(bitPattern: $0.id.number) }, record.mark?.at.microseconds, Data(record.bytes),
            ])
        }
    }

    /// At least one record, where there is one.
    static func records(
        of lane: Lane,
        after offset: UInt64,
        through end: UInt64,
        _ identity: LogIdentity,
        _ database: Database
    ) throws -> [LoggedRecord] {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT offset, origin, number, at_us, bytes FROM records WHERE lane = ? AND offset > ? AND offset <= ?
                ORDER BY offset LIMIT ?
                """,
            arguments: [
                lane.description, Int64(clamping: offset), Int64(clamping: end), RecordComparison.recordsMax,
            ]
        )
        var records: [LoggedRecord] = []
        var size = 0
        while size < RecordComparison.bytesMax, let row = try rows.next() {
            let (place, bytes): (Int64, Data) = (row[0], row[4])
            let writer: (origin: Int64?, number: Int64?, at: Int64?) = (row[1], row[2], row[3])
            var mark: AppendMark?
            if let origin = writer.origin, let number = writer.number, let at = writer.at {
                let id = AppendID(origin: UInt64(bitPattern: origin), number: UInt64(bitPattern: number))
                mark = AppendMark(id, at: Timestamp(microseconds: at))
            }
            let offset = UInt64(clamping: place)
            records.append(
                LoggedRecord(
                    offset: offset,
                    previous: identity.preceding(offset, in: lane),
                    bytes: Array(bytes),
                    mark: mark
                )
            )
            size += bytes.count
        }
        return records
    }

    /// The newest record of a lane; `nil`: one before it is missing.
    static func head(of lane: Lane, _ identity: LogIdentity, _ database: Database) throws -> UInt64? {
        let offsets = try Int64.fetchCursor(
            database,
            sql: "SELECT offset FROM records WHERE lane = ? ORDER BY offset",
            arguments: [lane.description]
        )
        var last: UInt64 = 0
        while let offset = try offsets.next() {
            let found = UInt64(clamping: offset)
            guard found > last, identity.preceding(found, in: lane) == last else { return nil }
            last = found
        }
        return last
    }

    static func write(_ forgotten: ForgottenInLog, _ database: Database) throws {
        if let key = forgotten.key {
            try database.execute(sql: "INSERT INTO forgotten_key (key) VALUES (?)", arguments: ["\(key)"])
        }
        for (hash, at) in forgotten.sessions {
            try database.execute(
                sql: "INSERT INTO forgotten (hash, at_us) VALUES (?, ?)",
                arguments: [Int64(bitPattern: hash), at.microseconds]
            )
        }
    }

    static func forgotten(_ database: Database) throws -> ForgottenInLog {
        var forgotten = ForgottenInLog()
        if let digits = try String.fetchOne(database, sql: "SELECT key FROM forgotten_key") {
            guard let key = ForgottenSessions.Key(digits: digits) else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the key of forgotten sessions is damaged")
            }
            forgotten.key = key
        }
        for row in try Row.fetchAll(database, sql: "SELECT hash, at_us FROM forgotten") {
            let (hash, at): (Int64, Int64) = (row[0], row[1])
            forgotten.sessions[UInt64(bitPattern: hash)] = Timestamp(microseconds: at)
        }
        return forgotten
    }
}
