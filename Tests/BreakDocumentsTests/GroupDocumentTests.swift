// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakDocuments
import CuecastWire
import Testing

/// The file of the streams of a group.
@Suite(.suiteLimit)
struct GroupDocumentTests {
    private static func read(_ streams: [String]) throws(DocumentFault) -> [GroupDocument.Stream] {
        try GroupDocument.read(Array(#"{"streams": [\#(streams.joined(separator: ", "))]}"#.utf8)).streams
    }

    @Test func `a stream has an offset, ads and variants of its own, or none`() throws {
        let ad = #"{"id": "a", "duration": "10s", "media": [{"url": "https://a.example/a.mp3"}]}"#
        let variant = #"{"name": "cars", "if": [{"attribute": "device", "is": "car"}], "ads": [\#(ad)]}"#
        let streams = try Self.read([
            #"{"stream": "radio1"}"#, #"{"stream": "radio2", "offset": "2s"}"#,
            #"{"stream": "radio3", "offset": "-500ms", "ads": [\#(ad)], "variants": [\#(variant)]}"#,
        ])
        #expect(streams.map(\.stream.description) == ["radio1", "radio2", "radio3"])
        #expect(streams.map(\.offset) == [.zero, .seconds(2), .milliseconds(-500)])
        #expect(streams[0].ads == nil && streams[0].variants == nil)
        #expect(streams[2].ads?.map(\.id.description) == ["a"] && streams[2].variants?.map(\.name) == ["cars"])
    }

    @Test(arguments: [
        (#"{"stream": "a b"}"#, "streams[0].stream"), (#"{}"#, "streams[0].stream: it is missing"),
        (#"{"stream": "a", "offset": "x"}"#, "streams[0].offset"),
        (#"{"stream": "a", "offset": "-"}"#, "streams[0].offset"),
        (#"{"stream": "a", "offset": "3601s"}"#, "streams[0].offset"),
        (#"{"stream": "a", "offset": 2}"#, "streams[0].offset"),
        (#"{"stream": "a", "ads": []}"#, "streams[0].ads"), (#"{"stream": "a", "x": 1}"#, "streams[0].x"),
        (#"{"stream": "a"}, {"stream": "a"}"#, "streams[1].stream"),
    ])
    func `what is wrong is told with its field`(stream: String, said: String) {
        let fault = #expect(throws: DocumentFault.self) { try Self.read([stream]) }
        #expect(fault.map { "\($0)".contains(said) } ?? false, "\(String(describing: fault))")
    }

    @Test func `as many streams as groupStreamsMax fit, and an offset of an hour, and no more`() throws {
        let streams = (0...GroupDocument.streamsMax).map { #"{"stream": "s\#($0)"}"# }
        #expect(try Self.read(Array(streams.dropLast())).count == 1_000)
        let fault = #expect(throws: DocumentFault.self) { try Self.read(streams) }
        #expect(fault.map { "\($0)".contains("groupStreamsMax is 1000, and this has 1001") } ?? false)
        #expect(throws: DocumentFault.self) { try Self.read([]) }
        for text in ["3600s", "-3600s", "-1h"] {
            #expect(
                try Self.read([#"{"stream": "a", "offset": "\#(text)"}"#])[0].offset.components.seconds.magnitude
                    == 3_600
            )
        }
    }

    @Test func `a publication has the members of a break, and lasts as long as the ads of each stream`() throws {
        func ad(_ id: String, _ seconds: Int) -> String {
            #"{"id": "\#(id)", "duration": "\#(seconds)s", "media": [{"url": "https://a.example/a.mp3"}]}"#
        }
        let variant = #"{"name": "cars", "if": [{"attribute": "device", "is": "car"}], "ads": [\#(ad("car", 40))]}"#
        let text = """
            {"in": "5s", "exact": true, "ads": [\(ad("all", 10))], "variants": [\(variant)], "streams": [{"stream": "a"},
             {"stream": "b", "offset": "-1s", "ads": [\(ad("own", 50))]}, {"stream": "c", "variants": []}]}
            """
        let group = try GroupPublication.read(try BreakID("noon"), Array(text.utf8))
        let breaks = group.streams.map(\.publish)
        #expect(group.start == .after(.seconds(5)) && breaks.allSatisfy { $0.exact && $0.key.id.description == "noon" })
        #expect(breaks.map(\.key.stream.description) == ["a", "b", "c"])
        #expect(breaks.map { $0.advertisements.map(\.id.description) } == [["all"], ["own"], ["all"]])
        #expect(breaks.map { $0.variants.map(\.name) } == [["cars"], ["cars"], []])
        #expect(breaks.map(\.duration) == [.seconds(40), .seconds(50), .seconds(10)])
        #expect(group.streams.map(\.offset) == [.zero, .seconds(-1), .zero])
        let fixed = text.replacing(#"{"in": "5s","#, with: #"{"in": "5s", "duration": "7s","#)
        let same = try GroupPublication.read(try BreakID("noon"), Array(fixed.utf8))
        #expect(same.streams.map(\.publish.duration) == [.seconds(7), .seconds(7), .seconds(7)])
    }
}
