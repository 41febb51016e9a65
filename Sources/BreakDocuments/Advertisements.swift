// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import AdFormats
package import CuecastWire

/// Reads the ads of a break from JSON, as `docs/broadcasters/ads-file.md` describes them.
package enum AdsDocument {
    /// The longest document, in bytes.
    package static let bytesMax = 1_048_576

    /// The ads of a document, first to last.
    ///
    /// - Parameter document: at most one byte more than `bytesMax` of it is looked at.
    /// - Returns: at least one, as the document has them; `checked()` of each passes.
    /// - Throws: the first thing that is wrong.
    package static func read(_ document: some Sequence<UInt8>) throws(DocumentFault) -> [AdvertisementContent] {
        let bytes = Array(document.prefix(Self.bytesMax + 1))
        guard bytes.count <= Self.bytesMax else {
            throw .tooLarge(line: 1, field: "", reason: "the limit fileBytesMax is \(Self.bytesMax)")
        }
        let root = try Self.root(bytes)
        return try Self.advertisements(JSONFields(root, path: "", shape: BreakShapes.adList), of: root)
    }

    /// The ads of a VAST document, first to last.
    ///
    /// - Parameters:
    ///   - vast: the document.
    ///   - charset: the encoding that the sender states; `nil`: none.
    /// - Returns: at least one ad, of which the rules of the wire are not looked at, and what of the document is not in them, each with
    ///   its reason.
    /// - Throws: why the document cannot be used.
    package static func read(
        vast: [UInt8],
        charset: String?
    ) throws(DocumentFault) -> (ads: [AdvertisementContent], leftOut: [String]) {
        var options = VASTReadingOptions()
        options.charset = charset
        let batch: AdBatch
        do throws(AdFormatError) {
            batch = try VAST.read(vast, options: options)
        } catch {
            throw DocumentFault(line: 1, field: "", reason: "the VAST document cannot be used: \(error)")
        }
        return (
            batch.ads.map { AdvertisementContent($0) },
            batch.skipped.map(\.description) + (batch.leftOut + batch.ads.flatMap(\.leftOut)).map(\.description)
        )
    }

    /// The variants of a document, in the order in which they are tried; as `docs/broadcasters/audiences.md` describes them.
    ///
    /// - Parameter document: at most one byte more than `bytesMax` of it is looked at.
    /// - Returns: at least one; the rules of the wire for a break's variants are not looked at, but for their ads.
    /// - Throws: the first thing that is wrong.
    package static func readVariants(_ document: some Sequence<UInt8>) throws(DocumentFault) -> [AudienceVariant] {
        let bytes = Array(document.prefix(Self.bytesMax + 1))
        guard bytes.count <= Self.bytesMax else {
            throw .tooLarge(line: 1, field: "", reason: "the limit fileBytesMax is \(Self.bytesMax)")
        }
        let root = try Self.root(bytes)
        let fields = try JSONFields(root, path: "", shape: BreakShapes.variantsFile)
        let variants = try Self.variants(fields)
        guard !variants.isEmpty else {
            throw DocumentFault(line: root.line, field: "variants", reason: "there must be at least one")
        }
        return variants
    }

    /// The member `variants` of a document.
    static func variants(_ fields: JSONFields) throws(DocumentFault) -> [AudienceVariant] {
        let nodes = try fields.elements("variants")
        guard nodes.isEmpty || nodes.count < WireLimits.variantsPerBreakMax else {
            throw .tooLarge(
                line: nodes[0].line,
                field: "variants",
                reason: "the limit variantsPerBreakMax is \(WireLimits.variantsPerBreakMax), with default"
            )
        }
        var variants: [AudienceVariant] = []
        for (index, node) in nodes.enumerated() {
            let path = "variants[\(index)]"
            let each = try JSONFields(node, path: path, shape: BreakShapes.variant)
            let name = try each.required("name", each.text("name"))
            let conditions = try each.elements("if", Self.condition)
            let ads = try Self.advertisements(each, of: node, path: "\(path).")
            variants.append(AudienceVariant(name: name, conditions: conditions, advertisements: ads))
        }
        return variants
    }

    /// One element of the member `if` of a variant.
    static func condition(
        _ node: JSONNode,
        path: String
    ) throws(DocumentFault) -> AudienceVariant.Condition {
        let fields = try JSONFields(node, path: path, shape: BreakShapes.condition)
        let key = try fields.required("attribute", fields.text("attribute"))
        let isNegated = fields["isNot"] != nil
        guard isNegated != (fields["is"] != nil) else { throw fields.fault("is", "give one of is and isNot") }
        let name = isNegated ? "isNot" : "is"
        if case .string(let value)? = fields[name]?.value {
            return AudienceVariant.Condition(key: key, values: [value], isNegated: isNegated)
        }
        var values: [String] = []
        for each in try fields.elements(name) {
            guard case .string(let value) = each.value else {
                throw fields.fault(name, "it must be a string, or an array of strings")
            }
            values.append(value)
        }
        return AudienceVariant.Condition(key: key, values: values, isNegated: isNegated)
    }

    /// The JSON of a document.
    static func root(_ bytes: [UInt8]) throws(DocumentFault) -> JSONNode {
        do throws(JSONReader.Fault) {
            return try JSONReader.read(bytes)
        } catch {
            throw DocumentFault(line: error.line, field: "", reason: "this is not JSON: \(error.reason)")
        }
    }

    /// The member `ads` of a document.
    static func advertisements(
        _ fields: JSONFields,
        of root: JSONNode,
        path prefix: String = ""
    ) throws(DocumentFault) -> [AdvertisementContent] {
        let nodes = try fields.elements("ads")
        guard !nodes.isEmpty else {
            throw DocumentFault(line: root.line, field: "\(prefix)ads", reason: "there must be at least one")
        }
        guard nodes.count <= WireLimits.advertisementsPerBreakMax else {
            throw .tooLarge(
                line: root.line,
                field: "\(prefix)ads",
                reason: "the limit advertisementsPerBreakMax is \(WireLimits.advertisementsPerBreakMax)"
            )
        }
        var ads: [AdvertisementContent] = []
        var lines: [AdvertisementID: Int] = [:]
        for (index, node) in nodes.enumerated() {
            let path = "\(prefix)ads[\(index)]"
            let ad = try Self.checkedAdvertisement(node, path: path)
            if let line = lines.updateValue(node.line, forKey: ad.id) {
                throw DocumentFault(
                    line: node.line,
                    field: "\(path).id",
                    reason: "the ad on line \(line) has the id \(ad.id) already"
                )
            }
            ads.append(ad)
        }
        return ads
    }

    /// An ad that the wire takes.
    static func checkedAdvertisement(_ node: JSONNode, path: String) throws(DocumentFault) -> AdvertisementContent {
        var ad = try Self.advertisement(node, path: path)
        // Asked here, so that the fault is told with its line.
        do throws(WireError) {
            try ad.cutTimes()
            _ = try ad.checked()
        } catch {
            throw DocumentFault(error, line: node.line, path: path)
        }
        return ad
    }

    private static func advertisement(
        _ node: JSONNode,
        path: String
    ) throws(DocumentFault) -> AdvertisementContent {
        let fields = try JSONFields(node, path: path, shape: BreakShapes.ad)
        let media = try fields.elements("media", Self.mediaFile)
        var ad = AdvertisementContent(
            id: AdvertisementID(unchecked: try fields.required("id", fields.text("id"))),
            title: try fields.text("title") ?? "",
            duration: try fields.required("duration", fields.duration("duration")),
            media: media
        )
        ad.text = try fields.text("description") ?? ""
        ad.advertiser = try fields.text("advertiser") ?? ""
        ad.skipOffset = try fields.duration("skipAfter")
        ad.clickThroughURL = try fields.text("clickThrough") ?? ""
        if let banner = fields["banner"] { ad.banner = try Self.banner(banner, path: "\(path).banner") }
        ad.trackers = try fields.list("trackers", Self.tracker)
        ad.supplements = try Self.supplements(fields)
        return ad
    }

    static func mediaFile(
        _ node: JSONNode,
        path: String
    ) throws(DocumentFault) -> AdvertisementContent.MediaFile {
        let fields = try JSONFields(node, path: path, shape: BreakShapes.mediaFile)
        var file = AdvertisementContent.MediaFile(
            url: try fields.required("url", fields.text("url")),
            type: try fields.text("type") ?? ""
        )
        file.bitrateKilobitsPerSecond = try fields.count("bitrate") ?? 0
        file.width = try fields.count("width") ?? 0
        file.height = try fields.count("height") ?? 0
        file.codec = try fields.text("codec") ?? ""
        file.streaming = try fields.flag("streaming") ?? false
        return file
    }

    private static func banner(
        _ node: JSONNode,
        path: String
    ) throws(DocumentFault) -> AdvertisementContent.Banner {
        let fields = try JSONFields(node, path: path, shape: BreakShapes.banner)
        var banner = AdvertisementContent.Banner(
            imageURL: try fields.required("image", fields.text("image"))
        )
        banner.targetURL = try fields.text("target") ?? ""
        banner.width = try fields.count("width") ?? 0
        banner.height = try fields.count("height") ?? 0
        banner.alternativeText = try fields.text("text") ?? ""
        banner.type = try fields.text("type") ?? ""
        return banner
    }

    static func tracker(
        _ node: JSONNode,
        path: String
    ) throws(DocumentFault) -> AdvertisementContent.Tracker {
        let fields = try JSONFields(node, path: path, shape: BreakShapes.tracker)
        let tracker = AdvertisementContent.Tracker(
            event: try fields.required("event", fields.text("event")),
            url: try fields.required("url", fields.text("url")),
            offset: try fields.duration("offset")
        )
        // VAST 4.2 section 3.14.1.
        guard tracker.event != "progress" || tracker.offset != nil else {
            throw DocumentFault(line: node.line, field: path + ".offset", reason: "progress needs one")
        }
        return tracker
    }
}

// MARK: - VAST

// `AdContent` is a model of its own, because `AdFormats` is a library without dependencies. Its ads become the wire's values, and the
// wire's values become its ads, only here.

extension AdvertisementContent {
    /// The ad that a VAST document describes.
    ///
    /// Its banner is the companion that `AdContent.banner` picks; its trackers are all that `AdContent.trackers` lists.
    ///
    /// - Parameter ad: an ad that a reader of `AdFormats` returned; the rules of the wire are not looked at.
    package init(_ ad: AdContent) {
        self.init(
            id: AdvertisementID(unchecked: ad.id),
            title: ad.title,
            text: ad.description ?? "",
            advertiser: ad.advertiser ?? "",
            duration: .milliseconds(ad.durationMilliseconds),
            skipOffset: ad.skipOffsetMilliseconds.map { .milliseconds($0) },
            media: ad.mediaFiles.map { MediaFile($0) },
            clickThroughURL: ad.clickThrough ?? "",
            banner: ad.banner.flatMap { Banner($0) },
            trackers: ad.trackers.map { tracker in
                Tracker(
                    event: tracker.event,
                    url: tracker.url,
                    offset: tracker.offsetMilliseconds.map { .milliseconds($0) }
                )
            }
        )
        self.supplements = Supplements(ad)
    }
}

extension AdvertisementContent.MediaFile {
    /// The media file that a VAST document describes.
    package init(_ file: AdMediaFile) {
        self.init(
            url: file.url,
            type: file.type,
            bitrateKilobitsPerSecond: UInt32(clamping: file.bitrate ?? file.bitrateMax ?? 0),
            width: UInt32(clamping: file.width ?? 0),
            height: UInt32(clamping: file.height ?? 0),
            codec: file.codec ?? "",
            streaming: file.delivery == .streaming
        )
    }
}

extension AdvertisementContent.Banner {
    /// The companion that a VAST document describes, as a picture; `nil` where it has none.
    package init?(_ companion: AdCompanion) {
        guard let image = companion.image else { return nil }
        self.init(
            imageURL: image.url,
            targetURL: companion.clickThrough ?? "",
            width: UInt32(clamping: companion.width ?? 0),
            height: UInt32(clamping: companion.height ?? 0),
            alternativeText: companion.altText ?? "",
            type: image.type
        )
    }
}

extension AdContent {
    /// The ad that a broadcaster published, as a VAST document has it.
    ///
    /// - Parameter content: an advertisement that the wire's rules allow.
    package init(_ content: AdvertisementContent) {
        let isAudio = content.media.allSatisfy {
            VAST.mediaType(of: $0.type, at: $0.url).lowercased().hasPrefix("audio/")
        }
        self.init(
            id: content.id.description,
            title: content.title,
            durationMilliseconds: Int(content.duration.inMilliseconds),
            mediaFiles: content.media.map { AdMediaFile($0) },
            kind: isAudio ? .audio : .video
        )
        self.description = content.text.orNil
        self.advertiser = content.advertiser.orNil
        self.skipOffsetMilliseconds = content.skipOffset.map { Int($0.inMilliseconds) }
        self.clickThrough = content.clickThroughURL.orNil
        if let banner = content.banner { self.companions = [AdCompanion(banner)] }
        for tracker in content.trackers { self.add(tracker) }
        self.add(content.supplements)
    }

    private mutating func add(_ tracker: AdvertisementContent.Tracker) {
        var added = AdTracker(event: tracker.event, url: tracker.url)
        switch tracker.event {
        case AdTracker.impression: self.impressions.append(added)
        case AdTracker.clickTracking: self.clickTracking.append(added)
        case AdTracker.customClick: self.customClicks.append(added)
        case AdTracker.error: self.errorURLs.append(tracker.url)
        case AdTracker.viewable, AdTracker.notViewable, AdTracker.viewUndetermined: self.viewability.append(added)
        case AdTracker.bannerView:
            added.event = "creativeView"
            // Without a banner no listener sees or clicks it.
            if !self.companions.isEmpty { self.companions[0].trackingEvents.append(added) }
        case AdTracker.bannerClick:
            if !self.companions.isEmpty { self.companions[0].clickTracking.append(added) }
        default:
            added.offsetMilliseconds = tracker.offset.map { Int($0.inMilliseconds) }
            self.trackingEvents.append(added)
        }
    }
}

extension AdMediaFile {
    init(_ file: AdvertisementContent.MediaFile) {
        self.init(
            url: file.url,
            type: VAST.mediaType(of: file.type, at: file.url),
            delivery: file.streaming ? .streaming : .progressive
        )
        self.bitrate = file.bitrateKilobitsPerSecond.orNil
        self.width = file.width.orNil
        self.height = file.height.orNil
        self.codec = file.codec.orNil
    }
}

extension AdCompanion {
    fileprivate init(_ banner: AdvertisementContent.Banner) {
        self.init(
            width: banner.width.orNil,
            height: banner.height.orNil,
            staticFiles: [AdStaticFile(url: banner.imageURL, type: banner.type)]
        )
        self.altText = banner.alternativeText.orNil
        self.clickThrough = banner.targetURL.orNil
    }
}
