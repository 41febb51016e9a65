// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import HTTPTypes
import HashTreeCollections
import Hummingbird
import NIOCore

/// Everything that can be asked for.
struct Routes: Sendable {
    let facts: GatewayHTTPService.Facts

    func add(to router: Router<BasicRequestContext>) {
        router.get("/") { _, _ in self.index }
        router.get("/healthz") { _, _ in TextAnswer.response("ok\n") }
        router.get("/readyz") { _, _ in self.readiness }
        router.get("/metrics") { _, _ in
            TextAnswer.response(self.facts.metrics.exposition(), type: "text/plain; version=0.0.4; charset=utf-8")
        }
        router.get("/v1/reports") { request, _ in try await self.reports(request) }
        router.get("/v1/reports/:stream/:break") { _, context in
            try await self.report(
                stream: try StreamID(context.parameters.get("stream") ?? ""),
                breakID: try BreakID(context.parameters.get("break") ?? ""))
        }
        router.get("/v1/breaks") { request, _ in try self.breaks(request) }
    }

    private var index: Response {
        TextAnswer.response(
            """
            cuecast \(self.facts.version)

            /healthz                         the process is alive
            /readyz                          200 when the gateway takes requests, else 503 with what does not work
            /metrics                         numbers, in Prometheus text format
            /v1/reports                      the books; ?stream= ?break= ?before= ?limit= (at most \(ReportQuery.breaksMax))
            /v1/reports/{stream}/{break}     the books of one break
            /v1/breaks                       what is planned and what was; ?stream=

            """)
    }

    private struct Readiness: Encodable {
        let ready: Bool
        let missing: [String]
    }

    private var readiness: Response {
        let missing = self.facts.missing()
        return JSONAnswer.response(
            Readiness(ready: missing.isEmpty, missing: missing),
            status: missing.isEmpty ? .ok : .serviceUnavailable)
    }

    private func reports(_ request: Request) async throws -> Response {
        let parameters = request.uri.queryParameters
        var query = ReportQuery(now: self.facts.now())
        query.stream = try parameters["stream"].map { try StreamID(String($0)) }
        query.breakID = try parameters["break"].map { try BreakID(String($0)) }
        if let text = parameters["before"] {
            guard let number = UInt64(text) else {
                throw Fault(.badRequest, "before is the number of a break, and is \(text).")
            }
            query.before = BreakNumber(rawValue: number)
        }
        if let text = parameters["limit"] {
            guard let limit = Int(text), (1...ReportQuery.breaksMax).contains(limit) else {
                throw Fault(.badRequest, "limit is a whole number from 1 to \(ReportQuery.breaksMax), and is \(text).")
            }
            query.limit = limit
        }
        return JSONAnswer.response(try await self.document(query))
    }

    private func report(stream: StreamID, breakID: BreakID) async throws -> Response {
        let document = try await self.document(
            ReportQuery(stream: stream, breakID: breakID, limit: 1, now: self.facts.now()))
        guard !document.breaks.isEmpty else {
            throw Fault(.notFound, "The ledger has no break \(breakID) of the stream \(stream) (yet).")
        }
        return JSONAnswer.response(document)
    }

    private func document(_ query: ReportQuery) async throws -> ReportDocument {
        var heads: [Lane: UInt64] = [:]
        for lane in [Lane.breaks, .acknowledgements(0)] {
            heads[lane] = try? await self.facts.log.head(of: lane)
        }
        return ReportDocument(try await self.facts.ledger.report(query), heads: heads, now: query.now)
    }

    private func breaks(_ request: Request) throws -> Response {
        let only = try request.uri.queryParameters["stream"].map { try StreamID(String($0)) }
        let now = self.facts.now()
        let streams = self.facts.board().streams.values
            .filter { only == nil || $0.stream == only }
            .sorted { $0.stream < $1.stream }
        let infos = streams.flatMap { stream in
            stream.breaks.values.sorted { $0.number < $1.number }.map { $0.info(at: now) }
        }
        // The newest of many: this is for people; scripts page through the broadcasters' socket.
        return JSONAnswer.response(infos.suffix(ReportQuery.breaksMax).map { BreakDocument($0) })
    }
}

/// A reply with text.
enum TextAnswer {
    static func response(_ text: String, type: String = "text/plain; charset=utf-8") -> Response {
        Response(
            status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

/// A reply with a JSON document.
enum JSONAnswer {
    static func response(_ document: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(document) else {
            return Response(status: .internalServerError)
        }
        return Response(
            status: status, headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: Array(data) + [UInt8(ascii: "\n")])))
    }
}
