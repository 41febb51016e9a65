// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import AdFormats
package import CuecastWire
package import Gateway
package import GatewayCore
package import GatewayDocuments
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
    /// Answers reports, and reads outcomes.
    package var stores: Stores
    /// The metrics for `/metrics`.
    package let metrics: MetricRegistry
    package var health: Health
    package var breaks: Breaks
    package var administration: Administration
    /// The rights over HTTP.
    package var access: HTTPAccessHolder
    /// The entrance for listeners' requests; `nil`: there are no listeners over HTTP.
    package var listeners: ListenerEntrance?
    /// Which requests are traced; `nil`: none.
    package var traces: RequestTraces?
    /// The gateway's clock.
    package var now: @Sendable () -> Timestamp
    /// For people.
    package let logger: Logger
    /// For lines that peers cause.
    let peers: PeerLog

    package init(
        stores: Stores,
        metrics: MetricRegistry,
        health: Health,
        breaks: Breaks,
        administration: Administration,
        access: HTTPAccessHolder,
        now: @escaping @Sendable () -> Timestamp,
        logger: Logger
    ) {
        self.stores = stores
        self.metrics = metrics
        self.health = health
        self.breaks = breaks
        self.administration = administration
        self.access = access
        self.now = now
        self.logger = logger
        self.peers = PeerLog(metrics: metrics, logger: logger)
    }
}

extension HTTPParts {
    /// The books.
    package struct Stores: Sendable {
        /// Answers the reports.
        package var ledger: any Ledger
        /// Tells how far the ledger is behind, and has single outcomes.
        package var log: any EventLog

        package init(ledger: any Ledger, log: any EventLog) {
            self.ledger = ledger
            self.log = log
        }
    }

    /// How the gateway is.
    package struct Health: Sendable {
        /// The parts of the gateway that do not work at present; empty when it is ready.
        package var missing: @Sendable () -> [String]
        /// The failure because of which the process is about to end; `nil`: none.
        package var failure: @Sendable () -> String? = { nil }
        /// The faults that an operator should examine although the gateway is ready.
        package var alarms: @Sendable () -> [RaisedAlarm] = { [] }
        /// Whether the gateway is about to stop, and takes no more requests.
        package var draining: @Sendable () -> Bool = { false }

        package init(missing: @escaping @Sendable () -> [String]) {
            self.missing = missing
        }
    }

    /// Breaks, and the streams that have them.
    package struct Breaks: Sendable {
        /// The newest board.
        package var board: @Sendable () -> Board
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
        /// The mappings for messages of automation systems.
        package var mappings: @Sendable () -> [AutomationMapping] = { AutomationMapping.ready }
        /// The newest signals of a stream and their sources; `nil`: nothing is kept of it.
        package var signals: @Sendable (StreamID) -> SignalBook.Stream? = { _ in nil }
        /// The watchers of a stream by their newest reports.
        package var watchers: @Sendable (StreamID) -> [WatcherBook.Watcher] = { _ in [] }
        /// The streams and their numbers; `nil`: not available.
        package var overview: StreamOverview?
        /// The changes of breaks; `nil`: not available.
        package var changes: BreakChanges?

        package init(board: @escaping @Sendable () -> Board) {
            self.board = board
        }
    }

    /// The operators' view of the gateway, and their actions.
    package struct Administration: Sendable {
        /// Reads configuration, keys and certificates again; throws `ConfigurationFaults` where everything stays as it was.
        package var reload: @Sendable () async throws -> ReloadDocument
        /// The configuration that the gateway runs with.
        package var configuration: @Sendable () -> RunningConfiguration = { RunningConfiguration() }
        /// The gateway's limits that are in force.
        package var limits: @Sendable () -> [LimitState] = { [] }
        /// The list of requested changes.
        package var audit: @Sendable (AuditQuery) async throws -> [NumberedAuditRecord] = { _ in
            throw AuditError("the audit is not kept")
        }
        /// Asks the other gateways of the log a question of a kind; `nil`: there are none.
        package var askAll: (@Sendable (String, [UInt8]) async throws -> ClusterQuestions.Answers)?
        /// The run of this gateway.
        package var instance: UInt64 = 0
        /// Keeps what no other part of the gateway keeps: what is refused before its rules are asked, and reloads.
        package var note: @Sendable (AuditRecord) -> Void = { _ in }
        /// Of the program.
        package var version = ""

        package init(reload: @escaping @Sendable () async throws -> ReloadDocument) {
            self.reload = reload
        }
    }
}
