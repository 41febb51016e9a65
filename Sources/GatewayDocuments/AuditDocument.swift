// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore

/// The requested changes and the principals that requested them, as JSON: the answer to `GET /v1/audit`.
///
/// Keys that do not apply are absent. Instants are RFC 3339 in UTC; the names of the keys are a contract.
package struct AuditDocument: GatewayDocument {
    package struct Entry: GatewayDocument {
        package var gateway: String?
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
                .optional("gateway", .text, "Which gateway was asked, where all were: its run."),
                DocumentField("number", .count, "Counted from 1 at each gateway; what `before` takes."),
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

    /// A gateway that was asked, and whose lines are missing.
    package struct Unanswered: GatewayDocument {
        package var gateway: String
        package var reason: String

        package init(gateway: String, reason: String) { (self.gateway, self.reason) = (gateway, reason) }

        package static let documentDescription = DocumentDescription(
            name: "AuditUnanswered",
            fields: [
                DocumentField("gateway", .text, "Its name for people."),
                DocumentField("reason", .text, "Why its lines are missing, in a sentence."),
            ]
        )
    }

    package var now: String
    package var entries: [Entry]
    package var before: Int64?
    package var to: String?
    package var gateways: Int?
    package var unanswered: [Unanswered]?

    package static let documentDescription = DocumentDescription(
        name: "Audit",
        fields: [
            DocumentField("now", .instant, "The gateway's clock."),
            DocumentField("entries", .array(of: .document(Entry.self)), "The newest first."),
            .optional(
                "before",
                .count,
                "The value of `before` for the next page; absent on the last one, and where all gateways were asked."
            ),
            .optional(
                "to",
                .instant,
                "Where all gateways were asked: the value of `to` for the next page; absent on the last one."
            ),
            .optional("gateways", .count, "How many gateways were asked, with this one, where all were."),
            .optional(
                "unanswered",
                .array(of: .document(Unanswered.self)),
                "Where all gateways were asked: those whose lines are missing."
            ),
        ]
    )

    package static let example = AuditDocument(
        now: "2026-05-01T12:00:00.000000Z",
        entries: [
            Entry(
                gateway: nil,
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

    /// The lines of several gateways as one list, the newest first.
    ///
    /// - Parameters:
    ///   - pages: of each gateway that answered, by its run: its newest lines, at most `limit`.
    ///   - unanswered: the others.
    ///   - limit: the most on a page.
    ///   - now: the clock of the gateway that was asked.
    package init(
        merging pages: [(gateway: String, page: AuditDocument)],
        unanswered: [Unanswered],
        limit: Int,
        at now: Timestamp
    ) {
        let all =
            pages.flatMap { gateway, page in
                page.entries.map { entry in
                    var entry = entry
                    entry.gateway = gateway
                    return entry
                }
            }
            // RFC 3339 in UTC with as many digits each time: the order of the texts is that of the instants.
            .sorted { ($0.at, $0.gateway ?? "", $0.number) > ($1.at, $1.gateway ?? "", $1.number) }
        self.now = now.description
        self.gateways = pages.count + unanswered.count
        self.unanswered = unanswered
        guard all.count > limit || pages.contains(where: { $0.page.before != nil }) else {
            self.entries = all
            return
        }
        var entries = all.prefix(limit)
        // Lines of the last instant may be missing: they come on the next page, all of them.
        if let last = entries.last?.at, let first = entries.first?.at, first != last {
            entries = entries.prefix { $0.at != last }
            self.to = Timestamp(rfc3339: last).map { $0.advanced(microseconds: 1).description }
        } else {
            self.to = entries.last?.at
        }
        self.entries = Array(entries)
    }
}

extension AuditDocument.Entry {
    fileprivate init(_ each: NumberedAuditRecord) {
        let record = each.record
        self.gateway = nil
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
