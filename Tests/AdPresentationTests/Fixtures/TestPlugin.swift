// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

@_spi(ProviderChecks) @testable import AdPresentation

/// A provider that keeps all rules, but for the one that a test names.
@MainActor
final class TestPlugin: AdPluginProtocol {
    var fault: AdRule?
    /// Whether reports come later, and not from within the calls.
    var isDelayed = false
    var name = "Test"
    private(set) var presenters: [TestPresenter] = []
    private var only: TestPresenter?
    let configuration: NSDictionary?

    init(configurationJSON: NSDictionary?) {
        self.configuration = configurationJSON
    }

    convenience init(_ name: String = "Test", fault: AdRule? = nil, isDelayed: Bool = false) {
        self.init(configurationJSON: nil)
        (self.name, self.fault, self.isDelayed) = (name, fault, isDelayed)
    }

    func createAdPresenter(adView: any AdViewProtocol, parentVC: PlatformViewController) -> any AdPresenterProtocol {
        if self.fault == .onePresenterPerAd, let only = self.only { return only }
        let presenter = TestPresenter(adView: adView, parentVC: parentVC)
        presenter.fault = self.fault
        presenter.isDelayed = self.isDelayed
        presenter.knownSize = { [weak self] in self?.size(forInlineBannerSize: $0) ?? .zero }
        if self.fault == .holdsViewWeakly { presenter.strongView = adView }
        if self.fault == .holdsParentWeakly { presenter.strongParent = parentVC }
        if self.fault == .silentBeforeLoad { adView.stateChanged(adViewState: .loading) }
        if self.fault == .onePresenterPerAd { self.only = presenter }
        self.presenters.append(presenter)
        return presenter
    }

    func size(forInlineBannerSize: String) -> CGSize {
        if self.fault == .standardSizes, forInlineBannerSize == "BOX_BANNER" { return CGSize(width: 300, height: 250) }
        let size = AdBannerSize.size(named: forInlineBannerSize)
        return self.fault == .unknownSizeIsZero && size == .zero ? CGSize(width: 1, height: 1) : size
    }

    func providerName() -> String { self.fault == .hasName ? "" : self.name }
}

/// The presenter of ``TestPlugin``.
///
/// Ad units that begin with `no` have no advertisement.
@MainActor
final class TestPresenter: AdClosingPresenter {
    struct NoAd: Error {}

    weak var adView: (any AdViewProtocol)?
    weak var parentVC: PlatformViewController?
    var strongView: (any AdViewProtocol)?
    var strongParent: PlatformViewController?
    var fault: AdRule?
    var isDelayed = false
    var knownSize: (String) -> CGSize = { _ in .zero }
    private(set) var configs: [AdConfig] = []
    private(set) var shown = 0
    private(set) var closed = 0
    let view = PlatformView()
    private var tracker: ImpressionTracker?
    private var delayed: Task<Void, Never>?

    init(adView: any AdViewProtocol, parentVC: PlatformViewController) {
        self.adView = adView
        self.parentVC = parentVC
    }

    private var type: AdType { self.configs.first?.adType ?? .inlineBanner }

    private func report(_ state: AdViewState) { self.adView?.stateChanged(adViewState: state) }

    func load(adConfig: AdConfig) {
        self.configs.append(adConfig)
        guard self.isDelayed else { return self.answer() }
        self.delayed = Task { [weak self] in
            await Task.yield()
            self?.answer()
        }
    }

    private func answer() {
        if self.fault == .neverUninitialized { self.report(.uninitialized) }
        if self.fault != .loadingFirst { self.report(.loading) }
        if self.fault == .answersInTime { return }
        if self.fault == .answerBeforeState { return self.report(.loaded) }
        let exists = !(self.configs.first?.adUnitID.hasPrefix("no") ?? true) || self.fault == .failsWhatDoesNotExist
        guard exists, self.fault != .loadsWhatExists else {
            self.adView?.adLoadFailed(error: NoAd())
            return self.report(.failed)
        }
        let bringsView =
            switch self.fault {
            case .bannerBringsView: false
            case .interstitialBringsNoView: true
            default: self.type.isBanner
            }
        self.adView?.adLoaded(view: bringsView ? self.view : nil)
        if self.fault == .stateFollowsAnswer { return }
        if self.fault == .loadedBeforeUse { self.report(.clicked) }
        self.report(.loaded)
        if self.fault == .oneAnswer { self.adView?.adLoadFailed(error: NoAd()) }
        if self.fault == .shownBeforeUse, self.type == .interstitial { self.report(.impressed) }
        if self.fault == .impressedWhenVisible, self.type.isBanner { self.report(.impressed) }
        guard self.type.isBanner, self.fault != .visibleIsImpressed else { return }
        self.tracker = ImpressionTracker(self.view) { [weak self] in self?.impress() }
    }

    private func impress() {
        self.report(.impressed)
        if self.fault == .impressedOnce { self.report(.impressed) }
    }

    func getSize() -> CGSize {
        guard self.type.isBanner, self.fault != .bannerHasSize else { return .zero }
        return self.knownSize(self.configs.first?.inlineBannerSize ?? AdBannerSize.smartBanner.rawValue)
    }

    func showInterstitial() {
        self.shown += 1
        if self.fault != .shownIsImpressed { self.impress() }
    }

    /// The user acts on it.
    func open() {
        if self.fault != .openedIsClicked { self.report(.clicked) }
    }

    func close() {
        self.closed += 1
        guard self.closed == 1, self.fault != .closedIsReported else { return }
        self.report(.closed)
        if self.fault == .closedIsLast { self.report(.clicked) }
    }
}
