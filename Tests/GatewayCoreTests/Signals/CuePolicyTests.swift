// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
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
        ("* list=a opens=0x22,0x35", "opens must be some of 0x20, 0x22,"),
        ("* list=a opens=0x22,", "opens must be some of"), ("* list=a opens=+2", "opens must be some of"),
        ("* list=a ends=0x22", "ends must be some of 0x10, 0x11, 0x12 without spaces, or none, and is 0x22"),
        ("* list=a restrictions=web,radio", "restrictions must be some of web, blackout"),
        ("* list=a late=3601s", "late must be from 0 s to 3600 s"),
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

    @Test func `a rule says which segments open and end a break, and which restrictions are obeyed`() throws {
        let policy = try CuePolicy(
            text:
                "sport* list=a opens=0x22,34 ends=0x10,0x12 restrictions=web,blackout late=1h; r* list=a opens=none ends=none restrictions=none; * list=a"
        )
        let sport = policy.cueRule(for: Sample.stream("sport1"), reportInterval: .seconds(30))
        #expect(sport.isKnown && sport.programmeLateMax == .seconds(3_600) && sport.reportInterval == .seconds(30))
        #expect(sport.segments.openingTypes == [0x22, 0x34] && sport.segments.endingTypes == [0x10, 0x12])
        #expect(sport.segments.restrictions == [.web, .blackout])
        let radio = policy.cueRule(for: Sample.stream("radio1"), reportInterval: .seconds(30))
        #expect(radio.segments.openingTypes == [] && radio.segments.endingTypes == [])
        #expect(radio.segments.restrictions == [])
        #expect(policy.cueRule(for: Sample.stream("tv"), reportInterval: .seconds(1)).segments == SegmentPolicy())
        let none = CuePolicy().cueRule(for: Sample.stream, reportInterval: .seconds(1))
        #expect(!none.isKnown && none.programmeLateMax == .seconds(120))
        let words = policy.rules.map(\.explanation)
        #expect(
            words[0]
                .hasSuffix(
                    "; segments 0x22, 0x34 open a break; segments 0x10, 0x12 end every break; segments that may not be delivered on the web or that are blacked out in regions open none"
                )
        )
        #expect(
            words[1]
                .hasSuffix(
                    "; no segment opens a break; no segment ends breaks of other segments; restrictions are not obeyed"
                )
        )
        #expect(words[2].hasSuffix("may be 120 s late"))
    }

    @Test func `whatever is written, a rule has only segments that can stand there`() {
        var generator = SeededGenerator(for: #function)
        let pieces = [
            "0x22", "34", "0x", "0X44", "0x10", "12", "ff", "+2", "-1", "none", ",", ",,", "web", "blackout", "é",
            "0x100", "2 2",
        ]
        var read = 0
        for _ in 0..<3_000 {
            let field = generator.pick(["opens", "ends", "restrictions"])
            let value = generator.list(1...4) { $0.pick(pieces) }.joined(separator: generator.pick([",", ""]))
            guard let policy = try? CuePolicy(text: "* list=a \(field)=\(value)") else { continue }
            read += 1
            let segments = policy.rules[0].segments
            #expect(segments.openingTypes?.isSubset(of: SegmentPolicy.possibleOpeningTypes) ?? true, "\(value)")
            #expect(segments.endingTypes?.isSubset(of: SegmentPolicy.possibleEndingTypes) ?? true, "\(value)")
            // What is told to watchers arrives as it is.
            let rule = policy.cueRule(for: Sample.stream, reportInterval: .seconds(30))
            let reply = BroadcastReply(requestID: 1, gatewayTime: Sample.at(0), body: .cueRule(rule))
            #expect(throws: Never.self) {
                let decoded = try BroadcastReply(decoding: reply.encoded())
                #expect(decoded == reply)
            }
        }
        #expect(read > 100, "\(read)")
    }

    @Test func `as many rules and sources as the limits say are taken`() throws {
        #expect(try CuePolicy(text: String(repeating: "a list=b;", count: 1_000)).rules.count == 1_000)
        let sources = (0..<64).map { "s\($0)" }.joined(separator: ",")
        #expect(try CuePolicy(text: "* list=a sources=\(sources)").rules[0].precedence.count == 64)
    }
}
