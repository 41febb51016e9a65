// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import Gateway
package import GatewayCore
package import Logging

/// Where a request came from, for logs and audit.
package struct HTTPRequestOrigin: Hashable, Sendable {
    /// The peer's address and port.
    package let address: String
    /// The id by which the request is found again.
    package let requestID: String
    /// Its trace; `nil`: it is not traced.
    package var trace: RequestTrace?
}

/// Everything that operations ask of the rest of a gateway.
package struct HTTPParts: Sendable {
    /// Answers the reports.
    package var ledger: any Ledger
    /// Tells how far the ledger is behind.
    package var log: any EventLog
    /// The metrics for `/metrics`.
    package let metrics: MetricRegistry
    /// The parts of the gateway that do not work at present; empty when it is ready.
    package var missing: @Sendable () -> [String]
    /// The failure because of which the process is about to end; `nil`: none.
    package var failure: @Sendable () -> String? = { nil }
    /// The faults that an operator should examine although the gateway is ready.
    package var alarms: @Sendable () -> [RaisedAlarm] = { [] }
    /// The newest board.
    package var board: @Sendable () -> Board
    /// The gateway's clock.
    package var now: @Sendable () -> Timestamp
    /// The rights over HTTP.
    package var access: HTTPAccessHolder
    /// Reads configuration, keys and certificates again; throws `ConfigurationFaults` where everything stays as it was.
    package var reload: @Sendable () async throws -> ReloadDocument
    /// Asks what a broadcaster asks, as by its socket: the request, who asks, and where it came from.
    package var broadcast:
        @Sendable (CheckedBroadcastRequest, BroadcastPrincipal, HTTPRequestOrigin) async -> BroadcastReply =
            { request, _, _ in
                let refusal = Refusal(.unsupported, "This gateway takes no breaks over HTTP.")
                return BroadcastReply(
                    requestID: request.asked.id,
                    gatewayTime: Timestamp(microseconds: 0),
                    body: .refused(refusal)
                )
            }
    /// The list of requested changes.
    package var audit: @Sendable (AuditQuery) async throws -> [NumberedAuditRecord] = { _ in
        throw AuditError("the audit is not kept")
    }
    /// Adds requests to the audit that no other part adds: refused ones, and reloads.
    package var note: @Sendable (AuditRecord) -> Void = { _ in }
    /// The configuration that the gateway runs with.
    package var configuration: @Sendable () -> RunningConfiguration = { RunningConfiguration() }
    /// The limits that are in force, but for those of HTTP's server.
    package var limits: @Sendable () -> [LimitState] = { [] }
    /// The streams and their numbers; `nil`: not available.
    package var overview: StreamOverview?
    /// The changes of breaks; `nil`: not available.
    package var breakChanges: BreakChanges?
    /// Whether the gateway is about to stop, and takes no more requests.
    package var draining: @Sendable () -> Bool = { false }
    /// Of the program.
    package var version = ""
    /// The entrance for listeners' requests; `nil`: there are no listeners over HTTP.
    package var listeners: ListenerEntrance?
    /// Which requests are traced; `nil`: none.
    package var traces: RequestTraces?
    /// For people.
    package let logger: Logger
    /// For lines that peers cause.
    let peers: PeerLog

    package init(
        ledger: any Ledger,
        log: any EventLog,
        metrics: MetricRegistry,
        missing: @escaping @Sendable () -> [String],
        board: @escaping @Sendable () -> Board,
        now: @escaping @Sendable () -> Timestamp,
        access: HTTPAccessHolder,
        reload: @escaping @Sendable () async throws -> ReloadDocument,
        logger: Logger
    ) {
        self.ledger = ledger
        self.log = log
        self.metrics = metrics
        self.missing = missing
        self.board = board
        self.now = now
        self.access = access
        self.reload = reload
        self.logger = logger
        self.peers = PeerLog(metrics: metrics, logger: logger)
    }
}
