// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Synchronization

/// An event log whose appends can be held back or made to fail, in front of another that keeps the records.
final class ControlledLog: LocalEventLog {
    /// The treatment of appends to a lane.
    enum Mode {
        /// They go to the log behind.
        case passing
        /// They wait, not durable, until the lane passes again.
        case holding
        /// They go to the log behind, but no caller is told until the lane passes again.
        case holdingAnswers
        /// They fail.
        case failing
    }

    private struct State {
        var modes: [Lane: Mode] = [:]
        var held: [@Sendable () -> Void] = []
        var appended: [Lane: Int] = [:]
        var readsFail = false
        var beforeAppend: (@Sendable () -> Void)?
        var usage: LogUsage?
        var failure: String?
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    let identity: LogIdentity
    private let base: any LocalEventLog
    private let state = Mutex(State())

    /// Controls a log; under another epoch where a test wants the same history twice.
    init(_ base: any LocalEventLog, epoch: UInt64? = nil) {
        self.base = base
        self.identity = epoch.map { LogIdentity(epoch: $0) } ?? base.identity
    }

    /// Sets what happens to appends from now on; those that were held go on when the lane passes.
    func set(_ lane: Lane, _ mode: Mode) {
        let released = self.state.withLock { state in
            state.modes[lane] = mode
            guard case .passing = mode else { return [] as [@Sendable () -> Void] }
            defer { state.held = [] }
            return state.held
        }
        for each in released { each() }
    }

    /// Sets the function that runs first on the appending thread, as a handler that takes its time.
    func set(beforeAppend: (@Sendable () -> Void)?) {
        self.state.withLock { $0.beforeAppend = beforeAppend }
    }

    /// Lets every read that is under way, and every later one, fail.
    func failReads() {
        self.state.withLock { $0.readsFail = true }
    }

    /// Sets how much room the log says that it uses.
    func set(usage: LogUsage?) {
        self.state.withLock { $0.usage = usage }
    }

    /// The content of the log is not certain from now on: held appends fail, and so do later ones.
    func stop(_ reason: String) {
        let (held, watchers) = self.state.withLock { state in
            defer {
                state.held = []
                state.watchers = []
            }
            state.failure = reason
            return (state.held, state.watchers)
        }
        for each in held { each() }
        for each in watchers { each.resume() }
    }

    var usage: LogUsage? { self.state.withLock(\.usage) }

    func stopped() async -> String? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = self.state.withLock { state in
                    guard state.failure == nil, !Task.isCancelled else { return false }
                    state.watchers.append(continuation)
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            let watchers = self.state.withLock { state in
                defer { state.watchers = [] }
                return state.watchers
            }
            for each in watchers { each.resume() }
        }
        return self.state.withLock(\.failure)
    }

    /// How many appends to a lane were asked for, whatever became of them.
    func appendCount(of lane: Lane) -> Int { self.state.withLock { $0.appended[lane] ?? 0 } }

    func append(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) {
        let base = self.base
        self.state.withLock(\.beforeAppend)?()
        let mode = self.state.withLock { state in
            state.appended[lane, default: 0] += 1
            // A log that has stopped delays no caller.
            let mode = state.failure == nil ? state.modes[lane] ?? .passing : .passing
            if case .holding = mode { state.held.append { self.pass(record, id: id, to: lane, done: done) } }
            return mode
        }
        switch mode {
        case .passing: self.pass(record, id: id, to: lane, done: done)
        case .holding: break
        case .holdingAnswers:
            base.append(record, id: id, to: lane) { result in
                let isHeld = self.state.withLock { state in
                    guard case .holdingAnswers = state.modes[lane] else { return false }
                    state.held.append { done(result) }
                    return true
                }
                if !isHeld { done(result) }
            }
        case .failing: done(.failure(.failed("the test wants it so")))
        }
    }

    private func pass(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) {
        if let reason = self.state.withLock(\.failure) { return done(.failure(.uncertain(reason))) }
        self.base.append(record, id: id, to: lane, done: done)
    }

    func read(
        _ lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> [LoggedRecord] {
        while true {
            if self.state.withLock({ $0.readsFail }) { throw .failed("the test wants it so") }
            // A short wait at a time, so that a read under way can be made to fail.
            if try await self.base.head(of: lane) > offset || Task.isCancelled {
                return try await self.base.read(lane, after: offset, recordsMax: recordsMax, bytesMax: bytesMax)
            }
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    func head(of lane: Lane) async throws(EventLogError) -> UInt64 { try await self.base.head(of: lane) }

    func save(_ portion: SnapshotPortion, of lane: Lane) async throws(EventLogError) {
        try await self.base.save(portion, of: lane)
    }

    func snapshotOffset(of lane: Lane) async throws(EventLogError) -> UInt64? {
        try await self.base.snapshotOffset(of: lane)
    }

    func snapshotParts(
        of lane: Lane,
        after key: String?,
        bytesMax: Int
    ) async throws(EventLogError) -> [SnapshotPart] {
        try await self.base.snapshotParts(of: lane, after: key, bytesMax: bytesMax)
    }

    func advance(_ reader: LogReader, in lane: Lane, through offset: UInt64) {
        self.base.advance(reader, in: lane, through: offset)
    }

    func release(keeping records: UInt64) async throws(EventLogError) {
        try await self.base.release(keeping: records)
    }

    func prune(_ lane: Lane, through offset: UInt64) async throws(EventLogError) {
        try await self.base.prune(lane, through: offset)
    }

    /// The log behind stays open, for the gateway that comes next.
    func close() async {}
}
