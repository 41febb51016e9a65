// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Which breaks a report is about.
package struct ReportQuery: Hashable, Sendable {
    /// The most breaks in one report.
    package static let breaksMax = 500
    /// The most breaks that are looked at for one report, also where few of them are wanted.
    package static let breaksLookedAtMax = 50_000

    /// `nil`: all streams.
    package var stream: StreamID?
    package var breakID: BreakID?
    /// Only breaks with this ad, and of them only this ad.
    package var advertisement: AdvertisementID?
    /// Only the ads of this variant; `nil`: all.
    package var variant: UInt32?
    /// Only breaks that start, or started, at this instant or later.
    package var from: Timestamp?
    /// Only breaks that start, or started, before this instant.
    package var to: Timestamp?
    /// Only breaks with a lower number: where the page before ended.
    package var before: BreakNumber?
    /// At most `breaksMax`.
    package var limit: Int
    /// The present: decides which breaks are settled.
    package var now: Timestamp

    package init(
        stream: StreamID? = nil,
        breakID: BreakID? = nil,
        advertisement: AdvertisementID? = nil,
        variant: UInt32? = nil,
        from: Timestamp? = nil,
        to: Timestamp? = nil,
        before: BreakNumber? = nil,
        limit: Int = 100,
        now: Timestamp
    ) {
        self.stream = stream
        self.breakID = breakID
        self.advertisement = advertisement
        self.variant = variant
        self.from = from
        self.to = to
        self.before = before
        self.limit = min(max(limit, 1), Self.breaksMax)
        self.now = now
    }

    /// Whether a break is asked for.
    ///
    /// A break without a start is in no time.
    package func takes(_ summary: BreakSummary) -> Bool {
        if let stream, stream != summary.key.stream { return false }
        if let breakID, breakID != summary.key.id { return false }
        if let before, summary.number >= before { return false }
        if let advertisement, !summary.advertisements.contains(where: { $0.id == advertisement }) { return false }
        guard self.from != nil || self.to != nil else { return true }
        guard let start = summary.start else { return false }
        return self.from.map { $0 <= start } ?? true && self.to.map { start < $0 } ?? true
    }

    /// The requested part of a break: all of it, one of its ads, or those of one variant.
    package func part(of each: Report.Break) -> Report.Break {
        guard self.advertisement != nil || self.variant != nil else { return each }
        var part = each
        if let advertisement { part.advertisements.removeAll { $0.id != advertisement } }
        if let variant { part.advertisements.removeAll { $0.variant != variant } }
        return part
    }
}

/// The deliveries of one advertisement, and their outcomes.
package struct OutcomeCounts: Hashable, Sendable {
    /// To how many sessions it was handed out, as far as that was recorded: what was handed out just before a kill and never
    /// acknowledged is missing.
    package var delivered: Int64 = 0
    package var played: Int64 = 0
    package var ignored: Int64 = 0
    package var failed: Int64 = 0
    /// Delivered and without an outcome; final (but for late outcomes) once the report says `settled`.
    package var unknown: Int64 = 0
    /// Of `played`: how many the client library concluded from the time that passed.
    package var inferred: Int64 = 0
    /// Acknowledgements that said again what stands already.
    package var repeats: Int64 = 0
    /// Acknowledgements that said something else than what stands.
    package var contradictions: Int64 = 0
    /// Of `played`: what was heard of them, together.
    package var heardMilliseconds: Int64 = 0
    /// Of `played`: how many were muted.
    package var muted: Int64 = 0
    /// Of `played`, `ignored` and `failed` together: how many outcomes say that the listener acted on the advertisement.
    ///
    /// Of all of them, because what was skipped or broke off can have been clicked too.
    package var clicked: Int64 = 0
    /// Of `ignored`: how many for each reason.
    package var ignoredBy: [Outcome.Reason: Int64] = [:]

    package init() {}

    /// Whether everything delivered is accounted for, exactly once.
    package var balances: Bool {
        self.delivered == self.played + self.ignored + self.failed + self.unknown
    }

    package static func += (left: inout Self, right: Self) {
        left.delivered += right.delivered
        left.played += right.played
        left.ignored += right.ignored
        left.failed += right.failed
        left.unknown += right.unknown
        left.inferred += right.inferred
        left.repeats += right.repeats
        left.contradictions += right.contradictions
        left.heardMilliseconds += right.heardMilliseconds
        left.muted += right.muted
        left.clicked += right.clicked
        left.ignoredBy.merge(right.ignoredBy, uniquingKeysWith: +)
    }
}

/// The books, as far as the ledger has read the log.
package struct Report: Hashable, Sendable {
    package struct Advertisement: Hashable, Sendable {
        package var id: AdvertisementID
        package var title: String
        package var duration: Duration
        package var counts: OutcomeCounts
        /// The number of its variant; 0: `default`.
        package var variant: UInt32

        package init(
            id: AdvertisementID,
            title: String,
            duration: Duration,
            counts: OutcomeCounts,
            variant: UInt32 = 0
        ) {
            self.id = id
            self.title = title
            self.duration = duration
            self.counts = counts
            self.variant = variant
        }

        package init(_ advertisement: BreakSummary.Advertisement, counts: OutcomeCounts) {
            self.init(
                id: advertisement.id,
                title: advertisement.title,
                duration: advertisement.duration,
                counts: counts,
                variant: advertisement.variant
            )
        }
    }

    package struct Break: Hashable, Sendable {
        package var summary: BreakSummary
        /// How many sessions were handed a batch or acknowledged something.
        package var sessions: Int64
        package var advertisements: [Advertisement]
        /// Whether its end and `settleAfter` are over, so that `unknown` means that no outcome came.
        package var settled: Bool
        /// Whether everything that was recorded of it was counted: nothing of it can have been in records that are lost.
        package var complete: Bool

        package init(
            summary: BreakSummary,
            sessions: Int64,
            advertisements: [Advertisement],
            settled: Bool,
            complete: Bool = true
        ) {
            self.summary = summary
            self.sessions = sessions
            self.advertisements = advertisements
            self.settled = settled
            self.complete = complete
        }

        /// All its advertisements together.
        package var total: OutcomeCounts { self.advertisements.reduce(into: OutcomeCounts()) { $0 += $1.counts } }

        /// Whether every advertisement balances.
        package var balances: Bool { self.advertisements.allSatisfy(\.counts.balances) }
    }

    /// Work on the ledger that is under way, and may still change what reports say.
    package enum Pending: String, CaseIterable, Hashable, Sendable {
        /// The run of the gateway before this one was not ended properly: the ledger is being compared with the log.
        case ledgerCheck
        /// Breaks that the board does not have any more are being read from the log: some are missing here.
        case olderBreaks

        /// For people.
        package var sentence: String {
            switch self {
            case .ledgerCheck:
                "the ledger is being compared with the log, because the gateway was not stopped properly: counts may change"
            case .olderBreaks: "older breaks are being read from the log: some may be missing"
            }
        }
    }

    /// How long after a break's end an advertisement without an outcome is reported as unknown for good.
    package static let settleAfter: Duration = .seconds(600)

    package var breaks: [Break]
    /// Up to which offset of each lane this counts.
    package var offsets: [Lane: UInt64]
    /// Whether breaks older than the last one here exist.
    package var more: Bool
    /// The last break that was looked at, where it is not the last one here.
    package var lookedThrough: BreakNumber?
    /// Records that were lost before they were counted, oldest first.
    package var gaps: [LedgerGap]
    /// Of which variant these are the counts; `nil`: of all.
    package var variant: UInt32?
    /// The work on the ledger that is under way.
    package var pending: Set<Pending> = []

    package init(
        breaks: [Break],
        offsets: [Lane: UInt64],
        more: Bool,
        lookedThrough: BreakNumber? = nil,
        gaps: [LedgerGap] = [],
        variant: UInt32? = nil
    ) {
        self.breaks = breaks
        self.offsets = offsets
        self.more = more
        self.lookedThrough = lookedThrough
        self.gaps = gaps
        self.variant = variant
    }

    /// Whether nothing of these breaks can be in records that are lost.
    package var complete: Bool { self.breaks.allSatisfy(\.complete) }

    /// Everything together.
    package var total: OutcomeCounts { self.breaks.reduce(into: OutcomeCounts()) { $0 += $1.total } }

    /// Whether every advertisement balances.
    package var balances: Bool { self.breaks.allSatisfy(\.balances) }
}
