// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// Companions, and the one that becomes the banner.
@Suite(.suiteLimit)
struct VASTCompanionTests {
    private func ad(_ companions: String, attributes: String = "") throws -> AdContent {
        let creative = "<Creative><CompanionAds \(attributes)>\(companions)</CompanionAds></Creative>"
        return try Documents.onlyAd(Documents.ad(inCreatives: creative))
    }

    private func image(_ name: String, _ width: Int, _ height: Int, type: String = "image/png") -> String {
        """
        <Companion id="\(name)" width="\(width)" height="\(height)">
        <StaticResource creativeType="\(type)">https://cdn.example.com/\(name)</StaticResource></Companion>
        """
    }

    @Test func `a companion is read with all it has`() throws {
        let ad = try self.ad(
            """
            <Companion id="c" width="300" height="250"><HTMLResource><![CDATA[<b>hello</b>]]></HTMLResource>
            <IFrameResource>https://cdn.example.com/page</IFrameResource>
            <StaticResource creativeType="image/gif">https://cdn.example.com/c.gif</StaticResource>
            <AdParameters>x</AdParameters><AltText> A cup </AltText>
            <CompanionClickThrough>https://shop.example.com</CompanionClickThrough>
            <CompanionClickTracking id="k">https://track.example.com/k</CompanionClickTracking>
            <TrackingEvents><Tracking event="creativeView" offset="x">https://track.example.com/v</Tracking></TrackingEvents>
            </Companion>
            """,
            attributes: "required='ANY'"
        )
        var expected = AdCompanion(
            width: 300,
            height: 250,
            staticFiles: [AdStaticFile(url: "https://cdn.example.com/c.gif", type: "image/gif")]
        )
        expected.id = "c"
        expected.hasHTML = true
        expected.iframeURLs = ["https://cdn.example.com/page"]
        expected.altText = "A cup"
        expected.clickThrough = "https://shop.example.com"
        expected.clickTracking = [AdTracker(event: "clickTracking", url: "https://track.example.com/k", id: "k")]
        expected.trackingEvents = [AdTracker(event: "creativeView", url: "https://track.example.com/v")]
        #expect(ad.companions == [expected])
        #expect(ad.companionsRequired == .any)
        #expect(ad.banner == expected)
        #expect(ad.trackers.map(\.event) == ["impression", "bannerView", "bannerClick"])
    }

    @Test(arguments: [
        ("300px", "image/jpg", "image/jpeg"), (" 300 PX ", "jpg", "image/jpeg"), ("300", "PNG", "image/png"),
        ("300.0", "image/jpeg", "image/jpeg"), ("300", "", ""),
    ])
    func `a size with its unit and a loosely written type are read`(_ width: String, _ type: String, _ read: String)
        throws
    {
        let ad = try self.ad(
            """
            <Companion width="\(width)" height="250px">
            <StaticResource creativeType="\(type)">https://cdn.example.com/c</StaticResource></Companion>
            """
        )
        #expect(ad.banner?.width == 300 && ad.banner?.height == 250)
        #expect(ad.banner?.image?.type == read)
        #expect(ad.leftOut.isEmpty, "\(ad.leftOut)")
    }

    @Test func `a size and a type that cannot be read are left out and said`() throws {
        let ad = try self.ad(
            """
            <Companion width="100%" height="250">
            <StaticResource creativeType="picture">https://cdn.example.com/c</StaticResource></Companion>
            """
        )
        #expect(ad.banner?.width == nil && ad.banner?.height == 250)
        let said = ad.leftOut.map(\.description)
        #expect(said.count == 3)
        #expect(said.contains { $0.hasPrefix("Companion@width on line ") && $0.contains("100%") })
        #expect(said.contains { $0.hasPrefix("StaticResource@creativeType on line ") && $0.contains("picture") })
        #expect(
            said.contains { $0.hasPrefix("Companion on line ") && $0.contains("has no width and height in pixels") }
        )
    }

    @Test func `sizes and rates of media are read with their unit, and said where they are none`() throws {
        let ad = try Documents.onlyAd(
            Documents.ad(
                media: """
                    <MediaFile type="mp4" width="1280px" height="auto" bitrate="fast">https://cdn.example.com/a</MediaFile>
                    """
            )
        )
        let file = try #require(ad.mediaFiles.first)
        #expect(file.type == "video/mp4" && file.width == 1_280 && file.height == nil && file.bitrate == nil)
        #expect(ad.leftOut.map(\.part) == ["MediaFile@bitrate", "MediaFile@height"])
    }

    @Test func `the banner is the picture that is closest to a square`() throws {
        let ad = try self.ad(self.image("wide", 728, 90) + self.image("box", 300, 250) + self.image("square", 250, 250))
        #expect(ad.banner?.id == "square")
    }

    @Test func `of equally square pictures the larger is the banner, and of equal ones the first`() throws {
        let ad = try self.ad(
            self.image("small", 300, 300) + self.image("large", 600, 600) + self.image("again", 600, 600)
        )
        #expect(ad.banner?.id == "large")
    }

    @Test func `a tiny square comes after any picture of a hundred pixels`() throws {
        #expect(try self.ad(self.image("tiny", 99, 99) + self.image("box", 100, 140)).banner?.id == "box")
        #expect(try self.ad(self.image("tiny", 99, 99) + self.image("strip", 320, 50)).banner?.id == "tiny")
    }

    @Test func `a picture of unknown size is better than none`() throws {
        #expect(try self.ad(self.image("unknown", 0, 0)).banner?.id == "unknown")
        #expect(try self.ad(self.image("unknown", 0, 0) + self.image("strip", 320, 50)).banner?.id == "strip")
    }

    @Test func `pages, scripts and Flash are no banner`() throws {
        let ad = try self.ad(
            """
            \(self.image("script", 300, 300, type: "application/x-javascript"))\
            \(self.image("flash", 300, 300, type: "application/x-shockwave-flash"))
            <Companion width="300" height="300"><HTMLResource>x</HTMLResource></Companion>
            <Companion width="300" height="300"><IFrameResource>https://cdn.example.com/p</IFrameResource></Companion>
            <Companion width="300" height="300"><StaticResource creativeType="image/png">c.png</StaticResource></Companion>
            """
        )
        #expect(ad.companions.count == 5)
        #expect(ad.banner == nil)
        #expect(ad.leftOut.map(\.reason) == [.unusableURL("c.png")])
    }
}
