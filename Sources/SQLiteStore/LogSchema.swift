// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GRDB
import GatewayCore

/// The tables of the event log, and every statement on them.
enum LogSchema {
    /// A record's key is its lane times this plus its offset: one integer, ascending within a lane.
    private static let offsetsPerLane: Int64 = 1 << 48

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(
                sql: """
                    CREATE TABLE history (epoch INTEGER NOT NULL);
                    CREATE TABLE lanes (
                        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, first_kept INTEGER NOT NULL DEFAULT 1,
                        snapshot_offset INTEGER, snapshot BLOB
                    );
                    CREATE TABLE records (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
                    """
            )
            // Not zero, so that "no epoch" can be told from one.
            let epoch = Int64(bitPattern: UInt64.random(in: 1 ... .max))
            try database.execute(sql: "INSERT INTO history (epoch) VALUES (?)", arguments: [epoch])
        }
        return migrator
    }

    static func load(_ database: Database) throws -> (epoch: UInt64, lanes: [Lane: LogState.LaneState]) {
        guard let epoch = try Int64.fetchOne(database, sql: "SELECT epoch FROM history") else {
            throw DatabaseError(message: "the epoch is missing")
        }
        var lanes: [Lane: LogState.LaneState] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT id, name, first_kept FROM lanes") {
            let id: Int64 = row["id"]
            let firstKept: Int64 = row["first_kept"]
            let last = try Int64.fetchOne(
                database,
                sql: "SELECT max(key) FROM records WHERE key BETWEEN ? AND ?",
                arguments: [Self.key(id, 0), Self.key(id + 1, 0) - 1]
            )
            var lane = LogState.LaneState(id: id)
            lane.firstKept = UInt64(firstKept)
            // After pruning everything the offsets go on where they were.
            lane.head = max(UInt64((last ?? 0) % Self.offsetsPerLane), lane.firstKept - 1)
            lane.next = lane.head + 1
            lanes[Lane(name: row["name"])] = lane
        }
        return (UInt64(bitPattern: epoch), lanes)
    }

    private static func key(_ lane: Int64, _ offset: UInt64) -> Int64 { lane * Self.offsetsPerLane + Int64(offset) }

    static func insert(_ batch: [WaitingAppend], into database: Database) throws {
        let insert = try database.cachedStatement(sql: "INSERT INTO records (key, bytes) VALUES (?, ?)")
        for each in batch {
            if each.offset == 1 { try Self.add(each.lane, id: each.laneID, to: database) }
            try insert.execute(arguments: [Self.key(each.laneID, each.offset), each.record.asData])
        }
    }

    private static func add(_ lane: Lane, id: Int64, to database: Database) throws {
        try database.execute(
            sql: "INSERT OR IGNORE INTO lanes (id, name) VALUES (?, ?)",
            arguments: [id, lane.description]
        )
    }

    static func records(
        _ database: Database,
        lane: Int64,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) throws -> [LoggedRecord] {
        var records: [LoggedRecord] = []
        var bytes = 0
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT key, bytes FROM records WHERE key > ? AND key < ? ORDER BY key LIMIT ?",
            arguments: [Self.key(lane, offset), Self.key(lane + 1, 0), recordsMax]
        )
        while let row = try rows.next() {
            let key: Int64 = row[0]
            let record = LoggedRecord(
                offset: UInt64(key % Self.offsetsPerLane),
                bytes: try row.withUnsafeData(atIndex: 1) { $0.map(Array.init) } ?? []
            )
            records.append(record)
            bytes += record.bytes.count
            if bytes >= bytesMax { break }
        }
        return records
    }

    static func save(_ snapshot: LaneSnapshot, of lane: Lane, into database: Database) throws {
        try database.execute(
            sql: "UPDATE lanes SET snapshot_offset = ?, snapshot = ? WHERE name = ?",
            arguments: [Int64(snapshot.offset), snapshot.bytes.asData, lane.description]
        )
    }

    static func snapshot(of lane: Lane, from database: Database) throws -> LaneSnapshot? {
        let row = try Row.fetchOne(
            database,
            sql: "SELECT snapshot_offset, snapshot FROM lanes WHERE name = ? AND snapshot IS NOT NULL",
            arguments: [lane.description]
        )
        guard let row else { return nil }
        let offset: Int64 = row[0]
        return LaneSnapshot(
            offset: UInt64(offset),
            bytes: try row.withUnsafeData(atIndex: 1) { $0.map(Array.init) } ?? []
        )
    }

    static func delete(_ offsets: ClosedRange<UInt64>, ofLane lane: Int64, from database: Database) throws {
        try database.execute(
            sql: "DELETE FROM records WHERE key BETWEEN ? AND ?",
            arguments: [Self.key(lane, offsets.lowerBound), Self.key(lane, offsets.upperBound)]
        )
        try database.execute(
            sql: "UPDATE lanes SET first_kept = ? WHERE id = ?",
            arguments: [Int64(offsets.upperBound) + 1, lane]
        )
    }
}
