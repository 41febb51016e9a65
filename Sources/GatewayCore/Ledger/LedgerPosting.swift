// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// One group of acknowledgements as rows for the ledger.
///
/// The rules, which every store keeps:
///
/// - The key of an outcome is (break number, session, ordinal of the advertisement). The first outcome in log order
///   stands. A later one with the same kind counts as a repeat, one with another kind as a contradiction; neither
///   changes anything else.
/// - A session counts as delivered for an advertisement when a batch that held it was handed out (a delivery row with
///   `first` at or below its ordinal), or when an outcome for it is recorded. It counts once, however often either
///   happens.
/// - `unknown` is what was delivered and has no outcome. Deliveries add to it, outcomes of delivered advertisements take
///   from it, so that `delivered = played + ignored + failed + unknown` holds after every row.
package struct LedgerPosting: Hashable, Sendable {
    /// The fact that a batch was handed to a session.
    package typealias Delivery = AcknowledgementGroup.Delivery

    package struct OutcomeRow: Hashable, Sendable {
        package var breakNumber: BreakNumber
        package var session: SessionID
        package var ordinal: UInt32
        package var outcome: OutcomeDetails
        package var received: Timestamp

        package init(
            breakNumber: BreakNumber,
            session: SessionID,
            ordinal: UInt32,
            outcome: OutcomeDetails,
            received: Timestamp
        ) {
            self.breakNumber = breakNumber
            self.session = session
            self.ordinal = ordinal
            self.outcome = outcome
            self.received = received
        }
    }

    /// The group's offset in its lane.
    package var offset: UInt64
    /// The offset of the group before it.
    package var previous: UInt64
    /// The digest of its record, where it is known: only that of the last one applied is kept.
    package var digest: UInt64?
    /// The writer of the group, where several gateways share the log: a group that comes after a later one of its writer is passed over.
    package var mark: AppendMark?
    /// Applied before the outcomes of the same group.
    package var deliveries: [Delivery]
    package var outcomes: [OutcomeRow]

    /// - Parameters:
    ///   - offset: the group's.
    ///   - previous: that of the group before; `nil`: one less, as within an epoch.
    ///   - mark: its writer, and when it was stored.
    ///   - deliveries: the deliveries.
    ///   - outcomes: the outcomes.
    package init(
        offset: UInt64,
        previous: UInt64? = nil,
        mark: AppendMark? = nil,
        deliveries: [Delivery],
        outcomes: [OutcomeRow]
    ) {
        self.offset = offset
        self.previous = previous ?? offset - 1
        self.mark = mark
        self.deliveries = deliveries
        self.outcomes = outcomes
    }

    /// Reads a record of a lane of acknowledgements.
    ///
    /// - Parameter record: as the log holds it.
    /// - Throws: when the record is damaged or of a later version; the caller stops rather than leave it out.
    package init(_ record: LoggedRecord) throws(WireError) {
        var reader = GroupReader()
        try reader.read(record.bytes)
        self.init(
            offset: record.offset,
            previous: record.previous,
            mark: record.mark,
            deliveries: reader.deliveries,
            outcomes: reader.outcomes
        )
    }

    /// Reads records that are applied together.
    package static func postings(of records: [LoggedRecord]) throws(WireError) -> [LedgerPosting] {
        var postings = try records.map { (record) throws(WireError) in try LedgerPosting(record) }
        if let last = records.last { postings[postings.count - 1].digest = last.digest }
        return postings
    }

    /// The postings that follow what is applied; those before are passed over.
    ///
    /// - Throws: `outOfOrder` where one is missing.
    package static func following(
        _ applied: UInt64,
        in postings: [LedgerPosting],
        of lane: Lane
    ) throws(LedgerError) -> ArraySlice<LedgerPosting> {
        let new = postings.drop { $0.offset <= applied }
        var last = applied
        for posting in new {
            guard posting.previous == last, posting.offset > last else {
                throw .outOfOrder(lane: lane, applied: last, found: posting.offset)
            }
            last = posting.offset
        }
        return new
    }

    /// The postings that have an effect: those that come after a later one of their writer are passed over.
    ///
    /// - Parameters:
    ///   - postings: of one lane, in order.
    ///   - writers: how far the writers of the lane are before them, and then behind them.
    /// - Returns: all of them where the log does not keep who appended a group.
    package static func effective(
        _ postings: ArraySlice<LedgerPosting>,
        _ writers: inout WriterTable
    ) -> ArraySlice<LedgerPosting> {
        var isPassedOver = false
        var kept: [LedgerPosting] = []
        for (place, posting) in zip(postings.indices, postings) {
            let hasEffect = writers.take(posting.mark)
            if !hasEffect, !isPassedOver {
                isPassedOver = true
                kept = Array(postings[..<place])
            } else if hasEffect, isPassedOver {
                kept.append(posting)
            }
        }
        return isPassedOver ? kept[...] : postings
    }
}
