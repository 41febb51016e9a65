// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GRDB
import GatewayCore

/// What the event log's writing connection does; it lives on that connection's queue.
final class EventLogWriter {
    private let insertRecord: PreparedStatement
    private let insertLane: PreparedStatement
    private let deleteRecords: PreparedStatement
    private let setFirstKept: PreparedStatement
    private let limits: SQLiteEventLog.Limits
    private let pageBytes: Int
    /// How many lanes the file knows: their numbers are 0 to this less one.
    private var lanesStored: Int
    /// About how much was written to the write-ahead log since it was last moved into the file.
    private var bytesSinceCheckpoint = 0

    init(_ database: Database, lanesStored: Int, limits: SQLiteEventLog.Limits) throws {
        self.insertRecord = try PreparedStatement(
            "INSERT INTO records (record_key, bytes) VALUES (?, ?)",
            in: database
        )
        self.insertLane = try PreparedStatement(
            "INSERT INTO lanes (lane, name) VALUES (?, CAST(? AS TEXT))",
            in: database
        )
        self.deleteRecords = try PreparedStatement(
            "DELETE FROM records WHERE record_key >= ? AND record_key <= ?",
            in: database
        )
        self.setFirstKept = try PreparedStatement("UPDATE lanes SET first_kept = ? WHERE lane = ?", in: database)
        self.lanesStored = lanesStored
        self.limits = limits
        self.pageBytes = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 4_096
    }

    /// Writes appends in one transaction; they are durable when this returns.
    ///
    /// - Parameters:
    ///   - batch: in the order of their offsets in each lane.
    ///   - lane: the name of a lane, by its number.
    ///   - database: the writing connection.
    /// - Throws: when nothing of it is in the file, or nobody knows what is.
    func write(_ batch: [WaitingAppend], lane: (Int) -> Lane, _ database: Database) throws {
        try database.inTransaction(.immediate) {
            for each in batch {
                try self.store(lanesThrough: each.lane, lane)
                try self.insert(each)
                self.bytesSinceCheckpoint += each.record.count + self.pageBytes
            }
            return .commit
        }
        self.bytesSinceCheckpoint += self.pageBytes
    }

    private func insert(_ append: WaitingAppend) throws {
        self.insertRecord.bind(1, EventLogSchema.key(Int64(append.lane), append.offset))
        try unsafe append.record.withUnsafeBytes { bytes in
            unsafe self.insertRecord.bind(2, unsafeBytes: bytes)
            try self.insertRecord.run()
        }
    }

    /// Gives the file the lanes up to a number that it does not know yet; to be called in a transaction.
    private func store(lanesThrough number: Int, _ lane: (Int) -> Lane) throws {
        while self.lanesStored <= number {
            self.insertLane.bind(1, Int64(self.lanesStored))
            let name = Array(lane(self.lanesStored).description.utf8)
            try unsafe name.withUnsafeBytes { bytes in
                unsafe self.insertLane.bind(2, unsafeBytes: bytes)
                try self.insertLane.run()
            }
            self.lanesStored += 1
        }
    }

    /// Keeps a snapshot, unless there is a newer one.
    func save(_ snapshot: LaneSnapshot, of number: Int, lane: (Int) -> Lane, _ database: Database) throws {
        try database.inTransaction(.immediate) {
            try self.store(lanesThrough: number, lane)
            let insert = try PreparedStatement(
                """
                INSERT INTO snapshots (lane, offset, bytes) VALUES (?, ?, ?)
                ON CONFLICT (lane) DO UPDATE SET offset = excluded.offset, bytes = excluded.bytes
                    WHERE excluded.offset >= snapshots.offset
                """,
                in: database
            )
            insert.bind(1, Int64(number))
            insert.bind(2, Int64(snapshot.offset))
            try unsafe snapshot.bytes.withUnsafeBytes { bytes in
                unsafe insert.bind(3, unsafeBytes: bytes)
                try insert.run()
            }
            return .commit
        }
        self.bytesSinceCheckpoint += snapshot.bytes.count + self.pageBytes
    }

    /// Deletes records of a lane: at most `recordsPerPruneMax` have these offsets.
    func delete(_ offsets: ClosedRange<UInt64>, of lane: Int, _ database: Database) throws {
        try database.inTransaction(.immediate) {
            self.deleteRecords.bind(1, EventLogSchema.key(Int64(lane), offsets.lowerBound))
            self.deleteRecords.bind(2, EventLogSchema.key(Int64(lane), offsets.upperBound))
            try self.deleteRecords.run()
            self.setFirstKept.bind(1, Int64(offsets.upperBound) + 1)
            self.setFirstKept.bind(2, Int64(lane))
            try self.setFirstKept.run()
            return .commit
        }
        let records = min(offsets.count, Int(clamping: SQLiteEventLog.recordsPerPruneMax))
        self.bytesSinceCheckpoint += (records / 8 + 4) * self.pageBytes
    }

    /// Moves the write-ahead log into the file when enough was written.
    ///
    /// It does not wait for readers, and leaves the log's file in place to be written over, which is faster than letting
    /// it grow anew. Only when readers have kept it from starting over for very long, it waits for them.
    func checkpointIfDue(_ database: Database) throws {
        guard self.bytesSinceCheckpoint >= self.limits.checkpointBytes else { return }
        self.bytesSinceCheckpoint = 0
        let frames = try database.checkpoint(.passive).walFrameCount
        guard frames * self.pageBytes >= self.limits.walBytesMax else { return }
        try self.checkpointAll(database)
    }

    /// Moves the write-ahead log into the file and empties it, unless a reader takes too long.
    func checkpointAll(_ database: Database) throws {
        do {
            _ = try database.checkpoint(.truncate)
            self.bytesSinceCheckpoint = 0
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            // What is durable in the write-ahead log stays there until the next time.
        }
    }
}
