// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Cuecast
internal import Foundation

#if canImport(UIKit) && !os(watchOS)
internal import UIKit
#elseif canImport(AppKit)
internal import AppKit
#endif

/// Loads and shows the banner of one advertisement from the gateway; ``CuecastAdPlugin`` makes it.
@MainActor
final class CuecastAdPresenter: AdClosingPresenter {
    private weak var adView: (any AdViewProtocol)?
    private weak var parentVC: PlatformViewController?
    private let services: CuecastAdServices

    private var config: AdConfig?
    private var loading: Task<Void, Never>?
    private var record: AdvertisementRecord?
    private var withdrawal: WithdrawalWatch?
    private var stopping: Task<Void, Never>?
    private var banner: AdBannerView?
    private var tracker: ImpressionTracker?
    private weak var interstitial: PlatformViewController?
    private var isShown = false
    private var isClosed = false

    /// A presenter of the advertisements of `AdvertisementCenter.shared`.
    convenience init(adView: any AdViewProtocol, parentVC: PlatformViewController) {
        self.init(adView: adView, parentVC: parentVC, services: CuecastAdServices())
    }

    init(adView: any AdViewProtocol, parentVC: PlatformViewController, services: CuecastAdServices) {
        self.adView = adView
        self.parentVC = parentVC
        self.services = services
    }

    deinit {
        self.loading?.cancel()
        self.stopping?.cancel()
    }

    /// Loads the banner of the advertisement that plays, or of the next one where there are banners only.
    func load(adConfig: AdConfig) {
        guard self.config == nil, !self.isClosed else { return }
        self.config = adConfig
        self.adView?.stateChanged(adViewState: .loading)
        guard !self.isClosed else { return }
        let stream: LiveStream
        let size: CGSize
        do throws(CuecastAdError) {
            stream = try self.stream(of: adConfig)
            size = try self.size(of: adConfig)
        } catch {
            return self.fail(error)
        }
        guard let advertisement = self.services.advertisement else {
            return self.fail(AdContentError.noAdvertisement)
        }
        let services = self.services
        let record = AdvertisementRecord(
            advertisement,
            isHeard: !services.isBannersOnly,
            of: stream,
            in: services.advertisements,
            now: services.now
        )
        self.record = record
        let watch = WithdrawalWatch(advertisement) { [weak self] stopAt in self?.stop(at: stopAt) }
        self.withdrawal = watch
        services.advertisements.addObserver(advertisementDelegate: watch)
        let banner = AdBannerView(size: size, renderer: services.makeRenderer())
        self.loading = Task(name: "Cuecast banner") { [weak self] in
            do {
                let content = try await services.fetcher.banner(of: advertisement)
                try await banner.show(content)
                try Task.checkCancellation()
                self?.finish(banner)
            } catch {
                self?.fail(error)
            }
        }
    }

    private func stream(of config: AdConfig) throws(CuecastAdError) -> LiveStream {
        guard let feed = ContextFeed(config.adUnitID) else { throw .unknownAdUnit(config.adUnitID) }
        let stream = LiveStream(id: feed.stream)
        guard (self.services.stream ?? stream) == stream else { throw .unknownAdUnit(config.adUnitID) }
        return stream
    }

    /// The banner's size, with a height of 0 where that comes from the image.
    private func size(of config: AdConfig) throws(CuecastAdError) -> CGSize {
        guard config.adType == .inlineBanner else { return CGSize(width: AdBannerSize.screenWidth, height: 0) }
        let name = config.inlineBannerSize ?? AdBannerSize.banner.rawValue
        let size = AdBannerSize.size(named: name)
        guard size != .zero else { throw .unknownBannerSize(name) }
        return size
    }

    private func finish(_ banner: AdBannerView) {
        guard let config = self.config, !self.isClosed else { return }
        self.banner = banner
        banner.onActivation = { [weak self] in self?.clicked() }
        self.adView?.adLoaded(view: config.adType.isBanner ? banner : nil)
        guard !self.isClosed else { return }
        self.adView?.stateChanged(adViewState: .loaded)
        if config.adType.isBanner, !self.isClosed { self.watch(banner) }
    }

    private func fail(_ error: any Error) {
        guard !self.isClosed else { return }
        self.isClosed = true
        self.record?.failed(error)
        self.adView?.adLoadFailed(error: error)
        self.adView?.stateChanged(adViewState: .failed)
    }

    private func watch(_ banner: AdBannerView) {
        let tracker = ImpressionTracker(banner) { [weak self] in
            self?.record?.impressed()
            self?.adView?.stateChanged(adViewState: .impressed)
        }
        if !tracker.isImpressed { self.tracker = tracker }
    }

    private func clicked() {
        guard !self.isClosed, self.isShown || self.config?.adType.isBanner == true, let banner = self.banner else {
            return
        }
        let handling = self.services.clickThroughs ?? AdvertisementSettings.shared.clickThroughs
        banner.opened(by: handling)
            .follow(banner.content?.targetURL) {
                self.record?.clicked()
                self.adView?.stateChanged(adViewState: .clicked)
            }
    }

    /// The broadcaster ended the break while the advertisement is shown: it is closed when the listener gets there.
    private func stop(at instant: ContinuousClock.Instant) {
        self.stopping?.cancel()
        self.stopping = Task(name: "Cuecast withdrawal") { [weak self] in
            guard (try? await Task.sleep(until: instant)) != nil else { return }
            self?.close()
        }
    }

    /// The size of the banner, of every banner type; zero before it is loaded and for interstitials.
    func getSize() -> CGSize {
        self.config?.adType.isBanner == true ? self.banner?.frame.size ?? .zero : .zero
    }

    /// Presents the banner over everything, from the parent.
    func showInterstitial() {
        guard let banner = self.banner, self.config?.adType == .interstitial, !self.isShown, !self.isClosed else {
            return
        }
        self.isShown = true
        guard let parentVC = self.parentVC else { return self.close() }
        let controller = InterstitialController(showing: banner) { [weak self] in self?.ended() }
        self.interstitial = controller
        PlatformPresentation.present(controller, from: parentVC)
        self.watch(banner)
    }

    /// Closes the advertisement: the gateway is told whether it was shown for its duration.
    func close() {
        if let interstitial = self.interstitial { PlatformPresentation.dismiss(interstitial) }
        self.ended()
    }

    private func ended() {
        guard !self.isClosed else { return }
        self.isClosed = true
        self.loading?.cancel()
        self.stopping?.cancel()
        self.tracker?.stop()
        self.record?.closed()
        // An advertisement that was never there, or an interstitial that was never shown, cannot have been closed.
        guard let banner = self.banner, self.isShown || self.config?.adType.isBanner == true else { return }
        banner.onActivation = nil
        self.adView?.stateChanged(adViewState: .closed)
    }
}

/// Tells when one advertisement has to stop because its break was cancelled or ended.
@MainActor
private final class WithdrawalWatch: AdvertisementDelegate {
    private let advertisement: Advertisement
    private let stop: @MainActor (ContinuousClock.Instant) -> Void

    init(_ advertisement: Advertisement, stop: @escaping @MainActor (ContinuousClock.Instant) -> Void) {
        self.advertisement = advertisement
        self.stop = stop
    }

    func onAdvertisementAvailable() {}

    func onAdvertisementsWithdrawn(_ withdrawal: AdvertisementWithdrawal) {
        guard withdrawal.current == self.advertisement, let stopAt = withdrawal.stopAt else { return }
        self.stop(stopAt)
    }
}
