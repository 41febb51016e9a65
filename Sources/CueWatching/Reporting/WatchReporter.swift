// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastBroadcast
package import CuecastWire

/// Takes reports of watchers: the gateway.
package protocol WatchReportReceiver: Sendable {
    /// Takes a report.
    ///
    /// - Parameter report: the report.
    /// - Returns: the cue rule of its stream.
    /// - Throws: why it was not taken.
    func report(_ report: BroadcastRequest.WatchReport) async throws(BroadcastError) -> CueRule
}

extension BroadcastClient: WatchReportReceiver {}

/// The bounds of a ``WatchReporter``.
package struct WatchReporterLimits: Hashable, Sendable {
    /// How long the watch waits for the gateway's cue rules before it begins without them.
    package var rulesWaitMax: Duration = .seconds(3)
    /// How long the end of a watch waits for the goodbye to arrive.
    package var goodbyeWaitMax: Duration = .seconds(2)
    /// The time between two rounds of reports until the gateway tells another one.
    package var interval: Duration = .seconds(30)
    /// The time to the next round where the gateway does not answer.
    package var retryInterval: Duration = .seconds(5)
    /// The shortest time between two rounds, whatever the gateway tells.
    package var intervalMin: Duration = .milliseconds(500)
    /// The time between two rounds where the gateway takes no reports: an older one may be replaced by a newer one.
    package var refusedInterval: Duration = .seconds(300)

    /// The default limits.
    package init() {}
}

/// Brings the reports of one process's sources to the gateway, and its cue rules back.
///
/// A gateway that is away, or does not know reports, never ends a watch: the watch goes on with its options, and says so once.
package actor WatchReporter {
    private let sources: [WatchedSource]
    private let watcher: SignalSource
    private let receiver: any WatchReportReceiver
    private let complain: @Sendable (String) -> Void
    private let clock: WatchClock
    private let limits: WatchReporterLimits
    /// Why the gateway takes no reports about a source, as it was told last; by the place in `sources`.
    private var refusals: [Int: BroadcastRefusal.Status] = [:]
    /// The last sentence about a source's cue policy; none is here while it is the usual one.
    private var policies: [Int: String] = [:]
    /// How long after the last round the next one is.
    private var wait: Duration

    /// A reporter that has told nothing yet.
    ///
    /// - Parameters:
    ///   - sources: the watched sources.
    ///   - watcher: the name of the watcher, another one after each start.
    ///   - receiver: the gateway.
    ///   - complain: takes sentences for people.
    ///   - clock: the time.
    ///   - limits: the bounds.
    package init(
        _ sources: [WatchedSource],
        watcher: SignalSource,
        receiver: any WatchReportReceiver,
        complain: @escaping @Sendable (String) -> Void,
        clock: WatchClock = .system,
        limits: WatchReporterLimits = WatchReporterLimits()
    ) {
        self.sources = sources
        self.watcher = watcher
        self.receiver = receiver
        self.complain = complain
        self.clock = clock
        self.limits = limits
        self.wait = limits.interval
    }

    /// Asks for the rules of all sources, and waits for them for a while.
    package func begin() async {
        let areThere = await self.within(self.limits.rulesWaitMax) { await self.round() }
        // An older gateway was told of already.
        guard !areThere, !Task.isCancelled, !self.refusals.values.contains(.unsupported) else { return }
        self.complain("The gateway does not tell its cue rules: the watch begins with its options, and asks again.")
    }

    /// Reports again and again, until the task is cancelled.
    package func run() async {
        while (try? await self.clock.sleep(self.wait)) != nil { _ = await self.round() }
    }

    /// Says goodbye: the gateway forgets this watcher, and makes no alarm of its silence.
    package func end() async {
        _ = await self.within(self.limits.goodbyeWaitMax) { await self.round(isLast: true) }
    }

    // MARK: A round

    /// Reports about all sources, one after the other.
    ///
    /// The next round comes when the first of the sources is due, and is about all of them: a source that is refused does not delay the
    /// others.
    ///
    /// - Returns: whether the gateway answered about all sources.
    private func round(isLast: Bool = false) async -> Bool {
        var waits: [Duration] = []
        defer { self.wait = waits.min() ?? self.limits.interval }
        for (place, source) in self.sources.enumerated() {
            let report = source.report(by: self.watcher, atMilliseconds: self.clock.now(), isLast: isLast)
            do throws(BroadcastError) {
                let rule = try await self.receiver.report(report)
                self.refusals[place] = nil
                waits.append(max(rule.reportInterval, self.limits.intervalMin))
                if source.settle(rule), !isLast { self.tell(rule, of: place) }
            } catch {
                guard case .refused(let refusal) = error, !refusal.canRetry else {
                    // Each further report would wait as long for nothing.
                    waits.append(self.limits.retryInterval)
                    return false
                }
                _ = source.settle(nil)
                waits.append(self.limits.refusedInterval)
                self.tell(refusal, of: place)
                // A gateway that knows no reports knows none of any source; a right may be there for the next one.
                if refusal.status == .unsupported { return false }
            }
        }
        return true
    }

    /// Tells the cue policy of a source, where another sentence is true of it than before.
    private func tell(_ rule: CueRule, of place: Int) {
        let stream = self.sources[place].facts.stream
        let sentence = Self.sentence(about: rule, of: stream)
        let before = self.policies[place]
        self.policies[place] = sentence
        guard sentence != before else { return }
        self.complain(sentence ?? "The cue policy for \(stream) is the usual one again.")
    }

    /// The sentence about a cue policy; `nil`: it is the usual one.
    private static func sentence(about rule: CueRule, of stream: StreamID) -> String? {
        guard rule.isKnown else {
            return "The gateway has no cue rule for the stream \(stream) (breaks.cues): it refuses its signals."
        }
        var parts: [String] = []
        if let types = rule.segments.openingTypes {
            parts.append(
                types.isEmpty ? "no segment opens a break" : "segments \(SegmentPolicy.text(of: types)) open a break"
            )
        }
        if let types = rule.segments.endingTypes, !types.isEmpty {
            parts.append("segments \(SegmentPolicy.text(of: types)) end every break")
        }
        if let restrictions = rule.segments.restrictions, !restrictions.isEmpty {
            let names = restrictions.map(\.rawValue).sorted().joined(separator: ", ")
            parts.append("these restrictions are obeyed: \(names)")
        }
        guard !parts.isEmpty else { return nil }
        return "The cue policy for \(stream): \(parts.joined(separator: "; ")). Options of the watcher go before it."
    }

    private func tell(_ refusal: BroadcastRefusal, of place: Int) {
        guard self.refusals.updateValue(refusal.status, forKey: place) != refusal.status else { return }
        if refusal.status == .unsupported {
            self.complain(
                "The gateway knows no reports of watchers; it is an older one. The watch goes on with its options."
            )
        } else {
            let stream = self.sources[place].facts.stream
            self.complain(
                "The gateway takes no reports of this watcher about \(stream): \(refusal) The watch goes on with its options."
            )
        }
    }

    /// Does something for a limited time.
    ///
    /// - Returns: its result; `false`: it took too long.
    private func within(_ limit: Duration, _ action: @escaping @Sendable () async -> Bool) async -> Bool {
        let working = Task(name: "Reports of a watcher") { await action() }
        let timer = Task(name: "Limit of the reports of a watcher") { [clock] in
            if (try? await clock.sleep(limit)) != nil { working.cancel() }
        }
        let result = await withTaskCancellationHandler {
            await working.value
        } onCancel: {
            working.cancel()
        }
        timer.cancel()
        await timer.value
        return result
    }
}
