// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GRDB
import GatewayCore

/// The tables of the event log, and what is read from them.
enum EventLogSchema {
    /// A record's key is its lane's number times this plus its offset, so that one integer orders the records of a
    /// lane.
    static let offsetsPerLaneMax = Int64(EventLogLimits.offsetsPerLaneMax)
    /// The most lanes; their keys fit into 64 bits.
    static let lanesMax = 1_024

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        // Files of development versions before the first release have other names here, and are refused.
        migrator.registerMigration("log 0.1.0") { database in
            try database.execute(
                sql: """
                    -- `first_kept`: records before this offset were pruned.
                    CREATE TABLE lanes (
                        lane INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, first_kept INTEGER NOT NULL DEFAULT 1
                    ) STRICT;
                    CREATE TABLE records (record_key INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
                    -- A part as it is from a generation of its snapshot on; without bytes: it is no more.
                    CREATE TABLE snapshot_parts (
                        part INTEGER PRIMARY KEY, lane INTEGER NOT NULL, key TEXT NOT NULL, generation INTEGER NOT NULL,
                        bytes BLOB
                    ) STRICT;
                    CREATE UNIQUE INDEX snapshot_part_keys ON snapshot_parts (lane, key, generation);
                    CREATE INDEX snapshot_part_generations ON snapshot_parts (lane, generation);
                    -- What readers see: of each key the newest up to `generation`.
                    CREATE TABLE snapshot_heads (
                        lane INTEGER PRIMARY KEY, offset INTEGER NOT NULL, generation INTEGER NOT NULL
                    ) STRICT;
                    """
            )
            try StoreIdentity.createTables(database)
            // The epoch is not zero, so that "no epoch" can be told from one.
            let identity = LogIdentity(logID: .random(), epoch: .random(in: 1 ... .max))
            try StoreIdentity.write(identity, database)
        }
        return migrator
    }

    static func key(_ lane: Int64, _ offset: UInt64) -> Int64 { lane * Self.offsetsPerLaneMax + Int64(offset) }

    /// Where each lane stands.
    ///
    /// Nothing is written for it with each append: the newest key of a lane tells, and after everything was pruned,
    /// `first_kept`.
    static func lanes(_ database: Database) throws -> [EventLogState.LaneState] {
        try Row.fetchAll(database, sql: "SELECT lane, name, first_kept FROM lanes ORDER BY lane")
            .enumerated()
            .map { index, row in
                let number: Int64 = row[0]
                let firstKept: Int64 = row[2]
                guard number == Int64(index), firstKept >= 1 else {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table of lanes is damaged")
                }
                let newest = try Int64.fetchOne(
                    database,
                    sql: "SELECT max(record_key) FROM records WHERE record_key >= ? AND record_key < ?",
                    arguments: [Self.key(number, 0), Self.key(number + 1, 0)]
                )
                let head = max(newest.map { $0 - Self.key(number, 0) } ?? 0, firstKept - 1)
                return EventLogState.LaneState(
                    lane: Lane(name: row[1]),
                    firstKept: UInt64(firstKept),
                    head: UInt64(head)
                )
            }
    }

    /// Records of a lane after an offset, as far as they follow each other.
    static func records(
        _ database: Database,
        lane: (number: Int64, name: Lane),
        of identity: LogIdentity,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) throws -> [LoggedRecord] {
        var records: [LoggedRecord] = []
        var bytes = 0
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT record_key, bytes FROM records WHERE record_key > ? AND record_key < ?
                ORDER BY record_key LIMIT ?
                """,
            arguments: [Self.key(lane.number, offset), Self.key(lane.number + 1, 0), recordsMax]
        )
        var next = identity.following(offset, in: lane.name)
        while let row = try rows.next() {
            let key: Int64 = row[0]
            guard key == Self.key(lane.number, next) else { break }
            let record = LoggedRecord(
                offset: next,
                previous: identity.preceding(next, in: lane.name),
                bytes: try row.withUnsafeData(atIndex: 1) { $0.map { Array($0) } ?? [] }
            )
            records.append(record)
            next = identity.following(next, in: lane.name)
            bytes += record.bytes.count
            if bytes >= bytesMax { break }
        }
        return records
    }

    /// The bytes of a record; `nil`: it is not in the file.
    static func bytes(_ database: Database, lane: Int64, at offset: UInt64) throws -> [UInt8]? {
        guard offset < EventLogLimits.offsetsPerLaneMax else { return nil }
        let row = try Row.fetchOne(
            database,
            sql: "SELECT bytes FROM records WHERE record_key = ?",
            arguments: [Self.key(lane, offset)]
        )
        return try row?.withUnsafeData(atIndex: 0) { $0.map { Array($0) } ?? [] }
    }

    /// Looks for bytes in some records of a lane.
    ///
    /// - Parameters:
    ///   - database: to read.
    ///   - needle: the bytes to look for.
    ///   - lane: the number of the lane.
    ///   - offset: begins behind it.
    ///   - recordsMax: so many records are looked at.
    /// - Returns: the offsets of those that hold them, and of the last one that was looked at; `nil`: there is none.
    /// - Throws: the error of SQLite.
    static func search(
        _ database: Database,
        for needle: [UInt8],
        lane: Int64,
        after offset: UInt64,
        recordsMax: Int
    ) throws -> (found: [UInt64], last: UInt64?) {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT record_key, instr(bytes, ?) FROM records WHERE record_key > ? AND record_key < ?
                ORDER BY record_key LIMIT ?
                """,
            arguments: [Data(needle), Self.key(lane, offset), Self.key(lane + 1, 0), recordsMax]
        )
        var found: [UInt64] = []
        var last: UInt64?
        while let row = try rows.next() {
            let (key, place): (Int64, Int64) = (row[0], row[1])
            let offset = UInt64(key - Self.key(lane, 0))
            if place > 0 { found.append(offset) }
            last = offset
        }
        return (found, last)
    }

    /// Which parts of a lane's snapshot readers see.
    struct SnapshotHead {
        let offset: UInt64
        let generation: Int64
    }

    static func snapshotHead(_ database: Database, lane: Int64) throws -> SnapshotHead? {
        let row = try Row.fetchOne(
            database,
            sql: "SELECT offset, generation FROM snapshot_heads WHERE lane = ?",
            arguments: [lane]
        )
        return row.map { row in
            let offset: Int64 = row[0]
            return SnapshotHead(offset: UInt64(offset), generation: row[1])
        }
    }

    /// Parts of a lane's snapshot behind a key.
    static func snapshotParts(
        _ database: Database,
        lane: Int64,
        after key: String?,
        bytesMax: Int
    ) throws -> [SnapshotPart] {
        guard let head = try Self.snapshotHead(database, lane: lane) else { return [] }
        var parts: [SnapshotPart] = []
        var bytes = 0
        var last = key
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT key, bytes FROM snapshot_parts
                WHERE lane = ?1 AND key >= ?2 AND generation <= ?3
                ORDER BY key, generation DESC
                """,
            arguments: [lane, key ?? "", head.generation]
        )
        while let row = try rows.next() {
            let key: String = row[0]
            // The newest of a key comes first.
            guard key != last else { continue }
            last = key
            let found = try row.withUnsafeData(atIndex: 1) { $0.map { Array($0) } }
            guard let found else { continue }
            parts.append(SnapshotPart(key: key, bytes: found))
            bytes += found.count + Self.partOverheadBytes
            if bytes >= bytesMax { break }
        }
        return parts
    }

    /// The memory of a part beside its bytes.
    private static let partOverheadBytes = 64
}
