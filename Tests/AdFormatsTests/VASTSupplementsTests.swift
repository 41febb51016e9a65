// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// The parts of an ad that are for others than the player.
@Suite(.suiteLimit)
struct VASTSupplementsTests {
    private static func verification(_ vendor: String, parameters: String = "", resources: Int = 1) -> String {
        let code = String(
            repeating:
                "<JavaScriptResource apiFramework='omid' browserOptional='true'>https://v.example/a.js</JavaScriptResource>",
            count: resources
        )
        return """
            <Verification vendor="\(vendor)">\(code)
            <TrackingEvents><Tracking event="verificationNotExecuted">https://v.example/no?[REASON]</Tracking></TrackingEvents>
            <VerificationParameters><![CDATA[\(parameters)]]></VerificationParameters></Verification>
            """
    }

    private static func icon(_ program: String, _ attributes: String = "") -> String {
        """
        <Icon program="\(program)" width="60" height="20px" \(attributes)>
        <StaticResource creativeType="image/png">https://i.example/\(program).png</StaticResource>
        <IconClicks><IconClickThrough>https://i.example/about</IconClickThrough>
        <IconClickTracking>https://i.example/click</IconClickTracking></IconClicks>
        <IconViewTracking>https://i.example/view</IconViewTracking></Icon>
        """
    }

    @Test func `all parts are read`() throws {
        let media = """
            <ClosedCaptionFiles><ClosedCaptionFile type="text/vtt" language="zh-TW">https://c.example/a.vtt</ClosedCaptionFile>
            <ClosedCaptionFile>https://c.example/b</ClosedCaptionFile></ClosedCaptionFiles>
            \(Documents.media)
            <Mezzanine delivery="progressive" type="video/mp4" width="3840" height="2160" codec="h264">https://m.example/a.mp4</Mezzanine>
            """
        let viewable = """
            <ViewableImpression><Viewable>https://t.example/v</Viewable><Viewable>https://t.example/v2</Viewable>
            <NotViewable>https://t.example/n</NotViewable><ViewUndetermined>https://t.example/u</ViewUndetermined></ViewableImpression>
            """
        let ad = try Documents.onlyAd(
            Documents.ad(
                media: media,
                inLinear:
                    "<Icons>\(Self.icon("AdChoices", "xPosition='right' yPosition='12' offset='00:00:01' duration='00:00:05'"))</Icons>",
                inInLine: """
                    \(viewable)<AdServingId>serving-1</AdServingId>
                    <AdVerifications>\(Self.verification("a.com-omid", parameters: "{\"k\": 1}"))
                    <Verification vendor="b.com"><ExecutableResource type="application/zip" apiFramework="x">https://v.example/b</ExecutableResource>
                    </Verification></AdVerifications>
                    """
            )
        )
        #expect(ad.leftOut.isEmpty)
        #expect(ad.adServingID == "serving-1")
        #expect(ad.verifications.map(\.vendor) == ["a.com-omid", "b.com"])
        #expect(ad.verifications.map(\.parameters) == ["{\"k\": 1}", nil])
        #expect(ad.verifications[0].notExecuted.map(\.url) == ["https://v.example/no?[REASON]"])
        #expect(
            ad.verifications[0].resources[0].isBrowserOptional && ad.verifications[0].resources[0].kind == .javaScript
        )
        #expect(ad.verifications[1].resources[0].kind == .executable(type: "application/zip"))
        #expect(ad.verifications.map(\.resources[0].apiFramework) == ["omid", "x"])
        #expect(
            ad.viewability.map { "\($0.event) \($0.url.suffix(2))" } == [
                "viewable /v", "viewable v2", "notViewable /n", "viewUndetermined /u",
            ]
        )
        let icon = try #require(ad.icons.first)
        #expect(icon.program == "AdChoices" && icon.xPosition == "right" && icon.yPosition == "12")
        #expect(icon.width == 60 && icon.height == 20)
        #expect(icon.offsetMilliseconds == 1_000 && icon.durationMilliseconds == 5_000)
        #expect(icon.clickThrough == "https://i.example/about" && icon.clickTracking.count == 1)
        #expect(ad.captionFiles.map(\.language) == ["zh-TW", nil] && ad.captionFiles.map(\.type) == ["text/vtt", ""])
        #expect(ad.mezzanines.map(\.width) == [3_840] && ad.mezzanines.map(\.codec) == ["h264"])
        #expect(ad.mediaFiles.count == 1, "captions and mezzanines are not for playing")
        #expect(ad.trackers.filter { $0.event == "viewable" }.count == 2)
    }

    @Test func `verifications in the extension of earlier versions are read`() throws {
        let inExtension = """
            <Extensions><Extension type="AdVerifications"><AdVerifications>\(Self.verification("a.com"))</AdVerifications></Extension>
            <Extension type="other"><AdVerifications>\(Self.verification("b.com"))</AdVerifications></Extension></Extensions>
            """
        #expect(
            try Documents.onlyAd(Documents.ad(inInLine: inExtension)).verifications.map(\.vendor) == ["a.com"]
        )
    }

    @Test func `a part that cannot be used is left out with its reason`() throws {
        let limits = AdFormatLimits()
        func left(_ inInLine: String = "", inLinear: String = "", media: String = Documents.media) throws -> [String] {
            try Documents.onlyAd(Documents.ad(media: media, inLinear: inLinear, inInLine: inInLine)).leftOut
                .map { "\($0.part) \($0.reason)" }
        }
        func verifications(_ text: String) -> String { "<AdVerifications>\(text)</AdVerifications>" }
        #expect(try left(verifications("<Verification vendor='a'/>")) == ["Verification has no address of code"])
        let longest = String(repeating: "p", count: limits.verificationParametersBytesMax)
        #expect(try left(verifications(Self.verification("a", parameters: longest))).isEmpty)
        #expect(
            try left(verifications(Self.verification("a", parameters: longest + "p")))
                == ["Verification has parameters of more than 8192 bytes (verificationParametersBytesMax)"]
        )
        #expect(
            try left(verifications(Self.verification("a", parameters: "\u{7F}")))
                .allSatisfy { $0.hasPrefix("Verification has a value that is not valid there") }
        )
        #expect(
            try left(inLinear: "<Icons>\(Self.icon("a", "xPosition='middle' duration='soon'"))</Icons>") == [
                "Icon@xPosition has a value that is not valid there: “middle”",
                "Icon@duration has the offset “soon”, which is neither HH:MM:SS nor a percentage",
            ]
        )
    }

    @Test(
        arguments: [
            ("universalIDsPerAdMax", 8), ("iconsPerAdMax", 8), ("verificationsPerAdMax", 16),
            ("resourcesPerVerificationMax", 8), ("captionFilesPerAdMax", 32), ("mezzaninesPerAdMax", 8),
        ]
    )
    func `so many are taken, and one more is left out`(limit: String, maximum: Int) throws {
        for (count, isPast) in [(maximum, false), (maximum + 1, true)] {
            func many(_ text: String) -> String { String(repeating: text, count: count) }
            let document =
                switch limit {
                case "universalIDsPerAdMax":
                    Documents.ad()
                        .replacing(
                            "</Linear>",
                            with: "</Linear>" + many("<UniversalAdId idRegistry='r'>v</UniversalAdId>")
                        )
                case "iconsPerAdMax": Documents.ad(inLinear: "<Icons>\(many(Self.icon("a")))</Icons>")
                case "verificationsPerAdMax":
                    Documents.ad(inInLine: "<AdVerifications>\(many(Self.verification("a")))</AdVerifications>")
                case "resourcesPerVerificationMax":
                    Documents.ad(
                        inInLine: "<AdVerifications>\(Self.verification("a", resources: count))</AdVerifications>"
                    )
                case "captionFilesPerAdMax":
                    Documents.ad(
                        media: Documents.media + "<ClosedCaptionFiles>"
                            + many("<ClosedCaptionFile>https://c.example/a</ClosedCaptionFile>")
                            + "</ClosedCaptionFiles>"
                    )
                default:
                    Documents.ad(
                        media: Documents.media
                            + many("<Mezzanine type='video/mp4'>https://m.example/a.mp4</Mezzanine>")
                    )
                }
            let ad = try Documents.onlyAd(document)
            let found = [
                ad.universalIDs.count, ad.icons.count, ad.verifications.count, ad.captionFiles.count,
                ad.mezzanines.count,
                ad.verifications.first?.resources.count ?? 0,
            ]
            #expect(found.contains(maximum) && found.allSatisfy { $0 <= maximum }, "\(found)")
            #expect(ad.leftOut.map(\.reason) == (isPast ? [.pastLimit(name: limit, maximum: maximum)] : []))
        }
    }

    @Test func `trackers of icons and verifications count with the others`() throws {
        let limits = AdFormatLimits()
        // One impression, and two for each icon.
        func document(clicks: Int) -> [UInt8] {
            let clicks = String(
                repeating: "<IconClickTracking>https://i.example/c</IconClickTracking>",
                count: clicks
            )
            return Documents.vast(
                Documents.ad(inLinear: "<Icons><Icon><IconClicks>\(clicks)</IconClicks></Icon></Icons>")
            )
        }
        #expect(try VAST.read(document(clicks: limits.trackersPerAdMax - 1)).ads.count == 1)
        #expect(throws: AdFormatError.self) { try VAST.read(document(clicks: limits.trackersPerAdMax)) }
    }

    @Test func `wrappers add theirs, and the icon of a programme that is closest to the ad is kept`() throws {
        let chain = Chain()
        func wrapper(_ name: String, icons: String) -> String {
            """
            <ViewableImpression><Viewable>https://t.example/\(name)</Viewable></ViewableImpression>
            <AdVerifications>\(Self.verification(name))</AdVerifications>
            <Creatives><Creative><Linear><Icons>\(icons)</Icons></Linear></Creative></Creatives>
            """
        }
        chain.serve(
            "first",
            Chain.wrapper("second", inWrapper: wrapper("outer", icons: Self.icon("A") + Self.icon("outer")))
        )
        chain.serve(
            "second",
            Chain.wrapper("third", inWrapper: wrapper("inner", icons: Self.icon("outer", "xPosition='7'")))
        )
        chain.serve(
            "third",
            Documents.ad(
                inLinear: "<Icons>\(Self.icon("a", "xPosition='1'"))</Icons>",
                inInLine: "<AdVerifications>\(Self.verification("own"))</AdVerifications>"
            )
        )
        let resolution = try #require(chain.resolve())
        let ad = try #require(resolution.taken.first?.ad)
        #expect(ad.verifications.map(\.vendor) == ["own", "outer", "inner"])
        #expect(
            resolution.documents.map { $0.leftOut.map { "\($0.part) \($0.reason)" } } == [
                // Those of one line are told once.
                ["Icon is not used, because another one came first"], [], [],
            ]
        )
        #expect(ad.viewability.map(\.url) == ["https://t.example/outer", "https://t.example/inner"])
        #expect(ad.icons.map(\.program) == ["a", "outer"])
        #expect(ad.icons.map(\.xPosition) == ["1", "7"])
    }

    @Test func `what wrappers add is bounded with what the ad has, and the rest is left out with its reason`() throws {
        let limits = AdFormatLimits()
        func ad(verifications: Int, icons: Int, programme: String) -> (inInLine: String, linear: String) {
            let verifications = (0..<verifications).map { Self.verification("\(programme)\($0)") }.joined()
            let icons = (0..<icons).map { Self.icon("\(programme)\($0)") }.joined()
            return ("<AdVerifications>\(verifications)</AdVerifications>", "<Icons>\(icons)</Icons>")
        }
        for more in [0, 1] {
            let chain = Chain()
            let own = ad(
                verifications: limits.verificationsPerAdMax - 2,
                icons: limits.iconsPerAdMax - 2,
                programme: "a"
            )
            let added = ad(verifications: 2 + more, icons: 2 + more, programme: "w")
            chain.serve(
                "first",
                Chain.wrapper(
                    "second",
                    inWrapper: added.inInLine
                        + "<Creatives><Creative><Linear>\(added.linear)</Linear></Creative></Creatives>"
                )
            )
            chain.serve("second", Documents.ad(inLinear: own.linear, inInLine: own.inInLine))
            let resolution = try #require(chain.resolve())
            let found = try #require(resolution.taken.first?.ad)
            #expect(found.verifications.count == limits.verificationsPerAdMax)
            #expect(found.icons.count == limits.iconsPerAdMax)
            #expect(
                resolution.documents[0].leftOut.map(\.reason)
                    == (more == 0
                        ? []
                        : [
                            .pastLimit(name: "verificationsPerAdMax", maximum: limits.verificationsPerAdMax),
                            .pastLimit(name: "iconsPerAdMax", maximum: limits.iconsPerAdMax),
                        ])
            )
        }
    }
}
