// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import CuecastBroadcast
import CuecastWire
import TestSupport
import Testing

@testable import CueWatching

/// From the marks of playlists, as packagers write them, to signals.
@Suite(.suiteLimit)
struct PlaylistSignalsTests {
    /// `splice_insert()` out with event 1207959695 and 60.293567 s (SCTE 35 section 14).
    private static let insert = "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo="

    /// A playlist that is watched; its first segment is at noon, and segments have 6 s.
    private struct Watched {
        var watch = PlaylistWatch()
        var signals = PlaylistSignals(stream: "radio1", source: "playlist")
        var now = Cues.noon

        mutating func read(first: Int = 0, _ segments: [String]) throws -> [CueObservation] {
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
            text += "#EXT-X-PROGRAM-DATE-TIME:\(Timestamp.text(ofMilliseconds: Cues.noon + first * 6_000))\n"
            for (index, tags) in segments.enumerated() {
                text += (tags.isEmpty ? "" : tags + "\n") + "#EXTINF:6.0,\nsegment\(first + index).ts\n"
            }
            let reading = try self.watch.read(Array(text.utf8), atMilliseconds: self.now)
            return self.signals.observations(of: reading.events, atMilliseconds: self.now)
        }
    }

    @Test(arguments: [
        "#EXT-X-CUE-OUT:30", "#EXT-X-CUE-OUT:\"30.0\"", "#EXT-X-CUE-OUT:DURATION=30", "#EXT-X-CUE-OUT:Duration=30.000",
        "#EXT-X-CUE:TYPE=\"SpliceOut\",DURATION=30", "#EXT-X-SCTE35:CUE-OUT=YES,DURATION=30",
    ])
    func `a break begins where its tag stands, and ends where the programme comes back`(tag: String) throws {
        var watched = Watched()
        #expect(short(try watched.read(["", tag, "", ""])) == ["out hls-1795780806000 +6000 30s"])
        #expect(try watched.read(first: 1, [tag, "", "", ""]).isEmpty)
        #expect(short(try watched.read(first: 2, ["", "", "", "#EXT-X-CUE-IN"])) == ["in hls-1795780806000 +30000"])
    }

    @Test func `a tag without a duration, and one that joins a break, are breaks`() throws {
        var without = Watched()
        let out = try without.read(["", "#EXT-X-CUE-OUT"])
        #expect(short(out) == ["out hls-1795780806000 +6000"])
        guard case .signal(let signal) = out.first?.meaning else { return }
        #expect(signal.isProgrammeTime && signal.source == "playlist" && signal.stream == "radio1")
        var joined = Watched()
        let running = try joined.read(["#EXT-X-CUE-OUT-CONT:ElapsedTime=12.0,Duration=30"])
        #expect(short(running) == ["out hls-1795780788000 +-12000 30s"])
        var slash = Watched()
        #expect(short(try slash.read(["", "#EXT-X-CUE-OUT-CONT:8.3/30"])) == ["out hls-1795780797700 +-2300 30s"])
    }

    @Test func `a section says which event it is, and the tag where and how long`() throws {
        var watched = Watched()
        let tags = "#EXT-OATCLS-SCTE35:\(Self.insert)\n#EXT-X-CUE-OUT:30.0"
        let out = try watched.read(["", tags, "#EXT-X-CUE-OUT-CONT:6.0/30,SCTE35=\(Self.insert)"])
        #expect(short(out) == ["out splice-1207959695 +6000 30s"])
        guard case .signal(let signal) = out.first?.meaning else { return }
        #expect(signal.raw.count == 50)
        // The end has no section, and is the end of the break that runs.
        #expect(short(try watched.read(first: 2, ["", "", "#EXT-X-CUE-IN"])) == ["in splice-1207959695 +24000"])
        // Without a tag beside it, the section says all.
        var alone = Watched()
        let message = "#EXT-X-SPLICEPOINT-SCTE35:\(Self.insert)"
        #expect(short(try alone.read(["", message])) == ["out splice-1207959695 +6000 60s"])
        #expect(try alone.read(["", message, message]).isEmpty)
    }

    @Test func `where a section cannot be read, the refusal is told and the tag counts`() throws {
        var watched = Watched()
        // A CRC of zeros, as specifications and packagers print it.
        let zeros = "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNQAAAAA="
        let out = try watched.read(["", "#EXT-OATCLS-SCTE35:\(zeros)\n#EXT-X-CUE-OUT:30"])
        #expect(short(out) == ["refused: UNREADABLE", "out hls-1795780806000 +6000 30s"])
        var alone = Watched()
        #expect(short(try alone.read(["", "#EXT-OATCLS-SCTE35:\(zeros)"])) == ["refused: UNREADABLE"])
    }

    @Test func `ranges of dates begin, change and end by their id`() throws {
        var watched = Watched()
        let start = "START-DATE=\"2026-11-27T12:00:30Z\""
        let hex = "0x" + (try Cues.insert(7).hex())
        let out = "#EXT-X-DATERANGE:ID=\"splice-7\",\(start),PLANNED-DURATION=60,SCTE35-OUT=\(hex)"
        #expect(short(try watched.read(["", out])) == ["out splice-7 +30000 60s"])
        let longer = "#EXT-X-DATERANGE:ID=\"splice-7\",\(start),PLANNED-DURATION=90"
        #expect(short(try watched.read(["", longer, ""])) == ["out splice-7 +30000 90s"])
        let back = "0x" + (try Cues.insert(7, out: false, pts: 1_800_000, seconds: nil).hex())
        let ended = "#EXT-X-DATERANGE:ID=\"splice-7\",\(start),DURATION=45,SCTE35-IN=\(back)"
        #expect(signals(try watched.read(["", "", ended])).last == "in splice-7 +75000")
        // A name with characters that an event id cannot have is one all the same, and always the same one.
        let ids = try (0..<2)
            .map { _ in
                var other = Watched()
                let range =
                    "#EXT-X-DATERANGE:ID=\"pause d'été \",\(start),CLASS=\"com.apple.hls.interstitial\",DURATION=30"
                return short(try other.read(["", range]))
            }
        #expect(ids[0] == ids[1] && ids[0].first?.hasPrefix("out hls-") == true, "\(ids)")
    }

    @Test func `a section of an ad inside the break opens none, and its tag neither`() throws {
        var watched = Watched()
        let start = { (seconds: Int) in "START-DATE=\"2026-11-27T12:00:\(seconds)Z\"" }
        let outer = "0x" + (try Cues.segment(1, 0x22, seconds: 20).hex())
        let inner = "0x" + (try Cues.segment(2, 0x30, seconds: 10).hex())
        let tags =
            "#EXT-X-DATERANGE:ID=\"1\",\(start(30)),SCTE35-OUT=\(outer)\n"
            + "#EXT-X-DATERANGE:ID=\"2\",\(start(40)),SCTE35-OUT=\(inner)"
        #expect(
            short(try watched.read(["", tags])) == [
                "out segment-1 +30000 20s", "ignored: lies in the break segment-1",
            ]
        )
    }

    @Test func `what was over long ago is ignored, as in the window of hours of a first playlist`() throws {
        var watched = Watched()
        watched.now = Cues.noon + 36_000 + CueRule.programmeLateMillisecondsDefault
        #expect(short(try watched.read(["", "#EXT-X-CUE-OUT:30"])) == ["out hls-1795780806000 +6000 30s"])
        var later = Watched()
        later.now = Cues.noon + 36_001 + CueRule.programmeLateMillisecondsDefault
        let said = short(try later.read(["", "#EXT-X-CUE-OUT:30", "", "#EXT-X-CUE-IN"]))
        #expect(said.count == 2 && said.allSatisfy { $0.hasPrefix("ignored: it was over 1") }, "\(said)")
    }

    @Test(arguments: [false, true])
    func `a watcher that begins late in a break without a duration knows the event of its end`(
        hasSection: Bool
    ) throws {
        let id = hasSection ? "splice-7" : "hls-1795780806000"
        var watched = Watched()
        watched.now = Cues.noon + 6_000 + 200_000
        let section = try Cues.insert(7, seconds: nil).base64()
        let out = (hasSection ? "#EXT-OATCLS-SCTE35:\(section)\n" : "") + "#EXT-X-CUE-OUT"
        #expect(short(try watched.read(["", out, ""])) == ["out \(id) +6000"])
        #expect(short(try watched.read(first: 1, [out, "", "#EXT-X-CUE-IN"])) == ["in \(id) +18000"])
    }

    @Test func `a break without a duration is over with its end, with the next break, or after so long`() throws {
        let late = CueRule.programmeLateMillisecondsDefault
        for end in ["#EXT-X-CUE-IN", "#EXT-X-CUE-OUT:600"] {
            var watched = Watched()
            watched.now = Cues.noon + 18_000 + late
            let first = short(try watched.read(["", "#EXT-X-CUE-OUT", "", end]))
            #expect(first.count == 2 && first[0] == "out hls-1795780806000 +6000", "\(first)")
            var later = Watched()
            later.now = Cues.noon + 18_001 + late
            let said = short(try later.read(["", "#EXT-X-CUE-OUT", "", end]))
            #expect(said.first?.hasPrefix("ignored: it was over 120.001 s ago") == true, "\(said)")
        }
        var longest = Watched()
        longest.now = Cues.noon + 6_000 + 3_600_000
        #expect(short(try longest.read(["", "#EXT-X-CUE-OUT"])) == ["out hls-1795780806000 +6000"])
        var past = Watched()
        past.now = Cues.noon + 6_001 + 3_600_000
        let said = short(try past.read(["", "#EXT-X-CUE-OUT"]))
        #expect(said == ["ignored: it began 3600.001 s ago, and no end of it is known"], "\(said)")
        // A section may say the duration.
        var section = Watched()
        section.now = Cues.noon + 6_000 + 60_294 + late
        let sectionSaid = short(try section.read(["", "#EXT-OATCLS-SCTE35:\(Self.insert)\n#EXT-X-CUE-OUT"]))
        #expect(sectionSaid.count == 1 && sectionSaid[0].hasPrefix("ignored: it was over 120"), "\(sectionSaid)")
    }

    @Test func `times that no live stream has are refused`() throws {
        var watched = Watched()
        watched.now = Cues.noon - 3_600_000 + 6_000
        #expect(short(try watched.read(["", "#EXT-X-CUE-OUT:30"])) == ["out hls-1795780806000 +6000 30s"])
        var earlier = Watched()
        earlier.now = Cues.noon - 3_600_000 + 5_999
        #expect(short(try earlier.read(["", "#EXT-X-CUE-OUT:30"])) == ["refused: TOO_FAR"])
        var long = Watched()
        #expect(short(try long.read(["", "#EXT-X-CUE-OUT:21601"])) == ["refused: TOO_LONG"])
    }

    @Test func `the number of remembered breaks is bounded`() throws {
        var signals = PlaylistSignals(stream: "radio1", source: "playlist")
        var watch = PlaylistWatch()
        for number in 0...PlaylistSignals.rememberedBreaksMax + 1 {
            let date = Timestamp.text(ofMilliseconds: Cues.noon + number * 60_000)
            let text =
                "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:\(number)\n#EXT-X-PROGRAM-DATE-TIME:\(date)\n"
                + "#EXT-X-CUE-OUT:5\n#EXTINF:6,\na\(number).ts\n"
            let now = Cues.noon + number * 60_000
            let events = try watch.read(Array(text.utf8), atMilliseconds: now).events
            #expect(!signals.observations(of: events, atMilliseconds: now).isEmpty)
            #expect(signals.rememberedBreaks <= PlaylistSignals.rememberedBreaksMax)
        }
        #expect(signals.rememberedBreaks == PlaylistSignals.rememberedBreaksMax)
    }

    @Test func `random marks crash nothing, and two watchers say the same`() async throws {
        var random = SeededGenerator(for: "random marks")
        let sections = try [
            Cues.insert(1), Cues.insert(1, out: false), Cues.insertIsCancelled(1), Cues.segment(2, 0x22, seconds: 30),
            Cues.segment(2, 0x23), Cues.segment(3, 0x30), SpliceInfoSection(command: .spliceNull),
        ]
        .map { try $0.base64() }
        let tags = [
            "", "", "", "#EXT-X-CUE-OUT", "#EXT-X-CUE-OUT:30", "#EXT-X-CUE-OUT-CONT:5/30", "#EXT-X-CUE-IN",
            "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-11-27T12:00:30Z\",SCTE35-OUT=0xFC30,END-DATE=\"2026-11-27T12:01:00Z\"",
        ]
        for _ in 0..<200 {
            await Task.yield()
            var (one, other) = (Watched(), Watched())
            for first in 0..<6 {
                let segments = random.list(1...6) { random -> String in
                    let section = random.maybe { "#EXT-OATCLS-SCTE35:\($0.pick(sections))\n" } ?? ""
                    return section + random.pick(tags)
                }
                let said = try one.read(first: first, segments)
                #expect(short(said) == short(try other.read(first: first, segments)))
                #expect(said.allSatisfy { !$0.seen.isEmpty }, "CUECAST_SEED=\(SeededGenerator.seed)")
            }
        }
    }
}
