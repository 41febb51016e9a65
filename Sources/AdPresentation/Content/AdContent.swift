// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Cuecast
public import Foundation

/// The content of an advertisement.
public struct AdContent: Hashable, Sendable {
    /// The MIME type of ``bytes``, in lower case and without parameters, for instance `image/png`.
    public let mediaType: String
    /// The image or the document.
    public let bytes: [UInt8]
    /// Where it came from; relative addresses in a document start here.
    ///
    /// `nil`: nowhere in particular.
    public let url: String?
    /// The address that opens when the user acts on it; `nil`: none, or the document has its own.
    public let targetURL: String?
    /// The text to read out instead; `nil`: not given.
    public let alternativeText: String?
    /// The gateway's advertisement whose banner it is; `nil`: the content comes from another source.
    private(set) var advertisement: Advertisement?

    /// Content of the given type.
    public init(
        mediaType: String,
        bytes: [UInt8],
        url: String? = nil,
        targetURL: String? = nil,
        alternativeText: String? = nil
    ) {
        self.mediaType = mediaType
        self.bytes = bytes
        self.url = url
        self.targetURL = targetURL
        self.alternativeText = alternativeText
    }

    /// `image` as the banner of `advertisement`, with what opens and what is read out.
    init(_ image: AdContent, bannerOf advertisement: Advertisement) {
        self.init(
            mediaType: image.mediaType,
            bytes: image.bytes,
            url: image.url,
            targetURL: advertisement.bannerTargetURL,
            alternativeText: advertisement.banner?.alternativeText
        )
        self.advertisement = advertisement
    }

    /// Whether it is an image.
    public var isImage: Bool { self.mediaType.hasPrefix("image/") }
}

/// Why there is no content, or why it cannot be shown.
@nonexhaustive
public enum AdContentError: LocalizedError, Sendable, CustomStringConvertible {
    /// The address is not one of http or https.
    case invalidURL(String)
    /// The connection failed, or the server's answer broke off.
    case unreachable(any Error)
    /// The content did not arrive within this time.
    case timedOut(after: Duration)
    /// The server answered with this status.
    case status(Int)
    /// The content is of a type that cannot be shown.
    case mediaType(String)
    /// The content has more bytes than are taken.
    case tooLarge(bytesMax: Int)
    /// The image cannot be read, or it says that it has no area.
    case unreadableImage
    /// There is no advertisement now.
    case noAdvertisement
    /// The advertisement has no banner.
    case noBanner

    /// One sentence for people.
    public var description: String {
        switch self {
        case .invalidURL(let url): "This is not an address of http or https: \(url.prefix(200))"
        case .unreachable(let cause): "The content could not be fetched: \(cause.sentence)"
        case .timedOut(let time): "The content did not arrive within \(time)."
        case .status(let code): "The server answered with status \(code)."
        case .mediaType(let type): "Content of type '\(type.prefix(100))' cannot be shown."
        case .tooLarge(let bytesMax): "The content has more than \(bytesMax) bytes."
        case .unreadableImage: "The image cannot be read."
        case .noAdvertisement: "There is no advertisement now."
        case .noBanner: "The advertisement has no banner."
        }
    }

    /// The same sentence.
    public var errorDescription: String? { self.description }
}

extension Error {
    /// Its sentence for people; if it has none, its kind.
    var sentence: String {
        (self as? any LocalizedError)?.errorDescription ?? (self as? URLError)?.localizedDescription ?? "\(self)"
    }
}

/// Where the content of an ``AdvertisementView`` comes from.
@MainActor
public protocol AdContentSource: AnyObject {
    /// Whether a request can be made at all; where not, the view fails with ``AdvertisementError/invalidRequest``.
    func canRequest(_ request: AdvertisementRequest) -> Bool

    /// Loads the content; it is cancelled where that is not wanted any more.
    ///
    /// - Throws: whatever says best why there is none; the app finds it in ``AdvertisementError/loadingError(_:)``.
    func content(for request: AdvertisementRequest) async throws -> AdContent

    /// At least half of the view that shows `content` is visible: called once for each load.
    func contentShown(_ content: AdContent, for request: AdvertisementRequest)

    /// The user acted on `content`; what that leads to opens now.
    func contentClicked(_ content: AdContent, for request: AdvertisementRequest)
}

extension AdContentSource {
    /// A request can always be made.
    public func canRequest(_ request: AdvertisementRequest) -> Bool { true }

    /// Does nothing.
    public func contentShown(_ content: AdContent, for request: AdvertisementRequest) {}

    /// Does nothing.
    public func contentClicked(_ content: AdContent, for request: AdvertisementRequest) {}
}

/// Fetches what an address leads to.
@_spi(Rendering) public protocol AdFetcher: Sendable {
    /// The content at `url`.
    func fetch(_ url: String) async throws(AdContentError) -> AdContent
}
