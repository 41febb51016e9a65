// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Dispatch
package import GatewayCore
import Synchronization

/// A log far away for gateways that run: `FarModel`, whose virtual time goes on as fast as the machine can.
///
/// ```swift
/// let server = FarServer(.stormy, seed: SeededGenerator.seed)
/// let one = server.connect()     // an EventLog for one gateway
/// let other = server.connect()   // and one for another
/// ```
package final class FarServer: Sendable {
    typealias Done = @Sendable (Result<UInt64, EventLogError>) -> Void
    private typealias Waiter = CheckedContinuation<Void, Never>

    fileprivate struct Reader {
        let gateway: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    fileprivate struct State {
        var model: FarModel
        var snapshots: [Lane: SnapshotInMemory] = [:]
        var watermarks: [Int: Watermarks] = [:]
        var gatewayCount = 0
        var done: [UInt64: Done] = [:]
        var readers: [UInt64: Reader] = [:]
        /// Those who wait until nothing of a gateway is under way.
        var closers: [(gateway: Int, continuation: CheckedContinuation<Void, Never>)] = []
        /// Takes nothing from these any more.
        var closed: Set<Int> = []
        /// Those whose readers get nothing more.
        var ended: Set<Int> = []
        var counter: UInt64 = 0
    }

    let identity: LogIdentity
    private let state: Mutex<State>
    private let time = DispatchQueue(label: "far-log")

    /// - Parameters:
    ///   - conditions: how it behaves.
    ///   - seed: of everything that is left to chance.
    package convenience init(_ conditions: FarConditions = .calm, seed: UInt64 = 0) {
        self.init(FarModel(conditions, seed: seed))
    }

    private init(_ model: FarModel, snapshots: [Lane: SnapshotInMemory] = [:]) {
        self.identity = model.identity
        self.state = Mutex(State(model: model, snapshots: snapshots))
    }

    /// A log for one gateway.
    package func connect() -> FarLog {
        let gateway = self.state.withLock { state in
            state.gatewayCount += 1
            return state.model.addGateway()
        }
        return FarLog(self, gateway: gateway)
    }

    /// The same history after all its gateways have closed it: nothing of it is known by its id.
    package func reopened() -> FarServer {
        let (model, snapshots) = self.state.withLock { state in
            var model = state.model
            model.forgetIDs()
            return (model, state.snapshots)
        }
        return FarServer(model, snapshots: snapshots)
    }

    /// The same history in a new epoch, as after a restore.
    package func restored() -> FarServer {
        let (model, snapshots) = self.state.withLock { ($0.model.restored(), $0.snapshots) }
        return FarServer(model, snapshots: snapshots)
    }

    /// Sets how it behaves from now on.
    package func set(_ conditions: FarConditions) {
        self.state.withLock { $0.model.conditions = conditions }
    }

    /// Everything in a lane, whether a gateway can read it already or not.
    package func everything(in lane: Lane) -> [LoggedRecord] {
        self.state.withLock { $0.model.everything(in: lane) }
    }

    // MARK: - What a gateway asks

    func append(_ record: [UInt8], id: AppendID?, to lane: Lane, by gateway: Int, done: @escaping Done) {
        let refusal: EventLogError? = self.state.withLock { state in
            guard !state.closed.contains(gateway) else { return .closed }
            guard record.count <= EventLogLimits.recordBytesMax else {
                return .failed("the limit recordBytesMax (\(EventLogLimits.recordBytesMax)) is passed")
            }
            let number = state.model.append(record, id: id, to: lane, by: gateway)
            state.done[number] = done
            return nil
        }
        self.time.async {
            if let refusal { return done(.failure(refusal)) }
            self.passTime()
        }
    }

    /// Lets time go on until nothing happens any more.
    private func passTime() {
        while true {
            let (isOver, answers, readers) = self.state.withLock { state -> (Bool, [@Sendable () -> Void], [Waiter]) in
                guard let effects = state.model.step() else { return (true, [], []) }
                var answers: [@Sendable () -> Void] = []
                var readers: [Waiter] = []
                for effect in effects {
                    switch effect {
                    case .answered(let number, _, let result):
                        guard let done = state.done.removeValue(forKey: number) else { continue }
                        answers.append { done(result) }
                    case .shown(_, let gateway): readers += state.takeReaders(of: gateway)
                    }
                }
                return (false, answers, readers)
            }
            for each in answers { each() }
            for each in readers { each.resume() }
            for each in self.state.withLock({ $0.takeClosers() }) { each.resume() }
            if isOver { return }
        }
    }

    /// A gateway sees nothing new until it is released.
    func hold(_ isHeld: Bool, _ gateway: Int) {
        let readers = self.state.withLock { state in
            state.model.hold(isHeld, gateway).isEmpty ? [] : state.takeReaders(of: gateway)
        }
        for each in readers { each.resume() }
    }

    enum Look {
        case records([LoggedRecord])
        case failed(EventLogError)
        case nothingMore
        case nothingYet
    }

    func look(_ lane: Lane, after offset: UInt64, by gateway: Int, recordsMax: Int, bytesMax: Int) -> Look {
        self.state.withLock { state in
            guard offset < state.model.shown(lane, to: gateway) else {
                return state.ended.contains(gateway) ? .nothingMore : .nothingYet
            }
            let firstKept = state.model.firstKept(of: lane)
            guard offset + 1 >= firstKept else { return .failed(.pruned(lane: lane, firstKept: firstKept)) }
            let records = state.model.records(
                lane,
                after: offset,
                by: gateway,
                recordsMax: recordsMax,
                bytesMax: bytesMax
            )
            return .records(records)
        }
    }

    /// Returns when a gateway can read more, its log is closed, or the task is cancelled.
    func waitForRecord(in lane: Lane, after offset: UInt64, by gateway: Int) async {
        let id = self.state.withLock { state in
            state.counter += 1
            return state.counter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = self.state.withLock { state in
                    guard !state.ended.contains(gateway), offset >= state.model.shown(lane, to: gateway),
                        !Task.isCancelled
                    else { return false }
                    state.readers[id] = Reader(gateway: gateway, continuation: continuation)
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            self.state.withLock { $0.readers.removeValue(forKey: id)?.continuation }?.resume()
        }
    }

    func isClosed(_ gateway: Int) -> Bool { self.state.withLock { $0.ended.contains(gateway) } }

    func head(of lane: Lane) -> UInt64 { self.state.withLock { $0.model.head(of: lane) } }

    func save(_ portion: SnapshotPortion, of lane: Lane, by gateway: Int) throws(EventLogError) {
        let (head, isTaken) = self.state.withLock { state -> (UInt64, Bool?) in
            let head = state.model.head(of: lane)
            guard portion.offset <= head else { return (head, nil) }
            return (head, state.snapshots[lane, default: SnapshotInMemory()].keep(portion, by: gateway))
        }
        guard let isTaken else {
            throw .failed("a snapshot of the lane \(lane) at \(portion.offset) is ahead of its head \(head)")
        }
        guard isTaken else { throw .failed("a portion of a snapshot of the lane \(lane) follows none") }
    }

    func snapshot(of lane: Lane) -> SnapshotInMemory {
        self.state.withLock { $0.snapshots[lane] ?? SnapshotInMemory() }
    }

    func prune(_ lane: Lane, through offset: UInt64) { self.state.withLock { $0.model.prune(lane, through: offset) } }

    func advance(_ reader: LogReader, in lane: Lane, through offset: UInt64, by gateway: Int) {
        self.state.withLock { $0.watermarks[gateway, default: Watermarks()].advance(reader, in: lane, through: offset) }
    }

    /// Forgets what no reader of a gateway that is connected needs.
    func release(keeping records: UInt64) {
        self.state.withLock { state in
            let marks = (0..<state.gatewayCount).filter { !state.ended.contains($0) }
                .map { state.watermarks[$0] ?? Watermarks() }
            for lane in Set(marks.flatMap(\.lanes)) {
                let last = marks.map { $0.releasable(of: lane, in: self.identity, keeping: records) }.min() ?? 0
                if last > 0 { state.model.prune(lane, through: last) }
            }
        }
    }

    /// Takes nothing more of a gateway, and returns when all that was under way is answered.
    func close(_ gateway: Int) async {
        self.state.withLock { _ = $0.closed.insert(gateway) }
        await withCheckedContinuation { continuation in
            let waits = self.state.withLock { state in
                guard state.model.openCount(of: gateway) > 0 else { return false }
                state.closers.append((gateway, continuation))
                return true
            }
            if !waits { continuation.resume() }
        }
        let readers = self.state.withLock { state in
            state.ended.insert(gateway)
            return state.takeReaders(of: gateway)
        }
        for each in readers { each.resume() }
    }
}

extension FarServer.State {
    fileprivate mutating func takeReaders(of gateway: Int) -> [CheckedContinuation<Void, Never>] {
        let ready = self.readers.filter { $0.value.gateway == gateway }
        for id in ready.keys { self.readers[id] = nil }
        return ready.values.map(\.continuation)
    }

    fileprivate mutating func takeClosers() -> [CheckedContinuation<Void, Never>] {
        let ready = self.closers.filter { self.model.openCount(of: $0.gateway) == 0 }
        self.closers.removeAll { self.model.openCount(of: $0.gateway) == 0 }
        return ready.map(\.continuation)
    }
}
