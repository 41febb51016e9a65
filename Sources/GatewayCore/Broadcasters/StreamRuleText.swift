// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Why a text has no rules by stream.
package struct StreamRuleFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence for people without its full stop, which names the rule.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// One of the rules by stream that people write in a setting: the streams, then fields with values.
///
/// ```
/// sport* list=sport duration=30s; * list=house
/// ```
struct StreamRuleText {
    /// The fields that a kind of rules has.
    struct Fields {
        let names: [String]
        /// The end of the sentence about a word that is none: it "is not …".
        let form: String
    }

    let streams: StreamPattern
    /// The values by the names of their fields.
    let values: [String: String]

    /// Reads the rules of a text; an empty text has none.
    ///
    /// - Parameters:
    ///   - text: the rules, with `;` between them.
    ///   - fields: the fields that they may have, each once.
    ///   - rulesMax: how many rules there may be.
    ///   - limit: the name of that limit.
    ///   - rule: makes a rule of its text.
    /// - Returns: the rules in their order.
    /// - Throws: the fault of the first wrong rule.
    static func read<Rule>(
        _ text: String,
        _ fields: Fields,
        atMost rulesMax: Int,
        limit: String,
        _ rule: (Self) throws(StreamRuleFault) -> Rule
    ) throws(StreamRuleFault) -> [Rule] {
        var rules: [Rule] = []
        for each in text.split(separator: ";") {
            let words = each.split { $0 == " " || $0 == "\n" || $0 == "\t" }.map(String.init)
            guard !words.isEmpty else { continue }
            guard rules.count < rulesMax else {
                throw StreamRuleFault("the limit \(limit) is \(rulesMax), and there are more rules")
            }
            rules.append(try rule(Self(words, fields)))
        }
        return rules
    }

    private init(_ words: [String], _ fields: Fields) throws(StreamRuleFault) {
        guard let streams = StreamPattern(words[0]) else {
            throw StreamRuleFault(
                "a rule begins with the streams that it is for, \(StreamPattern.rule), and '\(words[0])' is not"
            )
        }
        self.streams = streams
        var values: [String: String] = [:]
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, fields.names.contains(parts[0]) else {
                throw StreamRuleFault("the rule for \(streams): '\(word)' is not \(fields.form)")
            }
            guard values.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw StreamRuleFault("the rule for \(streams): \(parts[0]) is there twice")
            }
        }
        self.values = values
    }

    /// A fault of this rule.
    func fault(_ sentence: String) -> StreamRuleFault { StreamRuleFault("the rule for \(self.streams): \(sentence)") }
}
