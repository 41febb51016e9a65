// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import Gateway
package import GatewayCore
import ServiceLifecycle
import TestSupport
package import ZeroMQ

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension GatewayConfiguration {
    /// How many threads serve listeners in tests that do not say; `CUECAST_TEST_EDGE_THREADS` sets it.
    private static let testEdgeThreads =
        ProcessInfo.processInfo.environment["CUECAST_TEST_EDGE_THREADS"].flatMap { Int($0) } ?? 1

    /// The base configuration of tests: ports that the system chooses, no HTTP, timers that follow a clock set by hand.
    ///
    /// No peer is cut off, given up or reported because a busy machine took its time: a test that is about one of these times
    /// sets it.
    package static var forTests: GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.notices = "tcp://127.0.0.1:*"
        configuration.requests = "tcp://127.0.0.1:*"
        configuration.broadcast = "tcp://127.0.0.1:*"
        configuration.http = nil
        configuration.timerRecheck = .milliseconds(10)
        configuration.ioThreads = 1
        configuration.handshakeTimeout = waitMax
        configuration.unusedTimeout = waitMax
        configuration.stalledTimeout = waitMax
        configuration.drainTimeout = waitMax
        configuration.logSilenceMax = waitMax
        configuration.behindWaitMax = waitMax
        configuration.gatewayGoneAfter = waitMax
        configuration.tracing.endTimeout = waitMax
        // Tests have one token after another refused, and shall not wait for it.
        configuration.limits[.refusedTokensPerConnectionPerSecondMax] = 0
        configuration.edgeThreads = Self.testEdgeThreads
        return configuration
    }
}

/// A gateway that runs, with real sockets, and its peers.
package struct RunningGateway: Sendable {
    package let gateway: Gateway
    package let ledger: any Ledger
    package let logs: LogCapture
    /// For peers that are to talk to it.
    package let network: PeerNetwork
    let group: ServiceGroup

    package var endpoints: Gateway.Endpoints { self.gateway.endpoints }
    package var metrics: MetricRegistry { self.gateway.metrics }
    package var board: Board { self.gateway.board.board }

    /// Asks it to stop, as SIGTERM would; returns at once.
    package func beginShutdown() async {
        await self.group.triggerGracefulShutdown()
    }

    /// The books, as soon as they are as a test expects.
    package func books(when isComplete: (Report) -> Bool) async throws -> Report {
        var report = Report(breaks: [], offsets: [:], more: false)
        try await until("the books are complete") {
            report = try await self.ledger.report(ReportQuery(now: SystemClock().now()))
            return isComplete(report)
        }
        return report
    }

    /// A listener whose subscription has taken effect.
    package func listener(
        of stream: String = "radio1",
        session: SessionID = .random()
    ) async throws -> RawListener {
        try await RawListener.subscribed(to: StreamID(stream), at: self.endpoints, session: session, in: self.network)
    }

    /// A broadcaster.
    package func broadcaster() async throws -> RawBroadcaster {
        try await RawBroadcaster(connectedTo: self.endpoints.broadcast, in: self.network)
    }

    /// A broadcaster that shows a key.
    ///
    /// - Parameters:
    ///   - keys: its own.
    ///   - serverKey: the gateway's public key as it knows it.
    /// - Returns: the broadcaster, which need not be connected yet, and never is where the gateway does not let it in.
    /// - Throws: what libzmq refuses.
    package func broadcaster(_ keys: CurveKeyPair, serverKey: CurvePublicKey) async throws -> RawBroadcaster {
        try await RawBroadcaster(connectedTo: self.endpoints.broadcast, in: self.network) { socket in
            try socket.secureAsClient(keys, serverKey: serverKey)
        }
    }
}

/// Runs a gateway on real sockets for as long as `body` takes, then stops it gracefully.
///
/// ```swift
/// try await withGateway(log: log, ledger: ledger) { running in
///     let listener = try await running.listener(of: "radio1")
///     let joined = try await listener.join()
///     …
/// }
/// ```
///
/// - Parameters:
///   - configuration: as an operator would set it.
///   - log: the event log; the gateway closes it.
///   - ledger: the ledger; the gateway closes it.
///   - keys: what signs deliveries.
///   - tokens: tells whether the token of a join is true; `nil`: there is no check.
///   - clock: the gateway's clock.
///   - retention: whether the log's own time may go on.
///   - state: the state of the run before.
///   - audit: the audit's store; the gateway closes it.
///   - manager: the service manager that started it.
///   - body: what to do while it runs.
/// - Returns: what `body` returns.
/// - Throws: what ended the gateway before its time, else what `body` throws.
package func withGateway<Result>(
    configuration: GatewayConfiguration = .forTests,
    log: any LocalEventLog,
    ledger: any Ledger,
    keys: MessageKeys = .fixed,
    tokens: ListenerTokenCheck? = nil,
    clock: any GatewayClock = SystemClock(),
    retention: RetentionGate = RetentionGate(),
    state: (any GatewayStateStore)? = nil,
    audit: (any AuditStore)? = nil,
    manager: ServiceManager = .none,
    _ body: (RunningGateway) async throws -> Result
) async throws -> Result {
    try await withGateway(
        configuration: configuration,
        parts: LogParts(local: log),
        ledger: ledger,
        keys: keys,
        tokens: tokens,
        clock: clock,
        retention: retention,
        state: state,
        audit: audit,
        manager: manager,
        body
    )
}

/// Runs a gateway whose log is in parts: one that several gateways share, for instance.
///
/// - Parameters:
///   - configuration: as an operator would set it.
///   - parts: the event log; the gateway closes it.
///   - ledger: the ledger; the gateway closes it.
///   - keys: what signs deliveries.
///   - tokens: tells whether the token of a join is true; `nil`: there is no check.
///   - clock: the gateway's clock.
///   - retention: whether the log's own time may go on.
///   - state: the state of the run before.
///   - audit: the audit's store; the gateway closes it.
///   - manager: the service manager that started it.
///   - bus: to the other gateways of the log; `nil`: there are none.
///   - body: what to do while it runs.
/// - Returns: what `body` returns.
/// - Throws: what ended the gateway before its time, else what `body` throws.
package func withGateway<Result>(
    configuration: GatewayConfiguration = .forTests,
    parts: LogParts,
    ledger: any Ledger,
    keys: MessageKeys = .fixed,
    tokens: ListenerTokenCheck? = nil,
    clock: any GatewayClock = SystemClock(),
    retention: RetentionGate = RetentionGate(),
    state: (any GatewayStateStore)? = nil,
    audit: (any AuditStore)? = nil,
    manager: ServiceManager = .none,
    bus: GatewayBusParts? = nil,
    _ body: (RunningGateway) async throws -> Result
) async throws -> Result {
    let logs = LogCapture()
    let network = try PeerNetwork()
    do {
        let gateway = try await Gateway(
            configuration: configuration,
            stores: GatewayStores(log: parts, ledger: ledger, audit: audit, state: state, bus: bus),
            keys: GatewayKeys(keys, tokens: tokens),
            clock: clock,
            retention: retention,
            manager: manager,
            logger: logs.logger
        )
        let services =
            gateway.services + [ManagerStopService(manager: manager, stopMax: configuration.stopMax)]
        let group = ServiceGroup(services: services, logger: logs.logger)
        let running = RunningGateway(gateway: gateway, ledger: ledger, logs: logs, network: network, group: group)
        let result = try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let result: Swift.Result<Result, any Error>
            do {
                try await until("the gateway is ready") { gateway.readiness.missing.isEmpty }
                result = .success(try await body(running))
            } catch {
                result = .failure(error)
            }
            await group.triggerGracefulShutdown()
            // A gateway that failed is the better explanation than what the test then missed.
            try await tasks.waitForAll()
            return try result.get()
        }
        await network.stop()
        return result
    } catch {
        await network.stop()
        throw error
    }
}
