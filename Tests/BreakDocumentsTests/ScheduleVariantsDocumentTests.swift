// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import BreakDocuments
import CuecastWire
import Testing

/// The file of the variants of a schedule.
@Suite(.suiteLimit)
struct ScheduleVariantsDocumentTests {
    private static func read(_ text: String) throws(DocumentFault) -> [ScheduleVariantsDocument.Variant] {
        try ScheduleVariantsDocument.read(Array(text.utf8)).variants
    }

    private static func variant(_ name: String, _ more: String) -> String {
        #"{"name": "\#(name)", "if": [{"attribute": "device", "is": "car"}]\#(more)}"#
    }

    private static func file(_ variants: [String]) -> String {
        #"{"variants": [\#(variants.joined(separator: ", "))]}"#
    }

    @Test func `a variant has a question, a fallback, or both`() throws {
        let ad = #"{"id": "a", "duration": "10s", "media": [{"url": "https://a.example/a.mp3"}]}"#
        let variants = try Self.read(
            Self.file([
                Self.variant("a", #", "query": "aud=cars&cb=[CACHEBUSTING]""#),
                Self.variant("b", #", "vastUrl": "https://ads.example/b?x=1", "list": "house-b""#),
                Self.variant("c", #", "ads": [\#(ad)]"#),
            ])
        )
        #expect(variants.map(\.name) == ["a", "b", "c"])
        #expect(variants[0].question == .query("aud=cars&cb=[CACHEBUSTING]") && variants[0].fallback == .ofDefault)
        #expect(variants[1].question == .address(ScheduledTag(address: "https://ads.example/b?x=1")))
        #expect(variants[1].fallback == .list("house-b"))
        guard case .ads(let ads) = variants[2].fallback else {
            Issue.record("it has ads")
            return
        }
        #expect(variants[2].question == nil && ads.map(\.id.description) == ["a"])
        #expect(variants[0].conditions == [AudienceVariant.Condition(key: "device", values: ["car"])])
    }

    @Test(arguments: [
        ("", "variants[0].name: the variant has no ads of its own"),
        (#", "query": "?a=b""#, "variants[0].query"), (#", "query": "a b""#, "variants[0].query"),
        (#", "query": """#, "variants[0].query"), (#", "query": "a#b""#, "variants[0].query"),
        (#", "query": "a=1", "vastUrl": "https://a.example/""#, "give one of query and vastUrl"),
        (#", "vastUrl": "ftp://a.example/""#, "variants[0].vastUrl"), (#", "vastUrl": "/a""#, "variants[0].vastUrl"),
        (#", "list": "a b""#, "variants[0].list"), (#", "list": "a", "ads": []"#, "give one of list and ads"),
        (#", "ads": []"#, "variants[0].ads"), (#", "other": 1"#, "variants[0].other"),
    ])
    func `what is wrong is told with its field`(more: String, said: String) {
        let fault = #expect(throws: DocumentFault.self) { try Self.read(Self.file([Self.variant("a", more)])) }
        #expect(fault.map { "\($0)".contains(said) } ?? false, "\(String(describing: fault))")
    }

    @Test func `names and conditions are those of the wire`() {
        for (file, said) in [
            (Self.file([]), "at least one"), (#"{}"#, "variants"),
            (Self.file([Self.variant("default", #", "list": "a""#)]), "already"),
            (
                Self.file([Self.variant("a", #", "list": "a""#), Self.variant("a", #", "list": "b""#)]),
                "variants[1].name"
            ),
            (Self.file([Self.variant("a b", #", "list": "a""#)]), "a variant's name"),
            (#"{"variants": [{"name": "a", "if": [], "list": "a"}]}"#, "needs a condition"),
        ] {
            let fault = #expect(throws: DocumentFault.self) { try Self.read(file) }
            #expect(fault.map { "\($0)".contains(said) } ?? false, "\(String(describing: fault))")
        }
    }

    @Test func `31 variants fit beside default, and one more does not`() throws {
        let variants = (1...32).map { Self.variant("v\($0)", #", "list": "a""#) }
        #expect(try Self.read(Self.file(Array(variants.prefix(31)))).count == 31)
        let fault = #expect(throws: DocumentFault.self) { try Self.read(Self.file(variants)) }
        #expect(fault.map { "\($0)".contains("variantsPerBreakMax is 32") } ?? false)
        let length = { (count: Int) in
            Self.file([Self.variant("a", #", "query": "\#(String(repeating: "a", count: count))""#)])
        }
        #expect(try Self.read(length(1_024)).count == 1)
        #expect(throws: DocumentFault.self) { try Self.read(length(1_025)) }
    }
}

/// The addresses of ad servers with a part behind their queries.
@Suite(.suiteLimit)
struct ScheduledTagTests {
    @Test(arguments: [
        ("https://a.example/v", "https://a.example/v?x=1"), ("https://a.example/v?", "https://a.example/v?x=1"),
        ("https://a.example/v?a=b", "https://a.example/v?a=b&x=1"),
        ("https://a.example/v?a=b&", "https://a.example/v?a=b&x=1"),
        ("https://a.example/v#f?g", "https://a.example/v?x=1#f?g"),
        ("https://a.example/v?a#f", "https://a.example/v?a&x=1#f"),
    ])
    func `a part of a query goes behind what is there`(address: String, whole: String) {
        let tag = ScheduledTag(address: address, isSingle: true, followsWrappers: false)
        #expect(tag.adding(query: "x=1") == ScheduledTag(address: whole, isSingle: true, followsWrappers: false))
    }

    @Test func `an address that becomes longer than urlBytesMax is none`() {
        let most = AdFormatLimits().urlBytesMax
        let tag = ScheduledTag(address: "https://a.example/" + String(repeating: "a", count: most - 18 - 4))
        #expect(tag.adding(query: "x=1")?.address.utf8.count == most)
        #expect(tag.adding(query: "x=12") == nil)
    }
}
