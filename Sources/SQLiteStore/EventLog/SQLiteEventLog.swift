// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Dispatch
import GRDB
package import GatewayCore
import Synchronization

/// The event log in one SQLite file, durable before it answers (`synchronous=FULL`).
///
/// Everything that waits goes into the next transaction: while one commits, appends gather; nothing waits for a timer.
/// The newest records stay in memory, so that readers who keep up never touch the file.
///
/// When the writer fails, `LogFailure` decides. Where another process holds the file, the writer tries the same again. Where there
/// is no room, exactly the appends of that transaction are refused, and the log goes on. Where the contents of the file are no
/// longer certain (after a failed synchronisation, say), `failure` is set, `stopped()` returns, and every later append is refused
/// until the log is opened again. Records that were durable before can still be read.
package final class SQLiteEventLog: LocalEventLog, CachingStore {
    /// The bounds of memory and files.
    package struct Limits: Sendable {
        /// The most appends that wait for the writer; more are refused.
        package var appendQueueRecordsMax = 65_536
        /// The most bytes of appends that wait for the writer; more are refused.
        package var appendQueueBytesMax = 64 * 1_048_576
        /// How much the newest records may take in memory.
        package var tailBytesMax = 16 * 1_048_576
        /// After so many bytes the write-ahead log is moved into the file.
        package var checkpointBytes = 16 * 1_048_576
        /// The writer waits for readers (at most five seconds) before the write-ahead log grows beyond this.
        package var walBytesMax = 128 * 1_048_576
        /// The largest that the file may become; `nil`: as large as the disk allows.
        package var fileBytesMax: Int?
        /// The most bytes of records and snapshots in the file before new work is refused (see `LogUsage`).
        package var bytesMax: Int = .max
        /// How often a transaction is tried again that another process kept from beginning.
        package var busyRetriesMax = 5
        /// How long the first of these waits; each waits twice as long as the one before.
        package var busyRetryAfter: Duration = .milliseconds(50)
        /// How long a connection waits by itself for another process.
        package var busyTimeout: Duration = .seconds(5)
        /// How long after a checkpoint for which there was no room the next one is tried.
        package var checkpointRetryAfter: Duration = .seconds(1)

        package init() {}
    }

    /// How many records are deleted in one transaction when a lane is pruned; appends need not wait for more.
    static let recordsPerPruneMax: UInt64 = 64

    package let identity: LogIdentity
    private let directory: Mutex<StoreDirectory?>
    private let connection: StoreConnection<EventLogWriter>
    let state: Mutex<EventLogState>
    let file: String
    private let limits: Limits
    /// How many bytes of the file are in use.
    private let bytesUsed: Atomic<Int>
    private let watermarks = Mutex(Watermarks())

    /// Opens the log, or makes it.
    ///
    /// - Parameters:
    ///   - directory: where; the file is `events.sqlite`.
    ///   - limits: the bounds of memory and files.
    /// - Throws: `damaged`, `laterSchema`, or `notDurable`.
    package convenience init(in directory: StoreDirectory, limits: Limits = Limits()) throws(StoreError) {
        try self.init(Self.openFile(in: directory, limits: limits), in: directory, limits: limits)
    }

    /// Opens the log's file, or makes it, without reading what is in it.
    static func openFile(in directory: StoreDirectory, limits: Limits) throws(StoreError) -> DatabasePool {
        let settings = StoreFile.Settings(
            // A group of acknowledgements is some hundred kilobytes: large pages take fewer writes.
            pageBytes: 16_384,
            writerCacheKiB: 16 * 1_024,
            readerCacheKiB: 2 * 1_024,
            autocheckpointPages: 0,
            // A cycle writes a little more than what makes it end.
            walBytesKept: 2 * min(limits.checkpointBytes, 1 << 40),
            busyTimeout: limits.busyTimeout
        )
        return try StoreFile.open(
            directory.file(StoreDirectory.logFile),
            settings: settings,
            migrator: EventLogSchema.migrator
        )
    }

    /// Takes over a file that is open.
    init(_ pool: DatabasePool, in directory: StoreDirectory, limits: Limits) throws(StoreError) {
        let file = directory.file(StoreDirectory.logFile)
        do {
            let (identity, lanes) = try pool.writeWithoutTransaction { database in
                try StoreFile.makeDurable(database, file: file)
                if let fileBytesMax = limits.fileBytesMax {
                    let pageBytes = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 4_096
                    try database.execute(sql: "PRAGMA max_page_count = \(max(1, fileBytesMax / pageBytes))")
                }
                // There are no readers yet: records that a crash left in the write-ahead log move into the file.
                _ = try database.checkpoint(.truncate)
                return (try StoreIdentity.log(database), try EventLogSchema.lanes(database))
            }
            self.identity = identity
            self.state = Mutex(EventLogState(identity, lanes: lanes, limits: limits))
            var bytesUsed = 0
            self.connection = try StoreConnection(pool) {
                let writer = try EventLogWriter($0, lanesStored: lanes.count, limits: limits)
                bytesUsed = writer.bytesUsed
                return writer
            }
            self.bytesUsed = Atomic(bytesUsed)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unreadable(file, error)
        }
        try directory.storeOpened()
        self.directory = Mutex(directory)
        self.file = file
        self.limits = limits
    }

    /// Why the log takes no appends any more; `nil`: it does.
    package var failure: String? { self.state.withLock(\.failure) }

    package var usage: LogUsage? {
        LogUsage(bytes: self.bytesUsed.load(ordering: .relaxed), bytesMax: self.limits.bytesMax)
    }

    package var fileBytes: Int? { StoreFile.bytes(of: self.file) }

    package func stopped() async -> String? {
        let id = self.state.withLock { $0.nextReaderID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = self.state.withLock { $0.watch(id, continuation) }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            self.state.withLock { $0.cancelWatcher(id) }?.resume()
        }
        return self.failure
    }

    /// The value of `PRAGMA synchronous` on the writing connection: 2 (FULL), or the log would not have opened.
    package func synchronousMode() async throws(EventLogError) -> Int {
        do {
            return try await self.connection.write { database, _ in
                try Int.fetchOne(database, sql: "PRAGMA synchronous") ?? -1
            }
        } catch {
            throw self.state.withLock(\.refusal) ?? .failed(StoreFile.sentence(error))
        }
    }

    package func append(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) {
        let isExhausted = self.usage?.isExhausted ?? false
        let taken = self.state.withLock { state in
            Result { () throws(EventLogError) in
                if let refusal = state.refusal { throw refusal }
                guard !isExhausted else {
                    throw .outOfSpace(
                        "the limit log.bytesMax (\(self.limits.bytesMax)) is passed, and its reserve is used"
                    )
                }
                return try state.enqueue(record, id: id, to: lane, done: done)
            }
        }
        // Not on the caller's thread: it may hold a lock that `done` takes.
        switch taken {
        case .success(.callWriter): self.callWriter()
        case .success(.waits): break
        case .success(.durable(let offset)): DispatchQueue.global().async { done(.success(offset)) }
        case .failure(let refusal): DispatchQueue.global().async { done(.failure(refusal)) }
        }
    }

    private func callWriter() {
        self.connection.enqueue { database, writer in
            if let wait = self.writeQueue(writer, database, mayRetry: true) {
                // The queue stays the writer's: it has no other caller meanwhile.
                DispatchQueue.global().asyncAfter(deadline: .now() + wait / .seconds(1)) { self.callWriter() }
                return
            }
            // This goes behind the other work of the writer, so that a steady stream of appends shuts no caller out.
            if self.state.withLock({ $0.writerGoes() }) { self.callWriter() }
        }
    }

    /// Writes what waits in one transaction; to be called on the writer's queue.
    ///
    /// - Returns: how long to wait before the same is tried again; `nil`: it was written, or refused.
    private func writeQueue(_ writer: EventLogWriter, _ database: Database, mayRetry: Bool) -> Duration? {
        let batch = self.state.withLock { $0.offerQueue() }
        guard !batch.isEmpty else { return nil }
        do throws(LogWriteError) {
            try writer.write(batch, lane: { number in self.state.withLock { $0.lane(number) } }, database)
        } catch {
            switch error.failure {
            case .retry where mayRetry && writer.busyRetries < self.limits.busyRetriesMax:
                self.state.withLock { $0.putBack(batch) }
                writer.busyRetries += 1
                return self.limits.busyRetryAfter * (1 << (writer.busyRetries - 1))
            case .retry: self.fail(batch, .failed(error.sentence))
            case .outOfSpace:
                self.fail(batch, .outOfSpace(error.sentence))
                writer.wantCheckpoint()
            case .uncertain:
                let stopped = self.stop(after: error)
                self.fail(batch, .uncertain(error.sentence))
                self.report(stopped)
                return nil
            }
            writer.busyRetries = 0
            self.checkpointIfDue(writer, database)
            return nil
        }
        writer.busyRetries = 0
        self.bytesUsed.store(writer.bytesUsed, ordering: .relaxed)
        let (readers, repeats) = self.state.withLock { state in
            let readers = state.committed(batch)
            return (readers, batch.map { state.settle($0.append, at: $0.offset) })
        }
        for (each, repeats) in zip(batch, repeats) {
            each.append.done(.success(each.offset))
            for again in repeats { again(.success(each.offset)) }
        }
        for reader in readers { reader.resume() }
        self.checkpointIfDue(writer, database)
        return nil
    }

    private func fail(_ batch: [OfferedAppend], _ error: EventLogError) {
        for each in batch { self.fail(each.append, error) }
    }

    private func fail(_ append: WaitingAppend, _ error: EventLogError) {
        let repeats = self.state.withLock { $0.settle(append, at: nil) }
        append.done(.failure(error))
        for again in repeats { again(.failure(error)) }
    }

    private func checkpointIfDue(_ writer: EventLogWriter, _ database: Database) {
        do throws(LogWriteError) {
            try writer.checkpointIfDue(database)
        } catch {
            self.report(self.stop(after: error))
        }
    }

    /// Takes no appends from now on.
    ///
    /// - Returns: those that waited, and who waits for a failure.
    private func stop(after error: LogWriteError) -> StoppedLog {
        self.state.withLock { state in
            let (appends, watchers) = state.fail(error.sentence)
            return StoppedLog(appends: appends, reason: state.refusal ?? .closed, watchers: watchers)
        }
    }

    private func report(_ stopped: StoppedLog) {
        for each in stopped.appends { self.fail(each, stopped.reason) }
        for each in stopped.watchers { each.resume() }
    }

    package func read(
        _ lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> [LoggedRecord] {
        let recordsMax = max(1, recordsMax)
        while true {
            switch self.state.withLock({ $0.look(lane, after: offset, recordsMax: recordsMax, bytesMax: bytesMax) }) {
            case .records(let records): return records
            case .failed(let error): throw error
            case .nothingMore: return []
            case .inFile(let number):
                let identity = self.identity
                let records = try await self.fromFile {
                    try EventLogSchema.records(
                        $0,
                        lane: (Int64(number), lane),
                        of: identity,
                        after: offset,
                        recordsMax: recordsMax,
                        bytesMax: bytesMax
                    )
                }
                if !records.isEmpty { return records }
                guard case .inFile = self.state.withLock({ $0.look(lane, after: offset, recordsMax: 1, bytesMax: 1) })
                else { continue }  // It was pruned meanwhile, or the log was closed.
                throw .failed("the record \(self.identity.following(offset, in: lane)) of the lane \(lane) is missing")
            case .nothingYet:
                if Task.isCancelled { return [] }
                await self.waitForRecord(in: lane, after: offset)
            }
        }
    }

    /// Returns when there is a record, the log is closed, or the task is cancelled.
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
        try self.requireOpen()
        return self.state.withLock { $0.head(of: lane) }
    }

    package func save(_ portion: SnapshotPortion, of lane: Lane) async throws(EventLogError) {
        let head = try await self.head(of: lane)
        guard portion.offset <= head else {
            throw .failed("a snapshot of the lane \(lane) at \(portion.offset) is ahead of its head \(head)")
        }
        let number = try self.state.withLock { (state) throws(EventLogError) in try state.number(of: lane) }
        // The rest of an unfinished change is not taken for part of this one.
        if portion.isFirst {
            try await self.onWriter { _, writer throws(LogWriteError) in writer.abandonChange(of: number) }
            try await self.clean(number)
        }
        let isTaken = try await self.onWriter { database, writer throws(LogWriteError) in
            try writer.save(portion, of: number, lane: { each in self.state.withLock { $0.lane(each) } }, database)
        }
        guard isTaken else { throw .failed("a portion of a snapshot of the lane \(lane) follows none") }
        if portion.isLast { try await self.clean(number) }
    }

    /// Deletes what no reader of a lane's snapshot sees any more, in small steps.
    private func clean(_ number: Int) async throws(EventLogError) {
        var cleaning: EventLogWriter.Cleaning? = EventLogWriter.Cleaning()
        while let step = cleaning {
            cleaning = try await self.onWriter { database, writer throws(LogWriteError) in
                try writer.clean(step, of: number, database)
            }
        }
    }

    package func snapshotOffset(of lane: Lane) async throws(EventLogError) -> UInt64? {
        try self.requireOpen()
        guard let number = self.state.withLock({ $0.knownNumber(of: lane) }) else { return nil }
        return try await self.fromFile { try EventLogSchema.snapshotHead($0, lane: Int64(number))?.offset }
    }

    package func snapshotParts(
        of lane: Lane,
        after key: String?,
        bytesMax: Int
    ) async throws(EventLogError) -> [SnapshotPart] {
        try self.requireOpen()
        guard let number = self.state.withLock({ $0.knownNumber(of: lane) }) else { return [] }
        return try await self.fromFile {
            try EventLogSchema.snapshotParts($0, lane: Int64(number), after: key, bytesMax: bytesMax)
        }
    }

    package func advance(_ reader: LogReader, in lane: Lane, through offset: UInt64) {
        self.watermarks.withLock { $0.advance(reader, in: lane, through: offset) }
    }

    package func release(keeping records: UInt64) async throws(EventLogError) {
        let watermarks = self.watermarks.withLock { $0 }
        for lane in watermarks.lanes {
            let last = watermarks.releasable(of: lane, in: self.identity, keeping: records)
            if last > 0 { try await self.prune(lane, through: last) }
        }
    }

    package func prune(_ lane: Lane, through offset: UInt64) async throws(EventLogError) {
        if let refusal = self.state.withLock(\.refusal) { throw refusal }
        guard let (number, offsets) = self.state.withLock({ $0.prune(lane, through: offset) }) else { return }
        var first = offsets.lowerBound
        while first <= offsets.upperBound {
            // A portion that reaches a jump of the offsets ends behind it.
            let next = self.identity.following(first + Self.recordsPerPruneMax - 1, in: lane)
            let portion = first...min(next - 1, offsets.upperBound)
            try await self.onWriter { database, writer throws(LogWriteError) in
                try writer.delete(portion, of: number, database)
                self.state.withLock { $0.deleted(before: portion.upperBound + 1, of: number) }
            }
            first = portion.upperBound + 1
        }
    }

    /// Copies the log while it is written to; see `StoreConnection.copy(to:pagesPerStep:progress:)`.
    ///
    /// - Parameters:
    ///   - path: where; a file of that name is replaced.
    ///   - pagesPerStep: how many pages are copied between two transactions; `nil`: about a megabyte.
    ///   - progress: called after each step, by one caller at a time.
    /// - Returns: the copy, checked.
    /// - Throws: also when the task is cancelled; nothing is left of the copy then.
    package func copy(
        to path: String,
        pagesPerStep: Int? = nil,
        progress: @escaping @Sendable (StoreCopyProgress) -> Void = { _ in }
    ) async throws(StoreCopyError) -> StoreCopy {
        try await self.connection.copy(to: path, pagesPerStep: pagesPerStep, progress: progress)
    }

    package func releaseCaches() async {
        // Appends wait for the lock, so the removed records are freed outside it.
        _ = self.state.withLock { $0.releaseTails() }
        await self.connection.releaseCaches()
    }

    package func cacheBytes() async -> Int {
        let pages = await self.connection.cacheBytes()
        return pages + self.state.withLock(\.tailBytes)
    }

    package func close() async {
        self.state.withLock { $0.beginClosing() }
        await self.connection.close { database, writer in
            if self.failure == nil {
                _ = self.writeQueue(writer, database, mayRetry: false)
            }
            if self.failure == nil {
                // Where this fails, everything is durable in the write-ahead log.
                do throws(LogWriteError) {
                    try writer.checkpointAll(database)
                } catch {
                    self.report(self.stop(after: error))
                }
            }
        }
        for reader in self.state.withLock({ $0.endClosing() }) { reader.resume() }
        let isClean = self.failure == nil
        self.directory.withLock { directory in
            directory?.storeClosed(isClean: isClean)
            directory = nil
        }
    }

    private func requireOpen() throws(EventLogError) {
        if self.state.withLock(\.isClosed) { throw .closed }
    }

    /// Does something with the writing connection.
    ///
    /// - Throws: `outOfSpace` or `failed` where nothing was done and the log goes on.
    func onWriter<Value: Sendable>(
        _ body: @escaping @Sendable (Database, EventLogWriter) throws(LogWriteError) -> Value
    ) async throws(EventLogError) -> Value {
        if let refusal = self.state.withLock(\.refusal) { throw refusal }
        do {
            return try await self.connection.write { database, writer in
                if let refusal = self.state.withLock(\.refusal) { throw refusal }
                let value: Value
                do throws(LogWriteError) {
                    value = try body(database, writer)
                } catch {
                    switch error.failure {
                    case .retry: throw EventLogError.failed(error.sentence)
                    case .outOfSpace:
                        writer.wantCheckpoint()
                        self.checkpointIfDue(writer, database)
                        throw EventLogError.outOfSpace(error.sentence)
                    case .uncertain:
                        self.report(self.stop(after: error))
                        throw EventLogError.uncertain(error.sentence)
                    }
                }
                self.bytesUsed.store(writer.bytesUsed, ordering: .relaxed)
                self.checkpointIfDue(writer, database)
                return value
            }
        } catch let error as EventLogError {
            throw error
        } catch {
            throw .closed
        }
    }

    func fromFile<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(EventLogError) -> Value {
        do {
            return try await self.connection.read(body)
        } catch {
            if self.state.withLock({ $0.refusal == .closed }) { throw .closed }
            throw .failed(StoreFile.sentence(error))
        }
    }
}

/// The waiting callers that must learn that the log stopped.
private struct StoppedLog {
    let appends: [WaitingAppend]
    let reason: EventLogError
    let watchers: [CheckedContinuation<Void, Never>]
}
