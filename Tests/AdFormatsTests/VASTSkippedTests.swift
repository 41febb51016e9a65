// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// The parts that cannot be played, and their reports.
@Suite(.suiteLimit)
struct VASTSkippedTests {
    private func reason(_ ad: String) -> SkipReason? { skipReasons(Documents.vast(ad)).first }

    @Test func `a wrapper names its target`() {
        #expect(
            self.reason(Documents.wrapper(uri: " https://ads.example.com/n "))
                == .wrapper(adTagURI: "https://ads.example.com/n")
        )
        #expect(self.reason(Documents.wrapper(uri: "")) == .wrapper(adTagURI: nil))
        let old = "<Ad><Wrapper><VASTAdTagURL><URL>old.xml</URL></VASTAdTagURL></Wrapper></Ad>"
        #expect(self.reason(old) == .wrapper(adTagURI: "old.xml"))
    }

    @Test func `an ad must be one thing`() {
        #expect(self.reason("<Ad/>") == .notOneAd(inLines: 0, wrappers: 0))
        #expect(self.reason("<Ad><InLine/><Wrapper/></Ad>") == .notOneAd(inLines: 1, wrappers: 1))
        #expect(self.reason("<Ad><InLine/><InLine/></Ad>") == .notOneAd(inLines: 2, wrappers: 0))
    }

    @Test(arguments: ["true", "1", "TRUE", " true "])
    func `a conditional ad is skipped`(value: String) {
        #expect(self.reason(Documents.ad("conditionalAd='\(value)'")) == .conditional)
    }

    @Test func `an ad without a linear creative is skipped`() {
        #expect(self.reason("<Ad><InLine><AdTitle>T</AdTitle></InLine></Ad>") == .noLinear)
        #expect(
            self.reason("<Ad><InLine><Creatives><Creative><NonLinearAds/></Creative></Creatives></InLine></Ad>")
                == .noLinear
        )
    }

    @Test func `media that runs code in the player is left out, and an ad of nothing else is skipped`() throws {
        #expect(self.reason(Documents.vpaid()) == .needsFramework("VPAID"))
        let simid =
            "<InteractiveCreativeFile apiFramework='SIMID' type='text/html'>https://cdn.example.com/i.html</InteractiveCreativeFile>"
        #expect(self.reason(Documents.ad(media: simid)) == .needsFramework("SIMID"))
        let flash = "<MediaFile type='application/x-shockwave-flash'>https://cdn.example.com/a.swf</MediaFile>"
        #expect(self.reason(Documents.ad(media: flash)) == .needsFramework("application/x-shockwave-flash"))
        let ad = try Documents.onlyAd(Documents.ad(media: flash + Documents.media))
        #expect(ad.mediaFiles.count == 1)
        #expect(ad.leftOut.map(\.reason) == [.executable(type: "application/x-shockwave-flash")])
    }

    @Test(arguments: ["VAST", "vast", "", " ", "none", "MRAID", "OMID"])
    func `a media file that names a framework which runs no code can be played`(framework: String) throws {
        let file = "<MediaFile type='video/mp4' apiFramework='\(framework)'>https://cdn.example.com/a.mp4</MediaFile>"
        let ad = try Documents.onlyAd(Documents.ad(media: file))
        #expect(ad.mediaFiles.map(\.url) == ["https://cdn.example.com/a.mp4"])
        #expect(ad.leftOut == [])
    }

    @Test(arguments: ["VPAID", "vpaid", " VPAID ", "VPAID 2.0", "SIMID", "simid/1.1", "JavaScript", "Flash"])
    func `a media file whose framework runs code is left out, whatever its type is`(framework: String) throws {
        let file = "<MediaFile type='video/mp4' apiFramework='\(framework)'>https://cdn.example.com/a.mp4</MediaFile>"
        let ad = try Documents.onlyAd(Documents.ad(media: file + Documents.media))
        #expect(ad.mediaFiles.map(\.type) == ["audio/mpeg"])
        #expect(ad.leftOut.map(\.reason) == [.needsFramework(framework.trimmingWhitespace)])
        #expect(self.reason(Documents.ad(media: file)) == .needsFramework(framework.trimmingWhitespace))
    }

    private func creative(_ framework: String, media: String) -> String {
        """
        <Ad><InLine><Creatives><Creative apiFramework="\(framework)"><Linear><Duration>00:00:15</Duration>
        <MediaFiles>\(media)</MediaFiles></Linear></Creative></Creatives></InLine></Ad>
        """
    }

    @Test func `a creative's framework refuses only those of its media files that need it`() throws {
        let scripted = "<MediaFile type='text/x-unity'>https://cdn.example.com/a.unity</MediaFile>"
        let named = "<MediaFile type='video/mp4' apiFramework='VPAID'>https://cdn.example.com/b.mp4</MediaFile>"
        let streamed = "<MediaFile type='application/vnd.apple.mpegurl'>https://cdn.example.com/c.m3u8</MediaFile>"
        let ad = try Documents.onlyAd(self.creative("VPAID", media: scripted + named + Documents.media + streamed))
        #expect(ad.mediaFiles.map(\.type) == ["audio/mpeg", "application/vnd.apple.mpegurl"])
        #expect(ad.leftOut.map(\.reason) == [.needsFramework("VPAID"), .needsFramework("VPAID")])
    }

    @Test func `of a creative that needs a framework nothing is played where no file is plain media`() {
        let scripted = "<MediaFile>https://cdn.example.com/a</MediaFile>"
        #expect(self.reason(self.creative("VPAID", media: scripted)) == .needsFramework("VPAID"))
        #expect(self.reason(self.creative("VAST", media: Documents.media)) == nil)
    }

    @Test func `an ad without media that can be used is skipped`() {
        #expect(self.reason(Documents.ad(media: "")) == .noMediaFile)
        let files = "<MediaFile type='audio/mpeg'/><MediaFile type='audio/mpeg'>a.mp3</MediaFile>"
        let expected = SkipReason.noUsableMediaFile([
            LeftOut(part: "MediaFile", line: 5, reason: .noURL),
            LeftOut(part: "MediaFile", line: 5, reason: .unusableURL("a.mp3")),
        ])
        #expect(self.reason(Documents.ad(media: files)) == expected)
    }

    @Test func `an ad must say how long it plays`() {
        #expect(self.reason(Documents.ad(duration: nil)) == .noDuration)
        #expect(self.reason(Documents.ad(duration: " ")) == .noDuration)
        #expect(self.reason(Documents.ad(duration: "30")) == nil)
        #expect(self.reason(Documents.ad(duration: "00:00:30.0400000")) == nil)
        #expect(self.reason(Documents.ad(duration: "half a minute")) == .unusableDuration("half a minute", line: 4))
        #expect(self.reason(Documents.ad(duration: "0")) == .unusableDuration("0", line: 4))
        #expect(self.reason(Documents.ad(duration: "00:00:00.000")) == .unusableDuration("00:00:00.000", line: 4))
        #expect(self.reason(Documents.ad(duration: "00:00:00.001")) == nil)
    }

    @Test func `a sentence names the ad, the place and the reason`() {
        let document = Documents.vast(
            Documents.wrapper("id='next'"),
            Documents.vpaid(title: "Click &amp; win"),
            Documents.ad("id='b'", title: "B", media: "<MediaFile>a.mp3</MediaFile>")
        )
        #expect(
            readingError(document)?.description == """
                The document has no ad that can be played.
                Ad 1 with the id “next” on line 2 is a wrapper; the ad itself must first be fetched from “https://ads.example.com/next”.
                Ad 2 “Click & win” on line 5 plays only with “VPAID”, which runs code in the player.
                Ad 3 “B” with the id “b” on line 9 has no media file that can be used: MediaFile on line 12 has a URL that is not an \
                absolute http or https address: “a.mp3”.
                """
        )
    }

    @Test func `a skipped ad keeps what to call, with the code to tell`() throws {
        let error = "<Error>https://track.example.com/e?[ERRORCODE]</Error>"
        let batch = try VAST.read(
            Documents.vast(Documents.ad(duration: "x", inInLine: error), Documents.wrapper(), Documents.ad())
        )
        #expect(
            batch.skipped.map(\.errorURLs) == [
                ["https://track.example.com/e?[ERRORCODE]"], ["https://track.example.com/wrapper-error"],
            ]
        )
        #expect(batch.skipped.map(\.reason.vastErrorCode) == [101, 300])
    }

    @Test func `every reason has a sentence and a code of the specification`() {
        let reasons: [SkipReason] = [
            .wrapper(adTagURI: "u"), .wrapper(adTagURI: nil), .notOneAd(inLines: 0, wrappers: 0),
            .notOneAd(inLines: 1, wrappers: 2), .conditional, .noLinear, .noMediaFile, .needsFramework("f"),
            .noUsableMediaFile([]), .noDuration, .unusableDuration("d", line: 1), .tooLong(milliseconds: 2, maximum: 1),
            .tooManyTrackers(found: 2, maximum: 1), .notNeeded,
        ]
        let codes = [300, 300, 101, 101, 408, 201, 401, 403, 403, 101, 101, 202, 900, nil]
        #expect(reasons.map(\.vastErrorCode) == codes)
        #expect(Set(reasons.map(\.description)).count == reasons.count)
    }
}

extension String {
    fileprivate var trimmingWhitespace: String {
        String(self.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
