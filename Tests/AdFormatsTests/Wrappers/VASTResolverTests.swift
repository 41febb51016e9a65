// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// Following wrappers: which ads are taken, what they carry, and why each other ad is left.
@Suite(.suiteLimit)
struct VASTResolverTests {
    private static let linear = """
        <Creatives><Creative><Linear><TrackingEvents>
        <Tracking event="start">https://track.example.com/W/start</Tracking>
        <Tracking event="progress" offset="50%">https://track.example.com/W/half</Tracking></TrackingEvents>
        <VideoClicks><ClickTracking id="c">https://track.example.com/W/click</ClickTracking>
        <CustomClick>https://track.example.com/W/custom</CustomClick>
        <ClickThrough>https://www.example.com/W</ClickThrough></VideoClicks></Linear></Creative></Creatives>
        """

    private static func linear(_ name: String) -> String { self.linear.replacing("/W", with: "/\(name)") }

    @Test func `trackers of all wrappers are carried, the outermost first`() throws {
        let chain = Chain()
        chain.serve("first", Chain.wrapper("second", inWrapper: Self.linear("one")))
        chain.serve("second", Chain.wrapper("third", inWrapper: Self.linear("two")))
        let error = "<Error>https://a.example.com/e</Error>"
        chain.serve("third", Documents.ad("id='x'", duration: "00:00:20", inInLine: error))
        let resolution = try #require(chain.resolve())
        let ad = try #require(resolution.taken.first?.ad)
        #expect(resolution.left.isEmpty && resolution.documents.map(\.wrappers) == [0, 1, 2])
        let track = "https://track.example.com"
        #expect(ad.impressions.map(\.url) == ["\(track)/second", "\(track)/third", "\(track)/impression"])
        #expect(
            ad.trackingEvents.map(\.url) == [
                "\(track)/one/start", "\(track)/one/half", "\(track)/two/start", "\(track)/two/half",
            ]
        )
        // A part of the ad's own duration.
        #expect(ad.trackingEvents.map(\.offsetMilliseconds) == [nil, 10_000, nil, 10_000])
        #expect(ad.clickTracking.map(\.url) == ["\(track)/one/click", "\(track)/two/click"])
        #expect(ad.customClicks.map(\.url) == ["\(track)/one/custom", "\(track)/two/custom"])
        #expect(
            ad.errorURLs == [
                "\(track)/second/error?code=[ERRORCODE]", "\(track)/third/error?code=[ERRORCODE]",
                "https://a.example.com/e",
            ]
        )
        // The closest to the ad (section 2.3.5.2).
        #expect(ad.clickThrough == "https://www.example.com/two")
        #expect(ad.id == "x" && ad.sequence == nil)
    }

    @Test func `companions of the closest wrapper stand in where the ad has none`() throws {
        func companions(_ name: String) -> String {
            """
            <Creatives><Creative><CompanionAds><Companion width="300" height="250">
            <StaticResource creativeType="image/png">https://cdn.example.com/\(name).png</StaticResource>
            <TrackingEvents><Tracking event="creativeView">https://track.example.com/\(name)/view</Tracking></TrackingEvents>
            </Companion></CompanionAds></Creative></Creatives>
            """
        }
        let chain = Chain()
        chain.serve("first", Chain.wrapper("second", inWrapper: companions("one")))
        chain.serve("second", Chain.wrapper("third", inWrapper: companions("two")))
        chain.serve("third", Documents.ad())
        let banner = try #require(chain.resolve()?.taken.first?.ad.banner)
        #expect(banner.image?.url == "https://cdn.example.com/two.png")
        #expect(banner.trackingEvents.map(\.url) == ["https://track.example.com/two/view"])
    }

    @Test func `the ads of a pod and of the pods behind it play in order`() throws {
        let chain = Chain()
        chain.serve(
            "first",
            Chain.wrapper("pod", ad: "sequence='2'", "allowMultipleAds='true'"),
            Documents.ad("id='a' sequence='1'", title: "one"),
            Chain.wrapper("single", ad: "sequence='3'")
        )
        chain.serve(
            "pod",
            Documents.ad("id='a' sequence='2'", title: "three"),
            Documents.ad("sequence='1'", title: "two")
        )
        chain.serve("single", Documents.ad("sequence='1'", title: "four"))
        let resolution = try #require(chain.resolve())
        #expect(resolution.titles == ["one", "two", "three", "four"])
        #expect(resolution.taken.map(\.ad.sequence) == [1, 2, 3, 4])
        #expect(Set(resolution.taken.map(\.ad.id)).count == 4)
        #expect(chain.asked.count == 3)
    }

    @Test func `stand-alone ads are asked for one after the other, and only as long as they are needed`() throws {
        let chain = Chain()
        chain.serve("first", Chain.wrapper("empty"), Chain.wrapper("full"), Chain.wrapper("unneeded"))
        chain.serve("empty", before: "<Error>https://track.example.com/none?[ERRORCODE]</Error>")
        chain.serve("full", Documents.ad(title: "an ad"))
        let resolution = try #require(chain.resolve())
        #expect(resolution.titles == ["an ad"])
        #expect(chain.asked == ["first", "empty", "full"].map(Chain.address))
        #expect(resolution.reasons == ["noAds", "notNeeded"])
        // The wrapper's own first, and then the document's (section 2.3.6.4).
        #expect(
            resolution.errorURLs == [
                "https://track.example.com/empty/error?code=303", "https://track.example.com/none?303",
            ]
        )
        let all = try #require(chain.resolve(options: VASTReadingOptions(allStandAlone: true)))
        #expect(all.titles == ["an ad"] && all.reasons == ["noAds", "timedOut"])
    }

    @Test(arguments: [("", ["spare"]), ("fallbackOnNoAd='true'", ["spare"]), ("fallbackOnNoAd='false'", [])])
    func `fallbackOnNoAd decides whether another ad takes its place`(attribute: String, titles: [String]) throws {
        for place in ["", "sequence='1'"] {
            let chain = Chain()
            chain.serve("first", Chain.wrapper("gone", ad: place, attribute), Documents.ad(title: "spare"))
            let resolution = try #require(chain.resolve())
            #expect(resolution.titles == titles, "\(place)")
            #expect(resolution.reasons == (titles.isEmpty ? ["timedOut", "notNeeded"] : ["timedOut"]), "\(place)")
            #expect(resolution.errorURLs == ["https://track.example.com/gone/error?code=301"])
            let isReplaced = resolution.left.first?.replacedBy != nil
            #expect(isReplaced == (!titles.isEmpty && !place.isEmpty))
        }
    }

    @Test func `without allowMultipleAds only the first stand-alone ad is allowed`() throws {
        let chain = Chain()
        chain.serve("first", Chain.wrapper("next"))
        chain.serve("next", Documents.ad("sequence='1'"), Documents.ad(title: "only"), Documents.ad())
        var resolution = try #require(chain.resolve())
        #expect(resolution.titles == ["only"] && resolution.reasons == ["notTheOnlyOne", "notTheOnlyOne"])
        chain.serve("next", Documents.ad("sequence='1'"), Documents.ad("sequence='2'"))
        resolution = try #require(chain.resolve())
        #expect(resolution.titles.isEmpty && resolution.reasons == ["nothingTaken", "podNotAllowed", "podNotAllowed"])
        #expect(resolution.errorURLs == Array(repeating: "https://track.example.com/next/error?code=200", count: 2))
        chain.serve("next", Documents.vpaid(), Documents.ad())
        resolution = try #require(chain.resolve())
        #expect(resolution.titles.isEmpty)
        #expect(resolution.reasons == ["nothingTaken", "needsFramework", "notTheOnlyOne"])
        // Servers number a single ad too.
        chain.serve("next", Documents.ad("sequence='1'", title: "numbered"))
        #expect(chain.resolve()?.titles == ["numbered"])
    }

    @Test func `wrappers behind followAdditionalWrappers=false are ignored`() throws {
        let chain = Chain()
        chain.serve("first", Chain.wrapper("next", "followAdditionalWrappers='0'"))
        chain.serve("next", Chain.wrapper("more"))
        chain.serve("more", Documents.ad())
        let resolution = try #require(chain.resolve())
        #expect(resolution.titles.isEmpty && resolution.reasons == ["nothingTaken", "wrapperNotAllowed"])
        #expect(!chain.asked.contains(Chain.address("more")))
        #expect(
            resolution.errorURLs == ["next", "more"].map { "https://track.example.com/\($0)/error?code=300" }
        )
    }

    @Test func `a loop is found, and an address may be asked again on another way`() throws {
        let chain = Chain()
        chain.serve("first", Chain.wrapper("next"))
        chain.serve("next", Chain.wrapper("first"))
        var resolution = try #require(chain.resolve())
        #expect(resolution.reasons == ["nothingTaken", "loop"] && chain.asked.count == 2)
        chain.serve("first", Chain.wrapper("next", ad: "sequence='1'"), Chain.wrapper("next", ad: "sequence='2'"))
        chain.serve("next", Documents.ad(title: "twice"))
        resolution = try #require(chain.resolve())
        #expect(resolution.titles == ["twice", "twice"])
        #expect(Set(resolution.taken.map(\.ad.id)).count == 2)
    }

    @Test func `five wrappers are followed, and a sixth is not`() throws {
        let chain = Chain()
        for number in 0..<5 { chain.serve("\(number)", Chain.wrapper("\(number + 1)")) }
        chain.serve("5", Documents.ad(title: "deep"))
        #expect(chain.resolve("0")?.titles == ["deep"])
        chain.serve("5", Chain.wrapper("6"))
        chain.serve("6", Documents.ad())
        let resolution = try #require(chain.resolve("0"))
        #expect(resolution.left.last?.reason == .tooManyWrappers(maximum: 5))
        #expect(!chain.asked.contains(Chain.address("6")))
        // Each wrapper of the chain is told (section 2.3.5.1).
        #expect(resolution.errorURLs == (1...6).map { "https://track.example.com/\($0)/error?code=302" })
    }

    @Test func `as many addresses are asked as documentsMax allows, and no more`() throws {
        var limits = VASTResolutionLimits()
        #expect(limits.documentsMax == 32)
        limits.documentsMax = 3
        let chain = Chain()
        func serve(_ count: Int) {
            chain.serve("first", (1...count).map { Chain.wrapper("\($0)", ad: "sequence='\($0)'") }.joined())
            for number in 1...count { chain.serve("\(number)", Documents.ad(title: "\(number)")) }
        }
        serve(2)
        #expect(chain.resolve(limits: limits)?.titles == ["1", "2"])
        serve(3)
        let resolution = try #require(chain.resolve(limits: limits))
        #expect(resolution.titles == ["1", "2"])
        #expect(resolution.left.map(\.reason) == [.tooManyDocuments(maximum: 3)])
        limits.documentsMax = 1
        #expect(chain.resolve(limits: limits)?.taken.isEmpty == true)
    }

    @Test func `as many ads are taken as adsMax allows, and no more`() throws {
        var limits = VASTResolutionLimits()
        #expect(limits.adsMax == 64)
        limits.adsMax = 2
        let chain = Chain()
        chain.serve("first", Documents.ad("sequence='1'"), Documents.ad("sequence='2'"))
        #expect(chain.resolve(limits: limits)?.left.isEmpty == true)
        chain.serve("first", Documents.ad("sequence='1'"), Documents.ad("sequence='2'"), Documents.ad("sequence='3'"))
        let resolution = try #require(chain.resolve(limits: limits))
        #expect(resolution.taken.count == 2 && resolution.left.map(\.reason) == [.tooManyAds(maximum: 2)])
    }

    @Test func `an ad with more trackers than trackersPerAdMax, those of its wrappers among them, is left`() throws {
        func trackers(_ count: Int) -> String {
            let tracking = "<Tracking event='start'>https://a.example.com</Tracking>"
            let events = Array(repeating: tracking, count: count).joined()
            let linear = "<Linear><TrackingEvents>\(events)</TrackingEvents></Linear>"
            return "<Creatives><Creative>\(linear)</Creative></Creatives>"
        }
        let chain = Chain()
        // The ad has an impression, and the wrapper an impression and an error.
        chain.serve("first", Chain.wrapper("next", inWrapper: trackers(125)))
        chain.serve("next", Documents.ad())
        #expect(chain.resolve()?.taken.first?.ad.trackers.count == 128)
        chain.serve("first", Chain.wrapper("next", inWrapper: trackers(126)))
        let resolution = try #require(chain.resolve())
        #expect(
            resolution.left.map(\.reason) == [.nothingTaken, .unplayable(.tooManyTrackers(found: 129, maximum: 128))]
        )
        #expect(resolution.errorURLs == ["https://track.example.com/next/error?code=900"])
    }

    @Test func `an ad of a category that a wrapper blocks is left`() throws {
        let blocked = "<BlockedAdCategories authority='iab'>IAB1, IAB9-9</BlockedAdCategories>"
        let chain = Chain()
        chain.serve("first", Chain.wrapper("next", inWrapper: blocked))
        chain.serve("next", Documents.ad(inInLine: "<Category authority='iab'>IAB9-9</Category>"))
        let resolution = try #require(chain.resolve())
        #expect(resolution.left.last?.reason == .blockedCategory("IAB9-9"))
        #expect(resolution.errorURLs == ["https://track.example.com/next/error?code=205"])
        chain.serve("next", Documents.ad(inInLine: "<Category authority='other'>IAB9-9</Category>"))
        #expect(chain.resolve()?.taken.count == 1)
    }

    @Test(arguments: [
        ("", "noAddress", 300), ("about:blank", "noAddress", 300), ("ftp://a.example.com", "unusableAddress", 300),
        ("https://a.example.com/" + String(repeating: "x", count: 4_096), "addressTooLong", 300),
    ])
    func `a wrapper without a usable address is left`(address: String, name: String, code: Int) throws {
        let chain = Chain()
        chain.serve("first", Documents.wrapper(uri: address), Documents.ad(title: "next"))
        let resolution = try #require(chain.resolve())
        #expect(resolution.titles == ["next"] && resolution.reasons == [name])
        #expect(resolution.left.first?.reason.vastErrorCode == code)
    }

    @Test func `an address may be as long as urlBytesMax`() {
        let address = "https://a.example.com/" + String(repeating: "x", count: 4_096 - 22)
        let chain = Chain()
        chain.serve("first", Documents.wrapper(uri: address))
        chain.documents[address] = .document(Documents.vast(Documents.ad(title: "far")), charset: nil)
        #expect(address.utf8.count == AdFormatLimits().urlBytesMax && chain.resolve()?.titles == ["far"])
    }

    @Test(arguments: [
        (VASTDocumentFault.timedOut("Too slow."), 301, "timedOut"), (.unavailable("No."), 301, "unavailable"),
        (.refused("Not there."), 300, "refused"), (.noContent, 303, "noAds"),
    ])
    func `each fault of an address has its code, and is told in a sentence`(
        fault: VASTDocumentFault,
        code: Int,
        name: String
    ) throws {
        let chain = Chain()
        chain.serve("first", Chain.wrapper("next"))
        chain.fail("next", fault)
        let resolution = try #require(chain.resolve())
        #expect(resolution.reasons == [name] && resolution.documents[1].fault == fault)
        #expect(resolution.errorURLs == ["https://track.example.com/next/error?code=\(code)"])
        #expect(fault.description.hasSuffix("."))
    }

    @Test(arguments: [
        ("<VAST", 100, "malformed"), ("", 100, "malformed"), ("<rss/>", 101, "notVAST"),
        ("<VMAP/>", 101, "notVAST"), ("<VAST version='5.0'/>", 102, "unsupportedVersion"),
        ("<VAST version='4.2'/>", 303, "noAds"),
        ("<?xml version='1.0' encoding='EBCDIC'?><VAST/>", 100, "unsupportedEncoding"),
    ])
    func `each document that cannot be read has its code`(text: String, code: Int, name: String) throws {
        let chain = Chain()
        chain.serve("first", Chain.wrapper("next"))
        chain.serve("next", bytes: Array(text.utf8))
        let resolution = try #require(chain.resolve())
        #expect(resolution.reasons == [name])
        #expect(resolution.errorURLs == ["https://track.example.com/next/error?code=\(code)"])
        chain.serve("first", bytes: Array(text.utf8))
        let first = try #require(chain.resolve())
        #expect(first.documents.first?.fault?.name == name && first.taken.isEmpty && first.left.isEmpty)
    }

    @Test func `the first document without ads has its own addresses called`() throws {
        let chain = Chain()
        chain.serve("first", before: "<Error>https://track.example.com/none?e=%5BERRORCODE%5D</Error>")
        #expect(try #require(chain.resolve()).errorURLs == ["https://track.example.com/none?e=303"])
    }

    @Test func `an ad that cannot be played tells each wrapper, and then its own server`() throws {
        let chain = Chain()
        chain.serve("first", Chain.wrapper("next"))
        chain.serve("next", Documents.ad(media: "", inInLine: "<Error>https://a.example.com/[ERRORCODE]</Error>"))
        let resolution = try #require(chain.resolve())
        #expect(resolution.reasons == ["nothingTaken", "noMediaFile"])
        #expect(
            resolution.errorURLs == ["https://track.example.com/next/error?code=401", "https://a.example.com/401"]
        )
    }

    @Test func `the wrapper of VAST 1 that servers still write is followed`() {
        let chain = Chain()
        let ad = "<Ad><Wrapper><VASTAdTagURL><URL>\(Chain.address("next"))</URL></VASTAdTagURL></Wrapper></Ad>"
        chain.serve("first", ad)
        chain.serve("next", Documents.ad(title: "old"))
        #expect(chain.resolve()?.titles == ["old"])
    }

    @Test func `what is left out of a wrapper is told once, with its document`() throws {
        let chain = Chain()
        let impression = "<Impression>nowhere</Impression>"
        chain.serve("first", Chain.wrapper("next", "allowMultipleAds='1'", inWrapper: impression))
        chain.serve("next", Documents.ad("sequence='1'"), Documents.ad("sequence='2'"))
        let resolution = try #require(chain.resolve())
        #expect(resolution.taken.count == 2)
        #expect(resolution.documents[0].leftOut.map(\.reason) == [.unusableURL("nowhere")])
        #expect(resolution.documents[1].leftOut.isEmpty)
    }

    @Test func `a document that is there needs no address`() {
        let plain = VASTResolver(document: Documents.vast(Documents.ad(title: "here")))
        #expect(plain.resolution?.titles == ["here"] && plain.resolution?.documents.first?.address == nil)
        var resolver = VASTResolver(document: Documents.vast(Chain.wrapper("next")))
        #expect(resolver.resolution == nil)
        let requests = resolver.takeRequests()
        #expect(requests.map(\.address) == [Chain.address("next")] && resolver.takeRequests().isEmpty)
        let document = Documents.vast(Documents.ad(title: "there"))
        resolver.answer(requests[0].document, .document(document, charset: nil))
        #expect(resolver.resolution?.titles == ["there"])
        // A second answer, and one to a question that was not asked, change nothing.
        resolver.answer(requests[0].document, .fault(.noContent))
        resolver.answer(77, .fault(.noContent))
        #expect(resolver.resolution?.titles == ["there"])
    }
}
