// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// One advertisement that a ``ScriptedGateway`` hands to players.
///
/// ```swift
/// var spot = ScriptedAdvertisement("spring-sale", duration: .seconds(15))
/// spot.banner = .init(imageURL: "https://cdn.example.com/spring.png")
/// ```
public struct ScriptedAdvertisement: Hashable, Sendable {
    /// The same advertisement in one encoding.
    public struct MediaFile: Hashable, Sendable {
        /// Where it is, http or https.
        public var url: String
        /// MIME type, for instance `audio/mpeg`.
        public var type: String
        /// Kilobits per second; `nil`: not known.
        public var bitrate: Int?

        /// A media file.
        public init(url: String, type: String = "audio/mpeg", bitrate: Int? = nil) {
            self.url = url
            self.type = type
            self.bitrate = bitrate
        }
    }

    /// The picture that is shown while the advertisement plays.
    public struct Banner: Hashable, Sendable {
        /// Where the picture is, http or https.
        public var imageURL: String
        /// The address that opens when the listener acts on it; `nil`: none.
        public var targetURL: String?
        /// The text to read out instead; `nil`: not given.
        public var alternativeText: String?
        /// Width in pixels; `nil`: not known.
        public var width: Int?
        /// Height in pixels; `nil`: not known.
        public var height: Int?

        /// A banner.
        public init(imageURL: String, targetURL: String? = nil, alternativeText: String? = nil) {
            self.imageURL = imageURL
            self.targetURL = targetURL
            self.alternativeText = alternativeText
        }
    }

    /// A URL that the app calls when something happens, where it has turned tracking on.
    public struct Tracker: Hashable, Sendable {
        /// The VAST event name (VAST 4.3 section 3.14.1), or `impression`, `clickTracking`, `error`, and of the banner
        /// `bannerView` and `bannerClick`.
        public var event: String
        /// The URL to call.
        public var url: String
        /// For `progress`: how far into the advertisement.
        public var offset: Duration?

        /// A tracker of one event.
        public init(event: String, url: String, offset: Duration? = nil) {
            self.event = event
            self.url = url
            self.offset = offset
        }
    }

    /// The key of the advertisement in its break: 1 to 128 bytes.
    public var adID: String
    /// Its name.
    public var title: String
    /// Text to show.
    public var text = ""
    /// The advertiser's name.
    public var advertiser = ""
    /// How long it plays: 1 ms to 1 h.
    public var duration: Duration
    /// From when on the listener may skip it; `nil`: never.
    public var skipOffset: Duration?
    /// The same advertisement in several encodings; 1 to 32.
    public var media: [MediaFile]
    /// The address that opens when the listener acts on the advertisement; `nil`: none.
    public var clickThroughURL: String?
    /// The picture beside it; `nil`: none.
    public var banner: Banner?
    /// The trackers that players call.
    public var trackers: [Tracker] = []

    /// An advertisement with one audio file; set the other properties as needed.
    ///
    /// - Parameters:
    ///   - adID: its key in the break.
    ///   - title: its name; `nil`: made from the key.
    ///   - duration: how long it plays.
    ///   - audioURL: where its audio is; `nil`: an address that is made from the key and leads nowhere.
    public init(
        _ adID: String,
        title: String? = nil,
        duration: Duration = .seconds(10),
        audioURL: String? = nil
    ) {
        self.adID = adID
        self.title = title ?? "Advertisement \(adID)"
        self.duration = duration
        self.media = [MediaFile(url: audioURL ?? "https://media.example/\(adID).mp3")]
    }
}

extension ScriptedAdvertisement {
    /// The wire's value.
    ///
    /// The script is a model of its own, because the library's interface has no types of the wire; its properties are copied only here.
    ///
    /// - Returns: the advertisement, whose rules are not checked yet.
    /// - Throws: where its key can be none.
    func content() throws(WireError) -> AdvertisementContent {
        AdvertisementContent(
            id: try AdvertisementID(self.adID),
            title: self.title,
            text: self.text,
            advertiser: self.advertiser,
            duration: self.duration,
            skipOffset: self.skipOffset,
            media: self.media.map { file in
                .init(url: file.url, type: file.type, bitrateKilobitsPerSecond: UInt32(clamping: file.bitrate ?? 0))
            },
            clickThroughURL: self.clickThroughURL ?? "",
            banner: self.banner.map { banner in
                .init(
                    imageURL: banner.imageURL,
                    targetURL: banner.targetURL ?? "",
                    width: UInt32(clamping: banner.width ?? 0),
                    height: UInt32(clamping: banner.height ?? 0),
                    alternativeText: banner.alternativeText ?? ""
                )
            },
            trackers: self.trackers.map { .init(event: $0.event, url: $0.url, offset: $0.offset) }
        )
    }
}
