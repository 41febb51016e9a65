// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Logging
import Synchronization

/// The results of the signals of each stream, for operators, and the metrics by source.
package final class SignalMonitor: Sendable {
    /// So many refused signals in a row of one source are an alarm.
    package static let refusedInARow = 5
    /// How long after the newest of them they are.
    package static let refusalsMatterFor: Duration = .seconds(3_600)

    private struct State {
        var book: SignalBook
        /// The sources that have a label of their own.
        var labels: Set<String> = []
    }

    private let metrics: MetricRegistry
    private let sourcesMax: Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - metrics: counts signals by source.
    ///   - limits: of the book.
    ///   - sourcesMax: the most sources that have metrics of their own.
    package init(
        metrics: MetricRegistry,
        limits: SignalBook.Limits = SignalBook.Limits(),
        sourcesMax: Int = LimitName.signalSourcesMax.value
    ) {
        self.metrics = metrics
        self.sourcesMax = sourcesMax
        self.state = Mutex(State(book: SignalBook(limits)))
    }

    /// The signals and sources of a stream; `nil`: nothing is kept.
    package func stream(_ stream: StreamID) -> SignalBook.Stream? { self.state.withLock { $0.book[stream] } }

    /// A signal was answered.
    ///
    /// - Parameters:
    ///   - signal: the signal.
    ///   - outcome: its result.
    ///   - reply: the answer.
    func note(_ signal: BroadcastRequest.Signal, _ outcome: SignalOutcome, _ reply: BroadcastReply) {
        // A broadcaster without the right to a stream leaves no trace among its signals; the audit has it.
        guard outcome.status != .notAllowed else { return }
        var breakID: BreakID?
        if case .break(let info) = reply.body { breakID = info.key.id }
        let seen = SeenSignal(signal, outcome, about: breakID, at: reply.gatewayTime)
        let (label, reached) = self.state.withLock { state in
            (self.label(of: signal.name.source, in: &state), state.book.note(seen, on: signal.stream))
        }
        self.count(label, seen.result, reached)
    }

    /// Raises the alarm of sources whose signals are refused in a row, or ends it.
    ///
    /// - Parameters:
    ///   - now: the gateway's clock.
    ///   - readiness: shows alarms.
    ///   - logger: for people.
    func lookAtSources(at now: Timestamp, _ readiness: ReadinessBoard, _ logger: Logger) {
        let refused = self.state.withLock {
            $0.book.refusedSources(atLeast: Self.refusedInARow, since: now - Self.refusalsMatterFor)
        }
        guard let first = refused.first else {
            if readiness.clear(.cuesRefused) {
                logger.notice("the alarm is over", metadata: ["alarm": "\(Alarm.cuesRefused.rawValue)"])
            }
            return
        }
        let others = refused.count > 1 ? " So it is with \(refused.count - 1) more sources." : ""
        let sentence =
            "The last \(first.count) signals of the source \(first.source) on \(first.stream) were refused: \(first.reason)\(others)"
        if readiness.raise(.cuesRefused, sentence) { logger.warning("\(sentence)") }
    }

    /// The name of a source in metrics.
    private func label(of source: SignalSource, in state: inout State) -> String {
        let name = source.description
        if state.labels.contains(name) { return name }
        guard state.labels.count < self.sourcesMax else { return MetricLabel.otherSources }
        state.labels.insert(name)
        return name
    }

    private func count(_ label: String, _ result: SeenSignal.Result, _ reached: [LimitName], by amount: Int = 1) {
        self.metrics.count(.sourceSignals, .source(label, result.metricLabel), by: amount)
        for limit in reached { self.metrics.count(.limitsHit, .limit(limit)) }
        if label == MetricLabel.otherSources { self.metrics.count(.limitsHit, .limit(.signalSourcesMax)) }
    }
}

extension SignalOutcome.Oddity {
    var metricLabel: MetricLabel {
        switch self {
        case .outWithoutIn: .outWithoutIn
        case .inWithoutOut: .inWithoutOut
        case .secondOut: .secondOut
        }
    }
}
