// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import HTTPTypes

/// Streams with what happens on them now.
func streamOperations(_ parts: HTTPParts) -> [Operation] {
    guard let overview = parts.overview else { return [] }
    return [
        Operation(
            .get,
            "/v1/streams",
            id: "listStreams",
            tag: "Streams",
            "List the streams that have a listener or a break, with how many listen and what plays.",
            access: .read,
            parameters: [
                OperationParameter(
                    "search",
                    in: .query,
                    "Only streams in whose id this stands; upper and lower case are the same.",
                    ["type": "string", "minLength": 1, "maxLength": .integer(Int64(WireLimits.streamIDBytesMax))],
                    example: "radio"
                ),
                OperationParameter(
                    "after",
                    in: .query,
                    "The stream at which the page before ended.",
                    Schema.stream,
                    example: "radio1"
                ),
                OperationParameter(
                    "limit",
                    in: .query,
                    "The most on one page; \(StreamListQuery.streamsUsual) unless told.",
                    Schema.integer(1...StreamListQuery.streamsMax),
                    example: .integer(Int64(StreamListQuery.streamsUsual))
                ),
                OperationParameter(
                    "sort",
                    in: .query,
                    "By id, or by listeners, the most first: of these there is one page.",
                    Schema.oneOf(StreamListQuery.Order.allCases.map(\.rawValue)),
                    example: "stream"
                ),
            ],
            answers: [
                OperationAnswer(
                    "One page, in the order that was asked for.",
                    OperationContent(
                        StreamListDocument.schema,
                        example: JSONValue(encoding: StreamListDocument.example)
                    )
                )
            ]
        ) { call in
            var query = StreamListQuery()
            query.limit = try call.query.limit(max: StreamListQuery.streamsMax, usual: StreamListQuery.streamsUsual)
            if let sort = call.query["sort"] {
                guard let order = StreamListQuery.Order(rawValue: sort) else {
                    throw Problem.badRequest("The parameter sort must be stream or listeners.")
                }
                query.order = order
            }
            if let search = call.query["search"] {
                guard search.unicodeScalars.count <= WireLimits.streamIDBytesMax else {
                    throw Problem.badRequest(
                        "The parameter search has more than \(WireLimits.streamIDBytesMax) characters: no id is so long."
                    )
                }
                query.search = search.lowercased()
            }
            if let after = call.query["after"] {
                guard query.order == .stream else {
                    throw Problem.badRequest("The parameters sort=listeners and after exclude each other.")
                }
                query.after = try Problem.check { () throws(WireError) in try StreamID(after) }
            }
            return try await call.onReaders { [query] in .json(StreamListDocument(overview, query, at: call.received)) }
        },
        Operation(
            .get,
            "/v1/streams/{stream}",
            id: "getStream",
            tag: "Streams",
            "Tell how many listen to a stream now, and what plays.",
            details:
                "A stream of which nothing is known has no listeners and no breaks: a break may be published for it.",
            access: .read,
            parameters: [.streamInPath],
            answers: [
                OperationAnswer(
                    "As it is now.",
                    OperationContent(
                        StreamListDocument.Stream.schema,
                        example: JSONValue(encoding: StreamListDocument.Stream.example)
                    )
                )
            ]
        ) { call in
            let id = try call.stream()
            return .json(StreamListDocument.Stream(id, overview, overview.board, at: call.received))
        },
    ]
}

extension StreamListDocument {
    static let schema = NamedSchema(
        "StreamList",
        Schema.object([
            "now": Schema.instant("The gateway's clock."),
            "streams": Schema.array(of: Stream.schema.reference),
            "after": Schema.orNull(Schema.text("What `after` takes for the next page; null on the last one.")),
            "total": Schema.count("How many streams fit, on all pages."),
        ]),
        uses: [Stream.schema]
    )

    static let example = StreamListDocument(
        now: "2026-05-01T12:00:10.000000Z",
        streams: [.example],
        after: nil,
        total: 1
    )
}

extension StreamListDocument.Stream {
    static let schema = NamedSchema(
        "Stream",
        Schema.object([
            "stream": Schema.stream,
            "listeners": Schema.count("How many sessions listen now."),
            "running": Schema.orNull(StreamListDocument.Break.schema.reference),
            "next": Schema.orNull(StreamListDocument.Break.schema.reference),
        ]),
        uses: [StreamListDocument.Break.schema]
    )

    static let example = StreamListDocument.Stream(
        stream: "radio1",
        listeners: 1_204,
        running: StreamListDocument.Break(
            break: "noon-1",
            state: "live",
            start: "2026-05-01T12:00:00.000000Z",
            end: "2026-05-01T12:00:30.000000Z",
            revision: 2
        ),
        next: nil
    )
}

extension StreamListDocument.Break {
    static let schema = NamedSchema(
        "StreamBreak",
        Schema.object([
            "break": Schema.breakID,
            "state": Schema.oneOf(BreakState.allCases.map(\.name)),
            "start": Schema.orNull(Schema.instant()),
            "end": Schema.orNull(Schema.instant()),
            "revision": Schema.count("1 when it was published, and one more with each change."),
        ])
    )
}

extension Schema {
    /// A schema that also allows `null`.
    static func orNull(_ schema: JSONValue) -> JSONValue { ["anyOf": [schema, ["type": "null"]]] }
}
