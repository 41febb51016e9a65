// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore

/// The list of requested changes, as JSON: the answer to `GET /v1/audit`.
///
/// Keys that do not apply are absent. Instants are RFC 3339 in UTC; the names of the keys are a contract.
package struct AuditDocument: Codable, Hashable, Sendable {
    package struct Entry: Codable, Hashable, Sendable {
        /// Counted from 1; what `before` takes.
        package var number: Int64
        package var at: String
        /// The principal that asked; absent if callers are not identified.
        package var by: String?
        /// `zeromq`, `http` or `command`.
        package var entrance: String
        package var address: String?
        package var requestId: String?
        /// The requested action.
        package var action: String
        package var stream: String?
        package var `break`: String?
        /// `changed`, `unchanged`, `refused`, or `missing` where lines were lost.
        package var outcome: String
        /// The reason code of a refusal.
        package var code: String?
        package var sentence: String?
        /// The revision of the break afterwards.
        package var revision: UInt64?
    }

    /// The gateway's clock.
    package var now: String
    /// The newest first.
    package var entries: [Entry]
    /// The value of `before` for the next page; absent on the last one.
    package var before: Int64?
}

extension AuditDocument {
    /// - Parameters:
    ///   - records: what was found, one more than the page holds where there is another.
    ///   - limit: the most on a page.
    ///   - now: the gateway's clock.
    init(_ records: [NumberedAuditRecord], limit: Int, at now: Timestamp) {
        self.now = now.description
        self.entries = records.prefix(limit).map { Entry($0) }
        self.before = records.count > limit ? self.entries.last?.number : nil
    }
}

extension AuditDocument.Entry {
    init(_ each: NumberedAuditRecord) {
        let record = each.record
        self.number = each.number
        self.at = record.at.description
        self.by = Self.said(record.principal)
        self.entrance = record.origin.entrance.rawValue
        self.address = Self.said(record.origin.address)
        self.requestId = Self.said(record.origin.requestID)
        self.action = record.action
        self.stream = record.key?.stream.description
        self.break = record.key?.id.description
        self.outcome = record.outcome.rawValue
        self.code = record.status?.name
        self.sentence = Self.said(record.sentence)
        self.revision = record.revision
    }

    private static func said(_ text: String) -> String? { text.isEmpty ? nil : text }
}
