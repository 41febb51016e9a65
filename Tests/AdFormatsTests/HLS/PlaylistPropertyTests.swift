// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import TestSupport
import Testing

/// Random playlists: however they are cut into windows, the same events are told.
@Suite(.suiteLimit)
struct PlaylistPropertyTests {
    /// A random programme: segments of random lengths, with breaks in them.
    private struct Programme {
        var durations: [Int] = []
        var tags: [String] = []
        var hasDates: Bool
        /// The segment behind the last mark of each break.
        var events = 0

        init(_ random: inout SeededGenerator) {
            self.hasDates = random.bool()
            while self.tags.count < 60 {
                self.add("", &random)
                guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
                let segments = Int.random(in: 1...6, using: &random)
                let section =
                    random.bool()
                    ? "#EXT-OATCLS-SCTE35:/DA\("ABCDEFGH".randomElement(using: &random) ?? "A")AA==\n" : ""
                var elapsed = 0
                let total = 40_000
                for index in 0..<segments {
                    let repeated = random.bool() ? section : ""
                    let mark =
                        switch index {
                        case 0: "\(section)#EXT-X-CUE-OUT:\(random.pick(["40", "DURATION=40", "\"40.0\""]))"
                        case _ where random.bool(): repeated
                        default: "\(repeated)#EXT-X-CUE-OUT-CONT:\(Double(elapsed) / 1_000)/\(total / 1_000)"
                        }
                    self.add(mark, &random)
                    elapsed += self.durations.last ?? 0
                }
                self.add("#EXT-X-CUE-IN", &random)
                self.events += 2
            }
        }

        private mutating func add(_ tags: String, _ random: inout SeededGenerator) {
            // Two marks of one kind are more than a second apart: nearer ones count as one (PlaylistMoment.nearMicroseconds).
            self.durations.append(Int.random(in: 501...8_000, using: &random))
            self.tags.append(tags.hasSuffix("\n") ? String(tags.dropLast()) : tags)
        }

        /// The segments of a window as a playlist.
        func playlist(_ window: Range<Int>, dateOn: (Int) -> Bool) -> [UInt8] {
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:8\n#EXT-X-MEDIA-SEQUENCE:\(window.lowerBound)\n"
            var time = self.durations.prefix(window.lowerBound).reduce(0, +)
            for index in window {
                if self.hasDates, dateOn(index) { text += "#EXT-X-PROGRAM-DATE-TIME:\(Playlists.date(time))\n" }
                if !self.tags[index].isEmpty { text += self.tags[index] + "\n" }
                let fraction = String(self.durations[index] % 1_000 + 1_000).dropFirst()
                text += "#EXTINF:\(self.durations[index] / 1_000).\(fraction),\n\(index).ts\n"
                time += self.durations[index]
            }
            return Array(text.utf8)
        }

        /// The end of a window on the clock.
        func end(of window: Range<Int>) -> Int {
            Playlists.start + self.durations.prefix(window.upperBound).reduce(0, +)
        }
    }

    @Test func `windows of any size tell what the whole playlist tells`() throws {
        var random = SeededGenerator(for: #function)
        for _ in 0..<150 {
            let programme = Programme(&random)
            let all = 0..<programme.tags.count
            var whole = PlaylistWatch()
            let expected =
                try whole.read(
                    programme.playlist(all) { _ in true },
                    atMilliseconds: programme.end(of: all)
                )
                .events.map(brief)
            #expect(expected.count == programme.events)
            var watch = PlaylistWatch()
            var told: [String] = []
            var window = 0..<Int.random(in: 1...10, using: &random)
            while true {
                // One date in a playlist is enough, wherever it stands.
                let dated = Int.random(in: window, using: &random)
                let playlist = programme.playlist(window) { $0 == dated || $0 % 3 == 0 }
                told += try watch.read(playlist, atMilliseconds: programme.end(of: window)).events.map(brief)
                guard window.upperBound < all.upperBound else { break }
                let upper = min(window.upperBound + Int.random(in: 0...4, using: &random), all.upperBound)
                window = Int.random(in: window.lowerBound...min(window.upperBound, upper - 1), using: &random)..<upper
            }
            try #require(told == expected, "CUECAST_SEED=\(SeededGenerator.seed)")
        }
    }

    @Test func `two renditions in any turn tell what one tells`() throws {
        var random = SeededGenerator(for: #function)
        for _ in 0..<100 {
            var programme = Programme(&random)
            programme.hasDates = true
            let all = 0..<programme.tags.count
            var one = PlaylistWatch()
            let expected = try one.read(programme.playlist(all) { _ in true }, atMilliseconds: 0).events.map(brief)
            var watch = PlaylistWatch()
            var told: [String] = []
            var windows = ["a": 0..<8, "b": 0..<8]
            while windows.values.contains(where: { $0.upperBound < all.upperBound }) {
                let name = random.pick(["a", "b"])
                let window = try #require(windows[name])
                told += try watch.read(programme.playlist(window) { _ in true }, rendition: name, atMilliseconds: 0)
                    .events.map(brief)
                let upper = min(window.upperBound + Int.random(in: 1...6, using: &random), all.upperBound)
                windows[name] = (upper - 8)..<upper
            }
            for (name, window) in windows.sorted(by: { $0.key < $1.key }) {
                told += try watch.read(programme.playlist(window) { _ in true }, rendition: name, atMilliseconds: 0)
                    .events.map(brief)
            }
            try #require(told.sorted() == expected.sorted(), "CUECAST_SEED=\(SeededGenerator.seed)")
        }
    }

    @Test func `spoiled playlists trap on nothing`() throws {
        var random = SeededGenerator(for: #function)
        let documents = [
            Playlists.media(
                ["#EXT-OATCLS-SCTE35:/DAgAA==\n#EXT-X-CUE-OUT:30", "#EXT-X-CUE-OUT-CONT:6/30", "#EXT-X-CUE-IN"],
                header:
                    "#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T00:00:00Z\",SCTE35-OUT=0xFC\n"
            ),
            Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\na.m3u8\n".utf8),
        ]
        var watch = PlaylistWatch()
        for _ in 0..<3_000 {
            let spoiled = Mutation.spoiled(random.pick(documents), with: documents, using: &random)
            let line = spoiled.count { $0 == 0x0A } + 1
            do throws(PlaylistError) {
                _ = try watch.read(spoiled, atMilliseconds: Playlists.start)
            } catch {
                #expect((1...line).contains(error.line))
            }
        }
    }
}
