// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Logging

/// Writes down what becomes of broadcasters' requests: in metrics, in the log of messages, in the audit, and in traces.
struct BroadcastRecorder: Sendable {
    let metrics: MetricRegistry
    let peers: PeerLog
    let audit: AuditTrail
    let traces: RequestTraces
    let clock: any GatewayClock
    /// The results of the signals of each stream.
    let signals: SignalMonitor

    /// A request is answered.
    ///
    /// - Parameters:
    ///   - reply: the answer.
    ///   - waiting: the request.
    func replied(_ reply: BroadcastReply, to waiting: WaitingBroadcaster) {
        self.log(reply, to: waiting)
        if case .refused(let refusal) = reply.body {
            self.metrics.count(.refusals, .status(refusal.status))
            if refusal == .tooManyStreams { self.metrics.count(.limitsHit, .limit(.streamsMax)) }
            if refusal == .boardFull() { self.metrics.count(.limitsHit, .limit(.boardBytesMax)) }
        }
        if let signal = waiting.signal, let outcome = waiting.signalOutcome {
            self.metrics.count(.signals, reply.signalResult)
            if let oddity = outcome.oddity { self.metrics.count(.oddSignals, oddity.metricLabel) }
            if let lateness = outcome.lateness { self.metrics.observe(.signalLateSeconds, lateness) }
            self.signals.note(signal, outcome, reply)
        }
        if let report = waiting.report, case .cueRule(let rule) = reply.body {
            self.signals.note(report, nextAfter: rule.reportInterval, at: reply.gatewayTime)
        }
        // Lists of what there is change nothing.
        if !waiting.kind.isQuery { self.audit.note(waiting.auditRecord(reply, isNew: reply.changed)) }
    }

    private func log(_ reply: BroadcastReply, to waiting: WaitingBroadcaster) {
        switch reply.body {
        case .break(let info):
            self.peers.log(
                .changes,
                .info,
                reply.changed ? "a broadcaster changed a break" : "a broadcaster's request had no effect",
                waiting.metadata(["state": "\(info.state)"])
            )
        case .refused(let refusal):
            self.peers.log(
                .refusals,
                .notice,
                "a broadcaster's request was refused",
                waiting.metadata(["status": "\(refusal.status.name)", "sentence": "\(refusal.sentence)"])
            )
        case .list(let breaks, _):
            self.peers.log(
                .changes,
                .debug,
                "a broadcaster asked for a list",
                waiting.metadata(["breaks": "\(breaks.count)"])
            )
        case .adList(let list, _):
            self.peers.log(
                .changes,
                reply.changed ? .info : .debug,
                reply.changed ? "a broadcaster changed an ad list" : "a broadcaster asked for an ad list",
                waiting.metadata(["list": "\(list.name)", "revision": "\(list.revision)"])
            )
        case .adLists(let lists):
            self.peers.log(
                .changes,
                .debug,
                "a broadcaster asked for the ad lists",
                waiting.metadata(["lists": "\(lists.count)"])
            )
        case .cueRule: self.peers.log(.changes, .debug, "a watcher reported", waiting.metadata([:]))
        }
    }

    /// Keeps the span of a decision, and notes when it was made.
    func decided(_ waiting: inout WaitingBroadcaster, _ plan: BroadcastPlan, from start: Timestamp) {
        guard let trace = waiting.trace else { return }
        let now = self.clock.now()
        waiting.decided = now
        let decided = waiting
        self.traces.keep([
            TraceSpan(
                "decide",
                trace.context.newSpan(),
                parent: trace.context.span,
                from: start,
                to: now,
                attributes: TraceSpan.attributes(of: decided.kind, decided.key) + [("cuecast.plan", .text(plan.word))]
            )
        ])
    }

    /// Keeps the spans of a group that the log has answered.
    ///
    /// - Parameters:
    ///   - broadcasters: those of the group whose requests are traced.
    ///   - result: the log's answer.
    func committed(_ broadcasters: [WaitingBroadcaster], _ result: Result<UInt64, EventLogError>) {
        let now = self.clock.now()
        var fault: String?
        var more: [(name: String, value: TraceSpan.Value)] = []
        switch result {
        case .success(let offset): more = [("cuecast.log.offset", .number(Int(clamping: offset)))]
        case .failure: fault = "The event log did not take it."
        }
        self.traces.keep(
            broadcasters.compactMap { waiting in
                waiting.trace.map { trace in
                    TraceSpan(
                        "log commit",
                        trace.context.newSpan(),
                        parent: trace.context.span,
                        from: waiting.decided ?? trace.start,
                        to: now,
                        attributes: TraceSpan.attributes(of: waiting.kind, waiting.key) + more,
                        fault: fault
                    )
                }
            }
        )
    }
}

extension BroadcastReply {
    /// The result of a signal.
    fileprivate var signalResult: MetricLabel {
        if case .refused = self.body { return .refused }
        return self.changed ? .changed : .unchanged
    }
}

extension MetricLabel {
    /// Whether requests of this kind change nothing.
    var isQuery: Bool { self == .list || self == .lists || self == .watchReport }
}

extension BroadcastPlan {
    /// The plan in one word, for spans.
    fileprivate var word: String {
        switch self {
        case .append: "record"
        case .answer(.refused(let refusal)): refusal.status.name
        case .answer: "unchanged"
        }
    }
}
