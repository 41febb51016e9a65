// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The order of calls between a host and a presenter, for one advertisement; it decides, it never acts.
struct AdFlow: Hashable, Sendable {
    /// Where the advertisement is between two calls.
    enum Phase: Hashable, Sendable {
        /// `load` was not called.
        case unused
        /// `load` was called, `.loading` is to come.
        case requested
        /// The answer is to come.
        case loading
        /// `adLoaded` came, `.loaded` is to come.
        case arrived
        /// `adLoadFailed` came, `.failed` is to come.
        case failing
        /// It is over: there is no advertisement.
        case failed
        /// There is one.
        case loaded
        /// It is over.
        case closed
    }

    /// The reports of a presenter.
    enum Report: Hashable, Sendable, CustomStringConvertible {
        case adLoaded(hasView: Bool)
        case adLoadFailed
        /// A state; for `.impressed`, whether at least half of the view is visible.
        case state(AdViewState, isVisible: Bool)

        static func state(_ state: AdViewState) -> Report { .state(state, isVisible: true) }

        var description: String {
            switch self {
            case .adLoaded(let hasView): hasView ? "adLoaded with a view" : "adLoaded without a view"
            case .adLoadFailed: "adLoadFailed"
            case .state(let state, _): ".\(state)"
            }
        }
    }

    let adType: AdType
    private(set) var phase = Phase.unused
    /// The last state that was taken.
    private(set) var state = AdViewState.uninitialized
    private(set) var isShown = false
    private(set) var isImpressed = false

    init(_ adType: AdType) {
        self.adType = adType
    }

    // MARK: The host's calls

    /// The host is about to call `load`.
    mutating func load() throws(AdOrderError) {
        guard self.phase == .unused else { throw .alreadyLoaded }
        self.phase = .requested
    }

    /// The host is about to call `showInterstitial`.
    mutating func show() throws(AdOrderError) {
        guard self.adType == .interstitial else { throw .notAnInterstitial }
        guard self.phase == .loaded else { throw .notLoaded(self.state) }
        guard !self.isShown else { throw .alreadyShown }
        self.isShown = true
    }

    // MARK: The presenter's reports

    /// Takes a report, or says which rule it breaks; then nothing has changed.
    mutating func take(_ report: Report) -> AdRule? {
        switch (self.phase, report) {
        case (_, .state(.uninitialized, _)): return .neverUninitialized
        case (.unused, _): return .silentBeforeLoad
        case (.closed, _): return .closedIsLast
        case (.requested, .state(.loading, _)):
            (self.phase, self.state) = (.loading, .loading)
        case (.requested, _), (_, .state(.loading, _)): return .loadingFirst
        case (.loading, .adLoaded(let hasView)):
            guard hasView == self.adType.isBanner else {
                return self.adType.isBanner ? .bannerBringsView : .interstitialBringsNoView
            }
            self.phase = .arrived
        case (.loading, .adLoadFailed): self.phase = .failing
        case (.loading, .state(.loaded, _)), (.loading, .state(.failed, _)): return .answerBeforeState
        case (.arrived, .state(.loaded, _)): (self.phase, self.state) = (.loaded, .loaded)
        case (.failing, .state(.failed, _)): (self.phase, self.state) = (.failed, .failed)
        case (_, .adLoaded), (_, .adLoadFailed), (_, .state(.loaded, _)), (_, .state(.failed, _)): return .oneAnswer
        case (.loaded, .state(let state, let isVisible)): return self.use(state, isVisible: isVisible)
        case (_, .state): return .loadedBeforeUse
        }
        return nil
    }

    private mutating func use(_ state: AdViewState, isVisible: Bool) -> AdRule? {
        guard self.isShown || self.adType.isBanner else { return .shownBeforeUse }
        if state == .impressed {
            guard !self.isImpressed else { return .impressedOnce }
            guard isVisible || !self.adType.isBanner else { return .impressedWhenVisible }
            self.isImpressed = true
        }
        if state == .closed { self.phase = .closed }
        self.state = state
        return nil
    }
}
