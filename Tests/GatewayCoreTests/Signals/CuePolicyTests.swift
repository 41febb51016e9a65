// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// The text of a cue policy, and which rule is for which stream.
@Suite(.suiteLimit)
struct CuePolicyTests {
    @Test func `a text gives rules, and the first that matches counts`() throws {
        let policy = try CuePolicy(
            text:
                "sport* list=sport duration=30s safety=10m tolerance=1s late=90s sources=encoder,playlist;\n * list=house ;"
        )
        try #require(policy.rules.count == 2)
        let sport = try #require(policy.rule(for: Sample.stream("sport1")))
        #expect(sport.list.description == "sport")
        #expect(sport.defaultDuration == .seconds(30))
        #expect(sport.safetyDuration == .seconds(600))
        #expect(sport.tolerance == .seconds(1))
        #expect(sport.programmeLateMax == .seconds(90))
        #expect(sport.rank(of: Cues.source("playlist")) == 1)
        #expect(sport.rank(of: Cues.source("other")) == 2)
        let house = try #require(policy.rule(for: Sample.stream("radio1")))
        #expect(house.list.description == "house")
        #expect(house.defaultDuration == nil)
        #expect(house.safetyDuration == .seconds(300))
        #expect(try CuePolicy(text: "").rule(for: Sample.stream) == nil)
    }

    @Test(arguments: [
        ("ra*dio list=a", "begins with the streams"), ("* duration=30s", "list must be the name"),
        ("* list=a length=3s", "'length=3s' is not one of"), ("* list=a duration=3", "duration must be from"),
        ("* list=a list=b", "list is there twice"), ("* list=a sources=x,x", "sources must be different"),
        ("* list=a tolerance=61s", "from 0 s to 60 s"), ("* list", "'list' is not one of"),
        (String(repeating: "a list=b;", count: 1_001), "the limit cueRulesMax is 1000"),
        (
            "* list=a sources=" + (0...64).map { "s\($0)" }.joined(separator: ","),
            "the limit cueSourcesPerRuleMax is 64"
        ),
    ])
    func `what is wrong is said`(text: String, sentence: String) {
        let fault = #expect(throws: StreamRuleFault.self) { try CuePolicy(text: text) }
        #expect(fault?.description.contains(sentence) == true, "\(fault?.description ?? "")")
    }
    @Test func `as many rules and sources as the limits say are taken`() throws {
        #expect(try CuePolicy(text: String(repeating: "a list=b;", count: 1_000)).rules.count == 1_000)
        let sources = (0..<64).map { "s\($0)" }.joined(separator: ",")
        #expect(try CuePolicy(text: "* list=a sources=\(sources)").rules[0].precedence.count == 64)
    }
}
