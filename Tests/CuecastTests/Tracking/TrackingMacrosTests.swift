// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Testing

@testable import Cuecast

private func macros(
    consent: ListenerConsent? = nil,
    appBundle: String? = nil,
    change: (inout TrackingMacros.Facts) -> Void = { _ in }
) -> TrackingMacros {
    var facts = TrackingMacros.Facts(
        // 2016-01-17T08:15:07.127Z, the moment of the specification's example.
        wall: Timestamp(microseconds: 1_453_018_507_127_999),
        adPlayhead: .milliseconds(11_355),
        errorCode: nil,
        isMuted: false,
        adCount: 2,
        podSequence: 3,
        assetURI: "https://myadserver.com/video.mp4",
        adType: "audio",
        isSkippable: true
    )
    change(&facts)
    return TrackingMacros(
        facts: facts,
        cacheBuster: 1_234,
        userAgent: "MyPlayer/7.1 (X11)",
        appBundle: appBundle,
        consent: consent
    )
}

@Suite(.suiteLimit)
struct TrackingMacrosTests {
    @Test(arguments: [
        ("[TIMESTAMP]", "2016-01-17T08%3A15%3A07.127Z"), ("[CACHEBUSTING]", "00001234"),
        ("%%CACHEBUSTING%%", "00001234"), ("%%CACHEBUSTER%%", "00001234"), ("[ADPLAYHEAD]", "00%3A00%3A11.355"),
        ("[MEDIAPLAYHEAD]", "-1"), ("[CONTENTPLAYHEAD]", "-1"),
        ("[ASSETURI]", "https%3A%2F%2Fmyadserver.com%2Fvideo.mp4"), ("[ADCOUNT]", "2"), ("[PODSEQUENCE]", "3"),
        ("[ADTYPE]", "audio"), ("[SERVERSIDE]", "0"), ("[PLAYERSTATE]", ""), ("[INVENTORYSTATE]", "skippable"),
        ("[CLIENTUA]", "MyPlayer%2F7.1%20(X11)"), ("[DEVICEUA]", "MyPlayer%2F7.1%20(X11)"), ("[PAGEURL]", "0"),
        ("[ERRORCODE]", "-1"), ("[TRANSACTIONID]", "-1"), ("[UNIVERSALADID]", "-1"), ("[BREAKPOSITION]", "-1"),
        ("[LIMITADTRACKING]", "-1"), ("[REGULATIONS]", "-1"), ("[GDPRCONSENT]", "-1"), ("[APPBUNDLE]", "-1"),
        ("[IFA]", "-2"), ("[LATLONG]", "-2"), ("[DEVICEIP]", "-2"),
        // Not on the list, or not a macro.
        ("[FOO]", "[FOO]"), ("[timestamp]", "[timestamp]"), ("[]", "[]"), ("[TIMESTAMP", "[TIMESTAMP"),
        ("%%FOO%%", "%%FOO%%"), ("%5BTIMESTAMP%5D", "%5BTIMESTAMP%5D"), ("%%IFA%", "%%IFA%"), ("[[IFA]]", "[-2]"),
        ("%%%IFA%%", "%-2"), ("[IFA][IFA]", "-2-2"),
    ])
    func `each macro has its value`(macro: String, value: String) {
        for place in ["https://t.example/", "https://t.example/?a=", "https://t.example?a=", "http://t.example/x#"] {
            #expect(macros().replaced(in: place + macro + "&b=1") == place + value + "&b=1")
        }
    }

    @Test func `an unknown value is minus one`() {
        let unknown = macros {
            $0.adPlayhead = nil
            $0.adType = nil
            $0.adCount = nil
            $0.isSkippable = false
        }
        let url = "https://t.example/[ADPLAYHEAD][MEDIAPLAYHEAD][ADTYPE][ADCOUNT][INVENTORYSTATE]"
        #expect(unknown.replaced(in: url) == "https://t.example/-1-1-1-1-1")
    }

    @Test func `identifiers of the ad server are told where it gave them`() {
        let known = macros {
            $0.adServingID = "a532d16d/1"
            $0.universalIDs = ["ad-id.org CNPA0484000H", "other x,y"]
        }
        #expect(known.replaced(in: "https://t.example/[ADSERVINGID]") == "https://t.example/a532d16d%2F1")
        #expect(
            known.replaced(in: "https://t.example/[UNIVERSALADID]")
                == "https://t.example/ad-id.org%20CNPA0484000H,other%20x%2Cy"
        )
        #expect(macros().replaced(in: "https://t.example/[ADSERVINGID][UNIVERSALADID]") == "https://t.example/-1-1")
    }

    @Test func `the error's code and the player's state are told`() {
        let failing = macros {
            $0.errorCode = 405
            $0.isMuted = true
        }
        #expect(failing.replaced(in: "https://t.example/[ERRORCODE]/[PLAYERSTATE]") == "https://t.example/405/muted")
    }

    @Test func `consent is passed on, each part of a list encoded by itself`() {
        let consent = ListenerConsent(gdprConsent: "BO+/=", regulations: ["coppa", "gdpr,x"], limitAdTracking: true)
        let url = "https://t.example/?[GDPRCONSENT]&[REGULATIONS]&[LIMITADTRACKING]&[APPBUNDLE]"
        #expect(
            macros(consent: consent, appBundle: "com.example.app").replaced(in: url)
                == "https://t.example/?BO%2B%2F%3D&coppa,gdpr%2Cx&1&com.example.app"
        )
        #expect(macros(consent: ListenerConsent()).replaced(in: url) == "https://t.example/?-1&&0&-1")
    }

    @Test(arguments: ["https://[IFA].example/x", "https://u:[IFA]@t.example", "[IFA]", "x:[IFA]", ""])
    func `scheme and host are never touched`(url: String) {
        #expect(macros().replaced(in: url) == url)
    }

    @Test func `a long playhead and a negative one are still a time`() {
        let long = macros { $0.adPlayhead = .seconds(360_000) }
        #expect(long.replaced(in: "https://t.example/[ADPLAYHEAD]") == "https://t.example/100%3A00%3A00.000")
        let negative = macros { $0.adPlayhead = .seconds(-5) }
        #expect(negative.replaced(in: "https://t.example/[ADPLAYHEAD]") == "https://t.example/00%3A00%3A00.000")
    }

    @Test func `a URL at the limit is made and one past it is not`() {
        let room = TrackingMacros.urlBytesMax - "https://t.example/0".utf8.count
        let values = macros { $0.assetURI = String(repeating: "x", count: room) }
        #expect(values.replaced(in: "https://t.example/[ASSETURI]0")?.utf8.count == TrackingMacros.urlBytesMax)
        #expect(values.replaced(in: "https://t.example/[ASSETURI]00") == nil)
    }
}

@Suite(.suiteLimit)
struct TrackingMacrosPropertyTests {
    /// A new seed for each run, told where something fails.
    let seed = UInt64.random(in: 1...UInt64(UInt32.max))
    static let names = [
        "TIMESTAMP", "CACHEBUSTING", "ADPLAYHEAD", "ASSETURI", "CLIENTUA", "REGULATIONS", "GDPRCONSENT", "IFA",
        "TRANSACTIONID", "PLAYERSTATE",
    ]

    private func text(_ jitter: inout JitterSource) -> String {
        String(
            String.UnicodeScalarView(
                (0..<Int.random(in: 0...12, using: &jitter))
                    .compactMap { _ in Unicode.Scalar(UInt32.random(in: 0...0x2FF, using: &jitter)) }
            )
        )
    }

    private func random(_ jitter: inout JitterSource) -> TrackingMacros {
        let consent = ListenerConsent(
            gdprConsent: self.text(&jitter),
            regulations: [self.text(&jitter), self.text(&jitter)]
        )
        let (asset, bundle) = (self.text(&jitter), self.text(&jitter))
        let (wall, playhead) = (Int64(bitPattern: jitter.next()), Int64(bitPattern: jitter.next()))
        return macros(consent: consent, appBundle: bundle) {
            $0.assetURI = asset
            $0.wall = Timestamp(microseconds: wall)
            $0.adPlayhead = .microseconds(playhead)
        }
    }

    @Test func `a valid URL with macros becomes a valid URL`() {
        var jitter = JitterSource(seed: self.seed)
        for _ in 0..<1_000 {
            var url =
                ["https://t.example/", "http://t.example:80?", "https://[::1]/#"].randomElement(using: &jitter) ?? ""
            for _ in 0..<Int.random(in: 0...8, using: &jitter) {
                let name = Self.names.randomElement(using: &jitter) ?? ""
                url += [name, "[\(name)]", "%%\(name)%%", "a=b&", "%41", "x"].randomElement(using: &jitter) ?? ""
            }
            let result = self.random(&jitter).replaced(in: url)
            #expect(
                result.flatMap { URL(string: $0, encodingInvalidCharacters: false) } != nil,
                "seed \(self.seed): \(url) became \(result ?? "nothing")"
            )
        }
    }

    @Test func `no input traps, and what has no macro stays as it is`() {
        var jitter = JitterSource(seed: self.seed)
        for _ in 0..<2_000 {
            let pieces = ["[", "]", "%%", "%", "IFA", "://", "/", "?", "é", "\u{0}", self.text(&jitter)]
            let url = (0..<Int.random(in: 0...20, using: &jitter))
                .map { _ in pieces.randomElement(using: &jitter) ?? "" }
                .joined()
            let result = self.random(&jitter).replaced(in: url)
            if !url.contains("IFA") { #expect(result == url, "seed \(self.seed)") }
        }
    }
}
