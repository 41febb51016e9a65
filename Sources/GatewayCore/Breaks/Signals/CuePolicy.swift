// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The rules that turn signals into breaks, by stream: the first rule whose pattern matches counts.
///
/// It decides once, when a signal is received; the decisions go into the event log, so that a later configuration does not
/// change what was decided.
package struct CuePolicy: Hashable, Sendable {
    /// The rule for the signals of some streams.
    package struct Rule: Hashable, Sendable {
        package var streams: StreamPattern
        /// The list that fills the breaks.
        package var list: AdListName
        /// How long a break lasts of which no signal says it; `nil`: until the safety limit.
        package var defaultDuration: Duration?
        /// The longest that a break lasts of which nothing else says it.
        package var safetyDuration = Self.safetyDurationDefault
        /// Starts that lie this close to each other are of one break.
        package var tolerance = Self.toleranceDefault
        /// How far a start in programme time may lie in the past.
        package var programmeLateMax = Self.programmeLateMaxDefault
        /// Names of sources in their order of precedence; other sources come last.
        package var precedence: [SignalSource] = []
        /// Which segments of SCTE-35 open and end a break; watchers of the streams ask for it.
        package var segments = SegmentPolicy()

        package static let toleranceDefault = BreakSignals.toleranceDefault
        package static let programmeLateMaxDefault: Duration = .milliseconds(CueRule.programmeLateMillisecondsDefault)
        package static let safetyDurationDefault: Duration = .seconds(300)

        package init(streams: StreamPattern, list: AdListName) {
            self.streams = streams
            self.list = list
        }

        /// Where a source stands: lower goes first.
        package func rank(of source: SignalSource) -> Int {
            self.precedence.firstIndex(of: source) ?? self.precedence.count
        }
    }

    /// The most rules.
    package static let cueRulesMax = 1_000
    /// The most sources in one rule's order.
    package static let cueSourcesPerRuleMax = 64

    package var rules: [Rule]

    package init(rules: [Rule] = []) {
        self.rules = rules
    }

    /// The rule for a stream; `nil`: its signals are refused.
    package func rule(for stream: StreamID) -> Rule? { self.rules.first { $0.streams.matches(stream) } }

    /// The rule of a stream as watchers get it.
    ///
    /// - Parameters:
    ///   - stream: the stream.
    ///   - reportInterval: how often they are to report.
    /// - Returns: the rule, also where the policy has none.
    package func cueRule(for stream: StreamID, reportInterval: Duration) -> CueRule {
        let rule = self.rule(for: stream)
        return CueRule(
            isKnown: rule != nil,
            segments: rule?.segments ?? SegmentPolicy(),
            programmeLateMax: rule?.programmeLateMax ?? Rule.programmeLateMaxDefault,
            reportInterval: reportInterval
        )
    }

    /// The streams whose breaks a list fills.
    package func streams(of list: AdListName) -> [StreamPattern] {
        self.rules.filter { $0.list == list }.map(\.streams)
    }
}
