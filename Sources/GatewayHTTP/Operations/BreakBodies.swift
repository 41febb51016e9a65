// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayDocuments

/// The bodies of requests about breaks, as `BreakDocument` reads them.
enum BreakBodies {
    /// A duration as text with units, or a number of seconds.
    static func duration(_ description: String, or word: String? = nil) -> JSONValue {
        let texts = word.map { "^(\($0)|\(Self.durationPattern))$" } ?? "^\(Self.durationPattern)$"
        return [
            "description": .string(description),
            "anyOf": [["type": "string", "pattern": .string(texts)], ["type": "number", "minimum": 0]],
        ]
    }

    /// Units in falling order, each at most once, at least one of them.
    private static let durationPattern =
        "(?=[0-9])([0-9]{1,5}d)?([0-9]{1,5}h)?([0-9]{1,7}m)?([0-9]{1,8}s)?([0-9]{1,9}ms)?"
    /// RFC 3339, as far as it is read.
    private static func instant(_ description: String) -> JSONValue {
        Schema.instant(description)
    }

    private static let endMode = Schema.oneOf(EndMode.wordList, "The effect of an early end on the playing ad.")
    private static let yes: JSONValue = ["type": "boolean"]

    static let moments: [String: JSONValue] = [
        "in": Self.duration("This long after the gateway received the request."),
        "at": Self.instant("At this instant; up to 2 s late counts as now."),
        "now": Schema.flag("When the gateway received the request."),
    ]

    /// The settings of a break beside its ads: in JSON, and as text in a query.
    static let settings: [String: (json: JSONValue, text: JSONValue, example: JSONValue)] = {
        var settings: [String: (json: JSONValue, text: JSONValue, example: JSONValue)] = [:]
        func duration(_ name: String, _ description: String, or word: String? = nil) {
            let pattern = word.map { "^(\($0)|\(Self.durationPattern))$" } ?? "^\(Self.durationPattern)$"
            settings[name] = (
                Self.duration(description, or: word), ["type": "string", "pattern": .string(pattern)], "30s"
            )
        }
        func flag(_ name: String, _ description: String) {
            settings[name] = (Schema.flag(description), Self.yes, true)
        }
        duration("in", "It starts this long after the gateway received the request.")
        settings["at"] = (
            Self.instant("It starts at this instant; up to 2 s late counts as now."), Schema.instant(),
            "2026-05-01T12:00:00Z"
        )
        flag("now", "It starts when the gateway received the request.")
        flag("cued", "It is announced now and starts with a punch.")
        flag("preStream", "It is given to every listener that joins while it is open, before the stream starts.")
        duration("duration", "The most that it lasts; none: until it is ended.", or: "none")
        duration("hold", "How long a cued break is held, or a pre-stream break open.")
        flag("exact", "The last ad is never cut: late listeners get only what fits.")
        settings["endMode"] = (Self.endMode, Self.endMode, "cut")
        return settings
    }()

    static let publish = NamedSchema(
        "PublishedBreak",
        Schema.object(
            Self.settings.mapValues(\.json).merging(["ads": Self.ads, "variants": Self.variants]) { own, _ in own },
            optional: Set(Self.settings.keys).union(["variants"]),
            "A break and its ads; at most one of in, at, now, cued and preStream."
        ),
        uses: [Self.ad, Self.variant]
    )

    static let publishExample: JSONValue = ["in": "10s", "duration": "30s", "ads": [Self.adExample]]

    static let vastExample = """
        <VAST version="4.2"><Ad id="spring"><InLine><AdSystem>Example</AdSystem><AdTitle>Spring sale</AdTitle><Creatives><Creative>\
        <Linear><Duration>00:00:30</Duration><MediaFiles><MediaFile delivery="progressive" type="audio/mpeg" width="0" height="0">\
        https://cdn.example.com/spring.mp3</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>
        """

    static let punch = NamedSchema("Punch", Schema.object(Self.moments, optional: Set(Self.moments.keys)))

    static let update = NamedSchema(
        "Update",
        Schema.object(
            Self.moments
                .merging([
                    "duration": Self.duration("Another duration."), "ads": Self.ads, "variants": Self.variants,
                ]) { own, _ in own },
            optional: ["in", "at", "now", "duration", "ads", "variants"]
        )
        .adding(["minProperties": 1]),
        uses: [Self.ad, Self.variant]
    )

    static let end = NamedSchema(
        "End",
        Schema.object(
            ["at": Self.instant("The time in the programme at which it ends."), "endMode": Self.endMode],
            optional: ["at", "endMode"]
        )
    )

    static let postpone = NamedSchema(
        "Postpone",
        Schema.object(
            [
                "by": Self.duration("By how much; above zero."),
                "from": Self.instant(
                    "The start that it has now, in milliseconds or finer; not needed where If-Match names a revision."
                ),
            ],
            optional: ["from"]
        )
    )

    static var ads: JSONValue {
        Schema.array(of: Self.ad.reference, "What plays, first to last.")
            .adding(["minItems": 1, "maxItems": .integer(Int64(WireLimits.advertisementsPerBreakMax))])
    }

    static var variants: JSONValue {
        Schema.array(
            of: Self.variant.reference,
            "Other ads for some listeners: the first variant that fits counts, else the ads of the break, the variant default."
        )
        .adding(["maxItems": .integer(Int64(WireLimits.variantsPerBreakMax - 1))])
    }

    /// As `docs/broadcasters/audiences.md` describes it.
    static let variant = NamedSchema(
        "Variant",
        Schema.object(
            [
                "name": [
                    "type": "string", "minLength": 1, "maxLength": .integer(Int64(WireLimits.variantNameBytesMax)),
                ],
                "if":
                    Schema.array(
                        of: Schema.object(
                            ["attribute": Self.attribute, "is": Self.values, "isNot": Self.values],
                            optional: ["is", "isNot"],
                            "One of is and isNot."
                        ),
                        "All must hold."
                    )
                    .adding(["minItems": 1, "maxItems": .integer(Int64(WireLimits.attributesMax))]),
                "ads": Self.ads,
            ]
        ),
        uses: [Self.ad]
    )

    private static let attribute: JSONValue = [
        "type": "string", "minLength": 1, "maxLength": .integer(Int64(WireLimits.attributeBytesMax)),
    ]
    private static let values: JSONValue = [
        "anyOf": [
            Self.attribute,
            [
                "type": "array", "items": Self.attribute, "minItems": 1,
                "maxItems": .integer(Int64(WireLimits.valuesPerConditionMax)),
            ],
        ]
    ]

    private static let url: JSONValue = [
        "type": "string", "minLength": 1, "maxLength": .integer(Int64(WireLimits.urlBytesMax)),
    ]
    private static let text: JSONValue = ["type": "string", "maxLength": .integer(Int64(WireLimits.textBytesMax))]
    private static let pixels = Schema.integer(0...Int(UInt32.max))

    /// As `docs/broadcasters/ads-file.md` describes it.
    static let ad = NamedSchema(
        "Ad",
        Schema.object(
            [
                "id": [
                    "type": "string", "minLength": 1, "maxLength": .integer(Int64(WireLimits.advertisementIDBytesMax)),
                ],
                "title": Self.text,
                "description": Self.text,
                "advertiser": Self.text,
                "duration": Self.duration("How long it plays."),
                "skipAfter": Self.duration("From when on it may be skipped."),
                "media":
                    Schema.array(
                        of: Schema.object(
                            [
                                "url": Self.url, "type": Self.text, "bitrate": Self.pixels, "width": Self.pixels,
                                "height": Self.pixels, "codec": Self.text, "streaming": Self.yes,
                            ],
                            optional: ["type", "bitrate", "width", "height", "codec", "streaming"]
                        )
                    )
                    .adding(["minItems": 1, "maxItems": .integer(Int64(WireLimits.mediaFilesPerAdvertisementMax))]),
                "clickThrough": Self.url,
                "banner": Schema.object(
                    [
                        "image": Self.url, "target": Self.url, "width": Self.pixels, "height": Self.pixels,
                        "text": Self.text, "type": Self.text,
                    ],
                    optional: ["target", "width", "height", "text", "type"]
                ),
                "trackers":
                    Schema.array(
                        of: Schema.object(
                            [
                                "event": ["type": "string", "minLength": 1], "url": Self.url,
                                "offset": Self.duration("For progress: from when on."),
                            ],
                            optional: ["offset"]
                        )
                    )
                    .adding(["maxItems": .integer(Int64(WireLimits.trackersPerAdvertisementMax))]),
            ],
            optional: ["title", "description", "advertiser", "skipAfter", "clickThrough", "banner", "trackers"]
        )
    )

    static let adExample: JSONValue = [
        "id": "spring-sale-30", "title": "Spring sale", "duration": "30s",
        "media": [["url": "https://cdn.example.com/spring.mp3", "type": "audio/mpeg", "bitrate": 128]],
        "clickThrough": "https://example.com/spring",
    ]
}
