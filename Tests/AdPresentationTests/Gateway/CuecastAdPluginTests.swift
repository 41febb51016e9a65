// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Views are placed exactly, and what becomes visible is told at once: that is so where no screen is involved.
#if !canImport(UIKit) && !canImport(AppKit)
@_spi(Tracking) @_spi(Tuning) import Cuecast
import CuecastTesting
import Foundation
import Synchronization
import Testing
import TestSupport

@_spi(ProviderChecks) @_spi(Rendering) @testable import AdPresentation

/// A clock that tests move.
final class ManualClock: Sendable {
    private let base = ContinuousClock.now
    private let offset = Mutex(Duration.zero)

    var now: ContinuousClock.Instant { self.base + self.offset.withLock { $0 } }
    func advance(by duration: Duration) { self.offset.withLock { $0 += duration } }
}

/// Takes every call of a tracking URL, and sends none.
struct AcceptingSender: TrackingSender {
    func send(_ request: TrackingRequest) async -> TrackingResult { .answered(status: 204) }
}

/// The provider with the real client, on a gateway in memory and a web server on loopback.
@Suite(.suiteLimit)
@MainActor
struct CuecastAdPluginTests {
    let gateway: ScriptedGateway
    let clock = ManualClock()
    let server: LoopbackServer
    let client: CuecastClient
    let events: ListenerEvents
    let manager = AdvertisementManager()
    let log = SessionLog()
    let links = LinkLog()
    let parent = HeadlessViewController()
    let window = HeadlessWindow(frame: CGRect(x: 0, y: 0, width: 400, height: 600))

    init() throws {
        self.gateway = try ScriptedGateway()
        self.server = try LoopbackServer([
            "/square.png": { $0.answer(type: "image/png", Images.png(500, 500)) },
            "/tall.png": { $0.answer(type: "image/png", Images.png(10, 16_000)) },
            "/broken.png": { $0.answer(type: "image/png", [1, 2, 3]) },
            "/page": { $0.answer(type: "text/html", [60]) },
            "/large.png": { $0.answer("200 OK", ["Content-Type: image/png", "Content-Length: 9999999"]) },
        ])
        var configuration = self.gateway.configuration
        configuration.timings.preStreamWait = .zero
        configuration.timings.connectTimeout = .seconds(3_600)
        configuration.timings.subscriptionTimeout = .seconds(3_600)
        configuration.timings.requestTimeout = .seconds(3_600)
        configuration.timings.handOutGrace = .seconds(3_600)
        configuration.tracking = TrackingConfiguration(sender: AcceptingSender())
        self.client = try CuecastClient(configuration: configuration, transport: self.gateway)
        self.events = self.client.makeEvents()
        self.window.addSubview(self.parent.view)
        self.parent.view.frame = self.window.bounds
        let plugin = self.plugin()
        self.manager.register { plugin }
    }

    private func plugin(isBannersOnly: Bool = true) -> CuecastAdPlugin {
        let clock = self.clock
        let plugin = CuecastAdPlugin(
            CuecastAdServices(
                advertisements: self.client.advertisements,
                isBannersOnly: isBannersOnly,
                stream: LiveStream(id: "radio1"),
                now: { clock.now }
            )
        )
        plugin.clickThroughs = self.links.handling()
        return plugin
    }

    private func content(
        _ id: String,
        image: String? = "/square.png",
        target: String? = nil,
        duration: Duration = .seconds(3_000)
    ) -> ScriptedAdvertisement {
        var advertisement = ScriptedAdvertisement(id, duration: duration)
        advertisement.banner = image.map {
            .init(
                imageURL: self.server.url($0),
                targetURL: target ?? "https://shop.example/\(id)",
                alternativeText: "Buy"
            )
        }
        advertisement.trackers = ["impression", "start", "clickTracking", "bannerView", "bannerClick"]
            .map { .init(event: $0, url: "https://track.example/\($0)") }
        return advertisement
    }

    /// Reads events until one matches.
    private func first<Value>(_ match: (ListenerEvent) -> Value?) async -> Value? {
        for await event in self.events {
            if let value = match(event) { return value }
        }
        return nil
    }

    /// Starts listening, and returns when these advertisements are queued.
    private func listen(_ contents: [ScriptedAdvertisement]) async throws {
        try await self.client.start()
        guard !contents.isEmpty else { return }
        try self.gateway.publish(ScriptedBreak("b1", contents))
        _ = await self.first { if case .available = $0 { true } else { nil } }
    }

    private func outcome() async -> AdvertisementOutcome.Result? {
        await self.first { if case .outcome(let outcome) = $0 { outcome.result } else { nil } }
    }

    private func stop() async {
        self.client.stop()
        await self.client.stopped()
    }

    private func session(_ config: AdConfig) -> AdPresentationSession {
        let session = AdPresentationSession(
            adConfig: config,
            parentVC: self.parent,
            container: self.parent.view,
            manager: self.manager
        )
        session.delegate = self.log
        return session
    }

    private let banner = AdConfig(adUnitID: "radio1/sidebar", inlineBannerSize: "BOX_BANNER")

    @Test func `a banner is shown, started, clicked and completed, and the gateway records it`() async throws {
        try await self.listen([self.content("a")])
        let session = self.session(self.banner)
        session.load()
        await self.log.waitFor(.impressed)
        #expect(self.log.states == [.loading, .loaded, .impressed])
        #expect(session.providerName == "Cuecast")
        #expect(session.size == CGSize(width: 320, height: 150))
        let view = try #require(session.host?.adView as? AdBannerView)
        #expect(view.content?.targetURL == "https://shop.example/a")
        #expect(view.content?.alternativeText == "Buy")
        #expect(
            view.subviews.first?.frame == CGRect(x: 85, y: 0, width: 150, height: 150),
            "as large as fits, in the middle"
        )
        let started = await self.first { if case .reported(.started, let ad) = $0 { ad.adID } else { nil } }
        #expect(started == "a")
        self.links.onOpen = { #expect(session.state == .clicked, "it is reported before it opens") }
        view.activate()
        let clicked = await self.first { if case .bannerClicked(let ad) = $0 { ad.adID } else { nil } }
        #expect(clicked == "a")
        #expect(session.state == .clicked)
        #expect(self.links.opened == ["https://shop.example/a"])
        self.clock.advance(by: .seconds(3_000))
        session.close()
        let completed = await self.first { if case .reported(.completed, let ad) = $0 { ad.adID } else { nil } }
        #expect(completed == "a")
        _ = await self.first { if case .acknowledged(_, ["a"]) = $0 { true } else { nil } }
        #expect(self.gateway.outcomes.map(\.result) == [.played])
        #expect(self.gateway.outcomes.map(\.clicked) == [true])
        view.activate()
        #expect(session.state == .closed, "what is closed is not clicked")
        #expect(self.links.opened.count == 1)
        #expect(self.log.violations.isEmpty)
        await self.stop()
    }

    /// The trackers of the banner, and of clicks, that are called until both of the banner's have been.
    private func bannerTrackers() async -> [String] {
        var called: [String] = []
        while !called.contains("bannerView") || !called.contains("bannerClick") {
            let event = await self.first { event -> String? in
                guard case .trackingChanged(let status) = event, case .sent = status.state else { return nil }
                return status.event
            }
            guard let event else { break }
            if !["impression", "start"].contains(event) { called.append(event) }
        }
        return called.sorted()
    }

    @Test(arguments: [true, false])
    func `a banner that is seen and clicked calls its own trackers, once, and not those of the advertisement`(
        isBannersOnly: Bool
    ) async throws {
        self.manager.removeAll()
        let plugin = self.plugin(isBannersOnly: isBannersOnly)
        self.manager.register { plugin }
        try await self.listen([self.content("a")])
        if !isBannersOnly { _ = self.client.advertisements.getAdvertisement() }
        let session = self.session(self.banner)
        session.load()
        await self.log.waitFor(.impressed)
        let view = try #require(session.host?.adView as? AdBannerView)
        view.isHidden = true
        view.isHidden = false
        for _ in 1...3 { view.activate() }
        #expect(self.links.opened.count == 3, "it opens each time")
        #expect(await self.bannerTrackers() == ["bannerClick", "bannerView"])
        session.close()
        await self.stop()
        var late: [String] = []
        for await event in self.events {
            if case .trackingChanged(let status) = event { late.append(status.event) }
        }
        #expect(!late.contains("clickTracking") && !late.contains("bannerView") && !late.contains("bannerClick"))
    }

    @Test func `a banner that leads to anything but the web is neither opened nor clicked`() async throws {
        var content = self.content("a")
        content.banner?.targetURL = nil
        try await self.listen([content])
        let session = self.session(self.banner)
        session.load()
        await self.log.waitFor(.impressed)
        let view = try #require(session.host?.adView as? AdBannerView)
        view.activate()
        #expect(session.state == .impressed)
        #expect(self.links.opened.isEmpty && self.links.events == [.refused(address: "", .nothingToOpen)])
        session.close()
        await self.stop()
    }

    @Test func `without handling of its own the plugin takes the shared one, and the renderer's opener goes first`()
        async throws
    {
        try await self.listen([self.content("a")])
        let renderer = ImageSizeRenderer()
        let plugin = CuecastAdPlugin(
            bannersOnly: self.client.advertisements,
            stream: LiveStream(id: "radio1"),
            fetcher: HTTPAdFetcher(),
            makeRenderer: { renderer }
        )
        self.manager.removeAll()
        self.manager.register { plugin }
        let session = self.session(self.banner)
        session.load()
        await self.log.waitFor(.impressed)
        // Other tests have the shared settings while this one waits; it does not, while it has them.
        AdvertisementSettings.shared.clickThroughs = self.links.handling()
        renderer.activate()
        AdvertisementSettings.shared.clickThroughs = ClickThroughHandling()
        #expect(session.state == .clicked && self.links.opened == ["https://shop.example/a"])
        var own: [String] = []
        renderer.openURL = { own.append($0.absoluteString) }
        renderer.activate()
        #expect(own == ["https://shop.example/a"] && self.links.opened.count == 1)
        session.close()
        await self.stop()
    }

    @Test func `an advertisement that is closed before its duration was skipped`() async throws {
        try await self.listen([self.content("a")])
        let session = self.session(self.banner)
        session.load()
        await self.log.waitFor(.impressed)
        self.clock.advance(by: .seconds(3_000) - .nanoseconds(1))
        session.close()
        let skipped = await self.first { if case .reported(.skipped, let ad) = $0 { ad.adID } else { nil } }
        #expect(skipped == "a")
        await self.stop()
    }

    @Test func `a banner whose break is cancelled is closed, and what was seen of it counts`() async throws {
        try await self.listen([self.content("a")])
        let session = self.session(self.banner)
        session.load()
        await self.log.waitFor(.impressed)
        try self.gateway.cancel("b1")
        await self.log.waitFor(.closed)
        #expect(session.state == .closed)
        #expect(session.host?.adView?.superview == nil)
        #expect(await self.outcome() == .played)
        #expect(self.log.violations.isEmpty)
        await self.stop()
    }

    @Test func `a banner that was never visible is not played`() async throws {
        try await self.listen([self.content("a")])
        self.window.isHidden = true
        let session = self.session(self.banner)
        session.load()
        await self.log.waitFor(.loaded)
        #expect(session.state == .loaded)
        session.close()
        #expect(await self.outcome() == .failed(vastError: 304))
        await self.stop()
    }

    @Test func `a banner that is never seen is not played when the next one loads`() async throws {
        let contents = ["a", "b"].map { self.content($0, duration: .seconds(1_000)) }
        try await self.client.start()
        try self.gateway.publish(ScriptedBreak("b1", contents, duration: .seconds(3_000)))
        _ = await self.first { if case .available = $0 { true } else { nil } }
        self.window.isHidden = true
        let first = self.session(self.banner)
        first.load()
        await self.log.waitFor(.loaded)
        let second = self.session(self.banner)
        second.load()
        #expect(second.state == .loading, "banners do not wait for each other")
        first.close()
        let result = await self.first { event -> AdvertisementOutcome? in
            if case .outcome(let outcome) = event, outcome.advertisement.adID == "a" { outcome } else { nil }
        }
        #expect(result?.result == .failed(vastError: 304) && result?.evidence == .reported)
        second.close()
        await self.stop()
    }

    @Test func `beside a player the banner is that of what plays, and the outcome comes from what was heard`()
        async throws
    {
        self.manager.removeAll()
        let plugin = self.plugin(isBannersOnly: false)
        self.manager.register { plugin }
        try await self.listen([self.content("a"), self.content("b")])
        self.session(self.banner).load()
        guard case .noAdvertisement? = self.log.errors.first as? AdContentError else {
            return #expect(Bool(false), "nothing plays: \(self.log.states)")
        }
        let playing = try #require(self.client.advertisements.getAdvertisement())
        #expect(playing.adID == "a", "the banner took none")
        let session = self.session(self.banner)
        session.load()
        await self.log.waitFor(.impressed)
        let view = try #require(session.host?.adView as? AdBannerView)
        #expect(view.content?.targetURL == "https://shop.example/a")
        view.activate()
        session.close()
        self.client.advertisements.report(.skipped, for: playing)
        let outcome = await self.first { if case .outcome(let outcome) = $0 { outcome } else { nil } }
        #expect(outcome?.advertisement.adID == "a" && outcome?.result == .played && outcome?.clicked == true)
        #expect(outcome?.heard ?? .seconds(3_000) < .seconds(3_000), "the player's word, not the banner's")
        #expect(self.client.advertisements.getAdvertisement()?.adID == "b")
        await self.stop()
    }

    @Test func `a session that is dropped leaves no advertisement without an outcome`() async throws {
        try await self.listen([self.content("a")])
        var session: AdPresentationSession? = self.session(self.banner)
        session?.load()
        await self.log.waitFor(.impressed)
        session = nil
        #expect(await self.outcome() == .played)
        await self.stop()
    }

    @Test(
        arguments: [
            ("/missing.png", 603), ("/page", 604), ("/broken.png", 604), ("/large.png", 603), (nil, 600),
        ] as [(String?, Int)]
    )
    func `a banner that cannot be loaded fails with its VAST error code, and the next provider is tried`(
        image: String?,
        code: Int
    ) async throws {
        self.manager.register { TestPlugin("next") }
        try await self.listen([self.content("a", image: image)])
        let session = self.session(self.banner)
        session.load()
        await self.log.waitFor(.impressed)
        #expect(self.log.failures == ["Cuecast"])
        #expect(session.providerName == "next")
        #expect(await self.outcome() == .failed(vastError: code))
        _ = await self.first { if case .acknowledged(_, ["a"]) = $0 { true } else { nil } }
        #expect(self.gateway.outcomes.map(\.result) == [.failed(vastError: code)])
        await self.stop()
    }

    @Test func `content that a renderer cannot show has a VAST error code`() {
        #expect(AdvertisementRecord.vastError(for: Cause()) == 602)
        #expect(AdvertisementRecord.vastError(for: AdContentError.timedOut(after: .seconds(1))) == 603)
        #expect(AdvertisementRecord.vastError(for: AdContentError.unreachable(Cause())) == 603)
        #expect(AdvertisementRecord.vastError(for: AdContentError.invalidURL("")) == 603)
    }

    @Test func `without an advertisement the provider fails, and takes none for a wrong ad unit or size`() async throws
    {
        try await self.listen([])
        let session = self.session(self.banner)
        session.load()
        #expect(self.log.states == [.loading, .failed])
        guard case .noAdvertisement? = self.log.errors.first as? AdContentError else { return #expect(Bool(false)) }
        try self.gateway.publish(ScriptedBreak("b1", [self.content("a")]))
        _ = await self.first { if case .available = $0 { true } else { nil } }
        for config in [
            AdConfig(adUnitID: "radio2", adType: .screenBanner), AdConfig(adUnitID: "", adType: .interstitial),
            AdConfig(adUnitID: "radio1", inlineBannerSize: "LEADERBOARD"),
        ] {
            self.session(config).load()
        }
        #expect(
            self.log.errors.dropFirst().compactMap { $0 as? CuecastAdError } == [
                .unknownAdUnit("radio2"), .unknownAdUnit(""), .unknownBannerSize("LEADERBOARD"),
            ]
        )
        #expect(self.client.advertisements.getAdvertisement()?.adID == "a")
        await self.stop()
    }

    @Test func `an interstitial covers the screen, is impressed there and closed by the user`() async throws {
        try await self.listen([self.content("a")])
        let session = self.session(AdConfig(adUnitID: "radio1", adType: .interstitial))
        session.load()
        await self.log.waitFor(.loaded)
        #expect(session.host?.adView == nil)
        #expect(self.parent.presentedViewController == nil)
        try session.showInterstitial()
        let shown = try #require(self.parent.presentedViewController)
        #expect(shown.view.frame == self.window.bounds)
        #expect(session.state == .impressed)
        (shown.view as? AdBannerView)?.activate()
        #expect(session.state == .clicked)
        #expect(self.links.opened == ["https://shop.example/a"])
        self.clock.advance(by: .seconds(3_001))
        shown.dismiss()
        #expect(session.state == .closed)
        #expect(await self.outcome() == .played)
        #expect(self.log.violations.isEmpty)
        await self.stop()
    }

    @Test func `an interstitial that was never shown is closed without a word to the view`() async throws {
        try await self.listen([self.content("a")])
        let session = self.session(AdConfig(adUnitID: "radio1", adType: .interstitial))
        session.load()
        await self.log.waitFor(.loaded)
        session.close()
        #expect(await self.outcome() == .failed(vastError: 304))
        #expect(self.log.violations.isEmpty)
        await self.stop()
    }

    @Test func `an interstitial whose parent is gone is not shown, and closed`() async throws {
        try await self.listen([self.content("a")])
        let probe = ConformanceProbe(.interstitial)
        var parent: HeadlessViewController? = HeadlessViewController()
        let presenter = parent.map { self.plugin().createAdPresenter(adView: probe, parentVC: $0) }
        let config = AdConfig(adUnitID: "radio1", adType: .interstitial)
        if let presenter { probe.load(presenter, config) }
        #expect(await probe.wait(atMost: .seconds(3_600)) { $0.flow.phase == .loaded })
        parent = nil
        if let presenter { probe.show(presenter) }
        #expect(probe.flow.phase == .closed)
        #expect(probe.broken == nil)
        await self.stop()
    }

    @Test func `a screen banner is no higher than wide, whatever its image says`() async throws {
        try await self.listen([self.content("a", image: "/tall.png")])
        let session = self.session(AdConfig(adUnitID: "radio1", adType: .screenBanner))
        session.load()
        await self.log.waitFor(.loaded)
        #expect(session.size == CGSize(width: 320, height: 320))
        await self.stop()
    }

    @Test func `a presenter loads once`() async throws {
        try await self.listen([self.content("a"), self.content("b")])
        let probe = ConformanceProbe(.screenBanner)
        let presenter = self.plugin().createAdPresenter(adView: probe, parentVC: self.parent)
        let config = AdConfig(adUnitID: "radio1", adType: .screenBanner)
        probe.load(presenter, config)
        presenter.load(adConfig: config)
        #expect(await probe.wait(atMost: .seconds(3_600)) { $0.flow.phase == .loaded })
        #expect(presenter.getSize() == CGSize(width: 320, height: 320), "as high as the image is at the screen's width")
        #expect(self.client.advertisements.getAdvertisement()?.adID == "b")
        await self.stop()
    }

    @Test func `the provider keeps all rules`() async throws {
        let contents = (1...6).map { self.content("ad\($0)") }
        try await self.listen(contents)
        var options = AdPluginConformance.Options(adUnitID: "radio1")
        options.failingAdUnitID = "radio2"
        options.inlineBannerSizes = AdBannerSize.allCases.map(\.rawValue)
        options.open = { banner, parent in
            ((banner ?? parent.presentedViewController?.view) as? AdBannerView)?.activate()
        }
        let report = await AdPluginConformance(options) { self.plugin() }.run()
        #expect(report.isConformant, "\(report)")
        #expect(report.skipped.isEmpty)
        #expect(report.flows.count == 12)
        await self.stop()
    }

    @Test func `a view shows the banner of the gateway's advertisement`() async throws {
        try await self.listen([self.content("a"), self.content("b")])
        let source = GatewayBannerSource(self.client.advertisements, stream: LiveStream(id: "radio1"))
        let view = AdvertisementView(
            frame: CGRect(x: 0, y: 0, width: 200, height: 50),
            contextFeedID: "radio1/sidebar",
            source: source
        )
        view.loadAd()
        await view.settled()
        guard case .failed(.loadingError(AdContentError.noAdvertisement)) = view.status else {
            return #expect(Bool(false), "nothing plays: \(view.status)")
        }
        let playing = try #require(self.client.advertisements.getAdvertisement())
        #expect(playing.adID == "a", "the view took none")
        for _ in 1...2 {
            view.loadAd()
            await view.settled()
            #expect(view.contentHeight == 200)
        }
        view.clickThroughs = self.links.handling()
        self.window.addSubview(view)
        view.activate()
        #expect(self.links.opened == ["https://shop.example/a"])
        var told: [String] = []
        while told.count < 2 {
            let event = await self.first { event -> String? in
                switch event {
                case .bannerShown(let ad): "shown \(ad.adID)"
                case .bannerClicked(let ad): "clicked \(ad.adID)"
                default: nil
                }
            }
            told.append(event ?? "the events are over")
        }
        #expect(told == ["shown a", "clicked a"])
        self.client.advertisements.report(.completed, for: playing)
        #expect(await self.outcome() == .played)
        #expect(self.client.advertisements.getAdvertisement()?.adID == "b")
        await self.stop()
    }

    @Test func `made from a configuration, the provider serves the shared advertisements`() async throws {
        self.manager.removeAll()
        self.manager.register(CuecastAdPlugin.self, configurationJSON: [CuecastAdPlugin.streamKey: "radio1"])
        let session = self.session(self.banner)
        session.load()
        guard case .noAdvertisement? = self.log.errors.first as? AdContentError else { return #expect(Bool(false)) }
        self.session(AdConfig(adUnitID: "radio2", adType: .screenBanner)).load()
        #expect(self.log.errors.last as? CuecastAdError == .unknownAdUnit("radio2"))
        let presenter = CuecastAdPresenter(adView: ConformanceProbe(.screenBanner), parentVC: self.parent)
        #expect(presenter.getSize() == .zero)
    }
}
#endif
