// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Views are placed exactly, and what becomes visible is told at once: that is so where no screen is involved.
#if !canImport(UIKit) && !canImport(AppKit)
import Foundation
import Testing

@_spi(ProviderChecks) @testable import AdPresentation

@Suite(.suiteLimit)
@MainActor
struct AdPluginConformanceTests {
    private func report(
        _ fault: AdRule? = nil,
        isDelayed: Bool = false,
        wait: Duration = .seconds(3),
        _ configure: (inout AdPluginConformance.Options) -> Void = { _ in }
    ) async -> AdPluginReport {
        var plugins: [TestPlugin] = []
        var options = AdPluginConformance.Options(adUnitID: "unit")
        options.failingAdUnitID = "no-unit"
        options.inlineBannerSizes = AdBannerSize.allCases.map(\.rawValue)
        options.quietWait = .milliseconds(100)
        // What never comes ends by a limit; what comes has as long as it takes.
        options.answerWaitMax = fault == nil ? .seconds(3_600) : wait
        options.open = { _, _ in plugins.last?.presenters.last?.open() }
        configure(&options)
        let kit = AdPluginConformance(options) {
            let plugin = TestPlugin(fault: fault, isDelayed: isDelayed)
            plugins.append(plugin)
            return plugin
        }
        return await kit.run()
    }

    @Test(arguments: [false, true]) func `a plugin that keeps all rules gives an empty report`(isDelayed: Bool) async {
        let report = await self.report(isDelayed: isDelayed)
        #expect(report.isConformant, "\(report)")
        #expect(report.skipped.isEmpty)
        #expect(report.provider == "Test")
        #expect(
            report.flows == [
                "plugin", "inline banner BANNER", "inline banner BOX_BANNER", "inline banner SMART_BANNER",
                "interstitial", "screen banner", "failing inline banner BANNER", "failing inline banner BOX_BANNER",
                "failing inline banner SMART_BANNER", "failing interstitial", "failing screen banner", "references",
            ]
        )
    }

    @Test(arguments: AdRule.allCases) func `a plugin that breaks one rule is reported with that rule only`(rule: AdRule)
        async
    {
        var report = await self.report(rule, wait: .milliseconds(500))
        // On a machine that is busy an answer may come later: then once more, with more time for each.
        for wait in [4, 32, 256] where report.findings.map(\.rule) != [rule] {
            report = await self.report(rule, wait: .seconds(wait))
        }
        #expect(report.findings.map(\.rule) == [rule], "\(report)")
        #expect(report.findings.allSatisfy { !$0.seen.isEmpty && report.flows.contains($0.flow) })
        #expect(report.description.contains("[\(rule.rawValue)] \(rule)"))
    }

    @Test func `a plugin that never answers is a finding, not a hang`() async {
        let report = await self.report(.answersInTime) { $0.adTypes = [.interstitial] }
        #expect(report.findings.map(\.rule) == [.answersInTime])
    }

    @Test func `every rule has a name and a sentence of its own`() {
        #expect(Set(AdRule.allCases.map(\.rawValue)).count == AdRule.allCases.count)
        #expect(Set(AdRule.allCases.map(\.description)).count == AdRule.allCases.count)
        for rule in AdRule.allCases { #expect(rule.description.hasSuffix(".")) }
    }

    @Test func `unchecked rules are listed`() async {
        let report = await self.report {
            $0.failingAdUnitID = nil
            $0.open = nil
            $0.adTypes = [.screenBanner]
        }
        #expect(report.isConformant)
        #expect(report.skipped.count == 2)
        #expect(report.flows == ["plugin", "screen banner", "references"])
    }

    @Test func `each flow is prepared`() async {
        var count = 0
        let report = await self.report { $0.prepare = { count += 1 } }
        #expect(report.isConformant)
        #expect(count == 6, "five advertisements are loaded, and one for the references")
    }
}
#endif
