// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import AdFormats
import BreakDocuments
package import CuecastWire

/// One ad of a break, as the broadcaster describes it and players receive it.
///
/// URLs are absolute `http` or `https` addresses of at most 4,096 bytes; texts have at most 2,048 bytes. Players get them
/// as they are, with macros such as `[CACHEBUSTING]` untouched.
public struct AdvertisementDescription: Hashable, Sendable {
    /// The same ad in one encoding.
    public struct MediaFile: Hashable, Sendable {
        /// Where the media is.
        public var url: String
        /// The MIME type, such as `audio/mpeg`; empty where it is not known.
        public var type: String
        /// The average bitrate, in kbit/s.
        public var bitrate: Int?
        /// The width, in pixels.
        public var width: Int?
        /// The height, in pixels.
        public var height: Int?
        /// The codec in the manner of RFC 6381, such as `mp4a.40.2`.
        public var codec: String?
        /// Whether it is a stream, such as HLS, and not a file to download.
        public var isStreaming: Bool

        /// A media file.
        public init(url: String, type: String) {
            self.url = url
            self.type = type
            self.isStreaming = false
        }
    }

    /// A picture to show beside the ad.
    public struct Banner: Hashable, Sendable {
        /// Where the picture is.
        public var imageURL: String
        /// The page that opens when the listener acts on the banner.
        public var targetURL: String?
        /// The width, in pixels.
        public var width: Int?
        /// The height, in pixels.
        public var height: Int?
        /// A description of the picture.
        public var alternativeText: String?
        /// The MIME type, such as `image/png`.
        public var type: String?

        /// A banner with a picture.
        public init(imageURL: String) {
            self.imageURL = imageURL
        }
    }

    /// An address that a player calls when something happens, where its app has tracking turned on.
    public struct Tracker: Hashable, Sendable {
        /// The event: a name of VAST 4.3 section 3.14.1 such as `firstQuartile`, or `impression`, `clickTracking`,
        /// `error`, `bannerView`, `bannerClick`.
        public var event: String
        /// The URL to call.
        public var url: String
        /// For `progress`: how far into the ad.
        public var offset: Duration?

        /// A tracker of an event.
        public init(event: String, url: String, offset: Duration? = nil) {
            self.event = event
            self.url = url
            self.offset = offset
        }
    }

    /// The key of the ad in its break: 1 to 128 bytes, unique there.
    ///
    /// Reports count by it.
    public var id: String
    /// The name of the ad.
    public var title: String
    /// A longer text about the ad.
    public var text: String?
    /// The advertiser's name.
    public var advertiser: String?
    /// How long it plays: 1 ms to 1 h.
    public var duration: Duration
    /// From when on the listener may skip it; nil: never.
    public var skipOffset: Duration?
    /// The same ad in several encodings; 1 to 32.
    public var media: [MediaFile]
    /// The page that opens when the listener acts on the ad.
    public var clickThroughURL: String?
    /// A picture to show beside the ad.
    public var banner: Banner?
    /// The tracking calls that players make; at most 128, with those of icons and verifications.
    public var trackers: [Tracker]
    /// Names of the creative that are the same in all systems; at most 8.
    public var universalIDs: [AdContent.UniversalID]
    /// The identifier of this serving, as the ad server gave it.
    public var adServingID: String?
    /// Code of third parties that measures how the ad is seen and heard; at most 16.
    ///
    /// The app decides whether it runs any.
    public var verifications: [AdVerification]
    /// Icons of industry programmes to show over the ad; at most 8.
    ///
    /// One without a picture is left out.
    public var icons: [AdIcon]
    /// The captions of the ad; at most 32.
    public var captionFiles: [AdCaptionFile]
    /// The ad in the best quality, for those who make encodings of their own; at most 8.
    public var mezzanines: [AdMediaFile]

    /// An ad with what every ad has; set the other properties as needed.
    ///
    /// - Parameters:
    ///   - id: the key of the ad in its break.
    ///   - title: the name of the ad.
    ///   - duration: how long it plays.
    ///   - media: the ad in one or more encodings.
    public init(id: String, title: String, duration: Duration, media: [MediaFile]) {
        self.id = id
        self.title = title
        self.duration = duration
        self.media = media
        self.trackers = []
        self.universalIDs = []
        self.verifications = []
        self.icons = []
        self.captionFiles = []
        self.mezzanines = []
    }
}

// MARK: - The wire's value

// The description is a model of its own: the library's interface has no types of the wire, and a broadcaster may set numbers that the
// wire cannot hold. This is the only place that copies its properties.

extension AdvertisementDescription: Playable {}

extension AdvertisementDescription {
    /// The ad as the wire has it, with its times cut to whole milliseconds.
    var wire: AdvertisementContent {
        get throws(BroadcastError) {
            var content = AdvertisementContent(
                id: AdvertisementID(unchecked: self.id),
                title: self.title,
                text: self.text ?? "",
                advertiser: self.advertiser ?? "",
                duration: self.duration,
                skipOffset: self.skipOffset,
                media: [],
                clickThroughURL: self.clickThroughURL ?? "",
                banner: try self.banner?.wire,
                trackers: self.trackers.map { .init(event: $0.event, url: $0.url, offset: $0.offset) }
            )
            for file in self.media { content.media.append(try file.wire) }
            content.supplements = AdvertisementContent.Supplements(self.document)
            do throws(WireError) {
                try content.cutTimes()
            } catch {
                throw BroadcastError(error)
            }
            return content
        }
    }

    /// An ad that the wire has.
    package init(_ content: AdvertisementContent) {
        self.init(
            id: content.id.description,
            title: content.title,
            duration: content.duration,
            media: content.media.map { MediaFile($0) }
        )
        self.text = content.text.orNil
        self.advertiser = content.advertiser.orNil
        self.skipOffset = content.skipOffset
        self.clickThroughURL = content.clickThroughURL.orNil
        self.banner = content.banner.map { Banner($0) }
        self.trackers = content.trackers.map { Tracker(event: $0.event, url: $0.url, offset: $0.offset) }
        var document = self.document
        document.add(content.supplements)
        self.universalIDs = document.universalIDs
        self.adServingID = document.adServingID
        self.verifications = document.verifications
        self.icons = document.icons
        self.captionFiles = document.captionFiles
        self.mezzanines = document.mezzanines
    }

    /// The parts that are for others than the player, as a document has them.
    private var document: AdContent {
        var ad = AdContent(id: self.id, title: self.title, durationMilliseconds: 1, mediaFiles: [])
        ad.universalIDs = self.universalIDs
        ad.adServingID = self.adServingID
        ad.verifications = self.verifications
        ad.icons = self.icons
        ad.captionFiles = self.captionFiles
        ad.mezzanines = self.mezzanines
        return ad
    }
}

extension AdvertisementDescription.MediaFile {
    fileprivate var wire: AdvertisementContent.MediaFile {
        get throws(BroadcastError) {
            AdvertisementContent.MediaFile(
                url: self.url,
                type: self.type,
                bitrateKilobitsPerSecond: try wireNumber(self.bitrate, field: "media bitrate"),
                width: try wireNumber(self.width, field: "media width"),
                height: try wireNumber(self.height, field: "media height"),
                codec: self.codec ?? "",
                streaming: self.isStreaming
            )
        }
    }

    init(_ file: AdvertisementContent.MediaFile) {
        self.init(url: file.url, type: file.type)
        self.bitrate = file.bitrateKilobitsPerSecond.orNil
        self.width = file.width.orNil
        self.height = file.height.orNil
        self.codec = file.codec.orNil
        self.isStreaming = file.streaming
    }
}

extension AdvertisementDescription.Banner {
    fileprivate var wire: AdvertisementContent.Banner {
        get throws(BroadcastError) {
            AdvertisementContent.Banner(
                imageURL: self.imageURL,
                targetURL: self.targetURL ?? "",
                width: try wireNumber(self.width, field: "banner width"),
                height: try wireNumber(self.height, field: "banner height"),
                alternativeText: self.alternativeText ?? "",
                type: self.type ?? ""
            )
        }
    }

    init(_ banner: AdvertisementContent.Banner) {
        self.init(imageURL: banner.imageURL)
        self.targetURL = banner.targetURL.orNil
        self.width = banner.width.orNil
        self.height = banner.height.orNil
        self.alternativeText = banner.alternativeText.orNil
        self.type = banner.type.orNil
    }
}

private func wireNumber(_ number: Int?, field: String) throws(BroadcastError) -> UInt32 {
    guard let value = UInt32(exactly: number ?? 0) else {
        throw .invalid(field: field, reason: "it is not a number from 0 to \(UInt32.max)")
    }
    return value
}
