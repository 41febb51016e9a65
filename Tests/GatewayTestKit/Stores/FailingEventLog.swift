// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Dispatch
package import GatewayCore
import Synchronization

/// An event log whose calls fail when a test says so, and whose answers to appends can be held back.
///
/// ```swift
/// let log = FailingEventLog(InMemoryEventLog())
/// log.fail(.append, at: 3, .happened)  // the third append from now on is durable, and reported as failed
/// ```
package final class FailingEventLog: LocalEventLog {
    package enum Call: Hashable, Sendable {
        case append
        case read
        case head
        case save
        case snapshot
        case prune
    }

    /// In which order answers that were held back are given.
    package enum AnswerOrder: Hashable, Sendable {
        case asTheyCame
        case reversed
    }

    private struct State {
        var plan = FailurePlan<Call>()
        var isHolding = false
        var held: [@Sendable () -> Void] = []
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    /// The error of every failure made here.
    package static let error = EventLogError.failed("as the test wants it")

    private let base: any LocalEventLog
    private let state = Mutex(State())
    private let answers = DispatchQueue(label: "failing-log")

    package init(_ base: any LocalEventLog) {
        self.base = base
    }

    package var identity: LogIdentity { self.base.identity }

    /// Makes one call fail.
    ///
    /// - Parameters:
    ///   - call: of which kind.
    ///   - number: 1 is the next call of this kind.
    ///   - effect: whether it is done all the same.
    package func fail(_ call: Call, at number: Int = 1, _ effect: FailureEffect = .nothingHappened) {
        self.state.withLock { $0.plan.fail(call, at: number, effect) }
    }

    /// Makes every call of a kind fail until `heal()`.
    package func failEvery(_ call: Call, _ effect: FailureEffect = .nothingHappened) {
        self.state.withLock { $0.plan.failEvery(call, effect) }
    }

    /// Forgets every failure to come.
    package func heal() {
        self.state.withLock { $0.plan.heal() }
    }

    /// Holds back the answers to appends from now on.
    package func holdAnswers() {
        self.state.withLock { $0.isHolding = true }
    }

    /// Returns when so many answers are held back.
    package func answersHeld(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = self.state.withLock { state in
                if state.held.count >= count { return true }
                state.waiting.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Gives the answers that were held back, and holds back no more.
    package func releaseAnswers(_ order: AnswerOrder = .asTheyCame) {
        let held = self.state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held
        }
        self.answers.async {
            for answer in order == .reversed ? held.reversed() : held { answer() }
        }
    }

    package func append(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) {
        let effect = self.state.withLock { $0.plan.next(.append) }
        switch effect {
        case nil: self.base.append(record, id: id, to: lane) { result in self.answer { done(result) } }
        case .happened:
            self.base.append(record, id: id, to: lane) { _ in self.answer { done(.failure(Self.error)) } }
        case .nothingHappened:
            self.answers.async { self.answer { done(.failure(Self.error)) } }
        }
    }

    private func answer(_ body: @escaping @Sendable () -> Void) {
        let (isHeld, ready) = self.state.withLock { state in
            guard state.isHolding else { return (false, [CheckedContinuation<Void, Never>]()) }
            state.held.append(body)
            let count = state.held.count
            let ready = state.waiting.filter { $0.count <= count }
            state.waiting.removeAll { $0.count <= count }
            return (true, ready.map(\.continuation))
        }
        if !isHeld { body() }
        for each in ready { each.resume() }
    }

    package func read(
        _ lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> [LoggedRecord] {
        try await self.call(.read) { base throws(EventLogError) in
            try await base.read(lane, after: offset, recordsMax: recordsMax, bytesMax: bytesMax)
        }
    }

    package func head(of lane: Lane) async throws(EventLogError) -> UInt64 {
        try await self.call(.head) { base throws(EventLogError) in try await base.head(of: lane) }
    }

    package func save(_ portion: SnapshotPortion, of lane: Lane) async throws(EventLogError) {
        try await self.call(.save) { base throws(EventLogError) in try await base.save(portion, of: lane) }
    }

    package func snapshotOffset(of lane: Lane) async throws(EventLogError) -> UInt64? {
        try await self.call(.snapshot) { base throws(EventLogError) in try await base.snapshotOffset(of: lane) }
    }

    package func snapshotParts(
        of lane: Lane,
        after key: String?,
        bytesMax: Int
    ) async throws(EventLogError) -> [SnapshotPart] {
        try await self.call(.snapshot) { base throws(EventLogError) in
            try await base.snapshotParts(of: lane, after: key, bytesMax: bytesMax)
        }
    }

    package func advance(_ reader: LogReader, in lane: Lane, through offset: UInt64) {
        self.base.advance(reader, in: lane, through: offset)
    }

    package func release(keeping records: UInt64) async throws(EventLogError) {
        try await self.call(.prune) { base throws(EventLogError) in try await base.release(keeping: records) }
    }

    package func prune(_ lane: Lane, through offset: UInt64) async throws(EventLogError) {
        try await self.call(.prune) { base throws(EventLogError) in try await base.prune(lane, through: offset) }
    }

    package func close() async {
        await self.base.close()
    }

    private func call<Value: Sendable>(
        _ call: Call,
        _ body: (any LocalEventLog) async throws(EventLogError) -> Value
    ) async throws(EventLogError) -> Value {
        let effect = self.state.withLock { $0.plan.next(call) }
        if effect == .nothingHappened { throw Self.error }
        let value = try await body(self.base)
        if effect == .happened { throw Self.error }
        return value
    }
}
