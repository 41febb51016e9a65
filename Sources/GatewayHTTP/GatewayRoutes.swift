// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import TokenFormats

/// Finds the operation of each request, looks whether it may be, and answers by it; whatever goes wrong has an answer too.
///
/// The rules for all requests are here, once: its id, its host and origin, who asks, and how long and how much it may be.
final class GatewayRoutes: Sendable {
    let bodies: RequestBodies
    /// Whether what is asked here comes by TLS.
    let isEncrypted: Bool
    /// Makes the events that viewers read; `nil`: nothing tells what happens.
    let events: EventFeed?
    private let configuration: GatewayHTTPConfiguration
    private let parts: HTTPParts
    private let table: OperationTable
    private let readers: WorkerThreads
    private let gate: ReaderGate
    private let streams: HTTPStreams

    /// - Parameters:
    ///   - configuration: the bounds.
    ///   - parts: the parts of the gateway that operations ask.
    ///   - isEncrypted: whether TLS is spoken.
    ///   - readers: where reports and lists are made.
    init(_ configuration: GatewayHTTPConfiguration, _ parts: HTTPParts, isEncrypted: Bool, readers: WorkerThreads) {
        self.isEncrypted = isEncrypted
        self.configuration = configuration
        self.parts = parts
        let streams = HTTPStreams(configuration, metrics: parts.metrics)
        let metrics = parts.metrics
        let limits: @Sendable () -> [LimitState] = {
            [
                LimitState(.httpAnswerBytesMax, configuration.answerBytesMax, .bytes),
                LimitState(.httpBodyBytesMax, configuration.bodyBytesMax, .bytes),
                LimitState(
                    .httpConnectionsMax,
                    configuration.connectionsMax + configuration.listenersMax,
                    use: metrics.value(.connections, .http)
                ),
                LimitState(.httpEventReadersMax, configuration.eventReadersMax, use: streams.count(.viewers)),
                LimitState(.httpEventTicketsMax, EventTickets.ticketsMax),
                LimitState(.httpReadersWaitingMax, configuration.readersWaitingMax),
                LimitState(.httpStreamsMax, configuration.streamsMax, use: streams.count(.operators)),
                LimitState(.reportRowsMax, ReportQuery.reportRowsMax),
                LimitState(.trackingsRememberedMax, TrackingMemory.trackingsRememberedMax),
            ]
        }
        var settings = EventFeed.Settings()
        settings.interval = configuration.eventInterval
        settings.period = configuration.eventPeriod
        self.events = EventFeed(parts, settings: settings) { parts.limits() + limits() }
        self.table = OperationTable(parts, events: self.events, limits: limits)
        self.readers = readers
        self.gate = ReaderGate(
            readersMax: configuration.readersMax,
            readersWaitingMax: configuration.readersWaitingMax
        )
        self.streams = streams
        self.bodies = RequestBodies(bytesMax: configuration.bodyBytesMax, metrics: parts.metrics)
    }

    /// The responder: a route for each operation, and the problems around them.
    func responder() -> some HTTPResponder<OperationContext> {
        let router = Router(context: OperationContext.self)
        for operation in self.table.operations {
            let path = RouterPath(operation.path)
            for method in operation.method == .get ? [.get, .head] : [operation.method] {
                router.on(
                    path,
                    method: method,
                    responder: CallbackResponder { request, context in
                        try await self.answer(operation, request, context)
                    }
                )
            }
        }
        // Last: what is added now stands before no route, and answers what has none.
        router.add(middleware: NoRoute(routes: self))
        let responder = router.buildResponder()
        return CallbackResponder { request, context in await self.respond(to: request, context, by: responder) }
    }

    private func respond(
        to request: Request,
        _ context: OperationContext,
        by router: RouterResponder<OperationContext>
    ) async -> Response {
        var context = context
        context.requestID = HTTPRequestID(request.headers[.requestID]).text
        context.trace = self.trace(of: request)
        let began = ContinuousClock.now
        var response: Response
        do {
            try self.checkTarget(of: request)
            response = try await router.respond(to: request, context: context)
        } catch {
            response = self.response(of: self.answer(to: error, request, context), request, context, slot: nil)
        }
        // Looked up only where the line is written.
        var told: (path: String, query: String) { self.table.told(of: request.head.path ?? "/") }
        self.parts.peers.log(
            .http,
            .debug,
            "a request over HTTP was answered",
            context.told([
                "requestId": "\(context.requestID)", "method": "\(request.method)",
                "path": "\(told.path)", "query": "\(told.query)", "status": "\(response.status.code)",
                "seconds": "\((ContinuousClock.now - began).inSeconds)",
            ])
        )
        response.headers[.requestID] = context.requestID
        if let trace = context.trace?.begun {
            response.headers[.traceResponse] = trace.context.header
            let (status, requestID) = (response.status, context.requestID)
            self.parts.traces?
                .keep([context.trace?.span(status, requestID: requestID, to: self.parts.now())].compactMap(\.self))
        }
        if let fields = self.listenerOriginFields(of: request) { response.headers.append(contentsOf: fields) }
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// The trace that a request may belong to; `nil`: none.
    private func trace(of request: Request) -> HTTPTrace? {
        guard let traces = self.parts.traces, traces.isOn else { return nil }
        let headers = request.headers[values: .traceParent]
        guard !headers.isEmpty,
            let operation = self.table.operation(request.method, at: Self.path(of: request)),
            let side = operation.tracedSide
        else { return nil }
        return HTTPTrace(headers, from: side, operation, at: self.parts.now())
    }

    /// The answer to a request that failed.
    private func answer(to error: any Error, _ request: Request, _ context: OperationContext) -> HTTPAnswer {
        let problem: Problem
        switch error {
        case let error as Problem: problem = error
        case is ReaderGate.Busy:
            self.parts.metrics.count(.limitsHit, .limit(.httpReadersWaitingMax))
            problem = Problem(
                .reason(.limitReached),
                "The limit readersWaitingMax is \(self.configuration.readersWaitingMax) and is reached."
            )
        default:
            // The ledger's or the log's own error is for the operator's log, not for the caller.
            self.parts.peers.log(
                .http,
                .error,
                "a request over HTTP could not be answered",
                context.told([
                    "requestId": "\(context.requestID)", "error": "\(error)",
                    "path": "\(self.table.told(of: request.head.path ?? "/").path)",
                ])
            )
            let part =
                switch error {
                case is LedgerError: "The ledger"
                case is EventLogError: "The event log"
                default: "The gateway"
                }
            problem = Problem(
                .reason(.unavailable),
                "\(part) failed to answer. The gateway's log has the reason under the request's id, \(context.requestID)."
            )
        }
        return .problem(problem, requestID: context.requestID)
    }

    /// The path without the query, which may contain secrets.
    private static func path(of request: Request) -> Substring {
        (request.head.path ?? "/").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)[0]
    }

    private func checkTarget(of request: Request) throws(Problem) {
        let target = request.head.path ?? "/"
        guard target.utf8.count <= self.configuration.targetBytesMax else {
            throw Problem(
                .targetTooLong,
                "The limit targetBytesMax is \(self.configuration.targetBytesMax) bytes."
            )
        }
        // A head of HTTP/2 has come in full where its bytes fit, however many fields they are.
        // A client may split `Cookie`; it is one field (RFC 9113 section 8.2.3).
        let furtherCookies = max(0, request.headers[values: .cookie].count - 1)
        guard request.headers.count - furtherCookies <= self.configuration.headerFieldsMax else {
            throw Problem(
                .reason(.tooLarge),
                "The limit headerFieldsMax is \(self.configuration.headerFieldsMax) header fields.",
                status: .requestHeaderFieldsTooLarge
            )
        }
        // Other encodings would not be decoded (RFC 9112 section 6.1).
        let codings = request.headers[values: .transferEncoding]
        guard codings.allSatisfy({ $0.lowercased() == "chunked" }), codings.count <= 1 else {
            throw Problem(
                .reason(.unsupported),
                "Of all transfer codings only chunked is known, once.",
                status: .notImplemented
            )
        }
        // A proxy may have looked at another one (RFC 9112 section 3.2). Over HTTP/2 a host may stand in either place, or the same
        // in both (RFC 9113 section 8.3.1).
        let further = request.headers[values: .furtherHost]
        let host = request.head.authority ?? further.first
        guard further.allSatisfy({ $0 == host }) else {
            throw Problem.badRequest("The request names more than one host.")
        }
        guard self.parts.access.access.hosts.contains(host) else { throw self.refused(.host) }
        // The router would pass over empty parts: one thing has one path.
        let path = Self.path(of: request)
        if path != "/", !path.hasPrefix("/") || path.hasSuffix("/") || path.contains("//") {
            try self.checkOrigin(of: request)
            throw Self.noSuchPath
        }
    }

    private static let noSuchPath = Problem.notFound("There is no such path; GET /v1 lists them.")

    /// Why there is no route: there is no such path, or it does not have this method.
    fileprivate func problem(withoutRoute request: Request) throws(Problem) -> Problem {
        try self.checkOrigin(of: request)
        let methods = self.table.methods(at: Self.path(of: request)).map(\.rawValue)
        guard !methods.isEmpty else { return Self.noSuchPath }
        let allowed = methods.joined(separator: ", ")
        return Problem(
            .methodNotAllowed,
            methods.count == 1 ? "Only \(allowed) is allowed." : "Allowed are \(allowed).",
            [.allow: allowed]
        )
    }

    private func answer(
        _ operation: Operation,
        _ request: Request,
        _ context: OperationContext
    ) async throws -> Response {
        let principal = try await self.audited(operation, context, by: nil) {
            if operation.access == .listener {
                try self.checkListenerOrigin(of: request)
            } else {
                try self.checkOrigin(of: request)
            }
            return try await self.principal(of: request, for: operation)
        }
        return try await self.audited(operation, context, by: principal) {
            try await self.answer(operation, request, context, by: principal)
        }
    }

    /// Puts into the audit what is asked to change something and is refused before the rules for every entrance are asked.
    private func audited<Value>(
        _ operation: Operation,
        _ context: OperationContext,
        by principal: HTTPPrincipal?,
        _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let problem as Problem where operation.changes && !problem.isDecided {
            self.parts.note(operation.auditRecord(context, by: principal, problem, at: self.parts.now()))
            throw problem
        }
    }

    private func answer(
        _ operation: Operation,
        _ request: Request,
        _ context: OperationContext,
        by principal: HTTPPrincipal?
    ) async throws -> Response {
        if let traces = self.parts.traces { context.trace?.begin(by: traces) }
        let target = (request.head.path ?? "/").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = try OperationQuery(
            target.count == 2 ? target[1] : "",
            parameters: operation.queryParameters,
            takesOthers: operation.takesOtherParameters
        )
        let call = try OperationCall(
            operation,
            request,
            context,
            principal: principal,
            query: query,
            at: self.parts.now(),
            of: self
        )
        try await Self.checkBody(of: call)
        let answer = try await operation.handle(call)
        // Changes of breaks are kept where they are decided.
        if operation.access == .admin, !operation.isSafe {
            self.parts.note(operation.auditRecord(context, by: principal, nil, at: self.parts.now()))
        }
        guard case .stream(let kind, _) = answer.body, request.method != .head else {
            return self.response(of: answer, request, context, slot: nil)
        }
        return self.response(of: answer, request, context, slot: try self.streams.take(kind))
    }

    /// A body is of a type that the operation takes, and is written as it is; where it takes none there is none.
    private static func checkBody(of call: OperationCall) async throws {
        guard let body = call.operation.body else {
            // Players send what they like to an address that they are given.
            if !call.operation.isSafe, !call.operation.takesOtherParameters { try await call.requireNoBody() }
            return
        }
        guard call.hasBody else { return }
        let types = body.types
        guard types.contains(call.contentType) else {
            throw Problem(.mediaTypeNotTaken, "The body must be \(types.joined(separator: " or ")).")
        }
        guard ["", "identity"].contains(call.request.headers[.contentEncoding] ?? "") else {
            throw Problem(.mediaTypeNotTaken, "The body must not be compressed.")
        }
    }

    // MARK: Who asks

    private func principal(of request: Request, for operation: Operation) async throws -> HTTPPrincipal? {
        let open = self.parts.access.access.openReads
        switch operation.access {
        case .open, .listener, .ticket: return nil
        case .metrics: return open == .health ? try await self.authorize(request, .read) : nil
        case .read: return open == .all ? nil : try await self.authorize(request, .read)
        case .publish: return try await self.authorize(request, nil)
        case .admin: return try await self.authorize(request, .admin)
        }
    }

    /// Authorizes a request.
    ///
    /// Tokens are checked on the threads that make reports: a client that sends invalid tokens without end waits in their queue,
    /// and health is answered meanwhile.
    ///
    /// - Parameters:
    ///   - request: the request with the token.
    ///   - scope: the scope that the token must grant; `nil`: any valid token.
    /// - Returns: the principal.
    /// - Throws: the refusal as a problem, and where too many wait.
    func authorize(_ request: Request, _ scope: TokenScope?) async throws -> HTTPPrincipal {
        let (authorization, now) = (request.headers[.authorization], self.parts.now())
        let access = self.parts.access.access
        do {
            guard authorization != nil else { throw HTTPRefusal.noToken }
            let principal = try await self.onReaders { try access.authorize(authorization, scope, at: now) }
            self.granted()
            return principal
        } catch let refusal as HTTPRefusal {
            throw self.refused(refusal)
        }
    }

    private func checkOrigin(of request: Request) throws(Problem) {
        guard let origin = request.headers[.origin] else { return }
        guard HTTPHosts.isSameOrigin(origin, as: request.head.authority) else { throw self.refused(.origin) }
    }

    // MARK: Pages of other origins

    /// Listeners' operations are open to pages of the origins that are listed.
    private func checkListenerOrigin(of request: Request) throws(Problem) {
        guard let origin = request.headers[.origin] else { return }
        guard self.parts.access.access.listenerOrigins.headers(for: origin) != nil else {
            return try self.checkOrigin(of: request)
        }
    }

    /// The header fields about origins of an answer to a listener's operation, also of a problem; `nil`: it is no listener's
    /// operation.
    private func listenerOriginFields(of request: Request) -> HTTPFields? {
        guard !self.table.listenerMethods(at: Self.path(of: request)).isEmpty else { return nil }
        // Caches keep answers to pages of different origins apart (Fetch standard, "CORS protocol and HTTP caches").
        var fields: HTTPFields = [.vary: "Origin"]
        if let origin = request.headers[.origin],
            let allowed = self.parts.access.access.listenerOrigins.headers(for: origin)
        {
            fields.append(contentsOf: allowed)
        }
        return fields
    }

    /// The answer to a browser that asks whether a page may ask (Fetch standard, "CORS-preflight request"); `nil`: it may not.
    fileprivate func preflight(_ request: Request) throws(Problem) -> Response? {
        guard request.method == .options, request.headers[.origin] != nil else { return nil }
        let methods = self.table.listenerMethods(at: Self.path(of: request))
        guard !methods.isEmpty else { return nil }
        try self.checkListenerOrigin(of: request)
        return Response(status: .noContent, headers: ListenerOrigins.preflight(methods))
    }

    /// Lets in who may read.
    func requireRead(_ request: Request) async throws {
        guard self.parts.access.access.openReads != .all else { return }
        _ = try await self.authorize(request, .read)
    }

    /// Whether the header of an earlier request still grants reading; counts nothing.
    func mayStillRead(by authorization: String?) async -> Bool {
        let (access, now) = (self.parts.access.access, self.parts.now())
        guard access.openReads != .all else { return true }
        let principal = try? await self.onReadersForPiece { try access.authorize(authorization, .read, at: now) }
        return principal != nil
    }

    /// Counts a granted authorization.
    func granted() { self.parts.metrics.count(.httpAuthorizations, .granted) }

    /// Counts a refused authorization.
    func refused(_ refusal: HTTPRefusal) -> Problem {
        self.parts.metrics.count(.httpAuthorizations, refusal.label)
        return refusal.problem
    }

    /// Does what takes some work: on the readers' threads, when it is its turn.
    func onReaders<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await self.gate.pass { try await self.readers.run(body) }
    }

    /// The same for an answer that goes on, which has its turn already.
    func onReadersForPiece<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await self.readers.run(body)
    }

    // MARK: Answers

    private func response(
        of answer: HTTPAnswer,
        _ request: Request,
        _ context: OperationContext,
        slot: HTTPStreams.Slot?
    ) -> Response {
        var headers: HTTPFields = [.cacheControl: "no-store", .xContentTypeOptions: "nosniff"]
        if !answer.type.isEmpty { headers[.contentType] = answer.type }
        if answer.status == .serviceUnavailable { headers[.retryAfter] = "1" }
        // An operation's own fields have precedence.
        for field in answer.headers { headers[field.name] = nil }
        headers.append(contentsOf: answer.headers)
        switch answer.body {
        case .bytes(let bytes):
            return Response(
                status: answer.status,
                headers: headers,
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
            )
        case .stream(_, let body):
            // An answer to HEAD has none.
            guard let slot else { return Response(status: answer.status, headers: headers) }
            let channel = context.channel
            return Response(
                status: answer.status,
                headers: headers,
                body: ResponseBody { writer in
                    let pieces = HTTPStreamWriter(writer)
                    await Self.run(body, on: channel, pieces)
                    withExtendedLifetime(slot) {}
                    try await pieces.finish()
                }
            )
        }
    }

    /// Makes an answer that goes on, until it ends, its peer is gone, or the server shuts down.
    private static func run(
        _ body: @escaping @Sendable (HTTPStreamWriter) async throws -> Void,
        on channel: any Channel,
        _ pieces: HTTPStreamWriter
    ) async {
        let (end, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        channel.triggerUserOutboundEvent(ExchangeGuard.Event.streamBegan, promise: nil)
        channel.closeFuture.whenComplete { _ in sink.finish() }
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                // An early end of the body shows in the end of the answer; there is no other report.
                group.addTask { try? await body(pieces) }
                group.addTask { for await _ in end {} }
                await group.next()
                group.cancelAll()
            }
        } onGracefulShutdown: {
            sink.finish()
        }
    }
}

extension OperationContext {
    /// The fields of a log line about the request: with its trace, if it is traced.
    fileprivate func told(_ fields: Logger.Metadata) -> Logger.Metadata {
        guard let trace = self.trace?.begun else { return fields }
        return fields.merging(trace.logFields) { _, new in new }
    }
}

/// Answers what has no route.
private struct NoRoute: RouterMiddleware {
    typealias Context = OperationContext

    let routes: GatewayRoutes

    @concurrent func handle(
        _ request: Request,
        context: OperationContext,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        if let answer = try self.routes.preflight(request) { return answer }
        throw try self.routes.problem(withoutRoute: request)
    }
}
