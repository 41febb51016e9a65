// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

extension VAST {
    /// A document of version 4.2 with these ads in line; what `read` reads of it is what they are.
    ///
    /// Elements stand in the order of the schema of that version. What it demands and an ad does not have gets the value that stands for
    /// nothing: an empty title, the universal id `unknown`, a size of 0. Not written are categories, files of companions and icons
    /// that are no pictures and when an ad expires: nothing that the gateway keeps has them. A companion or an icon whose size or type is
    /// not known is left out.
    ///
    /// - Parameter ads: those that play, in their order; none: a document that says so.
    /// - Returns: its bytes, in UTF-8.
    package static func document(_ ads: [AdContent]) -> [UInt8] {
        var writer = MarkupWriter()
        writer.element("VAST", ["xmlns": Self.namespace, "version": "4.2"]) { writer in
            for ad in ads { Self.write(ad, to: &writer) }
        }
        return writer.bytes
    }

    private static func write(_ ad: AdContent, to writer: inout MarkupWriter) {
        writer.element("Ad", ["id": ad.id, "sequence": ad.sequence.map(String.init), "adType": ad.kind.rawValue]) {
            writer in
            writer.element("InLine") { writer in
                writer.element("AdSystem", ad.adSystem ?? "")
                for url in ad.errorURLs { writer.element("Error", url) }
                for tracker in ad.impressions { writer.element("Impression", tracker.url, ["id": tracker.id]) }
                // One there must be (section 3.4.4).
                if ad.impressions.isEmpty { writer.element("Impression", "about:blank") }
                Self.writeViewability(of: ad, to: &writer)
                writer.element("AdServingId", ad.adServingID ?? "")
                writer.element("AdTitle", ad.title)
                Self.writeVerifications(of: ad, to: &writer)
                if let advertiser = ad.advertiser { writer.element("Advertiser", advertiser) }
                writer.element("Creatives") { writer in Self.writeCreatives(of: ad, to: &writer) }
                if let description = ad.description { writer.element("Description", description) }
            }
        }
    }

    private static func writeCreatives(of ad: AdContent, to writer: inout MarkupWriter) {
        // The schema has universal ids behind everything else of a creative.
        writer.element("Creative", ["sequence": "1"]) { writer in
            writer.element("Linear", ["skipoffset": ad.skipOffsetMilliseconds.map(VASTTime.text)]) { writer in
                Self.writeIcons(of: ad, to: &writer)
                Self.write(ad.trackingEvents, to: &writer)
                writer.element("Duration", VASTTime.text(ad.durationMilliseconds))
                writer.element("MediaFiles") { writer in
                    Self.writeCaptions(of: ad, to: &writer)
                    for file in ad.mediaFiles { Self.write(file, as: "MediaFile", to: &writer) }
                    for file in ad.mezzanines { Self.write(file, as: "Mezzanine", to: &writer) }
                }
                writer.element("VideoClicks") { writer in
                    for tracker in ad.clickTracking { writer.element("ClickTracking", tracker.url, ["id": tracker.id]) }
                    for tracker in ad.customClicks { writer.element("CustomClick", tracker.url, ["id": tracker.id]) }
                    if let url = ad.clickThrough { writer.element("ClickThrough", url) }
                }
            }
            Self.writeUniversalIDs(of: ad, to: &writer)
        }
        let companions = ad.companions.compactMap(Self.whole)
        guard !companions.isEmpty else { return }
        writer.element("Creative", ["sequence": "2"]) { writer in
            writer.element("CompanionAds", ["required": ad.companionsRequired.rawValue]) { writer in
                for companion in companions { Self.write(companion, to: &writer) }
            }
            Self.writeUniversalIDs(of: ad, to: &writer)
        }
    }

    private static func writeUniversalIDs(of ad: AdContent, to writer: inout MarkupWriter) {
        for id in ad.universalIDs { writer.element("UniversalAdId", id.value, ["idRegistry": id.registry]) }
        // One there must be (section 3.7.1).
        if ad.universalIDs.isEmpty { writer.element("UniversalAdId", "unknown", ["idRegistry": "unknown"]) }
    }

    static func write(_ trackers: [AdTracker], to writer: inout MarkupWriter) {
        guard !trackers.isEmpty else { return }
        writer.element("TrackingEvents") { writer in
            for tracker in trackers {
                let offset = tracker.offsetMilliseconds.map(VASTTime.text)
                writer.element("Tracking", tracker.url, ["event": tracker.event, "offset": offset])
            }
        }
    }

    private static func write(_ file: AdMediaFile, as name: StaticString, to writer: inout MarkupWriter) {
        writer.element(
            name,
            file.url,
            [
                "id": file.id, "delivery": file.delivery.rawValue, "type": file.type, "width": "\(file.width ?? 0)",
                "height": "\(file.height ?? 0)", "codec": file.codec, "bitrate": file.bitrate.map(String.init),
                "minBitrate": file.bitrateMin.map(String.init), "maxBitrate": file.bitrateMax.map(String.init),
            ]
        )
    }

    /// A companion with its size, and with the type of each of its files; `nil`: there is none to show.
    ///
    /// The schema demands both (section 3.14), and players place a companion by them. A type that is not said follows from the end
    /// of the path.
    private static func whole(_ companion: AdCompanion) -> AdCompanion? {
        guard (companion.width ?? 0) > 0, (companion.height ?? 0) > 0 else { return nil }
        var whole = companion
        whole.staticFiles = Self.typed(companion.staticFiles)
        return whole.staticFiles.isEmpty ? nil : whole
    }

    /// The files whose type is known.
    static func typed(_ files: [AdStaticFile]) -> [AdStaticFile] {
        files.compactMap { file in
            guard file.type.isEmpty else { return file }
            return Self.imageType(ofPathIn: file.url).map { AdStaticFile(url: file.url, type: $0) }
        }
    }

    /// The type of a media file: as it was said, else by the last part of the path of its URL; empty where neither tells.
    package static func mediaType(of said: String, at url: String) -> String {
        guard said.isEmpty else { return said }
        let type = Self.typesByEnding[Self.ending(ofPathIn: url)] ?? ""
        return type.hasPrefix("image/") ? "" : type
    }

    /// The extension of a file's name; empty where it has none.
    private static func ending(ofPathIn url: String) -> String {
        let path = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        // A dot of the host's name is none of a file's.
        let parts = path.split(separator: UInt8(ascii: "/"))
        guard parts.count > 2, let name = parts.last, let dot = name.lastIndex(of: UInt8(ascii: ".")) else {
            return ""
        }
        return String(decoding: name[name.index(after: dot)...], as: UTF8.self).lowercased()
    }

    /// The type of a picture by the last part of the path of its URL.
    private static func imageType(ofPathIn url: String) -> String? {
        Self.typesByEnding[Self.ending(ofPathIn: url)].flatMap { $0.hasPrefix("image/") ? $0 : nil }
    }

    private static func write(_ companion: AdCompanion, to writer: inout MarkupWriter) {
        let size: KeyValuePairs<StaticString, String?> = [
            "id": companion.id, "width": "\(companion.width ?? 0)", "height": "\(companion.height ?? 0)",
        ]
        writer.element("Companion", size) { writer in
            for file in companion.staticFiles {
                writer.element("StaticResource", file.url, ["creativeType": file.type])
            }
            if let text = companion.altText { writer.element("AltText", text) }
            if let url = companion.clickThrough { writer.element("CompanionClickThrough", url) }
            for tracker in companion.clickTracking {
                writer.element("CompanionClickTracking", tracker.url, ["id": tracker.id ?? ""])
            }
            Self.write(companion.trackingEvents, to: &writer)
        }
    }
}

extension VASTTime {
    /// A time as `HH:MM:SS.mmm`: what `milliseconds` reads.
    static func text(_ milliseconds: Int) -> String {
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let seconds = milliseconds / 1_000
        return [digits(seconds / 3_600, 2), digits(seconds / 60 % 60, 2), digits(seconds % 60, 2)]
            .joined(separator: ":") + "."
            + digits(milliseconds % 1_000, 3)
    }
}
