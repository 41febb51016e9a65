// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

/// The content of one advertisement, as broadcasters publish it and listeners receive it.
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
    package var supplements = Supplements()

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
    /// The content that reports and repeats need when the advertisement can no longer be played: all but one media file, tracking,
    /// banner and supplements are removed.
    package var condensed: AdvertisementContent {
        AdvertisementContent(
            id: self.id,
            title: self.title,
            duration: self.duration,
            media: Array(self.media.prefix(1))
        )
    }
}

// MARK: - Rules

extension AdvertisementContent {
    /// The advertisement as it is kept, where the rules of the wire allow it.
    ///
    /// URLs are percent-encoded, and times are cut to whole milliseconds.
    ///
    /// - Throws: the first rule that it breaks.
    package func checked() throws(WireError) -> AdvertisementContent {
        var content = self
        try content.check()
        return content
    }

    /// Cuts its times to whole milliseconds, and refuses those that the wire cannot hold: for times from people.
    package mutating func cutTimes() throws(WireError) {
        self.duration = try self.duration.wholeMilliseconds(field: "advertisement duration")
        self.skipOffset = try self.skipOffset?.wholeMilliseconds(field: "skip offset")
        for index in self.trackers.indices {
            self.trackers[index].offset = try self.trackers[index].offset?.wholeMilliseconds(field: "tracker offset")
        }
        try self.supplements.cutTimes()
    }

    fileprivate mutating func check() throws(WireError) {
        try self.id.check()
        try requireText(self.title, field: "title")
        try requireText(self.text, field: "description")
        try requireText(self.advertiser, field: "advertiser")
        let milliseconds = self.duration.inMilliseconds
        guard milliseconds > 0 else {
            throw .invalid(field: "duration_ms", rule: "advertisement \(self.id) needs a duration above 0")
        }
        try requireAtMost(
            Int(WireLimits.advertisementDurationMillisecondsMax),
            Int(milliseconds),
            limit: "advertisementDurationMillisecondsMax"
        )
        self.duration = .milliseconds(milliseconds)
        self.skipOffset = self.skipOffset?.cutToMilliseconds
        guard !self.media.isEmpty else {
            throw .invalid(field: "media", rule: "advertisement \(self.id) has no media file")
        }
        try requireAtMost(
            WireLimits.mediaFilesPerAdvertisementMax,
            self.media.count,
            limit: "mediaFilesPerAdvertisementMax"
        )
        for index in self.media.indices { try self.media[index].check() }
        if !self.clickThroughURL.isEmpty {
            self.clickThroughURL = try requireURL(self.clickThroughURL, field: "click_through_url")
        }
        try self.banner?.check()
        try requireAtMost(
            WireLimits.trackersPerAdvertisementMax,
            self.trackers.count + self.supplements.trackerCount,
            limit: "trackersPerAdvertisementMax"
        )
        for index in self.trackers.indices { try self.trackers[index].check() }
        try self.supplements.check()
    }

    /// A list of advertisements as it is kept, with the rules for the whole list: not empty, not too many, no id twice.
    ///
    /// - Parameters:
    ///   - sources: the source of each. Too many give none.
    ///   - content: makes one.
    /// - Returns: the list.
    /// - Throws: the first rule that it breaks.
    static func list<Source>(
        _ sources: [Source],
        _ content: (Source) -> AdvertisementContent
    ) throws(WireError) -> [AdvertisementContent] {
        try requireAtMost(WireLimits.advertisementsPerBreakMax, sources.count, limit: "advertisementsPerBreakMax")
        guard !sources.isEmpty else {
            throw .invalid(field: "advertisements", rule: "a break needs at least one")
        }
        var seen: Set<AdvertisementID> = []
        var list: [AdvertisementContent] = []
        for each in sources {
            var content = content(each)
            try content.check()
            guard seen.insert(content.id).inserted else {
                throw .invalid(field: "advertisements", rule: "the id \(content.id) is listed twice")
            }
            list.append(content)
        }
        return list
    }
}

extension AdvertisementContent.MediaFile {
    mutating func check() throws(WireError) {
        self.url = try requireURL(self.url, field: "media url")
        try requireText(self.type, field: "media type")
        try requireText(self.codec, field: "media codec")
    }
}

extension AdvertisementContent.Banner {
    fileprivate mutating func check() throws(WireError) {
        self.imageURL = try requireURL(self.imageURL, field: "banner image_url")
        if !self.targetURL.isEmpty { self.targetURL = try requireURL(self.targetURL, field: "banner target_url") }
        try requireText(self.alternativeText, field: "banner alternative_text")
        try requireText(self.type, field: "banner type")
    }
}

extension AdvertisementContent.Tracker {
    mutating func check() throws(WireError) {
        try requireText(self.event, field: "tracker event")
        guard !self.event.isEmpty else { throw .invalid(field: "tracker event", rule: "it is empty") }
        self.url = try requireURL(self.url, field: "tracker url")
        self.offset = self.offset?.cutToMilliseconds
    }
}

// MARK: - Protobuf

extension AdvertisementContent {
    /// As it was sent; the rules are not looked at.
    init(wire: Cuecast_V1_Advertisement) {
        self.init(
            id: AdvertisementID(unchecked: wire.id),
            title: wire.title,
            text: wire.description_p,
            advertiser: wire.advertiser,
            duration: .milliseconds(wire.durationMs),
            skipOffset: wire.hasSkipOffsetMs ? .milliseconds(wire.skipOffsetMs) : nil,
            media: wire.media.map { MediaFile(wire: $0) },
            clickThroughURL: wire.clickThroughURL,
            banner: wire.hasBanner ? Banner(wire: wire.banner) : nil,
            trackers: wire.trackers.map { Tracker(wire: $0) }
        )
        self.supplements = Supplements(wire: wire)
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
            self.supplements.put(into: &$0)
        }
    }

    /// Reads and checks a list of advertisements.
    static func list(wire: [Cuecast_V1_Advertisement]) throws(WireError) -> [AdvertisementContent] {
        try self.list(wire) { AdvertisementContent(wire: $0) }
    }
}

extension AdvertisementContent.MediaFile {
    init(wire: Cuecast_V1_MediaFile) {
        self.init(
            url: wire.url,
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
    init(wire: Cuecast_V1_Banner) {
        self.init(
            imageURL: wire.imageURL,
            targetURL: wire.targetURL,
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
    init(wire: Cuecast_V1_Tracker) {
        self.init(event: wire.event, url: wire.url, offset: wire.hasOffsetMs ? .milliseconds(wire.offsetMs) : nil)
    }

    var wire: Cuecast_V1_Tracker {
        .with {
            $0.event = self.event
            $0.url = self.url
            if let offset = self.offset { $0.offsetMs = offset.inMilliseconds }
        }
    }
}

// MARK: - Size

extension AdvertisementContent {
    /// How many bytes `wire` has.
    var encodedByteCount: Int {
        var count = EncodedSize.text(self.id.description)
        count += EncodedSize.text(self.title) + EncodedSize.text(self.text) + EncodedSize.text(self.advertiser)
        count += EncodedSize.number(self.duration.inMilliseconds)
        if let skipOffset { count += EncodedSize.present(skipOffset.inMilliseconds) }
        for file in self.media { count += EncodedSize.message(file.encodedByteCount) }
        count += EncodedSize.text(self.clickThroughURL)
        if let banner { count += EncodedSize.message(banner.encodedByteCount) }
        for tracker in self.trackers { count += EncodedSize.message(tracker.encodedByteCount) }
        count += self.supplements.encodedByteCount
        return count
    }
}

extension AdvertisementContent.MediaFile {
    var encodedByteCount: Int {
        EncodedSize.text(self.url) + EncodedSize.text(self.type) + EncodedSize.number(self.bitrateKilobitsPerSecond)
            + EncodedSize.number(self.width) + EncodedSize.number(self.height) + EncodedSize.text(self.codec)
            + EncodedSize.flag(self.streaming)
    }
}

extension AdvertisementContent.Banner {
    fileprivate var encodedByteCount: Int {
        EncodedSize.text(self.imageURL) + EncodedSize.text(self.targetURL) + EncodedSize.number(self.width)
            + EncodedSize.number(self.height) + EncodedSize.text(self.alternativeText) + EncodedSize.text(self.type)
    }
}

extension AdvertisementContent.Tracker {
    var encodedByteCount: Int {
        EncodedSize.text(self.event) + EncodedSize.text(self.url)
            + (self.offset.map { EncodedSize.present($0.inMilliseconds) } ?? 0)
    }
}
