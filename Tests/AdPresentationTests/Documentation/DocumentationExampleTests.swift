// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(ProviderChecks) import AdPresentation
import Foundation
import Testing

// The provider of the article "Writing a provider and checking it", word for word (`scripts/check-documents`), so that it
// compiles and does what the article says.

enum HouseAdError: Error { case noAdvertisement }

final class HouseAdPresenter: AdClosingPresenter {
    private weak var adView: (any AdViewProtocol)?
    private weak var parentVC: PlatformViewController?
    private let banner = PlatformView(frame: CGRect(x: 0, y: 0, width: 320, height: 50))
    private var tracker: ImpressionTracker?

    init(adView: any AdViewProtocol, parentVC: PlatformViewController) {
        self.adView = adView
        self.parentVC = parentVC
    }

    func load(adConfig: AdConfig) {
        self.adView?.stateChanged(adViewState: .loading)
        guard adConfig.adUnitID == "home", adConfig.adType == .inlineBanner else {
            self.adView?.adLoadFailed(error: HouseAdError.noAdvertisement)
            self.adView?.stateChanged(adViewState: .failed)
            return
        }
        self.adView?.adLoaded(view: self.banner)
        self.adView?.stateChanged(adViewState: .loaded)
        self.tracker = ImpressionTracker(self.banner) { [weak self] in
            self?.adView?.stateChanged(adViewState: .impressed)
        }
    }

    func getSize() -> CGSize { self.banner.frame.size }
    func showInterstitial() {}
    func close() { self.adView?.stateChanged(adViewState: .closed) }
}

final class HouseAdsPlugin: AdPluginProtocol {
    init(configurationJSON: NSDictionary?) {}

    func createAdPresenter(adView: any AdViewProtocol, parentVC: PlatformViewController) -> any AdPresenterProtocol {
        HouseAdPresenter(adView: adView, parentVC: parentVC)
    }

    func size(forInlineBannerSize: String) -> CGSize { AdBannerSize.size(named: forInlineBannerSize) }
    func providerName() -> String { "House ads" }
}

@Suite(.suiteLimit)
struct DocumentationExampleTests {
    @Test @MainActor func `the house ads keep the rules`() async {
        var options = AdPluginConformance.Options(adUnitID: "home")
        options.failingAdUnitID = "no-such-unit"
        options.adTypes = [.inlineBanner]
        options.answerWaitMax = .seconds(3_600)  // A busy machine breaks no rule.
        let report = await AdPluginConformance(options) { HouseAdsPlugin(configurationJSON: nil) }.run()
        #expect(report.isConformant, "\(report)")
    }
}
