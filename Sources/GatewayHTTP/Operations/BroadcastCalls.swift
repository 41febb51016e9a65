// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakDocuments
import CuecastWire
import GatewayCore
import GatewayDocuments
import HTTPTypes

// What every operation needs that asks what a broadcaster asks: the question, the expected revision, and the break in the answer.

/// The answer to a broadcaster's request over HTTP.
struct BroadcastAnswer: Sendable {
    let reply: BroadcastReply
    /// Whether it asked for a break to be published.
    let isPublication: Bool
    /// The parts of the body that are not in what was asked, each with its reason.
    let leftOut: [String]
}

extension HTTPParts {
    /// Asks what a broadcaster asks, as its socket does.
    ///
    /// - Parameters:
    ///   - call: the request.
    ///   - kind: reads what is asked, and what of the body is not in it; on the readers' threads, because that takes some work.
    /// - Returns: the answer; never a refusal.
    /// - Throws: the refusal as a problem.
    func ask(
        _ call: OperationCall,
        _ kind: @escaping @Sendable () throws(DocumentFault) -> (BroadcastRequest.Kind, leftOut: [String])
    ) async throws -> BroadcastAnswer {
        let principal = try call.broadcaster()
        // Programs that read may name a revision that they know: it is no condition.
        let expected = call.operation.isSafe ? nil : try call.expectedRevision()
        let id = UInt64(call.requestID) ?? UInt64.random(in: 1 ... .max)
        let (request, leftOut) = try await call.onReaders {
            let (asked, leftOut) = try Problem.reading(kind)
            let request = BroadcastRequest(id: id, expectedRevision: expected, kind: asked)
            return (CheckedBroadcastRequest(request), leftOut)
        }
        let origin = HTTPRequestOrigin(address: call.peer, requestID: call.requestID, trace: call.trace)
        let reply = await self.breaks.broadcast(request, principal, origin)
        if case .refused(let refusal) = reply.body { throw Problem(refusal) }
        let isPublication = if case .publish = request.asked.kind { true } else { false }
        return BroadcastAnswer(reply: reply, isPublication: isPublication, leftOut: leftOut)
    }
}

extension OperationCall {
    /// Whether the body is a VAST document.
    var isVAST: Bool { [MediaType.vast, MediaType.textVAST].contains(self.contentType) }

    /// The encoding of the body that the head states; `nil`: none.
    var charset: String? { self.header(.contentType).flatMap { MediaType.charset(of: $0) } }

    /// The revision that is expected for anything to change, as the head says (RFC 9110 section 13.1); `nil`: any.
    ///
    /// The condition is only parsed here: the log decides whether it holds.
    func expectedRevision() throws(Problem) -> UInt64? {
        let match = self.header(.ifMatch)
        if let none = self.header(.ifNoneMatch) {
            guard self.operation.method == .put else {
                throw .badRequest("If-None-Match goes with PUT; here If-Match says which revision is expected.")
            }
            guard match == nil else { throw .badRequest("Give If-Match or If-None-Match, not both.") }
            guard none == "*" else { throw .badRequest("If-None-Match must be *: nothing is there yet.") }
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

extension HTTPAnswer {
    /// The most things that an answer says were left out of a document, one by one.
    private static let leftOutMax = 100

    /// The left out parts of a document, as an answer lists them; `nil`: nothing was left out.
    static func told(_ leftOut: [String]) -> [String]? {
        guard !leftOut.isEmpty else { return nil }
        let more = leftOut.count - Self.leftOutMax
        return leftOut.prefix(Self.leftOutMax) + (more > 0 ? ["and \(more) more"] : [])
    }

    /// A break, with its revision as the tag that `If-Match` takes.
    static func `break`(_ info: BreakInfo, leftOut: [String] = []) -> HTTPAnswer {
        var document = BreakListDocument.Break(info)
        document.leftOut = Self.told(leftOut)
        return .json(document, headers: [.eTag: "\"\(info.revision)\""])
    }

    /// A break that is new, with its path (RFC 9110 section 10.2.2).
    static func created(_ info: BreakInfo, leftOut: [String]) -> HTTPAnswer {
        var answer = HTTPAnswer.break(info, leftOut: leftOut)
        answer.status = .created
        answer.headers[.location] = "/v1/streams/\(info.key.stream)/breaks/\(info.key.id)"
        return answer
    }
}

extension OperationContent {
    /// VAST documents, by both names of their type.
    static let vast = [MediaType.vast, MediaType.textVAST]
        .map {
            OperationContent(
                $0,
                .inline(Schema.text("A VAST document, 2.0 to 4.x.")),
                example: .string(BreakBodies.vastExample)
            )
        }
}

extension OperationParameter {
    static let ifMatch = OperationParameter(
        "If-Match",
        in: .header,
        "The revision that the break must have for anything to change, as `ETag` told it; `*`: it must be there.",
        ["type": "string", "pattern": "^(\\*|\"[1-9][0-9]{0,17}\")$"],
        example: "\"2\""
    )
    /// A break that is published is new mostly, and then has no revision.
    static let ifMatchOfPublication = OperationParameter(
        Self.ifMatch.name,
        in: .header,
        Self.ifMatch.description,
        Self.ifMatch.schema,
        example: Self.ifMatch.example,
        isAlternative: true
    )
    static let ifNoneMatchOfPublication = OperationParameter(
        "If-None-Match",
        in: .header,
        "`*`: the break must not be there yet, not even the same; not together with `If-Match`.",
        ["type": "string", "enum": ["*"]],
        example: "*",
        isAlternative: true
    )
}

extension OperationHeader {
    /// The revision of what the answer has.
    static let revision = OperationHeader(
        "ETag",
        "The revision, in quotes: what If-Match takes. It goes on with each change, and not with time alone.",
        ["type": "string", "pattern": "^\"[0-9]+\"$"]
    )
}

extension OperationAnswer {
    static func oneBreak(
        _ status: HTTPResponse.Status,
        _ description: String
    ) -> OperationAnswer {
        OperationAnswer(
            status,
            description,
            OperationContent(BreakListDocument.Break.schema, example: BreakListDocument.Break.example)
        )
        .with([.revision])
    }
}
