// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import CuecastBroadcast
import Foundation
import Testing

@testable import CueWatching

/// Metadata of radio streams, and lines of automation systems.
@Suite(.suiteLimit)
struct RadioSignalsTests {
    private static func metadata(_ title: String, _ more: String = "") -> ICYMetadata {
        ICYMetadata(Array("StreamTitle='\(title)';\(more)".utf8))
    }

    /// What the blocks mean, in short lines; each comes 10 s after the one before.
    private static func meanings(_ blocks: [ICYMetadata], firstPlace: Int = 1) -> [String] {
        var radio = RadioSignals(stream: "radio1", source: "icecast")
        return blocks.enumerated()
            .flatMap { index, block -> [String] in
                let seen = radio.observation(
                    of: block,
                    place: firstPlace + index,
                    atMilliseconds: Cues.noon + 10_000 * index
                )
                return short(seen.map { [$0] } ?? [])
            }
    }

    @Test func `the first ad begins a break, and the first title that is none ends it`() {
        let meanings = Self.meanings([
            Self.metadata("A - Song"), Self.metadata("START_AD_BREAK"), Self.metadata("START_AD_BREAK - 2"),
            Self.metadata("A - Song"), Self.metadata("B - Song"),
        ])
        #expect(
            meanings == [
                "ignored: no ads play as the watch begins", "out on-air +10000",
                "ignored: another ad of the same break",
                "in on-air +30000",
            ]
        )
    }

    @Test func `a break is as long as its ads so far, and a little longer`() {
        let meanings = Self.meanings([
            Self.metadata("A"), Self.metadata("1", "adw_ad='true';durationMilliseconds='10000';adId='1';"),
            Self.metadata("2", "adw_ad='true';durationMilliseconds='20000';adId='2';"), Self.metadata("B"),
        ])
        #expect(meanings.dropFirst() == ["out on-air +10000 12s", "out on-air +10000 32s", "in on-air +30000"])
    }

    @Test func `ads that play as the watch begins open no break, and their end is told`() {
        let ad = Self.metadata("START_AD_BREAK")
        let joined = Self.meanings([ad, Self.metadata("START_AD_BREAK 5"), Self.metadata("A"), ad])
        #expect(joined.count == 4 && joined[0].hasPrefix("ignored: ads play as the watch begins"))
        #expect(joined.dropFirst(2) == ["in on-air +20000", "out on-air +30000"])
        // An earlier place was empty: nothing played that was an ad.
        #expect(Self.meanings([ad], firstPlace: 2) == ["out on-air +0"])
    }

    @Test func `text of strangers is shown on one line`() {
        #expect(OnAirBreak.shown("a\nb\u{1B}") == "“a·b·”")
        #expect(OnAirBreak.shown(String(repeating: "x", count: 161)).hasSuffix("x…”"))
    }

    @Test func `a break whose end is never told is over after the silence, and one more millisecond`() {
        for (later, isNew) in [
            (OnAirBreak.silenceMillisecondsMax, false), (OnAirBreak.silenceMillisecondsMax + 1, true),
        ] {
            var onAir = OnAirBreak(stream: "radio1", source: "studio")
            _ = onAir.begin(AutomationElement(isAd: true), raw: [], atMilliseconds: Cues.noon)
            let next = onAir.begin(AutomationElement(isAd: true), raw: [], atMilliseconds: Cues.noon + later)
            let isSignal = if case .signal = next { true } else { false }
            #expect(isSignal == isNew)
        }
    }

    @Test func `an ad after the end that the ads before said begins another break, with its own length`() {
        for (later, text) in [(32_000, "out on-air +0 64s"), (32_001, "out on-air +32001 32s")] {
            var onAir = OnAirBreak(stream: "radio1", source: "studio")
            let ad = AutomationElement(isAd: true, durationMilliseconds: 30_000)
            _ = onAir.begin(ad, raw: [], atMilliseconds: Cues.noon)
            guard case .signal(let next) = onAir.begin(ad, raw: [], atMilliseconds: Cues.noon + later) else {
                Issue.record("the ad after \(later) ms is no signal")
                continue
            }
            #expect(short(next) == text)
        }
    }

    @Test func `signals are in programme time, so that the gateway takes them late`() {
        var onAir = OnAirBreak(stream: "radio1", source: "studio")
        let meanings = [(true, 0), (true, 10_000), (false, 20_000)]
            .map { (isAd, later) in
                let element = AutomationElement(isAd: isAd, durationMilliseconds: isAd ? 30_000 : nil)
                return onAir.begin(element, raw: [], atMilliseconds: Cues.noon + later)
            }
        let isProgrammeTime = meanings.map { meaning -> Bool? in
            if case .signal(let signal) = meaning { signal.isProgrammeTime } else { nil }
        }
        #expect(isProgrammeTime == [true, true, true])
    }

    @Test func `lines are elements, and a bad one is refused with its fault`() {
        var lines = LineSignals(stream: "radio1", source: "studio", mapping: .radiodj)
        let texts = [
            "songtype=0", "songtype=4&songseconds=30", "songtype=4&songseconds=x", "title=a", "songtype=0",
            "songtype=0",
        ]
        let seen = texts.map { lines.observation(of: .line(Array($0.utf8)), atMilliseconds: Cues.noon) }
        #expect(
            short(seen) == [
                "in on-air +0", "out on-air +0 32s", "refused: BAD_SOURCE", "refused: BAD_SOURCE", "in on-air +0",
                "ignored: no ad, and none played before",
            ]
        )
    }

    @Test func `lines are cut wherever their bytes come, up to the limit`() {
        var splitter = LineSplitter()
        let longest = [UInt8](repeating: 0x78, count: LineSplitter.lineBytesMax)
        let pieces = [
            Array("a\r\n\nb".utf8), Array("c\n".utf8), longest + [0x0A], longest + [0x78, 0x0A, 0x61, 0x0A], [0x62],
        ]
        .map { splitter.take($0) }
        #expect(
            pieces == [
                [.line([0x61])], [.line([0x62, 0x63])], [.line(longest)], [.tooLong, .line([0x61])], [],
            ]
        )
        let last = [splitter.finish(), splitter.finish()]
        #expect(last == [.line([0x62]), nil])
    }

    @Test(
        arguments: [
            ("http://a.example/live", "a.example", 80), ("https://a.example:8443/live?x=1", "a.example", 8_443),
            ("HTTPS://[::1]/", "::1", 443),
        ] as [(String, String, Int)]
    )
    func `addresses are read`(text: String, host: String, port: Int) throws {
        let address = try RadioAddress(text)
        #expect(address.host == host && address.port == port)
        #expect(
            address.request.hasSuffix("Connection: close\r\n\r\n") && address.request.contains("Icy-MetaData: 1\r\n")
        )
    }

    @Test(arguments: ["", "live.mp3", "ftp://a/", "http:///x", "http://user:secret@a/"])
    func `other addresses are refused`(text: String) {
        #expect(throws: CueRefusal.self) { try RadioAddress(text) }
    }

    @Test func `a redirect is relative to where it came from, and never leads to http`() throws {
        let base = try RadioAddress("https://a.example/x/live")
        #expect(try RadioAddress("../other", relativeTo: base).url.absoluteString == "https://a.example/other")
        #expect(throws: CueRefusal.self) { try RadioAddress("http://a.example/", relativeTo: base) }
    }
}
