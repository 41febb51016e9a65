// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import DequeModule
import Dispatch
import GRDB
package import GatewayCore
import Synchronization

/// The event log in one SQLite file, durable before it answers (`synchronous=FULL`).
///
/// Everything that waits goes into the next transaction: while one commits, appends gather. A commit that fails leaves the
/// log refusing everything until it is opened again, because what is in the file is not known any more.
package final class SQLiteEventLog: EventLog {
    /// How much a lane's newest records may take in memory, so that readers that keep up never touch the file.
    package static let tailBytesMax = 4 * 1_048_576
    /// The most bytes that wait for the writer; more are refused.
    package static let appendQueueBytesMax = 256 * 1_048_576

    package let epoch: UInt64
    private let directory: StoreDirectory
    private let pool: DatabasePool
    private let writer = DispatchQueue(label: "cuecast-log")
    private let state: Mutex<LogState>
    private let appendQueueBytesMax: Int

    /// Opens the log, or makes it.
    ///
    /// - Parameters:
    ///   - directory: where; the file is `events.sqlite`.
    ///   - appendQueueBytesMax: the most bytes that wait for the writer.
    /// - Throws: when the file is damaged, of a later version, or would not be durable.
    package init(
        in directory: StoreDirectory,
        appendQueueBytesMax: Int = SQLiteEventLog.appendQueueBytesMax
    ) throws(StoreError) {
        let path = directory.file("events.sqlite")
        let pool = try StoreFile.open(path, migrator: LogSchema.migrator)
        do {
            // GRDB sets NORMAL when it opens a file in WAL mode, whatever was asked for before.
            let synchronous = try pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                return try Int.fetchOne(database, sql: "PRAGMA synchronous") ?? -1
            }
            guard synchronous == 2 else { throw StoreError.notDurable(path: path, synchronous: synchronous) }
            let (epoch, lanes) = try pool.write { try LogSchema.load($0) }
            self.epoch = epoch
            self.state = Mutex(LogState(lanes: lanes))
        } catch let error as StoreError {
            throw error
        } catch {
            throw .damaged(path: path, reason: "\(error)")
        }
        self.directory = directory
        self.pool = pool
        self.appendQueueBytesMax = appendQueueBytesMax
    }

    /// Why the log refuses everything; `nil`: it works.
    package var failure: String? { self.state.withLock(\.failure) }

    package func append(
        _ record: [UInt8],
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) {
        let refusal: EventLogError? = self.state.withLock { state in
            if let refusal = state.refusal { return refusal }
            guard state.queuedBytes + record.count <= self.appendQueueBytesMax else {
                return .failed("the limit appendQueueBytesMax is passed")
            }
            state.enqueue(record, lane: lane, done: done)
            if !state.isWriting {
                state.isWriting = true
                self.writer.async { self.write() }
            }
            return nil
        }
        if let refusal { done(.failure(refusal)) }
    }

    /// Writes what waits, until nothing does.
    ///
    /// Runs on the writer's queue.
    private func write() {
        while let batch = self.state.withLock({ $0.takeQueue() }) {
            do {
                try self.pool.writeWithoutTransaction { database in
                    try database.inTransaction(.immediate) {
                        try LogSchema.insert(batch, into: database)
                        return .commit
                    }
                }
            } catch {
                let failed = self.state.withLock { $0.fail("\(error)") }
                for each in batch + failed.appends { each.done(.failure(.failed("\(error)"))) }
                for waiter in failed.readers { waiter.resume() }
                return
            }
            let readers = self.state.withLock { $0.committed(batch) }
            for each in batch { each.done(.success(each.offset)) }
            for reader in readers { reader.resume() }
        }
    }

    package func read(
        _ lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> [LoggedRecord] {
        while true {
            switch self.state.withLock({ $0.look(lane, after: offset, recordsMax: recordsMax, bytesMax: bytesMax) }) {
            case .records(let records): return records
            case .pruned(let firstKept): throw .pruned(lane: lane, firstKept: firstKept)
            case .inFile(let laneID):
                return try await self.fromFile { database in
                    try LogSchema.records(
                        database,
                        lane: laneID,
                        after: offset,
                        recordsMax: recordsMax,
                        bytesMax: bytesMax
                    )
                }
            case .ended: return []
            case .nothingYet:
                guard !Task.isCancelled else { return [] }
                await self.waitForRecord(in: lane, after: offset)
            }
        }
    }

    /// Returns when there is a record, the log has ended, or the task is cancelled.
    private func waitForRecord(in lane: Lane, after offset: UInt64) async {
        let id = self.state.withLock { $0.nextReaderID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = self.state.withLock { $0.wait(id, lane: lane, after: offset, continuation) }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            self.state.withLock { $0.cancelReader(id) }?.resume()
        }
    }

    package func head(of lane: Lane) async throws(EventLogError) -> UInt64 {
        self.state.withLock { $0.lanes[lane]?.head ?? 0 }
    }

    package func save(_ snapshot: LaneSnapshot, of lane: Lane) async throws(EventLogError) {
        try await self.onWriter { database in try LogSchema.save(snapshot, of: lane, into: database) }
    }

    package func snapshot(of lane: Lane) async throws(EventLogError) -> LaneSnapshot? {
        try await self.fromFile { try LogSchema.snapshot(of: lane, from: $0) }
    }

    package func prune(_ lane: Lane, through offset: UInt64) async throws(EventLogError) {
        guard let (laneID, from, through) = self.state.withLock({ $0.prune(lane, through: offset) }) else { return }
        var first = from
        while first <= through {
            // In portions, so that appends do not wait long.
            let last = min(through, first + 999)
            let range = first...last
            try await self.onWriter { try LogSchema.delete(range, ofLane: laneID, from: $0) }
            first = last + 1
        }
    }

    package func close() async {
        let readers = self.state.withLock { $0.close() }
        for reader in readers { reader.resume() }
        await withCheckedContinuation { continuation in
            // Behind everything that was handed over.
            self.writer.async {
                // What cannot be moved into the file now stays in the write-ahead log: nothing is lost.
                _ = try? self.pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
                try? self.pool.close()
                continuation.resume()
            }
        }
    }

    /// Does something with the writing connection, after what waits there.
    private func onWriter(_ body: @escaping @Sendable (Database) throws -> Void) async throws(EventLogError) {
        if let refusal = self.state.withLock(\.refusal) { throw refusal }
        let failure: String? = await withCheckedContinuation { continuation in
            self.writer.async {
                do {
                    try self.pool.write(body)
                    continuation.resume(returning: nil)
                } catch {
                    continuation.resume(returning: "\(error)")
                }
            }
        }
        if let failure { throw .failed(failure) }
    }

    private func fromFile<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(EventLogError) -> Value {
        do {
            return try await self.pool.read(body)
        } catch {
            if self.state.withLock(\.isClosed) { throw .closed }
            throw .failed("\(error)")
        }
    }
}
