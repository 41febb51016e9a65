// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// An ad list as JSON: the answer to requests about one list.
///
/// Keys that do not apply are absent. Instants are RFC 3339 in UTC; the names of the keys are a contract.
package struct AdListDocument: GatewayDocument {
    package var name: String
    package var revision: UInt64
    package var adCount: Int
    package var durationMilliseconds: Int64
    package var changed: String
    package var broadcaster: String?
    package var ads: [AdDocument]?
    package var leftOut: [String]?

    package static let documentDescription = DocumentDescription(
        name: "AdList",
        fields: [
            DocumentField("name", .adListName),
            DocumentField("revision", .count, "1 when it was put, and one more with each change."),
            DocumentField("adCount", .count, "How many ads it has."),
            DocumentField("durationMilliseconds", .count, "How long all of them last."),
            DocumentField("changed", .instant, "When it was changed last."),
            .optional("broadcaster", .text, "Who changed it last; absent where broadcasters are not told apart."),
            .optional("ads", .array(of: .document(AdDocument.self)), "The ads; only where one list is shown."),
            .optional(
                "leftOut",
                .array(of: .text),
                "The parts of the VAST document that are not in the list, each with its reason; absent where nothing is missing."
            ),
        ]
    )

    package init(_ info: AdListInfo) {
        self.name = info.name.description
        self.revision = info.revision
        self.adCount = info.advertisementCount
        self.durationMilliseconds = info.duration.milliseconds
        self.changed = info.changed.description
        self.broadcaster = info.broadcaster.orNil
    }

    package static let example: JSONValue = [
        "name": "spots", "revision": 2, "adCount": 1, "durationMilliseconds": 30_000,
        "changed": "2026-05-01T11:59:40.000000Z", "broadcaster": "studio",
    ]
    package static let exampleWithAds = Self.example.adding(["ads": [AdDocument.example]])
}

/// All ad lists as JSON: what `GET /v1/lists` answers.
package struct AdListsDocument: GatewayDocument {
    /// In the order of their names.
    package var lists: [AdListDocument]

    package init(lists: [AdListDocument]) {
        self.lists = lists
    }

    package static let documentDescription = DocumentDescription(
        name: "AdLists",
        fields: [DocumentField("lists", .array(of: .document(AdListDocument.self)))]
    )

    package static let example: JSONValue = ["lists": [AdListDocument.example]]
}

/// An ad as the file of ads has it: the answer of one request is the body of another.
package struct AdDocument: GatewayDocument {
    package struct MediaFile: GatewayDocument {
        package var url: String
        package var type: String?
        package var bitrate: Int?
        package var width: Int?
        package var height: Int?
        package var codec: String?
        package var streaming: Bool?

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("url", .text),
            .optional("type", .text, "The media type."),
            .optional("bitrate", .count, "In kilobits per second."),
            .optional("width", .count),
            .optional("height", .count),
            .optional("codec", .text),
            .optional("streaming", .flag, "Whether it is a playlist or a manifest."),
        ])
    }

    package struct Banner: GatewayDocument {
        package var image: String
        package var target: String?
        package var width: Int?
        package var height: Int?
        package var text: String?
        package var type: String?

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("image", .text, "The URL of the picture."),
            .optional("target", .text, "The URL that a click opens."),
            .optional("width", .count),
            .optional("height", .count),
            .optional("text", .text, "For those who do not see the picture."),
            .optional("type", .text, "The media type."),
        ])
    }

    package struct Tracker: GatewayDocument {
        package var event: String
        package var url: String
        package var offset: String?

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("event", .text),
            DocumentField("url", .text),
            .optional("offset", .text, "Of progress: from when on, such as `5s`."),
        ])
    }

    package var id: String
    package var title: String?
    package var description: String?
    package var advertiser: String?
    package var duration: String
    package var skipAfter: String?
    package var media: [MediaFile]
    package var clickThrough: String?
    package var banner: Banner?
    package var trackers: [Tracker]?
    package var universalIds: [UniversalIDDocument]?
    package var adServingId: String?
    package var verifications: [Verification]?
    package var icons: [Icon]?
    package var captions: [CaptionFileDocument]?
    package var mezzanines: [MediaFile]?

    package static let documentDescription = DocumentDescription(
        name: "ListedAd",
        fields: [
            DocumentField("id", .text),
            .optional("title", .text),
            .optional("description", .text),
            .optional("advertiser", .text),
            DocumentField("duration", .text, "How long it plays, such as `30s`."),
            .optional("skipAfter", .text, "From when on it may be skipped."),
            DocumentField("media", .array(of: .document(MediaFile.self))),
            .optional("clickThrough", .text, "The URL that a click opens."),
            .optional("banner", .document(Banner.self)),
            .optional("trackers", .array(of: .document(Tracker.self))),
        ] + Self.supplementFields
    )

    package static let example: JSONValue = [
        "id": "spring-sale-30", "title": "Spring sale", "duration": "30s",
        "media": [["url": "https://cdn.example.com/spring.mp3", "type": "audio/mpeg", "bitrate": 128]],
        "clickThrough": "https://example.com/spring",
    ]
}

extension AdDocument {
    package init(_ ad: AdvertisementContent) {
        self.id = ad.id.description
        self.title = ad.title.orNil
        self.description = ad.text.orNil
        self.advertiser = ad.advertiser.orNil
        self.duration = Self.text(ad.duration)
        self.skipAfter = ad.skipOffset.map { Self.text($0) }
        self.media = ad.media.map { MediaFile($0) }
        self.clickThrough = ad.clickThroughURL.orNil
        self.banner = ad.banner.map { Banner($0) }
        self.trackers = ad.trackers.isEmpty ? nil : ad.trackers.map { Tracker($0) }
        self.add(ad.supplements)
    }

    /// As `Duration(text:)` reads it.
    static func text(_ duration: Duration) -> String {
        let milliseconds = duration.milliseconds
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000)s" : "\(milliseconds)ms"
    }
}

extension AdDocument.MediaFile {
    init(_ file: AdvertisementContent.MediaFile) {
        self.url = file.url
        self.type = file.type.orNil
        self.bitrate = file.bitrateKilobitsPerSecond.orNil
        self.width = file.width.orNil
        self.height = file.height.orNil
        self.codec = file.codec.orNil
        self.streaming = file.streaming ? true : nil
    }
}

extension AdDocument.Banner {
    fileprivate init(_ banner: AdvertisementContent.Banner) {
        self.image = banner.imageURL
        self.target = banner.targetURL.orNil
        self.width = banner.width.orNil
        self.height = banner.height.orNil
        self.text = banner.alternativeText.orNil
        self.type = banner.type.orNil
    }
}

extension AdDocument.Tracker {
    init(_ tracker: AdvertisementContent.Tracker) {
        self.event = tracker.event
        self.url = tracker.url
        self.offset = tracker.offset.map { AdDocument.text($0) }
    }
}
