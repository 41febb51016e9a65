// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Foundation
import Testing

/// Documents of other authors.
@Suite(.suiteLimit, .enabled(if: Places.hasSamples, "the sample documents are not here"))
struct VASTSamplesTests {
    private let all = VASTReadingOptions(allStandAlone: true)

    private func read(_ bytes: [UInt8]) -> Result<AdBatch, AdFormatError> {
        do throws(AdFormatError) {
            return .success(try VAST.read(bytes, options: self.all))
        } catch {
            return .failure(error)
        }
    }

    /// Where this reader and vast-client-js differ, and what the specification says.
    private static let differences: [String: [String: String]] = [
        "empty-no-creative.xml": [
            "ads": "3.4: the Ad is there, although it cannot be played; it is named among the skipped ones",
            "ad 1 title": "as above", "ad 1 errors": "as above",
        ],
        "sample.xml": [
            "ad 1 media": "3.9.1: a MediaFile with an apiFramework needs VPAID, which runs code in the player"
        ],
    ]

    @Test func `two readers find the same in every document, but for the differences that are settled`() throws {
        let other = try OtherReader.load()
        #expect(other.files.count == 16)
        for file in other.files {
            let name = String(file.file.dropFirst("dailymotion/".count))
            let bytes = [UInt8](try Data(contentsOf: Places.samples.appending(path: "vast/\(file.file)")))
            let result = self.read(bytes)
            let ours = Facts(result)
            let theirs = file.facts(ofPlayable: Set((try? result.get())?.playedPositions ?? []))
            let differing = Set(ours.keys).union(theirs.keys).filter { ours[$0] ?? "" != theirs[$0] ?? "" }
            let settled = Set((Self.differences[name] ?? [:]).keys)
            for fact in differing.subtracting(settled) {
                Issue.record("\(name): \(fact): here \(ours[fact] ?? "nothing"), there \(theirs[fact] ?? "nothing")")
            }
            #expect(settled.isSubset(of: differing), "\(name) no longer differs in \(settled.subtracting(differing))")
        }
    }

    @Test(
        arguments: [
            ("inline-linear.xml", ["20001"], []), ("sample.xml", ["ad_id_0001"], [.needsFramework("VPAID")]),
            ("empty-no-creative.xml", [], [.noLinear]), ("vpaid.xml", [], [.needsFramework("VPAID")]),
            ("vpaid2.xml", [], [.needsFramework("application/x-shockwave-flash")]),
            ("wrapper-a.xml", [], [.wrapper(adTagURI: "wrapper-b.xml"), .wrapper(adTagURI: "vpaid.xml")]),
            ("wrapper-legacy.xml", [], [.wrapper(adTagURI: "inline-linear.xml")]),
            (
                "wrapper-multiple-ads.xml", [],
                ["sample.xml", "vpaid.xml", "inline-linear.xml", "vpaid2.xml"].map { .wrapper(adTagURI: $0) }
            ),
        ] as [(String, [String], [SkipReason])]
    )
    func `playable and unplayable media`(name: String, ids: [String], reasons: [SkipReason]) throws {
        let bytes = [UInt8](try Data(contentsOf: Places.samples.appending(path: "vast/dailymotion/\(name)")))
        #expect(((try? self.read(bytes).get())?.ads ?? []).map(\.id) == ids)
        #expect(skipReasons(bytes, options: self.all) == reasons)
    }

    @Test(arguments: [
        ("empty-no-ad.xml", AdFormatError.noAds(errorURLs: ["http://example.com/empty-no-ad"])),
        ("outdated-vast.xml", .unsupportedVersion("1.x")),
        ("invalid-xmlfile.xml", .malformed(fault: "text outside the outermost element", line: 1, column: 1)),
    ])
    func `documents without a batch`(name: String, expected: AdFormatError) throws {
        let bytes = [UInt8](try Data(contentsOf: Places.samples.appending(path: "vast/dailymotion/\(name)")))
        #expect(readingError(bytes) == expected)
    }

    /// Counted with another XML library.
    private static let sets:
        [(name: String, ids: [String], milliseconds: Int, media: Int, tracking: Int, companions: Int)] = [
            ("dash-alt-mpd__vast-sample.xml", ["5925573263"], 10_000, 6, 15, 2),
            ("sample-ad-click__vast-sample.xml", ["5925573263", "5925573264"], 10_000, 6, 21, 2),
            ("sample-ad-signaling__vast-sample.xml", ["5925573263", "5925573264"], 10_000, 6, 21, 2),
            ("sample-api-jwt__vast-sample.xml", ["5925573263"], 10_000, 6, 15, 2),
            ("sample-vast-set__vast_01_15s.xml", ["111"], 15_000, 3, 15, 0),
            ("sample-vast-set__vast_02_30s.xml", ["222"], 30_000, 3, 15, 0),
            ("sample-vast-set__vast_03_30s.xml", ["333"], 30_000, 3, 15, 0),
            ("sample-vast-set__vast_04_15s.xml", ["444"], 15_000, 3, 15, 0),
            ("sample-vast-set__vast_05_15s.xml", ["888"], 15_000, 3, 15, 0),
            ("sample-vast-set__vast_06-7_30s.xml", ["666", "777"], 15_000, 3, 15, 0),
            ("sample-vast-set__vast_08_15s.xml", ["888"], 15_000, 3, 15, 0),
            ("sample-vast-set__vast_09_15s.xml", ["999"], 15_000, 3, 15, 0),
        ]

    @Test func `the sets of a streaming workshop are read whole`() throws {
        let documents = try Places.documents(in: "sgai").filter { $0.name.hasSuffix(".xml") }
        #expect(documents.map(\.name) == Self.sets.map(\.name))
        for (document, expected) in zip(documents, Self.sets) {
            let batch = try VAST.read(document.bytes, options: self.all)
            #expect(batch.ads.map(\.id) == expected.ids, "\(document.name)")
            #expect(batch.skipped.isEmpty)
            for ad in batch.ads {
                #expect(ad.durationMilliseconds == expected.milliseconds)
                #expect(ad.mediaFiles.count == expected.media && ad.impressions.count == 1 && ad.errorURLs.count == 1)
                #expect(ad.trackingEvents.count == expected.tracking && ad.companions.count == expected.companions)
                #expect(ad.clickThrough != nil)
                #expect(ad.leftOut.isEmpty, "\(document.name): \(ad.leftOut)")
            }
            // Not one Ad has a sequence, so that without being asked for all the batch is the first.
            #expect(try VAST.read(document.bytes).ads.map(\.id) == [expected.ids[0]])
        }
    }

    @Test func `timetables of breaks are told apart from VAST`() throws {
        for document in try Places.documents(in: "vmap") {
            let error = readingError(document.bytes)
            #expect(
                error?.vastErrorCode == 101 || error?.vastErrorCode == 100,
                "\(document.name): \(String(describing: error))"
            )
        }
    }
}
