// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// The order of ads (VAST 4.3 section 3.3.1).
@Suite(.suiteLimit)
struct VASTPodTests {
    private let all = VASTReadingOptions(allStandAlone: true)

    @Test func `ads of a pod play in the order of their numbers`() throws {
        let batch = try VAST.read(
            Documents.vast(
                Documents.ad("id='c' sequence='10'"),
                Documents.ad("id='a' sequence='2'"),
                Documents.ad("id='b' sequence='9'")
            )
        )
        #expect(batch.ads.map(\.id) == ["a", "b", "c"])
        #expect(batch.ads.map(\.sequence) == [2, 9, 10])
    }

    @Test func `ads with the same number play in document order`() throws {
        let batch = try VAST.read(
            Documents.vast(
                Documents.ad("id='a' sequence='1'"),
                Documents.ad("id='z' sequence='1'"),
                Documents.ad("id='b' sequence='1'")
            )
        )
        #expect(batch.ads.map(\.id) == ["a", "z", "b"])
    }

    @Test func `a place of 0 comes before 1`() throws {
        let batch = try VAST.read(
            Documents.vast(Documents.ad("id='one' sequence='1'"), Documents.ad("id='zero' sequence='0'"))
        )
        #expect(batch.ads.map(\.id) == ["zero", "one"])
    }

    @Test(arguments: ["-1", "first", "1.5", "99999999999999999999"])
    func `a place that is no number makes a stand-alone ad and is noted`(sequence: String) throws {
        let ad = try Documents.onlyAd(Documents.ad("sequence='\(sequence)'"))
        #expect(ad.sequence == nil)
        #expect(
            ad.leftOut.map(\.description) == [
                "Ad@sequence on line 2 has a value that is not valid there: “\(sequence)”."
            ]
        )
    }

    @Test func `stand-alone ads beside a pod are not played, and said to be not needed`() throws {
        let document = Documents.vast(
            Documents.ad("id='spare'"),
            Documents.ad("id='a' sequence='1'"),
            Documents.ad("id='spare too'")
        )
        for options in [VASTReadingOptions(), self.all] {
            let batch = try VAST.read(document, options: options)
            #expect(batch.ads.map(\.id) == ["a"])
            #expect(batch.skipped.map(\.documentID) == ["spare", "spare too"])
            #expect(batch.skipped.map(\.reason) == [.notNeeded, .notNeeded])
        }
    }

    @Test func `a pod ad that cannot be played is replaced by the next stand-alone ad that can`() throws {
        let batch = try VAST.read(
            Documents.vast(
                Documents.wrapper("id='spare wrapper'"),
                Documents.vpaid("id='one' sequence='1'"),
                Documents.ad("id='two' sequence='2'"),
                Documents.ad("id='spare'"),
                Documents.wrapper("id='three' sequence='3'"),
                Documents.vpaid("id='four' sequence='4'"),
                Documents.ad("id='spare too'")
            )
        )
        #expect(batch.ads.map(\.id) == ["spare", "two", "spare too"])
        #expect(batch.ads.map(\.sequence) == [1, 2, 3])
        #expect(batch.skipped.map(\.documentID) == ["spare wrapper", "one", "three", "four"])
        #expect(batch.skipped.map(\.replacedBy) == [nil, "spare", "spare too", nil])
    }

    @Test func `a pod of which nothing can be played and nothing can be replaced is refused`() {
        let error = readingError(
            Documents.vast(Documents.vpaid("id='a' sequence='1'"), Documents.wrapper("id='b' sequence='2'"))
        )
        guard case .nothingPlayable(let skipped) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(skipped.map(\.documentID) == ["a", "b"])
    }

    @Test func `without a pod the first ad that can be played is the batch`() throws {
        let document = Documents.vast(
            Documents.vpaid("id='a'"),
            Documents.ad("id='b'"),
            Documents.ad("id='c'"),
            Documents.wrapper("id='d'")
        )
        let batch = try VAST.read(document)
        #expect(batch.ads.map(\.id) == ["b"])
        #expect(batch.skipped.map(\.documentID) == ["a", "c", "d"])
        #expect(batch.skipped[1].reason == .notNeeded)
    }

    @Test func `without a pod all ads that can be played are the batch where that is asked for`() throws {
        let document = Documents.vast(
            Documents.ad("id='b'"),
            Documents.vpaid("id='a'"),
            Documents.ad("id='c'")
        )
        let batch = try VAST.read(document, options: self.all)
        #expect(batch.ads.map(\.id) == ["b", "c"])
        #expect(batch.ads.map(\.sequence) == [nil, nil])
        #expect(batch.skipped.map(\.documentID) == ["a"])
    }

    @Test func `the sequence of creatives makes no pod`() throws {
        let second = """
            <Creative sequence='1'><Linear><Duration>00:00:07</Duration><MediaFiles>\(Documents.media)</MediaFiles></Linear></Creative>
            """
        let ad = try Documents.onlyAd(Documents.ad(inCreatives: second))
        // The creative with a number comes before the one without.
        #expect(ad.durationMilliseconds == 7_000 && ad.sequence == nil)
        #expect(ad.leftOut.map(\.reason) == [.anotherCameFirst])
    }

    @Test func `a creative that cannot be played leaves its place to the next one`() throws {
        let second =
            "<Creative><Linear><Duration>00:00:07</Duration><MediaFiles>\(Documents.media)</MediaFiles></Linear></Creative>"
        let ad = try Documents.onlyAd(Documents.ad(duration: nil, inCreatives: second))
        #expect(ad.durationMilliseconds == 7_000)
    }

    @Test func `ids are made unique in document order, whatever the options`() throws {
        let document = Documents.vast(
            Documents.ad("id='a'"),
            Documents.ad("id='a'"),
            Documents.ad("id='a-2'"),
            Documents.ad(),
            Documents.ad("id='a'")
        )
        #expect(try VAST.read(document, options: self.all).ads.map(\.id) == ["a", "a-2", "a-2-2", "ad-4", "a-3"])
        #expect(try VAST.read(document).ads.map(\.id) == ["a"])
    }

    @Test func `an id is the first of what identifies the ad`() throws {
        func id(attributes: String = "", serving: String = "", creative: String = "", universal: String = "") throws
            -> String
        {
            let ad = """
                <Ad \(attributes)><InLine><AdServingId>\(serving)</AdServingId><Creatives><Creative \(creative)>
                <UniversalAdId>\(universal)</UniversalAdId><Linear><Duration>00:00:15</Duration>
                <MediaFiles>\(Documents.media)</MediaFiles></Linear></Creative></Creatives></InLine></Ad>
                """
            return try Documents.onlyAd(ad).id
        }
        #expect(try id(attributes: "id=' a '", serving: "s", creative: "AdID='c'", universal: "u") == "a")
        #expect(try id(attributes: "id=''", serving: "s", creative: "AdID='c'", universal: "u") == "s")
        #expect(try id(creative: "AdID='c'", universal: "u") == "c")
        #expect(try id(creative: "adId='c'", universal: "u") == "c")
        #expect(try id(universal: "u") == "u")
        #expect(try id(universal: "unknown") == "ad-1")
        #expect(try id() == "ad-1")
    }
}
