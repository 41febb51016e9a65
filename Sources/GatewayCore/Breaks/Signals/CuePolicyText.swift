// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

extension CuePolicy {
    /// Reads a policy as people write it; an empty text has no rule.
    ///
    /// ```
    /// sport* list=sport duration=30s sources=encoder,playlist; * list=house
    /// ```
    ///
    /// - Throws: the fault of the first wrong rule.
    package init(text: String) throws(StreamRuleFault) {
        self.init(
            rules: try StreamRuleText.read(
                text,
                Rule.fields,
                atMost: Self.cueRulesMax,
                limit: "cueRulesMax",
                Rule.init(_:)
            )
        )
    }
}

extension CuePolicy.Rule {
    fileprivate init(_ text: StreamRuleText) throws(StreamRuleFault) {
        let fields = text.values
        guard let name = fields["list"], let list = try? AdListName(name) else {
            throw text.fault("list must be the name of an ad list")
        }
        self.init(streams: text.streams, list: list)
        let longest = Duration.milliseconds(Int64(WireLimits.breakDurationMillisecondsMax))
        func duration(_ field: String, _ range: ClosedRange<Duration>) throws(StreamRuleFault) -> Duration? {
            guard let said = fields[field] else { return nil }
            guard let value = Duration(text: said), range.contains(value) else {
                throw text.fault(
                    "\(field) must be from \(range.lowerBound.inSecondsText) to \(range.upperBound.inSecondsText), for instance 30s, and is \(said)"
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
                throw text.fault("sources must be different names with commas between them")
            }
            guard self.precedence.count < CuePolicy.cueSourcesPerRuleMax else {
                throw text.fault("the limit cueSourcesPerRuleMax is \(CuePolicy.cueSourcesPerRuleMax)")
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

    fileprivate static let fields: StreamRuleText.Fields = {
        let names = ["list", "duration", "safety", "tolerance", "late", "sources"]
        return .init(names: names, form: "one of \(names.joined(separator: ", ")), with '=' and its value")
    }()
}
