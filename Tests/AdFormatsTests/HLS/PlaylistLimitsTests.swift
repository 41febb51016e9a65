// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// Each limit of playlists, at the limit and one past it.
@Suite(.suiteLimit)
struct PlaylistLimitsTests {
    private let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-CUE-OUT:6\n#EXTINF:6,\na.ts\n"

    @Test func `a playlist may have playlistBytesMax bytes and no more`() {
        var limits = PlaylistLimits()
        limits.playlistBytesMax = self.text.utf8.count
        #expect(playlistError(self.text, limits: limits) == nil)
        limits.playlistBytesMax -= 1
        #expect(
            playlistError(self.text, limits: limits)
                == .tooLarge(limit: .playlistBytesMax, maximum: self.text.utf8.count - 1, line: 5)
        )
        limits.playlistBytesMax = -1
        #expect(playlistError("", limits: limits)?.line == 1)
    }

    @Test func `a playlist may have linesMax lines and no more`() {
        var limits = PlaylistLimits()
        limits.linesMax = 5
        #expect(playlistError(self.text, limits: limits) == nil)
        limits.linesMax = 4
        #expect(playlistError(self.text, limits: limits) == .tooLarge(limit: .linesMax, maximum: 4, line: 5))
    }

    @Test func `a line may have lineBytesMax bytes and no more`() {
        let comment = "#" + String(repeating: "x", count: PlaylistLimits().lineBytesMax - 1)
        #expect(playlistError(self.text + comment) == nil)
        #expect(
            playlistError(self.text + comment + "x") == .tooLarge(limit: .lineBytesMax, maximum: 16_384, line: 6)
        )
    }

    @Test func `a playlist may have markersMax marks and no more`() {
        var limits = PlaylistLimits()
        limits.markersMax = 2
        let range = "#EXT-X-DATERANGE:ID=\"a\"\n"
        #expect(playlistError(self.text + range, limits: limits) == nil)
        #expect(
            playlistError(self.text + range + range, limits: limits)
                == .tooLarge(limit: .markersMax, maximum: 2, line: 7)
        )
    }

    @Test func `a multivariant playlist may have renditionsMax of them and no more`() {
        var limits = PlaylistLimits()
        limits.renditionsMax = 2
        let variant = "#EXT-X-STREAM-INF:BANDWIDTH=1\na\n"
        let media = "#EXT-X-MEDIA:TYPE=AUDIO\n"
        #expect(playlistError("#EXTM3U\n" + media + variant, limits: limits) == nil)
        #expect(playlistError("#EXTM3U\n" + media + variant + variant, limits: limits)?.line == 6)
        #expect(playlistError("#EXTM3U\n" + variant + media + media, limits: limits)?.line == 5)
    }

    @Test func `a mark with more than attributesPerTagMax attributes is passed over`() throws {
        func tag(_ count: Int) -> String { "#EXT-X-SCTE35:CUE-OUT=YES" + String(repeating: ",A=1", count: count - 1) }
        #expect(try Playlists.marker(tag(64)) != nil)
        #expect(try Playlists.marker(tag(65)) == nil)
    }

    @Test func `a section of more than scte35BytesMax bytes cannot be read, and its tag still counts`() throws {
        func tag(_ count: Int) -> String { "#EXT-X-CUE-OUT:30,SCTE35=0x" + String(repeating: "FC", count: count) }
        #expect(try Playlists.marker(tag(4_096))?.scte35?.count == 4_096)
        let marker = try #require(try Playlists.marker(tag(4_097)))
        #expect(marker.scte35 == nil && marker.durationMilliseconds == 30_000)
    }

    @Test func `a media sequence number may be 2^53 and no more`() {
        func playlist(_ number: Int) -> String { "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:\(number)\n#EXTINF:6,\na.ts\n" }
        #expect(playlistError(playlist(1 << 53)) == nil)
        #expect(playlistError(playlist(1 << 53 + 1))?.line == 2)
    }

    @Test(arguments: ["#EXT-X-TARGETDURATION:6\n#EXTINF:S,\na.ts\n", "#EXTINF:6,\n#EXT-X-TARGETDURATION:S\na.ts\n"])
    func `a segment may last a day and no longer`(text: String) {
        func playlist(_ seconds: String) -> String { "#EXTM3U\n" + text.replacing(":S", with: ":\(seconds)") }
        #expect(playlistError(playlist("86400")) == nil)
        #expect(playlistError(playlist("86400.000001"))?.line == 3)
    }

    @Test func `a duration may have 12 digits before its point and no more`() throws {
        #expect(try Playlists.marker("#EXT-X-CUE-OUT:999999999999")?.durationMilliseconds == 999_999_999_999_000)
        #expect(try Playlists.marker("#EXT-X-CUE-OUT:0999999999999")?.durationMilliseconds == nil)
    }

    @Test func `the page about the readers of cues has their limits`() throws {
        let page = try Places.page("internals/cue-sources.md")
        let limits = PlaylistLimits()
        let stream = TransportStreamLimits()
        let lines = "\(grouped(limits.linesMax)) lines of \(grouped(limits.lineBytesMax)) bytes"
        let marks = "\(grouped(limits.markersMax)) marks, \(grouped(limits.renditionsMax)) renditions"
        let programs = "\(stream.programsMax) programs, \(stream.cuePIDsPerProgramMax) cue PIDs each"
        let steps = "\(grouped(TextPattern.stepsMax)) steps, \(TextPattern.groupsMax) groups"
        let rows = [
            "`PlaylistLimits`: \(limits.playlistBytesMax >> 20) MiB, \(lines), \(marks) |",
            "| \(grouped(limits.keptBreaksMax)) breaks, as many messages and ranges, \(limits.watchedRenditionsMax) renditions,",
            "`TransportStreamLimits`: \(programs); a section has at most \(grouped(SpliceSectionLimits.sectionBytesMax)) bytes |",
            "| a pattern | \(TextPattern.patternBytesMax) bytes, \(steps); \(grouped(TextPattern.textCharactersMax)) characters",
        ]
        for row in rows { #expect(page.contains(row), "\(row)") }
    }

    @Test func `no more than faultsMax faults are told`() throws {
        let faults = String(repeating: "#EXT-X-CUE\n", count: 65)
        #expect(try Playlists.read(self.text + faults).faults.count == 64)
    }

    @Test func `of more than keptBreaksMax breaks the oldest are forgotten and never told again`() throws {
        var limits = PlaylistLimits()
        limits.keptBreaksMax = 4
        var watch = PlaylistWatch(limits: limits)
        let marks = ["#EXT-X-CUE-OUT:6", "#EXT-X-CUE-IN"]
        let segments = (0..<40).map { marks[$0 % 2] }
        let first = try watch.read(Playlists.media(segments), atMilliseconds: Playlists.start)
        #expect(first.events.count == 40)
        let again = try watch.read(Playlists.media(segments + [""]), atMilliseconds: Playlists.start)
        #expect(again.isChanged && again.events.isEmpty)
    }

    @Test func `of more than watchedRenditionsMax renditions the one that was read first is forgotten`() throws {
        var limits = PlaylistLimits()
        limits.watchedRenditionsMax = 2
        var watch = PlaylistWatch(limits: limits)
        let playlist = Playlists.media(["#EXT-X-CUE-OUT:6", ""])
        for name in ["a", "b", "a", "c"] { _ = try watch.read(playlist, rendition: name, atMilliseconds: 0) }
        #expect(try !watch.read(playlist, rendition: "a", atMilliseconds: 0).isChanged)
        let forgotten = try watch.read(playlist, rendition: "b", atMilliseconds: 0)
        #expect(forgotten.isChanged && forgotten.events.isEmpty)
    }
}
