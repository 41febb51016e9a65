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

/// Why a text is no audience policy.
package struct AudiencePolicyFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence for people without its full stop, which names the rule.
    package let description: String

    init(_ description: String) {
        self.description = description
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
    package init(text: String) throws(AudiencePolicyFault) {
        self.init()
        for each in text.split(separator: ";") {
            let words = each.split { $0 == " " || $0 == "\n" || $0 == "\t" }.map(String.init)
            guard !words.isEmpty else { continue }
            guard self.rules.count < Self.audienceRulesMax else {
                throw AudiencePolicyFault(
                    "the limit audienceRulesMax is \(Self.audienceRulesMax), and there are more rules"
                )
            }
            self.rules.append(try Rule(words))
        }
    }
}

extension AudiencePolicy.Rule {
    fileprivate init(_ words: [String]) throws(AudiencePolicyFault) {
        guard let streams = StreamPattern(words[0]) else {
            throw AudiencePolicyFault(
                "a rule begins with the streams that it is for, \(StreamPattern.rule), and '\(words[0])' is not"
            )
        }
        self.init(streams: streams)
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, ["token", "join"].contains(parts[0]) else {
                throw AudiencePolicyFault(
                    "the rule for \(streams): '\(word)' is not token= or join= with keys and commas between them"
                )
            }
            let keys = parts[1].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard keys.allSatisfy({ !$0.isEmpty && $0.utf8.count <= WireLimits.attributeBytesMax }),
                Set(keys).count == keys.count
            else {
                throw AudiencePolicyFault(
                    "the rule for \(streams): the keys of \(parts[0]) must be different, not empty, and have at most \(WireLimits.attributeBytesMax) bytes"
                )
            }
            let isToken = parts[0] == "token"
            guard (isToken ? self.tokenKeys : self.joinKeys).isEmpty else {
                throw AudiencePolicyFault("the rule for \(streams): \(parts[0]) is there twice")
            }
            if isToken { self.tokenKeys = keys } else { self.joinKeys = keys }
        }
        guard Set(self.tokenKeys + self.joinKeys).count <= WireLimits.attributesMax else {
            throw AudiencePolicyFault("the rule for \(streams): the limit attributesMax is \(WireLimits.attributesMax)")
        }
    }
}
