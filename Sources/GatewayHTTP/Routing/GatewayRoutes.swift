// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Finds the operation of each request, looks whether it may be, and answers by it; whatever goes wrong has an answer too.
///
/// What holds for every request has a part of its own beside this one: the head (`RequestHeadRules`), the pages that may ask
/// (`RequestOrigins`), and who asks (`RequestRights`).
final class GatewayRoutes: Sendable {
    /// Makes the events that viewers read; `nil`: nothing tells what happens.
    let events: EventFeed?
    /// Keeps what the gateway did, for viewers that come later.
    let history: HistoryRecorder
    private let parts: HTTPParts
    private let table: OperationTable
    private let heads: RequestHeadRules
    private let origins: RequestOrigins
    private let tools: RequestTools
    private let streams: HTTPStreams
    private let readersWaitingMax: Int

    /// - Parameters:
    ///   - configuration: the bounds.
    ///   - parts: the parts that operations use.
    ///   - isEncrypted: whether TLS is spoken.
    ///   - readers: where reports and lists are made.
    ///   - planners: where the ads of breaks are chosen.
    init(
        _ configuration: GatewayHTTPConfiguration,
        _ parts: HTTPParts,
        isEncrypted: Bool,
        readers: WorkerThreads,
        planners: WorkerThreads
    ) {
        let streams = HTTPStreams(configuration, metrics: parts.metrics)
        let metrics = parts.metrics
        // The gateway's, but for those that this server bounds itself, by its descriptors.
        let planning = PlanningDesk(planners, configuration, metrics: metrics)
        let limits: @Sendable () -> [LimitState] = {
            let own = configuration.limits(streams, planning, metrics)
            let names = Set(own.map(\.name))
            return parts.administration.limits().filter { !names.contains($0.name) } + own
        }
        let readers = HTTPReaders(readers, configuration)
        let rights = RequestRights(parts, readers: readers)
        var settings = EventFeed.Settings()
        settings.interval = configuration.eventInterval
        settings.period = configuration.eventPeriod
        self.events = EventFeed(parts, settings: settings, limits: limits)
        self.history = HistoryRecorder(parts)
        self.table = OperationTable(
            parts,
            events: self.events,
            history: self.history,
            planning: planning,
            limits: limits
        )
        self.origins = RequestOrigins(rights, self.table)
        self.heads = RequestHeadRules(configuration, rights, self.origins)
        self.tools = RequestTools(
            isEncrypted: isEncrypted,
            rights: rights,
            readers: readers,
            bodies: RequestBodies(bytesMax: configuration.bodyBytesMax, metrics: metrics)
        )
        self.parts = parts
        self.streams = streams
        self.readersWaitingMax = configuration.readersWaitingMax
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
            try self.heads.check(request)
            response = try await router.respond(to: request, context: context)
        } catch {
            response = self.answer(to: error, request, context).response(on: context.channel, slot: nil)
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
        if let fields = self.origins.fields(of: request) { response.headers.append(contentsOf: fields) }
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// The trace that a request may belong to; `nil`: none.
    private func trace(of request: Request) -> HTTPTrace? {
        guard let traces = self.parts.traces, traces.isOn else { return nil }
        let headers = request.headers[values: .traceParent]
        guard !headers.isEmpty,
            let operation = self.table.operation(request.method, at: request.pathWithoutQuery),
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
                "The limit readersWaitingMax is \(self.readersWaitingMax) and is reached."
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

    /// Answers what has no route: a browser that asks whether a page may ask.
    ///
    /// - Throws: why there is no route: there is no such path, or it does not have this method.
    fileprivate func answer(withoutRoute request: Request) throws(Problem) -> Response {
        if let answer = try self.origins.preflight(request) { return answer }
        try self.origins.check(request)
        let methods = self.table.methods(at: request.pathWithoutQuery).map(\.rawValue)
        guard !methods.isEmpty else { throw Problem.noSuchPath }
        let allowed = methods.joined(separator: ", ")
        throw Problem(
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
            try self.origins.check(request, for: operation)
            return try await self.tools.rights.principal(of: request, for: operation)
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
            self.parts.administration.note(operation.auditRecord(context, by: principal, problem, at: self.parts.now()))
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
            self.tools
        )
        try await Self.checkBody(of: call)
        let answer = try await operation.handle(call)
        // Changes of breaks are kept where they are decided.
        if operation.access == .admin, !operation.isSafe {
            self.parts.administration.note(operation.auditRecord(context, by: principal, nil, at: self.parts.now()))
        }
        guard case .stream(let kind, _) = answer.body, request.method != .head else {
            return answer.response(on: context.channel, slot: nil)
        }
        return answer.response(on: context.channel, slot: try self.streams.take(kind))
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
        try self.routes.answer(withoutRoute: request)
    }
}
