// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Dispatch
package import GatewayCore
import Synchronization

/// An event log in memory: durable as long as it is referenced.
///
/// It is the reference for what the protocol means: everything is in plain arrays under one lock.
package final class InMemoryEventLog: LocalEventLog {
    fileprivate struct LaneState {
        /// The newest offset.
        var head: UInt64 = 0
        /// The offsets of appends with an id; as long as the log is open.
        var appends: [AppendID: UInt64] = [:]
        /// Records before it were pruned.
        var firstKept: UInt64 = 1
        /// The records that are kept: those at the end, up to `head`.
        var records: [LoggedRecord] = []
        var snapshot = SnapshotInMemory()

        /// Loses the records after an offset, and the snapshot where it holds some of them.
        mutating func lose(after offset: UInt64) {
            self.records.removeAll { $0.offset > offset }
            self.head = min(self.head, max(offset, self.firstKept - 1))
            self.snapshot.lose(after: self.head)
        }
    }

    fileprivate struct State {
        var lanes: [Lane: LaneState] = [:]
        var isClosed = false
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var counter: UInt64 = 0
    }

    fileprivate enum Look {
        case records([LoggedRecord])
        case pruned(firstKept: UInt64)
        case nothingYet
        case nothingMore
    }

    package let identity: LogIdentity
    private let state: Mutex<State>
    private let watermarks = Mutex(Watermarks())
    private let answers = DispatchQueue(label: "in-memory-log")

    /// An empty log.
    package init() {
        self.identity = LogIdentity()
        self.state = Mutex(State())
    }

    private init(_ identity: LogIdentity, lanes: [Lane: LaneState]) {
        self.identity = identity
        self.state = Mutex(State(lanes: lanes))
    }

    /// The same history in a log that is open, as after a restart.
    package func reopened() -> InMemoryEventLog {
        var lanes = self.state.withLock(\.lanes)
        for lane in lanes.keys { lanes[lane]?.appends = [:] }
        return InMemoryEventLog(self.identity, lanes: lanes)
    }

    /// The same history in a new epoch, as after a restore.
    ///
    /// - Parameter offsets: the last records that are still there, by lane; those of other lanes all are.
    /// - Returns: a log whose offsets go on above everything that this one gave out.
    package func restored(keepingThrough offsets: [Lane: UInt64] = [:]) -> InMemoryEventLog {
        var lanes = self.state.withLock(\.lanes)
        let known = lanes.values.map(\.head).max() ?? 0
        for (lane, offset) in offsets { lanes[lane]?.lose(after: offset) }
        let identity = self.identity.continued(
            epoch: .random(in: 1 ... .max),
            base: max(known, self.identity.current.base) + EventLogLimits.epochOffsetStep,
            last: lanes.mapValues(\.head)
        )
        return InMemoryEventLog(identity, lanes: lanes)
    }

    package func append(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) {
        let (result, waiting) = self.state.withLock { state -> (Result<UInt64, EventLogError>, [Waiter]) in
            guard !state.isClosed else { return (.failure(.closed), []) }
            if let id, let offset = state.lanes[lane]?.appends[id] {
                self.answers.async { done(.success(offset)) }
                return (.success(offset), [])
            }
            let previous = state.lanes[lane]?.head ?? 0
            let offset = max(previous, self.identity.current.base) + 1
            state.lanes[lane, default: LaneState()].records
                .append(LoggedRecord(offset: offset, previous: previous, bytes: record))
            state.lanes[lane, default: LaneState()].head = offset
            if let id { state.lanes[lane]?.appends[id] = offset }
            // In the lock, so that answers come in the order of the offsets.
            self.answers.async { done(.success(offset)) }
            return (.success(offset), state.takeWaiting())
        }
        if case .failure = result { self.answers.async { done(result) } }
        for each in waiting { each.resume() }
    }

    package func read(
        _ lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> [LoggedRecord] {
        while true {
            let look = self.state.withLock { state in
                state.look(lane, after: offset, recordsMax: max(1, recordsMax), bytesMax: bytesMax)
            }
            switch look {
            case .records(let records): return records
            case .pruned(let firstKept): throw .pruned(lane: lane, firstKept: firstKept)
            case .nothingMore: return []
            case .nothingYet:
                if Task.isCancelled { return [] }
                await self.waitForRecord(in: lane, after: offset)
            }
        }
    }

    /// Returns when something has changed, or the task is cancelled.
    private func waitForRecord(in lane: Lane, after offset: UInt64) async {
        let id = self.state.withLock { state in
            state.counter += 1
            return state.counter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = self.state.withLock { state in
                    let head = state.lanes[lane]?.head ?? 0
                    guard !state.isClosed, offset >= head, !Task.isCancelled else { return false }
                    state.waiting[id] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            self.state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }

    package func head(of lane: Lane) async throws(EventLogError) -> UInt64 {
        try self.open { $0.lanes[lane]?.head ?? 0 }
    }

    package func save(_ portion: SnapshotPortion, of lane: Lane) async throws(EventLogError) {
        let head = try await self.head(of: lane)
        guard portion.offset <= head else {
            throw .failed("a snapshot of the lane \(lane) at \(portion.offset) is ahead of its head \(head)")
        }
        let isTaken = try self.open { state in
            state.lanes[lane, default: LaneState()].snapshot.keep(portion)
        }
        guard isTaken else { throw .failed("a portion of a snapshot of the lane \(lane) follows none") }
    }

    package func snapshotOffset(of lane: Lane) async throws(EventLogError) -> UInt64? {
        try self.open { $0.lanes[lane]?.snapshot.offset }
    }

    package func snapshotParts(
        of lane: Lane,
        after key: String?,
        bytesMax: Int
    ) async throws(EventLogError) -> [SnapshotPart] {
        try self.open { $0.lanes[lane]?.snapshot.parts(after: key, bytesMax: bytesMax) ?? [] }
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
        try self.open { state in
            guard var each = state.lanes[lane] else { return }
            each.records.removeAll { $0.offset <= offset }
            each.firstKept = max(each.firstKept, min(offset, each.head) + 1)
            state.lanes[lane] = each
        }
    }

    package func close() async {
        let waiting = self.state.withLock { state in
            state.isClosed = true
            return state.takeWaiting()
        }
        for each in waiting { each.resume() }
    }

    private func open<Value: Sendable>(_ body: (inout State) -> Value) throws(EventLogError) -> Value {
        let value: Value? = self.state.withLock { state in state.isClosed ? nil : body(&state) }
        guard let value else { throw .closed }
        return value
    }
}

private typealias Waiter = CheckedContinuation<Void, Never>

extension InMemoryEventLog.State {
    fileprivate mutating func takeWaiting() -> [Waiter] {
        defer { self.waiting = [:] }
        return Array(self.waiting.values)
    }

    fileprivate func look(
        _ lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) -> InMemoryEventLog.Look {
        guard let state = self.lanes[lane], offset < state.head else {
            return self.isClosed ? .nothingMore : .nothingYet
        }
        guard offset + 1 >= state.firstKept else { return .pruned(firstKept: state.firstKept) }
        var records: [LoggedRecord] = []
        var bytes = 0
        for record in state.records where record.offset > offset {
            records.append(record)
            bytes += record.bytes.count
            if records.count == recordsMax || bytes >= bytesMax { break }
        }
        return .records(records)
    }
}
