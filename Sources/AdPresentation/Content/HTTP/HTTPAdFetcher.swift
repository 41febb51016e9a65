// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Foundation
internal import HTTPFetching

/// Fetches content by http and https, with bounds on its time and size.
///
/// No cookies, no cache, no credentials. At most ``redirectsMax`` redirects are followed, never away from http and https
/// and never from https to http.
///
/// On Linux, Foundation reads ahead of us: of a server that sends without end somewhat more than ``bytesMax`` is taken from
/// the network before the connection is cut, the more the faster it sends and the busier the machine is. None of it is kept.
@_spi(Rendering) public struct HTTPAdFetcher: AdFetcher {
    /// How many redirects are followed.
    public static let redirectsMax = 5

    /// How many bytes the content has at most; 2 MiB.
    public var bytesMax = 2 * 1_024 * 1_024
    /// How long it may take from the request to the last byte; 10 s.
    public var timeout: Duration = .seconds(10)
    /// The types that are taken, in lower case; a document may be anything that is of one of them.
    public var mediaTypes: Set<String>

    /// Images of the kinds that every renderer shows.
    public static let imageTypes: Set<String> = ["image/png", "image/jpeg", "image/gif", "image/webp"]

    /// A fetcher with the default bounds that takes `mediaTypes`.
    public init(mediaTypes: Set<String> = HTTPAdFetcher.imageTypes) {
        self.mediaTypes = mediaTypes
    }

    /// The content at `url`, which is one of http or https.
    public func fetch(_ url: String) async throws(AdContentError) -> AdContent {
        guard var address = Self.address(url) else { throw .invalidURL(url) }
        let deadline = ContinuousClock.now + self.timeout
        let fetcher = HTTPFetcher()
        var redirects = 0
        while true {
            let exchange = await fetcher.get(self.request(address, deadline: deadline))
            switch exchange.end {
            case .cancelled: throw .unreachable(CancellationError())
            case .tooSlow, .silent: throw .timedOut(after: self.timeout)
            case .complete, .bodyRefused, .bodyTooLarge, .failed: break
            }
            redirects += 1
            if let location = exchange.location, Self.follows(redirect: redirects, from: address, to: location) {
                address = location
                continue
            }
            // Where it is not followed, the redirect itself is the answer.
            if let head = exchange.head, let refusal = self.refusal(of: head) { throw refusal }
            switch exchange.end {
            case .failed(let error): throw .unreachable(error)
            case .bodyTooLarge: throw .tooLarge(bytesMax: self.bytesMax)
            default: break
            }
            guard let head = exchange.head else { throw .mediaType("") }
            return AdContent(mediaType: head.mediaType, bytes: exchange.body, url: address.absoluteString)
        }
    }

    private func request(_ address: URL, deadline: ContinuousClock.Instant) -> HTTPFetcher.Request {
        var request = HTTPFetcher.Request(address, bodyBytesMax: self.bytesMax, deadline: deadline)
        request.headers = ["Accept": self.mediaTypes.sorted().joined(separator: ", ")]
        request.wantsBody = { self.refusal(of: $0) == nil }
        return request
    }

    /// Why the content is not taken, by what stands before it; `nil`: it is.
    private func refusal(of head: HTTPFetcher.Head) -> AdContentError? {
        if !(200...299).contains(head.status) { return .status(head.status) }
        if !self.mediaTypes.contains(head.mediaType) { return .mediaType(head.mediaType) }
        if let bytes = head.bodyBytes, bytes > Int64(self.bytesMax) { return .tooLarge(bytesMax: self.bytesMax) }
        return nil
    }

    /// Whether the redirect with this number, of which 1 is the first, is followed.
    static func follows(redirect number: Int, from origin: URL?, to target: URL?) -> Bool {
        guard let origin, let target, number <= self.redirectsMax else { return false }
        return HTTPFetcher.mayFollow(target, from: origin)
    }

    /// The address that `text` is, where it is one of http or https and names a host.
    static func address(_ text: String) -> URL? {
        URL(string: text).flatMap { HTTPFetcher.isWebAddress($0) ? $0 : nil }
    }
}
