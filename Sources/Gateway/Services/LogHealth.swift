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
        /// Whether the servers of a shared log cannot be reached, or what they have is doubtful, or an answer of theirs did not come.
        var isCutOff = false
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
                if self.isShared, error == .unanswered { state.isCutOff = true }
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

    /// A shared log that cannot be reached, or that may have gone back, is not ready, and is ready again by itself: no request has to come
    /// for that, because a balancer sends none to a gateway that is not ready.
    func lookAtServers() {
        guard self.isShared else { return }
        let (silence, doubt) = (self.log.silence, self.log.doubt)
        let isAway = silence >= EventLogLimits.cutOffAfter
        if isAway {
            let sentence =
                "The servers of the shared log have not answered for \(silence.components.seconds) s: nothing is confirmed; batches, positions and time are answered. It goes on by itself when they answer: look at them, and at the network."
            if self.readiness.raise(.logCutOff, sentence) {
                self.logger.error("the gateway is cut off from the shared log", metadata: ["for": "\(silence)"])
            }
        } else if self.readiness.clear(.logCutOff) {
            self.logger.notice("the shared log answers again")
        }
        if let doubt {
            let sentence =
                "The shared log may have gone back: \(doubt). Nothing is confirmed; where that does not pass, the gateway ends."
            if self.readiness.raise(.logWentBack, sentence) {
                self.logger.error("the shared log may have gone back", metadata: ["reason": "\(doubt)"])
            }
        } else if !self.hasFailed, self.readiness.clear(.logWentBack) {
            self.logger.notice("the shared log is what it was")
        }
        let isCutOff = isAway || doubt != nil
        self.state.withLock { state in
            guard state.isCutOff || isCutOff else { return }
            state.isCutOff = isCutOff
            self.readiness.set(.log, isReady: !isCutOff && !state.isFull && !state.hasFailed)
        }
    }

    /// A log that does not answer is reported: a new start would not make its disk any faster (docs/internals/decisions/0037).
    func lookAtSilence() {
        switch self.state.withLock({ $0.silence.look(at: .now) }) {
        case .silent(let duration):
            let place = self.isShared ? "at the servers of NATS" : "at its disk"
            let sentence =
                "The event log has not answered for \(duration.components.seconds) s: nothing is confirmed. Look \(place)."
            if self.readiness.raise(.logSilent, sentence) {
                self.logger.error("the event log does not answer", metadata: ["for": "\(duration)"])
            }
        case .answersAgain:
            if self.readiness.clear(.logSilent) { self.logger.notice("the event log answers again") }
        case .fine: break
        }
    }
}
