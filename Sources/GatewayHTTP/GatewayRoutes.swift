// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import HTTPTypes
import Hummingbird
import Logging
import TokenFormats
import Tokens

/// What each path answers.
struct GatewayRoutes: Sendable {
    let configuration: GatewayHTTPConfiguration
    let ledger: any Ledger
    let log: any EventLog
    let metrics: MetricRegistry
    let missing: @Sendable () -> [String]
    let failure: @Sendable () -> String?
    let alarms: @Sendable () -> [RaisedAlarm]
    let board: @Sendable () -> Board
    let now: @Sendable () -> Timestamp
    let access: HTTPAccessHolder
    let reload: @Sendable () async throws -> ReloadDocument
    let logger: Logger
    private let peers: PeerLog
    private let gate: ReaderGate

    private static let index = IndexDocument(
        service: "cuecast gateway",
        paths: [
            "/": "this list",
            "/healthz": "200 while the process lives, 503 when it is about to end because something failed",
            "/readyz": "200 when requests are taken, otherwise 503 with what is missing; alarms beside either",
            "/metrics": "metrics in the text format of Prometheus",
            "/v1/reports": "who did what; ?stream= ?break= ?before=NUMBER ?limit=1…500",
            "/v1/reports/STREAM/BREAK": "who did what in one break",
            "/v1/breaks": "the breaks that are kept; ?stream= ?after=STREAM/NUMBER ?limit=1…500",
            "/v1/reload": "POST: read configuration, keys and certificates again; needs a token with the scope admin",
        ]
    )

    init(
        configuration: GatewayHTTPConfiguration,
        ledger: any Ledger,
        log: any EventLog,
        metrics: MetricRegistry,
        missing: @escaping @Sendable () -> [String],
        failure: @escaping @Sendable () -> String?,
        alarms: @escaping @Sendable () -> [RaisedAlarm],
        board: @escaping @Sendable () -> Board,
        now: @escaping @Sendable () -> Timestamp,
        access: HTTPAccessHolder,
        reload: @escaping @Sendable () async throws -> ReloadDocument,
        logger: Logger
    ) {
        self.configuration = configuration
        self.ledger = ledger
        self.log = log
        self.metrics = metrics
        self.missing = missing
        self.failure = failure
        self.alarms = alarms
        self.board = board
        self.now = now
        self.access = access
        self.reload = reload
        self.logger = logger
        self.peers = PeerLog(metrics: metrics, logger: logger)
        self.gate = ReaderGate(
            readersMax: configuration.readersMax,
            readersWaitingMax: configuration.readersWaitingMax
        )
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - request: what is asked.
    ///   - readers: where reports and lists are made.
    /// - Returns: what goes to the peer; whatever goes wrong has an answer too.
    func respond(to request: Request, readers: WorkerThreads) async -> Response {
        let id = HTTPRequestID(request.headers[.requestID]).text
        let began = ContinuousClock.now
        let answer: Answer
        do {
            answer = try await self.answer(to: request, readers: readers)
        } catch let problem as Problem {
            answer = .json(
                problem.status,
                ErrorDocument(error: problem.error, sentence: problem.sentence, requestId: id),
                headers: problem.headers
            )
        } catch is ReaderGate.Busy {
            self.metrics.count(.limitsHit, .limit(.httpReadersWaitingMax))
            let sentence = "The limit readersWaitingMax is \(self.configuration.readersWaitingMax) and is reached."
            answer = .json(.serviceUnavailable, ErrorDocument(error: "busy", sentence: sentence, requestId: id))
        } catch {
            // What the ledger or the log says is for the operator's log, not for whoever asks.
            self.peers.log(
                .http,
                .error,
                "a request over HTTP could not be answered",
                ["requestId": "\(id)", "path": "\(request.head.path ?? "/")", "error": "\(error)"]
            )
            answer = .json(
                .serviceUnavailable,
                ErrorDocument(
                    error: "unavailable",
                    sentence: "The ledger cannot answer at present.",
                    requestId: id
                )
            )
        }
        self.peers.log(
            .http,
            .debug,
            "a request over HTTP was answered",
            [
                "requestId": "\(id)", "method": "\(request.method)", "path": "\(request.head.path ?? "/")",
                "status": "\(answer.status.code)", "seconds": "\((ContinuousClock.now - began).inSeconds)",
            ]
        )
        var response = answer.response
        response.headers[.requestID] = id
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(to request: Request, readers: WorkerThreads) async throws -> Answer {
        let target = request.head.path ?? "/"
        guard target.utf8.count <= self.configuration.targetBytesMax else {
            throw Problem(
                .uriTooLong,
                "tooLong",
                "The limit targetBytesMax is \(self.configuration.targetBytesMax) bytes."
            )
        }
        let access = self.access.access
        try self.checkHostAndOrigin(of: request, access)
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        guard let route = Route(path) else {
            throw Problem(.notFound, "notFound", "There is no such path; GET / lists them.")
        }
        guard route.methods.contains(request.method) else {
            let allowed = route.methods.map(\.rawValue)
            throw Problem(
                .methodNotAllowed,
                "methodNotAllowed",
                "Only \(allowed.joined(separator: " and ")) \(allowed.count == 1 ? "is" : "are") allowed.",
                [.allow: allowed.joined(separator: ", ")]
            )
        }
        var principal: HTTPPrincipal?
        if let scope = route.scope(where: access.openReads) {
            principal = try await self.authorize(request, scope, access, readers: readers)
        }
        let query = try Query(parts.count == 2 ? parts[1] : "", allowed: route.parameters)
        switch route {
        case .index: return .json(.ok, Self.index)
        case .health:
            if let failure = self.failure() {
                return .json(.serviceUnavailable, ["status": "failed", "sentence": failure])
            }
            return .json(.ok, ["status": "alive"])
        case .readiness:
            let document = ReadinessDocument(missing: self.missing(), alarms: self.alarms())
            return .json(document.ready ? .ok : .serviceUnavailable, document)
        case .metrics: return .text(self.metrics.exposition(), type: "text/plain; version=0.0.4; charset=utf-8")
        case .reports:
            let query = try query.report(at: self.now())
            return try await self.read(on: readers) { .json(.ok, try await self.report(query)) }
        case .report(let stream, let id):
            let key = try Problem.check { () throws(WireError) in
                BreakKey(stream: try StreamID(stream), id: try BreakID(id))
            }
            let query = ReportQuery(stream: key.stream, breakID: key.id, limit: 1, now: self.now())
            return try await self.read(on: readers) {
                let document = try await self.report(query)
                guard !document.breaks.isEmpty else {
                    throw Problem(
                        .notFound,
                        "notFound",
                        "The ledger has no break \(key.id) of the stream \(key.stream)."
                    )
                }
                return .json(.ok, document)
            }
        case .breaks:
            let query = try query.breaks()
            return try await self.read(on: readers) {
                .json(.ok, BreakListDocument(self.board(), query, at: self.now()))
            }
        case .reload:
            self.peers.log(.http, .notice, "a reload is asked for over HTTP", ["by": "\(principal?.name ?? "")"])
            do {
                return .json(.ok, try await self.reload())
            } catch let faults as ConfigurationFaults {
                throw Problem(
                    .unprocessableContent,
                    "notReloaded",
                    "Everything stays as it was: \(faults.faults.map(\.description).joined(separator: "; "))"
                )
            }
        }
    }

    /// Lets in who may do what it asks for.
    ///
    /// Tokens are checked where reports are made: whoever sends wrong ones without end waits in the same line, and health is answered
    /// meanwhile.
    private func authorize(
        _ request: Request,
        _ scope: TokenScope,
        _ access: HTTPAccess,
        readers: WorkerThreads
    ) async throws -> HTTPPrincipal {
        let (authorization, now) = (request.headers[.authorization], self.now())
        do {
            guard authorization != nil else { throw HTTPRefusal.noToken }
            let principal = try await self.gate.pass {
                try await readers.run { try access.authorize(authorization, scope, at: now) }
            }
            self.metrics.count(.httpAuthorizations, .granted)
            return principal
        } catch let refusal as HTTPRefusal {
            throw self.refused(refusal)
        }
    }

    private func checkHostAndOrigin(of request: Request, _ access: HTTPAccess) throws(Problem) {
        let authority = request.head.authority
        guard access.hosts.contains(authority) else { throw self.refused(.host) }
        if let origin = request.headers[.origin], !HTTPHosts.isSameOrigin(origin, as: authority) {
            throw self.refused(.origin)
        }
    }

    private func refused(_ refusal: HTTPRefusal) -> Problem {
        self.metrics.count(.httpAuthorizations, refusal.label)
        return refusal.problem
    }

    /// Makes an answer that takes some work: on the readers' threads, when it is its turn.
    private func read(
        on readers: WorkerThreads,
        _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        try await self.gate.pass { try await readers.run(body) }
    }

    private func report(_ query: ReportQuery) async throws -> ReportDocument {
        let report = try await self.ledger.report(query)
        // Read after the report, so that what it counts is never ahead of the head beside it.
        var heads: [Lane: UInt64] = [:]
        let lanes = [.breaks] + (0..<Lane.acknowledgementLaneCount).map { Lane.acknowledgements($0) }
        for lane in lanes {
            // The books can be read while the log is away: then its head is not told.
            heads[lane] = try? await self.log.head(of: lane)
        }
        return ReportDocument(report, heads: heads)
    }
}

/// The paths that there are.
private enum Route {
    case index
    case health
    case readiness
    case metrics
    case reports
    case report(stream: String, id: String)
    case breaks
    case reload

    init?(_ path: [String]) {
        switch path {
        case [""]: self = .index
        case ["healthz"]: self = .health
        case ["readyz"]: self = .readiness
        case ["metrics"]: self = .metrics
        case ["v1", "reports"]: self = .reports
        case ["v1", "breaks"]: self = .breaks
        case ["v1", "reload"]: self = .reload
        case let path where path.count == 4 && path.starts(with: ["v1", "reports"]):
            self = .report(stream: path[2], id: path[3])
        default: return nil
        }
    }

    var parameters: Set<String> {
        switch self {
        case .reports: ["stream", "break", "before", "limit"]
        case .breaks: ["stream", "after", "limit"]
        case .index, .health, .readiness, .metrics, .report, .reload: []
        }
    }

    /// What changes something is a POST, and needs a token wherever it comes from.
    var methods: [HTTPRequest.Method] {
        switch self {
        case .index, .health, .readiness, .metrics, .reports, .report, .breaks: [.get, .head]
        case .reload: [.post]
        }
    }

    /// What a token must grant for it; `nil`: nothing, it is open.
    func scope(where open: HTTPOpenReads) -> TokenScope? {
        switch self {
        // What asks for these has no token: it only has to know whether to start the gateway again or to send it nothing.
        case .index, .health, .readiness: nil
        case .metrics: open == .health ? .read : nil
        case .reports, .report, .breaks: open == .all ? nil : .read
        case .reload: .admin
        }
    }
}

/// An answer before it is HTTP.
private struct Answer {
    let status: HTTPResponse.Status
    let bytes: [UInt8]
    let type: String
    /// What the head says besides.
    var headers: HTTPFields = [:]

    static func text(_ text: String, type: String) -> Answer {
        Answer(status: .ok, bytes: Array(text.utf8), type: type)
    }

    static func json(
        _ status: HTTPResponse.Status,
        _ document: some Encodable,
        headers: HTTPFields = [:]
    ) -> Answer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Answer(
                status: status,
                bytes: Array(try encoder.encode(document)),
                type: "application/json",
                headers: headers
            )
        } catch {
            // Only floating-point numbers that JSON does not have can fail, and no document has any.
            preconditionFailure("a document could not be encoded: \(error)")
        }
    }

    var response: Response {
        var headers: HTTPFields = [
            .contentType: self.type,
            .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff",
        ]
        if self.status == .serviceUnavailable { headers[.retryAfter] = "1" }
        headers.append(contentsOf: self.headers)
        return Response(
            status: self.status,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: self.bytes))
        )
    }
}
