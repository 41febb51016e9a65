// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore

/// The requested changes and the principals that requested them, as JSON: the answer to `GET /v1/audit`.
///
/// Keys that do not apply are absent. Instants are RFC 3339 in UTC; the names of the keys are a contract.
package struct AuditDocument: GatewayDocument {
    package struct Entry: GatewayDocument {
        package var number: Int64
        package var at: String
        package var by: String?
        package var entrance: String
        package var address: String?
        package var requestId: String?
        package var action: String
        package var stream: String?
        package var `break`: String?
        package var outcome: String
        package var code: String?
        package var sentence: String?
        package var revision: UInt64?

        package static let documentDescription = DocumentDescription(
            name: "AuditEntry",
            fields: [
                DocumentField("number", .count, "Counted from 1; what `before` takes."),
                DocumentField("at", .instant, "When the answer was given, by the gateway's clock."),
                .optional("by", .text, "Who asked; absent where askers are not told apart."),
                DocumentField(
                    "entrance",
                    .oneOf(RequestOrigin.Entrance.allCases.map(\.rawValue)),
                    "The way by which it came."
                ),
                .optional("address", .text, "Where the peer is; absent where that is not known."),
                .optional("requestId", .text, "The id by which the caller knows the request."),
                DocumentField("action", .text, "The requested change, such as `publish`, `postpone` or `reload`."),
                .optional("stream", .stream),
                .optional("break", .breakID),
                DocumentField(
                    "outcome",
                    .oneOf(AuditRecord.Outcome.allCases.map(\.rawValue)),
                    "The result; `missing`: lines before this one could not be kept."
                ),
                .optional("code", .text, "The reason code of a refusal."),
                .optional(
                    "sentence",
                    .text,
                    "The answer to the caller, in a sentence; of a signal also what it said, with its raw bytes in base64."
                ),
                .optional("revision", .count, "The revision of the break afterwards."),
            ]
        )
    }

    package var now: String
    package var entries: [Entry]
    package var before: Int64?

    package static let documentDescription = DocumentDescription(
        name: "Audit",
        fields: [
            DocumentField("now", .instant, "The gateway's clock."),
            DocumentField("entries", .array(of: .document(Entry.self)), "The newest first."),
            .optional("before", .count, "The value of `before` for the next page; absent on the last one."),
        ]
    )

    package static let example = AuditDocument(
        now: "2026-05-01T12:00:00.000000Z",
        entries: [
            Entry(
                number: 18,
                at: "2026-05-01T11:59:50.000000Z",
                by: "studio",
                entrance: "http",
                address: "192.0.2.7:50123",
                requestId: "7204418",
                action: "postpone",
                stream: "radio1",
                break: "noon-1",
                outcome: "refused",
                code: "REVISION_CONFLICT",
                sentence: "The break noon-1 has revision 3, and 2 is expected.",
                revision: nil
            )
        ],
        before: 18
    )
}

extension AuditDocument {
    /// - Parameters:
    ///   - records: the records found, one more than the page holds where there is another page.
    ///   - limit: the most on a page.
    ///   - now: the gateway's clock.
    package init(_ records: [NumberedAuditRecord], limit: Int, at now: Timestamp) {
        self.now = now.description
        self.entries = records.prefix(limit).map { Entry($0) }
        self.before = records.count > limit ? self.entries.last?.number : nil
    }
}

extension AuditDocument.Entry {
    fileprivate init(_ each: NumberedAuditRecord) {
        let record = each.record
        self.number = each.number
        self.at = record.at.description
        self.by = record.principal.orNil
        self.entrance = record.origin.entrance.rawValue
        self.address = record.origin.address.orNil
        self.requestId = record.origin.requestID.orNil
        self.action = record.action
        self.stream = record.stream?.description
        self.break = record.key?.id.description
        self.outcome = record.outcome.rawValue
        self.code = record.status?.name
        self.sentence = record.sentence.orNil
        self.revision = record.revision
    }
}
