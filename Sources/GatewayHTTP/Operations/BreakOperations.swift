// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakDocuments
import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import HTTPTypes

/// Breaks: to see them, to publish them, and to steer them.
///
/// Nothing is decided here: what changes something is the same request as by the broadcasters' socket, and goes the same way.
func breakOperations(_ parts: HTTPParts) -> [Operation] {
    breakReads(parts) + breakChanges(parts).map { $0.traced(as: .broadcasters) }
}

private func breakReads(_ parts: HTTPParts) -> [Operation] {
    [
        Operation(
            .get,
            "/v1/breaks",
            id: "listBreaks",
            tag: "Breaks",
            "List the breaks that are kept, by stream, in the order in which they were published.",
            access: .read,
            parameters: [
                OperationParameter("stream", in: .query, "Only this stream.", Schema.stream, example: "radio1"),
                .breaksAfter, .limit(max: BreakListQuery.breaksMax),
            ],
            answers: [.breakList]
        ) { call in try await parts.breakPage(of: try call.query.stream(), for: call) },
        Operation(
            .get,
            "/v1/streams/{stream}/breaks",
            id: "listBreaksOfStream",
            tag: "Breaks",
            "List the breaks of a stream, in the order in which they were published.",
            access: .read,
            parameters: [
                .streamInPath,
                OperationParameter(
                    "open",
                    in: .query,
                    "Only breaks that are not over: those that are scheduled, cued, announced or live.",
                    Schema.flag(),
                    example: true
                ),
                .breaksAfter, .limit(max: BreakListQuery.breaksMax),
            ],
            answers: [.breakList]
        ) { call in try await parts.breakPage(of: try call.stream(), isOpen: try call.query.flag("open"), for: call) },
        Operation(
            .get,
            "/v1/streams/{stream}/breaks/{break}",
            id: "getBreak",
            tag: "Breaks",
            "Show a break.",
            access: .read,
            parameters: [.streamInPath, .breakInPath],
            answers: [.oneBreak(.ok, "As it stands.")]
        ) { call in
            let key = try call.breakKey()
            guard let found = parts.breaks.board().known(key) else {
                throw Problem.notFound("There is no break \(key.id) of the stream \(key.stream).")
            }
            return .break(found.info(at: call.received))
        },
    ]
}

private func breakChanges(_ parts: HTTPParts) -> [Operation] {
    let steering: [ProblemCode] = [
        .reason(.wrongState), .reason(.tooLate), .reason(.breakTooOld), .reason(.draining), .reason(.revisionConflict),
    ]
    let timing: [ProblemCode] = [
        .reason(.breakOverlap), .reason(.startInPast), .reason(.tooFarAhead), .reason(.leadTimeTooShort),
    ]
    return [
        Operation(
            .put,
            "/v1/streams/{stream}/breaks/{break}",
            id: "publishBreak",
            tag: "Breaks",
            "Publish a break.",
            details: """
                Publishing the same break again is harmless: it is the same break; with `If-None-Match: *` it is refused. One of `in`, `at`, `now`, `cued` and `preStream` says when \
                it starts; without any it starts when the gateway receives it. Without `duration` it lasts as long as its ads together. The \
                ads come as JSON, or as a VAST document; then the rest stands in the query.
                """,
            access: .publish,
            parameters: [.streamInPath, .breakInPath, .ifMatchOfPublication, .ifNoneMatchOfPublication]
                + OperationParameter.settingsBesideVAST,
            body: OperationBody(
                contents: [OperationContent(BreakShapes.publish.schema, example: BreakBodies.publishExample)]
                    + OperationContent.vast,
                isRequired: true,
                bytesMax: BreakDocument.bytesMax
            ),
            answers: [
                .oneBreak(.created, "The break is new.")
                    .with([
                        OperationHeader("Location", "The break's path.", ["type": "string", "format": "uri-reference"])
                    ]),
                .oneBreak(
                    .ok,
                    "The break was published before with the same content, or signals had opened it already: then it has the id in `break`."
                ),
            ],
            refusals: steering + timing + [.reason(.conflict)]
        ) { call in
            let key = try call.breakKey()
            let body = try await call.body()
            let settings = call.query.values
            if call.isVAST {
                let charset = call.charset
                return try await parts.changeFromDocument(call) { () throws(DocumentFault) in
                    let (publish, leftOut) = try BreakDocument.publish(
                        key,
                        vast: body,
                        charset: charset,
                        settings: settings
                    )
                    return (.publish(publish), leftOut)
                }
            }
            if let name = settings.keys.min() {
                throw Problem.badRequest("The parameter \(name) goes with VAST; in JSON it stands in the body.")
            }
            return try await parts.change(call) { () throws(DocumentFault) in
                .publish(try BreakDocument.publish(key, body))
            }
        },
        .change(
            "punch",
            id: "punchBreak",
            "Start a cued break.",
            details: "Without `in`, `at` and `now` it starts after the gateway's usual lead.",
            body: (BreakShapes.punch.schema, ["in": "2s"], isRequired: false),
            refusals: steering + timing + [.reason(.conflict)]
        ) { call, key, body in
            try await parts.change(call) { () throws(DocumentFault) in .punch(try BreakDocument.punch(key, body)) }
        },
        .change(
            "update",
            id: "updateBreak",
            "Change a break: its start until it starts, its ads until it is announced, its duration until it is over.",
            body: (BreakShapes.update.schema, ["duration": "45s"], isRequired: true),
            refusals: steering + timing + [.reason(.conflict)]
        ) { call, key, body in
            try await parts.change(call) { () throws(DocumentFault) in .update(try BreakDocument.update(key, body)) }
        },
        .change(
            "postpone",
            id: "postponeBreak",
            "Move the start of a break that has not started to later.",
            details: """
                It needs `from`, the start that the break has now, or `If-Match` with its revision: so a repeat never moves it twice. A break \
                that starts at `from` + `by` already is as asked for.
                """,
            body: (BreakShapes.postpone.schema, ["by": "90s"], isRequired: true),
            refusals: steering + timing + [.reason(.conflict)]
        ) { call, key, body in
            let expected = try call.expectedRevision()
            return try await parts.change(call) { () throws(DocumentFault) in
                let postpone = try BreakDocument.postpone(key, body)
                guard postpone.from != nil || expected.map({ $0 != ExpectedRevision.any }) ?? false else {
                    throw DocumentFault(
                        line: 1,
                        field: "from",
                        reason: "it is the start that the break has now, or If-Match names its revision: one is needed"
                    )
                }
                return .postpone(postpone)
            }
        },
        .change(
            "end",
            id: "endBreak",
            "End a break that plays: early, or because it has no duration.",
            body: (BreakShapes.end.schema, ["endMode": "finishAd"], isRequired: false),
            refusals: steering
        ) { call, key, body in
            try await parts.change(call) { () throws(DocumentFault) in .end(try BreakDocument.end(key, body)) }
        },
        .change(
            "cancel",
            id: "cancelBreak",
            "Call a break off.",
            details: "It is kept, as a break that was cancelled: its id stays taken.",
            body: nil,
            refusals: steering
        ) { call, key, _ in try await parts.change(call) { .cancel(key) } },
    ]
}

extension Operation {
    /// A change of one break, by its name below the break.
    fileprivate static func change(
        _ name: String,
        id: String,
        _ summary: String,
        details: String = "",
        body: (schema: NamedSchema, example: JSONValue, isRequired: Bool)?,
        refusals: [ProblemCode],
        handle: @escaping @Sendable (OperationCall, BreakKey, _ body: [UInt8]) async throws -> HTTPAnswer
    ) -> Operation {
        Operation(
            .post,
            "/v1/streams/{stream}/breaks/{break}/\(name)",
            id: id,
            tag: "Breaks",
            summary,
            details: details,
            access: .publish,
            parameters: [.streamInPath, .breakInPath, .ifMatch],
            body: body.map {
                OperationBody(
                    contents: [OperationContent($0.schema, example: $0.example)],
                    isRequired: $0.isRequired,
                    bytesMax: BreakDocument.bytesMax
                )
            },
            answers: [.oneBreak(.ok, "The break as it stands now.")],
            refusals: refusals
        ) { call in
            let key = try call.breakKey()
            return try await handle(call, key, call.operation.body == nil ? [] : try await call.body())
        }
    }
}

extension HTTPParts {
    /// Requests a change, and answers with its result.
    ///
    /// - Parameters:
    ///   - call: the request.
    ///   - kind: reads what is asked from the body; on the readers' threads, because that takes some work.
    /// - Returns: the break as it stands then.
    /// - Throws: the refusal as a problem.
    fileprivate func change(
        _ call: OperationCall,
        _ kind: @escaping @Sendable () throws(DocumentFault) -> BroadcastRequest.Kind
    ) async throws -> HTTPAnswer {
        try await self.changeFromDocument(call) { () throws(DocumentFault) in (try kind(), []) }
    }

    /// The same for a body that may hold what no request can.
    ///
    /// - Parameters:
    ///   - call: the request.
    ///   - kind: as above, and what of the body is not in what is asked.
    /// - Returns: the break as it stands then, and what is not in it.
    /// - Throws: the refusal as a problem.
    fileprivate func changeFromDocument(
        _ call: OperationCall,
        _ kind: @escaping @Sendable () throws(DocumentFault) -> (BroadcastRequest.Kind, leftOut: [String])
    ) async throws -> HTTPAnswer {
        let asked = try await self.ask(call, kind)
        guard case .break(let info) = asked.reply.body else {
            preconditionFailure("a change of a break was answered with something else")
        }
        // A break that signals opened is there already, by its own id.
        let isNew = asked.isPublication && asked.reply.changed && info.publishedAs == nil
        if isNew { return .created(info, leftOut: asked.leftOut) }
        return .break(info, leftOut: asked.leftOut)
    }
}

extension HTTPParts {
    /// One page of breaks.
    fileprivate func breakPage(
        of stream: StreamID?,
        isOpen: Bool = false,
        for call: OperationCall
    ) async throws -> HTTPAnswer {
        var query = BreakListQuery(stream: stream, limit: try call.query.limit(max: BreakListQuery.breaksMax))
        query.isOpen = isOpen
        if let text = call.query["after"] {
            guard let mark = BreakListQuery.Mark(text) else {
                throw Problem.badRequest("The parameter after must be STREAM/NUMBER, as the page before gave it.")
            }
            query.after = mark
        }
        return try await call.onReaders { [query] in
            .json(BreakListDocument(self.breaks.board(), query, at: call.received))
        }
    }
}

extension OperationParameter {
    fileprivate static let breaksAfter = OperationParameter(
        "after",
        in: .query,
        "Where the page before ended: STREAM/NUMBER.",
        ["type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}/[0-9]{1,18}$"],
        example: "radio1/17"
    )
}

extension OperationParameter {
    /// The parameters of the query if the body is VAST: the members that the JSON has beside its ads.
    fileprivate static let settingsBesideVAST: [OperationParameter] = BreakShapes.settings.members
        .sorted { $0.name < $1.name }
        .map { member in
            let (schema, example) = member.parameter
            return OperationParameter(
                member.name,
                in: .query,
                "With VAST: as in the JSON.",
                schema,
                example: example,
                isAlternative: true
            )
        }
}

extension OperationAnswer {
    fileprivate static let breakList = OperationAnswer(
        "One page.",
        OperationContent(
            BreakListDocument.schema,
            example: BreakListDocument.example
        )
    )
}
