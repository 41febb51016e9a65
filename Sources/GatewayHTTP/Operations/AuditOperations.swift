// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayDocuments
import HTTPTypes
import Hummingbird

/// The operations that list requested changes.
func auditOperations(_ parts: HTTPParts) -> [Operation] {
    [
        Operation(
            .get,
            "/v1/audit",
            id: "listAudit",
            tag: "Audit",
            "List requested changes: who asked, from where, and the result; the newest first.",
            details: "Requests that were refused stand there too. A line may appear a moment after its answer.",
            access: .read,
            parameters: [
                OperationParameter(
                    "stream",
                    in: .query,
                    "Only what is about this stream.",
                    Schema.stream,
                    example: "radio1"
                ),
                OperationParameter("break", in: .query, "Only breaks of this name.", Schema.breakID, example: "noon-1"),
                OperationParameter(
                    "broadcaster",
                    in: .query,
                    "Only what this broadcaster asked for.",
                    ["type": "string", "minLength": 1, "maxLength": .integer(Int64(AuditLimits.auditNameBytesMax))],
                    example: "studio"
                ),
                OperationParameter(
                    "from",
                    in: .query,
                    "Only requests of this instant or later, by the gateway's clock.",
                    Schema.instant(),
                    example: "2026-05-01T00:00:00Z"
                ),
                OperationParameter(
                    "to",
                    in: .query,
                    "Only requests from before this instant.",
                    Schema.instant(),
                    example: "2026-05-02T00:00:00Z"
                ),
                OperationParameter(
                    "before",
                    in: .query,
                    "Only lines with a lower number: what the page before said.",
                    Schema.integer(0...Int.max),
                    example: 17
                ),
                OperationParameter(
                    "allGateways",
                    in: .query,
                    "Whether all gateways of the log are asked, for 3 s at most. Then the next page begins with `to`, not with `before`.",
                    ["type": "boolean"],
                    example: true
                ),
                .limit(max: AuditLimits.auditPageMax),
            ],
            answers: [
                OperationAnswer(
                    "One page.",
                    OperationContent(AuditDocument.schema, example: JSONValue(encoding: AuditDocument.example))
                )
            ]
        ) { call in
            let limit = try call.query.limit(max: AuditLimits.auditPageMax)
            let (from, to) = try call.query.period()
            // A gateway that has its log for itself is all gateways.
            let askAll = try call.query.flag("allGateways") ? parts.administration.askAll : nil
            guard askAll == nil || call.query["before"] == nil else {
                throw Problem.badRequest("The parameter before is for one gateway: page through all with to.")
            }
            let query = AuditQuery(
                stream: try call.query.stream(),
                breakID: try call.query.breakID(),
                principal: call.query["broadcaster"],
                from: from,
                to: to,
                before: try call.query.number("before").map { Int64(clamping: $0) },
                // One more tells whether there is another page.
                limit: limit + 1
            )
            let document = try await call.onReaders {
                AuditDocument(try await parts.administration.audit(query), limit: limit, at: call.received)
            }
            guard let askAll else { return .json(document) }
            let own = (gateway: parts.administration.instance, page: document)
            return .json(try await AuditQuestion(query, limit: limit).ask(by: askAll, beside: own, at: call.received))
        }
    ]
}

extension Operation {
    /// Whether it may change something of the gateway.
    var changes: Bool { !self.isSafe && [.publish, .publishEverywhere, .admin].contains(self.access) }

    /// The line of the audit about a request for it.
    ///
    /// - Parameters:
    ///   - context: of the request.
    ///   - principal: the principal that asks; `nil`: not known.
    ///   - problem: why it was refused; `nil`: it was done.
    ///   - now: the gateway's clock.
    /// - Returns: the line.
    func auditRecord(
        _ context: OperationContext,
        by principal: HTTPPrincipal?,
        _ problem: Problem?,
        at now: Timestamp
    ) -> AuditRecord {
        var key: BreakKey?
        let stream = context.parameters.get("stream").flatMap { try? StreamID($0) }
        if let stream,
            let id = context.parameters.get("break").flatMap({ try? BreakID($0) })
        {
            key = BreakKey(stream: stream, id: id)
        }
        return AuditRecord(
            at: now,
            principal: principal?.name ?? "",
            origin: RequestOrigin(.http, address: context.peer, requestID: context.requestID),
            // As the wire calls it: `cancel`, not `cancelBreak`.
            action: self.id.replacing("Break", with: ""),
            stream: stream,
            key: key,
            outcome: problem == nil ? .changed : .refused,
            status: problem.map(\.code.status),
            sentence: problem?.sentence ?? ""
        )
    }
}

extension ProblemCode {
    /// The reason code of the wire that is nearest, for codes that only HTTP has.
    fileprivate var status: StatusCode {
        switch self {
        case .reason(let status): status
        case .unauthorized, .hostNotKnown, .originNotAllowed: .notAllowed
        case .methodNotAllowed, .mediaTypeNotTaken, .notReloaded, .encrypted, .positionGone: .invalid
        case .targetTooLong: .tooLarge
        }
    }
}
