// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
package import Logging
package import ServiceLifecycle
package import TLS
package import ZeroMQ

/// A gateway: its sockets bound, its board loaded, its services ready to run.
///
/// ```swift
/// let stores = GatewayStores(log: log, ledger: ledger)
/// let gateway = try await Gateway(configuration: configuration, stores: stores, keys: GatewayKeys(keys), logger: logger)
/// let group = ServiceGroup(services: gateway.services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
/// try await group.run()
/// ```
///
/// The services are in the order in which they depend on each other: a service group ends them from the last to the
/// first, so that requests stop first and what was accepted is answered before the log closes.
package struct Gateway: Sendable {
    /// Where the sockets are bound; ports that were left to the system are filled in.
    package struct Endpoints: Hashable, Sendable {
        package let notices: String
        package let requests: String
        package let broadcast: String
        /// `nil`: there is none.
        package let webSocket: String?

        package init(notices: String, requests: String, broadcast: String, webSocket: String? = nil) {
            self.notices = notices
            self.requests = requests
            self.broadcast = broadcast
            self.webSocket = webSocket
        }
    }

    package let endpoints: Endpoints
    /// The commands of this gateway's control socket; `ControlService` serves them.
    package let control: ControlCommands
    /// The list of requested changes.
    package let audit: AuditTrail
    /// Which requests are traced.
    package let traces: RequestTraces
    private let common: CommonParts
    private let keyParts: KeyParts
    private let budget: ConnectionBudget
    private let listenerParts: ListenerParts
    private let broadcasters: BroadcasterParts
    private let followers: LogFollowers
    private let drain: GatewayDrain
    /// The other gateways of the log, as far as they are known; `nil`: this one has it for itself.
    let cluster: ClusterHolder?
    /// Asks the other gateways of the log, and answers them; `nil`: it has its log for itself.
    package let questions: ClusterQuestions?
    private let order: ServiceOrder

    /// All services of the gateway.
    package var services: [any Service] { self.services(with: []) }

    /// All services of the gateway, and others that look at it until it has drained: HTTP, for instance.
    package func services(with observers: [any Service]) -> [any Service] {
        self.order.resources + observers + self.order.workers
    }

    /// Loads the board and binds the sockets.
    ///
    /// The parts are made in the order in which they depend on each other. Where an address cannot be bound, no other address stays bound.
    /// Where the gateway cannot be made, its caller closes the stores.
    ///
    /// - Parameters:
    ///   - configuration: checked.
    ///   - stores: open; closed when the last of `services` ends.
    ///   - keys: the keys that sign and check.
    ///   - clock: the truth about when breaks start.
    ///   - retention: whether the log's own time may go on; a `SteeredClock` decides it.
    ///   - manager: the service manager that started the process.
    ///   - metrics: counts what happens.
    ///   - logger: for people.
    /// - Throws: the reason not to start, for instance an address in use, or `ConfigurationFaults` where the
    ///   files of broadcasters that the configuration names are not as they must be.
    package init(
        configuration: GatewayConfiguration,
        stores: GatewayStores,
        keys: GatewayKeys,
        clock: any GatewayClock = SystemClock(),
        retention: RetentionGate = RetentionGate(),
        manager: ServiceManager = .none,
        metrics: MetricRegistry = MetricRegistry(),
        logger: Logger
    ) async throws {
        let common = CommonParts(clock: clock, metrics: metrics, logger: logger)
        let log = try await LoadedLog(stores.log, configuration: configuration, common: common)
        let audit = AuditTrail(stores, configuration, log: log, common: common)
        let control = ControlCommands(notedIn: audit)
        let clockParts = try await ClockParts(
            configuration,
            log: log,
            state: stores.state,
            retention: retention,
            control: control,
            common: common
        )
        try await log.show(in: common)

        let keyParts = try KeyParts(configuration, keys: keys, forgotten: stores.forgotten, common: common)
        let context = try Context(
            // Broadcasters are few: one thread moves all their bytes.
            ioThreads: max(1, configuration.ioThreads),
            socketsMax: 64
        )
        let budget = ConnectionBudget(configuration, common: common)
        let sockets = try GatewaySockets(
            configuration,
            in: context,
            keys: keyParts,
            budget: budget,
            common: common
        )
        self.endpoints = sockets.endpoints

        let listeners = try ListenerParts(
            configuration,
            endpoints: sockets.listenerEndpoints,
            log: log,
            keys: keyParts,
            budget: budget,
            common: common
        )
        let traces = try RequestTraces(configuration, common: common)
        let cluster = try ClusterParts(
            configuration,
            bus: stores.bus,
            log: log,
            live: listeners.live,
            common: common
        )
        if let cluster { listeners.overview.count(cluster.cluster) }
        let broadcasters = try BroadcasterParts(
            configuration,
            sockets: sockets.broadcast,
            log: log,
            keys: keyParts,
            clock: clockParts,
            listeners: listeners,
            cluster: cluster?.cluster,
            recorder: BroadcastRecorder(
                metrics: metrics,
                peers: common.peers,
                audit: audit,
                traces: traces,
                clock: clock,
                signals: common.signals
            ),
            common: common
        )
        let followers = try LogFollowers(
            configuration,
            log: log,
            ledger: stores.ledger,
            desk: broadcasters.desk,
            listeners: listeners,
            digests: cluster?.digests,
            traces: traces,
            common: common
        )
        let drain = GatewayDrain(
            desk: broadcasters.desk,
            listeners: listeners.service,
            log: log.health,
            move: cluster.map {
                ListenerMove(
                    cluster: $0.cluster,
                    listeners: listeners,
                    counting: budget.limit,
                    within: configuration.moveWithin,
                    logger: logger
                )
            },
            readiness: common.readiness,
            timeout: configuration.drainTimeout,
            logger: logger
        )

        // A service group starts the services in this order, and ends them in the opposite one.
        var order = ServiceOrder()
        order.resources = [
            ResourceService(
                log: stores.log.log,
                ledger: stores.ledger,
                threads: [broadcasters.thread],
                workers: [followers.boardThread] + (cluster.map { [$0.thread] } ?? []),
                monitors: [broadcasters.monitor]
            ),
            // The answers of all services below are in the audit.
            audit,
            // All services below may make spans.
            traces.writer,
        ]
        // Joins that wait for it are answered before it ends.
        if let tokens = keyParts.tokens { order.resources.append(tokens) }
        order.resources += [
            // It ends late, so that it also reports a log that fails while the gateway stops.
            LogWatchService(
                log: stores.log.log,
                isShared: stores.log.isShared,
                drain: drain,
                readiness: common.readiness,
                logger: logger
            ),
            CapacityService(
                log: stores.log.maintenance,
                ledger: stores.ledger,
                folder: configuration.dataDirectory,
                interval: configuration.sampleInterval,
                metrics: metrics,
                readiness: common.readiness,
                logger: logger
            ),
            ManagerStatusService(
                manager: manager,
                readiness: common.readiness,
                metrics: metrics,
                stopMax: configuration.stopMax
            ),
            ThreadWatchdog(thread: broadcasters.thread, manager: manager, listeners: listeners.service),
        ]
        // They end behind the desk: while it drains, the others still hear of this gateway.
        let clusterServices =
            cluster?
            .services(
                configuration,
                endpoints: self.endpoints,
                board: log.holder,
                keys: keyParts,
                listeners: listeners,
                desk: broadcasters.desk,
                common: common
            ) ?? []
        order.workers =
            clockParts.services + clusterServices + [
                MemoryService(connections: budget.limit, stores: stores.caching, metrics: metrics, logger: logger),
                followers.ledgerService, listeners.hub, listeners.service, followers.boardService,
                broadcasters.desk, broadcasters.endpoint, drain,
            ]

        self.control = control
        self.audit = audit
        self.traces = traces
        self.common = common
        self.keyParts = keyParts
        self.budget = budget
        self.listenerParts = listeners
        self.broadcasters = broadcasters
        self.followers = followers
        self.drain = drain
        self.cluster = cluster?.cluster
        self.questions = cluster?.questions
        self.order = order
    }

    /// Takes over what may change while the gateway runs; everything else of a configuration is passed over.
    ///
    /// - Parameters:
    ///   - configuration: checked.
    ///   - access: the broadcasters from the next request on; the gateway's own key stays as it is.
    ///   - keys: the keys that sign and check from the next request on; `nil`: as before.
    ///   - identity: the certificate that listeners who connect from now on are shown; where the ports were bound without one, or
    ///     with one, they stay so.
    package func reload(
        _ configuration: GatewayConfiguration,
        _ access: BroadcasterAccess?,
        _ keys: MessageKeys? = nil,
        _ identity: TLSIdentity? = nil
    ) async {
        self.keyParts.reload(keys, identity, metrics: self.metrics)
        self.keyParts.webSocketOrigins.replace(by: configuration.webSocketOriginPatterns)
        await self.broadcasters.endpoint.reload(access?.directory)
        await self.breakDesk.reload(configuration)
        self.drain.reload(timeout: configuration.drainTimeout, moveWithin: configuration.moveWithin)
        self.listenerService.reload(configuration)
        self.traces.reload(configuration.tracing.limited(by: configuration.limits))
    }
}

extension Gateway {
    /// Which run of the gateway this is.
    package var instance: UInt64 { self.common.instance }
    package var metrics: MetricRegistry { self.common.metrics }
    package var readiness: ReadinessBoard { self.common.readiness }
    /// The results of the signals of each stream.
    package var signals: SignalMonitor { self.common.signals }
    package var board: BoardHolder { self.followers.board }
    /// The changes of breaks, for watchers.
    package var breakChanges: BreakChanges { self.followers.breakChanges }
    /// Decides about broadcasters' requests.
    package var breakDesk: BreakDesk { self.broadcasters.desk }
    /// The keys by which broadcasters recognise this gateway; `nil`: none.
    package var broadcasterKeys: CurveKeyPair? { self.keyParts.broadcasters?.keys }
    /// The keys that sign deliveries.
    package var keys: KeyHolder { self.keyParts.messages }
    /// Where listeners' requests come in that no connection of the edge carries.
    package var listeners: ListenerEntrance { self.listenerParts.entrance }
    /// The streams with what is known of them now, for those who look at many.
    package var overview: StreamOverview { self.listenerParts.overview }
    /// How many of the process's descriptors are kept for connections over HTTP.
    package var httpConnectionsMax: Int { self.budget.httpConnectionsMax }
    /// How many listeners may hear their notices over HTTP.
    package var httpListenersMax: Int { self.budget.httpListenersMax }
    /// How many descriptors are kept beside those for listeners at the HTTP server.
    package var httpListenersServedMax: Int { self.budget.httpListenersServedMax }
    /// The most connections of listeners and broadcasters together.
    package var connectionsMax: Int { self.budget.limit.connectionsMax }
    var listenerService: ListenerService { self.listenerParts.service }
}

extension Gateway {
    /// The stream of a session, and the subject of its token if that is counted; `nil`: it does not listen.
    package func lease(of session: SessionID) -> (stream: StreamID, subject: String?)? {
        self.listenerService.lease(of: session)
    }

    /// Refuses a session from now on, ends its lease and its connection, and waits until the log has all that was taken from it.
    ///
    /// - Parameters:
    ///   - session: which one.
    ///   - limit: how long to wait for the log.
    ///   - forgotten: changes who is refused, and brings that to the disk: it is called for the newest that there are.
    /// - Returns: whether the log has it.
    /// - Throws: the errors of `forgotten`; then nothing has changed.
    package func refuse(
        _ session: SessionID,
        atMost limit: Duration,
        _ forgotten: (inout ForgottenSessions) throws -> Void
    ) async throws -> Bool {
        try await self.listenerService.refuse(session, atMost: limit, forgotten)
    }

    /// Refuses more sessions from now on, of which only hashes are known, and ends their leases and connections.
    ///
    /// - Parameters:
    ///   - limit: how long to wait until what had gathered of them is in the log.
    ///   - forgotten: changes which sessions are refused, and brings that to the disk.
    /// - Returns: whether nothing of them comes into the log any more.
    /// - Throws: the errors of `forgotten`; then nothing has changed.
    package func refuse(
        atMost limit: Duration,
        _ forgotten: (inout ForgottenSessions) throws -> Void
    ) async throws -> Bool {
        try await self.listenerService.refuseByHash(atMost: limit, forgotten)
    }
}

/// The services of a gateway in the order in which they depend on each other.
private struct ServiceOrder {
    /// The resources that the others need, and the services that report their end.
    var resources: [any Service] = []
    var workers: [any Service] = []
}

extension AuditTrail {
    fileprivate convenience init(
        _ stores: GatewayStores,
        _ configuration: GatewayConfiguration,
        log: LoadedLog,
        common: CommonParts
    ) {
        var settings = Settings()
        settings.keepFor = configuration.auditKeepFor
        settings.recordsMax = configuration.auditRecordsMax
        settings.recordsWaitingMax = configuration.limits[.auditRecordsWaitingMax]
        self.init(
            store: stores.audit,
            fault: stores.auditFault,
            settings: settings,
            now: common.now,
            retentionTime: log.retentionTime,
            metrics: common.metrics,
            readiness: common.readiness,
            logger: common.logger
        )
    }
}

extension RequestTraces {
    fileprivate convenience init(_ configuration: GatewayConfiguration, common: CommonParts) throws {
        let settings = configuration.tracing.limited(by: configuration.limits)
        self.init(
            settings,
            writer: TraceWriter(
                settings,
                instance: common.instance,
                thread: try WorkerThreads(name: "cuecast-traces", count: 1),
                metrics: common.metrics,
                readiness: common.readiness,
                logger: common.logger
            ),
            metrics: common.metrics
        )
    }
}

extension ControlCommands {
    /// Commands that change something stand in the audit.
    ///
    /// Arguments and sentences stay out of it: they may name a listener's session.
    fileprivate convenience init(notedIn audit: AuditTrail) {
        self.init { name, error in
            audit.note(name, by: "", from: RequestOrigin(.command), error?.withoutSentence)
        }
    }
}

extension ControlError {
    /// The kind of refusal alone.
    fileprivate var withoutSentence: Refusal {
        switch self.exitCode {
        case 64, 65: Refusal(.invalid, "")
        case 77: Refusal(.notAllowed, "")
        default: Refusal(.unavailable, "")
        }
    }
}
