// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// Playlists as RFC 8216 and its next edition have them, and what is refused.
@Suite(.suiteLimit)
struct PlaylistReaderTests {
    @Test func `a live playlist has its segments, their numbers and dates`() throws {
        let playlist = try Playlists.read(
            """
            #EXTM3U\r
            #EXT-X-VERSION:3\r
            #EXT-X-TARGETDURATION:8\r
            #EXT-X-MEDIA-SEQUENCE:2680\r
            #EXT-X-DISCONTINUITY-SEQUENCE:3\r
            \r
            # A comment: #EXT-X-CUE-OUT\r
            #EXT-X-PROGRAM-DATE-TIME:2010-02-19T14:54:23.031+08:00\r
            #EXTINF:7.975,title, with a comma\r
            https://priv.example.com/fileSequence2680.ts\r
            #EXT-X-DISCONTINUITY\r
            #EXT-X-UNKNOWN:1\r
            #EXTINF:7.941,\r
            https://priv.example.com/fileSequence2681.ts\r
            #EXT-X-PROGRAM-DATE-TIME:2010-02-19T06:54:38.9465Z\r
            #EXTINF:7\r
            https://priv.example.com/fileSequence2682.ts\r
            #EXT-X-ENDLIST
            """
        )
        #expect(playlist.targetDurationMilliseconds == 8_000)
        #expect(playlist.mediaSequence == 2_680 && playlist.discontinuitySequence == 3 && playlist.isEnded)
        #expect(playlist.segments.map(\.sequence) == [2_680, 2_681, 2_682])
        #expect(playlist.segments.map(\.durationMicroseconds) == [7_975_000, 7_941_000, 7_000_000])
        #expect(playlist.segments.map(\.isDiscontinuity) == [false, true, false])
        let dates = playlist.segments.map(\.dateMicroseconds)
        #expect(dates == [1_266_562_463_031_000, nil, 1_266_562_478_946_500])
        #expect(playlist.segments[1].uri == "https://priv.example.com/fileSequence2681.ts")
        #expect(playlist.markers.isEmpty && playlist.faults.isEmpty)
    }

    @Test func `a multivariant playlist has its variants, the smallest first for watching`() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="English",DEFAULT=YES,URI="main/english-audio.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1280000,AVERAGE-BANDWIDTH=1000000,CODECS="avc1.4d401f,mp4a.40.2",AUDIO="aac"
            http://example.com/low.m3u8
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=86000,URI="low/iframe.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=65000,CODECS="mp4a.40.5"
            http://example.com/audio-only.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=2560000
            http://example.com/low.m3u8
            """
        guard case .multivariant(let playlist) = try Playlist.read(Array(text.utf8)) else {
            Issue.record("it is no multivariant playlist")
            return
        }
        #expect(playlist.variants.map(\.bandwidth) == [1_280_000, 65_000, 2_560_000])
        #expect(playlist.variants.map(\.line) == [4, 7, 9] && playlist.variants[0].audioGroup == "aac")
        #expect(playlist.watchOrder == ["http://example.com/audio-only.m3u8", "http://example.com/low.m3u8"])
        #expect(playlist.renditions.map(\.uri) == ["main/english-audio.m3u8"])
        #expect(playlist.renditions.map(\.type) == ["AUDIO"] && playlist.renditions.map(\.group) == ["aac"])
    }

    @Test func `a delta update says how many segments it skips`() throws {
        let playlist = try Playlists.read(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=24.0,PART-HOLD-BACK=1.0
            #EXT-X-MEDIA-SEQUENCE:266
            #EXT-X-SKIP:SKIPPED-SEGMENTS=3,RECENTLY-REMOVED-DATERANGES="a"
            #EXTINF:4.00008,
            269.mp4
            #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z
            #EXT-X-PART:DURATION=1,URI="270.1.mp4"
            """
        )
        #expect(playlist.skippedSegments == 3 && playlist.canSkipUntilMilliseconds == 24_000)
        #expect(playlist.segments.map(\.sequence) == [269] && playlist.nextSequence == 270)
        #expect(playlist.nextDateMicroseconds == Playlists.start * 1_000)
    }

    @Test func `without a target duration the longest segment says it`() throws {
        let playlist = try Playlists.read("\u{FEFF}#EXTM3U\n#EXTINF:5.2,\na\n#EXTINF:4,\nb\n")
        #expect(playlist.targetDurationMilliseconds == 6_000)
    }

    @Test(arguments: [
        ("2026-01-01T00:00:00Z", 0), ("2026-01-01T00:00:00.5Z", 500_000), ("2026-01-01T00:00:00.0000004Z", 0),
        ("2026-01-01T00:00:00.9999996Z", 1_000_000), ("2026-01-01T01:00:00+01:00", 0),
        ("2026-01-01T01:30:00+0130", 0), ("2025-12-31T19:00:00-05", 0), ("2026-01-01 00:00:00", 0),
        ("2024-02-29T00:00:00Z", -58_060_800_000_000), ("2026-03-01T00:00:00Z", 5_097_600_000_000),
    ])
    func `dates are read in every form of ISO 8601 that is in use`(text: String, microseconds: Int) throws {
        let playlist = try Playlists.read("#EXTM3U\n#EXT-X-PROGRAM-DATE-TIME:\(text)\n#EXTINF:6,\na\n")
        #expect(playlist.segments[0].dateMicroseconds == Playlists.start * 1_000 + microseconds)
    }

    @Test(arguments: [
        "", "today", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z", "2026-01-01T00:00:00+1:00", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00ZZ",
        "1969-12-31T23:59:59Z", "2026-01-01T00:00:00+25:00",
    ])
    func `what is no date is told and passed over`(text: String) throws {
        let playlist = try Playlists.read("#EXTM3U\n#EXT-X-PROGRAM-DATE-TIME:\(text)\n#EXTINF:6,\na\n")
        #expect(playlist.segments.map(\.dateMicroseconds) == [nil])
        #expect(playlist.faults.map(\.line) == [2] && playlist.faults.map(\.tag) == ["EXT-X-PROGRAM-DATE-TIME"])
    }

    @Test(arguments: [
        ("", 1), ("#EXTM3U8\n", 1), ("<html>", 1), ("\n#EXTM3U\n", 1), ("#EXTM3U\n", 1),
        ("#EXTM3U\n#EXT-X-VERSION:3\n", 2),
        ("#EXTM3U\na.ts\n", 2), ("#EXTM3U\n#EXTINF:six,\na.ts\n", 2), ("#EXTM3U\n#EXTINF:-1,\na.ts\n", 2),
        ("#EXTM3U\n#EXTINF:6,\na\n#EXT-X-MEDIA-SEQUENCE:1\n", 4),
        ("#EXTM3U\n#EXTINF:6,\na\n#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n", 4),
        ("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:x\n", 2), ("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:99999999999999999999\n", 2),
        ("#EXTM3U\n#EXT-X-SKIP:SKIPPED-SEGMENTS=\n", 2), ("#EXTM3U\n#EXT-X-TARGETDURATION:\n", 2),
        ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n", 2), ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,A=\"b\na\n", 2),
        ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n#EXTINF:6,\nb\n", 4), ("#EXTM3U\n#EXTINF:90000,\na\n", 2),
    ])
    func `what is no playlist is refused with its line`(text: String, line: Int) throws {
        let error = try #require(playlistError(text))
        #expect(error.line == line && error.description.contains("line \(line)"), "\(error)")
    }
}
