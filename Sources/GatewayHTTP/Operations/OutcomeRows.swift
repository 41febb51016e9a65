// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore

/// Where a reader of single outcomes stands in the event log: what `from` takes, and what each row and the last line tell.
///
/// `1042:3` is the third outcome of the record 1042, with more of them behind it; `1042` is the end of that record. Offsets of the log are
/// never used again, so that a position means the same for as long as the log is there, also after a restart.
struct OutcomePosition: Hashable, Sendable {
    let offset: UInt64
    /// How many outcomes of that record are read; `nil`: all.
    let row: Int?

    /// Before the first record.
    static let beginning = OutcomePosition(offset: 0, row: nil)

    init(offset: UInt64, row: Int?) {
        self.offset = offset
        self.row = row
    }

    /// Reads what `text` wrote; `nil`: it is no position.
    init?(_ text: String) {
        func number(_ text: Substring) -> UInt64? {
            guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
            return UInt64(text)
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let offset = number(parts[0]), offset < EventLogLimits.offsetsPerLaneMax else { return nil }
        guard parts.count == 2 else {
            self.init(offset: offset, row: nil)
            return
        }
        guard offset > 0, let row = number(parts[1]), row >= 1, row <= UInt64(EventLogLimits.recordBytesMax) else {
            return nil
        }
        self.init(offset: offset, row: Int(row))
    }

    var text: String { self.row.map { "\(self.offset):\($0)" } ?? "\(self.offset)" }
}

/// One outcome as the event log holds it: a line of `GET /v1/outcomes`.
///
/// Keys that do not apply are absent. Instants are RFC 3339 in UTC; the names of the keys are a contract.
package struct OutcomeDocument: Codable, Hashable, Sendable {
    /// Where the log has it: what `from` takes to go on behind it.
    package var position: String
    /// When the gateway took it.
    package var recorded: String
    /// When it happened, by the gateway's clock, as the listener says.
    package var occurred: String
    package var stream: String
    package var `break`: String
    /// Which break of that name it is: names are used again when the break before is forgotten.
    package var number: UInt64
    /// The listener's session as the ledger has it, in hexadecimal.
    package var session: String
    package var ad: String
    /// The place of the ad in its break, counted from 0.
    package var ordinal: UInt32
    /// Which choice of ads the listener was handed; 0 is the only one so far.
    package var variant: UInt32
    /// `played`, `ignored` or `failed`.
    package var outcome: String
    /// `reported` by the app, or `inferred` from the time that passed.
    package var evidence: String
    /// Why it was ignored.
    package var reason: String?
    package var heardMilliseconds: UInt32
    package var quartiles: UInt8
    package var muted: Bool
    package var clicked: Bool
    package var vastError: UInt16?
}

/// The last line of `GET /v1/outcomes`.
package struct OutcomesEndDocument: Codable, Hashable, Sendable {
    /// The value of `from` for the next page.
    package var next: String
    /// Whether there was more when it was asked.
    package var more: Bool

    package init(next: String, more: Bool) {
        self.next = next
        self.more = more
    }
}

/// Which rows are asked for.
struct OutcomeFilter: Hashable, Sendable {
    var stream: StreamID?
    var breakID: BreakID?

    func takes(_ key: BreakKey) -> Bool {
        (self.stream.map { $0 == key.stream } ?? true) && (self.breakID.map { $0 == key.id } ?? true)
    }
}

extension OutcomeDocument {
    /// The outcomes of a record of acknowledgements, in its order.
    ///
    /// - Parameters:
    ///   - record: as the log has it.
    ///   - read: how many of its outcomes are read already.
    ///   - filter: which are wanted.
    ///   - max: the most that are wanted.
    /// - Returns: those that are wanted and not read, and what is read then.
    /// - Throws: when the record is damaged or of a later version.
    static func rows(
        of record: LoggedRecord,
        after read: Int,
        _ filter: OutcomeFilter,
        max: Int
    ) throws(WireError) -> (rows: [OutcomeDocument], end: OutcomePosition) {
        let group = try AcknowledgementGroup(decoding: record.bytes)
        var rows: [OutcomeDocument] = []
        let count = group.requests.reduce(0) { $0 + $1.ordinals.count }
        var row = 0
        for accepted in group.requests {
            let request = try ListenerRequest(decoding: accepted.request)
            guard case .acknowledge(let acknowledge) = request.kind,
                acknowledge.outcomes.count == accepted.ordinals.count
            else { throw .malformed(what: "a recorded acknowledgement") }
            guard filter.takes(acknowledge.key), row + acknowledge.outcomes.count > read else {
                row += acknowledge.outcomes.count
                continue
            }
            let variant = (try? DeliveryToken(bytes: acknowledge.delivery))?.variant ?? 0
            for (outcome, ordinal) in zip(acknowledge.outcomes, accepted.ordinals) {
                row += 1
                guard row > read else { continue }
                guard rows.count < max else {
                    return (rows, OutcomePosition(offset: record.offset, row: row - 1))
                }
                rows.append(
                    OutcomeDocument(
                        position: OutcomePosition(offset: record.offset, row: row == count ? nil : row).text,
                        recorded: accepted.received.description,
                        occurred: outcome.occurred.description,
                        stream: acknowledge.key.stream.description,
                        break: acknowledge.key.id.description,
                        number: accepted.breakNumber.rawValue,
                        session: request.session.description,
                        ad: outcome.advertisementID.description,
                        ordinal: ordinal,
                        variant: variant,
                        outcome: "\(outcome.kind)",
                        evidence: "\(outcome.evidence)",
                        reason: outcome.reason.map { "\($0)" },
                        heardMilliseconds: outcome.heard.inMilliseconds,
                        quartiles: UInt8(clamping: outcome.quartiles),
                        muted: outcome.muted,
                        clicked: outcome.clicked,
                        vastError: outcome.vastError == 0 ? nil : UInt16(clamping: outcome.vastError)
                    )
                )
            }
        }
        return (rows, OutcomePosition(offset: record.offset, row: nil))
    }
}
