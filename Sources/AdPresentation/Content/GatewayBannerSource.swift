// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Cuecast

/// Loads the banner of an advertisement that the gateway sent, and tells that it was seen and clicked.
@MainActor
public final class GatewayBannerSource: AdContentSource {
    /// The stream that is heard; `nil`: that of each request.
    private let stream: LiveStream?
    private let advertisement: @MainActor () -> Advertisement?
    private let fetcher: any AdFetcher
    /// The object that is told of banners' impressions and clicks.
    private let advertisements: any Advertisements

    /// The banner of the advertisement that `advertisement` gives, for instance the one that the app plays.
    ///
    /// - Parameters:
    ///   - advertisements: are told that the banner was seen and clicked.
    ///   - stream: the stream that is heard; views whose `contextFeedID` names another one get an invalid request.
    ///   - advertisement: gives the advertisement whose banner is shown; `nil`: there is none now.
    public convenience init(
        reportingTo advertisements: any Advertisements = AdvertisementCenter.shared,
        stream: LiveStream,
        advertisement: @escaping @MainActor () -> Advertisement?
    ) {
        self.init(
            reportingTo: advertisements,
            stream: stream,
            fetcher: HTTPAdFetcher(),
            advertisement: advertisement
        )
    }

    /// The banner of the advertisement that `advertisement` gives; `fetcher` fetches the image.
    @_spi(Rendering)
    public init(
        reportingTo advertisements: any Advertisements = AdvertisementCenter.shared,
        stream: LiveStream,
        fetcher: any AdFetcher,
        advertisement: @escaping @MainActor () -> Advertisement?
    ) {
        self.advertisements = advertisements
        self.stream = stream
        self.advertisement = advertisement
        self.fetcher = fetcher
    }

    /// The banner of the advertisement that plays; there is none where nothing plays.
    ///
    /// Nothing is taken out of the queue, and what becomes of the advertisement is the player's to say.
    public convenience init(_ advertisements: some Advertisements, stream: LiveStream) {
        self.init(advertisements, stream: stream, fetcher: HTTPAdFetcher())
    }

    /// The banner of the advertisement that plays; `fetcher` fetches the image.
    @_spi(Rendering)
    public convenience init(_ advertisements: some Advertisements, stream: LiveStream, fetcher: any AdFetcher) {
        self.init(reportingTo: advertisements, stream: stream, fetcher: fetcher) { advertisements.currentAdvertisement }
    }

    /// The banner of the advertisement of `AdvertisementCenter.shared` that plays, whichever stream its client listens to.
    public init() {
        self.stream = nil
        self.advertisement = { AdvertisementCenter.shared.currentAdvertisement }
        self.fetcher = HTTPAdFetcher()
        self.advertisements = AdvertisementCenter.shared
    }

    /// Whether the request is for the stream that is heard.
    public func canRequest(_ request: AdvertisementRequest) -> Bool {
        self.stream.map { $0.id == request.feed.stream } ?? true
    }

    /// The banner's image.
    public func content(for request: AdvertisementRequest) async throws -> AdContent {
        guard let advertisement = self.advertisement() else { throw AdContentError.noAdvertisement }
        return try await self.fetcher.banner(of: advertisement)
    }

    /// Tells that the banner was seen.
    public func contentShown(_ content: AdContent, for request: AdvertisementRequest) {
        guard let advertisement = content.advertisement else { return }
        self.advertisements.onAdBannerShown(self.stream(of: request), advertisement: advertisement)
    }

    /// Tells that the banner was clicked.
    public func contentClicked(_ content: AdContent, for request: AdvertisementRequest) {
        guard let advertisement = content.advertisement else { return }
        self.advertisements.onAdBannerClicked(self.stream(of: request), advertisement: advertisement)
    }

    private func stream(of request: AdvertisementRequest) -> LiveStream {
        self.stream ?? LiveStream(id: request.feed.stream)
    }
}

extension AdFetcher {
    /// The image of the banner, with what opens and what is read out.
    func banner(of advertisement: Advertisement) async throws(AdContentError) -> AdContent {
        guard let banner = advertisement.banner else { throw .noBanner }
        return AdContent(try await self.fetch(banner.imageURL), bannerOf: advertisement)
    }
}
