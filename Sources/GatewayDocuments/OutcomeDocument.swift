// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// One outcome as the event log holds it: a line of `GET /v1/outcomes`.
///
/// Keys that do not apply are absent. Instants are RFC 3339 in UTC; the names of the keys are a contract.
package struct OutcomeDocument: GatewayDocument {
    package var position: String
    package var recorded: String
    package var occurred: String
    package var stream: String
    package var `break`: String
    /// Names are used again when the break before is forgotten.
    package var number: UInt64
    package var session: String
    package var ad: String
    package var ordinal: UInt32
    /// 0 is the only one so far.
    package var variant: UInt32
    package var outcome: String
    package var evidence: String
    package var reason: String?
    package var heardMilliseconds: UInt32
    package var quartiles: UInt8
    package var muted: Bool
    package var clicked: Bool
    package var vastError: UInt16?

    package static let documentDescription = DocumentDescription(
        name: "Outcome",
        fields: [
            DocumentField("position", .text, "Where the log has it: what `from` takes to go on behind it."),
            DocumentField("recorded", .instant, "When the gateway took it."),
            DocumentField("occurred", .instant, "When it happened, by the gateway's clock, as the listener says."),
            DocumentField("stream", .stream),
            DocumentField("break", .breakID),
            DocumentField("number", .count, "Which break of that name."),
            DocumentField(
                "session",
                FieldKind(["type": "string", "pattern": "^[0-9a-f]{32}$"]),
                "The listener's session as the ledger has it; another name once it was forgotten."
            ),
            DocumentField("ad", .text),
            DocumentField(
                "ordinal",
                .count,
                "The number of the ad in its break: 256 times the variant, and the place in its list from 0."
            ),
            DocumentField("variant", .count, "The number of the variant that the listener was handed; 0: default."),
            DocumentField("outcome", .oneOf(Outcome.Kind.wordList)),
            DocumentField(
                "evidence",
                .oneOf(Outcome.Evidence.wordList),
                "Whether the app said so, or the player's library concluded it from the time that passed."
            ),
            .optional("reason", .oneOf(Outcome.Reason.wordList), "Why it was ignored."),
            DocumentField("heardMilliseconds", .count, "How much of it was heard."),
            DocumentField("quartiles", .integer(0...4), "How many quartiles were passed."),
            DocumentField("muted", .flag),
            DocumentField("clicked", .flag, "Whether the listener acted on the ad."),
            .optional("vastError", .count, "The code of VAST, where there is one."),
        ]
    )

    /// A line: a row, or the last one.
    package static let lineSchema = NamedSchema(
        "OutcomeLine",
        ["anyOf": [Self.schema.reference, OutcomesEndDocument.schema.reference]],
        uses: [Self.schema, OutcomesEndDocument.schema]
    )

    package static let example = OutcomeDocument(
        position: "1042:3",
        recorded: "2026-05-01T12:00:31.250000Z",
        occurred: "2026-05-01T12:00:30.000000Z",
        stream: "radio1",
        break: "noon-1",
        number: 17,
        session: "00112233445566778899aabbccddeeff",
        ad: "spring-sale-30",
        ordinal: 0,
        variant: 0,
        outcome: "played",
        evidence: "reported",
        reason: nil,
        heardMilliseconds: 30_000,
        quartiles: 4,
        muted: false,
        clicked: true,
        vastError: nil
    )
}

extension OutcomeDocument {
    /// - Parameters:
    ///   - outcome: the listener's report.
    ///   - position: where the log has it.
    ///   - recorded: when the gateway took it.
    ///   - key: the break.
    ///   - number: which break of that name.
    ///   - session: the listener's session as the ledger has it.
    ///   - ordinal: the place of the ad in its break.
    ///   - variant: which choice of ads the listener was handed.
    package init(
        _ outcome: Outcome,
        at position: String,
        recorded: Timestamp,
        of key: BreakKey,
        number: BreakNumber,
        by session: SessionID,
        ordinal: UInt32,
        variant: UInt32
    ) {
        self.position = position
        self.recorded = recorded.description
        self.occurred = outcome.occurred.description
        self.stream = key.stream.description
        self.break = key.id.description
        self.number = number.rawValue
        self.session = session.description
        self.ad = outcome.advertisementID.description
        self.ordinal = ordinal
        self.variant = variant
        self.outcome = outcome.kind.word
        self.evidence = outcome.evidence.word
        self.reason = outcome.reason?.word
        self.heardMilliseconds = outcome.heardMilliseconds
        self.quartiles = outcome.quartiles
        self.muted = outcome.muted
        self.clicked = outcome.clicked
        self.vastError = outcome.vastError == 0 ? nil : outcome.vastError
    }
}

/// The last line of `GET /v1/outcomes`.
package struct OutcomesEndDocument: GatewayDocument {
    package var next: String
    package var more: Bool

    package init(next: String, more: Bool) {
        self.next = next
        self.more = more
    }

    package static let documentDescription = DocumentDescription(
        name: "OutcomesEnd",
        fields: [
            DocumentField("next", .text, "The value of `from` to go on."),
            DocumentField("more", .flag, "Whether there was more when it was asked: the limit ended the answer."),
        ]
    )
}
