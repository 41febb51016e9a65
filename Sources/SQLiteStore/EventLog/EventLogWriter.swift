// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GRDB
import GatewayCore

/// The event log's writing connection; it is used on that connection's queue.
final class EventLogWriter {
    private let insertRecord: PreparedStatement
    private let insertLane: PreparedStatement
    private let deleteRecords: PreparedStatement
    private let setFirstKept: PreparedStatement
    private let selectNewestKey: PreparedStatement
    private let countPages: PreparedStatement
    private let countFreePages: PreparedStatement
    private let limits: SQLiteEventLog.Limits
    private let pageBytes: Int
    /// How many lanes the file knows: their numbers are 0 to this less one.
    private var lanesStored: Int
    private let insertPart: PreparedStatement
    /// By the number of the lane.
    private var changes: [Int: Change] = [:]
    /// The generation of a lane's snapshot beside which nothing is left to delete.
    private var cleaned: [Int: Int64] = [:]
    /// About how much was written to the write-ahead log since it was last moved into the file.
    private var bytesSinceCheckpoint = 0
    /// A checkpoint for which there was no room is not tried again before this.
    private var checkpointNotBefore: ContinuousClock.Instant?
    /// How often in succession a batch was kept from beginning.
    var busyRetries = 0
    /// How many bytes of the file are in use, as the newest transaction left it.
    private(set) var bytesUsed = 0

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
        self.insertPart = try PreparedStatement(
            """
            INSERT INTO snapshot_parts (lane, key, generation, bytes) VALUES (?, CAST(? AS TEXT), ?, ?)
            ON CONFLICT (lane, key, generation) DO UPDATE SET bytes = excluded.bytes
            """,
            in: database
        )
        self.setFirstKept = try PreparedStatement("UPDATE lanes SET first_kept = ? WHERE lane = ?", in: database)
        self.selectNewestKey = try PreparedStatement(
            "SELECT max(record_key) FROM records WHERE record_key >= ? AND record_key < ?",
            in: database
        )
        // Both are fields of the first page, which every transaction has in memory.
        self.countPages = try PreparedStatement("PRAGMA page_count", in: database)
        self.countFreePages = try PreparedStatement("PRAGMA freelist_count", in: database)
        self.lanesStored = lanesStored
        self.limits = limits
        self.pageBytes = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 4_096
        self.bytesUsed = try self.countBytes()
    }

    private func countBytes() throws -> Int {
        let pages = try self.countPages.integer() ?? 0
        let free = try self.countFreePages.integer() ?? 0
        return Int(pages - free) * self.pageBytes
    }

    /// Does something in one transaction.
    ///
    /// - Parameters:
    ///   - database: the writing connection.
    ///   - firstKeys: the first record that it adds to each of its lanes, by lane: where it fails and they are not
    ///     there, nothing of it is.
    ///   - body: the work.
    /// - Throws: the kind of failure; unless it is `uncertain`, nothing of it is in the file.
    private func inTransaction(
        _ database: Database,
        firstKeys: [Int: Int64] = [:],
        _ body: () throws -> Void
    ) throws(LogWriteError) {
        let lanesBefore = self.lanesStored
        var phase = LogFailure.Phase.begin
        do {
            var bytesUsed = 0
            try database.inTransaction(.immediate) {
                phase = .write
                try body()
                bytesUsed = try self.countBytes()
                phase = .commit
                return .commit
            }
            self.bytesUsed = bytesUsed
        } catch {
            self.lanesStored = lanesBefore
            throw LogWriteError(error, in: phase, on: database) { self.isUndone(firstKeys, database) }
        }
    }

    /// Whether no transaction is open, and records that it would have added are not there.
    private func isUndone(_ firstKeys: [Int: Int64], _ database: Database) -> Bool {
        guard !database.isInsideTransaction else { return false }
        // A lane that is read shows that the file can be read, also where nothing was to be added.
        for (lane, key) in firstKeys.isEmpty ? [0: EventLogSchema.key(1, 0)] : firstKeys {
            self.selectNewestKey.bind(1, EventLogSchema.key(Int64(lane), 0))
            self.selectNewestKey.bind(2, EventLogSchema.key(Int64(lane) + 1, 0))
            do {
                // No row of it at all reads as NULL, which is 0: below every key of a record.
                guard try (self.selectNewestKey.integer() ?? 0) < key else { return false }
            } catch {
                return false
            }
        }
        return true
    }

    /// Writes appends in one transaction; they are durable when this returns.
    ///
    /// - Parameters:
    ///   - batch: in the order of their offsets in each lane.
    ///   - lane: the name of a lane, by its number.
    ///   - database: the writing connection.
    /// - Throws: the kind of failure; unless it is `uncertain`, nothing of the batch is in the file.
    func write(_ batch: [OfferedAppend], lane: (Int) -> Lane, _ database: Database) throws(LogWriteError) {
        var firstKeys: [Int: Int64] = [:]
        for each in batch where firstKeys[each.lane] == nil {
            firstKeys[each.lane] = EventLogSchema.key(Int64(each.lane), each.offset)
        }
        try self.inTransaction(database, firstKeys: firstKeys) {
            for each in batch {
                try self.store(lanesThrough: each.lane, lane)
                try self.insert(each)
                self.bytesSinceCheckpoint += each.record.count + self.pageBytes
            }
        }
        self.bytesSinceCheckpoint += self.pageBytes
    }

    private func insert(_ append: OfferedAppend) throws {
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

    /// The change of a lane's snapshot whose portions are coming.
    private struct Change {
        let offset: UInt64
        let generation: Int64
        /// Whether a snapshot at a later offset is kept: the change has no effect.
        let isLate: Bool

        init(_ first: SnapshotPortion, after head: EventLogSchema.SnapshotHead?) {
            self.offset = first.offset
            self.generation = (head?.generation ?? 0) + 1
            self.isLate = head.map { $0.offset > first.offset } ?? false
        }
    }

    /// Keeps a portion of a change of a lane's snapshot; its last one makes all of it what readers see.
    ///
    /// - Returns: `false` where it is not the first and follows none.
    func save(
        _ portion: SnapshotPortion,
        of number: Int,
        lane: (Int) -> Lane,
        _ database: Database
    ) throws(LogWriteError) -> Bool {
        let row = Int64(number)
        var change = portion.isFirst ? nil : self.changes[number]
        var isTaken = true
        try self.inTransaction(database) {
            if portion.isFirst {
                try self.store(lanesThrough: number, lane)
                change = Change(portion, after: try EventLogSchema.snapshotHead(database, lane: row))
            }
            guard let change, change.offset == portion.offset else {
                isTaken = false
                return
            }
            guard !change.isLate else { return }
            for part in portion.parts { try self.put(part.key, part.bytes, row, change.generation) }
            for key in portion.removed { try self.put(key, nil, row, change.generation) }
            guard portion.isLast else { return }
            try database.execute(
                sql: """
                    INSERT INTO snapshot_heads (lane, offset, generation) VALUES (?, ?, ?)
                    ON CONFLICT (lane) DO UPDATE SET offset = excluded.offset, generation = excluded.generation
                    """,
                arguments: [row, Int64(change.offset), change.generation]
            )
        }
        self.changes[number] = portion.isLast ? nil : change
        let bytes = portion.parts.reduce(0) { $0 + $1.bytes.count }
        self.bytesSinceCheckpoint += bytes + (portion.parts.count / 16 + 4) * self.pageBytes
        return isTaken
    }

    private func put(
        _ key: String,
        _ bytes: [UInt8]?,
        _ lane: Int64,
        _ generation: Int64
    ) throws {
        self.insertPart.bind(1, lane)
        self.insertPart.bind(3, generation)
        try unsafe Array(key.utf8)
            .withUnsafeBytes { key in
                unsafe self.insertPart.bind(2, unsafeBytes: key)
                guard let bytes else {
                    self.insertPart.bindNull(4)
                    return try self.insertPart.run()
                }
                try unsafe bytes.withUnsafeBytes { bytes in
                    unsafe self.insertPart.bind(4, unsafeBytes: bytes)
                    try self.insertPart.run()
                }
            }
    }

    /// Forgets the change of a lane's snapshot whose portions were coming: another one begins.
    func abandonChange(of number: Int) { self.changes[number] = nil }

    /// Where the cleaning of a lane's snapshot stands.
    struct Cleaning {
        /// The last part of the generation that readers see that was looked at.
        var part: Int64 = 0
    }

    /// Deletes some of what no reader of a lane's snapshot sees any more.
    ///
    /// - Returns: `nil` where there is nothing left.
    func clean(_ cleaning: Cleaning, of number: Int, _ database: Database) throws(LogWriteError) -> Cleaning? {
        guard self.changes[number] == nil else { return nil }
        let lane = Int64(number)
        var cleaning = cleaning
        var isDone = true
        var generation: Int64?
        try self.inTransaction(database) {
            guard let head = try EventLogSchema.snapshotHead(database, lane: lane) else {
                // A change that was the first and did not come to its end.
                isDone = try !self.deleteParts("generation > 0", of: lane, database)
                return
            }
            // What a change left that did not come to its end.
            if try self.deleteParts("generation > \(head.generation)", of: lane, database) { isDone = false }
            // What the newest generation stands for; the first one stands for nothing.
            guard isDone, head.generation > 1, self.cleaned[number] != head.generation else { return }
            generation = head.generation
            let newest = try Row.fetchAll(
                database,
                sql: """
                    SELECT part, key, bytes IS NULL FROM snapshot_parts
                    WHERE lane = ? AND generation = ? AND part > ? ORDER BY part LIMIT \(Self.partsPerCleaningMax)
                    """,
                arguments: [lane, head.generation, cleaning.part]
            )
            for row in newest {
                let (part, key, isGone): (Int64, String, Bool) = (row[0], row[1], row[2])
                try database.cachedStatement(
                    sql: "DELETE FROM snapshot_parts WHERE lane = ? AND key = ? AND generation < ?"
                )
                .execute(arguments: [lane, key, head.generation])
                if isGone {
                    try database.cachedStatement(sql: "DELETE FROM snapshot_parts WHERE part = ?")
                        .execute(arguments: [part])
                }
                cleaning.part = part
            }
            isDone = newest.isEmpty
        }
        if isDone, let generation { self.cleaned[number] = generation }
        if !isDone { self.bytesSinceCheckpoint += Self.partsPerCleaningMax / 2 * self.pageBytes }
        return isDone ? nil : cleaning
    }

    /// Deletes some parts of a lane's snapshot.
    ///
    /// - Returns: whether there were any.
    private func deleteParts(_ condition: String, of lane: Int64, _ database: Database) throws -> Bool {
        try database.execute(
            sql: """
                DELETE FROM snapshot_parts WHERE part IN (
                    SELECT part FROM snapshot_parts WHERE lane = ? AND \(condition) LIMIT \(Self.partsPerCleaningMax))
                """,
            arguments: [lane]
        )
        return database.changesCount > 0
    }

    /// The most parts that are deleted in one transaction; appends need not wait for more.
    private static let partsPerCleaningMax = 128

    /// Deletes records of a lane: at most `recordsPerPruneMax` have these offsets.
    func delete(_ offsets: ClosedRange<UInt64>, of lane: Int, _ database: Database) throws(LogWriteError) {
        try self.inTransaction(database) {
            self.deleteRecords.bind(1, EventLogSchema.key(Int64(lane), offsets.lowerBound))
            self.deleteRecords.bind(2, EventLogSchema.key(Int64(lane), offsets.upperBound))
            try self.deleteRecords.run()
            self.setFirstKept.bind(1, Int64(offsets.upperBound) + 1)
            self.setFirstKept.bind(2, Int64(lane))
            try self.setFirstKept.run()
        }
        let records = min(offsets.count, Int(clamping: SQLiteEventLog.recordsPerPruneMax))
        self.bytesSinceCheckpoint += (records / 8 + 4) * self.pageBytes
    }

    /// Puts other names in the place of a session in records of a lane.
    ///
    /// - Parameters:
    ///   - names: the session, and the names that replace it.
    ///   - offsets: of a few records that name it; those that are gone are passed over.
    ///   - lane: the number of their lane.
    ///   - database: the writing connection.
    /// - Returns: the new records.
    /// - Throws: the kind of failure; unless it is `uncertain`, nothing has changed.
    func forget(
        _ names: SessionPseudonyms,
        at offsets: [UInt64],
        of lane: Int,
        _ database: Database
    ) throws(LogWriteError) -> [LoggedRecord] {
        var changed: [LoggedRecord] = []
        try self.inTransaction(database) {
            try database.execute(sql: "PRAGMA secure_delete = ON")
            defer { try? database.execute(sql: "PRAGMA secure_delete = OFF") }
            for offset in offsets {
                guard let before = try EventLogSchema.bytes(database, lane: Int64(lane), at: offset),
                    let group = try AcknowledgementGroup(decoding: before).forgetting(names)
                else { continue }
                let bytes = group.encoded()
                try database.cachedStatement(sql: "UPDATE records SET bytes = ? WHERE record_key = ?")
                    .execute(arguments: [Data(bytes), EventLogSchema.key(Int64(lane), offset)])
                changed.append(LoggedRecord(offset: offset, bytes: bytes))
            }
        }
        self.bytesSinceCheckpoint += changed.reduce(0) { $0 + $1.bytes.count + 2 * self.pageBytes }
        return changed
    }

    /// Writes the file anew, without the pages that it uses no more.
    ///
    /// Where there is no room for it, or a reader is in the way, the file stays as it is.
    func compact(_ database: Database) {
        try? database.execute(sql: "VACUUM")
        self.bytesUsed = (try? self.countBytes()) ?? self.bytesUsed
    }

    /// Moves the write-ahead log into the file when enough was written.
    ///
    /// It does not wait for readers, and leaves the log's file in place to be written over, which is faster than
    /// letting it grow anew. Only when readers have kept it from starting over for very long, it waits for them.
    ///
    /// Where another process holds the file, or there is no room in it, the writer tries again later: the records in the
    /// write-ahead log are durable there.
    ///
    /// - Throws: only `uncertain`.
    func checkpointIfDue(_ database: Database) throws(LogWriteError) {
        guard self.bytesSinceCheckpoint >= self.limits.checkpointBytes else { return }
        if let instant = self.checkpointNotBefore {
            guard ContinuousClock.now >= instant else { return }
            self.checkpointNotBefore = nil
        }
        let frames: Int
        do {
            frames = try database.checkpoint(.passive).walFrameCount
        } catch {
            try self.checkpointFailed(error, database)
            return
        }
        self.bytesSinceCheckpoint = 0
        guard frames * self.pageBytes >= self.limits.walBytesMax else { return }
        try self.checkpointAll(database)
    }

    /// Moves what the write-ahead log holds into the file at the next opportunity: its room can then be used again.
    func wantCheckpoint() {
        self.bytesSinceCheckpoint = max(self.bytesSinceCheckpoint, self.limits.checkpointBytes)
    }

    /// Moves the write-ahead log into the file and empties it, unless a reader takes too long.
    ///
    /// - Throws: only `uncertain`.
    func checkpointAll(_ database: Database) throws(LogWriteError) {
        do {
            _ = try database.checkpoint(.truncate)
            self.bytesSinceCheckpoint = 0
        } catch {
            try self.checkpointFailed(error, database)
        }
    }

    private func checkpointFailed(_ error: any Error, _ database: Database) throws(LogWriteError) {
        let error = LogWriteError(error, in: .checkpoint, on: database) { true }
        switch error.failure {
        case .retry:
            // After another quarter of what makes it due.
            let before = self.limits.checkpointBytes - self.limits.checkpointBytes / 4
            self.bytesSinceCheckpoint = min(self.bytesSinceCheckpoint, before)
        case .outOfSpace: self.checkpointNotBefore = .now + self.limits.checkpointRetryAfter
        case .uncertain: throw error
        }
    }
}
