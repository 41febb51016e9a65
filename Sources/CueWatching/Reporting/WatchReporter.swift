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
    /// The last sentence about the gateway.
    private enum Told: Hashable {
        case nothing
        /// It takes no reports, for this reason.
        case refused(BroadcastRefusal.Status)
    }

    private let sources: [WatchedSource]
    private let watcher: SignalSource
    private let receiver: any WatchReportReceiver
    private let complain: @Sendable (String) -> Void
    private let clock: WatchClock
    private let limits: WatchReporterLimits
    private var told = Told.nothing
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
        guard !areThere, !Task.isCancelled, self.told == .nothing else { return }
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
    /// - Returns: whether the gateway took all reports.
    private func round(isLast: Bool = false) async -> Bool {
        self.wait = self.limits.interval
        for source in self.sources {
            let report = source.report(by: self.watcher, atMilliseconds: self.clock.now(), isLast: isLast)
            do throws(BroadcastError) {
                let rule = try await self.receiver.report(report)
                self.told = .nothing
                self.wait = max(rule.reportInterval, self.limits.intervalMin)
                if source.settle(rule), !isLast { self.tell(rule, of: source.facts.stream) }
            } catch {
                guard case .refused(let refusal) = error, !refusal.mayBeTriedAgain else {
                    // Each further report would wait as long for nothing.
                    self.wait = self.limits.retryInterval
                    return false
                }
                _ = source.settle(nil)
                self.wait = self.limits.refusedInterval
                self.tell(refusal)
                // A gateway that knows no reports knows none of any source; a right may be there for the next one.
                if refusal.status == .unsupported { return false }
            }
        }
        return true
    }

    private func tell(_ rule: CueRule, of stream: StreamID) {
        guard rule.isKnown else {
            self.complain("The gateway has no cue rule for the stream \(stream) (breaks.cues): it refuses its signals.")
            return
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
        // What the usual rule says is no news.
        guard !parts.isEmpty else { return }
        self.complain(
            "The cue policy for \(stream): \(parts.joined(separator: "; ")). Options of the watcher go before it."
        )
    }

    private func tell(_ refusal: BroadcastRefusal) {
        guard self.told != .refused(refusal.status) else { return }
        self.told = .refused(refusal.status)
        if refusal.status == .unsupported {
            self.complain(
                "The gateway knows no reports of watchers; it is an older one. The watch goes on with its options."
            )
        } else {
            self.complain(
                "The gateway takes no reports of this watcher: \(refusal) The watch goes on with its options."
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

extension BroadcastRefusal {
    /// Whether the same report can be taken soon.
    fileprivate var mayBeTriedAgain: Bool {
        switch self.status {
        case .unavailable, .draining, .rateLimited, .limitReached: true
        default: false
        }
    }
}
