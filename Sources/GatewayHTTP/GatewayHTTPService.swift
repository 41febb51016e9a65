// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import HTTPTypes
import Hummingbird
package import Logging
import NIOCore
package import ServiceLifecycle

/// Reports, metrics and health over HTTP/1.1. Nothing here changes state.
package struct GatewayHTTPService: Service {
    /// The most connections at once; further ones wait in the system's queue.
    package static let connectionsMax = 256
    /// How long a connection may be silent.
    package static let idleTimeout: Duration = .seconds(60)
    /// The longest path with its query, in bytes.
    package static let targetBytesMax = 4_096

    /// What the routes tell of.
    package struct Facts: Sendable {
        /// What does not work; empty: the gateway is ready.
        package var missing: @Sendable () -> [String]
        package var board: @Sendable () -> Board
        package var now: @Sendable () -> Timestamp
        package var ledger: any Ledger
        package var log: any EventLog
        package var metrics: MetricRegistry
        package var version: String

        package init(
            missing: @escaping @Sendable () -> [String], board: @escaping @Sendable () -> Board,
            now: @escaping @Sendable () -> Timestamp, ledger: any Ledger, log: any EventLog, metrics: MetricRegistry,
            version: String
        ) {
            self.missing = missing
            self.board = board
            self.now = now
            self.ledger = ledger
            self.log = log
            self.metrics = metrics
            self.version = version
        }
    }

    private let host: String
    private let port: Int
    private let facts: Facts
    private let onRunning: @Sendable (Int) async -> Void
    private let logger: Logger

    /// - Parameters:
    ///   - host: the address to bind to.
    ///   - port: 0: the system chooses.
    ///   - facts: what the routes tell of.
    ///   - onRunning: is told the port once requests are taken.
    ///   - logger: for people.
    package init(
        host: String, port: Int, facts: Facts, onRunning: @escaping @Sendable (Int) async -> Void = { _ in },
        logger: Logger
    ) {
        self.host = host
        self.port = port
        self.facts = facts
        self.onRunning = onRunning
        self.logger = logger
    }

    package func run() async throws {
        let router = Router()
        router.add(middleware: Guard())
        Routes(facts: self.facts).add(to: router)
        var logger = self.logger
        // One line a request would drown what matters.
        logger.logLevel = max(logger.logLevel, .notice)
        let application = Application(
            router: router,
            server: .http1(
                configuration: HTTP1Channel.Configuration(
                    idleTimeout: .seconds(Int64(Self.idleTimeout.inSeconds)))),
            configuration: ApplicationConfiguration(
                address: .hostname(self.host, port: self.port), serverName: "cuecast",
                availableConnectionsDelegate: .maximum(Self.connectionsMax, logger: logger)),
            onServerRunning: { channel in await self.onRunning(channel.localAddress?.port ?? self.port) },
            logger: logger
        )
        try await application.run()
    }
}

/// Answers what no route should see, and turns every error into a status and a sentence.
private struct Guard: RouterMiddleware {
    func handle(
        _ request: Request, context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        guard request.uri.description.utf8.count <= GatewayHTTPService.targetBytesMax else {
            return Fault(.uriTooLong, "The limit targetBytesMax is \(GatewayHTTPService.targetBytesMax).").response
        }
        guard request.method == .get || request.method == .head else {
            var response = Fault(.methodNotAllowed, "Nothing here changes state: only GET and HEAD are answered.")
                .response
            response.headers[.allow] = "GET, HEAD"
            return response
        }
        do {
            return try await next(request, context)
        } catch let fault as Fault {
            return fault.response
        } catch let error as LedgerError {
            return Fault(.serviceUnavailable, "\(error)").response
        } catch let error as any HTTPResponseError where error.status == .notFound {
            return Fault(.notFound, "There is nothing at \(request.uri.path); ask for / to see what there is.").response
        } catch let error as WireError {
            return Fault(.badRequest, "\(error)").response
        }
    }
}

/// Why a request is not answered, as JSON.
struct Fault: Error {
    let status: HTTPResponse.Status
    let sentence: String

    init(_ status: HTTPResponse.Status, _ sentence: String) {
        self.status = status
        self.sentence = sentence
    }

    private struct Document: Encodable {
        let error: String
        let sentence: String
    }

    var response: Response {
        JSONAnswer.response(
            Document(error: self.status.reasonPhrase, sentence: self.sentence), status: self.status)
    }
}
