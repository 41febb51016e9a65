// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
package import GatewayCore

/// The totals of ads over many breaks: what `GET /v1/reports/ads` answers and `cuecast report --by ad` reads.
package struct AdReportDocument: GatewayDocument {
    package struct Ad: GatewayDocument {
        package var id: String
        package var title: String
        package var breaks: Int
        package var settled: Bool
        package var complete: Bool
        package var counts: ReportDocument.Counts

        package static let documentDescription = DocumentDescription(
            name: "AdTotals",
            fields: [
                DocumentField("id", .text),
                DocumentField("title", .text, "As in the newest of these breaks."),
                DocumentField("breaks", .count, "In how many of the breaks it was."),
                DocumentField("settled", .flag, "Whether `unknown` is final in each of them but for late outcomes."),
                DocumentField("complete", .flag, "Whether everything that was recorded of these breaks is counted."),
                DocumentField("counts", .document(ReportDocument.Counts.self)),
            ]
        )
    }

    package var ads: [Ad]
    package var breaks: Int
    package var total: ReportDocument.Counts
    package var balanced: Bool
    package var complete: Bool
    /// By the lane's name.
    package var lanes: [String: ReportDocument.LaneProgress]
    package var before: UInt64?
    /// The names of `Report.Pending`.
    package var pending: [String]?

    package static let documentDescription = DocumentDescription(
        name: "AdReport",
        fields: [
            DocumentField("ads", .array(of: .document(Ad.self)), "Those that were delivered most first."),
            DocumentField("breaks", .count, "How many breaks are counted."),
            DocumentField("total", .document(ReportDocument.Counts.self)),
            DocumentField("balanced", .flag, "Whether every ad balances in every break."),
            DocumentField("complete", .flag, "Whether everything that was recorded of these breaks is counted."),
            DocumentField(
                "lanes",
                .map(of: .document(ReportDocument.LaneProgress.self)),
                "How far the ledger has read each lane of the event log."
            ),
            .optional(
                "before",
                .count,
                "There are more breaks: the value of `before` for those, whose counts add to these; absent if all are counted."
            ),
            .optional("pending", .array(of: .text), ReportDocument.pendingMeaning),
        ]
    )

    /// One ad of two breaks.
    package static let example: JSONValue = {
        let counts: JSONValue = [
            "delivered": 20, "played": 12, "ignored": 4, "failed": 2, "unknown": 2, "repeats": 0, "contradictions": 0,
            "inferred": 0, "heardMilliseconds": 360_000, "muted": 0, "clicked": 2, "ignoredBy": ["user": 4],
            "balanced": true,
        ]
        return [
            "ads": [
                [
                    "id": "spring-sale-30", "title": "Spring sale", "breaks": 2, "settled": true, "complete": true,
                    "counts": counts,
                ]
            ],
            "breaks": 2, "total": counts, "balanced": true, "complete": true,
            "lanes": ["breaks": ["offset": 40, "head": 40], "acknowledgements/0": ["offset": 12, "head": 12]],
        ]
    }()
}

extension AdReportDocument {
    /// - Parameters:
    ///   - report: the totals.
    ///   - heads: the newest record of each lane, as far as it is known.
    package init(_ report: ReportByAdvertisement, heads: [Lane: UInt64]) {
        self.ads = report.advertisements.map { entry in
            Ad(
                id: entry.id.description,
                title: entry.title,
                breaks: entry.breaks,
                settled: entry.settled,
                complete: entry.complete,
                counts: ReportDocument.Counts(entry.counts, balanced: entry.balances)
            )
        }
        self.breaks = report.breaks
        self.total = ReportDocument.Counts(report.total, balanced: report.balances)
        self.balanced = report.balances
        self.complete = report.complete
        self.lanes = ReportDocument.progress(report.offsets, heads: heads)
        self.before = report.more ? report.last?.rawValue : nil
        self.pending = ReportDocument.names(report.pending)
    }

    /// The names of the columns; a contract: more may come behind the last.
    package static let csvColumns = [
        "advertisement", "title", "breaks", "delivered", "played", "ignored", "failed", "unknown", "inferred",
        "repeats", "contradictions", "heard_ms", "settled", "clicked", "complete",
    ]

    /// The names, and a line for each ad, without the ends of lines.
    package var csvLines: [String] {
        [Self.csvColumns.joined(separator: ",")]
            + self.ads.map { each in
                let counts = each.counts
                let numbers: [Int64?] = [
                    Int64(each.breaks), counts.delivered, counts.played, counts.ignored, counts.failed, counts.unknown,
                    counts.inferred, counts.repeats, counts.contradictions, counts.heardMilliseconds,
                ]
                let cells =
                    [each.id, each.title].map(ReportDocument.csvCell) + numbers.map { $0.map { "\($0)" } ?? "" }
                    + ["\(each.settled)", "\(counts.clicked)", "\(each.complete)"]
                return cells.joined(separator: ",")
            }
    }

    /// The whole table, as it goes over HTTP.
    package var csv: String { self.csvLines.map { $0 + "\r\n" }.joined() }

    /// Takes the ads of older breaks, of the answer to `before`.
    ///
    /// - Parameter older: that answer.
    package mutating func add(_ older: Self) {
        var places = Dictionary(uniqueKeysWithValues: self.ads.enumerated().map { ($1.id, $0) })
        for ad in older.ads {
            guard let place = places[ad.id] else {
                places[ad.id] = self.ads.count
                self.ads.append(ad)
                continue
            }
            self.ads[place].breaks += ad.breaks
            self.ads[place].settled = self.ads[place].settled && ad.settled
            self.ads[place].complete = self.ads[place].complete && ad.complete
            self.ads[place].counts.add(ad.counts)
        }
        self.ads.sort { ($1.counts.delivered, $0.id) < ($0.counts.delivered, $1.id) }
        self.breaks += older.breaks
        self.total.add(older.total)
        self.balanced = self.balanced && older.balanced
        self.complete = self.complete && older.complete
        self.before = older.before
        let pending = Set(self.pending ?? []).union(older.pending ?? [])
        self.pending = pending.isEmpty ? nil : pending.sorted()
    }
}

extension ReportDocument {
    /// Takes the older breaks of the next page.
    ///
    /// - Parameter older: that page.
    package mutating func add(_ older: Self) {
        self.breaks += older.breaks
        self.total.add(older.total)
        self.balanced = self.balanced && older.balanced
        self.complete = self.complete && older.complete
        self.before = older.before
        let pending = Set(self.pending ?? []).union(older.pending ?? [])
        self.pending = pending.isEmpty ? nil : pending.sorted()
    }
}

extension ReportDocument.Counts {
    /// Adds the counts of other breaks.
    fileprivate mutating func add(_ other: Self) {
        self.delivered += other.delivered
        self.played += other.played
        self.ignored += other.ignored
        self.failed += other.failed
        self.unknown += other.unknown
        self.repeats += other.repeats
        self.contradictions += other.contradictions
        self.inferred += other.inferred
        self.heardMilliseconds += other.heardMilliseconds
        self.muted += other.muted
        self.clicked += other.clicked
        self.ignoredBy.merge(other.ignoredBy) { $0 + $1 }
        self.balanced = self.balanced && other.balanced
    }
}
