// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Foundation
import TestSupport
import Testing

/// Written VAST, read again.
@Suite(.suiteLimit)
struct VASTWriterTests {
    /// Texts that would break out of where they stand, if they were not escaped.
    private static let hostile = [
        "]]>", "<Ad/>", "&amp;", "&", "\"", "'", "<!--", "-->", "<?x?>", "</AdTitle></InLine></Ad></VAST>",
        "\" onload=\"x",
        "&#38;", "&lt;", "\u{FFFD}", "é", "日本", "🎧", "a\nb", "a\tb", "<![CDATA[", "[ERRORCODE]", "%", "\u{202E}",
    ]

    private static func text(_ random: inout SeededGenerator) -> String {
        "T" + random.list(0...6) { $0.pick(Self.hostile) }.joined(separator: "x") + "T"
    }

    private static func url(_ random: inout SeededGenerator) -> String {
        let rest = random.list(0...5) { $0.pick(Self.hostile) }.joined().filter { !$0.isWhitespace }
        return "https://ads.example/\(random.number(0...99))?q=\(rest)&r=1"
    }

    private static func ad(_ number: Int, _ random: inout SeededGenerator) -> AdContent {
        let files = random.list(1...4) { random -> AdMediaFile in
            let type = random.pick(["audio/mpeg", "video/mp4", "application/x-mpegURL", "application/dash+xml"])
            var file = AdMediaFile(
                url: Self.url(&random),
                type: type,
                delivery: random.pick([.progressive, .streaming])
            )
            // What a document without one says is 0.
            file.width = random.number(0...4_096)
            file.height = random.number(0...4_096)
            file.bitrate = random.maybe { $0.number(1...9_999) }
            file.codec = random.maybe { $0.pick(["mp4a.40.2", "a\"b", "<x>"]) }
            return file
        }
        var ad = AdContent(
            id:
                "\(number)-\(random.pick(Self.hostile.filter { !$0.contains(where: \.isNewline) && !$0.contains("\t") }))",
            title: Self.text(&random),
            durationMilliseconds: random.number(1...3_600_000),
            mediaFiles: files,
            kind: random.pick([.audio, .video, .hybrid])
        )
        ad.sequence = number
        ad.documentID = ad.id
        ad.adSystem = "Cuecast"
        ad.adServingID = "serving-\(number)"
        ad.description = random.maybe { Self.text(&$0) }
        ad.advertiser = random.maybe { Self.text(&$0) }
        ad.skipOffsetMilliseconds = random.maybe { $0.number(0...(ad.durationMilliseconds - 1)) }
        ad.clickThrough = random.maybe { Self.url(&$0) }
        ad.universalIDs =
            random.maybe { _ in [AdContent.UniversalID(registry: "ad-id.org", value: "<CNPA0484000H>")] } ?? []
        func trackers(_ event: String) -> [AdTracker] {
            random.list(0...3) { AdTracker(event: event, url: Self.url(&$0)) }
        }
        ad.impressions = trackers("impression")
        ad.clickTracking = trackers("clickTracking")
        ad.customClicks = trackers("customClick")
        ad.errorURLs = trackers("error").map(\.url)
        ad.trackingEvents = ["start", "complete", "skip", "some\"<event>"].flatMap { trackers($0) }
        for var tracker in trackers("progress") {
            tracker.offsetMilliseconds = random.number(0...359_999_999)
            ad.trackingEvents.append(tracker)
        }
        Self.addSupplements(to: &ad, &random)
        if random.bool() {
            let image = AdStaticFile(url: Self.url(&random), type: random.pick(["image/webp", "image/png"]))
            var companion = AdCompanion(
                width: random.number(1...999),
                height: random.number(1...999),
                staticFiles: [image]
            )
            companion.altText = random.maybe { Self.text(&$0) }
            companion.clickThrough = random.maybe { Self.url(&$0) }
            companion.clickTracking = trackers("clickTracking")
            companion.trackingEvents = trackers("creativeView")
            ad.companions = [companion]
        }
        return ad
    }

    /// The parts that are for others than the player.
    private static func addSupplements(to ad: inout AdContent, _ random: inout SeededGenerator) {
        func trackers(_ event: String) -> [AdTracker] {
            random.list(0...2) { AdTracker(event: event, url: Self.url(&$0)) }
        }
        ad.viewability = [AdTracker.viewable, AdTracker.notViewable, AdTracker.viewUndetermined]
            .flatMap { trackers($0) }
        ad.verifications = random.list(0...3) { random -> AdVerification in
            // As the writer sorts them.
            var resources = random.list(1...2) { random -> AdVerification.Resource in
                let type: String = random.pick(["x/\"y", ""])
                let url = Self.url(&random)
                return AdVerification.Resource(url: url, kind: .executable(type: type), apiFramework: "<o>")
            }
            resources += random.list(0...2) { random -> AdVerification.Resource in
                var resource = AdVerification.Resource(url: Self.url(&random))
                resource.apiFramework = random.pick(["omid", "<o>"])
                resource.isBrowserOptional = random.bool()
                return resource
            }
            var verification = AdVerification(vendor: random.maybe { _ in "company.com-omid" }, resources: resources)
            verification.parameters = random.maybe { Self.text(&$0) }
            return verification
        }
        for index in ad.verifications.indices {
            ad.verifications[index].notExecuted = trackers(AdVerification.notExecutedEvent)
        }
        ad.icons = random.list(0...3) { random -> AdIcon in
            var icon = AdIcon(
                program: random.maybe { $0.pick(["AdChoices", "a&b"]) },
                staticFiles: [AdStaticFile(url: Self.url(&random), type: "image/png")]
            )
            (icon.width, icon.height) = (random.number(1...99), random.number(1...99))
            icon.xPosition = random.pick(["left", "right", "0", "17"])
            icon.yPosition = random.pick(["top", "bottom", "3"])
            icon.offsetMilliseconds = random.maybe { $0.number(0...60_000) }
            icon.durationMilliseconds = random.maybe { $0.number(0...60_000) }
            icon.clickThrough = random.maybe { Self.url(&$0) }
            return icon
        }
        for index in ad.icons.indices {
            ad.icons[index].trackingEvents = trackers("creativeView")
            ad.icons[index].clickTracking = trackers("clickTracking")
        }
        ad.captionFiles = random.list(0...2) { random -> AdCaptionFile in
            AdCaptionFile(
                url: Self.url(&random),
                type: random.pick(["", "text/vtt"]),
                language: random.maybe { $0.pick(["en", "zh-TW"]) }
            )
        }
        ad.mezzanines = random.list(0...2) { random -> AdMediaFile in
            var file = AdMediaFile(url: Self.url(&random), type: "video/mp4", delivery: .progressive)
            (file.width, file.height) = (random.number(0...4_096), random.number(0...4_096))
            return file
        }
    }

    @Test(
        arguments: [
            (1, 1, "", "https://cdn.example/a.png", "image/png"),
            (1, 1, "", "https://cdn.example/a.JPG?x=.gif", "image/jpeg"),
            (1, 1, "", "https://cdn.example/a.jpeg#x", "image/jpeg"),
            (1, 1, "", "https://cdn.example/a.b.gif", "image/gif"),
            (1, 1, "", "https://cdn.example/a.webp", "image/webp"),
            (1, 1, "", "https://cdn.example/a.svg", "image/svg+xml"),
            (1, 1, "", "https://cdn.example/a.avif", "image/avif"),
            (1, 1, "image/bmp", "https://cdn.example/a", "image/bmp"),
            (1, 1, "", "https://cdn.example/a", nil), (1, 1, "", "https://cdn.example/a.png/b", nil),
            (1, 1, "", "https://cdn.example/?a.png", nil), (1, 1, "", "https://cdn.png", nil),
            (1, 1, "", "https://cdn.example/a.exe", nil), (0, 1, "image/png", "https://cdn.example/a.png", nil),
            (1, 0, "image/png", "https://cdn.example/a.png", nil),
            (nil, nil, "image/png", "https://cdn.example/a.png", nil),
        ] as [(Int?, Int?, String, String, String?)]
    )
    func `a companion has a size and a type, or is left out`(
        width: Int?,
        height: Int?,
        type: String,
        url: String,
        expected: String?
    ) throws {
        let file = AdMediaFile(url: "https://cdn.example/a.mp3", type: "audio/mpeg", delivery: .progressive)
        var ad = AdContent(id: "a", title: "A", durationMilliseconds: 1_000, mediaFiles: [file], kind: .audio)
        ad.companions = [
            AdCompanion(width: width, height: height, staticFiles: [AdStaticFile(url: url, type: type)])
        ]
        let document = VAST.document([ad])
        let read = try VAST.read(document).ads
        #expect(read.first?.companions.first?.staticFiles.map(\.type) == expected.map { [$0] })
        #expect(String(decoding: document, as: UTF8.self).contains("CompanionAds") == (expected != nil))
    }

    @Test func `written content is read as the same`() async throws {
        var random = SeededGenerator(for: "written documents")
        for _ in 0..<300 {
            await Task.yield()
            var number = 0
            let ads = random.list(1...5) { random -> AdContent in
                number += 1
                return Self.ad(number, &random)
            }
            let document = VAST.document(ads)
            let comment: Comment = "CUECAST_SEED=\(SeededGenerator.seed) \(String(decoding: document, as: UTF8.self))"
            var batch = try VAST.read(document)
            #expect(batch.formatVersion == "4.2", comment)
            #expect(batch.skipped.isEmpty, comment)
            for index in batch.ads.indices {
                #expect(batch.ads[index].leftOut.isEmpty, comment)
                // A writer that has no name for a click has an empty one.
                for companion in batch.ads[index].companions.indices {
                    for tracker in batch.ads[index].companions[companion].clickTracking.indices {
                        #expect(batch.ads[index].companions[companion].clickTracking[tracker].id == nil, comment)
                    }
                }
            }
            batch.ads = batch.ads.map { ad in
                var ad = ad
                ad.leftOut = []
                return ad
            }
            #expect(batch.ads == ads, comment)
        }
    }

    @Test func `no ads are a document without any`() throws {
        let document = VAST.document([])
        #expect(
            String(decoding: document, as: UTF8.self)
                == "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<VAST xmlns=\"http://www.iab.com/VAST\" version=\"4.2\"/>\n"
        )
        #expect(throws: AdFormatError.noAds(errorURLs: [])) { try VAST.read(document) }
    }

    @Test func `characters that XML cannot write are replaced, and those that readers would change are escaped`() throws
    {
        var ad = AdContent(
            id: "a",
            title: "a\u{0}b\u{FFFE}c\u{FFFF}d\u{1B}e\rf",
            durationMilliseconds: 1,
            mediaFiles: [AdMediaFile(url: "https://cdn.example/a.mp3", type: "audio/\"<x>&'y'")]
        )
        ad.impressions = []
        let read = try #require(try VAST.read(VAST.document([ad])).ads.first)
        // The reader leaves the control character out.
        #expect(read.title == "a\u{FFFD}b\u{FFFD}c\u{FFFD}d\u{FFFD}ef")
        #expect(read.mediaFiles.first?.type == "audio/\"<x>&'y'")
        #expect(read.impressions.isEmpty, "a placeholder is no address")
        #expect(read.universalIDs.isEmpty)
    }

    @Test func `elements stand in the order of the schema`() throws {
        var random = SeededGenerator(for: "the order")
        var ad = Self.ad(1, &random)
        ad.description = "d"
        ad.advertiser = "a"
        ad.errorURLs = ["https://a.example/e"]
        ad.impressions = [AdTracker(event: "impression", url: "https://a.example/i")]
        ad.trackingEvents = [AdTracker(event: "start", url: "https://a.example/s")]
        ad.clickTracking = [AdTracker(event: "clickTracking", url: "https://a.example/c")]
        ad.customClicks = [AdTracker(event: "customClick", url: "https://a.example/cc")]
        ad.clickThrough = "https://a.example/t"
        var companion = AdCompanion(staticFiles: [AdStaticFile(url: "https://a.example/p.png", type: "image/png")])
        companion.width = 300
        companion.height = 250
        companion.altText = "t"
        companion.clickThrough = "https://a.example/ct"
        companion.clickTracking = [AdTracker(event: "clickTracking", url: "https://a.example/cct")]
        companion.trackingEvents = [AdTracker(event: "creativeView", url: "https://a.example/v")]
        ad.companions = [companion]
        let text = String(decoding: VAST.document([ad]), as: UTF8.self)
        for order in [
            [
                "<AdSystem>", "<Error>", "<Impression>", "<AdServingId>", "<AdTitle>", "<Advertiser>", "<Creatives>",
                "<Description>",
            ],
            ["<Linear", "</Linear>", "<UniversalAdId ", "</Creative>", "<CompanionAds ", "</CompanionAds>"],
            ["<TrackingEvents>", "<Duration>", "<MediaFiles>", "<VideoClicks>"],
            ["<ClickTracking>", "<CustomClick>", "<ClickThrough>"],
            [
                "<StaticResource ", "<AltText>", "<CompanionClickThrough>", "<CompanionClickTracking ",
                "<Tracking event=\"creativeView\">",
            ],
        ] {
            let places = try order.map { try #require(text.range(of: $0), "\($0)").lowerBound }
            #expect(places == places.sorted(), "\(order)")
        }
    }
}
