// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Cuecast
internal import CuecastWire

/// One advertisement that a ``ScriptedGateway`` hands to players.
///
/// ```swift
/// var spot = ScriptedAdvertisement("spring-sale", duration: .seconds(15))
/// spot.banner = .init(imageURL: "https://cdn.example.com/spring.png")
/// ```
public struct ScriptedAdvertisement: Hashable, Sendable {
    /// The same advertisement in one encoding: what players get.
    public typealias MediaFile = Advertisement.MediaFile

    /// The picture that is shown while the advertisement plays: what players get.
    public typealias Banner = Advertisement.Banner

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

extension Advertisement.MediaFile {
    /// A media file of a script; set the other properties as needed.
    ///
    /// - Parameters:
    ///   - url: where it is, http or https.
    ///   - type: its MIME type.
    ///   - bitrate: kilobits per second; `nil`: not known.
    public init(url: String, type: String = "audio/mpeg", bitrate: Int? = nil) {
        self.init(AdvertisementContent.MediaFile(url: url, type: type))
        self.bitrate = bitrate
    }
}

extension Advertisement.Banner {
    /// A banner of a script; set the other properties as needed.
    ///
    /// - Parameters:
    ///   - imageURL: where the picture is, http or https.
    ///   - targetURL: the page that opens when the listener acts on it; `nil`: none.
    ///   - alternativeText: the text to read out instead; `nil`: there is none.
    public init(imageURL: String, targetURL: String? = nil, alternativeText: String? = nil) {
        self.init(AdvertisementContent.Banner(imageURL: imageURL))
        self.targetURL = targetURL
        self.alternativeText = alternativeText
    }
}

extension ScriptedAdvertisement: Playable {}

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
            media: self.media.map(\.content),
            clickThroughURL: self.clickThroughURL ?? "",
            banner: self.banner?.content,
            trackers: self.trackers.map { .init(event: $0.event, url: $0.url, offset: $0.offset) }
        )
    }
}

extension Advertisement.MediaFile {
    fileprivate var content: AdvertisementContent.MediaFile {
        AdvertisementContent.MediaFile(
            url: self.url,
            type: self.type,
            bitrateKilobitsPerSecond: UInt32(clamping: self.bitrate ?? 0),
            width: UInt32(clamping: self.width ?? 0),
            height: UInt32(clamping: self.height ?? 0),
            codec: self.codec ?? "",
            streaming: self.isStreaming
        )
    }
}

extension Advertisement.Banner {
    fileprivate var content: AdvertisementContent.Banner {
        AdvertisementContent.Banner(
            imageURL: self.imageURL,
            targetURL: self.targetURL ?? "",
            width: UInt32(clamping: self.width ?? 0),
            height: UInt32(clamping: self.height ?? 0),
            alternativeText: self.alternativeText ?? "",
            type: self.type ?? ""
        )
    }
}
