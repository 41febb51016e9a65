// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Foundation

#if canImport(UIKit) && !os(watchOS)
internal import UIKit
#elseif canImport(AppKit)
internal import AppKit
#endif

// The life of one advertisement, as an app leads it.
extension AdPluginConformance {
    /// The area that the kit shows banners in.
    private static let windowHeight: CGFloat = 600

    /// One presenter with what belongs to it.
    @MainActor
    final class Stage {
        let flow: String
        let probe: ConformanceProbe
        let parent = PlatformViewController()
        let presenter: any AdPresenterProtocol
        let plugin: any AdPluginProtocol
        let config: AdConfig
        private let window: AnyObject

        init(_ plugin: any AdPluginProtocol, _ config: AdConfig, _ flow: String) {
            self.plugin = plugin
            self.config = config
            self.flow = flow
            self.probe = ConformanceProbe(config.adType)
            let width = max(AdBannerSize.screenWidth, 400)
            self.window = PlatformPresentation.makeWindow(
                for: self.parent,
                size: CGSize(width: width, height: windowHeight)
            )
            self.presenter = plugin.createAdPresenter(adView: self.probe, parentVC: self.parent)
        }
    }

    /// Why a flow goes no further.
    struct Broken: Error {
        let rule: AdRule
        let seen: String
    }

    func runFlow(_ config: AdConfig, _ report: inout AdPluginReport) async {
        let stage = Stage(self.makePlugin(), config, Self.name(of: config))
        report.flows.append(stage.flow)
        do throws(Broken) {
            try await self.load(stage)
            guard stage.probe.flow.phase == .loaded else {
                throw Broken(
                    rule: .loadsWhatExists,
                    seen: "ad unit '\(config.adUnitID)' failed: \(stage.probe.error.map { "\($0)" } ?? "no error")"
                )
            }
            try await self.quiet(stage)
            if let view = stage.probe.view {
                try await self.showBanner(stage, view)
            } else {
                try await self.showInterstitial(stage)
            }
            try await self.use(stage, &report)
        } catch {
            report.add(error.rule, in: stage.flow, error.seen)
        }
        stage.probe.view?.removeFromSuperview()
    }

    func runFailingFlow(_ config: AdConfig, _ report: inout AdPluginReport) async {
        let stage = Stage(self.makePlugin(), config, "failing \(Self.name(of: config))")
        report.flows.append(stage.flow)
        do throws(Broken) {
            try await self.load(stage)
            guard stage.probe.flow.phase == .failed else {
                throw Broken(rule: .failsWhatDoesNotExist, seen: "ad unit '\(config.adUnitID)' was loaded")
            }
            try await self.quiet(stage)
        } catch {
            report.add(error.rule, in: stage.flow, error.seen)
        }
    }

    private static func name(of config: AdConfig) -> String {
        switch config.adType {
        case .inlineBanner: "inline banner \(config.inlineBannerSize ?? "")"
        case .screenBanner: "screen banner"
        case .interstitial: "interstitial"
        }
    }

    // MARK: Steps

    private func load(_ stage: Stage) async throws(Broken) {
        try await self.quiet(stage)
        stage.probe.load(stage.presenter, stage.config)
        let isAnswered = { (probe: ConformanceProbe) in ![.requested, .loading].contains(probe.flow.phase) }
        try await self.expect(stage, .answersInTime, "no answer after .\(stage.probe.flow.state)", isAnswered)
        let isSettled = { (probe: ConformanceProbe) in [.loaded, .failed].contains(probe.flow.phase) }
        let missing = stage.probe.flow.phase == .failing ? ".failed" : ".loaded"
        try await self.expect(stage, .stateFollowsAnswer, "no \(missing) after the answer", isSettled)
    }

    private func showBanner(_ stage: Stage, _ view: PlatformView) async throws(Broken) {
        let size = stage.presenter.getSize()
        let named = stage.config.inlineBannerSize.map { stage.plugin.size(forInlineBannerSize: $0) }
        guard size.width > 0, size.height > 0, size.width.isFinite, size.height.isFinite, named == nil || named == size
        else {
            throw Broken(rule: .bannerHasSize, seen: "getSize() is \(size.width)×\(size.height)")
        }
        // Two fifths of it lie within the window: that is not half.
        view.frame = CGRect(x: 0, y: Self.windowHeight - size.height * 0.4, width: size.width, height: size.height)
        stage.parent.view.addSubview(view)
        try await self.quiet(stage)
        let height = min(size.height, Self.windowHeight)
        view.frame = CGRect(x: 0, y: 0, width: size.width, height: height)
        try await self.expect(stage, .visibleIsImpressed, "no .impressed for a banner in full view") {
            $0.flow.isImpressed
        }
        try await self.quiet(stage)
    }

    private func showInterstitial(_ stage: Stage) async throws(Broken) {
        stage.probe.show(stage.presenter)
        try await self.expect(stage, .shownIsImpressed, "no .impressed after showInterstitial()") {
            $0.flow.isImpressed
        }
        try await self.quiet(stage)
    }

    /// Opens and closes what is shown.
    private func use(_ stage: Stage, _ report: inout AdPluginReport) async throws(Broken) {
        if let open = self.options.open {
            open(stage.probe.view, stage.parent)
            try await self.expect(stage, .openedIsClicked, "no .clicked after it was opened") {
                $0.flow.state == .clicked
            }
        }
        if let close = self.options.close {
            close(stage.presenter, stage.parent)
        } else if let presenter = stage.presenter as? any AdClosingPresenter {
            presenter.close()
        } else {
            if !report.unchecked.contains(.closing) { report.unchecked.append(.closing) }
            return
        }
        try await self.expect(stage, .closedIsReported, "no .closed after it was closed") { $0.flow.phase == .closed }
        try await self.quiet(stage)
    }

    private func expect(
        _ stage: Stage,
        _ rule: AdRule,
        _ seen: String,
        _ isDone: (ConformanceProbe) -> Bool
    ) async throws(Broken) {
        guard await !stage.probe.wait(atMost: self.options.answerWaitMax, until: isDone) else { return }
        if let broken = stage.probe.broken { throw Broken(rule: broken.rule, seen: broken.seen) }
        throw Broken(rule: rule, seen: "\(seen) within \(self.options.answerWaitMax)")
    }

    private func quiet(_ stage: Stage) async throws(Broken) {
        guard await !stage.probe.stayQuiet(for: self.options.quietWait), let broken = stage.probe.broken else { return }
        throw Broken(rule: broken.rule, seen: broken.seen)
    }
}
