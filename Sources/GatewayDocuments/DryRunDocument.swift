// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The ads that a break would have, and why: what `POST /v1/streams/{stream}/dry-run` answers, and what `cuecast dry-run` prints.
package struct DryRunDocument: GatewayDocument {
    package struct Ad: GatewayDocument {
        package var place: Int
        package var id: String
        package var title: String
        package var durationSeconds: Double
        package var startsAfterSeconds: Double
        package var sentence: String
        package var cutAfterSeconds: Double?

        package init(
            place: Int,
            id: String,
            title: String,
            durationSeconds: Double,
            startsAfterSeconds: Double,
            sentence: String,
            cutAfterSeconds: Double?
        ) {
            self.place = place
            self.id = id
            self.title = title
            self.durationSeconds = durationSeconds
            self.startsAfterSeconds = startsAfterSeconds
            self.sentence = sentence
            self.cutAfterSeconds = cutAfterSeconds
        }

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("place", .count, "Counted from 1."),
            DocumentField("id", .text, "Unique in the break: the second time of an ad has `~2` behind its id."),
            DocumentField("title", .text),
            DocumentField("durationSeconds", .number),
            DocumentField("startsAfterSeconds", .number, "After the start of the break."),
            DocumentField("sentence", .text, "Why it plays."),
            .optional(
                "cutAfterSeconds",
                .number,
                "How much of it plays, where the break ends before it does; absent: all of it."
            ),
        ])
    }

    package struct Left: GatewayDocument {
        package var id: String
        package var title: String
        package var durationSeconds: Double
        package var reason: String
        package var sentence: String

        package init(id: String, title: String, durationSeconds: Double, reason: String, sentence: String) {
            self.id = id
            self.title = title
            self.durationSeconds = durationSeconds
            self.reason = reason
            self.sentence = sentence
        }

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("id", .text),
            DocumentField("title", .text),
            DocumentField("durationSeconds", .number),
            DocumentField("reason", .text, "A word for programs."),
            DocumentField("sentence", .text, "The reason for people."),
        ])
    }

    package struct Variant: GatewayDocument {
        package var variant: String
        package var conditions: [String]
        package var durationSeconds: Double
        package var summary: String
        package var best: Bool?
        package var ads: [Ad]
        package var left: [Left]
        package var notes: [String]

        package init(
            variant: String,
            conditions: [String],
            durationSeconds: Double,
            summary: String,
            best: Bool?,
            ads: [Ad],
            left: [Left],
            notes: [String]
        ) {
            self.variant = variant
            self.conditions = conditions
            self.durationSeconds = durationSeconds
            self.summary = summary
            self.best = best
            self.ads = ads
            self.left = left
            self.notes = notes
        }

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("variant", .text, "Its name; `default` stands first."),
            DocumentField(
                "conditions",
                .array(of: .text),
                "All must hold, for instance device=phone|car or region!=de; of default there are none."
            ),
            DocumentField("durationSeconds", .number, "Of its ads together."),
            DocumentField("summary", .text, "The result in one sentence."),
            .optional("best", .flag, "Whether no better filling exists; absent where nothing was chosen."),
            DocumentField("ads", .array(of: .document(Ad.self)), "First to last; none: nothing would play."),
            DocumentField("left", .array(of: .document(Left.self)), "The candidates that would not play."),
            DocumentField(
                "notes",
                .array(of: .text),
                "What ad servers answered, one line for each ad; the gateway asks none."
            ),
        ])
    }

    package var stream: String
    package var `break`: String
    package var start: String
    package var durationSeconds: Double?
    package var variants: [Variant]

    package init(stream: String, break: String, start: String, durationSeconds: Double?, variants: [Variant]) {
        self.stream = stream
        self.break = `break`
        self.start = start
        self.durationSeconds = durationSeconds
        self.variants = variants
    }

    package static let documentDescription = DocumentDescription(
        name: "DryRun",
        fields: [
            DocumentField("stream", .stream),
            DocumentField("break", .text),
            DocumentField("start", .instant),
            .optional("durationSeconds", .number, "How long the break lasts at most; absent: until it is ended."),
            DocumentField("variants", .array(of: .document(Variant.self)), "`default`, then the others."),
        ]
    )

    package static let example: JSONValue = [
        "stream": "radio1", "break": "noon-1", "start": "2026-05-01T12:00:00.000Z", "durationSeconds": 30,
        "variants": [
            [
                "variant": "default", "conditions": [], "durationSeconds": 30,
                "summary": "1 of 2 candidates, 30 s of 40 s; no better filling exists", "best": true,
                "ads": [
                    [
                        "place": 1, "id": "spring-sale-30", "title": "Spring sale", "durationSeconds": 30,
                        "startsAfterSeconds": 0, "sentence": "priority 1, weight 1",
                    ]
                ],
                "left": [
                    [
                        "id": "house", "title": "", "durationSeconds": 20, "reason": "lowerPriority",
                        "sentence": "only 10 s are left by ads of higher priority",
                    ]
                ],
                "notes": [],
            ]
        ],
    ]
}
