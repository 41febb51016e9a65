// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Views are placed exactly, and what becomes visible is told at once: that is so where no screen is involved.
#if !canImport(UIKit) && !canImport(AppKit)
import Foundation
import Testing

@_spi(ProviderChecks) @testable import AdPresentation

/// Keeps what a session tells, and lets tests wait for a state.
@MainActor
final class SessionLog: AdPresentationDelegate {
    private(set) var states: [AdViewState] = []
    private(set) var failures: [String] = []
    private(set) var errors: [any Error] = []
    private(set) var violations: [AdOrderViolation] = []
    var onState: (@MainActor (AdPresentationSession, AdViewState) -> Void)?
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func adPresentation(_ session: AdPresentationSession, didChangeState state: AdViewState) {
        self.states.append(state)
        for waiter in self.waiters { waiter.resume() }
        self.waiters = []
        self.onState?(session, state)
    }

    func adPresentation(_ session: AdPresentationSession, provider: String, didFail error: any Error) {
        self.failures.append(provider)
        self.errors.append(error)
    }

    func adPresentation(_ session: AdPresentationSession, didRefuse violation: AdOrderViolation) {
        self.violations.append(violation)
    }

    /// Returns when the state was told, or when the session has failed.
    func waitFor(_ state: AdViewState) async {
        while !self.states.contains(state), self.states.last != .failed {
            await withCheckedContinuation { self.waiters.append($0) }
        }
    }
}

@Suite(.suiteLimit)
@MainActor
struct AdPresentationSessionTests {
    /// A provider that also says when to load anew.
    final class RefreshingPlugin: AdPluginProtocol, AdPluginRefreshProtocol {
        private let inner = TestPlugin("Refreshing")
        init(configurationJSON: NSDictionary?) {}
        func createAdPresenter(adView: any AdViewProtocol, parentVC: PlatformViewController) -> any AdPresenterProtocol
        {
            self.inner.createAdPresenter(adView: adView, parentVC: parentVC)
        }
        func size(forInlineBannerSize: String) -> CGSize { self.inner.size(forInlineBannerSize: forInlineBannerSize) }
        func providerName() -> String { "Refreshing" }
        func reloadOnPullToRefresh() -> Bool { true }
        func reloadOnDidAppear() -> Bool { false }
    }

    let manager = AdvertisementManager()
    let log = SessionLog()
    let parent = HeadlessViewController()
    let window = HeadlessWindow(frame: CGRect(x: 0, y: 0, width: 400, height: 600))
    let banner = AdConfig(adUnitID: "unit", inlineBannerSize: "BANNER")

    init() {
        self.window.addSubview(self.parent.view)
        self.parent.view.frame = self.window.bounds
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

    /// Registers a provider, and gives it once it was made.
    private func register(_ plugins: TestPlugin...) {
        for plugin in plugins { self.manager.register { plugin } }
    }

    @Test func `an inline banner is loaded, put in its place and impressed`() throws {
        let plugin = TestPlugin()
        self.register(plugin)
        let session = self.session(self.banner)
        #expect(session.state == .uninitialized)
        session.load()
        #expect(self.log.states == [.loading, .loaded, .impressed])
        let host = try #require(session.host as? InlineBannerHost)
        #expect(host.adView?.superview === self.parent.view)
        #expect(host.adView?.frame == CGRect(x: 0, y: 0, width: 320, height: 50))
        #expect(session.size == CGSize(width: 320, height: 50))
        #expect(session.providerName == "Test")
        #expect(plugin.presenters.map { $0.configs.map(\.adUnitID) } == [["unit"]], "one presenter, loaded once")
        plugin.presenters[0].open()
        plugin.presenters[0].open()
        #expect(self.log.states.suffix(2) == [.clicked, .clicked], "each click is told")
        plugin.presenters[0].close()
        #expect(session.state == .closed)
        #expect(host.adView?.superview == nil)
        #expect(self.log.violations.isEmpty)
    }

    @Test func `a screen banner is at the lower edge, in the middle`() {
        self.register(TestPlugin())
        let session = self.session(AdConfig(adUnitID: "unit", adType: .screenBanner))
        session.load()
        #expect(session.host is ScreenBannerHost)
        #expect(session.host?.adView?.frame == CGRect(x: 40, y: 550, width: 320, height: 50))
        #expect(session.state == .impressed)
    }

    @Test func `an interstitial is shown only when it is loaded, and once`() throws {
        let plugin = TestPlugin()
        self.register(plugin)
        let session = self.session(AdConfig(adUnitID: "unit", adType: .interstitial))
        #expect(throws: AdOrderError.notLoaded(.uninitialized)) { try session.showInterstitial() }
        session.load()
        #expect(session.host is InterstitialHost)
        #expect(session.host?.adView == nil)
        #expect(session.size == .zero)
        #expect(self.log.states == [.loading, .loaded])
        try session.showInterstitial()
        #expect(self.log.states == [.loading, .loaded, .impressed])
        #expect(throws: AdOrderError.alreadyShown) { try session.showInterstitial() }
        plugin.presenters[0].close()
        #expect(throws: AdOrderError.notLoaded(.closed)) { try session.showInterstitial() }
        #expect(plugin.presenters[0].shown == 1, "what is refused does not reach the presenter")
    }

    @Test func `an interstitial that loads still, or failed, is not shown`() async throws {
        let plugin = TestPlugin(fault: .answersInTime)
        self.register(plugin)
        let session = self.session(AdConfig(adUnitID: "unit", adType: .interstitial))
        session.load()
        #expect(throws: AdOrderError.notLoaded(.loading)) { try session.showInterstitial() }
        self.manager.removeAll()
        session.load()
        #expect(throws: AdOrderError.notLoaded(.failed)) { try session.showInterstitial() }
        #expect(plugin.presenters[0].shown == 0)
    }

    @Test func `a banner is not shown as an interstitial`() {
        self.register(TestPlugin())
        let session = self.session(self.banner)
        session.load()
        #expect(throws: AdOrderError.notAnInterstitial) { try session.showInterstitial() }
    }

    @Test func `the next provider is tried when one fails`() async {
        let plugins = [
            TestPlugin("first", fault: .loadsWhatExists),
            TestPlugin("second", fault: .loadsWhatExists, isDelayed: true),
            TestPlugin("third", isDelayed: true), TestPlugin("fourth"),
        ]
        for plugin in plugins { self.register(plugin) }
        let session = self.session(self.banner)
        session.load()
        await self.log.waitFor(.loaded)
        #expect(self.log.failures == ["first", "second"])
        #expect(self.log.errors.allSatisfy { $0 is TestPresenter.NoAd })
        #expect(session.providerName == "third")
        #expect(!self.log.states.contains(.failed), "the place has an advertisement")
        #expect(plugins.map(\.presenters.count) == [1, 1, 1, 0])
    }

    @Test func `where all providers fail the session fails, and says why`() {
        self.register(TestPlugin("first", fault: .loadsWhatExists), TestPlugin("second", fault: .loadsWhatExists))
        let session = self.session(self.banner)
        session.load()
        #expect(self.log.states == [.loading, .failed])
        #expect(self.log.failures == ["first", "second"])
        #expect(session.host == nil)
    }

    @Test func `without a provider the session fails`() {
        let session = self.session(self.banner)
        session.load()
        #expect(self.log.states == [.failed])
        #expect(self.log.errors.first as? AdLoadError == .noProvider)
    }

    @Test func `a provider that does not answer in time is given up for the next one`() async {
        let silent = TestPlugin("silent", fault: .answersInTime)
        self.register(silent, TestPlugin("second"))
        let session = self.session(self.banner)
        session.answerWaitMax = .milliseconds(20)
        session.load()
        await self.log.waitFor(.impressed)
        #expect(self.log.failures == ["silent"])
        #expect(self.log.errors.first as? AdLoadError == .noAnswer(after: .milliseconds(20)))
        #expect(session.providerName == "second")
        silent.presenters.first?.adView?.adLoaded(view: PlatformView())
        #expect(self.log.violations.isEmpty, "what comes too late is dropped")
        #expect(session.state == .impressed)
    }

    @Test(
        arguments: [
            .silentBeforeLoad, .loadingFirst, .oneAnswer, .answerBeforeState, .loadedBeforeUse, .bannerBringsView,
            .impressedOnce, .impressedWhenVisible, .closedIsLast, .neverUninitialized,
        ] as [AdRule]
    )
    func `a presenter's report out of order is refused and reported`(rule: AdRule) throws {
        let plugin = TestPlugin(fault: rule)
        self.register(plugin)
        let session = self.session(self.banner)
        if rule == .impressedWhenVisible { self.window.isHidden = true }
        session.load()
        plugin.presenters[0].close()
        let violation = try #require(self.log.violations.first)
        #expect(violation.rule == rule)
        #expect(violation.provider == "Test")
        #expect(violation.description.contains("\(rule)"))
        #expect(Set(self.log.states).count == self.log.states.count, "what was refused changed nothing")
        #expect(!self.log.states.contains(.uninitialized))
    }

    @Test(arguments: [AdRule.shownBeforeUse, .interstitialBringsNoView])
    func `an interstitial's report out of order is refused and reported`(rule: AdRule) {
        self.register(TestPlugin(fault: rule))
        let session = self.session(AdConfig(adUnitID: "unit", adType: .interstitial))
        session.load()
        #expect(self.log.violations.first?.rule == rule)
        #expect(!self.log.states.contains(.impressed))
    }

    @Test func `loading again closes the advertisement and takes another one, of a new presenter`() {
        let plugin = TestPlugin()
        self.register(plugin)
        let session = self.session(self.banner)
        session.load()
        session.load()
        #expect(self.log.states == [.loading, .loaded, .impressed, .loading, .loaded, .impressed])
        #expect(plugin.presenters.count == 2)
        #expect(plugin.presenters.map(\.closed) == [1, 0])
        #expect(self.parent.view.subviews.count == 1)
        plugin.presenters[0].adView?.stateChanged(adViewState: .clicked)
        #expect(session.state == .impressed, "what the first one still reports is dropped")
    }

    @Test func `closing ends the advertisement, and an app may load within a callback`() {
        let plugin = TestPlugin()
        self.register(plugin)
        let session = self.session(self.banner)
        session.load()
        session.close()
        #expect(session.state == .closed)
        #expect(self.log.states == [.loading, .loaded, .impressed, .closed])
        #expect(session.host == nil)
        #expect(self.parent.view.subviews.isEmpty)
        self.log.onState = { session, state in if state == .closed, plugin.presenters.count == 2 { session.load() } }
        session.load()
        session.close()
        #expect(plugin.presenters.count == 3)
        #expect(session.state == .impressed)
    }

    @Test func `closing while it loads drops what would still come`() {
        let plugin = TestPlugin(fault: .answersInTime)
        self.register(plugin)
        let session = self.session(self.banner)
        session.answerWaitMax = .milliseconds(1)
        session.load()
        session.close()
        plugin.presenters[0].adView?.adLoaded(view: PlatformView())
        plugin.presenters[0].adView?.stateChanged(adViewState: .loaded)
        #expect(session.state == .uninitialized)
        #expect(self.log.states == [.loading])
        #expect(self.parent.view.subviews.isEmpty)
        #expect(throws: AdOrderError.notAnInterstitial) { try session.showInterstitial() }
    }

    @Test func `a provider says when to load anew`() {
        self.manager.register(RefreshingPlugin.self)
        let session = self.session(self.banner)
        #expect(!session.pulledToRefresh(), "nothing was loaded yet")
        session.load()
        let host = session.host
        #expect(!session.didAppear())
        #expect(session.host === host)
        #expect(session.pulledToRefresh())
        #expect(session.host !== host)
    }

    @Test func `a provider that does not say so is not loaded anew`() {
        self.register(TestPlugin())
        let session = self.session(self.banner)
        session.load()
        #expect(!session.pulledToRefresh())
        #expect(!session.didAppear())
    }

    @Test func `the parent and the container are held weakly`() {
        self.register(TestPlugin())
        var parent: HeadlessViewController? = HeadlessViewController()
        weak let weakParent = parent
        weak let weakView = parent?.view
        let session = parent.map {
            AdPresentationSession(adConfig: self.banner, parentVC: $0, container: $0.view, manager: self.manager)
        }
        session?.load()
        #expect(session?.state == .loaded)
        parent = nil
        #expect(weakParent == nil)
        #expect(weakView == nil)
        session?.delegate = self.log
        session?.load()
        #expect(session?.state == .failed)
        #expect(self.log.errors.first as? AdLoadError == .noParent)
    }

    @Test func `a session that is dropped is freed with its presenter`() {
        self.manager.register { TestPlugin(isDelayed: true) }
        var session: AdPresentationSession? = self.session(self.banner)
        session?.load()
        weak let weakSession = session
        weak let weakHost = session?.host
        session = nil
        #expect(weakSession == nil)
        #expect(weakHost == nil)
    }
}
#endif
