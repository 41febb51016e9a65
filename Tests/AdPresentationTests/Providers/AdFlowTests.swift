// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing

@_spi(ProviderChecks) @testable import AdPresentation

@Suite(.suiteLimit)
struct AdFlowTests {
    private static let reports: [AdFlow.Report] =
        [.adLoaded(hasView: true), .adLoaded(hasView: false), .adLoadFailed]
        + AdViewState.allCases.map { .state($0) }

    /// A flow after the given steps, all of which must be legal.
    private func flow(_ type: AdType, _ phase: AdFlow.Phase) throws -> AdFlow {
        var flow = AdFlow(type)
        guard phase != .unused else { return flow }
        try flow.load()
        let loaded = AdFlow.Report.adLoaded(hasView: type.isBanner)
        let path: [AdFlow.Report] =
            switch phase {
            case .unused, .requested: []
            case .loading: [.state(.loading)]
            case .arrived: [.state(.loading), loaded]
            case .failing: [.state(.loading), .adLoadFailed]
            case .failed: [.state(.loading), .adLoadFailed, .state(.failed)]
            case .loaded, .closed: [.state(.loading), loaded, .state(.loaded)]
            }
        for report in path { #expect(flow.take(report) == nil) }
        if phase == .closed {
            if type == .interstitial { try flow.show() }
            #expect(flow.take(.state(.closed)) == nil)
        }
        #expect(flow.phase == phase)
        return flow
    }

    private func expected(_ phase: AdFlow.Phase, _ report: AdFlow.Report, _ type: AdType) -> AdRule? {
        if case .state(.uninitialized, _) = report { return .neverUninitialized }
        let isUse =
            switch report {
            case .state(.impressed, _), .state(.clicked, _), .state(.closed, _): true
            default: false
            }
        let isLoading = report == .state(.loading)
        switch phase {
        case .unused: return .silentBeforeLoad
        case .closed: return .closedIsLast
        case .requested: return isLoading ? nil : .loadingFirst
        case .loading:
            switch report {
            case .adLoaded(let hasView):
                if hasView == type.isBanner { return nil }
                return type.isBanner ? .bannerBringsView : .interstitialBringsNoView
            case .adLoadFailed: return nil
            default: return isLoading ? .loadingFirst : isUse ? .loadedBeforeUse : .answerBeforeState
            }
        case .arrived where report == .state(.loaded), .failing where report == .state(.failed): return nil
        case .arrived, .failing, .failed: return isLoading ? .loadingFirst : isUse ? .loadedBeforeUse : .oneAnswer
        case .loaded:
            if isUse { return type.isBanner ? nil : .shownBeforeUse }
            return isLoading ? .loadingFirst : .oneAnswer
        }
    }

    @Test(
        arguments: AdType.allCases,
        [.unused, .requested, .loading, .arrived, .failing, .failed, .loaded, .closed] as [AdFlow.Phase]
    )
    func `every report is legal or names the rule that it breaks, and a broken rule changes nothing`(
        type: AdType,
        phase: AdFlow.Phase
    ) throws {
        for report in Self.reports {
            var flow = try self.flow(type, phase)
            let before = flow
            let rule = flow.take(report)
            #expect(rule == self.expected(phase, report, type), "\(report)")
            if rule != nil { #expect(flow == before) }
        }
    }

    @Test func `the order of the states is the one that apps know`() {
        #expect(AdViewState.allCases.map(\.rawValue) == Array(0...6))
        #expect(
            AdViewState.allCases.map { "\($0)" }
                == ["uninitialized", "loading", "failed", "loaded", "impressed", "clicked", "closed"]
        )
    }

    @Test func `a banner is impressed once, while at least half of it is visible`() throws {
        var flow = try self.flow(.inlineBanner, .loaded)
        let rules = [
            flow.take(.state(.impressed, isVisible: false)), flow.take(.state(.impressed)),
            flow.take(.state(.clicked)), flow.take(.state(.clicked)), flow.take(.state(.impressed)),
        ]
        #expect(rules == [.impressedWhenVisible, nil, nil, nil, .impressedOnce])
        #expect(flow.state == .clicked)
    }

    @Test func `an interstitial is shown once, when it is loaded`() throws {
        var flow = try self.flow(.interstitial, .loading)
        #expect(throws: AdOrderError.notLoaded(.loading)) { try flow.show() }
        flow = try self.flow(.interstitial, .arrived)
        #expect(throws: AdOrderError.notLoaded(.loading)) { try flow.show() }
        flow = try self.flow(.interstitial, .failed)
        #expect(throws: AdOrderError.notLoaded(.failed)) { try flow.show() }
        flow = try self.flow(.interstitial, .loaded)
        try flow.show()
        #expect(throws: AdOrderError.alreadyShown) { try flow.show() }
        let rules = [AdViewState.impressed, .clicked, .closed, .impressed].map { flow.take(.state($0)) }
        #expect(rules == [nil, nil, nil, .closedIsLast])
        #expect(throws: AdOrderError.notLoaded(.closed)) { try flow.show() }
    }

    @Test(arguments: [AdType.inlineBanner, .screenBanner]) func `a banner is not shown as an interstitial`(type: AdType)
        throws
    {
        var flow = try self.flow(type, .loaded)
        #expect(throws: AdOrderError.notAnInterstitial) { try flow.show() }
    }

    @Test func `a host loads once`() throws {
        var flow = try self.flow(.screenBanner, .requested)
        #expect(throws: AdOrderError.alreadyLoaded) { try flow.load() }
    }
}
