// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Foundation
import Gateway
package import GatewayCore
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Answers operators over HTTP/1.1: health, readiness, metrics, reports and breaks; with a certificate by TLS only.
///
/// What changes something needs a token, from loopback too; what may be read without one, the configuration says.
///
/// One thread moves bytes and answers what needs no work, health first of all; few others, which stand back, make reports
/// and lists. Nothing of it runs on the threads that everybody shares.
///
/// ```swift
/// let http = GatewayHTTPService(
///     configuration: GatewayHTTPConfiguration(), ledger: ledger, log: log, metrics: gateway.metrics,
///     missing: { gateway.readiness.missing.map(\.rawValue) }, alarms: { gateway.readiness.alarms }, board: { gateway.board.board },
///     now: { clock.now() }, access: access, reload: { try await reloader.reload() }, logger: logger)
/// ```
package struct GatewayHTTPService: Service {
    private let configuration: GatewayHTTPConfiguration
    private let routes: GatewayRoutes
    private let identity: HTTPIdentityHolder?
    private let metrics: MetricRegistry
    private let bound: @Sendable (String) async -> Void
    private let logger: Logger

    /// A server; it binds when it runs.
    ///
    /// - Parameters:
    ///   - configuration: where to listen, and the bounds.
    ///   - ledger: answers the reports.
    ///   - log: tells how far the ledger is behind.
    ///   - metrics: what `/metrics` shows.
    ///   - missing: the parts of the gateway that do not work at present; empty when it is ready.
    ///   - failure: what failed so that the process is about to end; `nil`: nothing.
    ///   - alarms: what an operator should look at although it is ready.
    ///   - board: the newest board.
    ///   - now: the gateway's clock.
    ///   - access: who may ask for what.
    ///   - identity: the certificate with which TLS is spoken, and nothing else; `nil`: HTTP is plain.
    ///   - reload: reads configuration, keys and certificates again; throws `ConfigurationFaults` where everything stays as it was.
    ///   - logger: for people.
    ///   - bound: is told where the server listens once it does: HOST:PORT, or https://HOST:PORT.
    package init(
        configuration: GatewayHTTPConfiguration,
        ledger: any Ledger,
        log: any EventLog,
        metrics: MetricRegistry,
        missing: @escaping @Sendable () -> [String],
        failure: @escaping @Sendable () -> String? = { nil },
        alarms: @escaping @Sendable () -> [RaisedAlarm] = { [] },
        board: @escaping @Sendable () -> Board,
        now: @escaping @Sendable () -> Timestamp,
        access: HTTPAccessHolder,
        identity: HTTPIdentityHolder? = nil,
        reload: @escaping @Sendable () async throws -> ReloadDocument,
        logger: Logger,
        bound: @escaping @Sendable (String) async -> Void = { _ in }
    ) {
        precondition(
            configuration.connectionsMax > configuration.readersMax + configuration.readersWaitingMax,
            "all connections could wait for readers, and none would be left for health"
        )
        self.configuration = configuration
        self.identity = identity
        self.metrics = metrics
        self.routes = GatewayRoutes(
            configuration: configuration,
            ledger: ledger,
            log: log,
            metrics: metrics,
            missing: missing,
            failure: failure,
            alarms: alarms,
            board: board,
            now: now,
            access: access,
            reload: reload,
            logger: logger
        )
        self.bound = bound
        self.logger = logger
    }

    /// Listens until the graceful shutdown, which lets requests that are under way end.
    ///
    /// - Throws: `GatewayHTTPError` when the address cannot be used.
    package func run() async throws {
        let readers = try WorkerThreads(
            name: "cuecast-reader",
            count: self.configuration.readersMax,
            niceness: Self.readerNiceness
        )
        defer { readers.stop() }
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await withTaskExecutorPreference(EventLoopExecutor(loops.next())) {
                    try await self.serve(on: loops, readers: readers)
                }
            )
        } catch {
            result = .failure(error)
        }
        // It fails only when it was done before.
        try? await loops.shutdownGracefully()
        try result.get()
    }

    /// How much readers stand back behind the gateway's other threads (`man 2 nice`).
    private static let readerNiceness: Int32 = 10

    private func serve(on loops: any EventLoopGroup, readers: WorkerThreads) async throws {
        let configuration = self.configuration
        let routes = self.routes
        let (bound, scheme) = (self.bound, self.identity == nil ? "" : "https://")
        var serverLogger = self.logger
        // Its lines for developers show all that a service is made of.
        serverLogger.logLevel = max(.info, serverLogger.logLevel)
        let connections = Connections(
            connectionsMax: configuration.connectionsMax,
            answerBytesMax: configuration.answerBytesMax,
            metrics: self.metrics
        )
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in
                await routes.respond(to: request, readers: readers)
            },
            server: self.server(connections),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                availableConnectionsDelegate: AcceptedConnections(connections: connections)
            ),
            onServerRunning: { channel in
                var actual = configuration
                actual.port = channel.localAddress?.port ?? configuration.port
                await bound(scheme + actual.address)
            },
            eventLoopGroupProvider: .shared(loops),
            logger: serverLogger
        )
        do {
            try await application.run()
        } catch let error as IOError {
            throw GatewayHTTPError(error, address: configuration.address)
        } catch let error as SocketAddressError {
            throw GatewayHTTPError.cannotBind(configuration.address, reason: "\(error)")
        }
    }

    /// What is spoken on a connection.
    private func server(_ connections: Connections) -> HTTPServerBuilder {
        let configuration = self.configuration
        let http = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                ExchangeGuard(
                    idleTimeout: configuration.idleTimeout,
                    exchangeTimeout: configuration.exchangeTimeout,
                    connections: connections
                )
            ],
            httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                maxHeaderFieldSize: configuration.headerBytesMax,
                maxHeaderListSize: configuration.headerBytesMax,
                maxHeaderFieldCount: configuration.headerFieldsMax
            )
        )
        guard let identity = self.identity else { return .http1(configuration: http) }
        let metrics = self.metrics
        return HTTPServerBuilder { responder in
            EncryptedHTTPChannel(
                inner: HTTP1Channel(responder: responder, configuration: http),
                identity: identity,
                metrics: metrics
            )
        }
    }
}

/// Runs tasks on the thread of an event loop.
private final class EventLoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.loop.execute { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

extension GatewayHTTPError {
    fileprivate init(_ error: IOError, address: String) {
        self =
            error.errnoCode == EADDRINUSE
            ? .addressInUse(address) : .cannotBind(address, reason: "\(error.localizedDescription)")
    }
}
