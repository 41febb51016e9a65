// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import DequeModule
import GatewayCore

/// An append that is not durable yet.
struct WaitingAppend: Sendable {
    let lane: Lane
    let laneID: Int64
    let offset: UInt64
    let record: [UInt8]
    let done: @Sendable (Result<UInt64, EventLogError>) -> Void
}

/// What a log keeps in memory: who waits, where each lane stands, and its newest records.
struct LogState {
    struct LaneState {
        let id: Int64
        var firstKept: UInt64 = 1
        /// The newest durable offset.
        var head: UInt64 = 0
        /// The next offset to give out.
        var next: UInt64 = 1
        /// The newest durable records, without gaps up to `head`.
        var tail: Deque<LoggedRecord> = []
        var tailBytes = 0
        /// Whether the file has this lane.
        var isStored = true
    }

    /// What a reader finds.
    enum Look {
        case records([LoggedRecord])
        case inFile(Int64)
        case nothingYet
        case pruned(firstKept: UInt64)
        case ended
    }

    private struct Reader {
        let lane: Lane
        let offset: UInt64
        let continuation: CheckedContinuation<Void, Never>
    }

    private(set) var lanes: [Lane: LaneState]
    private var queue: [WaitingAppend] = []
    private(set) var queuedBytes = 0
    var isWriting = false
    private(set) var isClosed = false
    private(set) var failure: String?
    private var readers: [UInt64: Reader] = [:]
    private var readerCounter: UInt64 = 0

    init(lanes: [Lane: LaneState]) {
        self.lanes = lanes
    }

    /// Why nothing is accepted; `nil`: it is.
    var refusal: EventLogError? {
        if let failure = self.failure { return .failed(failure) }
        return self.isClosed ? .closed : nil
    }

    mutating func enqueue(
        _ record: [UInt8],
        lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) {
        var state = self.lanes[lane] ?? LaneState(id: Int64(self.lanes.count) + 1, isStored: false)
        self.queue.append(
            WaitingAppend(lane: lane, laneID: state.id, offset: state.next, record: record, done: done)
        )
        self.queuedBytes += record.count
        state.next += 1
        self.lanes[lane] = state
    }

    /// Everything that waits; `nil` ends the writer's turn.
    mutating func takeQueue() -> [WaitingAppend]? {
        guard !self.queue.isEmpty else {
            self.isWriting = false
            return nil
        }
        defer {
            self.queue = []
            self.queuedBytes = 0
        }
        return self.queue
    }

    /// A transaction is durable.
    ///
    /// - Returns: the readers that have something to read now.
    mutating func committed(_ batch: [WaitingAppend]) -> [CheckedContinuation<Void, Never>] {
        for each in batch {
            guard var lane = self.lanes[each.lane] else { continue }
            lane.isStored = true
            lane.head = each.offset
            lane.tail.append(LoggedRecord(offset: each.offset, bytes: each.record))
            lane.tailBytes += each.record.count
            while lane.tailBytes > SQLiteEventLog.tailBytesMax, let first = lane.tail.popFirst() {
                lane.tailBytes -= first.bytes.count
            }
            self.lanes[each.lane] = lane
        }
        let ready = self.readers.filter { ($0.value.offset) < (self.lanes[$0.value.lane]?.head ?? 0) }
        for id in ready.keys { self.readers[id] = nil }
        return ready.values.map(\.continuation)
    }

    /// A transaction failed: nothing is accepted from now on.
    mutating func fail(_ reason: String) -> (appends: [WaitingAppend], readers: [CheckedContinuation<Void, Never>]) {
        self.failure = reason
        self.isWriting = false
        let appends = self.queue
        self.queue = []
        self.queuedBytes = 0
        return (appends, self.endReaders())
    }

    mutating func close() -> [CheckedContinuation<Void, Never>] {
        self.isClosed = true
        return self.endReaders()
    }

    private mutating func endReaders() -> [CheckedContinuation<Void, Never>] {
        defer { self.readers = [:] }
        return self.readers.values.map(\.continuation)
    }

    func look(_ lane: Lane, after offset: UInt64, recordsMax: Int, bytesMax: Int) -> Look {
        let state = self.lanes[lane] ?? LaneState(id: 0)
        guard offset + 1 >= state.firstKept else { return .pruned(firstKept: state.firstKept) }
        guard offset < state.head else {
            return self.isClosed || self.failure != nil ? .ended : .nothingYet
        }
        guard let first = state.tail.first, first.offset <= offset + 1 else {
            return self.isClosed ? .ended : .inFile(state.id)
        }
        var records: [LoggedRecord] = []
        var bytes = 0
        for index in Int(offset + 1 - first.offset)..<state.tail.count {
            guard records.count < recordsMax, bytes < bytesMax || records.isEmpty else { break }
            records.append(state.tail[index])
            bytes += state.tail[index].bytes.count
        }
        return .records(records)
    }

    mutating func nextReaderID() -> UInt64 {
        self.readerCounter += 1
        return self.readerCounter
    }

    /// `false` when there is no need to wait.
    mutating func wait(
        _ id: UInt64,
        lane: Lane,
        after offset: UInt64,
        _ continuation: CheckedContinuation<Void, Never>
    ) -> Bool {
        guard !self.isClosed, self.failure == nil, offset >= (self.lanes[lane]?.head ?? 0), !Task.isCancelled else {
            return false
        }
        self.readers[id] = Reader(lane: lane, offset: offset, continuation: continuation)
        return true
    }

    mutating func cancelReader(_ id: UInt64) -> CheckedContinuation<Void, Never>? {
        self.readers.removeValue(forKey: id)?.continuation
    }

    /// Forgets records.
    ///
    /// - Returns: what to delete from the file; `nil`: nothing.
    mutating func prune(_ lane: Lane, through offset: UInt64) -> (laneID: Int64, from: UInt64, through: UInt64)? {
        guard var state = self.lanes[lane] else { return nil }
        let through = min(offset, state.head)
        guard through >= state.firstKept else { return nil }
        let from = state.firstKept
        state.firstKept = through + 1
        while let first = state.tail.first, first.offset <= through {
            state.tailBytes -= first.bytes.count
            state.tail.removeFirst()
        }
        self.lanes[lane] = state
        return (state.id, from, through)
    }
}
