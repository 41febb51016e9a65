// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The result of a request about a group of streams: what `PUT /v1/groups/{break}` answers.
package struct GroupResultDocument: GatewayDocument {
    /// The result of one stream.
    package enum Result: String, CaseIterable, Sendable {
        /// The break is new there.
        case published
        /// The break was there before, as it is asked for.
        case present
        case cancelled
        case failed
    }

    package struct Stream: GatewayDocument {
        package var stream: String
        package var result: String
        package var status: BreakListDocument.Break?
        package var code: String?
        package var reason: String?
        package var retryable: Bool?

        /// A stream with its break.
        package init(_ result: Result, _ info: BreakInfo) {
            self.stream = info.key.stream.description
            self.result = result.rawValue
            self.status = BreakListDocument.Break(info)
        }

        /// A stream that refused the request.
        package init(_ stream: StreamID, _ refusal: Refusal) {
            self.stream = stream.description
            self.result = Result.failed.rawValue
            self.code = ProblemCode.reason(refusal.status).name
            self.reason = refusal.sentence
            self.retryable = refusal.status.canRetry
        }

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("stream", .stream),
            DocumentField(
                "result",
                .oneOf(Result.allCases.map(\.rawValue)),
                "`present`: it has the break since an earlier request."
            ),
            .optional("status", .document(BreakListDocument.Break.self), "The break; absent if the request failed."),
            .optional("code", .text, "The reason for programs, as in a problem; absent unless it failed."),
            .optional("reason", .text, "The reason for people; absent unless it failed."),
            .optional("retryable", .flag, "Whether the same request may succeed later; absent unless it failed."),
        ])
    }

    package var group: String
    package var start: String?
    package var streams: [Stream]
    package var failed: Int

    package init(group: BreakID, start: String?, streams: [Stream]) {
        self.group = group.description
        self.start = start
        self.streams = streams
        self.failed = streams.count { $0.result == Result.failed.rawValue }
    }

    package static let documentDescription = DocumentDescription(
        name: "GroupResult",
        fields: [
            DocumentField("group", .breakID),
            .optional("start", .instant, "When the group starts; absent if it has no start."),
            DocumentField("streams", .array(of: .document(Stream.self)), "In the order of the request."),
            DocumentField("failed", .count, "On how many streams the request failed."),
        ]
    )

    package static let example: JSONValue = [
        "group": "final-1", "start": "2026-05-01T12:00:00.000Z",
        "streams": [
            ["stream": "radio1", "result": "published", "status": BreakListDocument.Break.example],
            [
                "stream": "radio2", "result": "failed", "code": "BREAK_OVERLAP",
                "reason": "The break would overlap with the break news.", "retryable": false,
            ],
        ],
        "failed": 1,
    ]
}

/// A break on all its streams: what `GET /v1/groups/{break}` answers.
package struct GroupStateDocument: GatewayDocument {
    package var group: String
    package var states: [String: Int]
    package var missing: [String]
    package var streams: [BreakListDocument.Break]

    package init(group: BreakID, missing: [StreamID], streams: [BreakListDocument.Break]) {
        self.group = group.description
        self.states = Dictionary(streams.map { ($0.state, 1) }, uniquingKeysWith: +)
        self.missing = missing.map(\.description)
        self.streams = streams
    }

    package static let documentDescription = DocumentDescription(
        name: "GroupState",
        fields: [
            DocumentField("group", .breakID),
            DocumentField("states", .map(of: .count), "How many breaks are in each state."),
            DocumentField("missing", .array(of: .text), "The named streams that do not have the break."),
            DocumentField("streams", .array(of: .document(BreakListDocument.Break.self)), "By stream."),
        ]
    )

    package static let example: JSONValue = [
        "group": "noon-1", "states": ["announced": 1], "missing": ["radio2"],
        "streams": [BreakListDocument.Break.example],
    ]
}
