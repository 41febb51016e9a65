// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import CuecastBroadcast
import Testing

@Suite(.suiteLimit)
struct AdsFileTests {
    private static let example = """
        {
          "ads": [
            {
              "id": "spring-sale-30",
              "title": "Spring sale",
              "description": "Everything must go.",
              "advertiser": "Example Stores",
              "duration": "30s",
              "skipAfter": 5.5,
              "media": [
                { "url": "https://cdn.example/spring.mp3", "type": "audio/mpeg", "bitrate": 128, "codec": "mp3" },
                { "url": "https://cdn.example/spring.m3u8", "streaming": true, "width": null }
              ],
              "clickThrough": "https://example/spring",
              "banner": {
                "image": "https://cdn.example/spring.png", "target": "https://example/spring",
                "width": 600, "height": 601, "text": "Fr\\u00fchling \\ud83c\\udf37", "type": "image/png"
              },
              "trackers": [
                { "event": "impression", "url": "https://track.example/i?[CACHEBUSTING]" },
                { "event": "progress", "offset": "10s", "url": "https://track.example/p" }
              ]
            }
          ]
        }
        """

    private static func fault(_ text: String) -> AdsFileError? {
        do throws(AdsFileError) {
            _ = try AdsFile.read(text.utf8)
            return nil
        } catch {
            return error
        }
    }

    @Test func `every field of the file is in the ad`() throws {
        let ads = try AdsFile.read(Self.example.utf8)
        let ad = try #require(ads.first)
        #expect(ads.count == 1)
        #expect(ad.id == "spring-sale-30")
        #expect(ad.title == "Spring sale")
        #expect(ad.text == "Everything must go.")
        #expect(ad.advertiser == "Example Stores")
        #expect(ad.duration == .seconds(30))
        #expect(ad.skipOffset == .milliseconds(5_500))
        #expect(ad.media.map(\.url) == ["https://cdn.example/spring.mp3", "https://cdn.example/spring.m3u8"])
        #expect(ad.media.map(\.type) == ["audio/mpeg", ""])
        #expect(ad.media.map(\.bitrate) == [128, nil])
        #expect(ad.media.map(\.codec) == ["mp3", nil])
        #expect(ad.media.map(\.isStreaming) == [false, true])
        #expect(ad.clickThroughURL == "https://example/spring")
        #expect(ad.banner?.imageURL == "https://cdn.example/spring.png")
        #expect(ad.banner?.targetURL == "https://example/spring")
        #expect(ad.banner?.width == 600)
        #expect(ad.banner?.height == 601)
        #expect(ad.banner?.alternativeText == "Frühling 🌷")
        #expect(ad.banner?.type == "image/png")
        #expect(ad.trackers.map(\.event) == ["impression", "progress"])
        #expect(ad.trackers.map(\.offset) == [nil, .seconds(10)])
    }

    @Test(arguments: [
        ("\"url\": \"https://cdn.example/spring.mp3\", ", "", 11, "ads[0].media[0].url", "it is missing"),
        ("\"30s\"", "\"30\"", 8, "ads[0].duration", "duration such as"),
        ("\"30s\"", "-1", 8, "ads[0].duration", "duration such as"),
        ("\"30s\"", "\"0s\"", 4, "ads[0]", "duration"),
        ("\"advertiser\"", "\"adviser\"", 7, "ads[0].adviser", "there is no such field"),
        ("\"bitrate\": 128", "\"bitrate\": 1.5", 11, "ads[0].media[0].bitrate", "whole number"),
        ("\"streaming\": true", "\"streaming\": 1", 12, "ads[0].media[1].streaming", "true or false"),
        ("\"offset\": \"10s\"", "\"offset\": []", 21, "ads[0].trackers[1].offset", "duration such as"),
        ("\"offset\": \"10s\", ", "", 21, "ads[0].trackers[1].offset", "progress needs one"),
        ("\"image\": \"https://", "\"image\": \"file://", 4, "ads[0]", "http"),
        ("\"id\": \"spring-sale-30\"", "\"id\": 30", 4, "ads[0].id", "it must be a string, and is a number"),
    ])
    func `a fault is told with its line and field`(
        _ case: (old: String, new: String, line: Int, field: String, reason: String)
    ) throws {
        let wrong = Self.example.replacing(`case`.old, with: `case`.new, maxReplacements: 1)
        try #require(wrong != Self.example)
        let fault = try #require(Self.fault(wrong))
        #expect(fault.field == `case`.field)
        #expect(abs(fault.line - `case`.line) <= (`case`.field == "ads[0]" ? 1 : 0))
        #expect(fault.reason.contains(`case`.reason), "\(fault)")
    }

    @Test(arguments: [
        ("", 1, "ends too early"),
        ("{\n\"ads\": [\n}", 3, "a value is expected"),
        ("{\"ads\": [],\n\"ads\": []}", 2, "twice"),
        ("{\"ads\": []} x", 1, "something after the end"),
        ("{\"ads\": [01]}", 1, "a value is expected"),
        ("{\"ads\": [1.]}", 1, "after its point"),
        ("{\"ads\": [\"\\x\"]}", 1, "does not know"),
        ("{\"ads\": [\"\\ud83c\"]}", 1, "half a character"),
        ("{\"ads\": [\"a\nb\"]}", 1, "control character"),
        ("{\"ads\": [\"", 1, "no end"),
        (String(repeating: "[", count: 40), 1, "32 levels"),
    ])
    func `invalid JSON is reported with its line`(_ case: (text: String, line: Int, reason: String)) throws {
        let fault = try #require(Self.fault(`case`.text))
        #expect(fault.line == `case`.line)
        #expect(fault.reason.contains(`case`.reason), "\(fault)")
    }

    @Test func `a file that is not UTF-8 is refused`() {
        #expect(throws: AdsFileError.self) { try AdsFile.read([0x22, 0xFF, 0x22]) }
    }

    @Test func `the file, its ads, and their ids are bounded`() throws {
        func file(_ ids: [String]) -> String {
            let ads = ids.map { #"{"id":"\#($0)","duration":1,"media":[{"url":"https://a/b.mp3"}]}"# }
            return #"{"ads":["# + ads.joined(separator: ",") + "]}"
        }
        #expect(try AdsFile.read(file((0..<64).map { "\($0)" }).utf8).count == 64)
        #expect(Self.fault(file((0..<65).map { "\($0)" }))?.reason.contains("advertisementsPerBreakMax") == true)
        #expect(Self.fault(file([]))?.reason == "there must be at least one")
        #expect(Self.fault(file(["a", "a"]))?.field == "ads[1].id")
        let padding = AdsFile.fileBytesMax - file(["a"]).utf8.count
        #expect(try AdsFile.read((file(["a"]) + String(repeating: " ", count: padding)).utf8).count == 1)
        let longer = file(["a"]) + String(repeating: " ", count: padding + 1)
        #expect(Self.fault(longer)?.reason.contains("fileBytesMax") == true)
    }

    @Test func `a batch of a VAST document becomes a break as long as its ads`() throws {
        let vast = """
            <VAST version="4.2"><Ad id="a" sequence="1"><InLine><AdSystem>x</AdSystem><AdTitle>First</AdTitle>
            <Advertiser>Stores</Advertiser><Impression>https://t.example/i</Impression>
            <Creatives><Creative><Linear skipoffset="00:00:05"><Duration>00:00:15.500</Duration>
            <TrackingEvents><Tracking event="progress" offset="00:00:03">https://t.example/p</Tracking></TrackingEvents>
            <MediaFiles><MediaFile delivery="progressive" type="audio/mpeg" bitrate="128" width="0" height="0">
            https://m.example/a.mp3</MediaFile></MediaFiles>
            <VideoClicks><ClickThrough>https://c.example/</ClickThrough></VideoClicks></Linear></Creative>
            <Creative><CompanionAds><Companion width="300" height="300"><StaticResource creativeType="image/png">
            https://m.example/b.png</StaticResource><CompanionClickThrough>https://c.example/b</CompanionClickThrough>
            </Companion></CompanionAds></Creative></Creatives></InLine></Ad></VAST>
            """
        let adBreak = try AdBreak(stream: "radio1", id: "noon", start: .now, vast: vast.utf8)
        let ad = try #require(adBreak.advertisements.first)
        #expect(adBreak.duration == .milliseconds(15_500))
        #expect(ad.title == "First")
        #expect(ad.advertiser == "Stores")
        #expect(ad.duration == .milliseconds(15_500))
        #expect(ad.skipOffset == .seconds(5))
        #expect(ad.media.map(\.url) == ["https://m.example/a.mp3"])
        #expect(ad.media.first?.bitrate == 128)
        #expect(ad.clickThroughURL == "https://c.example/")
        #expect(ad.banner?.imageURL == "https://m.example/b.png")
        #expect(ad.banner?.targetURL == "https://c.example/b")
        #expect(ad.banner?.width == 300)
        #expect(ad.trackers.contains(.init(event: "impression", url: "https://t.example/i")))
        #expect(ad.trackers.contains(.init(event: "progress", url: "https://t.example/p", offset: .seconds(3))))
        #expect(throws: AdFormatError.self) {
            try AdBreak(stream: "radio1", id: "noon", start: .now, vast: "<VAST/>".utf8)
        }
    }
}
