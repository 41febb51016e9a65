// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// Why a text is no cue policy.
package struct CuePolicyFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence for people without its full stop, which names the rule.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension CuePolicy {
    /// Reads a policy as people write it; an empty text has no rule.
    ///
    /// ```
    /// sport* list=sport duration=30s sources=encoder,playlist; * list=house
    /// ```
    ///
    /// - Throws: the fault of the first wrong rule.
    package init(text: String) throws(CuePolicyFault) {
        self.init()
        for each in text.split(separator: ";") {
            let words = each.split { $0 == " " || $0 == "\n" || $0 == "\t" }.map(String.init)
            guard !words.isEmpty else { continue }
            guard self.rules.count < Self.cueRulesMax else {
                throw CuePolicyFault("the limit cueRulesMax is \(Self.cueRulesMax), and there are more rules")
            }
            self.rules.append(try Rule(words))
        }
    }
}

extension CuePolicy.Rule {
    fileprivate init(_ words: [String]) throws(CuePolicyFault) {
        guard let streams = StreamPattern(words[0]) else {
            throw CuePolicyFault(
                "a rule begins with the streams that it is for, \(StreamPattern.rule), and '\(words[0])' is not"
            )
        }
        var fields: [String: String] = [:]
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, Self.fields.contains(parts[0]) else {
                let names = Self.fields.joined(separator: ", ")
                throw CuePolicyFault(
                    "the rule for \(streams): '\(word)' is not one of \(names), with '=' and its value"
                )
            }
            guard fields.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw CuePolicyFault("the rule for \(streams): \(parts[0]) is there twice")
            }
        }
        guard let name = fields["list"], let list = try? AdListName(name) else {
            throw CuePolicyFault("the rule for \(streams): list must be the name of an ad list")
        }
        self.init(streams: streams, list: list)
        let longest = Duration.milliseconds(Int64(WireLimits.breakDurationMillisecondsMax))
        func duration(_ field: String, _ range: ClosedRange<Duration>) throws(CuePolicyFault) -> Duration? {
            guard let text = fields[field] else { return nil }
            guard let value = Duration(text: text), range.contains(value) else {
                throw CuePolicyFault(
                    "the rule for \(streams): \(field) must be from \(range.lowerBound.inSecondsText) to \(range.upperBound.inSecondsText), for instance 30s, and is \(text)"
                )
            }
            return value
        }
        self.defaultDuration = try duration("duration", .milliseconds(1)...longest)
        self.safetyDuration = try duration("safety", .seconds(1)...longest) ?? self.safetyDuration
        self.tolerance = try duration("tolerance", .zero...SignalLimits.toleranceMax) ?? self.tolerance
        self.programmeLateMax = try duration("late", .zero ... .seconds(3_600)) ?? self.programmeLateMax
        for name in (fields["sources"] ?? "").split(separator: ",") {
            guard let source = try? SignalSource(String(name)), !self.precedence.contains(source) else {
                throw CuePolicyFault(
                    "the rule for \(streams): sources must be different names with commas between them"
                )
            }
            guard self.precedence.count < CuePolicy.cueSourcesPerRuleMax else {
                throw CuePolicyFault(
                    "the rule for \(streams): the limit cueSourcesPerRuleMax is \(CuePolicy.cueSourcesPerRuleMax)"
                )
            }
            self.precedence.append(source)
        }
    }

    /// One sentence for people about the signals of its streams.
    package var explanation: String {
        let length = self.defaultDuration.map { "\($0.inSecondsText)" } ?? "until it is ended"
        let sources = self.precedence.map(\.description).joined(separator: ", ")
        let others = sources.isEmpty ? "" : "; sources in the order \(sources)"
        return """
            \(self.streams): the list \(self.list) fills a break; it lasts \(length), unless a signal says how long, and at most \
            \(self.safetyDuration.inSecondsText) where nothing says it; starts within \(self.tolerance.inSecondsText) are of one break; a \
            start in programme time may be \(self.programmeLateMax.inSecondsText) late\(others)
            """
    }

    private static let fields = ["list", "duration", "safety", "tolerance", "late", "sources"]
}
