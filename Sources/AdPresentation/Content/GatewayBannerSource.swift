// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Cuecast

/// Loads the banner of an advertisement that the gateway sent.
@MainActor
public final class GatewayBannerSource: AdContentSource {
    /// The stream that is heard; `nil`: that of each request.
    private let stream: LiveStream?
    private let advertisement: @MainActor () -> Advertisement?
    private let fetcher: any AdFetcher

    /// The banner of the advertisement that `advertisement` gives, for instance the one that the app plays.
    ///
    /// - Parameters:
    ///   - stream: the stream that is heard; views whose `contextFeedID` names another one get an invalid request.
    ///   - fetcher: what fetches the image.
    ///   - advertisement: gives the advertisement whose banner is shown; `nil`: there is none now.
    public init(
        stream: LiveStream,
        fetcher: any AdFetcher = HTTPAdFetcher(),
        advertisement: @escaping @MainActor () -> Advertisement?
    ) {
        self.stream = stream
        self.advertisement = advertisement
        self.fetcher = fetcher
    }

    /// The banner of the next advertisement of the queue, which is taken out of it: playing it and reporting what becomes of
    /// it stays the app's work.
    public convenience init(
        _ advertisements: some Advertisements,
        stream: LiveStream,
        fetcher: any AdFetcher = HTTPAdFetcher()
    ) {
        self.init(stream: stream, fetcher: fetcher) { advertisements.getAdvertisement() }
    }

    /// The banner of the next advertisement of `Mycrocast.shared`, whichever stream its client listens to.
    public init() {
        self.stream = nil
        self.advertisement = { Mycrocast.shared.advertisements.getAdvertisement() }
        self.fetcher = HTTPAdFetcher()
    }

    /// Whether the request is for the stream that is heard.
    public func canRequest(_ request: AdvertRequest) -> Bool {
        self.stream.map { $0.id == request.feed.stream } ?? true
    }

    /// The banner's image.
    public func content(for request: AdvertRequest) async throws -> AdContent {
        guard let advertisement = self.advertisement() else { throw AdContentError.noAdvertisement }
        return try await self.fetcher.banner(of: advertisement)
    }
}

extension AdFetcher {
    /// The image of the banner, with what opens and what is read out.
    func banner(of advertisement: Advertisement) async throws(AdContentError) -> AdContent {
        guard let banner = advertisement.banner else { throw .noBanner }
        let image = try await self.fetch(banner.imageURL)
        return AdContent(
            mediaType: image.mediaType,
            bytes: image.bytes,
            url: image.url,
            targetURL: advertisement.bannerTargetUrl,
            alternativeText: banner.alternativeText
        )
    }
}
