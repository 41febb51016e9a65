// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// One ad that can be played as it stands.
///
/// Times are whole milliseconds, URLs are absolute `http` or `https` addresses with their macros (`[CACHEBUSTING]`)
/// untouched, and text is as the document has it, without the white space around it.
public struct AdContent: Hashable, Sendable {
    /// The purpose that an ad is made for (VAST 4.1 and later, section 3.3.2, `adType`).
    public enum Kind: String, Hashable, Sendable {
        /// Moving pictures with sound.
        case video
        /// Sound only.
        case audio
        /// A video that may also play as sound only.
        case hybrid
    }

    /// Whether the ad may play without its companions (VAST 4.3 section 3.13, `required`).
    public enum CompanionsRequired: String, Hashable, Sendable {
        /// Every companion must be shown with the ad.
        case all
        /// At least one companion must be shown with the ad.
        case any
        /// The ad plays with or without its companions.
        case none
    }

    /// An identifier of the creative that is the same in all systems (VAST 4.3 section 3.7.1).
    public struct UniversalID: Hashable, Sendable {
        /// The registry, such as `ad-id.org`.
        public var registry: String
        /// The identifier in that registry.
        public var value: String

        /// An identifier in a registry.
        public init(registry: String, value: String) {
            self.registry = registry
            self.value = value
        }
    }

    /// The subject of the ad, in the words of some list (VAST 4.3 section 3.4.5).
    public struct Category: Hashable, Sendable {
        /// The publisher of the list; empty where the document does not name it.
        public var authority: String
        /// The code or label in that list.
        public var code: String

        /// A category of a list.
        public init(authority: String, code: String) {
            self.authority = authority
            self.code = code
        }
    }

    /// The key of the ad: 1 to 128 bytes, unique in its batch, and the same whenever the same document is read.
    public var id: String
    /// The `id` of the ad in the document, where it has one.
    public var documentID: String?
    /// The identifier of this one serving of the ad (VAST 4.3 section 3.4.3).
    public var adServingID: String?
    /// The purpose that the ad is made for.
    public var kind: Kind
    /// The name of the ad; empty where the document has none.
    public var title: String
    /// A longer text about the ad.
    public var description: String?
    /// The advertiser.
    public var advertiser: String?
    /// The system that served the ad.
    public var adSystem: String?
    /// The identifiers of the creative that all systems share.
    public var universalIDs: [UniversalID]
    /// The subjects of the ad.
    public var categories: [Category]
    /// How long the ad plays, in milliseconds; at least 1.
    public var durationMilliseconds: Int
    /// From when on the listener may skip the ad, in milliseconds from its start; nil: never.
    public var skipOffsetMilliseconds: Int?
    /// The place of the ad in its pod; nil for a stand-alone ad.
    ///
    /// A substitute has the place of the ad that it replaces.
    public var sequence: Int?
    /// For how many seconds after it was requested the ad may be played (VAST 4.3 section 3.4.10); nil: always.
    public var expiresAfterSeconds: Int?
    /// The same ad in several encodings, in document order; at least one, all of them playable without running code.
    public var mediaFiles: [AdMediaFile]
    /// The page that opens when the listener acts on the ad.
    public var clickThrough: String?
    /// The URLs to call when ``clickThrough`` opens (event `clickTracking`).
    public var clickTracking: [AdTracker]
    /// The URLs to call on other interactions (event `customClick`).
    public var customClicks: [AdTracker]
    /// The URLs to call when the ad begins to be heard or seen (event `impression`).
    public var impressions: [AdTracker]
    /// The URLs to call as the ad plays: `start`, `firstQuartile`, `progress` and the others of VAST 4.3 section 3.14.1.
    public var trackingEvents: [AdTracker]
    /// The URLs to call when the ad cannot be played (event `error`).
    public var errorURLs: [String]
    /// Pictures and pages to show beside the ad, in document order.
    public var companions: [AdCompanion]
    /// Whether the ad may play without its companions.
    public var companionsRequired: CompanionsRequired
    /// Icons of industry programmes to show over the ad.
    public var icons: [AdIcon]
    /// Code of third parties that measures how the ad is seen and heard.
    public var verifications: [AdVerification]
    /// The URLs to call when the ad was seen or not (events `viewable`, `notViewable` and `viewUndetermined`; VAST 4.3 section 3.5).
    public var viewability: [AdTracker]
    /// The captions of the ad.
    public var captionFiles: [AdCaptionFile]
    /// The ad in the best quality, for those who make encodings of their own; not for playing (VAST 4.3 section 3.9.2).
    public var mezzanines: [AdMediaFile]
    /// Parts of the ad that are not in this value, in the order in which they were met, each with its reason.
    public var leftOut: [LeftOut]

    /// An ad with what every ad has; set the other properties as needed.
    public init(id: String, title: String, durationMilliseconds: Int, mediaFiles: [AdMediaFile], kind: Kind = .audio) {
        self.id = id
        self.kind = kind
        self.title = title
        self.universalIDs = []
        self.categories = []
        self.durationMilliseconds = durationMilliseconds
        self.mediaFiles = mediaFiles
        self.clickTracking = []
        self.customClicks = []
        self.impressions = []
        self.trackingEvents = []
        self.errorURLs = []
        self.companions = []
        self.companionsRequired = .none
        self.icons = []
        self.verifications = []
        self.viewability = []
        self.captionFiles = []
        self.mezzanines = []
        self.leftOut = []
    }
}

extension AdContent {
    /// The companion to show as the banner of the ad: a picture, as square as can be.
    ///
    /// Candidates have a static image. Of them come first those that are known to measure 100 pixels or more on both
    /// sides, then the one whose shape is closest to a square, then the largest, then the first in the document.
    public var banner: AdCompanion? {
        var best: (companion: AdCompanion, rank: BannerRank)?
        for companion in self.companions {
            guard let rank = BannerRank(companion) else { continue }
            if best.map({ rank > $0.rank }) ?? true { best = (companion, rank) }
        }
        return best?.companion
    }

    /// All that a player calls for this ad, as one list with one event name each.
    ///
    /// Beside the events of ``trackingEvents`` and ``viewability`` these are `impression`, `clickTracking`, `customClick` and `error`,
    /// and for the ``banner`` `bannerView` and `bannerClick`. Those of ``icons`` and ``verifications`` are with these.
    public var trackers: [AdTracker] {
        var all = self.impressions + self.trackingEvents + self.viewability + self.clickTracking + self.customClicks
        all += self.errorURLs.map { AdTracker(event: AdTracker.error, url: $0) }
        if let banner = self.banner {
            for tracker in banner.trackingEvents where tracker.event == "creativeView" {
                all.append(AdTracker(event: AdTracker.bannerView, url: tracker.url, id: tracker.id))
            }
            all += banner.clickTracking.map { AdTracker(event: AdTracker.bannerClick, url: $0.url, id: $0.id) }
        }
        return all
    }

    /// How many URLs there are to call: ``trackers``, and those of icons and verifications.
    var trackerCount: Int {
        self.trackers.count + self.icons.reduce(0) { $0 + $1.trackingEvents.count + $1.clickTracking.count }
            + self.verifications.reduce(0) { $0 + $1.notExecuted.count }
    }
}

/// How well a companion serves as a banner; see ``AdContent/banner``.
private struct BannerRank: Comparable {
    private let isLarge: Bool
    private let squareness: Double
    private let area: Double

    /// Nil for a companion without an image.
    init?(_ companion: AdCompanion) {
        guard companion.image != nil else { return nil }
        let width = Double(companion.width ?? 0)
        let height = Double(companion.height ?? 0)
        self.isLarge = min(width, height) >= 100
        self.squareness = max(width, height) > 0 ? min(width, height) / max(width, height) : 0
        self.area = width * height
    }

    static func < (one: Self, other: Self) -> Bool {
        if one.isLarge != other.isLarge { return other.isLarge }
        if one.squareness != other.squareness { return one.squareness < other.squareness }
        return one.area < other.area
    }
}
