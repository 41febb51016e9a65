// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Which attributes of listeners choose their variant of a break, by stream: the first rule whose pattern matches counts.
///
/// The keys are a closed list. An attribute that no rule names is dropped at the join: it is in no ticket and in no record.
package struct AudiencePolicy: Hashable, Sendable {
    /// The rule for the listeners of some streams.
    package struct Rule: Hashable, Sendable {
        package var streams: StreamPattern
        /// The attributes that count where the token has them.
        package var tokenKeys: [String]
        /// The attributes that count where the listener states them at its join; a token goes before it.
        package var joinKeys: [String]

        package init(streams: StreamPattern, tokenKeys: [String] = [], joinKeys: [String] = []) {
            self.streams = streams
            self.tokenKeys = tokenKeys
            self.joinKeys = joinKeys
        }
    }

    /// The most rules.
    package static let audienceRulesMax = 1_000

    package var rules: [Rule]

    package init(rules: [Rule] = []) {
        self.rules = rules
    }

    /// The attributes of a joining listener that count.
    ///
    /// - Parameters:
    ///   - join: the join, with what the listener states itself.
    ///   - granted: the attributes of its token, which was verified; empty: none.
    /// - Returns: by their keys.
    package func attributes(
        of join: ListenerRequest.Join,
        granted: [String: String] = [:]
    ) -> [String: String] {
        guard let rule = self.rules.first(where: { $0.streams.matches(join.stream) }) else { return [:] }
        var attributes = join.attributes.filter { rule.joinKeys.contains($0.key) }
        for key in rule.tokenKeys { if let value = granted[key] { attributes[key] = value } }
        return attributes
    }
}

extension AudiencePolicy {
    /// Reads a policy as people write it; an empty text has no rule.
    ///
    /// ```
    /// radio* token=plan,region join=device; * token=region
    /// ```
    ///
    /// - Throws: the fault of the first wrong rule.
    package init(text: String) throws(StreamRuleFault) {
        self.init(
            rules: try StreamRuleText.read(
                text,
                Rule.fields,
                atMost: Self.audienceRulesMax,
                limit: "audienceRulesMax",
                Rule.init(_:)
            )
        )
    }
}

extension AudiencePolicy.Rule {
    fileprivate static let fields = StreamRuleText.Fields(
        names: ["token", "join"],
        form: "token= or join= with keys and commas between them"
    )

    fileprivate init(_ text: StreamRuleText) throws(StreamRuleFault) {
        self.init(
            streams: text.streams,
            tokenKeys: try Self.keys(of: "token", in: text),
            joinKeys: try Self.keys(of: "join", in: text)
        )
        guard Set(self.tokenKeys + self.joinKeys).count <= WireLimits.attributesMax else {
            throw text.fault("the limit attributesMax is \(WireLimits.attributesMax)")
        }
    }

    private static func keys(of field: String, in text: StreamRuleText) throws(StreamRuleFault) -> [String] {
        guard let value = text.values[field] else { return [] }
        let keys = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard keys.allSatisfy({ !$0.isEmpty && $0.utf8.count <= WireLimits.attributeBytesMax }),
            Set(keys).count == keys.count
        else {
            throw text.fault(
                "the keys of \(field) must be different, not empty, and have at most \(WireLimits.attributeBytesMax) bytes"
            )
        }
        return keys
    }
}
