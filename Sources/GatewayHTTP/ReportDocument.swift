// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
package import GatewayCore

/// A report as JSON: what `GET /v1/reports` answers and `cuecast report` reads.
///
/// Keys that do not apply are absent. Instants are RFC 3339 in UTC; the names of the keys are a contract.
package struct ReportDocument: Codable, Hashable, Sendable {
    /// The deliveries and their outcomes.
    package struct Counts: Codable, Hashable, Sendable {
        /// To how many sessions; without what was handed out just before a kill or a loss of power and never acknowledged.
        package var delivered: Int64
        package var played: Int64
        package var ignored: Int64
        package var failed: Int64
        /// Delivered and without an outcome.
        package var unknown: Int64
        /// Outcomes that came again with the same kind and reached the log: not those that the gateway's memory answered; absent in a
        /// report by variant, like the next: they leave no rows.
        package var repeats: Int64?
        package var contradictions: Int64?
        /// Of `played`.
        package var inferred: Int64
        /// Of `played`.
        package var heardMilliseconds: Int64
        /// Of `played`.
        package var muted: Int64
        /// Of all outcomes: how many say that the listener acted on the ad.
        package var clicked: Int64
        /// Of `ignored`, by reason; reasons that did not occur are absent.
        package var ignoredBy: [String: Int64]
        /// Whether `delivered = played + ignored + failed + unknown`.
        package var balanced: Bool
    }

    package struct Advertisement: Codable, Hashable, Sendable {
        package var id: String
        package var title: String
        package var durationMilliseconds: Int64
        package var counts: Counts
    }

    package struct Break: Codable, Hashable, Sendable {
        package var stream: String
        package var `break`: String
        /// Its number: what `before` takes.
        package var number: UInt64
        package var broadcaster: String?
        package var published: String
        package var start: String?
        package var end: String?
        package var cancelled: Bool
        package var expired: Bool
        package var preStream: Bool
        /// How many sessions were handed a batch or acknowledged something.
        package var sessions: Int64
        /// Whether enough time has passed that `unknown` means that no outcome came.
        package var settled: Bool
        /// Whether everything that was recorded of it is counted.
        package var complete: Bool
        /// The records that may be missing from the counts; absent if they are complete.
        package var missing: String?
        /// Whether every ad balances.
        package var balanced: Bool
        package var total: Counts
        package var ads: [Advertisement]
    }

    /// How far the ledger has read a lane of the event log.
    package struct LaneProgress: Codable, Hashable, Sendable {
        /// Up to which record the report counts.
        package var offset: UInt64
        /// The newest record of the log; absent when the log does not tell.
        package var head: UInt64?

        package init(offset: UInt64, head: UInt64?) {
            self.offset = offset
            self.head = head
        }
    }

    /// Newest first.
    package var breaks: [Break]
    package var total: Counts
    /// Whether every ad of every break balances.
    package var balanced: Bool
    /// Whether everything that was recorded of these breaks is counted.
    package var complete: Bool
    /// By the lane's name.
    package var lanes: [String: LaneProgress]
    /// The value of `before` for the next page; absent on the last one.
    package var before: UInt64?
    /// Of which choice of ads these are the counts; absent: of all.
    package var variant: UInt32?
}

extension ReportDocument {
    /// The report as a document.
    ///
    /// - Parameters:
    ///   - report: the answer of the ledger.
    ///   - heads: the newest record of each lane, as far as it is known.
    package init(_ report: Report, heads: [Lane: UInt64]) {
        self.variant = report.variant
        self.breaks = report.breaks.map { Break($0, gaps: report.gaps, isPart: report.variant != nil) }
        self.complete = report.complete
        self.total = Counts(report.total, balanced: report.balances, isPart: report.variant != nil)
        self.balanced = report.balances
        self.lanes = [:]
        for lane in Set(report.offsets.keys).union(heads.keys) {
            self.lanes[lane.description] = LaneProgress(offset: report.offsets[lane] ?? 0, head: heads[lane])
        }
        let last = report.lookedThrough ?? report.breaks.last?.summary.number
        self.before = report.more ? last?.rawValue : nil
    }
}

extension ReportDocument.Break {
    /// - Parameters:
    ///   - each: the break.
    ///   - gaps: records that are lost.
    ///   - isPart: whether it is what the sessions of one variant did.
    init(_ each: Report.Break, gaps: [LedgerGap], isPart: Bool) {
        let summary = each.summary
        var total = OutcomeCounts()
        for advertisement in each.advertisements { total += advertisement.counts }
        self.stream = summary.key.stream.description
        self.break = summary.key.id.description
        self.number = summary.number.rawValue
        self.broadcaster = summary.broadcaster.isEmpty ? nil : summary.broadcaster
        self.published = summary.published.description
        self.start = summary.start?.description
        self.end = summary.end?.description
        self.cancelled = summary.cancelled
        self.expired = summary.expired
        self.preStream = summary.preStream
        self.sessions = each.sessions
        self.settled = each.settled
        self.complete = each.complete
        let missing = gaps.filter { $0.mayHold(published: summary.published, end: summary.end) }
        self.missing = each.complete ? nil : missing.map(\.sentence).joined(separator: " ")
        self.balanced = each.advertisements.allSatisfy(\.counts.balances)
        self.total = ReportDocument.Counts(total, balanced: self.balanced, isPart: isPart)
        self.ads = each.advertisements.map { advertisement in
            ReportDocument.Advertisement(
                id: advertisement.id.description,
                title: advertisement.title,
                durationMilliseconds: advertisement.duration.inMicroseconds / 1_000,
                counts: ReportDocument.Counts(
                    advertisement.counts,
                    balanced: advertisement.counts.balances,
                    isPart: isPart
                )
            )
        }
    }
}

extension ReportDocument.Counts {
    /// `balanced` is said apart: a sum may balance although its parts do not.
    init(_ counts: OutcomeCounts, balanced: Bool, isPart: Bool) {
        self.delivered = counts.delivered
        self.played = counts.played
        self.ignored = counts.ignored
        self.failed = counts.failed
        self.unknown = counts.unknown
        self.repeats = isPart ? nil : counts.repeats
        self.contradictions = isPart ? nil : counts.contradictions
        self.inferred = counts.inferred
        self.heardMilliseconds = counts.heardMilliseconds
        self.muted = counts.muted
        self.clicked = counts.clicked
        self.ignoredBy = [:]
        for (reason, count) in counts.ignoredBy where count != 0 { self.ignoredBy["\(reason)"] = count }
        self.balanced = balanced
    }
}
