// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import BreakDocuments
import CuecastWire
import Testing

/// Documents about breaks become the wire's values, and a fault is told with its place.
@Suite(.suiteLimit)
struct BreakDocumentTests {
    private static let ad = #"{"id":"a","duration":"30s","media":[{"url":"https://a/b.mp3"}]}"#

    private static func key() throws -> BreakKey { BreakKey(stream: try StreamID("radio1"), id: try BreakID("noon")) }

    private static func publish(_ members: String = "", ads: String = Self.ad) throws -> BroadcastRequest.Publish {
        try BreakDocument.publish(try Self.key(), Array("{\(members)\"ads\":[\(ads)]}".utf8))
    }

    private static func fault(_ read: () throws -> Void) -> DocumentFault? {
        do {
            try read()
            return nil
        } catch {
            return error as? DocumentFault
        }
    }

    @Test func `a break lasts as long as its ads and starts at once unless something else is said`() throws {
        let publish = try Self.publish()
        #expect(publish.key == (try Self.key()))
        #expect(publish.start == .now && publish.duration == .seconds(30) && publish.hold == nil)
        #expect(publish.endMode == .cut && !publish.exact && !publish.preStream)
        #expect(publish.advertisements.map(\.id.description) == ["a"])
    }

    @Test func `each member is in the request`() throws {
        let timed = try Self.publish(#""in":"10s","duration":15,"exact":true,"endMode":"finishAd","#)
        #expect(timed.start == .after(.seconds(10)) && timed.duration == .seconds(15))
        #expect(timed.exact && timed.endMode == .finishAd)
        let dated = try Self.publish(#""at":"2026-11-21T12:00:00.000001Z","duration":"none","#)
        #expect(dated.start == .at(Timestamp(microseconds: 1_795_262_400_000_001)) && dated.duration == nil)
        let cued = try Self.publish(#""cued":true,"hold":"1m","#)
        #expect(cued.start == nil && cued.hold == .seconds(60) && !cued.preStream)
        #expect(try Self.publish(#""preStream":true,"#).preStream)
    }

    @Test func `variants have their conditions and ads, and the longest list gives the duration`() throws {
        let ad = #"{"id":"b","duration":"45s","media":[{"url":"https://a/c.mp3"}]}"#
        let cars = #"{"name":"cars","if":[{"attribute":"device","is":"car"}],"ads":[\#(ad)]}"#
        let abroad = #"{"name":"abroad","if":[{"attribute":"region","isNot":["de","at"]}],"ads":[\#(Self.ad)]}"#
        let publish = try Self.publish(#""variants":[\#(cars),\#(abroad)],"#)
        #expect(publish.duration == .seconds(45) && publish.advertisements.map(\.id.description) == ["a"])
        #expect(publish.variants.map(\.name) == ["cars", "abroad"])
        #expect(publish.variants.map { $0.conditions.map(\.description) } == [["device=car"], ["region!=de|at"]])
        #expect(publish.variants[0].advertisements.map(\.id.description) == ["b"])
        #expect(try Self.publish(#""variants":[\#(cars)],"duration":"30s","#).duration == .seconds(30))
        #expect(try Self.publish(#""variants":[],"#).variants.isEmpty)
        let update = try BreakDocument.update(try Self.key(), Array(#"{"variants":[\#(cars)]}"#.utf8))
        #expect(update.variants?.map(\.name) == ["cars"] && update.advertisements == nil)
        #expect(try BreakDocument.update(try Self.key(), Array(#"{"variants":[]}"#.utf8)).variants == [])
        #expect(try AdsDocument.readVariants(Array(#"{"variants":[\#(cars)]}"#.utf8)).map(\.name) == ["cars"])
    }

    @Test func `a fault in a variant is told with its place`() throws {
        func reason(_ variant: String) -> String? {
            Self.fault { _ = try Self.publish(#""variants":[\#(variant)],"#) }?.description
        }
        let ads = #""ads":[\#(Self.ad)]"#
        #expect(reason(#"{"if":[],\#(ads)}"#)?.contains("variants[0].name: it is missing") == true)
        #expect(reason(#"{"name":"a",\#(ads)}"#)?.contains("variants[0].if: it is missing") == true)
        #expect(reason(#"{"name":"a","if":[]}"#)?.contains("variants[0].ads: it is missing") == true)
        #expect(
            reason(#"{"name":"a","if":[{"attribute":"b"}],\#(ads)}"#)?.contains("give one of is and isNot") == true
        )
        #expect(
            reason(#"{"name":"a","if":[{"attribute":"b","is":"c","isNot":"d"}],\#(ads)}"#)?
                .contains("give one of is and isNot") == true
        )
        #expect(
            reason(#"{"name":"a","if":[{"attribute":"b","is":[1]}],\#(ads)}"#)?.contains("an array of strings") == true
        )
        #expect(reason(#"{"name":"a","if":[],"ads":[{"id":"x"}]}"#)?.contains("variants[0].ads[0].") == true)
        let list = Self.fault { _ = try AdsDocument.read(Array(#"{\#(ads),"variants":[]}"#.utf8)) }
        #expect(list?.description.contains("there is no such field") == true, "an ad list has no variants")
    }

    @Test func `ads are as the document has them until they are checked`() throws {
        let url = "https://a/grün.mp3"
        let ad = #"{"id":"a","duration":1.5,"title":"","media":[{"url":"\#(url)","width":0}]}"#
        let read = try #require(try Self.publish(ads: ad).advertisements.first)
        #expect(read.media.first?.url == url && read.duration == .milliseconds(1_500))
        #expect(try read.checked().media.first?.url == "https://a/gr%C3%BCn.mp3")
    }

    @Test func `a value that the wire cannot hold is a fault of the document`() throws {
        let long = Self.fault { _ = try Self.publish(#""duration":"60d","#) }
        #expect(
            long?.description == "Line 1: the limit duration ms is 4294967295, and this has 5184000000."
                && long?.isTooLarge == true
        )
        let lead = Self.fault { _ = try Self.publish(#""in":"60d","#) }
        #expect(lead?.reason == "the limit start ms is 4294967295, and this has 5184000000")
        let ad = Self.fault { _ = try Self.publish(ads: Self.ad.replacing("30s", with: "60d")) }
        #expect(
            ad?.description
                == "Line 1, ads[0]: the limit advertisement duration ms is 4294967295, and this has 5184000000."
        )
    }

    @Test func `a rule of the wire that an ad breaks is told with the ad`() throws {
        let fault = Self.fault { _ = try Self.publish(ads: Self.ad + ",\n" + Self.ad.replacing("\"a\"", with: "\"\"")) }
        #expect(
            fault?.description
                == "Line 2, ads[1]: advertisement id: it has 1 to 128 bytes and no control characters."
        )
        let twice = Self.fault { _ = try Self.publish(ads: Self.ad + "," + Self.ad) }
        #expect(twice?.description == "Line 1, ads[1].id: the ad on line 1 has the id a already.")
        #expect(twice?.isTooLarge == false)
    }

    @Test func `the other requests have their members`() throws {
        let key = try Self.key()
        #expect(try BreakDocument.punch(key, []) == BroadcastRequest.Punch(key: key))
        #expect(try BreakDocument.punch(key, Array(#"{"in":2}"#.utf8)).start == .after(.seconds(2)))
        let update = try BreakDocument.update(key, Array(#"{"duration":"45s"}"#.utf8))
        #expect(update == BroadcastRequest.Update(key: key, duration: .seconds(45)))
        let end = try BreakDocument.end(key, Array(#"{"endMode":"cut","at":"1970-01-01T00:00:01Z"}"#.utf8))
        #expect(end == BroadcastRequest.End(key: key, endMode: .cut, at: Timestamp(microseconds: 1_000_000)))
        let postpone = try BreakDocument.postpone(key, Array(#"{"by":"90s","from":"1970-01-01T00:00:01Z"}"#.utf8))
        #expect(
            postpone
                == BroadcastRequest.Postpone(key: key, by: .seconds(90), from: Timestamp(microseconds: 1_000_000))
        )
    }

    /// An ad with all parts that are for others than the player.
    private static let supplied = """
        {"ads": [{"id": "a", "duration": "30s", "media": [{"url": "https://a/b.mp3"}],
          "universalIds": [{"registry": "ad-id.org", "value": "C1"}], "adServingId": "s",
          "verifications": [{"vendor": "v.com", "parameters": "p",
            "resources": [{"url": "https://v/a.js", "apiFramework": "omid", "browserOptional": true},
              {"url": "https://v/b", "executable": true, "type": "application/zip"}],
            "trackers": [{"event": "verificationNotExecuted", "url": "https://v/n"}]}],
          "icons": [{"program": "AdChoices", "image": "https://i/a.png", "type": "image/png", "width": 60, "height": 20,
            "x": "right", "y": "7", "offset": "1s", "duration": "5s", "text": "Why", "target": "https://i/why",
            "trackers": [{"event": "iconView", "url": "https://i/v"}, {"event": "iconClick", "url": "https://i/c"}]}],
          "captions": [{"url": "https://c/a.vtt", "type": "text/vtt", "language": "en"}],
          "mezzanines": [{"url": "https://m/a.mov", "type": "video/quicktime", "width": 3840}]}]}
        """

    @Test func `parts for others than the player are read from JSON, and a fault is told with its place`() throws {
        let supplements = try #require(try AdsDocument.read(Array(Self.supplied.utf8)).first).supplements
        #expect(supplements.universalIDs == [.init(registry: "ad-id.org", value: "C1")])
        #expect(supplements.adServingID == "s" && supplements.verifications.map(\.vendor) == ["v.com"])
        #expect(supplements.verifications[0].resources.map(\.isExecutable) == [false, true])
        #expect(supplements.verifications[0].trackers.map(\.url) == ["https://v/n"])
        #expect(supplements.icons.map(\.xPosition) == ["right"] && supplements.icons.map(\.yPosition) == ["7"])
        #expect(supplements.icons.map(\.duration) == [.seconds(5)] && supplements.icons[0].trackers.count == 2)
        #expect(supplements.captions.map(\.language) == ["en"] && supplements.mezzanines.map(\.width) == [3_840])
        func fault(_ text: String, _ other: String) -> String? {
            Self.fault { _ = try AdsDocument.read(Array(Self.supplied.replacing(text, with: other).utf8)) }?.description
        }
        #expect(fault("\"image\"", "\"picture\"")?.contains("ads[0].icons[0].picture: there is no such field") == true)
        #expect(fault("\"x\": \"right\"", "\"x\": \"middle\"")?.contains("ads[0]: icon x_position") == true)
        #expect(
            fault("\"url\": \"https://v/b\",", "")?.contains("ads[0].verifications[0].resources[1].url: it is missing")
                == true
        )
        #expect(fault("https://m/a.mov", "ftp://m/a.mov")?.contains("not an absolute http or https URL") == true)
    }

    @Test func `an ad of a VAST document is the same ad`() throws {
        var ad = AdContent(
            id: "a",
            title: "A",
            durationMilliseconds: 1_500,
            mediaFiles: [AdMediaFile(url: "https://a/b.m3u8", type: "audio/mpegurl", delivery: .streaming)]
        )
        ad.skipOffsetMilliseconds = 500
        ad.mediaFiles[0].bitrateMax = 128
        ad.clickThrough = "https://shop.example/"
        ad.impressions = [AdTracker(event: AdTracker.impression, url: "https://t.example/i")]
        ad.companions = [
            AdCompanion(width: 300, height: 250, staticFiles: [AdStaticFile(url: "https://a/b.png", type: "")])
        ]
        let content = AdvertisementContent(ad)
        #expect(try content.checked() == content)
        #expect(content.duration == .milliseconds(1_500) && content.skipOffset == .milliseconds(500))
        #expect(content.media[0].streaming && content.media[0].bitrateKilobitsPerSecond == 128)
        #expect(content.banner == .init(imageURL: "https://a/b.png", width: 300, height: 250))
        #expect(content.trackers == [.init(event: "impression", url: "https://t.example/i")])
    }

    @Test func `an ad becomes an ad of a VAST document and then the same ad again`() throws {
        let content = AdvertisementContent(
            id: try AdvertisementID("a"),
            title: "A",
            text: "Everything must go.",
            advertiser: "Example Stores",
            duration: .milliseconds(1_500),
            skipOffset: .milliseconds(500),
            media: [
                .init(
                    url: "https://a/b.m3u8",
                    type: "application/vnd.apple.mpegurl",
                    bitrateKilobitsPerSecond: 128,
                    width: 640,
                    height: 360,
                    codec: "mp4a.40.2",
                    streaming: true
                )
            ],
            clickThroughURL: "https://shop.example/",
            banner: .init(
                imageURL: "https://a/b.png",
                targetURL: "https://shop.example/b",
                width: 300,
                height: 250,
                alternativeText: "Spring",
                type: "image/png"
            ),
            trackers: [
                .init(event: AdTracker.impression, url: "https://t.example/i"),
                .init(event: "progress", url: "https://t.example/p", offset: .seconds(1)),
                .init(event: AdTracker.clickTracking, url: "https://t.example/c"),
                .init(event: AdTracker.customClick, url: "https://t.example/o"),
                .init(event: AdTracker.error, url: "https://t.example/e"),
                .init(event: AdTracker.bannerView, url: "https://t.example/v"),
                .init(event: AdTracker.bannerClick, url: "https://t.example/b"),
            ]
        )
        #expect(AdvertisementContent(AdContent(content)) == content)
        var supplied = content
        supplied.supplements = try #require(try AdsDocument.read(Array(Self.supplied.utf8)).first).supplements
        supplied.trackers += [AdTracker.viewable, AdTracker.notViewable, AdTracker.viewUndetermined]
            .map { .init(event: $0, url: "https://t.example/\($0)") }
        let again = AdvertisementContent(AdContent(supplied))
        #expect(again.supplements == supplied.supplements)
        #expect(Set(again.trackers) == Set(supplied.trackers))
    }
}
