// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Cuecast
import Foundation
import TestSupport
import Testing

@_spi(Rendering) @testable import AdPresentation

@Suite(.suiteLimit)
@MainActor
struct ContentSourceTests {
    private func request(_ feed: String, _ configure: (inout AdvertisementSettings) -> Void = { _ in }) throws
        -> AdvertisementRequest
    {
        var settings = AdvertisementSettings()
        configure(&settings)
        return AdvertisementRequest(
            feed: try #require(ContextFeed(feed)),
            context: "https://example.org/?a=1&b=2",
            settings: settings
        )
    }

    @Test func `the ad server is asked with everything that is known`() async throws {
        let server = try LoopbackServer(["/ads": { $0.answer(type: "text/html", Array("<p>".utf8)) }])
        let source = HTTPAdContentSource(endpoint: server.url("/ads?key=k"))
        let request = try self.request("radio1/sidebar") {
            $0.consent = "yes please"
            $0.appearanceOverride = .dark
            $0.userID = "u&v"
            $0.advertisingID = "device"
        }
        #expect(source.canRequest(request))
        #expect(try await source.content(for: request).mediaType == "text/html")
        let path = try #require(server.requestedPaths.first)
        let items = URLComponents(string: path)?.queryItems ?? []
        #expect(
            items.map { "\($0.name)=\($0.value ?? "")" } == [
                "key=k", "feed=radio1", "placement=sidebar", "context=https://example.org/?a=1&b=2",
                "consent=yes please", "appearance=dark", "user=u&v", "advertisingID=device",
            ]
        )
    }

    @Test func `unknown values are not sent`() async throws {
        let server = try LoopbackServer(["/ads": { $0.answer(type: "image/png", [1]) }])
        let source = HTTPAdContentSource(endpoint: server.url("/ads"))
        let request = AdvertisementRequest(feed: try #require(ContextFeed("radio1")))
        _ = try await source.content(for: request)
        #expect(server.requestedPaths == ["/ads?feed=radio1"])
    }

    @Test(arguments: ["", "file:///etc/passwd", "ads.example.org", "ftp://example.org"])
    func `an endpoint that is not of http makes no request`(endpoint: String) throws {
        #expect(!HTTPAdContentSource(endpoint: endpoint).canRequest(try self.request("radio1")))
    }

    @Test func `an address that is too long makes no request`() throws {
        let head = "http://example.org/?feed=radio1&context="
        func source(_ bytes: Int) -> Bool {
            let context = String(repeating: "a", count: bytes - head.utf8.count)
            let feed = ContextFeed("radio1").map { AdvertisementRequest(feed: $0, context: context) }
            return feed.map(HTTPAdContentSource(endpoint: "http://example.org/").canRequest) ?? false
        }
        #expect(source(HTTPAdContentSource.addressBytesMax))
        #expect(!source(HTTPAdContentSource.addressBytesMax + 1))
    }

    @Test func `a view shows what the ad server has, and keeps the cause where that fails`() async throws {
        let server = try LoopbackServer(["/ads": { $0.answer(type: "image/png", Images.png(300, 250)) }])
        let view = AdvertisementView(
            contextFeedID: "radio1",
            source: HTTPAdContentSource(endpoint: server.url("/ads")),
            renderer: ImageSizeRenderer()
        )
        view.frame.size.width = 150
        view.loadAd()
        await view.settled()
        #expect(view.contentHeight == 125)
        let other = AdvertisementView(
            contextFeedID: "radio1",
            source: HTTPAdContentSource(endpoint: server.url("/none"))
        )
        other.loadAd()
        await other.settled()
        guard case .failed(.loadingError(AdContentError.status(404))) = other.status else {
            return #expect(Bool(false), "\(other.status)")
        }
    }

    @Test func `the gateway's banner is asked for the stream that is heard only`() throws {
        let source = GatewayBannerSource(stream: LiveStream(id: "radio1")) { nil }
        #expect(source.canRequest(try self.request("radio1/sidebar")))
        #expect(!source.canRequest(try self.request("radio2")))
    }

    @Test func `without an advertisement there is no banner`() async throws {
        let source = GatewayBannerSource(AdvertisementCenter(), stream: LiveStream(id: "radio1"))
        let request = try self.request("radio1")
        await #expect { try await source.content(for: request) } throws: { error in
            if case AdContentError.noAdvertisement = error { true } else { false }
        }
    }

    @Test func `a view without a source has the banner of the shared advertisements`() async {
        let log = StatusLog()
        let view = AdvertisementView(contextFeedID: "radio1", delegate: log)
        view.loadAd()
        await view.settled()
        #expect(log.kinds == [.loading, .failed])
        guard case .failed(.loadingError(AdContentError.noAdvertisement)) = view.status else {
            return #expect(Bool(false), "\(view.status)")
        }
    }

    @Test func `an image renderer takes images only`() async {
        let renderer = ImageSizeRenderer()
        await #expect {
            try await renderer.render(AdContent(mediaType: "text/html", bytes: []), in: PlatformView())
        } throws: {
            if case AdContentError.mediaType("text/html") = $0 { true } else { false }
        }
        #expect(renderer.shown == nil)
    }
}
