// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastApplicaster
import Foundation
import Testing

@testable import AdPresentation

@Suite(.suiteLimit)
@MainActor
struct AdvertisementManagerTests {
    let manager = AdvertisementManager()

    @Test func `the first provider is given, a fresh instance each time, with its configuration`() throws {
        #expect(self.manager.getAdPlugin() == nil)
        self.manager.register(TestPlugin.self, configurationJSON: ["unit": "home"])
        self.manager.register { TestPlugin("second") }
        let first = try #require(self.manager.getAdPlugin() as? TestPlugin)
        let again = try #require(self.manager.getAdPlugin() as? TestPlugin)
        #expect(first !== again)
        #expect(first.configuration?.object(forKey: "unit") as? String == "home")
        #expect(self.manager.makePlugin(at: 1)?.providerName() == "second")
        #expect(self.manager.makePlugin(at: 2) == nil)
        #expect(self.manager.makePlugin(at: -1) == nil)
    }

    @Test func `a configuration that is changed later does not count`() throws {
        let configuration = NSMutableDictionary()
        configuration.setObject("home", forKey: "unit" as NSString)
        self.manager.register(TestPlugin.self, configurationJSON: configuration)
        configuration.setObject("other", forKey: "unit" as NSString)
        let plugin = try #require(self.manager.getAdPlugin() as? TestPlugin)
        #expect(plugin.configuration?.object(forKey: "unit") as? String == "home")
    }

    @Test func `providers are limited in number, and can be forgotten`() {
        for _ in 0..<AdvertisementManager.providersMax { #expect(self.manager.register { TestPlugin() }) }
        #expect(!self.manager.register { TestPlugin() })
        #expect(self.manager.count == AdvertisementManager.providersMax)
        self.manager.removeAll()
        #expect(self.manager.getAdPlugin() == nil)
    }

    @Test func `the sizes that every provider knows`() {
        #expect(AdBannerSize.size(named: "BANNER") == CGSize(width: 320, height: 50))
        #expect(AdBannerSize.size(named: "BOX_BANNER") == CGSize(width: 320, height: 150))
        #expect(AdBannerSize.size(named: "SMART_BANNER") == CGSize(width: AdBannerSize.screenWidth, height: 50))
        #expect(AdBannerSize.smartBanner.size(screenWidth: 1_024) == CGSize(width: 1_024, height: 50))
        for name in ["", "banner", "LEADERBOARD"] { #expect(AdBannerSize.size(named: name) == .zero) }
    }

    @Test func `a configuration for a size is an inline banner`() {
        let inline = AdConfig(adUnitID: "home", inlineBannerSize: "BANNER")
        #expect(inline.adType == .inlineBanner)
        #expect(inline.inlineBannerSize == "BANNER")
        for type in AdType.allCases {
            let config = AdConfig(adUnitID: "home", adType: type)
            #expect(config.adType == type)
            #expect(config.adUnitID == "home")
            #expect(config.inlineBannerSize == nil)
        }
    }

    /// Written as older apps and providers are, with their names only.
    private final class OldPlugin: ZPAdPluginProtocol, ZPAdPluginRefreshProtocol {
        init(configurationJSON: NSDictionary?) {}
        func createAdPresenter(adView: any ZPAdViewProtocol, parentVC: PlatformViewController)
            -> any ZPAdPresenterProtocol
        {
            TestPresenter(adView: adView, parentVC: parentVC)
        }
        func size(forInlineBannerSize: String) -> CGSize { .zero }
        func providerName() -> String { "Old" }
        func reloadOnPullToRefresh() -> Bool { true }
        func reloadOnDidAppear() -> Bool { false }
    }

    @Test func `older providers are registered by the names that they know`() {
        let manager: ZPAdvertisementManager = self.manager
        manager.register(OldPlugin.self)
        let plugin: (any AdPluginProtocol)? = manager.getAdPlugin()
        #expect(plugin?.providerName() == "Old")
        #expect(ZPAdViewState.closed.rawValue == 6)
        #expect(ZPAdConfig(adUnitId: "home", adType: ZPAdType.interstitial).adType == .interstitial)
        #expect(ZPAdConfig(adUnitId: "home", inlineBannerSize: "BANNER").adUnitId == "home")
    }
}
