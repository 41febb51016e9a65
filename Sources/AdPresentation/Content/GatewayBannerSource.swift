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

    /// The banner of the advertisement that plays; there is none where nothing plays.
    ///
    /// Nothing is taken out of the queue, and what becomes of the advertisement is the player's to say.
    public convenience init(
        _ advertisements: some Advertisements,
        stream: LiveStream,
        fetcher: any AdFetcher = HTTPAdFetcher()
    ) {
        self.init(stream: stream, fetcher: fetcher) { advertisements.currentAdvertisement }
    }

    /// The banner of the advertisement of `Mycrocast.shared` that plays, whichever stream its client listens to.
    public init() {
        self.stream = nil
        self.advertisement = { Mycrocast.shared.advertisements.currentAdvertisement }
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
