// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Foundation

#if canImport(UIKit) && !os(watchOS)
public import UIKit
#elseif canImport(AppKit)
public import AppKit
#endif

/// Runs a provider's plugin through every flow and reports each rule that it breaks.
///
/// It needs no test framework; call it from a test of your own, which imports the module as
/// `@_spi(ProviderChecks) import AdPresentation`:
///
/// ```swift
/// @Test @MainActor func `the plugin keeps the rules`() async {
///     var options = AdPluginConformance.Options(adUnitID: "test-unit")
///     options.failingAdUnitID = "no-such-unit"
///     let report = await AdPluginConformance(options) { HouseAdsPlugin(configurationJSON: nil) }.run()
///     #expect(report.isConformant, "\(report)")
/// }
/// ```
///
/// Every wait is bounded: a plugin that never answers is a finding. (One that blocks the main thread blocks the check.)
@_spi(ProviderChecks)
@MainActor
public struct AdPluginConformance {
    /// How a plugin is checked.
    public struct Options {
        /// An ad unit that has an advertisement of every type, every time.
        public var adUnitID: String
        /// An ad unit that has none; `nil`: failing is not checked.
        public var failingAdUnitID: String?
        /// The types that the provider serves; all to begin with.
        public var adTypes: [AdType] = AdType.allCases
        /// The inline banners that are loaded; `BANNER` to begin with.
        public var inlineBannerSizes: [String] = [AdBannerSize.banner.rawValue]
        /// How long to wait for what must come; 10 s.
        public var answerWaitMax: Duration = .seconds(10)
        /// How long to wait for what must not come; 100 ms.
        public var quietWait: Duration = .milliseconds(100)
        /// Is called before each flow, for instance to provide another advertisement.
        public var prepare: (@MainActor () async -> Void)?
        /// Opens the advertisement as a user would: of the banner's view, or of what the parent presents; `nil`: clicks are
        /// not checked.
        public var open: (@MainActor (_ banner: PlatformView?, _ parentVC: PlatformViewController) -> Void)?
        /// Closes the advertisement as a user would; `nil`: by ``AdClosingPresenter/close()``, where the presenter has it.
        public var close: (@MainActor (any AdPresenterProtocol, PlatformViewController) -> Void)?

        /// The defaults, for an ad unit that has an advertisement of every type, every time.
        public init(adUnitID: String) {
            self.adUnitID = adUnitID
        }
    }

    let options: Options
    let makePlugin: @MainActor () -> any AdPluginProtocol

    /// A check of the plugins that `makePlugin` makes; each flow has a new one.
    public init(_ options: Options, makePlugin: @escaping @MainActor () -> any AdPluginProtocol) {
        self.options = options
        self.makePlugin = makePlugin
    }

    /// Runs all flows, one after the other.
    public func run() async -> AdPluginReport {
        let plugin = self.makePlugin()
        var report = AdPluginReport(provider: plugin.providerName())
        self.checkPlugin(plugin, &report)
        for config in self.configs(adUnitID: self.options.adUnitID) {
            await self.options.prepare?()
            await self.runFlow(config, &report)
        }
        if let unit = self.options.failingAdUnitID {
            for config in self.configs(adUnitID: unit) { await self.runFailingFlow(config, &report) }
        } else {
            report.unchecked.append(.failing)
        }
        await self.options.prepare?()
        await self.checkReferences(&report)
        if self.options.open == nil {
            report.unchecked.append(.clicks)
        }
        return report
    }

    private func configs(adUnitID: String) -> [AdConfig] {
        self.options.adTypes.flatMap { type in
            type == .inlineBanner
                ? self.options.inlineBannerSizes.map { AdConfig(adUnitID: adUnitID, inlineBannerSize: $0) }
                : [AdConfig(adUnitID: adUnitID, adType: type)]
        }
    }

    // MARK: What needs no load

    private func checkPlugin(_ plugin: any AdPluginProtocol, _ report: inout AdPluginReport) {
        let flow = "plugin"
        report.flows.append(flow)
        let names = [plugin.providerName(), plugin.providerName(), self.makePlugin().providerName()]
        if Set(names).count != 1 || names[0].isEmpty { report.add(.hasName, in: flow, "the names \(names)") }
        for size in AdBannerSize.allCases {
            let (wanted, given) = (
                size.size(screenWidth: AdBannerSize.screenWidth), plugin.size(forInlineBannerSize: size.rawValue)
            )
            if given != wanted {
                report.add(.standardSizes, in: flow, "\(size.rawValue) is \(given.width)×\(given.height)")
            }
        }
        let unknown = plugin.size(forInlineBannerSize: "NO_SUCH_SIZE_\(UInt32.random(in: .min ... .max))")
        if unknown != .zero {
            report.add(.unknownSizeIsZero, in: flow, "a made-up size is \(unknown.width)×\(unknown.height)")
        }
        let (parent, probe) = (PlatformViewController(), ConformanceProbe(.inlineBanner))
        let first = plugin.createAdPresenter(adView: probe, parentVC: parent)
        let second = plugin.createAdPresenter(adView: probe, parentVC: parent)
        if first === second { report.add(.onePresenterPerAd, in: flow, "the same presenter twice") }
    }

    /// The state of a presenter's host and parent after the app has released them.
    private struct Leftovers {
        let presenter: any AdPresenterProtocol
        weak var probe: ConformanceProbe?
        weak var parent: PlatformViewController?
    }

    private func checkReferences(_ report: inout AdPluginReport) async {
        guard let config = self.configs(adUnitID: self.options.adUnitID).first else { return }
        let flow = "references"
        report.flows.append(flow)
        let plugin = self.makePlugin()
        let leftovers = self.makeLeftovers(plugin, config)
        let deadline = ContinuousClock.now + self.options.answerWaitMax
        // Work that a presenter began for its load may hold them for a moment.
        while leftovers.probe != nil || leftovers.parent != nil, ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(5))
            if Task.isCancelled { break }
        }
        if leftovers.probe != nil { report.add(.holdsViewWeakly, in: flow, "the view outlives its owner") }
        if leftovers.parent != nil { report.add(.holdsParentWeakly, in: flow, "the parent outlives its owner") }
        (leftovers.presenter as? any AdClosingPresenter)?.close()
    }

    private func makeLeftovers(_ plugin: any AdPluginProtocol, _ config: AdConfig) -> Leftovers {
        let (probe, parent) = (ConformanceProbe(config.adType), PlatformViewController())
        let presenter = plugin.createAdPresenter(adView: probe, parentVC: parent)
        presenter.load(adConfig: config)
        return Leftovers(presenter: presenter, probe: probe, parent: parent)
    }
}
