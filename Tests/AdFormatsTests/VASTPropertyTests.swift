// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Foundation
import TestSupport
import Testing

/// Properties of every sequence of bytes.
///
/// These tests compute for seconds and yield as they go, so that the others are not kept waiting past their time.
@Suite(.suiteLimit)
struct VASTPropertyTests {
    private static let options = [VASTReadingOptions(), VASTReadingOptions(allStandAlone: true)]

    /// Reads twice with each option and checks what must hold of the result; returns whether there was a batch.
    private func check(_ document: [UInt8], _ comment: Comment) -> Bool {
        var hadBatch = false
        for options in Self.options {
            do throws(AdFormatError) {
                let batch = try VAST.read(document, options: options)
                #expect((try? VAST.read(document, options: options)) == batch, comment)
                self.checkBatch(batch, options: options, comment)
                hadBatch = true
            } catch {
                #expect(readingError(document, options: options) == error, comment)
                #expect(!error.description.isEmpty, comment)
                if case .nothingPlayable(let skipped) = error { #expect(!skipped.isEmpty, comment) }
            }
        }
        return hadBatch
    }

    private func checkBatch(_ batch: AdBatch, options: VASTReadingOptions, _ comment: Comment) {
        let limits = options.limits
        #expect(!batch.ads.isEmpty, comment)
        #expect(batch.ads.count + batch.skipped.count <= limits.adsMax, comment)
        #expect(Set(batch.ads.map(\.id)).count == batch.ads.count, comment)
        let sequences = batch.ads.compactMap(\.sequence)
        #expect(sequences == sequences.sorted(), comment)
        #expect(sequences.isEmpty || sequences.count == batch.ads.count, comment)
        #expect(options.allStandAlone || !sequences.isEmpty || batch.ads.count == 1, comment)
        #expect(batch.skipped.map(\.position) == batch.skipped.map(\.position).sorted(), comment)
        for skipped in batch.skipped { #expect(!skipped.description.isEmpty, comment) }
        for ad in batch.ads {
            #expect((1...limits.identifierBytesMax).contains(ad.id.utf8.count), comment)
            #expect((1...options.durationMillisecondsMax).contains(ad.durationMilliseconds), comment)
            #expect((1...limits.mediaFilesPerAdMax).contains(ad.mediaFiles.count), comment)
            #expect(ad.trackers.count <= limits.trackersPerAdMax, comment)
            #expect(ad.title.utf8.count <= limits.textBytesMax, comment)
            #expect(ad.skipOffsetMilliseconds.map { (0..<ad.durationMilliseconds).contains($0) } ?? true, comment)
            #expect(
                ad.trackingEvents.allSatisfy { ($0.offsetMilliseconds != nil) == ($0.event == "progress") },
                comment
            )
            let urls = ad.mediaFiles.map(\.url) + ad.trackers.map(\.url) + [ad.clickThrough].compactMap { $0 }
            for url in urls {
                #expect(url.lowercased().hasPrefix("http://") || url.lowercased().hasPrefix("https://"), comment)
                #expect(url.utf8.count <= limits.urlBytesMax && !url.contains(where: \.isWhitespace), comment)
            }
        }
    }

    @Test func `documents spoiled at random never trap, and what is read of them holds together`() async throws {
        var random = SeededGenerator(for: "spoiled documents")
        let documents = try documentsToSpoil()
        // So many in all, however few documents there are, that some give a batch whatever the seed is.
        let rounds = max(30, 600 / documents.count)
        var batches = 0
        for document in documents {
            for _ in 0..<rounds {
                await Task.yield()
                let spoiled = Mutation.spoiled(document, with: documents, using: &random)
                batches += self.check(spoiled, "CUECAST_SEED=\(SeededGenerator.seed)") ? 1 : 0
            }
        }
        print("spoiled documents: \(documents.count * rounds), of which \(batches) still gave a batch")
        #expect(batches > 0, "CUECAST_SEED=\(SeededGenerator.seed)")
    }

    @Test func `random bytes never trap`() async {
        var random = SeededGenerator(for: "random bytes")
        let tag = Array("<VAST version='4.0'><Ad>".utf8)
        let starts: [[UInt8]] = [[], tag, [0xFE, 0xFF], [0xFF, 0xFE], [0xEF, 0xBB, 0xBF]]
        for _ in 0..<2_000 {
            await Task.yield()
            let count = Int.random(in: 0...64, using: &random)
            let start = starts.randomElement(using: &random) ?? []
            let bytes = start + (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(!self.check(bytes, "CUECAST_SEED=\(SeededGenerator.seed)"))
        }
    }

    @Test func `random trees of VAST elements never trap, and what is read of them holds together`() async throws {
        var random = SeededGenerator(for: "random trees")
        var batches = 0
        for _ in 0..<400 {
            await Task.yield()
            let ads = (0..<Int.random(in: 1...6, using: &random)).map { _ in self.randomAd(using: &random) }
            batches += self.check(Documents.vast(ads.joined()), "CUECAST_SEED=\(SeededGenerator.seed)") ? 1 : 0
        }
        #expect(batches > 40, "CUECAST_SEED=\(SeededGenerator.seed)")
    }

    private func randomAd(using random: inout SeededGenerator) -> String {
        func pick(_ choices: [String]) -> String { choices.randomElement(using: &random) ?? "" }
        let ad = Documents.ad(
            pick(["", "id='a'", "id='a-2'", "id=''"])
                + pick(["", " sequence='1'", " sequence='3'", " sequence='0'", " sequence='x'"]),
            duration: pick(["00:00:10", "00:00:30.5", "0", "00:00:00", "01:00:00"]),
            linearAttributes: pick(["", "skipoffset='5%'", "skipoffset='00:00:29'", "skipoffset='x'"]),
            media: pick([
                Documents.media, "", "<MediaFile apiFramework='VPAID'>https://cdn.example.com/a.js</MediaFile>",
            ]),
            inLinear: pick([
                "",
                "<TrackingEvents><Tracking event='progress' offset='50%'>https://a.example.com</Tracking></TrackingEvents>",
            ])
        )
        return pick([ad, ad, ad, Documents.wrapper("sequence='2'"), "<Ad/>"])
    }

    @Test func `time grows no faster than the document`() async {
        // Each is a shape that makes some reader take quadratic time or more; all are about a mebibyte.
        let shapes = [
            "<VAST>" + String(repeating: "<a>", count: 60) + String(repeating: "&amp;", count: 200_000),
            "<VAST>" + String(repeating: "<![CDATA[]]>", count: 85_000),
            "<VAST>" + String(repeating: "]]", count: 500_000),
            "<VAST>" + String(repeating: "<!---->", count: 140_000),
            "<VAST>" + String(repeating: "&", count: 1_000_000),
            "<VAST " + String(repeating: "a='&lt;&lt;&lt;&lt;' ", count: 40_000),
            "<VAST><![CDATA[" + String(repeating: "]", count: 1_000_000),
            "<VAST>" + String(repeating: "<a xmlns:b='c'/>", count: 32_000),
        ]
        let clock = ContinuousClock()
        for shape in shapes {
            await Task.yield()
            let bytes = Array(shape.utf8.prefix(1_048_576))
            let time = clock.measure { #expect(readingError(bytes) != nil) }
            // A debug build on a busy machine; quadratic time would be hours.
            #expect(time < .seconds(60), "\(shape.prefix(40))")
        }
    }
}
