// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Foundation

/// Loads content from an ad server by http or https.
///
/// The server is asked with `GET` and the query items `feed`, and where they are known `placement`, `context`, `consent`,
/// `appearance`, `user` and `advertisingID`, beside those that the address has. It answers with an image or a document.
@MainActor
public final class HTTPAdContentSource: AdContentSource {
    /// How many bytes the whole address has at most.
    static let addressBytesMax = 8_192

    private let endpoint: String
    private let fetcher: any AdFetcher

    /// A source that asks the server at `endpoint` for images and HTML.
    ///
    /// - Parameter endpoint: the address without our query items; where it is not one of http or https, no request can be made.
    public convenience init(endpoint: String) {
        self.init(
            endpoint: endpoint,
            fetcher: HTTPAdFetcher(mediaTypes: HTTPAdFetcher.imageTypes.union(["text/html"]))
        )
    }

    /// A source that asks the server at `endpoint`.
    ///
    /// - Parameters:
    ///   - endpoint: the address without our query items; where it is not one of http or https, no request can be made.
    ///   - fetcher: the fetcher.
    @_spi(Rendering)
    public init(endpoint: String, fetcher: any AdFetcher) {
        self.endpoint = endpoint
        self.fetcher = fetcher
    }

    /// Whether the address is one of http or https, and not too long with all that is asked.
    public func canRequest(_ request: AdvertisementRequest) -> Bool {
        self.address(for: request) != nil
    }

    /// Returns the server's answer.
    public func content(for request: AdvertisementRequest) async throws -> AdContent {
        guard let address = self.address(for: request) else { throw AdvertisementError.invalidRequest }
        return try await self.fetcher.fetch(address)
    }

    private func address(for request: AdvertisementRequest) -> String? {
        guard HTTPAdFetcher.address(self.endpoint) != nil, var components = URLComponents(string: self.endpoint) else {
            return nil
        }
        let items: [(String, String?)] = [
            ("feed", request.feed.stream), ("placement", request.feed.placement), ("context", request.context),
            ("consent", request.settings.consent), ("appearance", request.settings.appearanceOverride?.rawValue),
            ("user", request.settings.userID), ("advertisingID", request.settings.advertisingID),
        ]
        var query = components.queryItems ?? []
        query += items.compactMap { name, value in value.map { URLQueryItem(name: name, value: $0) } }
        components.queryItems = query
        guard let address = components.url?.absoluteString, address.utf8.count <= Self.addressBytesMax else {
            return nil
        }
        return address
    }
}
