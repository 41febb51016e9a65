// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The breaks of the board as JSON: what `GET /v1/breaks` answers.
///
/// Keys that do not apply are absent. Instants are RFC 3339 in UTC; the names of the keys are a contract.
package struct BreakListDocument: GatewayDocument {
    package struct Break: GatewayDocument {
        package var stream: String
        package var `break`: String
        package var state: String
        package var start: String?
        package var end: String?
        package var durationMilliseconds: Int64?
        package var ads: Int
        package var firstAdTitle: String
        package var preStream: Bool
        package var exact: Bool
        package var position: String?
        package var announce: String?
        package var holdUntil: String?
        package var published: String
        package var broadcaster: String?
        package var revision: UInt64
        package var leftOut: [String]?
        package var signals: [BreakListDocument.Signal]?
        package var publishedAs: String?
        package var variants: [BreakListDocument.Variant]?

        package static let documentDescription = DocumentDescription(
            name: "Break",
            fields: [
                DocumentField("stream", .stream),
                DocumentField("break", .breakID),
                DocumentField("state", .oneOf(BreakState.allCases.map(\.name))),
                .optional("start", .instant, "Absent while it has none."),
                .optional("end", .instant, "When it ends or ended; absent while that is open."),
                .optional("durationMilliseconds", .count, "The most that it lasts; absent: until it is ended."),
                DocumentField("ads", .count, "How many."),
                DocumentField("firstAdTitle", .text),
                DocumentField("preStream", .flag, "Whether it is given to every listener that joins while it is open."),
                DocumentField("exact", .flag, "Whether late listeners get only what fits."),
                .optional(
                    "position",
                    .text,
                    "Of the last notice about it, as EPOCH:SEQUENCE; the epoch is hexadecimal, as in `listen`."
                ),
                .optional("announce", .instant, "When its announcement is due."),
                .optional("holdUntil", .instant, "Until when a cued or pre-stream break is held open."),
                DocumentField("published", .instant),
                .optional("broadcaster", .text, "Who published it; absent where broadcasters are not told apart."),
                DocumentField("revision", .count, "1 when it was published, and one more with each change."),
                .optional(
                    "leftOut",
                    .array(of: .text),
                    "The parts of the VAST document that are not in the break, each with its reason; absent where nothing is missing."
                ),
                .optional(
                    "signals",
                    .array(of: .document(BreakListDocument.Signal.self)),
                    "What signals said about it, by precedence: the source that goes first stands first; absent where none did."
                ),
                .optional(
                    "publishedAs",
                    .breakID,
                    "The id with which it was published after a signal had opened it; requests may name it by either id."
                ),
                .optional(
                    "variants",
                    .array(of: .document(BreakListDocument.Variant.self)),
                    "Its variants beside default, whose ads are those above, in the order in which they are tried; absent where there are none."
                ),
            ]
        )
    }

    /// A list of ads for some listeners.
    package struct Variant: GatewayDocument {
        package var name: String
        package var conditions: [String]
        package var ads: Int

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("name", .text),
            DocumentField(
                "conditions",
                .array(of: .text),
                "All must hold, for instance device=phone|car or region!=de."
            ),
            DocumentField("ads", .count, "How many."),
        ])

        init(_ variant: VariantInfo) {
            self.name = variant.name
            self.conditions = variant.conditions.map(\.description)
            self.ads = variant.advertisementCount
        }
    }

    /// The signals of one event of one source about a break.
    package struct Signal: GatewayDocument {
        package var source: String
        package var event: String
        package var start: String
        package var programmeTime: Bool?
        package var durationMilliseconds: Int64?
        package var end: String?
        package var cancelled: Bool?

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("source", .text),
            DocumentField("event", .text),
            DocumentField("start", .instant, "When the break starts by it."),
            .optional("programmeTime", .flag, "Whether that is a place in the programme."),
            .optional("durationMilliseconds", .count, "How long the break lasts by it."),
            .optional("end", .instant, "Where it ended the break."),
            .optional("cancelled", .flag, "Whether it was taken back, and does not count."),
        ])

        init(_ claim: SignalClaim) {
            self.source = claim.name.source.description
            self.event = claim.name.event.description
            self.start = claim.start.description
            self.programmeTime = claim.isProgrammeTime ? true : nil
            self.durationMilliseconds = claim.duration?.milliseconds
            self.end = claim.end?.description
            self.cancelled = claim.isCancelled ? true : nil
        }
    }

    package var now: String
    /// By stream, in the order in which they were published.
    package var breaks: [Break]
    package var after: String?

    package init(now: Timestamp, breaks: [Break], after: String?) {
        self.now = now.description
        self.breaks = breaks
        self.after = after
    }

    package static let documentDescription = DocumentDescription(
        name: "BreakList",
        fields: [
            DocumentField("now", .instant, "The gateway's clock."),
            DocumentField("breaks", .array(of: .document(Break.self))),
            .optional("after", .text, "The value of `after` for the next page; absent on the last one."),
        ]
    )
}

extension BreakListDocument.Break {
    package init(_ info: BreakInfo) {
        self.stream = info.key.stream.description
        self.break = info.key.id.description
        self.state = info.state.name
        self.start = info.start?.description
        self.end = info.end?.description
        self.durationMilliseconds = info.duration?.milliseconds
        self.ads = info.advertisementCount
        self.firstAdTitle = info.firstAdvertisementTitle
        self.preStream = info.preStream
        self.exact = info.exact
        self.position = info.position.map { "\($0)" }
        self.announce = info.announce?.description
        self.holdUntil = info.holdUntil?.description
        self.published = info.published.description
        self.broadcaster = info.broadcaster.orNil
        self.revision = info.revision
        self.signals = info.signals.isEmpty ? nil : info.signals.map { BreakListDocument.Signal($0) }
        self.publishedAs = info.publishedAs?.description
        self.variants = info.variants.isEmpty ? nil : info.variants.map { BreakListDocument.Variant($0) }
    }
}

extension BreakListDocument {
    package static let example: JSONValue = [
        "now": "2026-05-01T11:59:50.000000Z", "breaks": [Break.example], "after": "radio1/17",
    ]
}

extension BreakListDocument.Break {
    package static let example: JSONValue = [
        "stream": "radio1", "break": "noon-1", "state": "announced", "start": "2026-05-01T12:00:00.000000Z",
        "end": "2026-05-01T12:00:30.000000Z", "durationMilliseconds": 30_000, "ads": 1, "firstAdTitle": "Spring sale",
        "preStream": false, "exact": false, "position": "7:12", "announce": "2026-05-01T11:59:52.000000Z",
        "published": "2026-05-01T11:59:40.000000Z", "broadcaster": "studio", "revision": 2,
    ]
}
