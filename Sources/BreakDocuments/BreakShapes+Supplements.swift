// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The members of an ad that are for others than the player.
extension BreakShapes {
    static let supplements: [RequestMember] = [
        .optional(
            "universalIds",
            .list(of: .object(Self.universalID), count: 0...WireLimits.universalIDsPerAdvertisementMax),
            "Names of the creative that are the same in all systems."
        ),
        .optional("adServingId", Self.text, "The identifier of this serving, as the ad server gave it."),
        .optional(
            "verifications",
            .list(of: .object(Self.verification), count: 0...WireLimits.verificationsPerAdvertisementMax),
            "Code that measures for others how the ad is seen and heard."
        ),
        .optional(
            "icons",
            .list(of: .object(Self.icon), count: 0...WireLimits.iconsPerAdvertisementMax),
            "Icons of industry programmes to show over the ad."
        ),
        .optional(
            "captions",
            .list(of: .object(Self.caption), count: 0...WireLimits.captionFilesPerAdvertisementMax)
        ),
        .optional(
            "mezzanines",
            .list(of: .object(Self.mediaFile), count: 0...WireLimits.mezzaninesPerAdvertisementMax),
            "The ad in the best quality, for those who make encodings of their own."
        ),
    ]

    static let universalID = RequestShape(
        members: [.required("registry", Self.text), .required("value", Self.text)]
    )

    static let verification = RequestShape(
        members: [
            .optional("vendor", Self.text),
            .required(
                "resources",
                .list(of: .object(Self.resource), count: 1...WireLimits.resourcesPerVerificationMax)
            ),
            .optional("parameters", .text(bytesMax: WireLimits.verificationParametersBytesMax)),
            .optional("trackers", Self.trackers, "The event verificationNotExecuted."),
        ]
    )

    static let resource = RequestShape(
        members: [
            .required("url", Self.url), .optional("apiFramework", Self.text, "The framework that the code needs."),
            .optional("executable", .flag, "It is no JavaScript."), .optional("type", Self.text),
            .optional("browserOptional", .flag, "JavaScript that also works where no browser is."),
        ]
    )

    static let icon = RequestShape(
        members: [
            .optional("program", Self.text), .required("image", Self.url), .optional("type", Self.text),
            .optional("width", .count), .optional("height", .count),
            .optional("x", Self.text, "Pixels, `left` or `right`."),
            .optional("y", Self.text, "Pixels, `top` or `bottom`."),
            .optional("offset", .duration(), "From when on it is shown."),
            .optional("duration", .duration(), "How long it is shown."),
            .optional("text", Self.text), .optional("target", Self.url),
            .optional("trackers", Self.trackers, "The events iconView and iconClick."),
        ]
    )

    static let caption = RequestShape(
        members: [
            .required("url", Self.url), .optional("type", Self.text), .optional("language", Self.text),
        ]
    )

    private static let trackers = RequestKind.list(
        of: .object(Self.tracker),
        count: 0...WireLimits.trackersPerAdvertisementMax
    )
}
