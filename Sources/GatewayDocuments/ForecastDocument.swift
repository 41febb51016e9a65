// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The breaks of the next hours, and how many listeners each may have: what `GET /v1/forecast` answers, and what `cuecast forecast --json`
/// prints.
package struct ForecastDocument: GatewayDocument {
    package struct Break: GatewayDocument {
        package var `break`: String
        package var state: String
        package var start: String
        package var durationSeconds: Double?
        package var ads: Int
        package var listeners: Int64
        package var lowest: Int64
        package var highest: Int64
        package var basis: String
        package var days: Int

        package init(
            break: String,
            state: String,
            start: String,
            durationSeconds: Double?,
            ads: Int,
            listeners: Int64,
            range: ClosedRange<Int64>,
            basis: String,
            days: Int
        ) {
            self.break = `break`
            self.state = state
            self.start = start
            self.durationSeconds = durationSeconds
            self.ads = ads
            self.listeners = listeners
            self.lowest = range.lowerBound
            self.highest = range.upperBound
            self.basis = basis
            self.days = days
        }

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("break", .breakID),
            DocumentField("state", .oneOf(["announced", "scheduled"])),
            DocumentField("start", .instant),
            .optional("durationSeconds", .number, "The most that it lasts; absent: until it is ended."),
            DocumentField("ads", .count, "How many."),
            DocumentField("listeners", .count, "How many it may have: the median of the days."),
            DocumentField("lowest", .count, "The fewest of a day."),
            DocumentField("highest", .count, "The most of a day."),
            DocumentField(
                "basis",
                .oneOf(["earlierDays", "now"]),
                "Breaks of the same time of day; or, if there are none, the listeners of now."
            ),
            DocumentField("days", .count, "On how many earlier days a break was near enough."),
        ])
    }

    package struct Stream: GatewayDocument {
        package var stream: String
        package var listeners: Int64
        package var breaks: [Break]

        package init(stream: String, listeners: Int64, breaks: [Break]) {
            self.stream = stream
            self.listeners = listeners
            self.breaks = breaks
        }

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("stream", .stream),
            DocumentField("listeners", .count, "How many listen now."),
            DocumentField("breaks", .array(of: .document(Break.self)), "By start."),
        ])
    }

    package var now: String
    package var until: String
    package var streams: [Stream]

    package init(now: String, until: String, streams: [Stream]) {
        self.now = now
        self.until = until
        self.streams = streams
    }

    package static let documentDescription = DocumentDescription(
        name: "Forecast",
        fields: [
            DocumentField("now", .instant, "The gateway's time."),
            DocumentField("until", .instant, "The end of the forecast."),
            DocumentField("streams", .array(of: .document(Stream.self)), "By id."),
        ]
    )

    package static let example: JSONValue = [
        "now": "2026-05-01T11:00:00.000Z", "until": "2026-05-01T17:00:00.000Z",
        "streams": [
            [
                "stream": "radio1", "listeners": 1_105,
                "breaks": [
                    [
                        "break": "noon-1", "state": "scheduled", "start": "2026-05-01T12:00:00.000Z",
                        "durationSeconds": 30, "ads": 2, "listeners": 1_240, "lowest": 980, "highest": 1_310,
                        "basis": "earlierDays", "days": 7,
                    ]
                ],
            ]
        ],
    ]
}

extension ConcurrentStreamsDocument {
    /// The schema as far as programs need it; the rest is in the specification.
    package static let schema = NamedSchema(
        "LEAPConcurrentStreams",
        Schema.openObject(
            [
                "version": Schema.oneOf([Self.version]), "timestamp": Schema.count,
                "streamsdata": Schema.array(of: ["type": "object"]),
            ],
            "The Concurrent Streams API 1.0 of IAB Tech Lab's LEAP."
        )
    )
}

extension LEAPForecastDocument {
    /// The schema as far as programs need it; the rest is in the specification.
    package static let schema = NamedSchema(
        "LEAPForecast",
        Schema.openObject(
            [
                "version": Schema.oneOf([Self.version]), "timestamp": Schema.count,
                "events": Schema.array(of: ["type": "object"]),
            ],
            "The Forecast API 1.0.0 of IAB Tech Lab's LEAP."
        )
    )
}
