// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Why the ledger did not do what it was asked.
package enum LedgerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The records do not follow the applied offset: applying them would lose or repeat something.
    case outOfOrder(lane: Lane, applied: UInt64, found: UInt64)
    /// It is closed, or closing.
    case closed
    /// The stored data differs from the written data: repeating the call does not help.
    case damaged(String)
    /// The store failed, and nothing has changed, as far as it knows; the call may be repeated.
    case failed(String)

    package var description: String {
        switch self {
        case .outOfOrder(let lane, let applied, let found):
            "The ledger has the lane \(lane) up to \(applied) and was given \(found)."
        case .closed: "The ledger is closed."
        case .damaged(let reason): "The ledger is damaged: \(reason)"
        case .failed(let reason): "The ledger failed: \(reason)"
        }
    }
}

/// The projection of the event log that answers "who did what, once" and holds the totals.
///
/// It can be rebuilt from the log at any time; nothing is confirmed because of it.
package protocol Ledger: Sendable {
    /// Up to which offset each lane is applied; 0 for lanes never applied.
    func appliedOffset(of lane: Lane) async throws(LedgerError) -> UInt64

    /// Applies one or more whole groups of a lane, in order, with the new applied offset in the same transaction.
    ///
    /// Groups at or below the applied offset are passed over; a gap is refused with `outOfOrder`. The rules are those
    /// of `LedgerPosting`.
    ///
    /// - Returns: how many outcomes stand from now on; repeats and contradictions are not among them.
    @discardableResult
    func apply(_ postings: [LedgerPosting], of lane: Lane) async throws(LedgerError) -> NewOutcomes

    /// Writes what the board knows of breaks (whole, by number), with the offset of the lane `breaks` up to which it is
    /// true, in one transaction.
    ///
    /// May be repeated; what is known of a break up to a later offset stays, and breaks whose totals were forgotten stay
    /// forgotten.
    func record(_ breaks: [BreakSummary], through offset: UInt64) async throws(LedgerError)

    /// Makes everything applied so far survive a loss of power.
    ///
    /// - Returns: the applied offsets that do: the log may forget what is below them.
    func checkpoint() async throws(LedgerError) -> [Lane: UInt64]

    /// The totals, read at one moment, newest break first.
    func report(_ query: ReportQuery) async throws(LedgerError) -> Report

    /// Counts every break anew from its rows and compares with the totals.
    ///
    /// - Returns: a sentence for each difference; empty when the books are right.
    func audit() async throws(LedgerError) -> [String]

    /// Forgets who did what in breaks that ended before an instant (their totals stay), and the totals of those that
    /// ended before another and of which nothing else is left.
    ///
    /// Deliveries and outcomes that come later for such a break count no more: whether they are the first cannot be known.
    ///
    /// - Returns: the numbers of the breaks whose rows went.
    func prune(
        rowsOfBreaksEndedBefore rowsLimit: Timestamp,
        totalsBefore totalsLimit: Timestamp
    ) async throws(LedgerError) -> [BreakNumber]

    /// How many bytes it takes on this machine's disk, with what is on its way into the file; `nil` where it has no file.
    var fileBytes: Int? { get }

    /// Finishes what is under way and closes.
    func close() async
}

/// How many outcomes a transaction of the ledger counted for the first time.
package struct NewOutcomes: Hashable, Sendable {
    package var played = 0
    package var ignored = 0
    package var failed = 0

    package init(played: Int = 0, ignored: Int = 0, failed: Int = 0) {
        self.played = played
        self.ignored = ignored
        self.failed = failed
    }

    /// One more of a kind.
    package mutating func add(_ kind: Outcome.Kind) {
        switch kind {
        case .played: self.played += 1
        case .ignored: self.ignored += 1
        case .failed: self.failed += 1
        }
    }
}

/// The ledger's data about a break, beside the sessions' outcomes.
package struct BreakSummary: Hashable, Sendable {
    package struct Advertisement: Hashable, Sendable {
        package var id: AdvertisementID
        package var title: String
        package var duration: Duration
        /// The number of its variant; 0: `default`.
        package var variant: UInt32

        package init(id: AdvertisementID, title: String, duration: Duration, variant: UInt32 = 0) {
            self.id = id
            self.title = title
            self.duration = duration
            self.variant = variant
        }

        package init(_ content: AdvertisementContent, variant: UInt32) {
            self.init(id: content.id, title: content.title, duration: content.duration, variant: variant)
        }
    }

    package var number: BreakNumber
    package var key: BreakKey
    package var broadcaster: String
    package var published: Timestamp
    package var start: Timestamp?
    /// When it ends or ended, was cancelled or expired; `nil` while that is open.
    package var end: Timestamp?
    package var cancelled: Bool
    package var expired: Bool
    package var preStream: Bool
    /// In the order of their ordinals.
    package var advertisements: [Advertisement]
    /// The names of the variants beside `default`: the first one has the number 1.
    package var variants: [String]

    package init(
        number: BreakNumber,
        key: BreakKey,
        broadcaster: String,
        published: Timestamp,
        start: Timestamp?,
        end: Timestamp?,
        cancelled: Bool,
        expired: Bool,
        preStream: Bool,
        advertisements: [Advertisement],
        variants: [String] = []
    ) {
        self.number = number
        self.key = key
        self.broadcaster = broadcaster
        self.published = published
        self.start = start
        self.end = end
        self.cancelled = cancelled
        self.expired = expired
        self.preStream = preStream
        self.advertisements = advertisements
        self.variants = variants
    }

    /// The ordinals of the advertisements, in their order.
    package var ordinals: [UInt32] {
        var places: [UInt32: Int] = [:]
        return self.advertisements.map { each in
            let place = places[each.variant, default: 0]
            places[each.variant] = place + 1
            return AdOrdinal.of(place, in: each.variant)
        }
    }

    /// The name of a variant; `nil`: the break has no variants, or no such one.
    package func name(ofVariant variant: UInt32) -> String? {
        guard !self.variants.isEmpty, variant <= self.variants.count else { return nil }
        return variant == 0 ? AudienceVariant.defaultName : self.variants[Int(variant) - 1]
    }
}

extension Ledger {
    package var fileBytes: Int? { nil }
}
