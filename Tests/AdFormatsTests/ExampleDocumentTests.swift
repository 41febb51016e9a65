// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Foundation
import Testing

/// The document that the demonstration publishes.
@Suite(.suiteLimit)
struct ExampleDocumentTests {
    @Test func `the example is a pod of two audio ads with all that they need`() throws {
        let batch = try VAST.read(try Data(contentsOf: Places.package.appending(path: "Examples/two-ads.vast.xml")))
        #expect(batch.ads.map(\.id) == ["harbour-coffee-15", "night-train-10"])
        #expect(batch.ads.map(\.durationMilliseconds) == [15_000, 10_000])
        #expect(batch.ads.map(\.sequence) == [1, 2])
        #expect(batch.skipped.isEmpty && batch.leftOut.isEmpty)
        for ad in batch.ads {
            #expect(ad.kind == .audio && ad.leftOut.isEmpty)
            #expect(
                ad.mediaFiles.allSatisfy { $0.type == "audio/mpeg" && $0.url.hasPrefix("https://cdn.example.com/") }
            )
            #expect(ad.impressions.allSatisfy { $0.url.hasSuffix("&cb=[CACHEBUSTING]") })
            #expect(!ad.title.isEmpty && ad.description != nil && ad.clickThrough != nil)
            let banner = try #require(ad.banner)
            #expect(banner.id == "square" && banner.width == banner.height && banner.altText != nil)
            #expect(banner.clickThrough != nil)
            let events = Set(ad.trackers.map(\.event))
            #expect(
                events.isSuperset(of: [
                    "impression", "start", "firstQuartile", "midpoint", "thirdQuartile", "complete", "clickTracking",
                    "bannerView", "bannerClick", "error",
                ])
            )
        }
        #expect(batch.ads[0].skipOffsetMilliseconds == 5_000)
    }
}
