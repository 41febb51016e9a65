// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Which advertisement is wanted: a stream, or a placement of it.
public struct ContextFeed: Hashable, Sendable, CustomStringConvertible {
    /// How many characters the stream's id and the placement have at most, each.
    static let partCharactersMax = 64

    /// The stream's id.
    public let stream: String
    /// The place within the app that the advertisement is for; `nil`: the only one.
    public let placement: String?

    /// Reads `stream` or `stream/placement`; both parts have 1 to 64 characters `A–Z a–z 0–9 . _ -`.
    ///
    /// - Returns: `nil` where the text is neither.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy(Self.isName), let stream = parts.first else { return nil }
        self.stream = String(stream)
        self.placement = parts.count == 2 ? String(parts[1]) : nil
    }

    /// `stream` or `stream/placement`.
    public var description: String { self.placement.map { "\(self.stream)/\($0)" } ?? self.stream }

    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.count <= self.partCharactersMax
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

/// A request to an ``AdContentSource``.
public struct AdvertisementRequest: Sendable {
    /// Which advertisement.
    public let feed: ContextFeed
    /// The context of the advertisement, for instance the address of an article; `nil`: not given.
    public let context: String?
    /// The shared settings as they were when the load began.
    public let settings: AdvertisementSettings

    /// A request for `feed`.
    public init(feed: ContextFeed, context: String? = nil, settings: AdvertisementSettings = AdvertisementSettings()) {
        self.feed = feed
        self.context = context
        self.settings = settings
    }
}
