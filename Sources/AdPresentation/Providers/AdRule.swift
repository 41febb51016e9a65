// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Foundation

/// The rules for a provider.
@_spi(ProviderChecks)
@nonexhaustive
public enum AdRule: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    // Rules that a host checks and enforces.

    /// Nothing is reported before the load.
    case silentBeforeLoad = "silent-before-load"
    /// `.loading` is the first report of a load, and comes once.
    case loadingFirst = "loading-first"
    /// One answer: `adLoaded` or `adLoadFailed`, once.
    case oneAnswer = "one-answer"
    /// `.loaded` and `.failed` follow their answer.
    case answerBeforeState = "answer-before-state"
    /// Nothing comes between an answer and its state, and what is not loaded is neither shown, clicked nor closed.
    case loadedBeforeUse = "loaded-before-use"
    /// A banner brings a view.
    case bannerBringsView = "banner-brings-view"
    /// An interstitial brings no view.
    case interstitialBringsNoView = "interstitial-brings-no-view"
    /// An interstitial is impressed, clicked and closed only after it was to be shown.
    case shownBeforeUse = "shown-before-use"
    /// A banner is impressed only while at least half of it is visible.
    case impressedWhenVisible = "impressed-when-visible"
    /// One impression.
    case impressedOnce = "impressed-once"
    /// `.closed` is the last report.
    case closedIsLast = "closed-is-last"
    /// `.uninitialized` is never reported.
    case neverUninitialized = "never-uninitialized"

    // Rules that only a check sees.

    /// A load is answered.
    case answersInTime = "answers-in-time"
    /// After its answer a load reaches its state.
    case stateFollowsAnswer = "state-follows-answer"
    /// A load that can succeed does.
    case loadsWhatExists = "loads-what-exists"
    /// A load that cannot succeed fails.
    case failsWhatDoesNotExist = "fails-what-does-not-exist"
    /// A banner of which at least half becomes visible is impressed.
    case visibleIsImpressed = "visible-is-impressed"
    /// An interstitial that is to be shown is impressed.
    case shownIsImpressed = "shown-is-impressed"
    /// Content that the user opens is reported as clicked.
    case openedIsClicked = "opened-is-clicked"
    /// Content that is closed is reported as closed.
    case closedIsReported = "closed-is-reported"
    /// A banner knows its size.
    case bannerHasSize = "banner-has-size"
    /// The sizes that every provider knows.
    case standardSizes = "standard-sizes"
    /// An unknown size is zero.
    case unknownSizeIsZero = "unknown-size-is-zero"
    /// A provider has a name that stays.
    case hasName = "has-name"
    /// One presenter per advertisement.
    case onePresenterPerAd = "one-presenter-per-ad"
    /// The view is held weakly.
    case holdsViewWeakly = "holds-view-weakly"
    /// The parent is held weakly.
    case holdsParentWeakly = "holds-parent-weakly"

    /// The rule in a sentence.
    public var description: String {
        switch self {
        case .silentBeforeLoad: "A presenter reports nothing before load(adConfig:)."
        case .loadingFirst: "The first report of a load is .loading, and it comes once."
        case .oneAnswer: "A load has exactly one answer: adLoaded or adLoadFailed."
        case .answerBeforeState: ".loaded comes after adLoaded, and .failed after adLoadFailed."
        case .loadedBeforeUse: "Only what has reported .loaded is impressed, clicked or closed."
        case .bannerBringsView: "adLoaded brings the view of a banner."
        case .interstitialBringsNoView: "adLoaded brings no view with an interstitial."
        case .shownBeforeUse: "An interstitial is impressed, clicked and closed only after showInterstitial()."
        case .impressedWhenVisible: "A banner reports .impressed only while at least half of it is visible."
        case .impressedOnce: "An advertisement reports .impressed once."
        case .closedIsLast: ".closed is the last report of an advertisement."
        case .neverUninitialized: "No presenter reports .uninitialized."
        case .answersInTime: "A load reports .loading and is answered within the time allowed."
        case .stateFollowsAnswer: "adLoaded is followed by .loaded, and adLoadFailed by .failed."
        case .loadsWhatExists: "A load of an advertisement that exists succeeds."
        case .failsWhatDoesNotExist: "A load of an advertisement that does not exist fails."
        case .visibleIsImpressed: "A banner reports .impressed when at least half of it has become visible."
        case .shownIsImpressed: "After showInterstitial() an interstitial reports .impressed."
        case .openedIsClicked: "An advertisement reports .clicked when the user opens it."
        case .closedIsReported: "An advertisement reports .closed when it is closed."
        case .bannerHasSize: "getSize() of a banner is its size, and that of its inlineBannerSize where it has one."
        case .standardSizes: "BANNER is 320×50, BOX_BANNER 320×150, and SMART_BANNER as wide as the screen and 50 high."
        case .unknownSizeIsZero: "The size of a name that the provider does not know is zero."
        case .hasName: "providerName() is not empty and always the same."
        case .onePresenterPerAd: "createAdPresenter makes a new presenter each time."
        case .holdsViewWeakly: "A presenter holds its view weakly."
        case .holdsParentWeakly: "A presenter holds its parent view controller weakly."
        }
    }
}

/// A report that came against the rules, and was refused.
public struct AdOrderViolation: Hashable, Sendable, CustomStringConvertible {
    /// The rule that was broken.
    @_spi(ProviderChecks) public let rule: AdRule
    /// The name of the provider that broke it.
    public let provider: String
    /// The report, and its moment.
    public let seen: String

    /// The provider, what it did and the rule.
    public var description: String { "\(self.provider): \(self.seen). \(self.rule)" }
}

/// Why an app's call came at a wrong time, and was refused.
@nonexhaustive
public enum AdOrderError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    /// Banners are shown by their view.
    case notAnInterstitial
    /// The advertisement is not loaded; this is its state.
    case notLoaded(AdViewState)
    /// It was shown already.
    case alreadyShown
    /// The view controller that is to present it lives no more.
    case noParent
    /// This host has loaded already: there is one host per advertisement.
    case alreadyLoaded

    /// One sentence for people.
    public var description: String {
        switch self {
        case .notAnInterstitial: "Only an interstitial can be shown."
        case .notLoaded(let state): "The interstitial is not loaded: it is \(state)."
        case .alreadyShown: "The interstitial was shown already."
        case .noParent: "The view controller that is to present the interstitial lives no more."
        case .alreadyLoaded: "The advertisement was loaded already."
        }
    }

    /// The same sentence.
    public var errorDescription: String? { self.description }
}
