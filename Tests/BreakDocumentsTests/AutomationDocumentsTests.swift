// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import BreakDocuments
import CuecastWire
import Testing

/// Messages of automation systems in JSON, mappings that are written down, and signals as documents.
@Suite(.suiteLimit)
struct AutomationDocumentsTests {
    private static func fault<Fault: Error>(_ type: Fault.Type, _ read: () throws -> Void) -> Fault? {
        do {
            try read()
            return nil
        } catch {
            return error as? Fault
        }
    }

    @Test func `a message in JSON has a field for each value`() throws {
        let document = #"{"type":"ad","song":{"duration":30.5,"live":true},"list":["a",{"b":"c"}],"none":null}"#
        let fields = try AutomationFields(json: Array(document.utf8))
        #expect(fields["type"] == "ad" && fields["song/duration"] == "30.5" && fields["song/live"] == "true")
        #expect(fields["list/0"] == "a" && fields["list/1/b"] == "c" && fields["none"] == nil && fields.count == 5)
        for (text, sentence) in [
            ("", "Line 1: this is not JSON"), ("[]", "Line 1: it must be an object"),
            ("\n{,}", "Line 2: this is not JSON"),
        ] {
            let fault = Self.fault(AutomationFault.self) { _ = try AutomationFields(json: Array(text.utf8)) }
            #expect(fault?.description.hasPrefix(sentence) == true, "\(text): \(fault?.description ?? "")")
        }
    }

    @Test func `a message in JSON has limits`() throws {
        func members(_ count: Int) throws {
            let text = "{" + (0..<count).map { #""a\#($0)":1"# }.joined(separator: ",") + "}"
            _ = try AutomationFields(json: Array(text.utf8))
        }
        try members(AutomationLimits.fieldsMax)
        #expect(Self.fault(AutomationFault.self) { try members(AutomationLimits.fieldsMax + 1) }?.isTooLarge == true)
        func bytes(_ count: Int) throws {
            _ = try AutomationFields(json: Array("{}".utf8) + [UInt8](repeating: 0x20, count: count - 2))
        }
        try bytes(AutomationLimits.messageBytesMax)
        #expect(
            Self.fault(AutomationFault.self) { try bytes(AutomationLimits.messageBytesMax + 1) }?.isTooLarge == true
        )
    }

    @Test func `a field with a longer name than mappings may have is passed over, with all that is in it`() throws {
        let longest = String(repeating: "x", count: AutomationLimits.nameBytesMax)
        let inner = String(repeating: "y", count: AutomationLimits.nameBytesMax - 2)
        let many = (0...AutomationLimits.fieldsMax).map(String.init).joined(separator: ",")
        let document = #"{"\#(longest)":1,"\#(longest)x":[\#(many)],"o":{"\#(inner)":2,"\#(inner)y":3}}"#
        let fields = try AutomationFields(json: Array(document.utf8))
        #expect(fields[longest] == "1" && fields["o/\(inner)"] == "2" && fields.count == 2)
    }

    private static func mappings(_ text: String) throws(DocumentFault) -> [AutomationMapping] {
        try AutomationMappingDocument.read(Array(text.utf8))
    }

    @Test func `a mapping is as it is written, and goes before a ready one of its name`() throws {
        let read = try Self.mappings(
            #"""
            {"mappings": [
              {"name": "studio2", "source": "playout", "type": "category", "adPattern": "(?i)^spot", "id": ["nr"],
               "duration": ["ms"], "durationUnit": "milliseconds", "start": ["at"], "typeIsOptional": true,
               "line": "^(?<category>\\w+);(?<ms>\\d+)"},
              {"name": "radiodj", "type": ["t"], "ads": ["spot", "promo"]}
            ]}
            """#
        )
        #expect(read.map(\.name) == ["studio2", "radiodj", "liquidsoap", "mairlist", "now-playing-xml"])
        var expected = AutomationMapping(
            name: "studio2",
            source: "playout",
            type: ["category"],
            ads: .pattern(try TextPattern("(?i)^spot"))
        )
        expected.id = ["nr"]
        expected.duration = ["ms"]
        expected.durationUnit = .milliseconds
        expected.start = ["at"]
        expected.isTypeOptional = true
        expected.line = try TextPattern(#"^(?<category>\w+);(?<ms>\d+)"#)
        #expect(read[0] == expected)
        #expect(read[1] == AutomationMapping(name: "radiodj", type: ["t"], ads: .values(["spot", "promo"])))
        let fields = try AutomationFields(line: Array("Spot;1500".utf8), pattern: read[0].line)
        #expect(try read[0].element(fields) == AutomationElement(isAd: true, durationMilliseconds: 1_500))
    }

    @Test(arguments: [
        ("{}", "mappings: it is missing"), (#"{"mappings":{}}"#, "mappings: it must be an array"),
        (#"{"mappings":[{"type":["t"],"ads":["a"]}]}"#, "mappings[0].name: it is missing"),
        (#"{"mappings":[{"name":"a b","type":["t"],"ads":["a"]}]}"#, "mappings[0].name: it has 1 to 64"),
        (#"{"mappings":[{"name":"a","ads":["a"]}]}"#, "mappings[0].type: it is missing"),
        (#"{"mappings":[{"name":"a","type":[],"ads":["a"]}]}"#, "mappings[0].type: it must have 1 to 64 items"),
        (#"{"mappings":[{"name":"a","type":[1],"ads":["a"]}]}"#, "mappings[0].type: its items must be strings"),
        (#"{"mappings":[{"name":"a","type":[""],"ads":["a"]}]}"#, "mappings[0].type: its items have 1 to 128 bytes"),
        (#"{"mappings":[{"name":"a","type":["t"]}]}"#, "mappings[0].ads: give one of ads and adPattern"),
        (#"{"mappings":[{"name":"a","type":["t"],"adPattern":"("}]}"#, "mappings[0].adPattern: column"),
        (
            #"{"mappings":[{"name":"a","type":["t"],"ads":["a"],"durationUnit":"hours"}]}"#,
            "mappings[0].durationUnit: it must be"
        ),
        (#"{"mappings":[{"name":"a","type":["t"],"ads":["a"],"typ":"x"}]}"#, "mappings[0].typ: there is no such field"),
        (
            #"{"mappings":[{"name":"a","type":["t"],"ads":["a"]},{"name":"a","type":["t"],"ads":["a"]}]}"#,
            "mappings[1].name: another mapping has the name a already"
        ),
    ])
    func `a mapping that is not as it must be is a fault with its place`(text: String, sentence: String) {
        let fault = Self.fault(DocumentFault.self) { _ = try Self.mappings(text) }
        #expect(fault?.description.contains(sentence) == true, "\(fault?.description ?? "none")")
    }

    @Test func `mappings have limits`() throws {
        func count(_ count: Int) throws {
            let each = (0..<count).map { #"{"name":"m\#($0)","type":["t"],"ads":["a"]}"# }
            _ = try Self.mappings(#"{"mappings":[\#(each.joined(separator: ","))]}"#)
        }
        try count(AutomationLimits.mappingsMax)
        #expect(Self.fault(DocumentFault.self) { try count(AutomationLimits.mappingsMax + 1) }?.isTooLarge == true)
        func ads(_ count: Int, bytes: Int) throws {
            let values = (0..<count).map { _ in "\"" + String(repeating: "a", count: bytes) + "\"" }
            _ = try Self.mappings(
                #"{"mappings":[{"name":"m","type":["t"],"ads":[\#(values.joined(separator: ","))]}]}"#
            )
        }
        try ads(AutomationLimits.namesMax, bytes: AutomationLimits.nameBytesMax)
        #expect(Self.fault(DocumentFault.self) { try ads(AutomationLimits.namesMax + 1, bytes: 1) } != nil)
        #expect(Self.fault(DocumentFault.self) { try ads(1, bytes: AutomationLimits.nameBytesMax + 1) } != nil)
    }

    @Test func `a signal is read from its document`() throws {
        let stream = try StreamID("radio1")
        let signal = try SignalDocument.read(
            stream,
            Array(#"{"source":"s","event":"1","kind":"out","in":"10s","duration":2.5,"raw":"/DA="}"#.utf8)
        )
        #expect(signal.stream == stream && signal.kind == .out && signal.start == .after(.seconds(10)))
        #expect(signal.duration == .milliseconds(2_500) && signal.raw == [0xFC, 0x30] && !signal.isProgrammeTime)
        let fault = Self.fault(DocumentFault.self) {
            _ = try SignalDocument.read(stream, Array("{\n\"source\":\"s\",\n\"event\":\"é\",\"kind\":\"in\"}".utf8))
        }
        #expect(fault?.line == 3 && fault?.field == "event")
    }
}
