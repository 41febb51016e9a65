// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Foundation
import Testing

/// Documents that give no batch at all.
@Suite(.suiteLimit)
struct VASTErrorTests {
    @Test func `a document without an ad says so, and whom to tell`() {
        let error = readingError(
            "<VAST version='4.3'><Error>https://a.example.com/e</Error><Error>b</Error></VAST>".utf8
        )
        #expect(error == .noAds(errorURLs: ["https://a.example.com/e"]))
        #expect(error?.description == "The document has no ad." && error?.vastErrorCode == 303)
    }

    @Test func `the error addresses of a document with ads are kept`() throws {
        let batch = try VAST.read(
            Documents.vast(Documents.ad(), before: "<Error>https://a.example.com/e</Error><Error>b</Error>")
        )
        #expect(batch.errorURLs == ["https://a.example.com/e"])
        #expect(batch.leftOut == [LeftOut(part: "Error", line: 2, reason: .unusableURL("b"))])
    }

    @Test(arguments: [
        ("<vmap:VMAP xmlns:vmap='http://www.iab.net/videosuite/vmap' version='1.0'/>", "VMAP", "timetable of breaks"),
        ("<DAAST version='1.0'/>", "DAAST", "became part of VAST 4.1"),
        ("<rss/>", "rss", "outermost element is “rss”"),
        ("<vast version='4.0'/>", "vast", "outermost element is “vast”"),
    ])
    func `another format is named`(text: String, root: String, words: String) {
        let error = readingError(text.utf8)
        #expect(error == .notVAST(root: root))
        #expect(error?.description.contains(words) ?? false)
    }

    @Test func `VAST 1 is known by its outermost element`() {
        #expect(readingError("<VideoAdServingTemplate/>".utf8) == .unsupportedVersion("1.x"))
    }

    @Test func `a fault in the XML names line and column`() {
        let error = readingError("<VAST version='4.0'>\n <Ad>\n  <Error>http://a/?b=1&c=2</Error></Ad></VAST>".utf8)
        #expect(
            error?.description == """
                The document is not well-formed XML: line 3, column 23: “&” that begins no reference; write &amp; or put the \
                text into a CDATA section.
                """
        )
    }

    @Test func `a truncated document is refused wherever it ends`() async {
        let document = Documents.vast(Documents.ad("id='a' sequence='1'"))
        for length in 0..<document.count {
            await Task.yield()
            #expect(readingError(document.prefix(length)) != nil)
        }
    }

    @Test func `any sequence of bytes will do`() throws {
        let document = Documents.vast(Documents.ad())
        #expect(try VAST.read(document) == VAST.read(AnySequence(document)))
    }

    @Test func `every error has a sentence and those of whole documents a code`() {
        let errors: [AdFormatError] = [
            .malformed(fault: "f", line: 1, column: 2), .unsupportedEncoding("e"), .tooLarge(limit: "l", maximum: 1),
            .notVAST(root: "r"), .notVAST(root: "VMAP"), .notVAST(root: "DAAST"), .unsupportedVersion("9"),
            .noAds(errorURLs: []), .nothingPlayable([]),
        ]
        #expect(errors.map(\.vastErrorCode) == [100, 100, 900, 101, 101, 101, 102, 303, nil])
        #expect(Set(errors.map(\.description)).count == errors.count)
        #expect(
            errors.map(\.localizedDescription) == errors.map(\.description),
            "also where it is only known as an error"
        )
    }

    @Test func `every reason for skipping has a sentence`() {
        let reasons: [SkipReason] = [
            .wrapper(adTagURI: "https://a.example"), .wrapper(adTagURI: nil), .notOneAd(inLines: 0, wrappers: 0),
            .notOneAd(inLines: 2, wrappers: 1), .conditional, .noLinear, .noMediaFile, .needsFramework("VPAID"),
            .noUsableMediaFile([]), .noDuration, .unusableDuration("x", line: 1), .tooLong(milliseconds: 2, maximum: 1),
            .tooManyTrackers(found: 2, maximum: 1), .notNeeded,
        ]
        let sentences = reasons.map(\.localizedDescription)
        #expect(Set(sentences).count == reasons.count)
        for sentence in sentences { #expect(sentence.hasPrefix("The ad ") && sentence.hasSuffix("."), "\(sentence)") }
    }

    @Test func `which limit was passed is a value to switch on`() {
        #expect(AdFormatError.tooLarge(limit: "adsMax", maximum: 64).limit == .adsMax)
        #expect(AdFormatError.tooLarge(limit: "l", maximum: 1).limit == nil)
        #expect(AdFormatError.notVAST(root: "adsMax").limit == nil)
        #expect(LeftOut.Reason.pastLimit(name: "mediaFilesPerAdMax", maximum: 32).limit == .mediaFilesPerAdMax)
        #expect(LeftOut.Reason.urlTooLong(maximum: 1).limit == .urlBytesMax)
        #expect(LeftOut.Reason.shortened(maximum: 1).limit == .textBytesMax)
        #expect(LeftOut.Reason.noURL.limit == nil)
        let names = Mirror(reflecting: AdFormatLimits()).children.compactMap(\.label)
        #expect(AdFormatLimits.Name.allCases.map(\.rawValue) == names)
    }

    @Test func `which other format it is is a value to switch on`() {
        let roots = ["VMAP", "DAAST", "rss"]
        #expect(roots.map { AdFormatError.notVAST(root: $0).otherFormat } == [.vmap, .daast, nil])
        #expect(AdFormatError.noAds(errorURLs: []).otherFormat == nil)
    }
}
