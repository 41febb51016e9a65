// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// One small document as each version writes it, and what is read from it.
@Suite(.suiteLimit)
struct VASTVersionsTests {
    @Test func `VAST 2_0: ids are written AdID, and times without milliseconds`() throws {
        let batch = try VAST.read(
            """
            <?xml version="1.0"?>
            <VAST version="2.0"><Ad id="spot-20"><InLine>
              <AdSystem version="1">Station</AdSystem><AdTitle>Spring sale</AdTitle><Description>Two weeks only</Description>
              <Survey>https://survey.example.com</Survey><Error>https://track.example.com/e</Error>
              <Impression id="one">https://track.example.com/i?a=1&amp;b=2</Impression>
              <Creatives><Creative AdID="SALE-30" sequence="1"><Linear>
                <Duration>00:00:30</Duration>
                <TrackingEvents><Tracking event="start">https://track.example.com/s</Tracking>
                  <Tracking event="fullscreen">https://track.example.com/f</Tracking></TrackingEvents>
                <AdParameters>a=b</AdParameters>
                <VideoClicks><ClickThrough>https://shop.example.com/</ClickThrough></VideoClicks>
                <MediaFiles><MediaFile delivery="progressive" type="video/mp4" bitrate="500" width="640" height="360"
                  scalable="true">https://cdn.example.com/sale.mp4</MediaFile></MediaFiles>
              </Linear></Creative></Creatives>
              <Extensions><Extension type="x"><MediaFile>no</MediaFile></Extension></Extensions>
            </InLine></Ad></VAST>
            """
            .utf8
        )
        var expected = AdContent(
            id: "spot-20",
            title: "Spring sale",
            durationMilliseconds: 30_000,
            mediaFiles: [AdMediaFile(url: "https://cdn.example.com/sale.mp4", type: "video/mp4")],
            kind: .video
        )
        expected.mediaFiles[0].bitrate = 500
        expected.mediaFiles[0].width = 640
        expected.mediaFiles[0].height = 360
        expected.documentID = "spot-20"
        expected.description = "Two weeks only"
        expected.adSystem = "Station"
        expected.errorURLs = ["https://track.example.com/e"]
        expected.impressions = [AdTracker(event: "impression", url: "https://track.example.com/i?a=1&b=2", id: "one")]
        expected.trackingEvents = [
            AdTracker(event: "start", url: "https://track.example.com/s"),
            AdTracker(event: "fullscreen", url: "https://track.example.com/f"),
        ]
        expected.clickThrough = "https://shop.example.com/"
        #expect(batch.ads == [expected])
        #expect(batch.skipped.isEmpty && batch.errorURLs.isEmpty && batch.leftOut.isEmpty)
        #expect(batch.formatVersion == "2.0")
    }

    @Test func `VAST 3_0: pods, skipping, progress and icons`() throws {
        let batch = try VAST.read(
            """
            <VAST version="3.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
              xsi:noNamespaceSchemaLocation="vast.xsd">
            <Ad id="second" sequence="2"><InLine><AdSystem>S</AdSystem><AdTitle>Two</AdTitle>
              <Impression>https://track.example.com/i2</Impression><Creatives><Creative><Linear>
              <Duration>00:00:10</Duration><MediaFiles><MediaFile delivery="streaming" type="application/x-mpegURL"
              minBitrate="64" maxBitrate="256" codec="mp4a.40.2" id="hls">https://cdn.example.com/2.m3u8</MediaFile></MediaFiles>
              </Linear></Creative></Creatives></InLine></Ad>
            <Ad id="first" sequence="1"><InLine><AdSystem>S</AdSystem><AdTitle>One</AdTitle><Advertiser>Acme</Advertiser>
              <Pricing model="cpm" currency="EUR">1.5</Pricing><Impression>https://track.example.com/i1</Impression>
              <Creatives><Creative><Linear skipoffset="25%"><Duration>00:00:20.500</Duration>
              <TrackingEvents><Tracking event="progress" offset="00:00:05">https://track.example.com/5</Tracking>
                <Tracking event="progress" offset="50%">https://track.example.com/50</Tracking>
                <Tracking event="skip">https://track.example.com/skip</Tracking></TrackingEvents>
              <Icons><Icon program="AdChoices" width="20" height="16" xPosition="right" yPosition="top">
                <StaticResource creativeType="image/png">https://cdn.example.com/i.png</StaticResource>
                <IconClicks><IconClickThrough>https://choices.example.com/</IconClickThrough>
                  <IconClickTracking>https://track.example.com/ic</IconClickTracking></IconClicks>
                <IconViewTracking>https://track.example.com/iv</IconViewTracking></Icon></Icons>
              <MediaFiles><MediaFile delivery="progressive" type="audio/aac">https://cdn.example.com/1.aac</MediaFile></MediaFiles>
              </Linear></Creative></Creatives></InLine></Ad>
            </VAST>
            """
            .utf8
        )
        #expect(batch.ads.map(\.id) == ["first", "second"])
        #expect(batch.ads.map(\.sequence) == [1, 2])
        let first = batch.ads[0]
        #expect(first.advertiser == "Acme")
        #expect(first.durationMilliseconds == 20_500 && first.skipOffsetMilliseconds == 5_125)
        #expect(first.trackingEvents.map(\.offsetMilliseconds) == [5_000, 10_250, nil])
        #expect(first.icons[0].program == "AdChoices" && first.icons[0].width == 20 && first.icons[0].height == 16)
        #expect(first.icons[0].staticFiles == [AdStaticFile(url: "https://cdn.example.com/i.png", type: "image/png")])
        #expect(first.icons[0].clickThrough == "https://choices.example.com/")
        #expect(first.icons[0].clickTracking.map(\.url) == ["https://track.example.com/ic"])
        #expect(
            first.icons[0].trackingEvents == [AdTracker(event: "creativeView", url: "https://track.example.com/iv")]
        )
        let file = batch.ads[1].mediaFiles[0]
        #expect(file.delivery == .streaming && file.bitrate == nil && file.bitrateMin == 64 && file.bitrateMax == 256)
        #expect(file.codec == "mp4a.40.2" && file.id == "hls")
        #expect(batch.durationMilliseconds == 30_500)
    }

    @Test func `VAST 4_0: universal ids, categories, mezzanine and verification`() throws {
        let batch = try VAST.read(
            """
            <VAST version="4.0"><Ad id="v40" conditionalAd="false"><InLine><AdSystem>S</AdSystem><AdTitle>T</AdTitle>
              <Impression>https://track.example.com/i</Impression>
              <Category authority="iabtechlab.com">232</Category><Category>retail</Category>
              <ViewableImpression id="v"><Viewable>https://track.example.com/v</Viewable></ViewableImpression>
              <Creatives><Creative adId="c-1"><UniversalAdId idRegistry="ad-id.org" idValue="CNPA0484000H"/>
              <CreativeExtensions><CreativeExtension type="x"/></CreativeExtensions>
              <Linear><Duration>00:00:15</Duration><MediaFiles>
                <Mezzanine delivery="progressive" type="video/mp4" width="1920" height="1080">https://cdn.example.com/m.mov</Mezzanine>
                <InteractiveCreativeFile apiFramework="VPAID" type="text/html">https://cdn.example.com/i.html</InteractiveCreativeFile>
                <MediaFile delivery="progressive" type="video/mp4" width="1280" height="720">https://cdn.example.com/v.mp4</MediaFile>
              </MediaFiles></Linear></Creative></Creatives>
              <AdVerifications><Verification><JavaScriptResource>https://v.example.com/v.js</JavaScriptResource></Verification></AdVerifications>
            </InLine></Ad></VAST>
            """
            .utf8
        )
        #expect(batch.ads[0].universalIDs == [.init(registry: "ad-id.org", value: "CNPA0484000H")])
        #expect(
            batch.ads[0].categories == [
                .init(authority: "iabtechlab.com", code: "232"), .init(authority: "", code: "retail"),
            ]
        )
        #expect(batch.ads[0].mediaFiles.map(\.url) == ["https://cdn.example.com/v.mp4"])
        #expect(batch.ads[0].leftOut.isEmpty)
    }

    @Test func `VAST 4_1: the namespace, the id of the serving, expiry and audio`() throws {
        let batch = try VAST.read(
            """
            <VAST version="4.1" xmlns="http://www.iab.com/VAST"><Ad adType="audio"><InLine><AdSystem>S</AdSystem>
              <AdTitle>T</AdTitle><AdServingId>S-47ed3bac</AdServingId><Impression>https://track.example.com/i</Impression>
              <Expires>3600</Expires><Creatives><Creative><UniversalAdId idRegistry="unknown">unknown</UniversalAdId>
              <Linear><Duration>00:00:15</Duration><MediaFiles>
                <MediaFile delivery="progressive" type="audio/mpeg" width="0" height="0">https://cdn.example.com/a.mp3</MediaFile>
                <ClosedCaptionFiles><ClosedCaptionFile type="text/vtt" language="en">https://cdn.example.com/a.vtt</ClosedCaptionFile></ClosedCaptionFiles>
              </MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>
            """
            .utf8
        )
        #expect(batch.ads[0].id == "S-47ed3bac")
        #expect(batch.ads[0].documentID == nil && batch.ads[0].adServingID == "S-47ed3bac")
        #expect(batch.ads[0].kind == .audio)
        #expect(batch.ads[0].expiresAfterSeconds == 3_600)
        #expect(batch.ads[0].universalIDs.isEmpty)
    }

    @Test func `VAST 4_2: several universal ids and a prefix on every element`() throws {
        let batch = try VAST.read(
            """
            <v:VAST version="4.2" xmlns:v="http://www.iab.com/VAST" xmlns:o="urn:other"><v:Ad adType="hybrid"><v:InLine>
              <o:AdTitle>Not ours</o:AdTitle><v:AdTitle>Ours</v:AdTitle><v:Creatives><v:Creative>
              <v:UniversalAdId idRegistry="a">1</v:UniversalAdId><v:UniversalAdId idRegistry="b">2</v:UniversalAdId>
              <v:Linear><v:Duration>00:00:15</v:Duration><v:MediaFiles><v:MediaFile delivery="progressive" type="audio/mpeg">
              https://cdn.example.com/a.mp3</v:MediaFile></v:MediaFiles></v:Linear>
              </v:Creative></v:Creatives></v:InLine></v:Ad></v:VAST>
            """
            .utf8
        )
        #expect(batch.ads[0].title == "Ours")
        #expect(batch.ads[0].id == "1" && batch.ads[0].kind == .hybrid)
        #expect(batch.ads[0].universalIDs.map(\.value) == ["1", "2"])
    }

    @Test(arguments: ["4.3", "4.4", "4.9", "4", "3.0.1", " 4.2 "])
    func `later and finer versions are read alike`(version: String) throws {
        let ad = Documents.ad("id='a'", inInLine: "<SomethingNew><MediaFile/></SomethingNew>")
        #expect(try VAST.read(Documents.vast(ad, version: version)).ads.map(\.id) == ["a"])
    }

    @Test func `a document that claims no version is read`() throws {
        let batch = try VAST.read("<VAST>\(Documents.ad())</VAST>".utf8)
        #expect(batch.formatVersion == nil && batch.ads.count == 1)
    }

    @Test(arguments: ["1.0", "5.0", "0.9", "four", "4.x", "4..2", "4.", "-4.2", "4.2 beta"])
    func `other versions are refused by name`(version: String) {
        let error = readingError(Documents.vast(Documents.ad(), version: version))
        #expect(error == .unsupportedVersion(version) && error?.vastErrorCode == 102)
    }

    @Test func `an ad without an adType is audio where all its media is`() throws {
        #expect(try Documents.onlyAd(Documents.ad()).kind == .audio)
        let video = "<MediaFile type='video/mp4'>https://cdn.example.com/v.mp4</MediaFile>"
        #expect(try Documents.onlyAd(Documents.ad(media: Documents.media + video)).kind == .video)
        #expect(try Documents.onlyAd(Documents.ad("adType='nonsense'")).kind == .audio)
    }
}
