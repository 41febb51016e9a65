// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What is wrong with a file of ads, and where.
public struct AdsFileError: Error, Hashable, Sendable {
    /// The line, counted from 1.
    public var line: Int
    /// The field, such as `ads[1].media[0].url`, counted from 0; empty where the file as a whole is meant.
    public var field: String
    /// What is wrong with it.
    public var reason: String
    /// Whether a limit is passed, for programs.
    package var isTooLarge = false

    /// A fault.
    public init(line: Int, field: String, reason: String) {
        self.line = line
        self.field = field
        self.reason = reason
    }
}

extension AdsFileError: CustomStringConvertible {
    /// One sentence for people, as in `Line 4, ads[0].duration: it is missing.`.
    public var description: String {
        let place = self.field.isEmpty ? "Line \(self.line)" : "Line \(self.line), \(self.field)"
        return "\(place): \(self.reason)\(self.reason.hasSuffix(".") ? "" : ".")"
    }
}

extension AdsFileError: LocalizedError {
    /// The same sentence.
    public var errorDescription: String? { self.description }
}

extension AdsFileError {
    /// A limit is passed.
    static func tooLarge(line: Int, field: String, reason: String) -> AdsFileError {
        var error = AdsFileError(line: line, field: field, reason: reason)
        error.isTooLarge = true
        return error
    }
}

/// Reads the ads of a break from a small JSON file, for broadcasters without an ad server.
///
/// ```json
/// {
///   "ads": [
///     {
///       "id": "spring-sale-30",
///       "title": "Spring sale",
///       "description": "Everything must go.",
///       "advertiser": "Example Stores",
///       "duration": "30s",
///       "skipAfter": "5s",
///       "media": [
///         { "url": "https://cdn.example/spring.mp3", "type": "audio/mpeg", "bitrate": 128 }
///       ],
///       "clickThrough": "https://example/spring",
///       "banner": {
///         "image": "https://cdn.example/spring.png", "target": "https://example/spring",
///         "width": 600, "height": 600, "text": "Spring sale", "type": "image/png"
///       },
///       "trackers": [
///         { "event": "impression", "url": "https://track.example/i?[CACHEBUSTING]" },
///         { "event": "progress", "offset": "10s", "url": "https://track.example/p" }
///       ]
///     }
///   ]
/// }
/// ```
///
/// Of an ad `id`, `duration` and `media` with at least one `url` must be there; of a banner `image`; of a tracker `event`
/// and `url`. Durations are texts such as `30s`, `1m30s` or `250ms`, or numbers of seconds. A media file may also have
/// `width`, `height`, `codec`, and `"streaming": true`. Keys that are not known are refused, because most often they are
/// misspelt.
public enum AdsFile {
    /// The longest file, in bytes.
    public static let fileBytesMax = 1_048_576

    /// The ads of a file, first to last.
    ///
    /// - Parameter document: the bytes of the file, in UTF-8.
    /// - Returns: At least one ad; all of them would be accepted by a gateway.
    /// - Throws: ``AdsFileError`` with the first thing that is wrong.
    public static func read(_ document: some Sequence<UInt8>) throws(AdsFileError) -> [AdvertisementDescription] {
        let bytes = Array(document.prefix(Self.fileBytesMax + 1))
        guard bytes.count <= Self.fileBytesMax else {
            throw .tooLarge(line: 1, field: "", reason: "the limit fileBytesMax is \(Self.fileBytesMax)")
        }
        let root = try Self.root(bytes)
        return try Self.advertisements(JSONFields(root, path: "", known: ["ads"]), of: root)
    }

    /// The JSON of a document.
    static func root(_ bytes: [UInt8]) throws(AdsFileError) -> JSONNode {
        do throws(JSONReader.Fault) {
            return try JSONReader.read(bytes)
        } catch {
            throw AdsFileError(line: error.line, field: "", reason: "this is not JSON: \(error.reason)")
        }
    }

    /// The member `ads` of a document.
    static func advertisements(
        _ fields: JSONFields,
        of root: JSONNode
    ) throws(AdsFileError) -> [AdvertisementDescription] {
        let nodes = try fields.elements("ads")
        guard !nodes.isEmpty else {
            throw AdsFileError(line: root.line, field: "ads", reason: "there must be at least one")
        }
        guard nodes.count <= WireLimits.advertisementsPerBreakMax else {
            throw .tooLarge(
                line: root.line,
                field: "ads",
                reason: "the limit advertisementsPerBreakMax is \(WireLimits.advertisementsPerBreakMax)"
            )
        }
        var ads: [AdvertisementDescription] = []
        var lines: [String: Int] = [:]
        for (index, node) in nodes.enumerated() {
            let path = "ads[\(index)]"
            let ad = try Self.advertisement(node, path: path)
            if let line = lines.updateValue(node.line, forKey: ad.id) {
                throw AdsFileError(
                    line: node.line,
                    field: "\(path).id",
                    reason: "the ad on line \(line) has the id \(ad.id) already"
                )
            }
            try Self.check(ad, line: node.line, path: path)
            ads.append(ad)
        }
        return ads
    }

    private static func advertisement(
        _ node: JSONNode,
        path: String
    ) throws(AdsFileError) -> AdvertisementDescription {
        let fields = try JSONFields(
            node,
            path: path,
            known: [
                "id", "title", "description", "advertiser", "duration", "skipAfter", "media", "clickThrough", "banner",
                "trackers",
            ]
        )
        var media: [AdvertisementDescription.MediaFile] = []
        for (index, node) in try fields.elements("media").enumerated() {
            media.append(try Self.mediaFile(node, path: "\(path).media[\(index)]"))
        }
        var ad = AdvertisementDescription(
            id: try fields.required("id", fields.text("id")),
            title: try fields.text("title") ?? "",
            duration: try fields.required("duration", fields.duration("duration")),
            media: media
        )
        ad.text = try fields.text("description")
        ad.advertiser = try fields.text("advertiser")
        ad.skipOffset = try fields.duration("skipAfter")
        ad.clickThroughURL = try fields.text("clickThrough")
        if let banner = fields["banner"] { ad.banner = try Self.banner(banner, path: "\(path).banner") }
        guard fields["trackers"] != nil else { return ad }
        for (index, node) in try fields.elements("trackers").enumerated() {
            ad.trackers.append(try Self.tracker(node, path: "\(path).trackers[\(index)]"))
        }
        return ad
    }

    private static func mediaFile(
        _ node: JSONNode,
        path: String
    ) throws(AdsFileError) -> AdvertisementDescription.MediaFile {
        let fields = try JSONFields(
            node,
            path: path,
            known: ["url", "type", "bitrate", "width", "height", "codec", "streaming"]
        )
        var file = AdvertisementDescription.MediaFile(
            url: try fields.required("url", fields.text("url")),
            type: try fields.text("type") ?? ""
        )
        file.bitrate = try fields.count("bitrate")
        file.width = try fields.count("width")
        file.height = try fields.count("height")
        file.codec = try fields.text("codec")
        file.isStreaming = try fields.flag("streaming") ?? false
        return file
    }

    private static func banner(
        _ node: JSONNode,
        path: String
    ) throws(AdsFileError) -> AdvertisementDescription.Banner {
        let fields = try JSONFields(node, path: path, known: ["image", "target", "width", "height", "text", "type"])
        var banner = AdvertisementDescription.Banner(
            imageURL: try fields.required("image", fields.text("image"))
        )
        banner.targetURL = try fields.text("target")
        banner.width = try fields.count("width")
        banner.height = try fields.count("height")
        banner.alternativeText = try fields.text("text")
        banner.type = try fields.text("type")
        return banner
    }

    private static func tracker(
        _ node: JSONNode,
        path: String
    ) throws(AdsFileError) -> AdvertisementDescription.Tracker {
        let fields = try JSONFields(node, path: path, known: ["event", "url", "offset"])
        let tracker = AdvertisementDescription.Tracker(
            event: try fields.required("event", fields.text("event")),
            url: try fields.required("url", fields.text("url")),
            offset: try fields.duration("offset")
        )
        // VAST 4.2 section 3.14.1.
        guard tracker.event != "progress" || tracker.offset != nil else {
            throw AdsFileError(line: node.line, field: path + ".offset", reason: "progress needs one")
        }
        return tracker
    }

    /// Asks the rules of the wire, so that the fault is told with its line and not by the gateway.
    private static func check(_ ad: AdvertisementDescription, line: Int, path: String) throws(AdsFileError) {
        do throws(BroadcastError) {
            let trial = AdBreak(stream: "trial", id: "trial", start: .now, advertisements: [ad])
            _ = try RequestEncoder.frame(id: 1, token: "", .publish(try trial.wire))
        } catch {
            throw switch error {
            case .invalid(let field, let reason): AdsFileError(line: line, field: path, reason: "\(field): \(reason)")
            case .tooLarge(let limit, let maximum, let found):
                .tooLarge(line: line, field: path, reason: "the limit \(limit) is \(maximum), and this has \(found)")
            default: AdsFileError(line: line, field: path, reason: "\(error)")
            }
        }
    }
}
