// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import HTTPTypes

/// Who did what.
func reportOperations(_ parts: HTTPParts) -> [Operation] {
    [
        Operation(
            .get,
            "/v1/reports",
            id: "listReports",
            tag: "Reports",
            "Tell who did what: what was delivered, and what became of it, by break and ad.",
            access: .read,
            parameters: [
                OperationParameter("stream", in: .query, "Only this stream.", Schema.stream, example: "radio1"),
                OperationParameter("break", in: .query, "Only breaks of this name.", Schema.breakID, example: "noon-1"),
                OperationParameter(
                    "before",
                    in: .query,
                    "Only breaks with a lower number: where the page before ended.",
                    Schema.count(),
                    example: 17
                ),
                .limit(max: ReportQuery.breaksMax),
            ],
            answers: [
                OperationAnswer(
                    "One page, the newest break first.",
                    OperationContent(ReportDocument.schema, example: ReportDocument.example)
                )
            ]
        ) { call in
            let query = ReportQuery(
                stream: try call.query.stream(),
                breakID: try call.query.breakID(),
                before: try call.query.number("before").map { BreakNumber(rawValue: $0) },
                limit: try call.query.limit(max: ReportQuery.breaksMax),
                now: call.received
            )
            return try await call.onReaders { .json(try await parts.report(query)) }
        },
        Operation(
            .get,
            "/v1/reports/{stream}/{break}",
            id: "getReport",
            tag: "Reports",
            "Tell who did what in one break.",
            access: .read,
            parameters: [.streamInPath, .breakInPath],
            answers: [
                OperationAnswer("Its books.", OperationContent(ReportDocument.schema, example: ReportDocument.example))
            ]
        ) { call in
            let key = try call.breakKey()
            let query = ReportQuery(stream: key.stream, breakID: key.id, limit: 1, now: call.received)
            return try await call.onReaders {
                let document = try await parts.report(query)
                guard !document.breaks.isEmpty else {
                    throw Problem.notFound("The ledger has no break \(key.id) of the stream \(key.stream).")
                }
                return .json(document)
            }
        },
    ]
}

extension OperationParameter {
    /// How much of a list is asked for.
    static func limit(max: Int) -> OperationParameter {
        OperationParameter(
            "limit",
            in: .query,
            "The most on one page; 100 unless told.",
            Schema.integer(1...max),
            example: 100
        )
    }
}

extension HTTPParts {
    /// Asks the ledger, and how far the log is ahead of it.
    func report(_ query: ReportQuery) async throws -> ReportDocument {
        let report = try await self.ledger.report(query)
        // Read after the report, so that what it counts is never ahead of the head beside it.
        var heads: [Lane: UInt64] = [:]
        let lanes = [.breaks] + (0..<Lane.acknowledgementLaneCount).map { Lane.acknowledgements($0) }
        for lane in lanes {
            // The books can be read while the log is away: then its head is not told.
            heads[lane] = try? await self.log.head(of: lane)
        }
        return ReportDocument(report, heads: heads)
    }
}

extension ReportDocument {
    static let schema = NamedSchema(
        "Report",
        Schema.object(
            [
                "breaks": Schema.array(of: Break.schema.reference, "The newest first."),
                "total": Counts.schema.reference,
                "balanced": Schema.flag("Whether every ad of every break balances."),
                "complete": Schema.flag("Whether everything that was recorded of these breaks is counted."),
                "lanes": Schema.map(
                    of: Schema.object(
                        [
                            "offset": Schema.count("Up to which record this counts."),
                            "head": Schema.count("The newest record; absent while the log does not tell."),
                        ],
                        optional: ["head"]
                    ),
                    "How far the ledger has read each lane of the event log."
                ),
                "before": Schema.count("What `before` takes for the next page; absent on the last one."),
            ],
            optional: ["before"]
        ),
        uses: [Break.schema, Counts.schema]
    )

    /// One break of one ad.
    static let example: JSONValue = {
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

extension ReportDocument.Break {
    static let schema = NamedSchema(
        "ReportedBreak",
        Schema.object(
            [
                "stream": Schema.stream,
                "break": Schema.breakID,
                "number": Schema.count("Its number: what `before` takes."),
                "broadcaster": Schema.text("Who published it; absent where broadcasters are not told apart."),
                "published": Schema.instant(),
                "start": Schema.instant("Absent while it has none."),
                "end": Schema.instant("Absent while it is open."),
                "cancelled": Schema.flag(),
                "expired": Schema.flag(),
                "preStream": Schema.flag(),
                "sessions": Schema.count("How many sessions were handed a batch or acknowledged something."),
                "settled": Schema.flag("Whether `unknown` is final but for late outcomes."),
                "complete": Schema.flag("Whether everything that was recorded of it is counted."),
                "missing": Schema.text("What may be missing; absent where the counts are complete."),
                "balanced": Schema.flag("Whether every ad balances."),
                "total": ReportDocument.Counts.schema.reference,
                "ads": Schema.array(of: ReportDocument.Advertisement.schema.reference),
            ],
            optional: ["broadcaster", "start", "end", "missing"]
        ),
        uses: [ReportDocument.Counts.schema, ReportDocument.Advertisement.schema]
    )
}

extension ReportDocument.Advertisement {
    static let schema = NamedSchema(
        "ReportedAd",
        Schema.object([
            "id": Schema.text(),
            "title": Schema.text(),
            "durationMilliseconds": Schema.count(),
            "counts": ReportDocument.Counts.schema.reference,
        ]),
        uses: [ReportDocument.Counts.schema]
    )
}

extension ReportDocument.Counts {
    static let schema = NamedSchema(
        "Counts",
        Schema.object(
            [
                "delivered": Schema.count("To how many sessions."),
                "played": Schema.count(),
                "ignored": Schema.count(),
                "failed": Schema.count(),
                "unknown": Schema.count("Delivered and without an outcome."),
                "repeats": Schema.count("Outcomes that came again."),
                "contradictions": Schema.count("Outcomes that say something else than what stands."),
                "inferred": Schema.count("Of `played`: concluded from the time that passed."),
                "heardMilliseconds": Schema.count("Of `played`: what was heard of them together."),
                "muted": Schema.count("Of `played`."),
                "clicked": Schema.count("Of all outcomes: how many say that the listener acted on the ad."),
                "ignoredBy": Schema.map(of: Schema.count(), "Of `ignored`, by reason."),
                "balanced": Schema.flag("Whether delivered = played + ignored + failed + unknown."),
            ]
        )
    )
}
