// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// A plugin and the view that uses it, written for another library of pluggable providers, going on with this one.
import AdPresentation
import Cuecast
import CuecastApplicaster
import CuecastNIO
import Foundation

// snippet.plugin
final class HouseAds: ZPAdPluginProtocol, ZPAdPluginRefreshProtocol {
    init(configurationJSON: NSDictionary?) {}

    func createAdPresenter(
        adView: any ZPAdViewProtocol,
        parentVC: PlatformViewController
    ) -> any ZPAdPresenterProtocol {
        HousePresenter(adView: adView, parentVC: parentVC)
    }

    func size(forInlineBannerSize: String) -> CGSize { AdBannerSize.size(named: forInlineBannerSize) }
    func providerName() -> String { "House ads" }
    func reloadOnPullToRefresh() -> Bool { true }
    func reloadOnDidAppear() -> Bool { false }
}
// snippet.end

// snippet.presenter
final class HousePresenter: ZPAdPresenterProtocol {
    private weak var adView: (any ZPAdViewProtocol)?
    private weak var parentVC: PlatformViewController?
    private let banner = PlatformView(frame: CGRect(x: 0, y: 0, width: 320, height: 50))
    private var tracker: ImpressionTracker?

    init(adView: any ZPAdViewProtocol, parentVC: PlatformViewController) {
        self.adView = adView
        self.parentVC = parentVC
    }

    func load(adConfig: ZPAdConfig) {
        self.adView?.stateChanged(adViewState: .loading)
        guard adConfig.adType == .inlineBanner else {
            self.adView?.adLoadFailed(error: AdContentError.noAdvertisement)
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
}
// snippet.end

// snippet.view
final class BannerPlace: PlatformViewController, ZPAdViewProtocol {
    private var presenter: (any ZPAdPresenterProtocol)?

    func showBanner() {
        guard let plugin = ZPAdvertisementManager.shared.getAdPlugin() else { return }
        self.presenter = plugin.createAdPresenter(adView: self, parentVC: self)
        self.presenter?.load(adConfig: ZPAdConfig(adUnitId: "home", inlineBannerSize: "BANNER"))
    }

    func adLoaded(view: PlatformView?) {
        if let view { self.view.addSubview(view) }
    }

    func stateChanged(adViewState: ZPAdViewState) { print("the banner is", adViewState) }
    func adLoadFailed(error: any Error) { print("no banner:", error.localizedDescription) }
}
// snippet.end

// snippet.register
@MainActor
func setUpProviders(_ client: CuecastClient) {
    AdvertisementManager.shared.register(HouseAds.self, configurationJSON: ["unit": "home"])
    AdvertisementManager.shared.register { CuecastAdPlugin(client.advertisements, stream: LiveStream(id: "radio1")) }
    let plugin = AdvertisementManager.shared.getAdPlugin()  // a fresh HouseAds
    print("first:", plugin?.providerName() ?? "none")
}
// snippet.end

// snippet.session
// New: a session asks one provider after the other, and keeps both sides to the order of calls.
final class HomeScreen: PlatformViewController, AdPresentationDelegate {
    private var session: AdPresentationSession?

    func showBanner() {
        let session = AdPresentationSession(
            adConfig: AdConfig(adUnitID: "radio1/home", inlineBannerSize: "BANNER"),
            parentVC: self,
            container: self.view
        )
        session.delegate = self
        session.load()
        self.session = session
    }

    func adPresentation(_ session: AdPresentationSession, didChangeState state: AdViewState) {
        print(session.providerName ?? "no provider", "says", state)
    }
}
// snippet.end

@MainActor
func show() async throws {
    let client = try CuecastClient(
        configuration: ListenerConfiguration(stream: LiveStream(id: "radio1")),
        transport: NIOListenerTransport()
    )
    setUpProviders(client)
    let place = BannerPlace()
    place.showBanner()
    HomeScreen().showBanner()
}

try await show()
