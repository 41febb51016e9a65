// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// The members that every listener's request has.
///
/// The gateway ignores all other members of a request, as on the wire.
package protocol ListenerRequestDocument: GatewayDocument {
    /// 32 hexadecimal digits.
    var session: String { get }
    /// As the event `joined` gave it; base64.
    var ticket: String? { get }
}

extension DocumentDescription {
    /// A request of a session.
    fileprivate init(request name: String, fields: [DocumentField]) {
        self.init(
            name: name,
            takesOtherFields: true,
            fields: [DocumentField("session", .session), .optional("ticket", .base64)] + fields
        )
    }
}

/// The body of `POST …/batch`.
package struct BatchRequestDocument: ListenerRequestDocument {
    package var session: String
    package var ticket: String?
    package var delayMs: UInt32?
    package var delayMaxMs: UInt32?

    package static let documentDescription = DocumentDescription(
        request: "BatchRequest",
        fields: [
            .optional(
                "delayMs",
                .integer(0...Int(WireLimits.delayMillisecondsMax)),
                "How far behind live it is heard."
            ),
            .optional("delayMaxMs", .integer(0...Int(WireLimits.delayMillisecondsMax))),
        ]
    )
}

/// The body of `POST …/leave`.
package struct LeaveRequestDocument: ListenerRequestDocument {
    package var session: String
    package var ticket: String?

    package static let documentDescription = DocumentDescription(request: "LeaveRequest", fields: [])
}

/// The body of `POST …/acknowledge`.
package struct AcknowledgeRequestDocument: ListenerRequestDocument {
    package struct Outcome: GatewayDocument {
        package var advertisementId: String
        package var kind: String
        /// `reported` where nothing is said.
        package var evidence: String?
        package var reason: String?
        package var heardMs: UInt32?
        package var quartiles: UInt32?
        package var muted: Bool?
        package var vastError: UInt32?
        package var occurredUs: Int64
        package var clicked: Bool?

        package static let documentDescription = DocumentDescription(
            takesOtherFields: true,
            fields: [
                DocumentField("advertisementId", .text),
                DocumentField("kind", .oneOf(CuecastWire.Outcome.Kind.wordList)),
                .optional("evidence", .oneOf(CuecastWire.Outcome.Evidence.wordList)),
                .optional("reason", .oneOf(CuecastWire.Outcome.Reason.wordList), "Why it was ignored."),
                .optional("heardMs", .integer(0...Int(WireLimits.advertisementDurationMillisecondsMax))),
                .optional("quartiles", .integer(0...4)),
                .optional("muted", .flag),
                .optional("vastError", .integer(0...999)),
                DocumentField("occurredUs", .microseconds),
                .optional("clicked", .flag),
            ]
        )
    }

    package var session: String
    package var ticket: String?
    /// As the batch has it.
    package var delivery: String
    package var outcomes: [Outcome]

    package static let documentDescription = DocumentDescription(
        request: "AcknowledgeRequest",
        fields: [
            DocumentField("delivery", .base64),
            DocumentField(
                "outcomes",
                .array(of: .document(Outcome.self), count: 1...WireLimits.outcomesPerRequestMax)
            ),
        ]
    )
}
