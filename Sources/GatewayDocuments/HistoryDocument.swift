// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The listeners and rates of a gateway in the last hours, as JSON: the answer to `GET /v1/history`.
package struct HistoryDocument: GatewayDocument {
    /// The listeners and rates of the `stepSeconds` seconds before an instant.
    package struct Sample: GatewayDocument {
        package var at: String
        package var listeners: Int
        package var notices: Double
        package var batches: Double
        package var played: Double
        package var ignored: Double
        package var failed: Double

        package init(
            at: String,
            listeners: Int,
            notices: Double,
            batches: Double,
            played: Double,
            ignored: Double,
            failed: Double
        ) {
            self.at = at
            self.listeners = listeners
            self.notices = notices
            self.batches = batches
            self.played = played
            self.ignored = ignored
            self.failed = failed
        }

        package static let documentDescription = DocumentDescription(
            name: "HistorySample",
            fields: [
                DocumentField("at", .instant, "Its end."),
                DocumentField("listeners", .count, "The most at one time."),
                DocumentField("notices", .number, "Sent in a second."),
                DocumentField("batches", .number, "Answered in a second."),
                DocumentField("played", .number, "Counted by the ledger in a second, as `ignored` and `failed`."),
                DocumentField("ignored", .number),
                DocumentField("failed", .number),
            ]
        )
    }

    package var span: String
    package var stepSeconds: Int
    package var now: String
    package var samples: [Sample]

    package init(span: String, stepSeconds: Int, now: String, samples: [Sample]) {
        self.span = span
        self.stepSeconds = stepSeconds
        self.now = now
        self.samples = samples
    }

    package static let documentDescription = DocumentDescription(
        name: "History",
        fields: [
            DocumentField("span", .text),
            DocumentField("stepSeconds", .count, "How much time one sample stands for."),
            DocumentField("now", .instant, "The gateway's clock."),
            DocumentField(
                "samples",
                .array(of: .document(Sample.self)),
                "The oldest first; none from before the gateway's start."
            ),
        ]
    )

    package static let example = HistoryDocument(
        span: "1h",
        stepSeconds: 10,
        now: "2026-05-01T12:00:03.000000Z",
        samples: [
            Sample(
                at: "2026-05-01T12:00:00.000000Z",
                listeners: 1_200,
                notices: 0.1,
                batches: 120,
                played: 80.5,
                ignored: 3,
                failed: 0.2
            )
        ]
    )
}
