// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The documents that say what is asked about a break, about an ad list or about a programme.
package enum BreakShapes {
    /// The moments at which a break may start; at most one of them is given.
    private static let moments: [RequestMember] = [
        .optional("in", .duration(), "This long after the gateway received the request."),
        .optional("at", .instant, "At this instant; up to 2 s late counts as now."),
        .optional("now", .flag, "When the gateway received the request."),
    ]

    private static let endMode = RequestKind.word(EndMode.allCases.map(\.documentWord))
    private static let effectOfEnd = "The effect of an early end on the playing ad."

    /// The settings of a break beside its ads: members of its document, and parameters of a request with a VAST document.
    package static let settings = RequestShape(
        members: [
            .optional("in", .duration(), "It starts this long after the gateway received the request."),
            .optional("at", .instant, "It starts at this instant; up to 2 s late counts as now."),
            .optional("now", .flag, "It starts when the gateway received the request."),
            .optional("cued", .flag, "It is announced now and starts with a punch."),
            .optional(
                "preStream",
                .flag,
                "It is given to every listener that joins while it is open, before the stream starts."
            ),
            .optional("duration", .duration(orWord: "none"), "The most that it lasts; none: until it is ended."),
            .optional("hold", .duration(), "How long a cued break is held, or a pre-stream break open."),
            .optional("exact", .flag, "The last ad is never cut: late listeners get only what fits."),
            .optional("endMode", Self.endMode, Self.effectOfEnd),
        ]
    )

    package static let publish = RequestShape(
        "PublishedBreak",
        "A break and its ads; at most one of in, at, now, cued and preStream.",
        members: Self.settings.members + [
            .required("ads", Self.ads, Self.order), .optional("variants", Self.variants, Self.choice),
        ]
    )

    package static let punch = RequestShape("Punch", members: Self.moments)

    package static let update = RequestShape(
        "Update",
        needsMember: true,
        members: Self.moments + [
            .optional("duration", .duration(), "Another duration."), .optional("ads", Self.ads, Self.order),
            .optional("variants", Self.variants, Self.choice),
        ]
    )

    package static let end = RequestShape(
        "End",
        members: [
            .optional("at", .instant, "The time in the programme at which it ends."),
            .optional("endMode", Self.endMode, Self.effectOfEnd),
        ]
    )

    package static let postpone = RequestShape(
        "Postpone",
        members: [
            .required("by", .duration(), "By how much; above zero."),
            .optional(
                "from",
                .instant,
                "The start that it has now, in milliseconds or finer; not needed where If-Match names a revision."
            ),
        ]
    )

    package static let adList = RequestShape(
        "PutList",
        "The ads of a list.",
        members: [.required("ads", Self.ads, Self.order)]
    )

    /// A file with the variants of a break.
    static let variantsFile = RequestShape(members: [.required("variants", Self.variants, Self.choice)])

    package static let signal = RequestShape(
        "Signal",
        members: Self.moments + [
            .required("source", .signalSource),
            .required("event", .signalEvent),
            .required(
                "kind",
                .word(SignalKind.allCases.map(\.documentWord)),
                "`out`: a break begins; `in`: the programme is back; `cancel`: the break does not take place."
            ),
            .optional(
                "programmeTime",
                .flag,
                "The moment is a place in the programme: it may lie in the past, and is not moved to now."
            ),
            .optional("duration", .duration(), "How long the break is to last; only with `out`."),
            .optional(
                "raw",
                .base64,
                "The signal as its source wrote it, at most \(WireLimits.signalRawBytesMax) bytes."
            ),
        ]
    )

    // MARK: Parts

    private static let order = "What plays, first to last."
    static let ads = RequestKind.list(of: .object(Self.ad), count: 1...WireLimits.advertisementsPerBreakMax)
    private static let choice =
        "Other ads for some listeners: the first variant that fits counts, else the ads of the break, the variant default."
    static let variants = RequestKind.list(
        of: .object(Self.variant),
        count: 0...(WireLimits.variantsPerBreakMax - 1)
    )

    static let url = RequestKind.text(bytesMin: 1, bytesMax: WireLimits.urlBytesMax)
    static let text = RequestKind.text(bytesMax: WireLimits.textBytesMax)

    /// As `docs/broadcasters/ads-file.md` describes it.
    package static let ad = RequestShape(
        "Ad",
        members: [
            .required("id", .text(bytesMin: 1, bytesMax: WireLimits.advertisementIDBytesMax)),
            .optional("title", Self.text),
            .optional("description", Self.text),
            .optional("advertiser", Self.text),
            .required("duration", .duration(), "How long it plays."),
            .optional("skipAfter", .duration(), "From when on it may be skipped."),
            .required(
                "media",
                .list(of: .object(Self.mediaFile), count: 1...WireLimits.mediaFilesPerAdvertisementMax)
            ),
            .optional("clickThrough", Self.url),
            .optional("banner", .object(Self.banner)),
            .optional("trackers", .list(of: .object(Self.tracker), count: 0...WireLimits.trackersPerAdvertisementMax)),
        ] + Self.supplements
    )

    static let mediaFile = RequestShape(
        members: [
            .required("url", Self.url), .optional("type", Self.text), .optional("bitrate", .count),
            .optional("width", .count), .optional("height", .count), .optional("codec", Self.text),
            .optional("streaming", .flag),
        ]
    )

    static let banner = RequestShape(
        members: [
            .required("image", Self.url), .optional("target", Self.url), .optional("width", .count),
            .optional("height", .count), .optional("text", Self.text), .optional("type", Self.text),
        ]
    )

    static let tracker = RequestShape(
        members: [
            .required("event", .text(bytesMin: 1)), .required("url", Self.url),
            .optional("offset", .duration(), "For progress: from when on."),
        ]
    )

    /// As `docs/broadcasters/audiences.md` describes it.
    package static let variant = RequestShape(
        "Variant",
        members: [
            .required("name", .text(bytesMin: 1, bytesMax: WireLimits.variantNameBytesMax)),
            .required(
                "if",
                .list(of: .object(Self.condition), count: 1...WireLimits.attributesMax),
                "All must hold."
            ),
            .required("ads", Self.ads, Self.order),
        ]
    )

    private static let attribute = RequestKind.text(bytesMin: 1, bytesMax: WireLimits.attributeBytesMax)
    private static let values = RequestKind.oneOrMore(Self.attribute, countMax: WireLimits.valuesPerConditionMax)

    static let condition = RequestShape(
        "",
        "One of is and isNot.",
        members: [
            .required("attribute", Self.attribute), .optional("is", Self.values), .optional("isNot", Self.values),
        ]
    )
}
