// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The cue rule of a stream, as JSON: the answer to the report of a watcher.
package struct CueRuleDocument: GatewayDocument {
    package var known: Bool
    package var opens: [String]?
    package var ends: [String]?
    package var restrictions: [String]?
    package var lateMilliseconds: Int64
    package var reportMilliseconds: Int64

    package static let documentDescription = DocumentDescription(
        name: "CueRule",
        fields: [
            DocumentField(
                "known",
                .flag,
                "Whether the cue policy has a rule for the stream; otherwise its signals are refused."
            ),
            .optional(
                "opens",
                .array(of: .text),
                "The segmentation types that open a break, for instance `0x34`; absent: the watcher decides."
            ),
            .optional(
                "ends",
                .array(of: .text),
                "The segmentation types that end every break that runs; absent: the watcher decides."
            ),
            .optional(
                "restrictions",
                .array(of: .oneOf(SegmentPolicy.Restriction.allCases.map(\.rawValue))),
                "The restrictions of segments that are obeyed; absent: the watcher decides."
            ),
            DocumentField("lateMilliseconds", .count, "How late a start in programme time may be."),
            DocumentField("reportMilliseconds", .count, "How long after this report the next one is expected."),
        ]
    )

    package init(_ rule: CueRule) {
        self.known = rule.isKnown
        self.opens = rule.segments.openingTypes.map(Self.texts)
        self.ends = rule.segments.endingTypes.map(Self.texts)
        self.restrictions = rule.segments.restrictions.map { kept in
            SegmentPolicy.Restriction.allCases.filter(kept.contains).map(\.rawValue)
        }
        self.lateMilliseconds = rule.programmeLateMax.milliseconds
        self.reportMilliseconds = rule.reportInterval.milliseconds
    }

    private static func texts(_ types: Set<UInt8>) -> [String] { types.sorted().map { SegmentPolicy.text(of: [$0]) } }

    package static let example: JSONValue = [
        "known": true, "opens": ["0x22", "0x34"], "ends": [], "restrictions": ["web"], "lateMilliseconds": 120_000,
        "reportMilliseconds": 30_000,
    ]
}
