// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

extension CuePolicy {
    /// Reads a policy as people write it; an empty text has no rule.
    ///
    /// ```
    /// sport* list=sport duration=30s sources=encoder,playlist opens=0x22,0x34; * list=house
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
        let lateMax = Duration.milliseconds(CueRule.programmeLateMillisecondsMax)
        self.programmeLateMax = try duration("late", .zero...lateMax) ?? self.programmeLateMax
        for name in (fields["sources"] ?? "").split(separator: ",") {
            guard let source = try? SignalSource(String(name)), !self.precedence.contains(source) else {
                throw text.fault("sources must be different names with commas between them")
            }
            guard self.precedence.count < CuePolicy.cueSourcesPerRuleMax else {
                throw text.fault("the limit cueSourcesPerRuleMax is \(CuePolicy.cueSourcesPerRuleMax)")
            }
            self.precedence.append(source)
        }
        self.segments = try SegmentPolicy(text)
    }

    /// One sentence for people about the signals of its streams.
    package var explanation: String {
        let length = self.defaultDuration.map { "\($0.inSecondsText)" } ?? "until it is ended"
        let sources = self.precedence.map(\.description).joined(separator: ", ")
        let others = sources.isEmpty ? "" : "; sources in the order \(sources)"
        return """
            \(self.streams): the list \(self.list) fills a break; it lasts \(length), unless a signal says how long, and at most \
            \(self.safetyDuration.inSecondsText) where nothing says it; starts within \(self.tolerance.inSecondsText) are of one break; a \
            start in programme time may be \(self.programmeLateMax.inSecondsText) late\(others)\(self.segments.explanation)
            """
    }

    fileprivate static let fields: StreamRuleText.Fields = {
        let names = [
            "list", "duration", "safety", "tolerance", "late", "sources", "opens", "ends", "restrictions",
        ]
        return .init(names: names, form: "one of \(names.joined(separator: ", ")), with '=' and its value")
    }()
}

extension SegmentPolicy {
    /// The word for an empty list.
    private static let none = "none"

    fileprivate init(_ text: StreamRuleText) throws(StreamRuleFault) {
        self.init()
        self.openingTypes = try Self.types("opens", Self.possibleOpeningTypes, text)
        self.endingTypes = try Self.types("ends", Self.possibleEndingTypes, text)
        guard let said = text.values["restrictions"] else { return }
        var restrictions: Set<Restriction> = []
        for name in said == Self.none ? [] : said.split(separator: ",", omittingEmptySubsequences: false) {
            guard let restriction = Restriction(rawValue: String(name)) else {
                let names = Restriction.allCases.map(\.rawValue).joined(separator: ", ")
                throw text.fault(
                    "restrictions must be some of \(names) with commas between them, or none, and is \(said)"
                )
            }
            restrictions.insert(restriction)
        }
        self.restrictions = restrictions
    }

    private static func types(
        _ field: String,
        _ possible: Set<UInt8>,
        _ text: StreamRuleText
    ) throws(StreamRuleFault) -> Set<UInt8>? {
        guard let said = text.values[field] else { return nil }
        if said == Self.none { return [] }
        guard let types = Self.types(said), types.isSubset(of: possible) else {
            throw text.fault(
                "\(field) must be some of \(Self.text(of: possible)) without spaces, or none, and is \(said)"
            )
        }
        return types
    }

    /// The end of a sentence for people; empty: nothing is said.
    fileprivate var explanation: String {
        var parts: [String] = []
        if let types = self.openingTypes {
            parts.append(types.isEmpty ? "no segment opens a break" : "segments \(Self.text(of: types)) open a break")
        }
        if let types = self.endingTypes {
            parts.append(
                types.isEmpty
                    ? "no segment ends breaks of other segments" : "segments \(Self.text(of: types)) end every break"
            )
        }
        if let restrictions = self.restrictions {
            let words = Restriction.allCases.filter(restrictions.contains).map(\.words).joined(separator: " or ")
            parts.append(words.isEmpty ? "restrictions are not obeyed" : "segments \(words) open none")
        }
        return parts.map { "; \($0)" }.joined()
    }
}

extension SegmentPolicy.Restriction {
    fileprivate var words: String {
        switch self {
        case .web: "that may not be delivered on the web"
        case .blackout: "that are blacked out in regions"
        }
    }
}
