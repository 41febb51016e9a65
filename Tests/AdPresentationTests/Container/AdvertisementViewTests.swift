// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastDianomi
import Foundation
import InMemoryLogging
import Logging
import Testing

@_spi(Rendering) @testable import AdPresentation

/// Gives what a test puts in, when the test puts it in.
@MainActor
final class ScriptedSource: AdContentSource {
    var accepts = true
    private(set) var requests: [AdvertisementRequest] = []
    private var waiting: [CheckedContinuation<AdContent, any Error>] = []
    private var arrivals: [CheckedContinuation<Void, Never>] = []

    private(set) var shown = 0
    private(set) var clicked = 0

    func canRequest(_ request: AdvertisementRequest) -> Bool { self.accepts }
    func contentShown(_ content: AdContent, for request: AdvertisementRequest) { self.shown += 1 }
    func contentClicked(_ content: AdContent, for request: AdvertisementRequest) { self.clicked += 1 }

    func content(for request: AdvertisementRequest) async throws -> AdContent {
        self.requests.append(request)
        return try await withCheckedThrowingContinuation { waiter in
            self.waiting.append(waiter)
            for arrival in self.arrivals { arrival.resume() }
            self.arrivals = []
        }
    }

    /// Waits until so many loads wait for their content.
    func waitFor(_ count: Int) async {
        while self.waiting.count < count { await withCheckedContinuation { self.arrivals.append($0) } }
    }

    /// Answers the load that has been waiting longest.
    func answer(_ result: Result<AdContent, any Error>) {
        self.waiting.removeFirst().resume(with: result)
    }
}

/// Shows content when the test says so.
@MainActor
final class GatedRenderer: AdRenderer {
    private var waiting: [CheckedContinuation<CGFloat, any Error>] = []
    private var arrivals: [CheckedContinuation<Void, Never>] = []
    private(set) var cleared = 0

    func render(_ content: AdContent, in view: PlatformView) async throws -> CGFloat {
        try await withCheckedThrowingContinuation { waiter in
            self.waiting.append(waiter)
            for arrival in self.arrivals { arrival.resume() }
            self.arrivals = []
        }
    }

    func clear(_ view: PlatformView) { self.cleared += 1 }

    func waitFor(_ count: Int) async {
        while self.waiting.count < count { await withCheckedContinuation { self.arrivals.append($0) } }
    }

    func finish(_ result: Result<CGFloat, any Error>) {
        self.waiting.removeFirst().resume(with: result)
    }
}

/// Shows content when the test says so, and goes on with it.
@MainActor
final class GatedInteractiveRenderer: InteractiveAdRenderer {
    let gate = GatedRenderer()
    var onClick: (@MainActor (_ address: String?) -> Void)?
    var onHeight: (@MainActor (_ height: CGFloat) -> Void)?
    var openURL: (@MainActor (URL) -> Void)?
    private(set) var resized = 0

    func render(_ content: AdContent, in view: PlatformView) async throws -> CGFloat {
        try await self.gate.render(content, in: view)
    }

    func clear(_ view: PlatformView) {}
    func viewResized(_ view: PlatformView) { self.resized += 1 }
}

/// A container of an app: the class is open.
final class ArticleAdvert: AdvertisementView {
    private(set) var loads = 0

    override func loadAd() {
        self.loads += 1
        super.loadAd()
    }
}

/// Keeps what it is told, and does something more where a test wants that.
@MainActor
final class StatusLog: AdvertisementViewDelegate {
    private(set) var kinds: [AdvertisementStatus.Kind] = []
    private(set) var heights: [CGFloat?] = []
    private(set) var errors: [AdvertisementError] = []
    /// Each height that was told after the view was rendered.
    private(set) var changedHeights: [CGFloat?] = []
    var onStatus: (@MainActor (AdvertisementView, AdvertisementStatus) -> Void)?

    func didChangeStatus(advertisementView: AdvertisementView, status: AdvertisementStatus) {
        #expect(advertisementView.status.kind == status.kind, "the status can be read in the callback")
        self.kinds.append(status.kind)
        self.heights.append(advertisementView.contentHeight)
        if case .failed(let error) = status { self.errors.append(error) }
        self.onStatus?(advertisementView, status)
    }

    func didChangeContentHeight(advertisementView: AdvertisementView) {
        self.changedHeights.append(advertisementView.contentHeight)
    }
}

/// The tests share the settings that all views share.
@Suite(.suiteLimit, .serialized)
@MainActor
struct AdvertisementViewTests {
    let source = ScriptedSource()
    let log = StatusLog()
    let image = AdContent(mediaType: "image/png", bytes: Images.png(640, 200))

    private func view(_ feed: String = "radio1", renderer: (any AdRenderer)? = nil) -> AdvertisementView {
        let view = AdvertisementView(
            frame: CGRect(x: 0, y: 0, width: 320, height: 10),
            contextFeedID: feed,
            context: "https://example.org/article",
            source: self.source,
            renderer: renderer ?? ImageSizeRenderer()
        )
        view.delegate = self.log
        return view
    }

    @Test func `a view is created at first, without a call of the delegate`() {
        let view: DianomiAdvertView = self.view()
        #expect(view.status.kind == .created)
        #expect(view.contentHeight == nil)
        #expect(self.log.kinds.isEmpty)
    }

    @Test func `a load goes by loading and loaded to rendered, and then the height is known`() async {
        let view = self.view("radio1/sidebar")
        view.loadAd()
        #expect(view.status.kind == .loading, "at once")
        await self.source.waitFor(1)
        self.source.answer(.success(self.image))
        await view.settled()
        #expect(self.log.kinds == [.loading, .loaded, .rendered])
        #expect(self.log.heights == [nil, nil, 100])
        #expect(view.contentHeight == 100)
        #expect(self.source.requests.map(\.feed.description) == ["radio1/sidebar"])
        #expect(self.source.requests.map(\.context) == ["https://example.org/article"])
    }

    @Test func `rendered waits for the renderer, however long that takes`() async {
        let renderer = GatedRenderer()
        let view = self.view(renderer: renderer)
        view.loadAd()
        await self.source.waitFor(1)
        self.source.answer(.success(self.image))
        await renderer.waitFor(1)
        #expect(view.status.kind == .loaded)
        #expect(view.contentHeight == nil)
        renderer.finish(.success(77))
        await view.settled()
        #expect(view.status.kind == .rendered)
        #expect(view.contentHeight == 77)
    }

    @Test(arguments: ["", " ", "radio 1", "radio1/", "/sidebar", "a/b/c", String(repeating: "a", count: 65)])
    func `a feed that cannot be requested fails at once, without loading`(feed: String) {
        let view = self.view(feed)
        view.loadAd()
        #expect(self.log.kinds == [.failed])
        guard case .failed(.invalidRequest) = view.status else { return #expect(Bool(false), "\(view.status)") }
        #expect(self.source.requests.isEmpty)
    }

    @Test func `the longest feed is taken`() {
        let part = String(repeating: "a", count: 64)
        #expect(ContextFeed("\(part)/\(part)")?.description == "\(part)/\(part)")
        #expect(ContextFeed("radio1") == ContextFeed("radio1"))
        #expect(ContextFeed("radio1")?.placement == nil)
    }

    @Test func `a request that the source cannot make is invalid`() {
        self.source.accepts = false
        let view = self.view()
        view.loadAd()
        #expect(self.log.kinds == [.failed])
    }

    @Test func `an invalid request also ends a load that goes on`() async {
        let view = self.view()
        view.loadAd()
        await self.source.waitFor(1)
        view.contextFeedID = ""
        view.loadAd()
        self.source.answer(.success(self.image))
        await view.settled()
        #expect(self.log.kinds == [.loading, .failed])
    }

    @Test func `the cause of a failed load is kept`() async {
        let view = self.view()
        view.loadAd()
        await self.source.waitFor(1)
        self.source.answer(.failure(Cause(number: 7)))
        await view.settled()
        #expect(self.log.kinds == [.loading, .failed])
        guard case .failed(.loadingError(let cause)) = view.status else { return #expect(Bool(false)) }
        #expect(cause as? Cause == Cause(number: 7))
    }

    @Test func `content that cannot be shown fails after it was loaded`() async {
        let view = self.view()
        view.loadAd()
        await self.source.waitFor(1)
        self.source.answer(.success(AdContent(mediaType: "image/png", bytes: [1, 2, 3])))
        await view.settled()
        #expect(self.log.kinds == [.loading, .loaded, .failed])
    }

    @Test(arguments: [CGFloat.nan, .infinity, -1]) func `a height that is none fails`(height: CGFloat) async {
        let renderer = GatedRenderer()
        let view = self.view(renderer: renderer)
        view.loadAd()
        await self.source.waitFor(1)
        self.source.answer(.success(self.image))
        await renderer.waitFor(1)
        renderer.finish(.success(height))
        await view.settled()
        #expect(view.status.kind == .failed)
        #expect(view.contentHeight == nil)
    }

    @Test func `loading again starts over, and what the first load brings is dropped`() async {
        let view = self.view()
        view.loadAd()
        await self.source.waitFor(1)
        view.loadAd()
        await self.source.waitFor(2)
        self.source.answer(.failure(Cause()))
        self.source.answer(.success(self.image))
        await view.settled()
        #expect(self.log.kinds == [.loading, .loading, .loaded, .rendered])
        view.loadAd()
        #expect(view.contentHeight == nil)
        #expect(view.status.kind == .loading)
        view.stop()
        await view.settled()
        #expect(self.source.requests.count == 2, "a load that is stopped before it began asks no provider")
    }

    @Test func `stopping goes back to created and tells the delegate`() async {
        let view = self.view()
        view.loadAd()
        await self.source.waitFor(1)
        view.stop()
        #expect(self.log.kinds == [.loading, .created])
        self.source.answer(.success(self.image))
        await view.settled()
        #expect(view.status.kind == .created)
        view.loadAd()
        await self.source.waitFor(1)
        self.source.answer(.success(self.image))
        await view.settled()
        view.stop()
        #expect(view.contentHeight == nil)
        #expect(self.log.kinds == [.loading, .created, .loading, .loaded, .rendered, .created])
        view.stop()
        #expect(self.log.kinds.count == 6, "nothing was loaded, so nothing happens")
    }

    @Test func `stopping while the content is being shown drops it`() async {
        let renderer = GatedRenderer()
        let view = self.view(renderer: renderer)
        view.loadAd()
        await self.source.waitFor(1)
        self.source.answer(.success(self.image))
        await renderer.waitFor(1)
        view.stop()
        #expect(renderer.cleared == 2, "before the load and at the stop")
        renderer.finish(.success(50))
        await view.settled()
        #expect(self.log.kinds == [.loading, .loaded, .created])
    }

    @Test func `the delegate may stop and load within its callback`() async {
        let view = self.view()
        self.log.onStatus = { view, status in
            if status.kind == .loading, self.log.kinds.count == 1 { view.stop() }
            if status.kind == .created { view.loadAd() }
        }
        view.loadAd()
        await self.source.waitFor(1)
        self.source.answer(.success(self.image))
        await view.settled()
        #expect(self.log.kinds == [.loading, .created, .loading, .loaded, .rendered])
        #expect(self.source.requests.count == 1, "the load that was stopped at once asked no provider")
    }

    @Test func `the delegate is held weakly, and a view may have none`() async {
        let view = self.view()
        var log: StatusLog? = StatusLog()
        view.delegate = log
        weak let weakLog = log
        log = nil
        #expect(weakLog == nil)
        view.loadAd()
        await self.source.waitFor(1)
        self.source.answer(.success(self.image))
        await view.settled()
        #expect(view.status.kind == .rendered)
    }

    @Test func `a view that is dropped while it loads is freed`() async {
        let renderer = GatedRenderer()
        var view: AdvertisementView? = self.view(renderer: renderer)
        weak let weakView = view
        view?.loadAd()
        await self.source.waitFor(1)
        self.source.answer(.success(self.image))
        await renderer.waitFor(1)
        view = nil
        #expect(weakView == nil)
        renderer.finish(.success(50))
    }

    @Test func `the content may show in the frame that the view was given, before its height is known`() async throws {
        let renderer = GatedRenderer()
        let view = self.view(renderer: renderer)
        let canvas = try #require(view.subviews.first)
        view.loadAd()
        await self.source.waitFor(1)
        self.source.answer(.success(self.image))
        await renderer.waitFor(1)
        #expect(canvas.frame.size == CGSize(width: 320, height: 10))
        renderer.finish(.success(50))
        await view.settled()
        #expect(canvas.frame.size == CGSize(width: 320, height: 50))
        #expect(view.frame.size == CGSize(width: 320, height: 10), "resizing the view is the app's work")
    }

    /// A view that has been rendered.
    private func renderedView(_ renderer: any AdRenderer, content: AdContent? = nil) async -> AdvertisementView {
        let view = self.view(renderer: renderer)
        view.loadAd()
        await self.source.waitFor(1)
        self.source.answer(.success(content ?? self.image))
        await view.settled()
        return view
    }

    @Test func `content is as wide as its view, and its height follows, up and down`() async throws {
        let view = await self.renderedView(ImageSizeRenderer())
        let canvas = try #require(view.subviews.first)
        #expect(view.contentHeight == 100)
        for (width, height) in [(160, 50), (640, 200), (320, 100)] as [(CGFloat, CGFloat)] {
            view.frame.size.width = width
            #expect(view.contentHeight == height)
            #expect(canvas.frame == CGRect(x: 0, y: 0, width: width, height: height))
        }
        view.frame.size.height = 100
        #expect(self.log.changedHeights == [50, 200, 100], "another height of the view changes nothing")
        #expect(self.log.kinds == [.loading, .loaded, .rendered], "the status stays")
    }

    @Test func `a view that is resized while its content is rendered fits in the end`() async {
        let renderer = GatedInteractiveRenderer()
        let view = self.view(renderer: renderer)
        view.loadAd()
        await self.source.waitFor(1)
        self.source.answer(.success(self.image))
        await renderer.gate.waitFor(1)
        view.frame.size.width = 160
        #expect(renderer.resized == 0, "there is nothing to resize yet")
        renderer.gate.finish(.success(100))
        await view.settled()
        #expect(renderer.resized == 1)
    }

    @Test func `content that changes by itself has another height, as often as is taken`() async {
        let renderer = GatedInteractiveRenderer()
        let view = self.view(renderer: renderer)
        view.loadAd()
        await self.source.waitFor(1)
        self.source.answer(.success(self.image))
        await renderer.gate.waitFor(1)
        renderer.onHeight?(5)
        #expect(view.contentHeight == nil, "not before it is rendered")
        renderer.gate.finish(.success(100))
        await view.settled()
        #expect(self.log.heights.last == 100 && self.log.changedHeights == [5], "but then")
        view.frame.size.width = 300
        renderer.onHeight?(100)
        view.frame.size.width = 320
        for height in [CGFloat.nan, .infinity, -1] { renderer.onHeight?(height) }
        #expect(view.contentHeight == 100)
        for change in 1...AdvertisementView.heightChangesMax {
            renderer.onHeight?(100 - CGFloat(change))
            #expect(view.contentHeight == 100 - CGFloat(change))
        }
        renderer.onHeight?(7)
        #expect(view.contentHeight == 100 - CGFloat(AdvertisementView.heightChangesMax), "one change too many")
        view.frame.size.width = 200
        renderer.onHeight?(7)
        #expect(view.contentHeight == 7, "with another width they count anew")
        let stale = renderer.onHeight
        view.loadAd()
        stale?(9)
        #expect(view.contentHeight == nil)
        view.stop()
    }

    @Test func `a chosen link opens, and the source is told first`() async throws {
        let links = LinkLog()
        let content = AdContent(mediaType: "image/png", bytes: Images.png(640, 200), targetURL: "https://a.example/1")
        let renderer = ImageSizeRenderer()
        let view = await self.renderedView(renderer, content: content)
        view.clickThroughs = links.handling()
        links.onOpen = { #expect(self.source.clicked == links.opened.count) }
        renderer.activate()
        view.activate()
        renderer.onClick?("https://b.example/2")
        #expect(links.opened == ["https://a.example/1", "https://a.example/1", "https://b.example/2"])
        renderer.onClick?("sms:1")
        #expect(self.source.clicked == 3 && links.events.last == .refused(address: "sms:1", .scheme("sms")))
        renderer.openURL = { links.open($0) { _ in } }
        view.clickThroughs = LinkLog().handling()
        renderer.activate()
        #expect(links.opened.count == 4 && self.source.clicked == 4, "the renderer's own opener goes first")
        let click = renderer.onClick
        view.stop()
        view.activate()
        click?(nil)
        #expect(links.opened.count == 4, "nothing is shown any more")
    }

    @Test func `content of which half is visible is told once for each load`() async {
        let view = await self.renderedView(ImageSizeRenderer())
        #if !canImport(UIKit) && !canImport(AppKit)
        #expect(self.source.shown == 0, "it is in no window")
        let window = HeadlessWindow(frame: CGRect(x: 0, y: 0, width: 400, height: 600))
        window.addSubview(view)
        #expect(self.source.shown == 1)
        view.isHidden = true
        view.isHidden = false
        #expect(self.source.shown == 1, "once for each showing")
        view.loadAd()
        await self.source.waitFor(1)
        #expect(self.source.shown == 1)
        self.source.answer(.success(self.image))
        await view.settled()
        #expect(self.source.shown == 2)
        #endif
    }

    @Test func `an app makes a container of its own class, without a feed at first`() async {
        let view = ArticleAdvert(frame: CGRect(x: 0, y: 0, width: 320, height: 10))
        #expect(view.contextFeedID.isEmpty)
        view.loadAd()
        #expect(view.status.kind == .failed && view.loads == 1)
        let renderer = GatedRenderer()
        view.contextFeedID = "radio1"
        view.source = self.source
        view.renderer = renderer
        view.loadAd()
        await self.source.waitFor(1)
        self.source.answer(.success(self.image))
        await renderer.waitFor(1)
        renderer.finish(.success(50))
        await view.settled()
        #expect(view.contentHeight == 50 && view.loads == 2)
        view.renderer = ImageSizeRenderer()
        view.loadAd()
        #expect(renderer.cleared == 1, "what the earlier renderer showed is gone")
        view.stop()
    }

    @Test func `the older name of the shared settings leads to the same ones`() {
        defer { AdvertisementSettings.shared = AdvertisementSettings() }
        DianomiAdverts.shared.userId = "user-2"
        #expect(DianomiAdverts.shared.userId == "user-2")
        #expect(AdvertisementSettings.shared.userID == "user-2")
    }

    @Test func `a delegate with the older names is told of status and height`() async {
        final class OlderDelegate: AdvertDelegate {
            var kinds: [AdvertStatus.Kind] = []
            var heights: [CGFloat?] = []

            func didChangeStatus(advertView: AdvertView, status: AdvertStatus) { self.kinds.append(status.kind) }

            func didChangeContentHeight(advertView: AdvertView) { self.heights.append(advertView.contentHeight) }
        }
        let older = OlderDelegate()
        let view = self.view()
        view.delegate = older
        view.loadAd()
        await self.source.waitFor(1)
        self.source.answer(.success(self.image))
        await view.settled()
        #expect(older.kinds == [.loading, .loaded, .rendered])
        view.frame.size.width = 160
        #expect(older.heights == [50])
    }

    @Test func `a change of the shared settings counts for what is loaded afterwards`() async {
        defer { AdvertisementSettings.shared = AdvertisementSettings() }
        let view = self.view()
        view.loadAd()
        AdvertisementSettings.shared.userID = "user-1"
        AdvertisementSettings.shared.consent = "consent"
        AdvertisementSettings.shared.appearanceOverride = .dark
        AdvertisementSettings.shared.advertisingID = "device-1"
        await self.source.waitFor(1)
        view.loadAd()
        await self.source.waitFor(2)
        let settings = self.source.requests.map(\.settings)
        #expect(settings.map(\.userID) == [nil, "user-1"])
        #expect(settings.map(\.consent) == [nil, "consent"])
        #expect(settings.map(\.appearanceOverride) == [nil, .dark])
        #expect(settings.map(\.advertisingID) == [nil, "device-1"])
        view.stop()
        self.source.answer(.success(self.image))
        self.source.answer(.success(self.image))
    }

    @Test func `events are logged with the shared logger if that is wanted`() async {
        defer { AdvertisementSettings.shared = AdvertisementSettings() }
        let logs = InMemoryLogHandler()
        var logger = Logger(label: "test", factory: { _ in logs })
        logger.logLevel = .trace
        AdvertisementSettings.shared.logger = logger
        let view = self.view("")
        view.loadAd()
        #expect(logs.entries.isEmpty)
        AdvertisementSettings.shared.loggingEnabled = true
        view.loadAd()
        #expect(logs.entries.count == 1)
        #expect(logs.entries.first?.level == .warning)
    }
}
