// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
internal import Synchronization

/// A source as its watcher sees it: when something came from it last, what was seen, and by which rule its signals are made.
///
/// The watcher tells it what comes; a ``WatchReporter`` brings that to the gateway, and brings the gateway's cue rule back. It may be used
/// from any thread.
package final class WatchedSource: Sendable {
    /// The facts that do not change while the watch lasts.
    package struct Facts: Hashable, Sendable {
        /// The stream that the gateway knows.
        package let stream: StreamID
        /// The name of the source, as signals have it.
        package let source: SignalSource
        package let kind: WatcherKind
        /// Where the watcher reads.
        package let address: String
        /// Whether the source always sends something, so that silence is a fault.
        package let isSteady: Bool

        /// Facts; users, passwords and queries are taken out of the address.
        package init(stream: StreamID, source: SignalSource, kind: WatcherKind, address: String, isSteady: Bool) {
            self.stream = stream
            self.source = source
            self.kind = kind
            self.address = WatchText.line(address)
            self.isSteady = isSteady
        }
    }

    /// By which rule signals are made: the options of the watcher, else the gateway's cue policy, else what is usual.
    package struct Rules: Hashable, Sendable {
        /// Goes up with each change.
        package var version = 0
        package var segmentation = SegmentationRule()
        /// How late a start in programme time may be, in milliseconds.
        package var latenessMilliseconds = CueRule.programmeLateMillisecondsDefault
    }

    private struct State {
        var heardMilliseconds: Int?
        var gathering = WatchGathering()
        var problem = ""
        var problemMilliseconds: Int?
        var rules: Rules
        /// `nil`: the gateway has not told it.
        var cueRule: CueRule?
    }

    package let facts: Facts
    private let choice: SegmentationChoice
    private let state: Mutex<State>

    /// A source from which nothing came yet.
    ///
    /// - Parameters:
    ///   - facts: about the source and its watcher.
    ///   - choice: the watcher's options about segments.
    package init(_ facts: Facts, choice: SegmentationChoice = SegmentationChoice()) {
        self.facts = facts
        self.choice = choice
        self.state = Mutex(State(rules: Rules(segmentation: choice.rule(SegmentPolicy()))))
    }

    // MARK: What the watcher tells

    /// Something came from the source.
    ///
    /// - Parameter now: when, in milliseconds since 1970.
    /// - Returns: the version of the rules: the watcher reads ``rules`` where it has another one.
    @discardableResult
    package func heard(atMilliseconds now: Int) -> Int {
        self.state.withLock { state in
            state.heardMilliseconds = now
            return state.rules.version
        }
    }

    /// There is trouble with the source.
    ///
    /// - Parameters:
    ///   - sentence: for people.
    ///   - now: when, in milliseconds since 1970.
    package func trouble(_ sentence: String, atMilliseconds now: Int) {
        let line = WatchText.line(sentence)
        self.state.withLock { state in
            state.problem = line
            state.problemMilliseconds = now
        }
    }

    /// Something was seen of which no signal reached the gateway.
    func note(isUnusable: Bool, seen: String, reason: String) {
        self.state.withLock { $0.gathering.note(isUnusable: isUnusable, seen: seen, reason: reason) }
    }

    /// The rule by which signals are made.
    package var rules: Rules { self.state.withLock(\.rules) }

    // MARK: What goes to the gateway, and comes back

    /// The next report.
    ///
    /// - Parameters:
    ///   - watcher: the name of the watcher.
    ///   - now: in milliseconds since 1970.
    ///   - isLast: whether the watch ends.
    /// - Returns: the report; the same content as before, where ``settle(_:)`` was not called since.
    func report(by watcher: SignalSource, atMilliseconds now: Int, isLast: Bool = false) -> BroadcastRequest.WatchReport
    {
        self.state.withLock { state in
            let part = state.gathering.part()
            var report = BroadcastRequest.WatchReport(
                stream: self.facts.stream,
                source: self.facts.source,
                watcher: watcher,
                kind: self.facts.kind,
                address: self.facts.address,
                number: part.number
            )
            func age(_ moment: Int) -> Duration {
                .milliseconds(max(now.subtractingReportingOverflow(moment).partialValue, 0))
            }
            report.heardAge = state.heardMilliseconds.map(age)
            report.isSteady = self.facts.isSteady
            (report.ignored, report.unusable, report.cues) = (part.ignored, part.unusable, part.cues)
            report.problem = state.problem
            report.problemAge = state.problem.isEmpty ? nil : state.problemMilliseconds.map(age)
            report.isLast = isLast
            return report
        }
    }

    /// A report has arrived, or will never be taken.
    ///
    /// - Parameter rule: the gateway's cue rule; `nil`: it told none.
    /// - Returns: whether the rule is another one than before.
    func settle(_ rule: CueRule?) -> Bool {
        self.state.withLock { state in
            state.gathering.settled()
            guard let rule else { return false }
            let before = state.cueRule
            state.cueRule = rule
            let segmentation = self.choice.rule(rule.segments)
            let lateness = min(
                Int(rule.programmeLateMax.inMilliseconds),
                CueRule.programmeLateMillisecondsMax
            )
            if segmentation != state.rules.segmentation || lateness != state.rules.latenessMilliseconds {
                state.rules.version += 1
                (state.rules.segmentation, state.rules.latenessMilliseconds) = (segmentation, lateness)
            }
            return before?.isKnown != rule.isKnown || before?.segments != rule.segments
                || before?.programmeLateMax != rule.programmeLateMax
        }
    }
}

/// The options of a watcher about segments; the rest is left to the gateway's cue policy.
package struct SegmentationChoice: Hashable, Sendable {
    /// The types that open a break; `nil`: the policy says it.
    package var openingTypes: Set<UInt8>?
    /// The types that end every break that runs; `nil`: the policy says it.
    package var endingTypes: Set<UInt8>?
    /// Whether segments that may not be delivered on the web open no break, whatever the policy says.
    package var obeysDeliveryRestrictions = false
    /// Whether segments that are blacked out in regions open no break, whatever the policy says.
    package var obeysRegionalBlackout = false

    /// A choice that leaves everything to the policy.
    package init() {}

    /// The rule by which signals are made: an option goes before the policy, and that before what is usual.
    package func rule(_ policy: SegmentPolicy) -> SegmentationRule {
        var rule = SegmentationRule()
        if let types = self.openingTypes ?? policy.openingTypes { rule.openingTypes = types }
        if let types = self.endingTypes ?? policy.endingTypes { rule.endingTypes = types }
        let restrictions = policy.restrictions ?? []
        rule.obeysDeliveryRestrictions = self.obeysDeliveryRestrictions || restrictions.contains(.web)
        rule.obeysRegionalBlackout = self.obeysRegionalBlackout || restrictions.contains(.blackout)
        return rule
    }
}
