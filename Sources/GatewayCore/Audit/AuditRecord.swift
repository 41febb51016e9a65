// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// One line of the audit: a request to change something, and its result.
///
/// It holds no secret: it names the caller, and never contains a key or token.
package struct AuditRecord: Hashable, Sendable {
    package enum Outcome: String, CaseIterable, Sendable {
        /// Something is another way now.
        case changed
        /// It was so already.
        case unchanged
        case refused
        /// No request: so many lines before this one are missing, because they could not be kept.
        case missing
    }

    /// By the gateway's clock, when the answer was given.
    package var at: Timestamp
    /// The caller; empty where callers are not told apart.
    package var principal: String
    package var origin: RequestOrigin
    /// The action that was asked for, in a word, as `publish` or `reload`.
    package var action: String
    /// The stream that it is about; `nil`: none, or it cannot be read.
    package var stream: StreamID?
    /// The subject of the request; `nil`: no break, or it cannot be read.
    package var key: BreakKey? {
        didSet { if let key { self.stream = key.stream } }
    }
    package var outcome: Outcome
    /// Why it was refused; `nil`: it was not.
    package var status: StatusCode?
    /// The sentence that the caller got as the answer; empty where there was none.
    package var sentence: String
    /// The revision of the break afterwards; `nil`: unknown.
    package var revision: UInt64?

    package init(
        at: Timestamp,
        principal: String,
        origin: RequestOrigin,
        action: String,
        stream: StreamID? = nil,
        key: BreakKey? = nil,
        outcome: Outcome,
        status: StatusCode? = nil,
        sentence: String = "",
        revision: UInt64? = nil
    ) {
        self.at = at
        self.principal = principal
        self.origin = origin
        self.action = action
        self.stream = key?.stream ?? stream
        self.key = key
        self.outcome = outcome
        self.status = status
        self.sentence = AuditLimits.cut(sentence, AuditLimits.auditSentenceBytesMax)
        self.revision = revision
        self.origin.address = AuditLimits.cut(origin.address, AuditLimits.auditNameBytesMax)
        self.origin.requestID = AuditLimits.cut(origin.requestID, AuditLimits.auditNameBytesMax)
        self.principal = AuditLimits.cut(principal, AuditLimits.auditNameBytesMax)
    }
}

/// The bounds of the audit.
package enum AuditLimits {
    /// The most bytes of a sentence; the rest is cut.
    package static let auditSentenceBytesMax = 512
    /// The most bytes of a name, an address or a request's id; the rest is cut.
    package static let auditNameBytesMax = 256
    /// The most lines on one page.
    package static let auditPageMax = 500

    /// The beginning of a text, of whole characters.
    package static func cut(_ text: String, _ bytesMax: Int) -> String {
        guard text.utf8.count > bytesMax else { return text }
        var cut = ""
        var bytes = 0
        for character in text {
            bytes += character.utf8.count
            guard bytes <= bytesMax else { break }
            cut.append(character)
        }
        return cut
    }
}

/// Which lines of the audit are asked for: all that fit, the newest first.
package struct AuditQuery: Hashable, Sendable {
    package var stream: StreamID?
    package var breakID: BreakID?
    /// The caller.
    package var principal: String?
    /// Only lines of this instant or later.
    package var from: Timestamp?
    /// Only lines from before this instant.
    package var to: Timestamp?
    /// Only lines with a lower number.
    package var before: Int64?
    /// The most lines; one more than a page has tells whether there is another page.
    package var limit: Int

    package init(
        stream: StreamID? = nil,
        breakID: BreakID? = nil,
        principal: String? = nil,
        from: Timestamp? = nil,
        to: Timestamp? = nil,
        before: Int64? = nil,
        limit: Int = 100
    ) {
        self.stream = stream
        self.breakID = breakID
        self.principal = principal
        self.from = from
        self.to = to
        self.before = before
        self.limit = limit
    }
}

/// A line of the audit with its number.
package struct NumberedAuditRecord: Hashable, Sendable {
    /// Counted from 1, never used twice.
    package let number: Int64
    package let record: AuditRecord

    package init(number: Int64, record: AuditRecord) {
        self.number = number
        self.record = record
    }
}

/// Why the audit cannot be kept or read at present.
package struct AuditError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// Where the audit is kept.
package protocol AuditStore: Sendable {
    /// Keeps lines, all or none; when it returns, the end of the process takes none of them away.
    func append(_ records: [AuditRecord]) async throws(AuditError)

    /// The lines that are asked for, the newest first.
    func records(_ query: AuditQuery) async throws(AuditError) -> [NumberedAuditRecord]

    /// Drops records that are too old, and records above the limit.
    ///
    /// - Parameters:
    ///   - limit: records from before this are dropped; `nil`: none is too old.
    ///   - recordsMax: the largest number of lines to keep. Above it, the oldest refusals are removed first, until they are half of
    ///     it: a caller that is refused without end must not displace the records of changes.
    /// - Returns: how many went; there may be more to do.
    /// - Throws: ``AuditError``, where the store cannot do it.
    func prune(before limit: Timestamp?, recordsMax: Int) async throws(AuditError) -> Int

    /// Closes it after all earlier requests are done.
    func close() async
}
