// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

/// What is in one advertisement, as broadcasters publish it and listeners receive it.
package struct AdvertisementContent: Hashable, Sendable {
    package struct MediaFile: Hashable, Sendable {
        package var url: String
        /// MIME type.
        package var type: String
        /// 0: not known.
        package var bitrateKilobitsPerSecond: UInt32
        package var width: UInt32
        package var height: UInt32
        package var codec: String
        /// Whether it is a stream (or a file to download).
        package var streaming: Bool

        package init(
            url: String,
            type: String,
            bitrateKilobitsPerSecond: UInt32 = 0,
            width: UInt32 = 0,
            height: UInt32 = 0,
            codec: String = "",
            streaming: Bool = false
        ) {
            self.url = url
            self.type = type
            self.bitrateKilobitsPerSecond = bitrateKilobitsPerSecond
            self.width = width
            self.height = height
            self.codec = codec
            self.streaming = streaming
        }
    }

    package struct Banner: Hashable, Sendable {
        package var imageURL: String
        /// Empty: it does not lead anywhere.
        package var targetURL: String
        package var width: UInt32
        package var height: UInt32
        package var alternativeText: String
        package var type: String

        package init(
            imageURL: String,
            targetURL: String = "",
            width: UInt32 = 0,
            height: UInt32 = 0,
            alternativeText: String = "",
            type: String = ""
        ) {
            self.imageURL = imageURL
            self.targetURL = targetURL
            self.width = width
            self.height = height
            self.alternativeText = alternativeText
            self.type = type
        }
    }

    package struct Tracker: Hashable, Sendable {
        /// The VAST event name (VAST 4.3 section 3.14.1), or `impression`, `clickTracking`, `error`, and of the banner
        /// `bannerView` and `bannerClick`.
        package var event: String
        package var url: String
        /// For `progress`: how far into the advertisement.
        package var offset: Duration?

        package init(event: String, url: String, offset: Duration? = nil) {
            self.event = event
            self.url = url
            self.offset = offset
        }
    }

    package var id: AdvertisementID
    package var title: String
    package var text: String
    package var advertiser: String
    package var duration: Duration
    /// From when on it may be skipped; `nil`: never.
    package var skipOffset: Duration?
    package var media: [MediaFile]
    /// Empty: none.
    package var clickThroughURL: String
    package var banner: Banner?
    package var trackers: [Tracker]

    package init(
        id: AdvertisementID,
        title: String = "",
        text: String = "",
        advertiser: String = "",
        duration: Duration,
        skipOffset: Duration? = nil,
        media: [MediaFile],
        clickThroughURL: String = "",
        banner: Banner? = nil,
        trackers: [Tracker] = []
    ) {
        self.id = id
        self.title = title
        self.text = text
        self.advertiser = advertiser
        self.duration = duration
        self.skipOffset = skipOffset
        self.media = media
        self.clickThroughURL = clickThroughURL
        self.banner = banner
        self.trackers = trackers
    }
}

extension AdvertisementContent {
    /// What reports and repeats need when nobody can play it any more: all but one media file, tracking and banner go.
    package var condensed: AdvertisementContent {
        AdvertisementContent(
            id: self.id,
            title: self.title,
            duration: self.duration,
            media: Array(self.media.prefix(1))
        )
    }
}

extension AdvertisementContent {
    init(wire: Cuecast_V1_Advertisement) throws(WireError) {
        self.id = try AdvertisementID(wire.id)
        self.title = wire.title
        self.text = wire.description_p
        self.advertiser = wire.advertiser
        try requireText(wire.title, field: "title")
        try requireText(wire.description_p, field: "description")
        try requireText(wire.advertiser, field: "advertiser")
        guard wire.durationMs > 0 else {
            throw .invalid(field: "duration_ms", rule: "advertisement \(wire.id) needs a duration above 0")
        }
        try requireAtMost(
            Int(WireLimits.advertisementDurationMillisecondsMax),
            Int(wire.durationMs),
            limit: "advertisementDurationMillisecondsMax"
        )
        self.duration = .milliseconds(wire.durationMs)
        self.skipOffset = wire.hasSkipOffsetMs ? .milliseconds(wire.skipOffsetMs) : nil
        guard !wire.media.isEmpty else {
            throw .invalid(field: "media", rule: "advertisement \(wire.id) has no media file")
        }
        try requireAtMost(
            WireLimits.mediaFilesPerAdvertisementMax,
            wire.media.count,
            limit: "mediaFilesPerAdvertisementMax"
        )
        self.media = try wire.media.map { (file) throws(WireError) in try MediaFile(wire: file) }
        self.clickThroughURL =
            wire.clickThroughURL.isEmpty ? "" : try requireURL(wire.clickThroughURL, field: "click_through_url")
        self.banner = wire.hasBanner ? try Banner(wire: wire.banner) : nil
        try requireAtMost(
            WireLimits.trackersPerAdvertisementMax,
            wire.trackers.count,
            limit: "trackersPerAdvertisementMax"
        )
        self.trackers = try wire.trackers.map { (tracker) throws(WireError) in try Tracker(wire: tracker) }
    }

    var wire: Cuecast_V1_Advertisement {
        .with {
            $0.id = self.id.description
            $0.title = self.title
            $0.description_p = self.text
            $0.advertiser = self.advertiser
            $0.durationMs = self.duration.inMilliseconds
            if let skipOffset = self.skipOffset { $0.skipOffsetMs = skipOffset.inMilliseconds }
            $0.media = self.media.map(\.wire)
            $0.clickThroughURL = self.clickThroughURL
            if let banner = self.banner { $0.banner = banner.wire }
            $0.trackers = self.trackers.map(\.wire)
        }
    }

    /// Reads a list of advertisements, with the rules for the whole list: not empty, not too many, no id twice.
    static func list(wire: [Cuecast_V1_Advertisement]) throws(WireError) -> [AdvertisementContent] {
        try requireAtMost(WireLimits.advertisementsPerBreakMax, wire.count, limit: "advertisementsPerBreakMax")
        guard !wire.isEmpty else {
            throw .invalid(field: "advertisements", rule: "a break needs at least one")
        }
        var seen: Set<AdvertisementID> = []
        var list: [AdvertisementContent] = []
        for each in wire {
            let content = try AdvertisementContent(wire: each)
            guard seen.insert(content.id).inserted else {
                throw .invalid(field: "advertisements", rule: "the id \(content.id) stands there twice")
            }
            list.append(content)
        }
        return list
    }
}

extension AdvertisementContent.MediaFile {
    init(wire: Cuecast_V1_MediaFile) throws(WireError) {
        let url = try requireURL(wire.url, field: "media url")
        try requireText(wire.type, field: "media type")
        try requireText(wire.codec, field: "media codec")
        self.init(
            url: url,
            type: wire.type,
            bitrateKilobitsPerSecond: wire.bitrateKbps,
            width: wire.width,
            height: wire.height,
            codec: wire.codec,
            streaming: wire.streaming
        )
    }

    var wire: Cuecast_V1_MediaFile {
        .with {
            $0.url = self.url
            $0.type = self.type
            $0.bitrateKbps = self.bitrateKilobitsPerSecond
            $0.width = self.width
            $0.height = self.height
            $0.codec = self.codec
            $0.streaming = self.streaming
        }
    }
}

extension AdvertisementContent.Banner {
    init(wire: Cuecast_V1_Banner) throws(WireError) {
        let imageURL = try requireURL(wire.imageURL, field: "banner image_url")
        let targetURL = wire.targetURL.isEmpty ? "" : try requireURL(wire.targetURL, field: "banner target_url")
        try requireText(wire.alternativeText, field: "banner alternative_text")
        try requireText(wire.type, field: "banner type")
        self.init(
            imageURL: imageURL,
            targetURL: targetURL,
            width: wire.width,
            height: wire.height,
            alternativeText: wire.alternativeText,
            type: wire.type
        )
    }

    var wire: Cuecast_V1_Banner {
        .with {
            $0.imageURL = self.imageURL
            $0.targetURL = self.targetURL
            $0.width = self.width
            $0.height = self.height
            $0.alternativeText = self.alternativeText
            $0.type = self.type
        }
    }
}

extension AdvertisementContent.Tracker {
    init(wire: Cuecast_V1_Tracker) throws(WireError) {
        try requireText(wire.event, field: "tracker event")
        guard !wire.event.isEmpty else { throw .invalid(field: "tracker event", rule: "it is empty") }
        let url = try requireURL(wire.url, field: "tracker url")
        self.init(event: wire.event, url: url, offset: wire.hasOffsetMs ? .milliseconds(wire.offsetMs) : nil)
    }

    var wire: Cuecast_V1_Tracker {
        .with {
            $0.event = self.event
            $0.url = self.url
            if let offset = self.offset { $0.offsetMs = offset.inMilliseconds }
        }
    }
}

/// Advertisements encoded once, so that any tail of them can be put into a reply by copying bytes.
///
/// Fields of a protobuf message may be concatenated (Protocol Buffers, "Encoding", section "Last One Wins"), and
/// `advertisements` is the last field of `Batch`: a tail of this encoding is the end of a smaller batch.
package struct EncodedAdvertisements: Hashable, Sendable {
    /// The field `advertisements` of `Batch`, once per advertisement, in order.
    package let bytes: [UInt8]
    /// Where in `bytes` each advertisement begins; one more at the end.
    package let offsets: [Int]

    package init(_ advertisements: [AdvertisementContent]) {
        var bytes: [UInt8] = []
        var offsets: [Int] = [0]
        for advertisement in advertisements {
            bytes += encode(Cuecast_V1_Batch.with { $0.advertisements = [advertisement.wire] })
            offsets.append(bytes.count)
        }
        self.bytes = bytes
        self.offsets = offsets
    }

    /// The bytes from the advertisement with this ordinal on.
    package func tail(from ordinal: Int) -> ArraySlice<UInt8> {
        self.bytes[self.offsets[ordinal]...]
    }
}
