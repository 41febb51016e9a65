// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// What a watch tells of successive playlists.
@Suite(.suiteLimit)
struct PlaylistWatchTests {
    private var watch = PlaylistWatch()

    /// The events of a playlist, as text.
    private mutating func events(_ playlist: [UInt8], rendition: String = "", at now: Int = 0) throws -> [String] {
        try self.watch.read(playlist, rendition: rendition, atMilliseconds: Playlists.start + now).events.map(brief)
    }

    @Test mutating func `a mark that stays in the window is told once`() throws {
        let tags = ["", "#EXT-X-CUE-OUT:12", "#EXT-X-CUE-OUT-CONT:6/12", "#EXT-X-CUE-IN", "", ""]
        var told: [String] = []
        for count in 1...6 { told += try self.events(Playlists.media(Array(tags.prefix(count)))) }
        #expect(told == ["out 6000 for 12000", "in 18000"])
    }

    @Test mutating func `a break that runs already is joined, with its start`() throws {
        let first = Playlists.media(first: 3, ["#EXT-X-CUE-OUT-CONT:8.5/30", "#EXT-X-CUE-OUT-CONT:14.5/30"])
        #expect(try self.events(first) == ["out 9500 for 30000 after 8500"])
        let next = Playlists.media(
            first: 4,
            ["#EXT-X-CUE-OUT-CONT:14.5/30", "#EXT-X-CUE-OUT-CONT:20.5/30", "#EXT-X-CUE-IN"]
        )
        #expect(try self.events(next) == ["in 36000"])
    }

    @Test mutating func `a section beside a tag belongs to it, and repeated on later segments opens nothing`() throws {
        let section = "#EXT-OATCLS-SCTE35:/DAgAA=="
        let playlist = Playlists.media([
            "\(section)\n#EXT-X-CUE-OUT:18", "\(section)\n#EXT-X-CUE-OUT-CONT:6/18", section, "#EXT-X-CUE-IN", section,
            "",
        ])
        #expect(try self.events(playlist) == ["out 0 for 18000 4 bytes", "in 18000"])
    }

    @Test mutating func `a section alone is told once while it is repeated, and again when it comes back`() throws {
        let section = "#EXT-X-SPLICEPOINT-SCTE35:/DAgAA=="
        let tags = [section, section] + Array(repeating: "", count: 20) + [section]
        #expect(try self.events(Playlists.media(tags)) == ["message 0 4 bytes", "message 132000 4 bytes"])
    }

    @Test mutating func `two tags for one thing are one`() throws {
        let playlist = Playlists.media([
            "#EXT-X-SCTE35:CUE=\"/DAgAA==\",CUE-OUT=YES,ID=\"7\"\n#EXT-OATCLS-SCTE35:/DAgAA==\n#EXT-X-CUE-OUT:12",
            "", "#EXT-X-CUE-IN\n#EXT-X-SCTE35:CUE=\"/DAhAA==\",CUE-IN=YES\n#EXT-X-CUE-OUT:6",
        ])
        let told = ["out 0 for 12000 7 4 bytes", "in 12000 7 4 bytes", "out 12000 for 6000"]
        #expect(try self.events(playlist) == told)
    }

    @Test mutating func `a mark of the middle opens nothing when the end before it is told later`() throws {
        let tags = ["#EXT-X-CUE-OUT-CONT:6/30", "#EXT-X-CUE-OUT-CONT", "#EXT-X-CUE-OUT-CONT", ""]
        #expect(try self.events(Playlists.media(first: 2, tags)) == ["out 6000 for 30000 after 6000"])
        // It ended at 15 s, before the mark on the third segment.
        let range = "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"\(Playlists.date(6_000))\",DURATION=9,SCTE35-IN=0xFC01\n"
        #expect(try self.events(Playlists.media(first: 2, tags, header: range)) == ["in 15000 a 2 bytes"])
        #expect(try self.events(Playlists.media(first: 3, tags.dropFirst() + [""], header: range)) == [])
        // A mark behind the end that was not read before is of a break whose begin was not seen.
        let next = tags.dropFirst() + ["", "#EXT-X-CUE-OUT-CONT"]
        #expect(try self.events(Playlists.media(first: 3, Array(next), header: range)) == ["out 42000 after 0"])
    }

    @Test mutating func `an id that is there twice, hours apart, is told once`() throws {
        let old = "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2025-12-31T20:00:00Z\",PLANNED-DURATION=9,SCTE35-OUT=0xFC01\n"
        let start = Playlists.date(6_000)
        let new = "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"\(start)\",PLANNED-DURATION=6,SCTE35-OUT=0xFC02\n"
        let playlist = Playlists.media(["", "#EXT-X-CUE-OUT:30", ""], header: old + new)
        #expect(try self.events(playlist).first?.hasPrefix("out 6000") == true)
        for _ in 0..<3 { #expect(try self.events(playlist + Array("#\n".utf8)) == []) }
    }

    @Test mutating func `a changed duration is an update`() throws {
        _ = try self.events(Playlists.media(["#EXT-X-CUE-OUT:30", "#EXT-X-CUE-OUT-CONT:6/30"]))
        let longer = Playlists.media(["#EXT-X-CUE-OUT:30", "#EXT-X-CUE-OUT-CONT:6/30", "#EXT-X-CUE-OUT-CONT:12/60"])
        #expect(try self.events(longer) == ["update 0 for 60000"])
        #expect(try self.events(longer + Array("#\n".utf8)) == [])
    }

    @Test mutating func `durations that differ by half a second are two`() throws {
        let tags = ["#EXT-X-CUE-OUT:30", "#EXT-X-CUE-OUT-CONT:6/30.499"]
        #expect(try self.events(Playlists.media(tags)) == ["out 0 for 30000"])
        let longer = Playlists.media(tags + ["#EXT-X-CUE-OUT-CONT:12/30.5"])
        #expect(try self.events(longer) == ["update 0 for 30500"])
    }

    @Test mutating func `an out before the in is told, and so is an in without an out`() throws {
        let playlist = Playlists.media(["#EXT-X-CUE-IN", "#EXT-X-CUE-OUT", "", "#EXT-X-CUE-OUT:6", "#EXT-X-CUE-IN"])
        #expect(try self.events(playlist) == ["in 0", "out 6000", "out 18000 for 6000", "in 24000"])
    }

    @Test mutating func `a mark behind the last segment is told before its segment is there`() throws {
        let waiting = Playlists.media(["", ""], end: "#EXT-X-CUE-OUT:30\n")
        #expect(try self.events(waiting) == ["out 12000 for 30000"])
        #expect(try self.events(Playlists.media(["", "", "#EXT-X-CUE-OUT:30"])) == [])
    }

    @Test mutating func `another rendition tells the same breaks, and goes on when the first one fails`() throws {
        #expect(try self.events(Playlists.media(["", "#EXT-X-CUE-OUT:12", ""]), rendition: "a").count == 1)
        self.watch.failed(rendition: "a")
        // Its segments have other numbers.
        let shift = "#EXT-X-PROGRAM-DATE-TIME:\(Playlists.date(6_200))\n"
        let other = Playlists.media(first: 100, ["\(shift)#EXT-X-CUE-OUT:12", "", "#EXT-X-CUE-IN"], dates: false)
        #expect(try self.events(other, rendition: "b") == ["in 18200"])
    }

    @Test mutating func `a packager that starts anew tells the same breaks`() throws {
        _ = try self.events(Playlists.media(first: 1_000, ["", "#EXT-X-CUE-OUT:60", ""]))
        // 6,006 s behind the start there was a break; now the numbers begin at 0.
        let date = "#EXT-X-PROGRAM-DATE-TIME:\(Playlists.date(6_006_000))\n"
        let tags = ["\(date)#EXT-X-CUE-OUT:60", "#EXT-X-CUE-OUT-CONT:6/60", "#EXT-X-CUE-IN"]
        let reading = try self.watch.read(Playlists.media(tags, dates: false), atMilliseconds: Playlists.start)
        #expect(reading.isRestarted && reading.events.map(brief) == ["in 6018000"])
    }

    @Test mutating func `an older playlist of a cache tells nothing and changes nothing`() throws {
        _ = try self.events(Playlists.media(first: 0, ["", "#EXT-X-CUE-OUT:60", "", ""]))
        let old = try self.watch.read(Playlists.media(first: 0, ["", "#EXT-X-CUE-OUT:60"]), atMilliseconds: 0)
        #expect(!old.isChanged && !old.isRestarted && old.events.isEmpty)
        #expect(try self.events(Playlists.media(first: 2, ["", "", "#EXT-X-CUE-IN"])) == ["in 24000"])
    }

    @Test mutating func `without dates the end of the first playlist is the time of reading`() throws {
        let first = Playlists.media(["", "#EXT-X-CUE-OUT:12", ""], dates: false)
        let reading = try self.watch.read(first, atMilliseconds: Playlists.start + 18_000)
        #expect(reading.events.map(brief) == ["out 6000 for 12000"] && reading.events[0].isEstimated)
        #expect(reading.endMilliseconds == Playlists.start + 18_000)
        // It was read late; the segments count.
        let next = Playlists.media(first: 1, ["#EXT-X-CUE-OUT:12", "", "#EXT-X-CUE-IN"], dates: false)
        #expect(try self.events(next, at: 29_000) == ["in 18000"])
    }

    @Test mutating func `a delta update is put behind what is known`() throws {
        _ = try self.events(Playlists.media(["", "#EXT-X-CUE-OUT:12", "", ""]))
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:1\n#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n"
        let delta = Array((text + "#EXT-X-CUE-IN\n#EXTINF:6,\nsegment4.ts\n").utf8)
        let reading = try self.watch.read(delta, atMilliseconds: 0)
        #expect(reading.events.map(brief) == ["in 24000"] && !reading.needsWholePlaylist)
        let gap = Array((text + "#EXTINF:6,\nsegment9.ts\n").utf8)
        var fresh = PlaylistWatch()
        #expect(try fresh.read(gap, atMilliseconds: 0).needsWholePlaylist)
    }

    @Test mutating func `a jump of media sequence numbers loses no mark that is there`() throws {
        _ = try self.events(Playlists.media(["", "#EXT-X-CUE-OUT:12", ""]))
        let later = Playlists.media(first: 100, ["#EXT-X-CUE-OUT-CONT:6/30", "", "#EXT-X-CUE-IN"])
        #expect(try self.events(later) == ["out 594000 for 30000 after 6000", "in 612000"])
    }

    @Test mutating func `a range of dates is told once, ahead of its place, and ends as its tags say`() throws {
        let out = "ID=\"a\",START-DATE=\"\(Playlists.date(60_000))\",PLANNED-DURATION=30,SCTE35-OUT=0xFC30"
        let header = "#EXT-X-DATERANGE:\(out)\n"
        #expect(try self.events(Playlists.media([""], header: header)) == ["out 60000 for 30000 a 2 bytes"])
        #expect(try self.events(Playlists.media(["", ""], header: header)) == [])
        let ended = header + "#EXT-X-DATERANGE:ID=\"a\",DURATION=24,SCTE35-IN=0xFC30\n"
        let told = try self.events(Playlists.media(["", "", ""], header: ended))
        #expect(told == ["update 60000 for 24000 a 2 bytes", "in 84000 a 2 bytes"])
        #expect(try self.events(Playlists.media(first: 30, [""], header: ended)) == [])
    }

    @Test mutating func `a range and a tag of one break are one`() throws {
        let header = "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"\(Playlists.date(6_050))\",DURATION=12,SCTE35-OUT=0xFC30\n"
        let playlist = Playlists.media(["", "#EXT-X-CUE-OUT:12", "", "#EXT-X-CUE-IN"], header: header)
        #expect(try self.events(playlist) == ["out 6000 for 12000", "in 18000 a"])
    }

    @Test(arguments: [
        (7_000, ["out 6000 for 12000"]), (7_001, ["out 6000 for 12000", "out 7001 for 12000 a 2 bytes"]),
    ])
    mutating func `marks that are a second apart are one, and others two`(start: Int, told: [String]) throws {
        let date = Playlists.date(start)
        let header = "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"\(date)\",DURATION=12,SCTE35-OUT=0xFC30\n"
        #expect(try self.events(Playlists.media(["", "#EXT-X-CUE-OUT:12", ""], header: header)) == told)
    }

    @Test mutating func `a section that is repeated after a minute is one, and later another`() throws {
        let section = "#EXT-X-SPLICEPOINT-SCTE35:/DAgAA=="
        func tags(_ segments: Int) -> [String] { [section] + Array(repeating: "", count: segments - 1) + [section] }
        #expect(try self.events(Playlists.media(tags(10))) == ["message 0 4 bytes"])
        self.watch = PlaylistWatch()
        #expect(try self.events(Playlists.media(tags(11))) == ["message 0 4 bytes", "message 66000 4 bytes"])
    }

    @Test mutating func `an id that comes back an hour later is of another range, and sooner of a moved one`() throws {
        func range(_ start: Int) -> String {
            "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"\(Playlists.date(start))\",SCTE35-OUT=0xFC\n"
        }
        let starts = [(0, "out 0"), (3_599_999, "update 3599999"), (7_199_999, "out 7199999")]
        for (start, told) in starts {
            #expect(try self.events(Playlists.media([""], header: range(start))) == [told + " a 1 bytes"])
        }
    }

    @Test mutating func `ranges of one place and two ids are two, as nested segments are`() throws {
        let start = "START-DATE=\"\(Playlists.date(6_000))\""
        let header = """
            #EXT-X-DATERANGE:ID="b",\(start),PLANNED-DURATION=60,SCTE35-OUT=0xFC22
            #EXT-X-DATERANGE:ID="c",\(start),DURATION=30,SCTE35-OUT=0xFC30,SCTE35-IN=0xFC31
            #EXT-X-DATERANGE:ID="d",START-DATE="\(Playlists.date(36_000))",SCTE35-CMD=0xFC40

            """
        let told = try self.events(Playlists.media([""], header: header))
        #expect(
            told == [
                "out 6000 for 60000 b 2 bytes", "out 6000 for 30000 c 2 bytes", "in 36000 c 2 bytes",
                "message 36000 d 2 bytes",
            ]
        )
    }

    @Test mutating func `an interstitial is a break with its class, but not before the programme`() throws {
        let common = "CLASS=\"com.apple.hls.interstitial\",START-DATE=\"\(Playlists.date(6_000))\",X-ASSET-URI=\"a\""
        let header = """
            #EXT-X-DATERANGE:ID="a",\(common),DURATION=15
            #EXT-X-DATERANGE:ID="b",\(common),CUE="PRE"
            #EXT-X-DATERANGE:ID="c",CLASS="other",START-DATE="\(Playlists.date(6_000))",DURATION=15

            """
        let events = try self.watch.read(Playlists.media([""], header: header), atMilliseconds: 0).events
        #expect(events.map(brief) == ["out 6000 for 15000 a"])
        #expect(events.map(\.rangeClass) == [DateRange.interstitialClass] && events[0].line == 5)
    }

    @Test mutating func `a range that ends on the next gets its duration, a moved one its start`() throws {
        func range(_ id: String, _ start: Int, _ more: String = "") -> String {
            "#EXT-X-DATERANGE:ID=\"\(id)\",CLASS=\"x\",START-DATE=\"\(Playlists.date(start))\",SCTE35-OUT=0xFC\(more)\n"
        }
        let open = range("a", 6_000, ",END-ON-NEXT=YES")
        #expect(try self.events(Playlists.media([""], header: open)) == ["out 6000 a 1 bytes"])
        let next = try self.events(Playlists.media(["", ""], header: open + range("b", 36_000)))
        #expect(next == ["update 6000 for 30000 a 1 bytes", "out 36000 b 1 bytes"])
        let moved = try self.events(Playlists.media(["", "", ""], header: range("b", 40_000)))
        #expect(moved == ["update 40000 b 1 bytes"])
        // Two hours later the id is used again.
        let again = try self.events(Playlists.media([""], header: range("b", 7_240_000)))
        #expect(again == ["out 7240000 b 1 bytes"])
    }

    @Test mutating func `the next load comes after the target duration, half of it, or later and later`() throws {
        let playlist = Playlists.media([""])
        #expect(self.watch.reloadAfterMilliseconds() == 6_000)
        #expect(try self.watch.read(playlist, atMilliseconds: 0).reloadAfterMilliseconds == 6_000)
        #expect(try self.watch.read(playlist, atMilliseconds: 0).reloadAfterMilliseconds == 3_000)
        let waits = (0..<6).map { _ in self.watch.failed() }
        #expect(waits == [3_000, 6_000, 12_000, 24_000, 30_000, 30_000])
        #expect(throws: PlaylistError.self) { try self.watch.read([0x23], atMilliseconds: 0) }
        #expect(self.watch.reloadAfterMilliseconds() == 30_000)
        let ended = Playlists.media(["", ""], end: "#EXT-X-ENDLIST\n")
        #expect(try self.watch.read(ended, atMilliseconds: 0).reloadAfterMilliseconds == nil)
        #expect(try self.watch.read(ended, atMilliseconds: 0).reloadAfterMilliseconds == nil)
    }

    @Test(arguments: [("0.499", 500), ("0.5", 500), ("0.501", 501)])
    mutating func `loads are at least half a second apart`(target: String, wait: Int) throws {
        let playlist = Array("#EXTM3U\n#EXT-X-TARGETDURATION:\(target)\n#EXTINF:0.4,\na.ts\n".utf8)
        #expect(try self.watch.read(playlist, atMilliseconds: 0).reloadAfterMilliseconds == wait)
        #expect(try self.watch.read(playlist, atMilliseconds: 0).reloadAfterMilliseconds == 500)
    }

    @Test mutating func `a broken playlist does not end the watch`() throws {
        _ = try self.events(Playlists.media(["#EXT-X-CUE-OUT:12"]))
        for bytes in [[], Array("<html>".utf8), Array("#EXTM3U\n#EXT-X-STREAM-INF:A=1\na\n".utf8)] {
            #expect(throws: PlaylistError.self) { try self.watch.read(bytes, atMilliseconds: 0) }
        }
        #expect(try self.events(Playlists.media(["#EXT-X-CUE-OUT:12", "", "#EXT-X-CUE-IN"])) == ["in 12000"])
    }

    @Test(arguments: [Int.min, -1, Int.max])
    mutating func `a clock that is set to nonsense traps on nothing`(now: Int) throws {
        let playlist = Playlists.media(["", "#EXT-X-CUE-OUT:12"], dates: false)
        #expect(try self.watch.read(playlist, atMilliseconds: now).events.count == 1)
        var clock = PCRWallClock()
        clock.take(PCRReading(base: 0, ticks: 0, run: 0), atMilliseconds: now)
        #expect(clock.milliseconds(atPTS: 0) != nil)
    }
}
