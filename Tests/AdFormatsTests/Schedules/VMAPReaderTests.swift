// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// Breaks of a programme (VMAP 1.0.1).
@Suite(.suiteLimit)
struct VMAPReaderTests {
    private static let start = instant("2026-11-21T12:00:00Z")
    private static let hour: Int64 = 3_600_000

    private static func source(_ id: String, attributes: String = "", ads: Int = 1) -> String {
        let all = (0..<ads)
            .map { number in
                """
                <Ad id='\(id)\(number)' sequence='\(number + 1)'><InLine><AdSystem>s</AdSystem><AdTitle>t</AdTitle>
                <Impression>https://a.example/i</Impression><Creatives><Creative><Linear><Duration>00:00:30</Duration><MediaFiles>
                <MediaFile delivery='progressive' type='audio/mpeg' width='0' height='0'>https://a.example/a.mp3</MediaFile>
                </MediaFiles></Linear></Creative></Creatives></InLine></Ad>
                """
            }
        return
            "<vmap:AdSource \(attributes)><vmap:VASTAdData><VAST version='4.2'>\(all.joined())</VAST></vmap:VASTAdData></vmap:AdSource>"
    }

    private func read(
        _ breaks: String,
        length: Int64? = Self.hour,
        positions: [Int64] = [],
        root: String = "xmlns:vmap='http://www.iab.net/videosuite/vmap' version='1.0'"
    ) throws(ScheduleFault) -> ScheduleDocument {
        try VMAPReader.read(
            Array("<vmap:VMAP \(root)>\n\(breaks)\n</vmap:VMAP>".utf8),
            programme: Programme(
                startMilliseconds: Self.start,
                durationMilliseconds: length,
                positionsMilliseconds: positions
            )
        )
    }

    private func one(_ offset: String, _ more: String = "", content: String = Self.source("a")) -> String {
        "<vmap:AdBreak breakType='linear' timeOffset='\(offset)' \(more)>\(content)</vmap:AdBreak>"
    }

    @Test(
        arguments: [
            ("start", 0), ("00:10:23.125", 623_125), ("end", 3_600_000), ("25%", 900_000), ("#2", 1_500_000), ("0%", 0),
            ("100%", 3_600_000),
        ] as [(String, Int64)]
    )
    func `an offset is counted from the programme's start`(offset: String, milliseconds: Int64) throws {
        let document = try self.read(self.one(offset), positions: [600_000, 1_500_000])
        #expect(document.faults.isEmpty)
        #expect(document.breaks.map { $0.startMilliseconds - Self.start } == [milliseconds])
    }

    @Test func `breaks with one offset are one pod in order`() throws {
        let document = try self.read(
            self.one("00:10:00", "breakId='mid'", content: Self.source("b", ads: 2))
                + self.one("start", "breakId='pre'")
                + self.one("00:10:00.000", "breakId='more'", content: Self.source("a"))
        )
        #expect(document.breaks.map(\.id) == ["pre", "mid"])
        let ads = document.breaks[1].ads
            .map { source -> [String] in
                guard case .inline(let contents) = source else { return [] }
                return contents.map(\.id)
            }
        #expect(ads == [["b0", "b1"], ["a0"]])
    }

    @Test func `a repeated break is there until the programme ends`() throws {
        let document = try self.read(self.one("00:10:00", "breakId='r' repeatAfter='00:20:00'"))
        #expect(document.breaks.map(\.id) == ["r", "r-2", "r-3"])
        #expect(document.breaks.map { ($0.startMilliseconds - Self.start) / 60_000 } == [10, 30, 50])
    }

    @Test func `only one ad plays where the document says so`() throws {
        let document = try self.read(
            self.one("start", content: Self.source("a", attributes: "allowMultipleAds='false'", ads: 3))
        )
        guard case .inline(let ads)? = document.breaks.first?.ads.first else { throw ScheduleFault("no ads") }
        #expect(ads.map(\.id) == ["a0"])
        #expect(document.notes.map(\.text) == ["2 ads are left out: allowMultipleAds is false."])
    }

    @Test func `an ad server's address is read with what it may give, and tracking of breaks is told`() throws {
        let tag = self.one(
            "start",
            content: """
                <vmap:AdSource allowMultipleAds='false' followRedirects='0'><vmap:AdTagURI templateType='vast4'><![CDATA[ https://ads.example/v?a=1&b=2 ]]></vmap:AdTagURI></vmap:AdSource>
                <vmap:TrackingEvents><vmap:Tracking event='breakStart'>https://a.example/s</vmap:Tracking></vmap:TrackingEvents>
                """
        )
        let document = try self.read(tag)
        let expected = ScheduledTag(address: "https://ads.example/v?a=1&b=2", isSingle: true, followsWrappers: false)
        #expect(document.breaks.map(\.ads) == [[.tag(expected)]])
        #expect(
            document.notes.map(\.text) == [
                "1 tracking URLs of the break itself are not carried (breakStart); those of its ads are."
            ]
        )
    }

    @Test func `a break that is not linear is left out, and told`() throws {
        let other = "<vmap:AdBreak breakType='nonlinear' timeOffset='start'/>"
        let document = try self.read(other + self.one("end"))
        #expect(document.breaks.count == 1 && document.notes.count == 1 && document.notes[0].line == 2)
    }

    @Test(arguments: [
        ("end", "", "the timeOffset end needs the programme's length; give it with --programme-duration"),
        ("50%", "", "the timeOffset “50%” needs the programme's length; give it with --programme-duration"),
        ("101%", "", "the timeOffset “101%” is no percentage from 0% to 100%"),
        ("#1", "", "the timeOffset #1 is a position, and 0 are known; give them with --position"),
        ("#0", "", "the timeOffset “#0” is no position such as #1"),
        ("10:00", "", "the timeOffset “10:00” is none of hh:mm:ss.mmm, start, end, n% and #n"),
        (
            "start", "repeatAfter='00:10:00'",
            "repeatAfter needs the programme's length; give it with --programme-duration"
        ),
        ("start", "repeatAfter='00:00:00'", "repeatAfter is “00:00:00”, and not hh:mm:ss above zero"),
    ])
    func `a time that is not known is a fault with its line`(offset: String, more: String, reason: String) throws {
        #expect(try self.read(self.one(offset, more), length: nil).faults.map(\.description) == ["line 2: " + reason])
    }

    @Test(arguments: [
        (
            "<vmap:AdSource><vmap:CustomAdData templateType='x'>y</vmap:CustomAdData></vmap:AdSource>",
            "form that only its author knows"
        ),
        ("<vmap:AdSource/>", "not one of VASTAdData, AdTagURI and CustomAdData"),
        ("<vmap:AdSource/><vmap:AdSource/>", "two AdSource"),
        (
            "<vmap:AdSource><vmap:VASTAdData><VAST version='3.0'/></vmap:VASTAdData></vmap:AdSource>",
            "its VAST: The document has no ad."
        ),
        ("<vmap:AdSource><vmap:AdTagURI>ftp://x</vmap:AdTagURI></vmap:AdSource>", "no absolute http or https address"),
    ])
    func `ads that cannot be had are a fault`(content: String, words: String) throws {
        let document = try self.read(self.one("start", content: content))
        #expect(document.faults.count == 1 && document.faults[0].line == 2 && document.faults[0].reason.contains(words))
    }

    @Test func `what is no VMAP of this version is refused`() {
        let read = { (root: String) in
            fault { () throws(ScheduleFault) in try self.read(self.one("start"), root: root) }?.description
        }
        #expect(read("xmlns:vmap='http://www.iab.net/vmap-1.0' version='1.0'") == nil)
        #expect(
            read("xmlns:vmap='http://www.iab.net/videosuite/vmap' version='2.0'")
                == "line 1: this is VMAP “2.0”; version 1.0 is read"
        )
        #expect(read("xmlns:vmap='http://example.com' version='1.0'")?.contains("not VMAP") ?? false)
        #expect(
            read("xmlns:vmap='http://www.iab.net/videosuite/vmap' version=1")?
                .hasPrefix("line 1: this is not well-formed XML") ?? false
        )
    }

    @Test func `limits hold, and one more is refused`() throws {
        let step = "00:00:03.600"
        #expect(try self.read(self.one("start", "repeatAfter='\(step)'")).breaks.count == 1_000)
        #expect(
            try self.read(self.one("start", "repeatAfter='00:00:03.599'")).faults.map(\.limit) == [
                "scheduleOccurrencesMax"
            ]
        )
        let pods = { (count: Int) in String(repeating: self.one("start"), count: count) }
        #expect(try self.read(pods(64)).breaks.first?.ads.count == 64)
        #expect(try self.read(pods(65)).faults.map(\.limit) == ["scheduleSourcesPerBreakMax"])
        let long = fault { () throws(ScheduleFault) in
            try self.read(self.one("start"), length: ScheduleLimits.programmeMillisecondsMax + 1)
        }
        #expect(long?.limit == "programmeMillisecondsMax")
        #expect(try self.read(self.one("start"), length: ScheduleLimits.programmeMillisecondsMax).breaks.count == 1)
    }
}
