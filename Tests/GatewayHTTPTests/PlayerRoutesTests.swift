// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import CuecastBroadcast
import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import GatewayTestKit
import TestSupport
import Testing
import TokenFormats

/// Players that fetch asset lists or VAST and call tracking URLs, at a gateway that runs.
@Suite(.suiteLimit)
struct PlayerRoutesTests {
    private struct AssetList: Decodable {
        struct Asset: Decodable {
            let URI: String
            let DURATION: Double
            let signaling: Signaling?

            enum CodingKeys: String, CodingKey {
                case URI, DURATION
                case signaling = "X-AD-CREATIVE-SIGNALING"
            }
        }

        struct Signaling: Decodable {
            let version: Int
            let type: String
            let payload: [Slot]
        }

        struct Slot: Decodable {
            struct Tracking: Decodable {
                let type: String
                let offset: Double?
                let urls: [String]
            }

            let type: String
            let start: Double
            let duration: Double
            let skipOffset: Double?
            let clickThrough: String?
            let tracking: [Tracking]
        }

        let ASSETS: [Asset]

        /// The gateway's own URL for an event of an asset, as a path.
        func path(_ event: String, _ index: Int = 0) throws -> String {
            try #require(self.ASSETS.count > index)
            let slot = try #require(self.ASSETS[index].signaling?.payload.first)
            let url = try #require(slot.tracking.first { $0.type == event && $0.offset == nil }?.urls.first)
            return try PlayerRoutesTests.path(url)
        }
    }

    private static func key(_ id: String) throws -> BreakKey {
        BreakKey(stream: try StreamID("radio1"), id: try BreakID(id))
    }

    private static let root = "http://test"
    private static let base = "/v1/streams/radio1"

    /// The path of a URL that leads to the gateway.
    private static func path(_ url: String) throws -> String {
        try #require(url.hasPrefix(Self.root), "\(url)")
        #expect(url.utf8.count < 600)
        return String(url.dropFirst(Self.root.count))
    }

    // The clock stands still unless the test moves it, so that no advertisement passes by where the machine is busy.
    private func run(
        _ configuration: GatewayConfiguration = .forTests,
        origins: [String] = [],
        tokens: ListenerTokenCheck? = nil,
        clock: ManualClock = ManualClock(),
        log: InMemoryEventLog = InMemoryEventLog(),
        _ body: @escaping @Sendable (RunningGateway, HTTPPeer) async throws -> Void
    ) async throws {
        let workshop = try TokenWorkshop()
        let access = HTTPAccess(
            verifier: try await workshop.verifier(),
            openReads: .all,
            listenerOrigins: ListenerOrigins(try origins.map { try OriginPattern($0) })
        )
        try await withGateway(
            configuration: configuration,
            log: log,
            ledger: InMemoryLedger(),
            tokens: tokens,
            clock: clock
        ) { running in
            var parts = Parts()
            parts.listeners = running.gateway.listeners
            parts.configuration.listenersMax = running.gateway.httpListenersMax
            parts.metrics = running.metrics
            parts.access = HTTPAccessHolder(access)
            parts.runningBoard = { running.board }
            try await parts.serve { peer in try await body(running, peer) }
        }
    }

    private static func assetList(_ peer: HTTPPeer, _ query: String = "_HLS_primary_id=p1") async throws -> AssetList {
        let answer = try await peer.get("\(Self.base)/asset-list?\(query)")
        #expect(answer.status == 200, "\(answer.body)")
        #expect(answer.headers["content-type"] == "application/json")
        #expect(answer.headers["cache-control"] == "no-store")
        return try answer.decoded()
    }

    private static func vast(_ peer: HTTPPeer, _ query: String = "_HLS_primary_id=p1") async throws -> [AdContent] {
        let answer = try await peer.get("\(Self.base)/vast?\(query)")
        #expect(answer.status == 200, "\(answer.body)")
        #expect(answer.headers["content-type"] == "application/xml")
        #expect(answer.headers["cache-control"] == "no-store")
        do throws(AdFormatError) {
            return try VAST.read(Array(answer.body.utf8)).ads
        } catch .noAds {
            return []
        }
    }

    /// Calls a tracking URL.
    private static func call(_ peer: HTTPPeer, _ path: String, method: String = "GET") async throws {
        let answer = try await peer.get(path, method: method)
        #expect(answer.status == 204, "\(answer.body)")
        #expect(answer.body.isEmpty && answer.headers["content-type"] == nil)
        #expect(answer.headers["cache-control"] == "no-store")
    }

    private static func problem(_ peer: HTTPPeer, _ path: String, _ status: Int) async throws -> String {
        let answer = try await peer.get(path)
        #expect(answer.status == status, "\(path): \(answer.body)")
        let problem: ProblemDocument = try answer.decoded()
        #expect(problem.status == status && problem.detail.hasSuffix("."))
        return problem.code
    }

    // MARK: - A break

    @Test func `a break is played by its asset list, each URL called twice and at the same time, and counts once`()
        async throws
    {
        try await self.run { running, peer in
            try await running.broadcaster().publish("b", duration: .seconds(30))
            let list = try await Self.assetList(peer)
            #expect(list.ASSETS.map(\.URI) == ["https://media.example/a.mp3", "https://media.example/b.mp3"])
            #expect(list.ASSETS.map(\.DURATION) == [15, 15])
            for asset in list.ASSETS {
                let signaling = try #require(asset.signaling)
                #expect(signaling.version == 2 && signaling.type == "slot" && signaling.payload.count == 1)
                #expect(signaling.payload[0].type == "linear" && signaling.payload[0].duration == 15)
                #expect(signaling.payload[0].tracking.map(\.type) == TrackingKind.allCases.map(\.event))
            }
            #expect(running.metrics.value(.listeners) == 1)
            // Asked for again it is the same listener and the same delivery, and its URLs tell of the same ads.
            let again = try await Self.assetList(peer)
            #expect(running.metrics.value(.listeners) == 1)
            let calls = [
                try list.path("complete"), try list.path("complete"), try again.path("complete"),
                try list.path("skip", 1), try again.path("skip", 1), try list.path("skip", 1),
            ]
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for path in calls { tasks.addTask { try await Self.call(peer, path) } }
                try await tasks.waitForAll()
            }
            try await Self.call(peer, try list.path("complete"), method: "POST")
            let books = try await running.books { $0.total.played == 1 && $0.total.ignored == 1 }
            #expect(books.total.delivered == 2 && books.total.unknown == 0 && books.balances)
            #expect(books.total.repeats == 0 && books.total.contradictions == 0)
            #expect(books.total.heardMilliseconds == 15_000)
            #expect(books.total.ignoredBy[.user] == 1)
            #expect(running.metrics.value(.trackings, TrackingKind.complete.metricLabel) == 1)
            #expect(running.metrics.value(.trackings, TrackingKind.skip.metricLabel) == 1)
            // Another player is another listener, of which nothing is heard.
            _ = try await Self.assetList(peer, "_HLS_primary_id=p2")
            #expect(running.metrics.value(.listeners) == 2)
            let both = try await running.books { $0.total.delivered == 4 }
            #expect(both.total.unknown == 2 && both.balances)
        }
    }

    @Test func `a measuring event is counted once by a metric, and ends nothing`() async throws {
        try await self.run { running, peer in
            try await running.broadcaster().publish("b", duration: .seconds(30))
            let list = try await Self.assetList(peer)
            for kind in TrackingKind.allCases where !kind.endsAdvertisement {
                for _ in 0..<2 { try await Self.call(peer, try list.path(kind.event)) }
                #expect(running.metrics.value(.trackings, kind.metricLabel) == 1, "\(kind)")
            }
            try await Self.call(peer, try list.path("start", 1))
            #expect(running.metrics.value(.trackings, TrackingKind.start.metricLabel) == 2)
            let books = try await running.books { $0.total.delivered == 2 }
            #expect(books.total.unknown == 2 && books.balances)
            #expect(running.metrics.value(.listenerRequests, .acknowledge) == 0)
        }
    }

    @Test func `the first end of an ad stands, and another one is a contradiction`() async throws {
        try await self.run { running, peer in
            try await running.broadcaster().publish("b", duration: .seconds(30))
            let list = try await Self.assetList(peer)
            try await Self.call(peer, try list.path("error"))
            // Called by many at one time, and again, it adds no more than once to what the ledger counts.
            let (again, other) = (try list.path("complete"), try list.path("complete", 1))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for _ in 0..<4 { tasks.addTask { try await Self.call(peer, again) } }
                try await tasks.waitForAll()
            }
            let books = try await running.books { $0.total.contradictions == 1 }
            #expect(books.total.failed == 1 && books.total.played == 0 && books.balances)
            let asked = running.metrics.value(.listenerRequests, .acknowledge)
            try await Self.call(peer, again, method: "POST")
            #expect(running.metrics.value(.listenerRequests, .acknowledge) == asked)
            // What comes behind them in the log is counted, and they are not.
            try await Self.call(peer, other)
            let later = try await running.books { $0.total.played == 1 }
            #expect(later.total.contradictions == 1 && later.total.repeats == 0 && later.balances)
        }
    }

    @Test func `parameters of players' own lose no call, also where one is there twice`() async throws {
        try await self.run { running, peer in
            try await running.broadcaster().publish("b", duration: .seconds(30))
            let list = try await Self.assetList(peer)
            let path = try list.path("error").replacing("[ERRORCODE]", with: "401")
            try await Self.call(peer, path + "&x=1&x=2")
            _ = try await running.books { $0.total.failed == 1 }
        }
    }

    @Test func `an error has the code of VAST that the player found, or says no more than that there was one`()
        async throws
    {
        let log = InMemoryEventLog()
        let codes: [(String, UInt16)] = [
            ("401", 401), ("100", 100), ("999", 999), ("99", 900), ("1000", 900), ("[ERRORCODE]", 900), ("-1", 900),
            ("%5BERRORCODE%5D", 900), ("\u{30}x1", 900), ("", 900), ("%", 900), ("%E0", 900), ("401&code=402", 401),
            ("&code=402", 900),
        ]
        try await self.run(log: log) { running, peer in
            let ads = try codes.indices.map { try AdvertisementContent.madeUp("ad\($0)", duration: .seconds(1)) }
            try await running.broadcaster().publish("b", advertisements: ads)
            let list = try await Self.assetList(peer)
            for (index, (code, _)) in codes.enumerated() {
                let path = try list.path("error", index)
                #expect(path.hasSuffix("?code=[ERRORCODE]"))
                try await Self.call(peer, path.replacing("[ERRORCODE]", with: code))
            }
            _ = try await running.books { $0.total.failed == Int64(codes.count) }
        }
        var found: [UInt32: UInt16] = [:]
        for record in try await log.read(.acknowledgements(0), after: 0, recordsMax: .max, bytesMax: .max) {
            for row in try LedgerPosting(record).outcomes { found[row.ordinal] = row.outcome.vastError }
        }
        for (index, (code, expected)) in codes.enumerated() { #expect(found[UInt32(index)] == expected, "\(code)") }
    }

    // MARK: - VAST

    /// An ad that has everything, with texts that would break out of a document.
    private static func rich() throws -> AdvertisementContent {
        AdvertisementContent(
            id: try AdvertisementID("spring <&> \"sale\""),
            title: "]]> </AdTitle><Ad/> & more",
            text: "two\nlines, 'quoted' and \"quoted\" 🎧",
            advertiser: "A & B <GmbH>",
            duration: .milliseconds(30_015),
            skipOffset: .seconds(5),
            media: [
                .init(
                    url: "https://cdn.example/a.mpd?x=1&y=2",
                    type: "application/dash+xml",
                    streaming: true
                ),
                .init(
                    url: "https://cdn.example/a.mp4",
                    type: "video/mp4",
                    bitrateKilobitsPerSecond: 2_200,
                    width: 1_280,
                    height: 720,
                    codec: "avc1"
                ),
                .init(url: "https://cdn.example/a.m3u8", type: "application/x-mpegURL", streaming: true),
            ],
            clickThroughURL: "https://shop.example/?a=1&b=<2>",
            banner: AdvertisementContent.Banner(
                imageURL: "https://cdn.example/b.png",
                targetURL: "https://shop.example/banner",
                width: 300,
                height: 250,
                alternativeText: "A <banner>",
                type: "image/png"
            ),
            trackers: [
                .init(event: "impression", url: "https://track.example/i?[CACHEBUSTING]&x=1"),
                .init(event: "start", url: "https://track.example/s"),
                .init(event: "complete", url: "https://track.example/c"),
                .init(event: "progress", url: "https://track.example/p", offset: .milliseconds(1_500)),
                .init(event: "clickTracking", url: "https://track.example/click"),
                .init(event: "customClick", url: "https://track.example/custom"),
                .init(event: "error", url: "https://track.example/e?c=[ERRORCODE]"),
                .init(event: "bannerView", url: "https://track.example/bv"),
                .init(event: "bannerClick", url: "https://track.example/bc"),
            ]
        )
    }

    @Test func `the ad of a break with one ad has no sequence`() async throws {
        try await self.run { running, peer in
            try await running.broadcaster()
                .publish("b", duration: .seconds(600), advertisements: [.madeUp("one", duration: .seconds(600))])
            let answer = try await peer.get("\(Self.base)/vast?_HLS_primary_id=p")
            let ads = try VAST.read(Array(answer.body.utf8)).ads
            #expect(ads.map(\.id) == ["one"] && ads.map(\.sequence) == [nil])
            #expect(!answer.body.contains("<Ad id=\"one\" sequence"), "\(answer.body)")
        }
    }

    @Test func `the VAST is read back as what was published, with the gateway's URLs before the ad's own`() async throws
    {
        try await self.run { running, peer in
            let rich = try Self.rich()
            try await running.broadcaster()
                .publish("b", duration: .seconds(60), advertisements: [rich, .madeUp("two")])
            let ads = try await Self.vast(peer)
            #expect(ads.map(\.id) == [rich.id.description, "two"])
            #expect(ads.map(\.sequence) == [1, 2])
            #expect(ads.map(\.kind) == [.video, .audio])
            #expect(ads.allSatisfy { $0.leftOut.isEmpty && $0.adSystem == "Cuecast" && $0.adServingID != nil })
            #expect(Set(ads.compactMap(\.adServingID)).count == 2)
            let ad = try #require(ads.first)
            let read = AdvertisementDescription(ad)
            #expect(read.title == rich.title && read.text == rich.text && read.advertiser == rich.advertiser)
            #expect(read.duration == rich.duration && read.skipOffset == rich.skipOffset)
            // Kept as a URI.
            let clickThrough = "https://shop.example/?a=1&b=%3C2%3E"
            #expect(read.clickThroughURL == clickThrough)
            #expect(read.media.map(\.url) == rich.media.map(\.url) && read.media.map(\.type) == rich.media.map(\.type))
            #expect(read.media.map(\.isStreaming) == [true, false, true])
            #expect(read.media[1].bitrate == 2_200 && read.media[1].width == 1_280 && read.media[1].codec == "avc1")
            let banner = try #require(read.banner)
            #expect(banner.imageURL == rich.banner?.imageURL && banner.targetURL == rich.banner?.targetURL)
            #expect(
                banner.alternativeText == rich.banner?.alternativeText && banner.width == 300 && banner.height == 250
            )
            // Of each event the gateway's comes first, then the ad's own as they were.
            let own = read.trackers.filter { !$0.url.hasPrefix(Self.root) }
            #expect(
                Set(own.map { "\($0.event) \($0.url) \($0.offset ?? .zero)" })
                    == Set(rich.trackers.map { "\($0.event) \($0.url) \($0.offset ?? .zero)" })
            )
            #expect(own.count == rich.trackers.count)
            for kind in TrackingKind.allCases {
                let urls = read.trackers.filter { $0.event == kind.event }.map(\.url)
                #expect(urls.first?.hasPrefix(Self.root) == true, "\(kind)")
                #expect(urls.filter { $0.hasPrefix(Self.root) }.count == 1, "\(kind)")
            }
            // The asset list of the same session has what HLS plays.
            let asset = try #require(try await Self.assetList(peer).ASSETS.first)
            #expect(asset.URI == "https://cdn.example/a.m3u8")
            #expect(asset.DURATION == 30.015)
            let slot = try #require(asset.signaling?.payload.first)
            #expect(slot.skipOffset == 5 && slot.clickThrough == clickThrough)
            #expect(slot.tracking.first { $0.type == "impression" }?.urls.last == rich.trackers[0].url)
            #expect(slot.tracking.first { $0.type == "progress" }?.offset == 1.5)
            #expect(!slot.tracking.contains { $0.type.hasPrefix("banner") })
        }
    }

    @Test func `a break is played by VAST`() async throws {
        try await self.run { running, peer in
            try await running.broadcaster().publish("b", duration: .seconds(30))
            let ads = try await Self.vast(peer)
            #expect(ads.count == 2)
            for ad in ads {
                let complete = try #require(ad.trackingEvents.first { $0.event == "complete" })
                for _ in 0..<2 { try await Self.call(peer, try Self.path(complete.url)) }
                try await Self.call(peer, try Self.path(try #require(ad.impressions.first).url))
            }
            let books = try await running.books { $0.total.played == 2 }
            #expect(books.total.delivered == 2 && books.balances && books.total.repeats == 0)
            // A session that says who it is, and one that says nothing.
            _ = try await Self.vast(peer, "session=00112233445566778899aabbccddeeff")
            _ = try await Self.vast(peer, "session=00112233445566778899aabbccddeeff&_HLS_primary_id=p1")
            #expect(running.metrics.value(.listeners) == 2)
            _ = try await Self.vast(peer, "")
            _ = try await Self.vast(peer, "")
            #expect(running.metrics.value(.listeners) == 4)
        }
    }

    // MARK: - Which break, and where in it

    @Test func `without a break to play there is an empty list, and HEAD begins nothing`() async throws {
        try await self.run { running, peer in
            for method in ["GET", "HEAD"] {
                let list = try await peer.get("\(Self.base)/asset-list?_HLS_primary_id=p", method: method)
                #expect(list.status == 200 && list.headers["cache-control"] == "no-store")
                #expect(list.body == (method == "GET" ? #"{"ASSETS":[]}"# : ""))
                let vast = try await peer.get("\(Self.base)/vast?_HLS_primary_id=p", method: method)
                #expect(vast.status == 200)
                if method == "GET" { #expect(vast.body.hasSuffix("version=\"4.2\"/>\n")) }
            }
            #expect(running.metrics.value(.listenerRequests, .join) == 2)
            #expect(running.metrics.value(.listeners) == 1)
            #expect(try await Self.problem(peer, "\(Self.base)/asset-list?break=none", 404) == "NOT_FOUND")
            // Cued and pre-stream breaks are for those who name them, and one that was called off is no fault.
            let broadcaster = try await running.broadcaster()
            try await broadcaster.publish("cued", start: nil)
            try await broadcaster.publish("pre", start: nil, preStream: true)
            #expect(try await Self.assetList(peer).ASSETS.isEmpty)
            #expect(try await Self.assetList(peer, "_HLS_primary_id=p&break=cued").ASSETS.count == 2)
            #expect(try await Self.assetList(peer, "_HLS_primary_id=p&break=pre").ASSETS.count == 2)
            _ = try await broadcaster.do(.cancel(try Self.key("cued")))
            #expect(try await Self.assetList(peer, "_HLS_primary_id=p&break=cued").ASSETS.isEmpty)
            #expect(try await Self.vast(peer, "_HLS_primary_id=p&break=cued").isEmpty)
        }
    }

    @Test func `the list begins where the break does, and VAST where the player is`() async throws {
        let clock = ManualClock()
        try await self.run(clock: clock) { running, peer in
            let broadcaster = try await running.broadcaster()
            try await broadcaster.publish("b", start: .after(.seconds(5)))
            let clicks = try await Self.assetList(peer, "_HLS_primary_id=early")
            #expect(clicks.ASSETS.count == 2, "the next, announced")
            clock.advance(by: .seconds(25))
            func ids(_ query: String) async throws -> [String] { try await Self.vast(peer, query).map(\.id) }
            func signaled(_ query: String) async throws -> [Bool] {
                try await Self.assetList(peer, query).ASSETS.map { $0.signaling != nil }
            }
            // 20 s into the break: the second ad runs.
            // An ad alone has no sequence, else it were a pod, which a wrapper that allows one ad does not take.
            #expect(
                try await Self.vast(peer, "_HLS_primary_id=1").map { [$0.id, $0.sequence?.description] } == [
                    ["b", nil]
                ]
            )
            #expect(try await ids("_HLS_primary_id=2&delayMs=10000") == ["a", "b"])
            #expect(try await ids("_HLS_primary_id=3&_HLS_start_offset=0") == ["a", "b"])
            #expect(try await ids("_HLS_primary_id=4&_HLS_start_offset=14.9") == ["a", "b"])
            #expect(try await ids("_HLS_primary_id=5&_HLS_start_offset=15.1") == ["b"])
            #expect(try await signaled("_HLS_primary_id=6") == [true, true])
            #expect(try await signaled("_HLS_primary_id=7&_HLS_start_offset=15.1") == [false, true])
            // What was not handed out cannot be told of.
            let late = try await Self.assetList(peer, "_HLS_primary_id=7&_HLS_start_offset=15.1")
            try await Self.call(peer, try late.path("complete", 1))
            let books = try await running.books { $0.total.played == 1 }
            #expect(books.breaks.first?.advertisements.map(\.counts.played) == [0, 1])
            // Live it is over; a player that is behind names it.
            clock.advance(by: .seconds(20))
            #expect(try await signaled("_HLS_primary_id=8") == [])
            #expect(try await signaled("_HLS_primary_id=8&break=b") == [true, true])
            #expect(try await signaled("_HLS_primary_id=8&delayMs=20000") == [true, true])
            #expect(try await ids("_HLS_primary_id=9&break=b") == [])
            // As far behind as a listener may be.
            clock.advance(by: .seconds(3_600))
            #expect(try await signaled("_HLS_primary_id=8&break=b") == [])
        }
    }

    @Test func `an exact break is whole from its start`() async throws {
        let clock = ManualClock()
        try await self.run(clock: clock) { running, peer in
            let publish = BroadcastRequest.Publish(
                key: try Self.key("b"),
                start: .after(.seconds(5)),
                duration: .seconds(30),
                advertisements: [try .madeUp("a"), try .madeUp("b")],
                exact: true
            )
            _ = try await running.broadcaster().do(.publish(publish))
            clock.advance(by: .seconds(5) + .milliseconds(1))
            #expect(try await Self.assetList(peer).ASSETS.allSatisfy { $0.signaling != nil })
        }
    }

    @Test func `a break that was ended gives nothing more, but to who is behind`() async throws {
        let clock = ManualClock()
        try await self.run(clock: clock) { running, peer in
            let broadcaster = try await running.broadcaster()
            try await broadcaster.publish("b", start: .after(.seconds(5)))
            clock.advance(by: .seconds(7))
            _ = try await broadcaster.do(.end(.init(key: try Self.key("b"))))
            clock.advance(by: .seconds(2))
            #expect(try await Self.assetList(peer, "_HLS_primary_id=1&break=b").ASSETS.isEmpty)
            #expect(try await Self.vast(peer, "_HLS_primary_id=2&break=b").isEmpty)
            // Where it plays the beginning, what began before the end is heard.
            let behind = try await Self.assetList(peer, "_HLS_primary_id=3&break=b&_HLS_start_offset=0").ASSETS
            #expect(behind.map { $0.signaling != nil } == [true])
        }
    }

    @Test func `ads that do not fit an exact break, or begin after its end, are in no document`()
        async throws
    {
        let clock = ManualClock()
        try await self.run(clock: clock) { running, peer in
            let broadcaster = try await running.broadcaster()
            for (id, exact) in [("exact", true), ("cut", false)] {
                let publish = BroadcastRequest.Publish(
                    key: try Self.key(id),
                    start: .after(.seconds(5)),
                    duration: .seconds(20),
                    advertisements: [
                        try .madeUp("a", duration: .seconds(10)), try .madeUp("b", duration: .seconds(10)),
                        try .madeUp("c", duration: .seconds(10)),
                    ],
                    exact: exact
                )
                _ = try await broadcaster.do(.publish(publish))
                for seconds in [0, 6] as [Int64] {
                    clock.advance(by: .seconds(seconds))
                    let name = "_HLS_primary_id=\(id)\(seconds)&break=\(id)"
                    let list = try await Self.assetList(peer, name).ASSETS
                    #expect(list.map { $0.signaling != nil } == [true, true], "\(id), \(seconds)")
                    #expect(list.first?.URI == "https://media.example/\(exact ? "b" : "a").mp3")
                }
                let ids = try await Self.vast(peer, "_HLS_primary_id=v&break=\(id)&delayMs=6000").map(\.id)
                #expect(ids == (exact ? ["b", "c"] : ["a", "b"]))
                // The second one of the list is told of, under its own number.
                let list = try await Self.assetList(peer, "_HLS_primary_id=told&break=\(id)")
                try await Self.call(peer, try list.path("complete", 1))
                let key = try Self.key(id)
                func played(_ books: Report) -> [Int64]? {
                    books.breaks.first { $0.summary.key == key }?.advertisements.map(\.counts.played)
                }
                let books = try await running.books { played($0)?.contains(1) == true }
                #expect(played(books) == (exact ? [0, 0, 1] : [0, 1, 0]), "\(id)")
                clock.advance(by: .seconds(60))
            }
        }
    }

    // MARK: - What is refused

    @Test func `a URL that no gateway made, or for something else, is refused and counted`() async throws {
        try await self.run { running, peer in
            let broadcaster = try await running.broadcaster()
            try await broadcaster.publish("b", duration: .seconds(30))
            try await broadcaster.publish("c", start: .after(.seconds(3_600)))
            let path = try await Self.assetList(peer).path("complete")
            let start = try #require(path.lastIndex(of: "/"))
            let (before, text) = (String(path[...start]), String(path[path.index(after: start)...]))
            let bytes = try #require(Base64URL.decode(text.utf8))
            func refused(_ path: String, _ reason: MetricLabel) async throws {
                let count = running.metrics.value(.trackingsRefused, reason)
                #expect(try await Self.problem(peer, path, 400) == "DELIVERY_INVALID")
                #expect(running.metrics.value(.trackingsRefused, reason) == count + 1, "\(path)")
            }
            func changed(_ index: Int, _ mask: UInt8 = 1) -> String {
                var other = bytes
                other[index] ^= mask
                return before + Base64URL.encode(other)
            }
            // Version, kind that is none, delivery that is none; then kind, ordinal, session, break, first, code.
            try await refused(changed(0), .malformed)
            try await refused(changed(1, 0x80), .malformed)
            try await refused(changed(3), .malformed)
            for index in [1, 2, 8, 24, 36, 44, 60, bytes.count - 1] { try await refused(changed(index), .forged) }
            try await refused(changed(4), .unknownKey)
            for wrong in [
                String(text.dropLast()), text + "A", "A", String(text.dropLast()) + "%20", text.lowercased() + "!",
            ] {
                try await refused(before + wrong, .malformed)
            }
            for other in ["breaks/c/", "breaks/none/"] {
                try await refused(path.replacing("breaks/b/", with: other), .otherBreak)
            }
            try await refused(path.replacing("radio1", with: "radio2"), .otherBreak)
            // An ordinal that the break does not have, signed: no player gets one, and it is still refused.
            let token = try #require(TrackingToken(bytes: bytes))
            let beyond = try #require(MessageKeys.fixed.tracking(.complete, ordinal: 2, of: token.delivery))
            try await refused(before + Base64URL.encode(beyond.bytes), .malformed)
            let books = try await running.books { $0.total.delivered == 2 }
            #expect(books.total.unknown == 2 && books.balances)
            // It was right all the time.
            try await Self.call(peer, path)
            _ = try await running.books { $0.total.played == 1 }
        }
    }

    @Test func `a URL is good by the state of the key that signed it`() async throws {
        let other = try #require(
            SigningKey(secret: Array(repeating: 9, count: 32), state: .signing, since: Timestamp(microseconds: 0))
        )
        try await self.run { running, peer in
            try await running.broadcaster().publish("b", duration: .seconds(30))
            let path = try await Self.assetList(peer).path("complete")
            let old = MessageKeys.fixed.ring.signing
            var taken = try #require(SigningKey(secret: old.secret, state: .verifyOnly, since: old.since))
            await running.gateway.reload(.forTests, nil, MessageKeys(try KeyRing([other, taken])))
            try await Self.call(peer, path)
            // The same name is another listener with another key.
            _ = try await Self.assetList(peer)
            #expect(running.metrics.value(.listeners) == 2)
            taken.state = .revoked
            await running.gateway.reload(.forTests, nil, MessageKeys(try KeyRing([other, taken])))
            #expect(try await Self.problem(peer, path, 400) == "DELIVERY_INVALID")
            #expect(running.metrics.value(.trackingsRefused, .revokedKey) == 1)
        }
    }

    @Test(arguments: [
        ("_HLS_primary_id=\(String(repeating: "p", count: 256))", 200),
        ("_HLS_primary_id=\(String(repeating: "p", count: 257))", 400), ("_HLS_primary_id=", 400),
        ("_HLS_primary_id=%E2%82%AC%20%22%3C", 200), ("_HLS_primary_id=a&_HLS_primary_id=b", 400),
        ("_HLS_start_offset=21600", 200), ("_HLS_start_offset=21600.000001", 400), ("_HLS_start_offset=0.5", 200),
        ("_HLS_start_offset=-1", 400), ("_HLS_start_offset=1.1e-13", 200), ("_HLS_start_offset=1e9", 400),
        ("_HLS_start_offset=12.345678901234567", 200), ("_HLS_start_offset=nan", 400), ("_HLS_start_offset=inf", 400),
        ("_HLS_start_offset=0x10", 400), ("_HLS_start_offset=e", 400), ("_HLS_start_offset=1.2.3", 400),
        ("_HLS_start_offset=\(String(repeating: "0", count: 32))", 200),
        ("_HLS_start_offset=\(String(repeating: "0", count: 33))", 400), ("delayMs=3600000", 200),
        ("delayMs=3600001", 400), ("session=00", 400), ("session=00112233445566778899aabbccddeeff", 200),
        ("break=no%20spaces", 400), ("_HLS_interstitial_id=x&CMCD=bl%3D1&anything", 200),
    ])
    func `players' parameters are bounded, and unknown ones are ignored`(_ query: String, _ status: Int)
        async throws
    {
        try await self.run { _, peer in
            for document in ["asset-list", "vast"] {
                let answer = try await peer.get("\(Self.base)/\(document)?\(query)")
                #expect(answer.status == status, "\(answer.body)")
            }
        }
    }

    @Test func `without a host there is nothing to which URLs could lead, and a front says that it speaks TLS`()
        async throws
    {
        try await self.run { running, peer in
            try await running.broadcaster().publish("b", duration: .seconds(30))
            let answer = try await peer.send("GET \(Self.base)/vast HTTP/1.1\r\nConnection: close\r\n\r\n")
            #expect(answer.status == 400)
            // The first proxy's value counts, in one line or in several (RFC 7239, section 7.1).
            for (lines, scheme) in [
                (["X-Forwarded-Proto: https"], "https"), (["X-Forwarded-Proto: HTTPS"], "https"),
                (["X-Forwarded-Proto: gopher"], "http"), (["X-Forwarded-Proto: https, http"], "https"),
                (["X-Forwarded-Proto: https,https"], "https"), (["X-Forwarded-Proto: http, https"], "http"),
                (["X-Forwarded-Proto: https", "X-Forwarded-Proto: http"], "https"),
                (["X-Forwarded-Proto: \"https\""], "https"), (["X-Forwarded-Proto: "], "http"),
                (["Forwarded: for=192.0.2.60;proto=https;by=203.0.113.43"], "https"),
                (["Forwarded: for=\"[2001:db8::1]\"; Proto=\"HTTPS\", for=10.0.0.1; proto=http"], "https"),
                (["Forwarded: for=10.0.0.1;proto=http, for=10.0.0.2;proto=https"], "http"),
                (["Forwarded: for=\"a,proto=https\";proto=http"], "http"),
                (["Forwarded: for=192.0.2.60", "X-Forwarded-Proto: https"], "https"),
                (["Forwarded: proto=http", "X-Forwarded-Proto: https"], "http"),
            ] {
                let head = lines.map { "\($0)\r\n" }.joined()
                let list = try await peer.send(
                    "GET \(Self.base)/asset-list HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\(head)\r\n"
                )
                #expect(list.body.contains("\"\(scheme)://test/v1/streams/radio1/breaks/b/track/"), "\(lines)")
            }
        }
    }

    // MARK: - Who may

    @Test func `a protected stream asks for a token, and its tracking URLs for nothing more`() async throws {
        var configuration = GatewayConfiguration.forTests
        configuration.protectedStreams = [.every]
        let check: ListenerTokenCheck = { token, now in
            token == "true"
                ? .success(ListenerGrant(subject: "one", streams: [.every], until: now + .seconds(3_600)))
                : .failure(Refusal(.notAllowed, "No."))
        }
        try await self.run(configuration, tokens: check) { running, peer in
            try await running.broadcaster().publish("b", duration: .seconds(30))
            for headers: [String: String] in [[:], ["Authorization": "Bearer false"], ["Authorization": "Basic true"]] {
                for document in ["asset-list", "vast"] {
                    let answer = try await peer.get("\(Self.base)/\(document)?_HLS_primary_id=p", headers: headers)
                    #expect(answer.status == 403)
                }
            }
            #expect(running.metrics.value(.listeners) == 0)
            let answer = try await peer.get(
                "\(Self.base)/asset-list?_HLS_primary_id=p",
                headers: ["Authorization": "Bearer true"]
            )
            let list: AssetList = try answer.decoded()
            try await Self.call(peer, try list.path("complete"))
            let books = try await running.books { $0.total.played == 1 }
            #expect(books.total.delivered == 2 && books.balances)
        }
    }

    @Test func `pages of listed origins may fetch and call, others may not`() async throws {
        try await self.run(origins: ["https://radio.example"]) { running, peer in
            try await running.broadcaster().publish("b", duration: .seconds(30))
            let listed = ["Origin": "https://radio.example"]
            let answer = try await peer.get("\(Self.base)/asset-list?_HLS_primary_id=p", headers: listed)
            #expect(answer.headers["access-control-allow-origin"] == "https://radio.example")
            let list: AssetList = try answer.decoded()
            let path = try list.path("complete")
            let other = ["Origin": "https://other.example"]
            for target in [path, "\(Self.base)/asset-list", "\(Self.base)/vast"] {
                #expect(try await peer.get(target, headers: other).status == 403)
            }
            let preflight = try await peer.get(path, method: "OPTIONS", headers: listed)
            #expect(preflight.status == 204)
            #expect(preflight.headers["access-control-allow-methods"] == "GET, POST")
            let called = try await peer.get(path, headers: listed)
            #expect(called.status == 204)
            #expect(called.headers["access-control-allow-origin"] == "https://radio.example")
        }
    }

    // MARK: - Memory

    @Test func `so much is remembered as may be, and one more displaces the oldest`() throws {
        let metrics = MetricRegistry()
        let memory = TrackingMemory(most: 3, metrics: metrics)
        let delivery = MessageKeys.fixed.delivery(
            to: .random(),
            of: BreakNumber(rawValue: 1),
            first: 0,
            at: Timestamp(microseconds: 0)
        )
        func key(_ ordinal: Int) throws -> TrackingMemory.Key {
            TrackingMemory.Key(try #require(MessageKeys.fixed.tracking(.start, ordinal: ordinal, of: delivery)))
        }
        let begin = Timestamp(microseconds: 0)
        for ordinal in 0..<3 { #expect(memory.note(try key(ordinal), at: begin + .seconds(ordinal))) }
        for ordinal in 0..<3 { #expect(!memory.note(try key(ordinal), at: begin + .seconds(50))) }
        #expect(metrics.value(.limitsHit, .limit(.trackingsRememberedMax)) == 0)
        #expect(memory.note(try key(3), at: begin + .seconds(59)))
        #expect(metrics.value(.limitsHit, .limit(.trackingsRememberedMax)) == 1, "the oldest was young")
        #expect(memory.note(try key(0), at: begin + .seconds(61)), "it is forgotten")
        #expect(metrics.value(.limitsHit, .limit(.trackingsRememberedMax)) == 1, "the oldest was not young")
        #expect(!memory.note(try key(2), at: begin + .seconds(62)))
    }

    @Test func `a refused report takes no place, and can be repeated`() async throws {
        let memory = TrackingMemory(most: 2, metrics: MetricRegistry())
        let delivery = MessageKeys.fixed.delivery(
            to: .random(),
            of: BreakNumber(rawValue: 1),
            first: 0,
            at: Timestamp(microseconds: 0)
        )
        func key(_ ordinal: Int) throws -> TrackingMemory.Key {
            TrackingMemory.Key(try #require(MessageKeys.fixed.tracking(.complete, ordinal: ordinal, of: delivery)))
        }
        let now = Timestamp(microseconds: 0)
        // Told in vain as often as there are places, and then once more with success.
        for _ in 0..<2 {
            #expect(await memory.begin(try key(0)))
            memory.finish(try key(0), isDurable: false, at: now)
        }
        for ordinal in 0..<2 {
            #expect(await memory.begin(try key(ordinal)))
            memory.finish(try key(ordinal), isDurable: true, at: now)
        }
        for ordinal in 0..<2 { #expect(!(await memory.begin(try key(ordinal)))) }
        // The oldest goes, and only it.
        #expect(await memory.begin(try key(2)))
        memory.finish(try key(2), isDurable: true, at: now)
        #expect(!(await memory.begin(try key(1))))
        #expect(await memory.begin(try key(0)))
    }

    @Test(arguments: [true, false])
    func `of many who tell the same at one time one tells it, and the next where that failed`(_ isDurable: Bool)
        async throws
    {
        let memory = TrackingMemory(metrics: MetricRegistry())
        let delivery = MessageKeys.fixed.delivery(
            to: .random(),
            of: BreakNumber(rawValue: 1),
            first: 0,
            at: Timestamp(microseconds: 0)
        )
        let key = TrackingMemory.Key(
            try #require(MessageKeys.fixed.tracking(.complete, ordinal: 0, of: delivery))
        )
        let now = Timestamp(microseconds: 0)
        #expect(await memory.begin(key))
        let told = await withTaskGroup(of: Bool.self) { tasks in
            for _ in 0..<8 {
                tasks.addTask {
                    let isFirst = await memory.begin(key)
                    if isFirst { memory.finish(key, isDurable: true, at: now) }
                    return isFirst
                }
            }
            memory.finish(key, isDurable: isDurable, at: now)
            return await tasks.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(told == (isDurable ? 0 : 1))
    }
}
