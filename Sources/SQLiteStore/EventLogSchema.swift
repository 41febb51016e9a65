// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GRDB
import GatewayCore

/// The tables of the event log, and what is read from them.
enum EventLogSchema {
    /// A record's key is its lane's number times this plus its offset, so that one integer orders the records of a lane.
    static let offsetsPerLaneMax = Int64(EventLogLimits.offsetsPerLaneMax)
    /// The most lanes; their keys fit into 64 bits.
    static let lanesMax = 1_024

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("log 1") { database in
            try database.execute(
                sql: """
                    CREATE TABLE history (epoch INTEGER NOT NULL) STRICT;
                    -- `first_kept`: records before this offset were pruned.
                    CREATE TABLE lanes (
                        lane INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, first_kept INTEGER NOT NULL DEFAULT 1
                    ) STRICT;
                    CREATE TABLE records (record_key INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
                    CREATE TABLE snapshots (lane INTEGER PRIMARY KEY, offset INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;
                    """
            )
            // Not zero, so that "no epoch" can be told from one.
            let epoch = Int64(bitPattern: UInt64.random(in: 1 ... .max))
            try database.execute(sql: "INSERT INTO history (epoch) VALUES (?)", arguments: [epoch])
        }
        migrator.registerMigration("log 2: identity") { database in
            let epoch = try Int64.fetchOne(database, sql: "SELECT epoch FROM history") ?? 0
            guard epoch != 0 else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the epoch is missing")
            }
            try StoreIdentity.createTables(database)
            let isUsed = try Bool.fetchOne(database, sql: "SELECT 1 FROM lanes") ?? false
            // The id of a log of the version before follows from its epoch: all copies of it come to the same.
            let number = UInt64(bitPattern: epoch)
            let logID = isUsed ? LogID(high: number, low: StableHash.mixed(number)) : LogID.random()
            try StoreIdentity.write(LogIdentity(logID: logID, epoch: number), database)
            try database.execute(sql: "DROP TABLE history")
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

    static func snapshot(_ database: Database, lane: Int64) throws -> LaneSnapshot? {
        let row = try Row.fetchOne(
            database,
            sql: "SELECT offset, bytes FROM snapshots WHERE lane = ?",
            arguments: [lane]
        )
        guard let row else { return nil }
        let offset: Int64 = row[0]
        return LaneSnapshot(
            offset: UInt64(offset),
            bytes: try row.withUnsafeData(atIndex: 1) { $0.map { Array($0) } ?? [] }
        )
    }
}
