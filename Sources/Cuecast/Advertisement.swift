// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// One advertisement: what to play and what to show.
///
/// Playing and showing it is the app's work. Nothing of it ever changes.
public final class Advertisement: Sendable {
    /// The same advertisement in one encoding.
    public struct MediaFile: Hashable, Sendable {
        /// Where it is, http or https.
        public var url: String
        /// MIME type, for instance `audio/mpeg`.
        public var type: String
        /// Kilobits per second; `nil`: not known.
        public var bitrate: Int?
        /// Width in pixels, for video; `nil`: not known.
        public var width: Int?
        /// Height in pixels, for video; `nil`: not known.
        public var height: Int?
        /// The codec as RFC 4281 names it; `nil`: not known.
        public var codec: String?
        /// Whether it is a stream, and not a file to download.
        public var isStreaming: Bool

        /// A media file that the wire has.
        package init(_ file: AdvertisementContent.MediaFile) {
            self.url = file.url
            self.type = file.type
            self.bitrate = file.bitrateKilobitsPerSecond.orNil
            self.width = file.width.orNil
            self.height = file.height.orNil
            self.codec = file.codec.orNil
            self.isStreaming = file.streaming
        }
    }

    /// The picture that is shown while the advertisement plays.
    public struct Banner: Hashable, Sendable {
        /// Where the picture is, http or https.
        public var imageURL: String
        /// The address that opens when the listener acts on it; `nil`: none.
        public var targetURL: String?
        /// Width in pixels; `nil`: not known.
        public var width: Int?
        /// Height in pixels; `nil`: not known.
        public var height: Int?
        /// The text to read out instead; `nil`: not given.
        public var alternativeText: String?
        /// MIME type; `nil`: not known.
        public var type: String?

        /// A banner that the wire has.
        package init(_ banner: AdvertisementContent.Banner) {
            self.imageURL = banner.imageURL
            self.targetURL = banner.targetURL.orNil
            self.width = banner.width.orNil
            self.height = banner.height.orNil
            self.alternativeText = banner.alternativeText.orNil
            self.type = banner.type.orNil
        }
    }

    /// A URL that is called when something happens, where the app has turned tracking on.
    @_spi(Tracking) public struct Tracker: Hashable, Sendable {
        /// The VAST event name (VAST 4.3 section 3.14.1), or `impression`, `clickTracking`, `error`, and of the banner
        /// `bannerView` and `bannerClick`.
        public let event: String
        /// The URL to call; it may hold VAST macros.
        public let url: String
        /// For `progress`: how far into the advertisement.
        public let offset: Duration?
    }

    /// Where the advertisement stands in its break.
    public struct PodPosition: Hashable, Sendable {
        /// 1 for the first advertisement of the break.
        public let index: Int
        /// How many advertisements the break has for this listener, with those whose time was over.
        public let count: Int
    }

    /// The broadcaster's key of the advertisement, unique in its break.
    public var adID: String { self.content.id.description }
    /// The break that it belongs to.
    public var breakID: String { self.key.breakID.description }
    /// Its name; may be empty.
    public var title: String { self.content.title }
    /// The advertiser's name; may be empty.
    public var advertiser: String { self.content.advertiser }
    /// Text to show; may be empty.
    public var advertisementDescription: String { self.content.text }
    /// The media file to play: the first audio file, or the first one where there is no audio.
    public let audioFileURL: String
    /// How long it plays, in seconds, rounded up.
    public var duration: Int {
        let (seconds, attoseconds) = self.content.duration.components
        return Int(seconds) + (attoseconds > 0 ? 1 : 0)
    }
    /// How long it plays.
    public var exactDuration: Duration { self.content.duration }
    /// From when on the listener may skip it; `nil`: never.
    public var skipOffset: Duration? { self.content.skipOffset }
    /// The same advertisement in several encodings; at least one.
    public let mediaFiles: [MediaFile]
    /// The picture that is shown while it plays; `nil`: none.
    public let banner: Banner?
    /// The address to open when the listener acts on the banner: the banner's own, or else ``clickThroughURL``.
    public var bannerTargetURL: String? { self.banner.flatMap { $0.targetURL ?? self.clickThroughURL } }
    /// The address to open when the listener acts on the advertisement.
    public var clickThroughURL: String? { self.content.clickThroughURL.orNil }
    /// Where it stands in its break.
    public let podPosition: PodPosition
    /// The trackers of the advertisement's events, if the app has turned tracking on.
    @_spi(Tracking) public let trackers: [Tracker]

    let key: AdvertisementKey
    /// The batch's delivery token, which acknowledgements echo.
    let delivery: [UInt8]
    /// The wire's value, which the library's interface must not show.
    private let content: AdvertisementContent
    /// The wire's value of what is for others than the player.
    var supplements: AdvertisementContent.Supplements { self.content.supplements }

    init(_ content: AdvertisementContent, breakID: BreakID, delivery: [UInt8], position: PodPosition) {
        self.content = content
        self.key = AdvertisementKey(breakID: breakID, id: content.id)
        self.delivery = delivery
        self.podPosition = position
        self.mediaFiles = content.media.map(MediaFile.init)
        // The wire refuses an advertisement without media.
        self.audioFileURL =
            (content.media.first { $0.type.lowercased().hasPrefix("audio/") } ?? content.media.first)?.url ?? ""
        self.banner = content.banner.map(Banner.init)
        self.trackers = content.trackers.map { Tracker(event: $0.event, url: $0.url, offset: $0.offset) }
    }
}

extension Advertisement: Hashable, CustomStringConvertible {
    /// Whether both are the same advertisement of the same break.
    public static func == (left: Advertisement, right: Advertisement) -> Bool { left.key == right.key }

    /// Hashes the break and the advertisement's key.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.key) }

    /// The break and the advertisement's key.
    public var description: String { "\(self.breakID)/\(self.adID)" }
}

/// The name of one advertisement in its stream.
struct AdvertisementKey: Hashable, Sendable {
    let breakID: BreakID
    let id: AdvertisementID
}
