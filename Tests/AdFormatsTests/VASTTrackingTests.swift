// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// Trackers, clicks, offsets and what is left out of an ad.
@Suite(.suiteLimit)
struct VASTTrackingTests {
    private func tracking(_ elements: String) throws -> AdContent {
        try Documents.onlyAd(Documents.ad(inLinear: "<TrackingEvents>\(elements)</TrackingEvents>"))
    }

    @Test func `trackers keep their order, also those of one event and of unknown events`() throws {
        let ad = try self.tracking(
            """
            <Tracking event="start">https://a.example.com/1</Tracking><Tracking event="start">https://b.example.com/2</Tracking>
            <Tracking event="somethingNew">https://c.example.com/3</Tracking>
            """
        )
        #expect(ad.trackingEvents.map(\.event) == ["start", "start", "somethingNew"])
    }

    @Test func `only progress has an offset`() throws {
        let ad = try self.tracking("<Tracking event='start' offset='09:15:23'>https://a.example.com/1</Tracking>")
        #expect(ad.trackingEvents == [AdTracker(event: "start", url: "https://a.example.com/1")])
        #expect(ad.leftOut.isEmpty)
    }

    @Test func `a URL that cannot be called is left out and counted`() throws {
        let ad = try self.tracking(
            """
            <Tracking event="start"/><Tracking event="start">relative</Tracking><Tracking>https://a.example.com</Tracking>
            <Tracking event="progress">https://a.example.com</Tracking>
            <Tracking event="progress" offset="soon">https://a.example.com</Tracking>
            """
        )
        #expect(ad.trackingEvents.isEmpty)
        #expect(
            ad.leftOut.map(\.reason) == [
                .noURL, .unusableURL("relative"), .unusableValue(""), .unusableOffset(""), .unusableOffset("soon"),
            ]
        )
        #expect(ad.leftOut[3].description == "Tracking on line 6 has no offset.")
    }

    @Test func `a placeholder impression is not counted as missing`() throws {
        let ad = try Documents.onlyAd(Documents.ad(inInLine: "<Impression>about:blank</Impression>"))
        #expect(ad.impressions.count == 1 && ad.leftOut.isEmpty)
    }

    @Test func `clicks are read, and of two pages the first`() throws {
        let ad = try Documents.onlyAd(
            Documents.ad(
                inLinear: """
                    <VideoClicks><ClickThrough>https://shop.example.com/1</ClickThrough>
                    <ClickThrough>https://shop.example.com/2</ClickThrough>
                    <ClickTracking id="t">https://track.example.com/t</ClickTracking>
                    <CustomClick id="c">https://track.example.com/c</CustomClick></VideoClicks>
                    """
            )
        )
        #expect(ad.clickThrough == "https://shop.example.com/1")
        #expect(ad.clickTracking == [AdTracker(event: "clickTracking", url: "https://track.example.com/t", id: "t")])
        #expect(ad.customClicks == [AdTracker(event: "customClick", url: "https://track.example.com/c", id: "c")])
        #expect(ad.leftOut.map(\.reason) == [.anotherCameFirst])
    }

    @Test(arguments: [
        ("00:00:05", 5_000), ("10%", 1_500), ("00:00:00", 0), ("00:00:15", nil), ("00:01:00", nil), ("100%", nil),
        ("later", nil),
    ])
    func `a skip offset before the end is taken`(text: String, milliseconds: Int?) throws {
        let ad = try Documents.onlyAd(Documents.ad(linearAttributes: "skipoffset='\(text)'"))
        #expect(ad.skipOffsetMilliseconds == milliseconds)
        #expect(ad.leftOut.count == (text == "later" ? 1 : 0))
    }

    @Test(arguments: [("0", 0), ("86400", 86_400), (" 5 ", 5), ("-1", nil), ("soon", nil), ("", nil)])
    func `an expiry is a number of seconds`(text: String, seconds: Int?) throws {
        let ad = try Documents.onlyAd(Documents.ad(inInLine: "<Expires>\(text)</Expires>"))
        #expect(ad.expiresAfterSeconds == seconds)
        #expect(ad.leftOut.count == (seconds == nil ? 1 : 0))
    }

    @Test(arguments: [("128", 128), ("128.9", 128), ("-1", nil), ("many", nil), ("1e99", nil), ("nan", nil), ("", nil)])
    func `a bitrate is a number of kilobits a second`(text: String, bitrate: Int?) throws {
        let media = "<MediaFile bitrate='\(text)' type='audio/mpeg'>https://cdn.example.com/a.mp3</MediaFile>"
        #expect(try Documents.onlyAd(Documents.ad(media: media)).mediaFiles[0].bitrate == bitrate)
    }

    @Test(arguments: [
        ("delivery='progressive' type='application/x-mpegURL'", AdMediaFile.Delivery.progressive),
        ("delivery='Streaming' type='audio/mpeg'", .streaming), ("type='application/vnd.apple.mpegurl'", .streaming),
        ("type='application/dash+xml'", .streaming), ("type='audio/mpeg'", .progressive),
        ("delivery='pigeon'", .progressive),
    ])
    func `a delivery that is not said follows from the type`(attributes: String, delivery: AdMediaFile.Delivery) throws
    {
        let media = "<MediaFile \(attributes)>https://cdn.example.com/a</MediaFile>"
        #expect(try Documents.onlyAd(Documents.ad(media: media)).mediaFiles[0].delivery == delivery)
    }
}
