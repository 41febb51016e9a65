// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A rule that a plugin broke.
@_spi(ProviderChecks) public struct AdPluginFinding: Hashable, Sendable, CustomStringConvertible {
    /// The rule.
    public let rule: AdRule
    /// In which flow it was broken.
    public let flow: String
    /// The observation.
    public let seen: String

    /// The rule's name, the rule, and what was seen in which flow.
    public var description: String { "[\(self.rule.rawValue)] \(self.rule) Seen in '\(self.flow)': \(self.seen)." }
}

/// The findings of ``AdPluginConformance``.
@_spi(ProviderChecks) public struct AdPluginReport: Hashable, Sendable, CustomStringConvertible {
    /// The provider's name.
    public let provider: String
    /// Each rule that was broken, once, in the order in which that was seen.
    public internal(set) var findings: [AdPluginFinding] = []
    /// The flows that were run.
    public internal(set) var flows: [String] = []
    /// The rules that could not be checked.
    public internal(set) var unchecked: [Unchecked] = []

    /// The rules that could not be checked, and why, each as the end of a sentence.
    public var skipped: [String] { self.unchecked.map(\.description) }

    /// Something that could not be checked.
    ///
    /// New cases may appear in a minor release.
    @nonexhaustive
    public enum Unchecked: Hashable, Sendable, CaseIterable, CustomStringConvertible {
        /// Loads that fail: ``AdPluginConformance/Options/failingAdUnitID`` is not given.
        case failing
        /// Clicks: ``AdPluginConformance/Options/open`` is not given.
        case clicks
        /// Closing: ``AdPluginConformance/Options/close`` is not given, and the presenter cannot be closed.
        case closing

        /// The rule, and the reason.
        public var description: String {
            switch self {
            case .failing: "failing, because no ad unit is known that has no advertisement"
            case .clicks: "clicks, because nothing is known that opens an advertisement"
            case .closing: "closing, because nothing is known that closes an advertisement"
            }
        }
    }

    /// Whether no rule was broken.
    public var isConformant: Bool { self.findings.isEmpty }

    /// Everything, a line each.
    public var description: String {
        let verdict = self.isConformant ? "keeps all rules" : "breaks \(self.findings.count) rules"
        let head = "\(self.provider) \(verdict); flows: \(self.flows.joined(separator: ", "))"
        return ([head] + self.findings.map(\.description) + self.skipped.map { "Not checked: \($0)" })
            .joined(separator: "\n")
    }

    mutating func add(_ rule: AdRule, in flow: String, _ seen: String) {
        guard !self.findings.contains(where: { $0.rule == rule }) else { return }
        self.findings.append(AdPluginFinding(rule: rule, flow: flow, seen: seen))
    }
}
