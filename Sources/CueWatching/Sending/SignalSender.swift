// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastBroadcast
internal import CuecastWire

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Gives the signals of watchers to the gateway, and says what became of everything that they saw.
///
/// The signals of one source reach the gateway in their order, one at a time; a source does not wait for another one. A signal
/// that the gateway could not take is tried again until it does not matter any more; what the gateway refuses is said and not
/// tried again.
package actor SignalSender {
    /// The signals of one source of one stream, which keep their order.
    private struct Lane: Hashable {
        let stream: String
        let source: String

        init(_ observation: CueObservation) {
            self.stream = observation.stream
            self.source = observation.source
        }

        init(_ facts: WatchedSource.Facts) {
            self.stream = facts.stream.description
            self.source = facts.source.description
        }
    }

    private struct Waiting {
        let number: Int
        let observation: CueObservation
        let signal: ProgrammeSignal
        let seenMilliseconds: Int
    }

    private let receiver: (any SignalReceiver)?
    private let output: WatchOutput
    private let clock: WatchClock
    private let limits: SignalSenderLimits
    private let sources: [Lane: WatchedSource]
    private var waiting: [Lane: [Waiting]] = [:]
    private var tasks: [Lane: Task<Void, Never>] = [:]
    private var taken = 0
    private var isEnding = false
    private var complaints: RareComplaints
    /// Whether the gateway took nothing since the last complaint.
    private var isGatewayFailing = false
    /// The counts until now.
    package private(set) var counts = WatchCounts()

    /// A sender with an empty queue.
    ///
    /// - Parameters:
    ///   - receiver: the gateway; `nil`: nothing is sent, and the output says what would be.
    ///   - output: is told about everything that was seen.
    ///   - sources: are told what did not reach the gateway, by the stream and the source of observations.
    ///   - clock: the time.
    ///   - limits: the bounds.
    package init(
        receiver: (any SignalReceiver)?,
        output: WatchOutput,
        sources: [WatchedSource] = [],
        clock: WatchClock = .system,
        limits: SignalSenderLimits = SignalSenderLimits()
    ) {
        self.receiver = receiver
        self.output = output
        self.clock = clock
        self.limits = limits
        self.sources = Dictionary(sources.map { (Lane($0.facts), $0) }) { first, _ in first }
        self.complaints = RareComplaints(period: limits.complaintPeriod)
    }

    /// How many signals wait for their turn.
    var waitingSignals: Int { self.waiting.values.reduce(0) { $0 + $1.count } }

    /// Takes something that was seen, and returns at once.
    ///
    /// - Parameter observation: the observation.
    package func take(_ observation: CueObservation) {
        self.counts.seen += 1
        let now = self.clock.now()
        switch observation.meaning {
        case .ignored(let reason):
            self.source(of: observation)?.note(isUnusable: false, seen: observation.seen, reason: reason)
            self.report(WatchLine(observation, .ignored, atMilliseconds: now))
        case .refused(let refusal):
            self.note(refusal, of: observation, atMilliseconds: now)
            self.report(WatchLine(observation, .refused, atMilliseconds: now))
        case .signal(let signal):
            guard self.receiver != nil else {
                self.report(WatchLine(observation, .notSent, atMilliseconds: now))
                return
            }
            self.taken += 1
            let waiting = Waiting(
                number: self.taken,
                observation: observation,
                signal: signal,
                seenMilliseconds: now
            )
            guard !self.isEnding else {
                self.drop(waiting, "the watch ends")
                return
            }
            self.enqueue(waiting)
        }
    }

    /// Counts a fault of a kind that was told before.
    package func countRepeatedFault() { self.counts.repeatedFaults += 1 }

    /// Waits until every signal is sent, at most for a while, and drops the rest.
    package func end() async {
        self.isEnding = true
        let limit = Task { [clock, limits] in
            guard (try? await clock.sleep(limits.endWaitMax)) != nil else { return }
            for task in self.tasks.values { task.cancel() }
        }
        while let task = self.tasks.values.first { await task.value }
        limit.cancel()
        await limit.value
    }

    // MARK: The queue

    private func enqueue(_ signal: Waiting) {
        if self.waitingSignals >= max(self.limits.waitingSignalsMax, 1) {
            let oldest = self.waiting.min { ($0.value.first?.number ?? .max) < ($1.value.first?.number ?? .max) }
            if let lane = oldest?.key, let dropped = self.waiting[lane]?.removeFirst() {
                let reason = "\(self.limits.waitingSignalsMax) signals wait already (waitingSignalsMax)"
                self.drop(dropped, reason)
                let sentence = self.complaints.sentence(
                    .droppedSignal,
                    "a signal was dropped, the oldest: \(reason).",
                    atMilliseconds: self.clock.now()
                )
                if let sentence { self.output.complain(sentence) }
            }
        }
        let lane = Lane(signal.observation)
        self.waiting[lane, default: []].append(signal)
        if self.tasks[lane] == nil {
            self.tasks[lane] = Task(name: "Signals of \(lane.stream)/\(lane.source)") { await self.send(lane) }
        }
    }

    private func drop(_ signal: Waiting, _ reason: String) {
        var line = WatchLine(signal.observation, .dropped, atMilliseconds: signal.seenMilliseconds)
        line.reason = reason
        self.lost(signal, reason)
        self.report(line)
    }

    // MARK: What does not reach the gateway

    private func source(of observation: CueObservation) -> WatchedSource? { self.sources[Lane(observation)] }

    /// A source that is out of reach sent nothing that could be used or not.
    private func note(_ refusal: CueRefusal, of observation: CueObservation, atMilliseconds now: Int) {
        guard let source = self.source(of: observation) else { return }
        source.trouble(refusal.sentence, atMilliseconds: now)
        guard refusal.code != .unreachable else { return }
        source.note(isUnusable: true, seen: observation.seen, reason: refusal.description)
    }

    /// A signal did not reach the gateway.
    private func lost(_ signal: Waiting, _ reason: String) {
        self.source(of: signal.observation)?
            .note(isUnusable: true, seen: signal.observation.seen, reason: "It did not reach the gateway: \(reason)")
    }

    private func report(_ line: WatchLine) {
        self.counts.count(line.result)
        self.output.line(line)
    }

    // MARK: Sending

    private func send(_ lane: Lane) async {
        while let next = self.waiting[lane]?.first {
            self.waiting[lane]?.removeFirst()
            if Task.isCancelled {
                self.drop(next, "the watch ended before it was sent")
            } else {
                await self.send(next)
            }
        }
        self.waiting[lane] = nil
        self.tasks[lane] = nil
    }

    private func send(_ waiting: Waiting) async {
        guard let receiver = self.receiver else { return }
        var delay = self.limits.retryDelayFirst
        var attempts = 0
        while true {
            let failure: BroadcastError
            do throws(BroadcastError) {
                attempts += 1
                if attempts > 1 { self.counts.retries += 1 }
                let status = try await receiver.receive(waiting.signal)
                var line = WatchLine(waiting.observation, .sent, atMilliseconds: waiting.seenMilliseconds)
                line.reply = WatchLine.Reply(status)
                self.gatewayReplied()
                self.report(line)
                return
            } catch {
                failure = error
            }
            guard failure.mayBeTriedAgain else {
                if case .refused = failure { self.gatewayReplied() }
                if case .cancelled = failure {
                    self.drop(waiting, "the watch ended before it was sent")
                    return
                }
                var line = WatchLine(
                    waiting.observation,
                    .refusedByGateway,
                    atMilliseconds: waiting.seenMilliseconds
                )
                line.reason = failure.description
                // What the gateway refused it knows; other failures kept the signal from it.
                if case .refused = failure {} else { self.lost(waiting, failure.description) }
                self.report(line)
                return
            }
            self.gatewayFailed(failure)
            let wait = Duration.milliseconds(Int64.random(in: 0...max(delay.inMicroseconds / 1_000, 0)))
            if self.isTooOld(waiting, after: wait) {
                var line = WatchLine(waiting.observation, .expired, atMilliseconds: waiting.seenMilliseconds)
                line.reason = failure.description
                self.lost(waiting, failure.description)
                self.report(line)
                return
            }
            delay = min(delay * 2, self.limits.retryDelayMax)
            guard (try? await self.clock.sleep(wait)) != nil else {
                self.drop(waiting, "the watch ended before it was sent: \(failure.description)")
                return
            }
        }
    }

    /// Whether a signal does not matter any more after a wait.
    ///
    /// The lateness of the cue rule is about starts in programme time: the gateway takes no later one. A signal without a start counts as
    /// of its receipt, and is never late for the gateway.
    private func isTooOld(_ waiting: Waiting, after wait: Duration) -> Bool {
        let start = waiting.signal.startMilliseconds
        let reference = max(start ?? 0, waiting.seenMilliseconds)
        let age = (self.clock.now() - reference) + Int(wait.inMicroseconds / 1_000)
        let hasRule = start != nil && waiting.signal.isProgrammeTime
        let most = hasRule ? self.source(of: waiting.observation)?.rules.latenessMilliseconds : nil
        return age > most ?? Int(self.limits.signalAgeMax.inMicroseconds / 1_000)
    }

    /// An outage is told once, at its beginning, and so is its end.
    private func gatewayFailed(_ error: BroadcastError) {
        guard !self.isGatewayFailing else { return }
        self.isGatewayFailing = true
        self.output.complain("\(error) Signals are tried again.")
    }

    private func gatewayReplied() {
        guard self.isGatewayFailing else { return }
        self.isGatewayFailing = false
        self.output.complain("The gateway takes signals again.")
    }
}

extension WatchClock {
    /// The system's.
    package static let system = WatchClock(
        now: { Int(Date().timeIntervalSince1970 * 1_000) },
        sleep: { try await Task.sleep(for: $0) }
    )
}

extension BroadcastError {
    /// Whether the same signal can succeed later: the gateway was not there, or was not able to.
    fileprivate var mayBeTriedAgain: Bool {
        switch self {
        case .timedOut, .unreachable: true
        case .refused(let refusal): refusal.mayBeTriedSoon
        case .invalid, .tooLarge, .unreadableReply, .cancelled, .closed: false
        @unknown default: false
        }
    }
}
