// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Gateway
import GatewayCore
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import SystemSupport

/// Answers over HTTP/1.1 by the operations of `OperationTable`; with a certificate by TLS only, and there over HTTP/2, too.
///
/// Changes need a token, from loopback too; the configuration says which reads need none.
///
/// One thread moves bytes and answers what needs no work, health first of all; few others, of lower priority, make reports
/// and lists. Nothing of it runs on the threads that all tasks share.
///
/// ```swift
/// let http = GatewayHTTPService(configuration: GatewayHTTPConfiguration(), parts: parts)
/// ```
package struct GatewayHTTPService: Service {
    private var configuration: GatewayHTTPConfiguration
    private let parts: HTTPParts
    private let identity: HTTPIdentityHolder?
    private let bound: @Sendable (String) async -> Void

    /// A server; it binds when it runs.
    ///
    /// - Parameters:
    ///   - configuration: where to listen, and the bounds.
    ///   - parts: the parts of the gateway that operations ask.
    ///   - identity: the certificate with which TLS is spoken, and nothing else; `nil`: HTTP is plain.
    ///   - bound: is told where the server listens once it does: HOST:PORT, or https://HOST:PORT.
    package init(
        configuration: GatewayHTTPConfiguration,
        parts: HTTPParts,
        identity: HTTPIdentityHolder? = nil,
        bound: @escaping @Sendable (String) async -> Void = { _ in }
    ) {
        precondition(
            configuration.connectionsMax > configuration.readersMax + configuration.readersWaitingMax,
            "all connections could wait for readers, and none would be left for health"
        )
        self.configuration = configuration
        self.configuration.streamsMax = min(configuration.streamsMax, max(1, configuration.connectionsMax / 4))
        self.configuration.eventReadersMax = min(
            configuration.eventReadersMax,
            max(1, configuration.connectionsMax / 8)
        )
        self.parts = parts
        self.identity = identity
        self.bound = bound
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
        let planners = try WorkerThreads(name: "cuecast-planner", count: 1, niceness: Self.readerNiceness)
        defer { planners.stop() }
        let loops = ServerLoops.take()
        defer { ServerLoops.giveBack(loops) }
        try await withTaskExecutorPreference(EventLoopExecutor(loops.next())) {
            try await self.serve(on: loops, readers: readers, planners: planners)
        }
    }

    /// How much lower the priority of readers and planners is than that of the gateway's other threads (`man 2 nice`).
    private static let readerNiceness: Int32 = 10

    private func serve(
        on loops: any EventLoopGroup,
        readers: WorkerThreads,
        planners: WorkerThreads
    ) async throws {
        let configuration = self.configuration
        let routes = GatewayRoutes(
            configuration,
            self.parts,
            isEncrypted: self.identity != nil,
            readers: readers,
            planners: planners
        )
        let (bound, scheme) = (self.bound, self.identity == nil ? "" : "https://")
        var serverLogger = self.parts.logger
        // Its lines for developers show all that a service is made of.
        serverLogger.logLevel = max(.info, serverLogger.logLevel)
        let connections = Connections(
            // Listeners stay for long, or come all at once: as many others as before find room beside them.
            connectionsMax: configuration.connectionsMax + configuration.listenersMax,
            answerBytesMax: configuration.answerBytesMax,
            metrics: self.parts.metrics
        )
        let application = Application(
            responder: routes.responder(),
            server: self.server(connections),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                availableConnectionsDelegate: AcceptedConnections(connections: connections)
            ),
            onServerRunning: { channel in
                // Each connection has from here what the kernel keeps for it; a system without this option keeps what it wants.
                let unsent = ChannelOptions.Types.SocketOption(
                    level: .tcp,
                    name: .init(rawValue: System.unsentBytesOption)
                )
                try? await channel.setOption(unsent, value: SocketOptionValue(System.unsentBytesMax)).get()
                var actual = configuration
                actual.port = channel.localAddress?.port ?? configuration.port
                await bound(scheme + actual.address)
            },
            eventLoopGroupProvider: .shared(loops),
            logger: serverLogger
        )
        do {
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { if let events = routes.events { await events.run() } }
                tasks.addTask { await routes.history.run() }
                defer { tasks.cancelAll() }
                try await application.run()
            }
        } catch let error as IOError {
            throw GatewayHTTPError(error, address: configuration.address)
        } catch let error as SocketAddressError {
            throw GatewayHTTPError.cannotBind(configuration.address, reason: "\(error)")
        }
    }

    /// The protocol of a connection.
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
        guard let identity = self.identity else {
            return HTTPServerBuilder { FirstHTTPChannel(responder: $0, configuration: http, isPlain: true) }
        }
        let metrics = self.parts.metrics
        return HTTPServerBuilder { responder in
            EncryptedHTTPChannel(
                inner: NegotiatedHTTPChannel(
                    responder: responder,
                    configuration: configuration,
                    http1: http,
                    connections: connections
                ),
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
