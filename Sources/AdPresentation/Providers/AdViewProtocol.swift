// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Foundation

#if canImport(UIKit) && !os(watchOS)
public import UIKit
#elseif canImport(AppKit)
public import AppKit
#endif

/// The side of the app: is told by a presenter what becomes of its advertisement.
@MainActor
public protocol AdViewProtocol: AnyObject {
    /// The advertisement is here: with the provider's view where it is a banner, with `nil` where it is an interstitial.
    ///
    /// ``AdViewState/loaded`` follows.
    func adLoaded(view: PlatformView?)

    /// The advertisement is in another state.
    func stateChanged(adViewState: AdViewState)

    /// There is no advertisement. ``AdViewState/failed`` follows.
    func adLoadFailed(error: any Error)
}

/// How far an advertisement of a provider is.
public enum AdViewState: Int, Hashable, Sendable, CaseIterable {
    /// Nothing was loaded yet.
    case uninitialized
    /// The provider loads it.
    case loading
    /// There is none.
    case failed
    /// It is here.
    case loaded
    /// It is shown: at least half of it is visible.
    case impressed
    /// The user opened it.
    case clicked
    /// It was closed.
    case closed
}

/// The kinds of place that an advertisement has in an app.
public enum AdType: Hashable, Sendable, CaseIterable {
    /// Between other content.
    case inlineBanner
    /// Over everything, until it is closed.
    case interstitial
    /// At the edge of the screen.
    case screenBanner

    /// Whether it is one of the banners, which bring a view.
    public var isBanner: Bool { self != .interstitial }
}

/// The configuration of a presenter's load.
public final class AdConfig: Sendable {
    /// The provider's name for the place.
    public let adUnitID: String
    /// The kind of place.
    public let adType: AdType
    /// The name of the size of an inline banner, for instance ``AdBannerSize/banner``; `nil`: not given.
    public let inlineBannerSize: String?

    /// An inline banner of the size with this name.
    public init(adUnitID: String, inlineBannerSize: String?) {
        self.adUnitID = adUnitID
        self.adType = .inlineBanner
        self.inlineBannerSize = inlineBannerSize
    }

    /// An advertisement for a place of this kind.
    public init(adUnitID: String, adType: AdType) {
        self.adUnitID = adUnitID
        self.adType = adType
        self.inlineBannerSize = nil
    }
}

/// The side of the provider: loads and shows one advertisement.
///
/// After ``load(adConfig:)`` it reports `.loading`, then exactly one of `adLoaded` and `.loaded`, or `adLoadFailed` and
/// `.failed`; later `.impressed` once, `.clicked` each time and `.closed` at the end. Reports may come from within the
/// calls. ``AdRule`` has every rule, and ``AdPluginConformance`` checks them.
@MainActor
public protocol AdPresenterProtocol: AnyObject {
    /// A presenter of one advertisement.
    ///
    /// - Parameters:
    ///   - adView: is told what becomes of it; hold it weakly.
    ///   - parentVC: presents what covers the screen; hold it weakly.
    init(adView: any AdViewProtocol, parentVC: PlatformViewController)

    /// Loads the advertisement. Called once.
    func load(adConfig: AdConfig)

    /// The size of a banner in points, of every banner type; zero before it is known and for interstitials.
    func getSize() -> CGSize

    /// Shows an interstitial that is loaded; `.impressed` follows. Called at most once.
    func showInterstitial()
}

/// A presenter whose advertisement can be closed by the app.
@MainActor
public protocol AdClosingPresenter: AdPresenterProtocol {
    /// Closes the advertisement, where it is loaded and not closed; `.closed` follows.
    func close()
}

/// A provider of advertisements.
@MainActor
public protocol AdPluginProtocol: AnyObject {
    /// A provider that is set up by what the app's configuration says about it; `nil`: nothing.
    init(configurationJSON: NSDictionary?)

    /// Makes a presenter, a new one each time: one presenter per advertisement.
    ///
    /// - Parameters:
    ///   - adView: is told what becomes of the advertisement; the presenter holds it weakly.
    ///   - parentVC: presents what covers the screen; the presenter holds it weakly.
    /// - Returns: the presenter, which has loaded nothing yet.
    func createAdPresenter(adView: any AdViewProtocol, parentVC: PlatformViewController) -> any AdPresenterProtocol

    /// The size in points that the name of a size stands for; zero for a name that the provider does not know.
    ///
    /// ``AdBannerSize`` has the names that every provider knows.
    func size(forInlineBannerSize: String) -> CGSize

    /// The provider's name in analytics and reports.
    func providerName() -> String
}

/// A provider that says when its advertisements are to be loaded anew.
///
/// Without it they are not.
@MainActor
public protocol AdPluginRefreshProtocol: AnyObject {
    /// Whether to load anew when the user pulls to refresh.
    func reloadOnPullToRefresh() -> Bool

    /// Whether to load anew when the screen appears again.
    func reloadOnDidAppear() -> Bool
}
