// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Logging
import Synchronization

/// The event log for all its writers, with the state that its answers show: a change is reported once, whichever writer found it.
final class LogHealth: Sendable {
    private struct State {
        var silence: LogSilence
        var isFull = false
        /// Whether the log takes nothing until the next start.
        var hasFailed = false
    }

    private let log: any EventLog
    /// `nil`: the log is not on this machine, and has no bound of its own.
    private let maintenance: (any LogMaintenance)?
    /// Whether several gateways share it.
    let isShared: Bool
    /// The run of the gateway.
    let origin: UInt64
    private let appends = Atomic<UInt64>(0)
    private let state: Mutex<State>
    private let metrics: MetricRegistry
    private let readiness: ReadinessBoard
    private let logger: Logger

    /// - Parameters:
    ///   - log: the event log.
    ///   - origin: the run of the gateway.
    ///   - silenceMax: how long it may answer nothing at all while something waits before an operator is told.
    ///   - metrics: counts what it answers.
    ///   - readiness: shows whether it works.
    ///   - logger: for people.
    init(
        log: LogParts,
        origin: UInt64,
        silenceMax: Duration,
        metrics: MetricRegistry,
        readiness: ReadinessBoard,
        logger: Logger
    ) {
        self.log = log.log
        self.maintenance = log.maintenance
        self.isShared = log.isShared
        self.origin = origin
        self.state = Mutex(State(silence: LogSilence(silenceMax: silenceMax)))
        self.metrics = metrics
        self.readiness = readiness
        self.logger = logger
    }

    /// An id for the next append; no two are the same.
    func nextID() -> AppendID {
        AppendID(origin: self.origin, number: self.appends.add(1, ordering: .relaxed).newValue)
    }

    /// Hands a record to the log.
    ///
    /// - Parameters:
    ///   - record: the bytes.
    ///   - id: of the append.
    ///   - lane: to which lane.
    ///   - answered: called once, on any thread, with the record's offset, or why the log does not have it.
    func append(
        _ record: [UInt8],
        id: AppendID,
        to lane: Lane,
        answered: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) {
        let handedOver = ContinuousClock.now
        self.state.withLock { $0.silence.asked(at: handedOver) }
        self.log.append(record, id: id, to: lane) { result in
            self.metrics.observe(.appendSeconds, ContinuousClock.now - handedOver)
            self.note(result, of: lane)
            answered(result)
        }
    }

    private func note(_ result: Result<UInt64, EventLogError>, of lane: Lane) {
        switch result {
        case .success(let offset):
            self.metrics.set(.logOffset, .lane(lane), to: Int(clamping: offset))
            self.state.withLock { state in
                state.silence.heard(at: .now)
                self.readiness.set(.log, isReady: !state.isFull && !state.hasFailed)
            }
        case .failure(.dropped):
            // The log works, and has a later record: this one is tried again.
            self.metrics.count(.logFailures)
            self.state.withLock { $0.silence.heard(at: .now) }
            self.logger.notice("the event log dropped a record", metadata: ["lane": "\(lane)"])
        case .failure(let error):
            self.metrics.count(.logFailures)
            self.state.withLock { state in
                state.silence.heard(at: .now)
                self.readiness.set(.log, isReady: false)
            }
            self.logger.error("the event log failed", metadata: ["lane": "\(lane)", "error": "\(error)"])
        }
    }

    /// Checks whether the log is full.
    func checkCapacity() -> Bool {
        let isFull = self.maintenance?.usage?.isReached ?? false
        let hasChanged = self.state.withLock { state in
            guard state.isFull != isFull else { return false }
            state.isFull = isFull
            self.readiness.set(.log, isReady: !isFull && !state.hasFailed)
            return true
        }
        if hasChanged {
            self.logger.warning(isFull ? "the event log has no room for new work" : "the event log has room again")
        }
        return isFull
    }

    /// The log takes nothing until the next start.
    func failForGood() {
        self.state.withLock { $0.hasFailed = true }
    }

    /// Whether the log takes nothing until the next start.
    var hasFailed: Bool { self.state.withLock(\.hasFailed) }

    /// A log that does not answer is reported: a new start would not make its disk any faster (docs/internals/decisions/0037).
    func lookAtSilence() {
        switch self.state.withLock({ $0.silence.look(at: .now) }) {
        case .silent(let duration):
            let sentence =
                "The event log has not answered for \(duration.components.seconds) s: nothing is confirmed. Look at its disk."
            if self.readiness.raise(.logSilent, sentence) {
                self.logger.error("the event log does not answer", metadata: ["for": "\(duration)"])
            }
        case .answersAgain:
            if self.readiness.clear(.logSilent) { self.logger.notice("the event log answers again") }
        case .fine: break
        }
    }
}
