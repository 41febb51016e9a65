// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Foundation
package import GatewayCore
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import ServiceLifecycle

/// Answers operators over HTTP/1.1: health, readiness, metrics, reports and breaks.
///
/// Nothing here changes anything: only GET and HEAD are answered.
///
/// ```swift
/// let http = GatewayHTTPService(
///     configuration: GatewayHTTPConfiguration(), ledger: ledger, log: log, metrics: gateway.metrics,
///     missing: { gateway.readiness.missing.map(\.rawValue) }, alarms: { gateway.readiness.alarms }, board: { gateway.board.board },
///     now: { clock.now() }, logger: logger)
/// ```
package struct GatewayHTTPService: Service {
    private let configuration: GatewayHTTPConfiguration
    private let routes: GatewayRoutes
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
    ///   - logger: for people.
    ///   - bound: is told where the server listens, as HOST:PORT, once it does.
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
        logger: Logger,
        bound: @escaping @Sendable (String) async -> Void = { _ in }
    ) {
        self.configuration = configuration
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
            logger: logger
        )
        self.bound = bound
        self.logger = logger
    }

    /// Listens until the graceful shutdown, which lets requests that are under way end.
    ///
    /// - Throws: `GatewayHTTPError` when the address cannot be used.
    package func run() async throws {
        let configuration = self.configuration
        let routes = self.routes
        let bound = self.bound
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in await routes.respond(to: request) },
            server: .http1(
                configuration: HTTP1Channel.Configuration(
                    additionalChannelHandlers: [ExchangeGuard(timeout: configuration.exchangeTimeout)],
                    idleTimeout: TimeAmount(configuration.idleTimeout),
                    httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                        maxHeaderFieldSize: configuration.headerBytesMax,
                        maxHeaderListSize: configuration.headerBytesMax,
                        maxHeaderFieldCount: configuration.headerFieldsMax
                    )
                )
            ),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                availableConnectionsDelegate: .maximum(configuration.connectionsMax, logger: self.logger)
            ),
            onServerRunning: { channel in
                var actual = configuration
                actual.port = channel.localAddress?.port ?? configuration.port
                await bound(actual.address)
            },
            logger: self.logger
        )
        do {
            try await application.run()
        } catch let error as IOError {
            throw GatewayHTTPError(error, address: configuration.address)
        } catch let error as SocketAddressError {
            throw GatewayHTTPError.cannotBind(configuration.address, reason: "\(error)")
        }
    }
}

extension GatewayHTTPError {
    fileprivate init(_ error: IOError, address: String) {
        self =
            error.errnoCode == EADDRINUSE
            ? .addressInUse(address) : .cannotBind(address, reason: "\(error.localizedDescription)")
    }
}
