// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Foundation

#if canImport(UIKit) && !os(watchOS)
internal import UIKit
#elseif canImport(AppKit)
internal import AppKit
#endif

/// Is told what becomes of the advertisement of one host.
@MainActor
protocol AdHostObserver: AnyObject {
    func host(_ host: AdHost, changedTo state: AdViewState)
    func host(_ host: AdHost, refused violation: AdOrderViolation)
}

/// The app's side of one advertisement of one provider; see the three kinds of it.
///
/// It holds the presenter and checks the order of calls on both sides: what a presenter reports against ``AdRule`` is
/// refused, told to the session and changes nothing. ``AdPresentationSession`` makes hosts.
@MainActor
class AdHost: AdViewProtocol {
    /// The provider's name, for analytics and reports.
    let providerName: String
    /// The configuration of the load.
    let adConfig: AdConfig
    /// The provider's view of a banner; `nil` before it is loaded and for interstitials.
    private(set) var adView: PlatformView?

    /// Why there is no advertisement; `nil`: it did not fail.
    private(set) var error: (any Error)?

    private(set) var presenter: (any AdPresenterProtocol)?
    private var flow: AdFlow
    private weak var observer: (any AdHostObserver)?
    private(set) weak var container: PlatformView?

    init(_ config: AdConfig, provider: String, container: PlatformView?, observer: any AdHostObserver) {
        self.adConfig = config
        self.providerName = provider
        self.flow = AdFlow(config.adType)
        self.container = container
        self.observer = observer
    }

    /// How far the advertisement is.
    var state: AdViewState { self.flow.state }

    /// The size of the banner in points.
    var size: CGSize { self.presenter?.getSize() ?? .zero }

    func load(with plugin: any AdPluginProtocol, parentVC: PlatformViewController) throws(AdOrderError) {
        let presenter = plugin.createAdPresenter(adView: self, parentVC: parentVC)
        self.presenter = presenter
        try self.flow.load()
        presenter.load(adConfig: self.adConfig)
    }

    func showInterstitial() throws(AdOrderError) {
        try self.flow.show()
        self.presenter?.showInterstitial()
    }

    /// Closes the advertisement, where its presenter can.
    func close() {
        (self.presenter as? any AdClosingPresenter)?.close()
    }

    /// Closes the advertisement, gives up the presenter and takes its view away; nothing of that is passed on.
    func discard() {
        self.observer = nil
        self.close()
        self.adView?.removeFromSuperview()
        self.presenter = nil
    }

    /// Puts the provider's view in its place.
    func place(_ view: PlatformView, in container: PlatformView) {}

    // MARK: The presenter's reports

    /// Takes the advertisement, and puts a banner in its place.
    func adLoaded(view: PlatformView?) {
        guard self.isLegal(.adLoaded(hasView: view != nil)), let view else { return }
        self.adView = view
        if let container = self.container { self.place(view, in: container) }
    }

    /// Takes the state.
    func stateChanged(adViewState: AdViewState) {
        let isVisible = self.adView.map { Visibility.isImpressed($0) } ?? false
        guard self.isLegal(.state(adViewState, isVisible: isVisible)) else { return }
        self.observer?.host(self, changedTo: adViewState)
        if adViewState == .closed { self.adView?.removeFromSuperview() }
    }

    /// Takes that there is no advertisement.
    func adLoadFailed(error: any Error) {
        if self.isLegal(.adLoadFailed) { self.error = error }
    }

    private func isLegal(_ report: AdFlow.Report) -> Bool {
        let before = self.flow.state
        guard let rule = self.flow.take(report) else { return true }
        let seen = "\(report) while the advertisement was .\(before)"
        self.observer?.host(self, refused: AdOrderViolation(rule: rule, provider: self.providerName, seen: seen))
        return false
    }
}

/// Hosts a banner between other content: at the origin of its container, in its own size.
@MainActor
final class InlineBannerHost: AdHost {
    override func place(_ view: PlatformView, in container: PlatformView) {
        view.frame = CGRect(origin: .zero, size: self.size)
        container.addSubview(view)
    }
}

/// Hosts a banner at the lower edge of its container, in the middle and no wider than that.
@MainActor
final class ScreenBannerHost: AdHost {
    override func place(_ view: PlatformView, in container: PlatformView) {
        let (size, bounds) = (self.size, container.bounds)
        let width = min(size.width, bounds.width)
        #if canImport(AppKit) && !canImport(UIKit)
        let y = container.isFlipped ? bounds.maxY - size.height : bounds.minY
        #else
        let y = bounds.maxY - size.height
        #endif
        view.frame = CGRect(x: bounds.minX + (bounds.width - width) / 2, y: y, width: width, height: size.height)
        container.addSubview(view)
    }
}

/// Hosts an interstitial, which its presenter shows over everything.
@MainActor
final class InterstitialHost: AdHost {}
