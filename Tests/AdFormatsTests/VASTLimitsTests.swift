// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// Each limit, at the limit and one past it.
@Suite(.suiteLimit)
struct VASTLimitsTests {
    private let limits = AdFormatLimits()

    @Test func `a document may be as large as documentBytesMax and no larger`() throws {
        let document = Documents.vast(Documents.ad())
        let padded = document + Array(repeating: 0x20, count: self.limits.documentBytesMax - document.count)
        #expect(try VAST.read(padded).ads.count == 1)
        #expect(readingError(padded + [0x20]) == .tooLarge(limit: "documentBytesMax", maximum: 1_048_576))
    }

    @Test(arguments: [0, -1, Int.min])
    func `a limit of nothing refuses everything and traps on nothing`(maximum: Int) {
        var limits = AdFormatLimits()
        limits.documentBytesMax = maximum
        #expect(
            readingError([0x20], options: VASTReadingOptions(limits: limits))
                == .tooLarge(limit: "documentBytesMax", maximum: 0)
        )
        limits = AdFormatLimits()
        limits.identifierBytesMax = maximum
        limits.textBytesMax = maximum
        limits.documentBytesMax = .max
        let options = VASTReadingOptions(allStandAlone: true, limits: limits)
        let document = Documents.vast(Documents.ad("id='a'"), Documents.ad("id='a'"))
        #expect((try? VAST.read(document, options: options))?.ads.map(\.title) == ["", ""])
    }

    @Test func `a document may have as many ads as adsMax and no more`() throws {
        let options = VASTReadingOptions(allStandAlone: true)
        let ads = Array(repeating: Documents.ad(), count: self.limits.adsMax).joined()
        #expect(try VAST.read(Documents.vast(ads), options: options).ads.count == 64)
        let error = readingError(Documents.vast(ads, Documents.wrapper()), options: options)
        #expect(error == .tooLarge(limit: "adsMax", maximum: 64))
    }

    @Test func `media files past mediaFilesPerAdMax are left out`() throws {
        let files = Array(repeating: Documents.media, count: self.limits.mediaFilesPerAdMax).joined()
        let full = try Documents.onlyAd(Documents.ad(media: files))
        #expect(full.mediaFiles.count == 32 && full.leftOut.isEmpty)
        let more = try Documents.onlyAd(Documents.ad(media: files + Documents.media))
        #expect(more.mediaFiles == full.mediaFiles)
        #expect(more.leftOut.map(\.reason) == [.pastLimit(name: "mediaFilesPerAdMax", maximum: 32)])
    }

    @Test func `an ad with more trackers than trackersPerAdMax is skipped`() throws {
        func document(trackers: Int) -> [UInt8] {
            // The ad has one impression already.
            let elements = Array(
                repeating: "<Tracking event='start'>https://a.example.com</Tracking>",
                count: trackers - 1
            )
            return Documents.vast(Documents.ad(inLinear: "<TrackingEvents>\(elements.joined())</TrackingEvents>"))
        }
        #expect(try VAST.read(document(trackers: 128)).ads[0].trackers.count == self.limits.trackersPerAdMax)
        #expect(skipReasons(document(trackers: 129)) == [.tooManyTrackers(found: 129, maximum: 128)])
    }

    @Test func `text past textBytesMax is shortened between characters`() throws {
        let text = String(repeating: "ü", count: self.limits.textBytesMax / 2)
        let full = try Documents.onlyAd(Documents.ad(title: text, inInLine: "<Description>\(text)</Description>"))
        #expect(full.title == text && full.description == text && full.leftOut.isEmpty)
        let more = try Documents.onlyAd(
            Documents.ad(title: text + "x", inInLine: "<Description>x\(text)</Description>")
        )
        #expect(more.title == text)
        #expect(more.description?.utf8.count == 2_047)
        #expect(more.leftOut.map(\.reason) == [.shortened(maximum: 2_048), .shortened(maximum: 2_048)])
    }

    @Test func `a URL past urlBytesMax is left out`() throws {
        let base = "https://a.example.com/"
        let url = base + String(repeating: "x", count: self.limits.urlBytesMax - base.utf8.count)
        let ad = try Documents.onlyAd(Documents.ad(inInLine: "<Error>\(url)</Error><Error>\(url)x</Error>"))
        #expect(ad.errorURLs == [url])
        #expect(ad.leftOut.map(\.reason) == [.urlTooLong(maximum: 4_096)])
    }

    @Test func `an identifier past identifierBytesMax counts as absent`() throws {
        let id = String(repeating: "x", count: self.limits.identifierBytesMax)
        #expect(try Documents.onlyAd(Documents.ad("id='\(id)'")).id == id)
        let more = try Documents.onlyAd(Documents.ad("id='\(id)x'"))
        #expect(more.id == "ad-1" && more.documentID == nil)
    }

    @Test func `an id that is made unique stays within identifierBytesMax`() throws {
        let id = String(repeating: "x", count: self.limits.identifierBytesMax)
        let options = VASTReadingOptions(allStandAlone: true)
        let batch = try VAST.read(
            Documents.vast(Documents.ad("id='\(id)'"), Documents.ad("id='\(id)'")),
            options: options
        )
        #expect(batch.ads.map(\.id) == [id, id.dropLast(2) + "-2"])
    }

    @Test func `an ad may be as long as durationMillisecondsMax and no longer`() {
        let options = VASTReadingOptions(durationMillisecondsMax: 15_000)
        #expect(skipReasons(Documents.vast(Documents.ad(duration: "00:00:15")), options: options) == [])
        let longer = Documents.vast(Documents.ad(duration: "00:00:15.001"))
        #expect(skipReasons(longer, options: options) == [.tooLong(milliseconds: 15_001, maximum: 15_000)])
        #expect(skipReasons(Documents.vast(Documents.ad(duration: "01:00:00"))) == [])
        let hours = Documents.vast(Documents.ad(duration: "01:00:01"))
        #expect(skipReasons(hours) == [.tooLong(milliseconds: 3_601_000, maximum: 3_600_000)])
    }

    @Test func `the page about VAST lists every limit with its value`() throws {
        let page = try Places.page("broadcasters/vast.md")
        for (name, value) in Mirror(reflecting: self.limits).children {
            let row = "| `\(try #require(name))` | \(grouped(try #require(value as? Int))) |"
            #expect(page.contains(row), "\(row)")
        }
    }
}
