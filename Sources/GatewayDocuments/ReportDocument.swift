// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
package import GatewayCore

/// A report as JSON: what `GET /v1/reports` answers and `cuecast report` reads.
///
/// Keys that do not apply are absent. Instants are RFC 3339 in UTC; the names of the keys are a contract.
package struct ReportDocument: GatewayDocument {
    /// The numbers of deliveries and of their outcomes.
    package struct Counts: GatewayDocument {
        /// Without what was handed out just before a kill or a loss of power and never acknowledged.
        package var delivered: Int64
        package var played: Int64
        package var ignored: Int64
        package var failed: Int64
        package var unknown: Int64
        /// Outcomes of the same kind that reached the log: not those that the gateway's memory answered.
        package var repeats: Int64
        package var contradictions: Int64
        package var inferred: Int64
        package var heardMilliseconds: Int64
        package var muted: Int64
        package var clicked: Int64
        /// Reasons that did not occur are absent.
        package var ignoredBy: [String: Int64]
        package var balanced: Bool

        package static let documentDescription = DocumentDescription(
            name: "Counts",
            fields: [
                DocumentField("delivered", .count, "To how many sessions."),
                DocumentField("played", .count),
                DocumentField("ignored", .count),
                DocumentField("failed", .count),
                DocumentField("unknown", .count, "Delivered and without an outcome."),
                DocumentField("repeats", .count, "Outcomes that came again."),
                DocumentField("contradictions", .count, "Outcomes that say something else than what stands."),
                DocumentField("inferred", .count, "Of `played`: concluded from the time that passed."),
                DocumentField("heardMilliseconds", .count, "Of `played`: what was heard of them together."),
                DocumentField("muted", .count, "Of `played`."),
                DocumentField("clicked", .count, "Of all outcomes: how many say that the listener acted on the ad."),
                DocumentField("ignoredBy", .map(of: .count), "Of `ignored`, by reason."),
                DocumentField("balanced", .flag, "Whether delivered = played + ignored + failed + unknown."),
            ]
        )
    }

    package struct Advertisement: GatewayDocument {
        package var id: String
        package var title: String
        package var durationMilliseconds: Int64
        package var variant: UInt32?
        package var variantName: String?
        package var counts: Counts

        package static let documentDescription = DocumentDescription(
            name: "ReportedAd",
            fields: [
                DocumentField("id", .text),
                DocumentField("title", .text),
                DocumentField("durationMilliseconds", .count),
                .optional(
                    "variant",
                    .count,
                    "The number of its variant, 0 of default; absent where the break has no variants."
                ),
                .optional("variantName", .text, "The name of its variant; absent where the break has no variants."),
                DocumentField("counts", .document(Counts.self)),
            ]
        )
    }

    package struct Break: GatewayDocument {
        package var stream: String
        package var `break`: String
        package var number: UInt64
        package var broadcaster: String?
        package var published: String
        package var start: String?
        package var end: String?
        package var cancelled: Bool
        package var expired: Bool
        package var preStream: Bool
        package var sessions: Int64
        /// Enough time has passed that `unknown` means that no outcome came.
        package var settled: Bool
        package var complete: Bool
        package var missing: String?
        package var balanced: Bool
        package var total: Counts
        package var ads: [Advertisement]

        package static let documentDescription = DocumentDescription(
            name: "ReportedBreak",
            fields: [
                DocumentField("stream", .stream),
                DocumentField("break", .breakID),
                DocumentField("number", .count, "Its number: what `before` takes."),
                .optional("broadcaster", .text, "Who published it; absent where broadcasters are not told apart."),
                DocumentField("published", .instant),
                .optional("start", .instant, "Absent while it has none."),
                .optional("end", .instant, "Absent while it is open."),
                DocumentField("cancelled", .flag),
                DocumentField("expired", .flag),
                DocumentField("preStream", .flag),
                DocumentField("sessions", .count, "How many sessions were handed a batch or acknowledged something."),
                DocumentField("settled", .flag, "Whether `unknown` is final but for late outcomes."),
                DocumentField("complete", .flag, "Whether everything that was recorded of it is counted."),
                .optional("missing", .text, "The records that may be missing; absent where the counts are complete."),
                DocumentField("balanced", .flag, "Whether every ad balances."),
                DocumentField("total", .document(Counts.self)),
                DocumentField("ads", .array(of: .document(Advertisement.self))),
            ]
        )
    }

    /// How far the ledger has read a lane of the event log.
    package struct LaneProgress: GatewayDocument {
        package var offset: UInt64
        package var head: UInt64?

        package init(offset: UInt64, head: UInt64?) {
            self.offset = offset
            self.head = head
        }

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("offset", .count, "Up to which record this counts."),
            .optional("head", .count, "The newest record; absent while the log does not tell."),
        ])
    }

    package var breaks: [Break]
    package var total: Counts
    package var balanced: Bool
    package var complete: Bool
    /// By the lane's name.
    package var lanes: [String: LaneProgress]
    package var before: UInt64?
    package var variant: UInt32?
    /// The names of `Report.Pending`.
    package var pending: [String]?

    package static let documentDescription = DocumentDescription(
        name: "Report",
        fields: [
            DocumentField("breaks", .array(of: .document(Break.self)), "The newest first."),
            DocumentField("total", .document(Counts.self)),
            DocumentField("balanced", .flag, "Whether every ad of every break balances."),
            DocumentField("complete", .flag, "Whether everything that was recorded of these breaks is counted."),
            DocumentField(
                "lanes",
                .map(of: .document(LaneProgress.self)),
                "How far the ledger has read each lane of the event log."
            ),
            .optional("before", .count, "The value of `before` for the next page; absent on the last one."),
            .optional("variant", .count, "Of the ads of which variant these are the counts; absent: of all."),
            .optional("pending", .array(of: .text), Self.pendingMeaning),
        ]
    )

    static let pendingMeaning =
        "Work on the ledger that is under way: `ledgerCheck` (it is being compared with the log, and counts may change), `olderBreaks` (some breaks may be missing); absent: none."

    /// One break of one ad.
    package static let example: JSONValue = {
        let counts: JSONValue = [
            "delivered": 10, "played": 6, "ignored": 2, "failed": 1, "unknown": 1, "repeats": 0, "contradictions": 0,
            "inferred": 0, "heardMilliseconds": 180_000, "muted": 0, "clicked": 1, "ignoredBy": ["user": 2],
            "balanced": true,
        ]
        return [
            "breaks": [
                [
                    "stream": "radio1", "break": "noon-1", "number": 17, "broadcaster": "studio",
                    "published": "2026-05-01T11:59:40.000000Z", "start": "2026-05-01T12:00:00.000000Z",
                    "end": "2026-05-01T12:00:30.000000Z", "cancelled": false, "expired": false, "preStream": false,
                    "sessions": 10, "settled": true, "complete": true, "balanced": true, "total": counts,
                    "ads": [
                        [
                            "id": "spring-sale-30", "title": "Spring sale", "durationMilliseconds": 30_000,
                            "counts": counts,
                        ]
                    ],
                ]
            ],
            "total": counts, "balanced": true, "complete": true,
            "lanes": ["breaks": ["offset": 40, "head": 40], "acknowledgements/0": ["offset": 12, "head": 12]],
        ]
    }()
}

extension ReportDocument {
    /// The report as a document.
    ///
    /// - Parameters:
    ///   - report: the ledger's answer.
    ///   - heads: the newest record of each lane, as far as it is known.
    package init(_ report: Report, heads: [Lane: UInt64]) {
        self.variant = report.variant
        self.breaks = report.breaks.map { Break($0, gaps: report.gaps) }
        self.complete = report.complete
        self.total = Counts(report.total, balanced: report.balances)
        self.balanced = report.balances
        self.lanes = Self.progress(report.offsets, heads: heads)
        let last = report.lookedThrough ?? report.breaks.last?.summary.number
        self.before = report.more ? last?.rawValue : nil
        self.pending = Self.names(report.pending)
    }

    static func names(_ pending: Set<Report.Pending>) -> [String]? {
        pending.isEmpty ? nil : pending.map(\.rawValue).sorted()
    }

    /// A line for each piece of work on the ledger that is under way.
    package static func lines(_ pending: [String]?) -> [String] {
        (pending ?? []).compactMap { Report.Pending(rawValue: $0)?.sentence }
    }

    /// How far the ledger has read each lane, by the lane's name.
    static func progress(_ offsets: [Lane: UInt64], heads: [Lane: UInt64]) -> [String: LaneProgress] {
        let lanes = Set(offsets.keys).union(heads.keys)
        return Dictionary(
            uniqueKeysWithValues: lanes.map { lane in
                (lane.description, LaneProgress(offset: offsets[lane] ?? 0, head: heads[lane]))
            }
        )
    }
}

extension ReportDocument.Break {
    /// - Parameters:
    ///   - each: the break.
    ///   - gaps: records that are lost.
    fileprivate init(_ each: Report.Break, gaps: [LedgerGap]) {
        let summary = each.summary
        self.stream = summary.key.stream.description
        self.break = summary.key.id.description
        self.number = summary.number.rawValue
        self.broadcaster = summary.broadcaster.orNil
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
        self.balanced = each.balances
        self.total = ReportDocument.Counts(each.total, balanced: self.balanced)
        self.ads = each.advertisements.map { advertisement in
            ReportDocument.Advertisement(
                id: advertisement.id.description,
                title: advertisement.title,
                durationMilliseconds: advertisement.duration.milliseconds,
                variant: summary.variants.isEmpty ? nil : advertisement.variant,
                variantName: summary.name(ofVariant: advertisement.variant),
                counts: ReportDocument.Counts(advertisement.counts, balanced: advertisement.counts.balances)
            )
        }
    }
}

extension ReportDocument.Counts {
    /// `balanced` is said apart: a sum may balance although its parts do not.
    init(_ counts: OutcomeCounts, balanced: Bool) {
        self.delivered = counts.delivered
        self.played = counts.played
        self.ignored = counts.ignored
        self.failed = counts.failed
        self.unknown = counts.unknown
        self.repeats = counts.repeats
        self.contradictions = counts.contradictions
        self.inferred = counts.inferred
        self.heardMilliseconds = counts.heardMilliseconds
        self.muted = counts.muted
        self.clicked = counts.clicked
        self.ignoredBy = [:]
        for (reason, count) in counts.ignoredBy where count != 0 { self.ignoredBy[reason.word] = count }
        self.balanced = balanced
    }
}
