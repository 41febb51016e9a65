// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Cuecast
public import Foundation

#if canImport(UIKit) && !os(watchOS)
public import UIKit
#elseif canImport(AppKit)
public import AppKit
#endif

/// Serves the banners of the advertisements that the gateway sends, as banners and as interstitials.
///
/// ```swift
/// AdvertisementManager.shared.register { CuecastAdPlugin(client.advertisements, stream: LiveStream(id: "radio1")) }
/// ```
///
/// Each load shows the banner of the advertisement that plays; where none does it fails, so that the next provider is tried.
/// Nothing is taken out of the player's queue, and the outcome comes from what was heard; clicks are told to the gateway. An
/// ad unit is the stream's id, or `stream/placement`.
///
/// What the user acts on opens (``ClickThroughHandling``), where it leads to an address of http or https, and is reported as
/// clicked. What leads nowhere, or elsewhere, is not opened and not reported as clicked.
///
/// In an app without a player, made with ``init(bannersOnly:stream:)``, each load takes the next
/// advertisement of the queue, and what becomes of it is reported to the gateway: shown, clicked, closed before or after its
/// duration, or failed with a VAST error code. What was never seen is never played, whatever time passes.
@MainActor
public final class CuecastAdPlugin: AdPluginProtocol {
    /// The name of the provider.
    public static let name = "Cuecast"
    /// The key of the stream's id in a configuration.
    public static let streamKey = "stream"

    /// The handling of a user's action on this plugin's advertisements; `nil`: as in ``AdvertisementSettings/clickThroughs``.
    ///
    /// A change counts for presenters that are made afterwards.
    public var clickThroughs: ClickThroughHandling? {
        get { self.services.clickThroughs }
        set { self.services.clickThroughs = newValue }
    }

    private var services: CuecastAdServices

    /// Serves the banners of the advertisements that the app plays.
    ///
    /// - Parameters:
    ///   - advertisements: the client's advertisements.
    ///   - stream: the stream that it listens to; other ad units fail.
    public convenience init(_ advertisements: any Advertisements, stream: LiveStream) {
        self.init(CuecastAdServices(advertisements: advertisements, stream: stream))
    }

    /// Serves the banners of the advertisements that the app plays, fetched and shown in another way.
    ///
    /// - Parameters:
    ///   - advertisements: the client's advertisements.
    ///   - stream: the stream that it listens to; other ad units fail.
    ///   - fetcher: the fetcher of the images.
    ///   - makeRenderer: makes what shows one image; `nil`: what suits the system.
    @_spi(Rendering)
    public convenience init(
        _ advertisements: any Advertisements,
        stream: LiveStream,
        fetcher: any AdFetcher,
        makeRenderer: (@MainActor () -> any AdRenderer)? = nil
    ) {
        self.init(
            CuecastAdServices(
                advertisements: advertisements,
                stream: stream,
                fetcher: fetcher,
                makeRenderer: makeRenderer ?? AdRendering.makeDefault
            )
        )
    }

    /// Serves the advertisements of a client that has no player: they are seen and not heard.
    ///
    /// - Parameters:
    ///   - advertisements: the client's advertisements, which nothing else takes.
    ///   - stream: the stream that it listens to; other ad units fail.
    public convenience init(bannersOnly advertisements: any Advertisements, stream: LiveStream) {
        self.init(CuecastAdServices(advertisements: advertisements, isBannersOnly: true, stream: stream))
    }

    /// Serves the advertisements of a client that has no player, fetched and shown in another way.
    ///
    /// - Parameters:
    ///   - advertisements: the client's advertisements, which nothing else takes.
    ///   - stream: the stream that it listens to; other ad units fail.
    ///   - fetcher: the fetcher of the images.
    ///   - makeRenderer: makes what shows one image; `nil`: what suits the system.
    @_spi(Rendering)
    public convenience init(
        bannersOnly advertisements: any Advertisements,
        stream: LiveStream,
        fetcher: any AdFetcher,
        makeRenderer: (@MainActor () -> any AdRenderer)? = nil
    ) {
        self.init(
            CuecastAdServices(
                advertisements: advertisements,
                isBannersOnly: true,
                stream: stream,
                fetcher: fetcher,
                makeRenderer: makeRenderer ?? AdRendering.makeDefault
            )
        )
    }

    /// Serves the banners of the advertisements of `AdvertisementCenter.shared` that the app plays, whose client has them where it was made with them.
    ///
    /// - Parameter configurationJSON: under ``streamKey`` the stream's id; without it every ad unit's stream is taken as
    ///   the one that is heard.
    public convenience init(configurationJSON: NSDictionary?) {
        let stream = configurationJSON?.object(forKey: Self.streamKey) as? String
        self.init(CuecastAdServices(stream: stream.map { LiveStream(id: $0) }))
    }

    init(_ services: CuecastAdServices) {
        self.services = services
    }

    /// Makes a presenter for one advertisement.
    public func createAdPresenter(
        adView: any AdViewProtocol,
        parentVC: PlatformViewController
    ) -> any AdPresenterProtocol {
        CuecastAdPresenter(adView: adView, parentVC: parentVC, services: self.services)
    }

    /// The size of one of ``AdBannerSize``; zero for other names.
    public func size(forInlineBannerSize: String) -> CGSize {
        AdBannerSize.size(named: forInlineBannerSize)
    }

    /// ``name``.
    public func providerName() -> String { Self.name }
}

/// The services that the presenters of one plugin share.
struct CuecastAdServices {
    var advertisements: any Advertisements = AdvertisementCenter.shared
    /// Whether nothing else takes advertisements out of the queue.
    var isBannersOnly = false
    /// The stream that is heard; `nil`: that of the ad unit.
    var stream: LiveStream?
    var fetcher: any AdFetcher = HTTPAdFetcher()
    var makeRenderer: @MainActor () -> any AdRenderer = AdRendering.makeDefault
    /// The handling of a user's action on an advertisement; `nil`: as in the shared settings.
    var clickThroughs: ClickThroughHandling?
    var now: @Sendable () -> ContinuousClock.Instant = { .now }

    /// The advertisement whose banner is shown next; `nil`: there is none.
    var advertisement: Advertisement? {
        guard self.isBannersOnly else { return self.advertisements.currentAdvertisement }
        // Other implementations know no difference between what is seen and what is heard.
        guard let center = self.advertisements as? AdvertisementCenter else {
            return self.advertisements.getAdvertisement()
        }
        return center.advertisementToShow()
    }
}

/// Why the gateway's provider did not ask for an advertisement.
enum CuecastAdError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    /// The ad unit is not a stream's id or `stream/placement`, or not of the stream that is heard.
    case unknownAdUnit(String)
    /// The size is not one of ``AdBannerSize``.
    case unknownBannerSize(String)
    /// This presenter has loaded already.
    case alreadyLoaded

    /// One sentence for people.
    var description: String {
        switch self {
        case .unknownAdUnit(let unit): "The ad unit '\(unit.prefix(200))' is not of the stream that is heard."
        case .unknownBannerSize(let name): "There is no inline banner of size '\(name.prefix(200))'."
        case .alreadyLoaded: "A presenter loads one advertisement only."
        }
    }

    /// The same sentence.
    var errorDescription: String? { self.description }
}
