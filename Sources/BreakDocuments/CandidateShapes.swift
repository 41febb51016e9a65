// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The document of candidates, as `docs/broadcasters/choosing.md` describes it.
package enum CandidateShapes {
    package static let document = RequestShape(
        "Candidates",
        "The ads from which those of a break are chosen, and the rules.",
        members: [
            .optional("timeZone", .text(bytesMin: 1), "The zone of the dayparts, such as Europe/Oslo; UTC without it."),
            .optional("rules", .object(Self.rules)),
            .optional(
                "variants",
                .list(of: .object(Self.variant), count: 0...(WireLimits.variantsPerBreakMax - 1)),
                "The variants for which ads are chosen beside default."
            ),
            .required(
                "candidates",
                .list(of: .object(Self.candidate), count: 1...CandidatesDocument.candidatesMax)
            ),
        ]
    )

    static let rules = RequestShape(members: [
        .optional("ads", .count, "The most ads of a break, 1 to \(WireLimits.advertisementsPerBreakMax)."),
        .optional("jingles", .count, "The most jingles of a break, 0 to \(CandidatesDocument.jinglesMax)."),
        .optional(
            "oncePerBreak",
            .list(of: .word(CandidatesDocument.onceWords), count: 0...CandidatesDocument.onceWords.count),
            "Of which a break has one ad at most; both without it."
        ),
        .optional("apart", .object(Self.apart)),
    ])

    static let apart = RequestShape(
        "",
        "The least time between the starts of two breaks that have the same.",
        members: [
            .optional("ad", .duration()), .optional("advertiser", .duration()), .optional("category", .duration()),
        ]
    )

    static let variant = RequestShape(members: [
        .required("name", .text(bytesMin: 1, bytesMax: WireLimits.variantNameBytesMax)),
        .required(
            "if",
            .list(of: .object(BreakShapes.condition), count: 1...WireLimits.attributesMax),
            "All must hold."
        ),
    ])

    private static let name = RequestKind.text(bytesMin: 1, bytesMax: CandidatesDocument.nameBytesMax)

    static let candidate = RequestShape(members: [
        .required("ad", .object(BreakShapes.ad)),
        .optional("role", .word(CandidatesDocument.roles), "ad without it."),
        .optional("priority", .count, "1 to 9; 1 goes first, and 5 is usual."),
        .optional("weight", .count, "1 to 100: lots in the draw among ads of one priority."),
        .optional("categories", .list(of: Self.name, count: 0...CandidatesDocument.categoriesMax)),
        .optional("from", .instant, "The break starts then or later."),
        .optional("until", .instant, "The break starts before."),
        .optional("dayparts", .list(of: .object(Self.daypart), count: 1...CandidatesDocument.daypartsMax)),
        .optional("lock", Self.name, "Ads with the same play one after the other, or none of them does."),
        .optional("times", .count, "How often it may be in one break, 1 to 8."),
        .optional(
            "variants",
            .list(of: Self.name, count: 0...WireLimits.variantsPerBreakMax),
            "Those that may have it; all without it."
        ),
    ])

    static let daypart = RequestShape(members: [
        .optional("days", .list(of: .word(CandidatesDocument.days), count: 1...CandidatesDocument.days.count)),
        .optional("from", .text(bytesMin: 5, bytesMax: 5), "Such as 06:30."),
        .optional("until", .text(bytesMin: 5, bytesMax: 5), "Up to 24:00."),
    ])
}
