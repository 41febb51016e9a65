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
        var watchers: WatcherBook
        /// How long nothing may come from a source.
        var silentAfter = SettingDefaults.sourceSilentAfter
        /// The sources that have a label of their own.
        var labels: Set<String> = []
        /// Those of them that a gauge shows the age of.
        var aged: Set<String> = []
    }

    private let metrics: MetricRegistry
    private let sourcesMax: Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - metrics: counts signals by source.
    ///   - limits: of the book.
    ///   - sourcesMax: the most sources that have metrics of their own.
    ///   - watchersMax: the most watchers whose reports are kept.
    package init(
        metrics: MetricRegistry,
        limits: SignalBook.Limits = SignalBook.Limits(),
        sourcesMax: Int = LimitName.signalSourcesMax.value,
        watchersMax: Int = LimitName.watchersMax.value
    ) {
        self.metrics = metrics
        self.sourcesMax = sourcesMax
        self.state = Mutex(State(book: SignalBook(limits), watchers: WatcherBook(watchersMax: watchersMax)))
    }

    /// The signals and sources of a stream; `nil`: nothing is kept.
    package func stream(_ stream: StreamID) -> SignalBook.Stream? { self.state.withLock { $0.book[stream] } }

    /// The watchers of a stream, by their newest reports.
    package func watchers(_ stream: StreamID) -> [WatcherBook.Watcher] {
        self.state.withLock { $0.watchers.watchers(of: stream) }
    }

    /// Takes over how long nothing may come from a source.
    func use(silentAfter: Duration) { self.state.withLock { $0.silentAfter = silentAfter } }

    /// A watcher has reported.
    ///
    /// - Parameters:
    ///   - report: the report, checked.
    ///   - interval: how long after it the next one is expected.
    ///   - now: the gateway's clock.
    package func note(_ report: BroadcastRequest.WatchReport, nextAfter interval: Duration, at now: Timestamp) {
        var counted: [(result: SeenSignal.Result, count: Int, reached: [LimitName])] = []
        let (label, isFull) = self.state.withLock { state in
            let (isNews, isFull) = state.watchers.note(report, at: now, interval: interval)
            // One that is told again because its answer was lost was counted when it came first.
            if isNews { counted = Self.count(report, in: &state.book, at: now) }
            return (self.label(of: report.source, in: &state), isFull)
        }
        for each in counted { self.count(label, each.result, each.reached, by: each.count) }
        if isFull { self.metrics.count(.limitsHit, .limit(.watchersMax)) }
    }

    /// Counts what a report tells: some of it one by one, the rest as a number.
    private static func count(
        _ report: BroadcastRequest.WatchReport,
        in book: inout SignalBook,
        at now: Timestamp
    ) -> [(result: SeenSignal.Result, count: Int, reached: [LimitName])] {
        var counted: [(result: SeenSignal.Result, count: Int, reached: [LimitName])] = []
        var rest: [(result: SeenSignal.Result, count: Int)] = [
            (.ignored, Int(report.ignored)), (.unusable, Int(report.unusable)),
        ]
        for cue in report.cues {
            let seen = SeenSignal(cue, of: report.source, at: now)
            counted.append((seen.result, seen.times, book.note(seen, on: report.stream)))
            rest[cue.isUnusable ? 1 : 0].count -= seen.times
        }
        for (result, count) in rest where count > 0 {
            counted.append((result, count, book.count(count, result, of: report.source, on: report.stream, at: now)))
        }
        return counted
    }

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

    /// Raises the alarms of sources whose signals are refused in a row, and of those that are silent, or ends them.
    ///
    /// - Parameters:
    ///   - now: the gateway's clock.
    ///   - readiness: shows alarms.
    ///   - logger: for people.
    func lookAtSources(at now: Timestamp, _ readiness: ReadinessBoard, _ logger: Logger) {
        let (refused, silent) = self.state.withLock { state in
            state.watchers.forget(at: now)
            self.showAges(at: now, in: &state)
            return (
                state.book.refusedSources(atLeast: Self.refusedInARow, since: now - Self.refusalsMatterFor),
                state.watchers.silentSources(at: now, after: state.silentAfter)
            )
        }
        let refusal = refused.first.map {
            "The last \($0.count) signals of the source \($0.source) on \($0.stream) were refused: \($0.reason)"
        }
        Self.show(.cuesRefused, refusal, of: refused.count, readiness, logger)
        Self.show(.sourceSilent, silent.first?.sentence, of: silent.count, readiness, logger)
    }

    /// Shows an alarm of sources with a sentence about the first of them, or none any more.
    private static func show(
        _ alarm: Alarm,
        _ sentence: String?,
        of count: Int,
        _ readiness: ReadinessBoard,
        _ logger: Logger
    ) {
        guard let sentence else {
            if readiness.clear(alarm) { logger.notice("the alarm is over", metadata: ["alarm": "\(alarm.rawValue)"]) }
            return
        }
        let text = sentence + (count > 1 ? " So it is with \(count - 1) more sources." : "")
        if readiness.raise(alarm, text) { logger.warning("\(text)") }
    }

    /// Sets the gauges of the watchers and of their sources.
    private func showAges(at now: Timestamp, in state: inout State) {
        self.metrics.set(.watchers, to: state.watchers.count)
        var ages: [String: Duration] = [:]
        for (source, age) in state.watchers.ages(at: now) {
            let label = self.label(of: source, in: &state)
            ages[label] = max(ages[label] ?? .zero, age)
        }
        for label in state.aged.subtracting(ages.keys) {
            self.metrics.set(.sourceHeardSeconds, MetricLabel(text: label), to: 0)
        }
        for (label, age) in ages {
            // 0 is the word for a source that is not watched.
            let microseconds = max(Int(clamping: age.inMicroseconds), 1)
            self.metrics.set(.sourceHeardSeconds, MetricLabel(text: label), to: microseconds)
        }
        state.aged = Set(ages.keys)
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
