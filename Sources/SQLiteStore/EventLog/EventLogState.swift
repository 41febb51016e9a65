// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import DequeModule
import GatewayCore

/// An append that waits for the writer.
struct WaitingAppend: Sendable {
    /// The number of its lane.
    let lane: Int
    /// Tells it from every other one; `nil`: nothing does.
    let id: AppendID?
    let record: [UInt8]
    let done: Done

    typealias Done = @Sendable (Result<UInt64, EventLogError>) -> Void
}

/// An append in the hands of the writer, with the offset that it gets if it becomes durable.
///
/// Offsets are given out here and not before: what was refused leaves no gap.
struct OfferedAppend: Sendable {
    let offset: UInt64
    /// The offset of the record before it.
    let previous: UInt64
    let append: WaitingAppend

    var lane: Int { self.append.lane }
    var record: [UInt8] { self.append.record }
}

/// A log's state in memory: waiting appends and readers, the offset of each lane, and its newest records.
struct EventLogState {
    struct LaneState {
        let lane: Lane
        /// The first offset that readers find.
        var firstKept: UInt64 = 1
        /// The first offset whose record the file may still hold: below `firstKept` while records are being deleted.
        var firstStored: UInt64 = 1
        /// The newest durable offset.
        var head: UInt64 = 0
        /// The newest durable records, none left out up to `head`; pruned ones may be among them.
        var tail: Deque<LoggedRecord> = []

        init(lane: Lane, firstKept: UInt64 = 1, head: UInt64 = 0) {
            self.lane = lane
            self.firstKept = firstKept
            self.firstStored = firstKept
            self.head = head
        }
    }

    /// The result of a read.
    enum Look {
        case records([LoggedRecord])
        /// They are in the file only, under this number of their lane.
        case inFile(lane: Int)
        case nothingYet
        case nothingMore
        case failed(EventLogError)
    }

    private enum Phase {
        case open
        /// Takes no more; what waits is still written.
        case closing
        case closed
    }

    private struct Reader {
        let lane: Lane
        let offset: UInt64
        let continuation: CheckedContinuation<Void, Never>
    }

    /// The memory of a record in the tail beside its bytes.
    private static let recordOverheadBytes = 64
    /// The memory of the newest records after others were released: readers that keep up do not use the file.
    private static let tailBytesReleased = 1_048_576

    private let limits: SQLiteEventLog.Limits
    private let identity: LogIdentity
    private(set) var failure: String?
    private var phase = Phase.open
    private var lanes: [LaneState]
    private var numbers: [Lane: Int]

    private var queue: [WaitingAppend] = []
    private var queueBytes = 0
    private var recent = RecentAppends<WaitingAppend.Done>()
    /// Whether the writer will look at the queue.
    private var writerComes = false

    /// Offsets of this epoch are above it.
    private let base: UInt64

    /// The lanes of the records in the tails, oldest first.
    private var tailOrder: Deque<Int> = []
    /// The memory of the newest records.
    private(set) var tailBytes = 0

    private var readers: [UInt64: Reader] = [:]
    /// Those who wait for a failure.
    private var watchers: [UInt64: CheckedContinuation<Void, Never>] = [:]
    private var readerCounter: UInt64 = 0

    init(_ identity: LogIdentity, lanes: [LaneState], limits: SQLiteEventLog.Limits) {
        self.limits = limits
        self.identity = identity
        self.base = identity.current.base
        self.lanes = lanes
        self.numbers = Dictionary(
            lanes.enumerated().map { ($0.element.lane, $0.offset) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Why nothing is taken; `nil`: it is.
    var refusal: EventLogError? {
        if let failure = self.failure { return .uncertain(failure) }
        return self.phase == .open ? nil : .closed
    }

    /// Whether the file is closed.
    var isClosed: Bool { self.phase == .closed }
}

// MARK: - Appending

extension EventLogState {
    /// The result for an append that is taken.
    enum Taken {
        /// The writer has to be called.
        case callWriter
        /// The writer comes, or a repeat waits for the append that it repeats.
        case waits
        /// It repeats an append that is durable at this offset.
        case durable(UInt64)
    }

    /// Takes an append.
    ///
    /// - Returns: the decision about it.
    mutating func enqueue(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        done: @escaping WaitingAppend.Done
    ) throws(EventLogError) -> Taken {
        if let refusal = self.refusal { throw refusal }
        guard record.count <= EventLogLimits.recordBytesMax else {
            throw .failed("the limit recordBytesMax (\(EventLogLimits.recordBytesMax)) is passed")
        }
        guard self.queue.count < self.limits.appendQueueRecordsMax else {
            throw .failed("the limit appendQueueRecordsMax (\(self.limits.appendQueueRecordsMax)) is passed")
        }
        guard self.queueBytes + record.count <= self.limits.appendQueueBytesMax else {
            throw .failed("the limit appendQueueBytesMax (\(self.limits.appendQueueBytesMax)) is passed")
        }
        let number = try self.number(of: lane)
        guard self.lanes[number].head + UInt64(self.queue.count) + 1 < EventLogLimits.offsetsPerLaneMax,
            self.base + UInt64(self.queue.count) + 1 < EventLogLimits.offsetsPerLaneMax
        else { throw .failed("the limit offsetsPerLaneMax (\(EventLogLimits.offsetsPerLaneMax)) is reached") }
        if let id {
            switch self.recent.begin(id, in: number, done) {
            case .new: break
            case .underWay: return .waits
            case .durable(let offset): return .durable(offset)
            }
        }
        self.queue.append(WaitingAppend(lane: number, id: id, record: record, done: done))
        self.queueBytes += record.count
        defer { self.writerComes = true }
        return self.writerComes ? .waits : .callWriter
    }

    /// An append has its answer.
    ///
    /// - Parameters:
    ///   - append: which one.
    ///   - offset: where it became durable; `nil`: it failed.
    /// - Returns: repeats of it, which get the same answer.
    mutating func settle(_ append: WaitingAppend, at offset: UInt64?) -> [WaitingAppend.Done] {
        append.id.map { self.recent.settle($0, in: append.lane, at: offset) } ?? []
    }

    /// The number of a lane that has one.
    func knownNumber(of lane: Lane) -> Int? { self.numbers[lane] }

    /// The number of a lane, which is given to it here if it is new.
    mutating func number(of lane: Lane) throws(EventLogError) -> Int {
        if let number = self.numbers[lane] { return number }
        guard self.lanes.count < EventLogSchema.lanesMax else {
            throw .failed("the limit lanesMax (\(EventLogSchema.lanesMax)) is passed")
        }
        self.lanes.append(LaneState(lane: lane))
        self.numbers[lane] = self.lanes.count - 1
        return self.lanes.count - 1
    }

    /// The name of a lane.
    func lane(_ number: Int) -> Lane { self.lanes[number].lane }

    /// Everything that waits.
    mutating func takeQueue() -> [WaitingAppend] {
        let queue = self.queue
        self.queue = []
        self.queueBytes = 0
        return queue
    }

    /// Everything that waits, with the offsets that follow what is durable.
    mutating func offerQueue() -> [OfferedAppend] {
        var last: [Int: UInt64] = [:]
        return self.takeQueue()
            .map { each in
                let previous = last[each.lane] ?? self.lanes[each.lane].head
                let offset = max(previous, self.base) + 1
                last[each.lane] = offset
                return OfferedAppend(offset: offset, previous: previous, append: each)
            }
    }

    /// Lets appends that the writer could not write wait again, before those that came after them.
    mutating func putBack(_ batch: [OfferedAppend]) {
        self.queue = batch.map(\.append) + self.queue
        self.queueBytes += batch.reduce(0) { $0 + $1.record.count }
    }

    /// Whether the writer has to come again.
    mutating func writerGoes() -> Bool {
        self.writerComes = !self.queue.isEmpty
        return self.writerComes
    }

    /// A transaction is durable.
    ///
    /// - Returns: the readers that have something to read now.
    mutating func committed(_ batch: [OfferedAppend]) -> [CheckedContinuation<Void, Never>] {
        for each in batch {
            self.lanes[each.lane].head = each.offset
            self.lanes[each.lane].tail
                .append(LoggedRecord(offset: each.offset, previous: each.previous, bytes: each.record))
            self.tailOrder.append(each.lane)
            self.tailBytes += each.record.count + Self.recordOverheadBytes
        }
        while self.tailBytes > self.limits.tailBytesMax, let lane = self.tailOrder.popFirst() {
            guard let oldest = self.lanes[lane].tail.popFirst() else { continue }
            self.tailBytes -= oldest.bytes.count + Self.recordOverheadBytes
        }
        let ready = self.readers.filter { $0.value.offset < self.head(of: $0.value.lane) }
        for id in ready.keys { self.readers[id] = nil }
        return ready.values.map(\.continuation)
    }

    /// Lets all but the newest records in memory go, and the room that the others took; readers find them in the file.
    ///
    /// - Returns: the storage that held them, to be freed where no caller waits for this state: it may be more than a hundred
    ///   thousand records.
    mutating func releaseTails() -> [Deque<LoggedRecord>] {
        let bytesMax = min(Self.tailBytesReleased, self.limits.tailBytesMax)
        let tails = self.lanes.map(\.tail)
        var kept = tails.map { _ in 0 }
        var (count, bytes) = (0, 0)
        for lane in self.tailOrder.reversed() {
            let record = tails[lane][tails[lane].count - 1 - kept[lane]]
            let more = record.bytes.count + Self.recordOverheadBytes
            guard bytes + more <= bytesMax else { break }
            kept[lane] += 1
            count += 1
            bytes += more
        }
        for lane in tails.indices { self.lanes[lane].tail = Deque(tails[lane].suffix(kept[lane])) }
        self.tailOrder = Deque(self.tailOrder.suffix(count))
        self.tailBytes = bytes
        return tails
    }

    /// The content of the file is not certain any more, so nothing is accepted from now on.
    ///
    /// Readers keep waiting: what was durable before can still be read, and nothing will be added.
    ///
    /// - Returns: the appends that wait, and the watchers of a failure.
    mutating func fail(_ reason: String) -> (appends: [WaitingAppend], watchers: [CheckedContinuation<Void, Never>]) {
        if self.failure == nil { self.failure = reason }
        defer { self.watchers = [:] }
        return (self.takeQueue(), Array(self.watchers.values))
    }

    mutating func beginClosing() {
        if self.phase == .open { self.phase = .closing }
    }

    /// Nothing more will be written.
    ///
    /// - Returns: all readers and watchers that wait.
    mutating func endClosing() -> [CheckedContinuation<Void, Never>] {
        self.phase = .closed
        defer {
            self.readers = [:]
            self.watchers = [:]
        }
        return self.readers.values.map(\.continuation) + self.watchers.values
    }

    /// Adds a caller that waits for a failure; `false` when there is no need to wait.
    mutating func watch(_ id: UInt64, _ continuation: CheckedContinuation<Void, Never>) -> Bool {
        guard self.failure == nil, !self.isClosed, !Task.isCancelled else { return false }
        self.watchers[id] = continuation
        return true
    }

    mutating func cancelWatcher(_ id: UInt64) -> CheckedContinuation<Void, Never>? {
        self.watchers.removeValue(forKey: id)
    }
}

// MARK: - Reading and forgetting

extension EventLogState {
    /// The newest durable offset of a lane.
    func head(of lane: Lane) -> UInt64 {
        self.numbers[lane].map { self.lanes[$0].head } ?? 0
    }

    /// The records after an offset.
    func look(_ lane: Lane, after offset: UInt64, recordsMax: Int, bytesMax: Int) -> Look {
        guard let number = self.numbers[lane] else { return self.isClosed ? .nothingMore : .nothingYet }
        let state = self.lanes[number]
        guard offset >= state.firstKept - 1 else {
            return .failed(.pruned(lane: lane, firstKept: state.firstKept))
        }
        guard offset < state.head else { return self.isClosed ? .nothingMore : .nothingYet }
        // Records in the tail came since the log was opened: there is no jump in it.
        let next = self.identity.following(offset, in: lane)
        guard let oldest = state.tail.first, oldest.offset <= next else {
            return self.isClosed ? .failed(.closed) : .inFile(lane: number)
        }
        var records: [LoggedRecord] = []
        var bytes = 0
        for record in state.tail.dropFirst(Int(next - oldest.offset)).prefix(recordsMax) {
            records.append(record)
            bytes += record.bytes.count
            if bytes >= bytesMax { break }
        }
        return .records(records)
    }

    mutating func nextReaderID() -> UInt64 {
        self.readerCounter += 1
        return self.readerCounter
    }

    /// Keeps a reader waiting; `false` when there is no need to.
    mutating func wait(
        _ id: UInt64,
        lane: Lane,
        after offset: UInt64,
        _ continuation: CheckedContinuation<Void, Never>
    ) -> Bool {
        // The task's flag is set before its cancellation handler looks here for the reader.
        guard !self.isClosed, offset >= self.head(of: lane), !Task.isCancelled else { return false }
        self.readers[id] = Reader(lane: lane, offset: offset, continuation: continuation)
        return true
    }

    mutating func cancelReader(_ id: UInt64) -> CheckedContinuation<Void, Never>? {
        self.readers.removeValue(forKey: id)?.continuation
    }

    /// Forgets records: readers do not find them from now on.
    ///
    /// - Returns: the records to delete from the file; `nil`: none.
    mutating func prune(_ lane: Lane, through offset: UInt64) -> (lane: Int, offsets: ClosedRange<UInt64>)? {
        guard let number = self.numbers[lane] else { return nil }
        let last = min(offset, self.lanes[number].head)
        self.lanes[number].firstKept = max(self.lanes[number].firstKept, last + 1)
        // Parts that an earlier attempt did not reach are still in the file.
        let first = self.lanes[number].firstStored
        guard first <= last else { return nil }
        return (number, first...last)
    }

    /// A record of the file is another one from now on.
    mutating func replace(_ bytes: [UInt8], at offset: UInt64, of lane: Int) {
        guard let oldest = self.lanes[lane].tail.first?.offset, offset >= oldest else { return }
        // Records in the tail came since the log was opened: there is no jump in it.
        let place = Int(offset - oldest)
        guard place < self.lanes[lane].tail.count else { return }
        let before = self.lanes[lane].tail[place]
        self.lanes[lane].tail[place] = LoggedRecord(offset: offset, previous: before.previous, bytes: bytes)
        self.tailBytes += bytes.count - before.bytes.count
    }

    /// The file holds no records of a lane before this offset any more.
    mutating func deleted(before offset: UInt64, of lane: Int) {
        self.lanes[lane].firstStored = max(self.lanes[lane].firstStored, offset)
    }
}
