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
            guard let found = parts.breaks.board()[key] else {
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
            parameters: [.streamInPath, .breakInPath, .ifMatchOfPublication, .ifNoneMatch]
                + OperationParameter.settingsBesideVAST,
            body: OperationBody(
                contents: [OperationContent(BreakBodies.publish, example: BreakBodies.publishExample)]
                    + [MediaType.vast, MediaType.textVAST]
                    .map {
                        OperationContent(
                            $0,
                            .inline(Schema.text("A VAST document, 2.0 to 4.x.")),
                            example: .string(BreakBodies.vastExample)
                        )
                    },
                isRequired: true,
                bytesMax: BreakDocument.bytesMax
            ),
            answers: [
                .oneBreak(.created, "The break is new.")
                    .with([
                        OperationHeader("Location", "The break's path.", ["type": "string", "format": "uri-reference"])
                    ]),
                .oneBreak(.ok, "The break was published before with the same content."),
            ],
            refusals: steering + timing + [.reason(.conflict)]
        ) { call in
            let key = try call.breakKey()
            let body = try await call.body()
            let settings = call.query.values
            if [MediaType.vast, MediaType.textVAST].contains(call.contentType) {
                let charset = call.header(.contentType).flatMap { MediaType.charset(of: $0) }
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
            body: (BreakBodies.punch, ["in": "2s"], isRequired: false),
            refusals: steering + timing + [.reason(.conflict)]
        ) { call, key, body in
            try await parts.change(call) { () throws(DocumentFault) in .punch(try BreakDocument.punch(key, body)) }
        },
        .change(
            "update",
            id: "updateBreak",
            "Change a break: its start until it starts, its ads until it is announced, its duration until it is over.",
            body: (BreakBodies.update, ["duration": "45s"], isRequired: true),
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
            body: (BreakBodies.postpone, ["by": "90s"], isRequired: true),
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
            body: (BreakBodies.end, ["endMode": "finishAd"], isRequired: false),
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
        let principal = try call.broadcaster()
        let expected = try call.expectedRevision()
        let id = UInt64(call.requestID) ?? UInt64.random(in: 1 ... .max)
        let (request, leftOut) = try await call.onReaders {
            do throws(DocumentFault) {
                let (asked, leftOut) = try kind()
                let request = BroadcastRequest(id: id, expectedRevision: expected, kind: asked)
                return (CheckedBroadcastRequest(request), leftOut)
            } catch {
                throw Problem(.reason(error.isTooLarge ? .tooLarge : .invalid), error.description)
            }
        }
        let origin = HTTPRequestOrigin(address: call.peer, requestID: call.requestID, trace: call.trace)
        let reply = await self.breaks.broadcast(request, principal, origin)
        switch reply.body {
        case .break(let info):
            if case .publish = request.asked.kind, reply.changed { return .created(info, leftOut: leftOut) }
            return .break(info, leftOut: leftOut)
        case .refused(let refusal): throw Problem(refusal)
        case .list, .adList, .adLists: preconditionFailure("a change of a break was answered with a list")
        }
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

extension HTTPAnswer {
    /// The most things that an answer says were left out of a document, one by one.
    private static let leftOutMax = 100

    /// A break, with its revision as the tag that `If-Match` takes.
    fileprivate static func `break`(_ info: BreakInfo, leftOut: [String] = []) -> HTTPAnswer {
        var document = BreakListDocument.Break(info)
        if !leftOut.isEmpty {
            let more = leftOut.count - Self.leftOutMax
            document.leftOut = leftOut.prefix(Self.leftOutMax) + (more > 0 ? ["and \(more) more"] : [])
        }
        return .json(document, headers: [.eTag: "\"\(info.revision)\""])
    }

    /// A break that is new, with its path (RFC 9110 section 10.2.2).
    fileprivate static func created(_ info: BreakInfo, leftOut: [String]) -> HTTPAnswer {
        var answer = HTTPAnswer.break(info, leftOut: leftOut)
        answer.status = .created
        answer.headers[.location] = "/v1/streams/\(info.key.stream)/breaks/\(info.key.id)"
        return answer
    }
}

extension OperationCall {
    /// The revision that the break must have for anything to change, as the head says (RFC 9110 section 13.1); `nil`: any.
    ///
    /// The condition is only parsed here: the log decides whether it holds.
    fileprivate func expectedRevision() throws(Problem) -> UInt64? {
        let match = self.header(.ifMatch)
        if let none = self.header(.ifNoneMatch) {
            guard self.operation.method == .put else {
                throw .badRequest("If-None-Match goes with PUT; here If-Match says which revision is expected.")
            }
            guard match == nil else { throw .badRequest("Give If-Match or If-None-Match, not both.") }
            guard none == "*" else { throw .badRequest("If-None-Match must be *: the break is not there yet.") }
            return ExpectedRevision.absent
        }
        guard let match else { return nil }
        if match == "*" { return ExpectedRevision.any }
        let digits = match.utf8.dropFirst().dropLast()
        guard match.utf8.count >= 3, match.hasPrefix("\""), match.hasSuffix("\""), digits.first != UInt8(ascii: "0"),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let revision = UInt64(match.dropFirst().dropLast()), revision < ExpectedRevision.any
        else { throw .badRequest("If-Match must be one revision in quotes, as ETag tells it, or *.") }
        return revision
    }
}

extension OperationParameter {
    fileprivate static let ifMatch = OperationParameter(
        "If-Match",
        in: .header,
        "The revision that the break must have for anything to change, as `ETag` told it; `*`: it must be there.",
        ["type": "string", "pattern": "^(\\*|\"[1-9][0-9]{0,17}\")$"],
        example: "\"2\""
    )
    /// A break that is published is new mostly, and then has no revision.
    fileprivate static let ifMatchOfPublication = OperationParameter(
        Self.ifMatch.name,
        in: .header,
        Self.ifMatch.description,
        Self.ifMatch.schema,
        example: Self.ifMatch.example,
        isAlternative: true
    )
    fileprivate static let ifNoneMatch = OperationParameter(
        "If-None-Match",
        in: .header,
        "`*`: the break must not be there yet, not even the same; not together with `If-Match`.",
        ["type": "string", "enum": ["*"]],
        example: "*",
        isAlternative: true
    )
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
    fileprivate static let settingsBesideVAST: [OperationParameter] = BreakBodies.settings.sorted { $0.key < $1.key }
        .map { name, setting in
            OperationParameter(
                name,
                in: .query,
                "With VAST: as in the JSON.",
                setting.text,
                example: setting.example,
                isAlternative: true
            )
        }
}

extension OperationAnswer {
    fileprivate static func oneBreak(
        _ status: HTTPResponse.Status,
        _ description: String
    ) -> OperationAnswer {
        OperationAnswer(
            status,
            description,
            OperationContent(BreakListDocument.Break.schema, example: BreakListDocument.Break.example)
        )
        .with([
            OperationHeader(
                "ETag",
                "The revision, in quotes: what If-Match takes. It goes on with each change, and not with time alone.",
                ["type": "string", "pattern": "^\"[0-9]+\"$"]
            )
        ])
    }

    fileprivate static let breakList = OperationAnswer(
        "One page.",
        OperationContent(
            BreakListDocument.schema,
            example: BreakListDocument.example
        )
    )
}
