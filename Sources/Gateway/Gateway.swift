// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Edge
package import GatewayCore
package import Logging
import ProcessLimits
package import ServiceLifecycle
package import TLS
package import ZeroMQ

/// A gateway: its sockets bound, its board loaded, its services ready to run.
///
/// ```swift
/// let gateway = try await Gateway(configuration: configuration, log: log, ledger: ledger, keys: keys, logger: logger)
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

        package init(notices: String, requests: String, broadcast: String) {
            self.notices = notices
            self.requests = requests
            self.broadcast = broadcast
        }
    }

    package let endpoints: Endpoints
    /// How many of the process's descriptors are kept for connections over HTTP.
    package let httpConnectionsMax: Int
    /// The most connections of listeners and broadcasters together.
    package let connectionsMax: Int
    /// How many descriptors are kept beside those for listeners that hear their notices over HTTP.
    package let httpListenersMax: Int
    package let readiness: ReadinessBoard
    package let metrics: MetricRegistry
    package let board: BoardHolder
    /// What can be asked of this gateway through its control socket; `ControlService` serves it.
    package let control: ControlCommands
    /// Which run of the gateway this is.
    package let instance: UInt64
    /// What broadcasters know this gateway by; `nil`: nothing.
    package let broadcasterKeys: CurveKeyPair?
    /// Decides about broadcasters' requests.
    package let breakDesk: BreakDesk
    /// Who asked for what to be changed.
    package let audit: AuditTrail
    /// Which requests are traced.
    package let traces: RequestTraces
    /// What signs deliveries.
    package let keys: KeyHolder
    /// Where listeners' requests come in that no connection of the edge carries.
    package let listeners: ListenerEntrance
    /// The streams with what is known of them now, for those who look at many.
    package let overview: StreamOverview
    /// What happens to breaks, for those who watch.
    package let breakChanges: BreakChanges
    /// The certificate that listeners are shown; `nil`: their ports are plain.
    private let listenerIdentity: DoorIdentity?
    let listenerService: ListenerService
    private let broadcastEndpoint: BroadcastEndpoint
    private let drain: GatewayDrain
    /// What the others need, and what tells of their end.
    private let resources: [any Service]
    private let workers: [any Service]

    /// All services of the gateway.
    package var services: [any Service] { self.services(with: []) }

    /// All services of the gateway, and others that look at it until it has drained: HTTP, for instance.
    package func services(with observers: [any Service]) -> [any Service] {
        self.resources + observers + self.workers
    }

    /// Loads the board and binds the sockets.
    ///
    /// - Parameters:
    ///   - configuration: checked.
    ///   - log: the event log, open; the last of `services` to end closes it.
    ///   - ledger: open; closed with the log.
    ///   - keys: what signs deliveries, and checks those that come back.
    ///   - tokens: tells whether the token of a join is true, and what it grants; `nil`: nobody does, and streams that ask for one are closed.
    ///   - forgotten: sessions that are refused.
    ///   - clock: the truth about when breaks start.
    ///   - retention: whether the log's own time may go on; a `SteeredClock` decides it.
    ///   - state: what the run before left, and where this one leaves it.
    ///   - audit: where it is kept who asked for what to be changed, open, and what is wrong with it; closed at the end.
    ///   - manager: the service manager that started the process.
    ///   - metrics: counts what happens.
    ///   - logger: for people.
    /// - Throws: what stands in the way of starting, for instance an address that is in use, or `ConfigurationFaults` where the
    ///   files of broadcasters that the configuration names are not as they must be.
    package init(
        configuration: GatewayConfiguration,
        log: LogParts,
        ledger: any Ledger,
        keys: MessageKeys,
        tokens: ListenerTokenCheck? = nil,
        forgotten: ForgottenSessions = .empty(),
        clock: any GatewayClock = SystemClock(),
        retention: RetentionGate = RetentionGate(),
        state: (any GatewayStateStore)? = nil,
        audit: (store: (any AuditStore)?, fault: String?) = (nil, nil),
        manager: ServiceManager = .none,
        metrics: MetricRegistry = MetricRegistry(),
        logger: Logger
    ) async throws {
        var board = try await BreakBoardService.load(from: log)
        let changes = board.takeChanges()
        let holder = BoardHolder(board)
        let instance = UInt64.random(in: 1 ... .max)
        let readiness = ReadinessBoard(metrics: metrics)
        let trail = AuditTrail(
            store: audit.store,
            fault: audit.fault,
            settings: Self.auditSettings(configuration),
            now: { clock.now() },
            retentionTime: {
                let board = holder.board
                return board.hasTime ? board.retentionTime : nil
            },
            metrics: metrics,
            readiness: readiness,
            logger: logger
        )
        // Arguments and sentences of commands stay out of it: they may name a listener's session.
        let control = ControlCommands { name, error in
            trail.note(name, by: "", from: RequestOrigin(.command), error?.withoutSentence)
        }
        let before = state?.load()
        var clockServices: [any Service] = []
        var acceptedNewest = before?.acceptedNewest
        if let clock = clock as? SteeredClock {
            acceptedNewest = try Self.begin(
                clock,
                on: board,
                newest: [board.hasTime ? board.newestTime : nil, await Self.newestAcknowledgement(in: log.log)]
                    .compactMap(\.self).max(),
                before: before,
                configuration: configuration
            )
            let service = ClockService(
                clock: clock,
                retentionTime: {
                    let board = holder.board
                    return board.hasTime ? board.retentionTime : nil
                },
                retention: retention,
                metrics: metrics,
                readiness: readiness,
                logger: logger
            )
            service.register(in: control)
            // Before anything can be asked or retired.
            service.observe()
            clockServices.append(service)
        }
        let counts = ListenerCounts()
        if let state {
            clockServices.append(
                StateService(store: state, clock: clock, acceptedNewest: acceptedNewest, counts: counts, logger: logger)
            )
        }
        readiness.set(.log, isReady: true)
        readiness.set(.board, isReady: true)
        metrics.set(.startTime, to: Int(clamping: clock.now().microseconds / 1_000_000))
        metrics.set(.streams, to: board.streams.count)
        metrics.set(.boardBytes, to: board.bytes)
        for lane in [Lane.breaks] + Lane.acknowledgementLanes {
            metrics.set(.logOffset, .lane(lane), to: Int(clamping: try await log.log.head(of: lane)))
        }

        let access = try BroadcasterAccess.read(for: configuration)
        let identity = try ListenerEncryption.read(for: configuration)
        metrics.set(.certificateExpiry, .listeners, to: Int(clamping: identity?.notAfter ?? 0))
        let context = try Context(
            // Broadcasters are few: one thread moves all their bytes.
            ioThreads: max(1, configuration.ioThreads),
            socketsMax: 64
        )
        let descriptors = ProcessDescriptors.raiseLimit()
        ProcessDescriptors.makeRoom(for: descriptors)
        self.httpConnectionsMax = DescriptorReserve.httpConnectionsMax(of: descriptors)
        self.httpListenersMax = DescriptorReserve.httpListenersMax(configuration.httpListenersMax, of: descriptors)
        // Without HTTP nobody takes theirs.
        let httpListeners = configuration.http == nil ? 0 : self.httpListenersMax
        // Each thread of listeners will have its poller and what wakes it.
        let open = ProcessDescriptors.openCount() + 2 * configuration.edgeThreadCount
        let limit = ConnectionLimit(
            connectionsMax: configuration.connectionsMax
                ?? descriptors - open - DescriptorReserve.reserve(of: descriptors) - httpListeners,
            httpListenersMax: httpListeners,
            metrics: metrics,
            readiness: readiness,
            logger: logger
        )
        self.connectionsMax = limit.connectionsMax
        limit.compare(withListenersMax: configuration.listenersMax, descriptors: descriptors)
        let backlog = ConnectionLimit.backlog(limit: descriptors)
        let peers = PeerLog(metrics: metrics, logger: logger)
        // Before the socket that asks: libzmq lets everybody in where nobody can be asked.
        let authentication = try AuthenticationSocket.bound(in: context)
        let broadcast = try GatewaySocket.makeBroadcast(
            in: context,
            backlog: backlog,
            handshakeTimeout: configuration.handshakeTimeout,
            keys: access?.keys
        )
        let connections = BroadcastConnections(
            unusedTimeout: configuration.unusedTimeout,
            handshakeTimeout: configuration.handshakeTimeout
        )
        let failed: @Sendable () -> Void = { AuthenticationSocket.handshakeFailed(metrics, peers) }
        let broadcastMonitor = try limit.watch(
            broadcast,
            .broadcast,
            connections: connections,
            handshakeFailed: access == nil ? nil : failed
        )
        self.listenerIdentity = identity.map { DoorIdentity($0) }
        let doors = try EdgeDoor.open(
            [(configuration.notices, label: .notices), (configuration.requests, label: .requests)],
            identity: self.listenerIdentity,
            balancers: configuration.balancers
        )
        let broadcastEndpoint: String
        do {
            broadcastEndpoint = try broadcast.bind(configured: configuration.broadcast)
        } catch {
            for each in doors { each.door.close() }
            throw error
        }
        self.endpoints = Endpoints(
            notices: doors[0].endpoint,
            requests: doors[1].endpoint,
            broadcast: broadcastEndpoint
        )

        let requestThread = try PollingThread(name: "cuecast-request")
        let boardThread = try WorkerThreads(name: "cuecast-board", count: 1)
        let live = LiveListeners(metrics: metrics)
        let edge = try EdgeShared(
            threads: configuration.edgeThreadCount,
            doors: doors.map(\.door),
            settings: Self.edgeSettings(configuration, instance: instance, epoch: board.epoch),
            metrics: metrics,
            counting: limit,
            clock: { clock.now() }
        )
        let logHealth = LogHealth(
            log: log,
            origin: instance,
            silenceMax: configuration.logSilenceMax,
            metrics: metrics,
            readiness: readiness,
            logger: logger
        )
        var settings = ListenerRequestHandler.Settings(instance: instance)
        settings.headInterval = configuration.headInterval
        settings.lease = configuration.lease
        settings.acknowledgementsWaitingMax = configuration.acknowledgementsWaitingMax
        settings.acknowledgementBytesWaitingMax = configuration.acknowledgementBytesWaitingMax
        settings.deliveriesWaitingMax = configuration.deliveriesWaitingMax
        settings.rememberedOutcomesMax = configuration.rememberedOutcomesMax
        let tokenChecks = tokens.map { TokenChecks(now: { clock.now() }, check: $0) }
        settings.tickets = TicketRule(
            protectedStreams: configuration.protectedStreams,
            checksTokens: tokenChecks != nil
        )
        let rules = ListenerRulesHolder(
            ListenerRules(protectedStreams: configuration.protectedStreams, forgotten: forgotten)
        )
        let keyHolder = KeyHolder(keys)
        let leases = SharedLeases(
            length: configuration.lease,
            listenersMax: limit.listenersMax(configuration.listenersMax),
            requestsPerSecondMax: Double(configuration.requestsPerSessionPerSecondMax),
            live: live
        )
        let hub = NoticeHub(
            settings: Self.hubSettings(configuration, listenersMax: self.httpListenersMax, epoch: board.epoch),
            tools: NoticeHub.Tools(keys: keyHolder, rules: rules, leases: leases, clock: clock, metrics: metrics)
        )
        let listenerService = try ListenerService(
            edge: edge,
            settings: settings,
            leases: leases,
            counting: limit,
            hub: hub,
            tools: ListenerDesk.Tools(
                log: logHealth,
                holder: holder,
                keys: keyHolder,
                rules: rules,
                tokens: tokenChecks,
                clock: clock,
                metrics: metrics,
                peers: peers,
                logger: logger
            )
        )
        let traces = RequestTraces(
            configuration.tracing,
            writer: TraceWriter(
                configuration.tracing,
                instance: instance,
                thread: try WorkerThreads(name: "cuecast-traces", count: 1),
                metrics: metrics,
                readiness: readiness,
                logger: logger
            ),
            metrics: metrics
        )
        let calls = BroadcastCalls(
            callsMax: configuration.broadcastCallsWaitingMax,
            bytesMax: configuration.broadcastCallBytesWaitingMax
        )
        let desk = BreakDesk(
            BreakDesk.Tools(
                thread: requestThread,
                log: logHealth,
                holder: holder,
                clock: clock,
                forecast: ListenerForecast(
                    live: live,
                    expected: Self.expected(before, at: clock.reading(), configuration: configuration),
                    counts: counts
                ),
                retention: retention,
                recorder: BroadcastRecorder(metrics: metrics, peers: peers, audit: trail, traces: traces, clock: clock),
                calls: calls,
                logFailed: { listenerService.noteLogFailure() },
                logger: logger
            ),
            configuration: configuration
        )
        let endpoint = BroadcastEndpoint(
            socket: broadcast,
            connections: connections,
            authentication: authentication,
            directory: access?.directory,
            desk: desk,
            readiness: readiness
        )
        let drain = GatewayDrain(
            desk: desk,
            listeners: listenerService,
            log: logHealth,
            readiness: readiness,
            timeout: configuration.drainTimeout,
            logger: logger
        )
        let ledgerFeed = LedgerFeed(board)
        let breakChanges = BreakChanges(board, live: live, clock: clock)
        let ledgerService = LedgerService(
            log: log,
            ledger: ledger,
            feed: ledgerFeed,
            configuration: configuration,
            clock: clock,
            metrics: metrics,
            readiness: readiness,
            logger: logger
        )
        let boardService = BreakBoardService(
            log: log,
            holder: holder,
            changes: changes,
            observers: [desk, ledgerFeed, breakChanges],
            sinks: [edge, hub],
            metrics: metrics,
            traces: traces,
            clock: clock,
            logger: logger
        )

        var resources: [any Service] = [
            ResourceService(
                log: log.log,
                ledger: ledger,
                threads: [requestThread],
                workers: [boardThread],
                monitors: [broadcastMonitor]
            )
        ]
        // Whoever is answered by anybody below stands in it.
        resources.append(trail)
        // Whoever makes spans does so before it ends.
        resources.append(traces.writer)
        // Joins that wait for it are answered before it ends.
        if let tokenChecks { resources.append(tokenChecks) }
        resources += [
            // It ends late, so that a log that fails while the gateway stops is told of too.
            LogWatchService(log: log.log, drain: drain, readiness: readiness, logger: logger),
            RoomService(
                log: log.maintenance,
                ledger: ledger,
                folder: configuration.dataDirectory,
                interval: configuration.sampleInterval,
                metrics: metrics,
                readiness: readiness,
                logger: logger
            ),
            ManagerStatusService(
                manager: manager,
                readiness: readiness,
                metrics: metrics,
                drainTimeout: configuration.drainTimeout
            ),
            ThreadWatchdog(thread: requestThread, manager: manager, listeners: listenerService),
        ]
        self.resources = resources
        let stores: [Any?] = [log.log, ledger, audit.store]
        let memoryService = MemoryService(
            connections: limit,
            stores: stores.compactMap { $0 as? any CachingStore },
            metrics: metrics,
            logger: logger
        )
        self.workers =
            clockServices + [
                memoryService, ledgerService, hub,
                listenerService,
                ThreadedService(boardService, on: boardThread), desk, endpoint, drain,
            ]
        self.readiness = readiness
        self.metrics = metrics
        self.board = holder
        self.control = control
        self.instance = instance
        self.broadcastEndpoint = endpoint
        self.drain = drain
        self.breakDesk = desk
        self.audit = trail
        self.traces = traces
        self.listenerService = listenerService
        self.listeners = ListenerEntrance(
            listenerService.mailboxes,
            edge: edge,
            hub: hub,
            keys: keyHolder,
            metrics: metrics,
            now: { clock.now() }
        )
        self.overview = StreamOverview(holder, live)
        self.breakChanges = breakChanges
        self.keys = keyHolder
        self.broadcasterKeys = access?.keys
    }

    /// Takes over what may change while the gateway runs; everything else of a configuration is passed over.
    ///
    /// - Parameters:
    ///   - configuration: checked.
    ///   - access: who may publish from the next request on; the gateway's own key stays as it is.
    ///   - keys: what signs and checks from the next request on; `nil`: as before.
    ///   - identity: the certificate that listeners who connect from now on are shown; where the ports were bound without one, or
    ///     with one, they stay so.
    package func reload(
        _ configuration: GatewayConfiguration,
        _ access: BroadcasterAccess?,
        _ keys: MessageKeys? = nil,
        _ identity: TLSIdentity? = nil
    ) async {
        if let keys, keys.ring != self.keys.keys.ring { self.keys.swap(keys) }
        if let identity, let listenerIdentity {
            listenerIdentity.replace(by: identity)
            self.metrics.set(.certificateExpiry, .listeners, to: Int(clamping: identity.notAfter))
        }
        await self.broadcastEndpoint.reload(access?.directory)
        await self.breakDesk.reload(configuration)
        self.drain.reload(timeout: configuration.drainTimeout)
        self.listenerService.reload(configuration)
        self.traces.reload(configuration.tracing)
    }
}

extension Gateway {
    /// What a session listens to, and the subject of its token where that is counted; `nil`: it does not listen.
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
    /// - Throws: what `forgotten` does; then nothing has changed.
    package func refuse(
        _ session: SessionID,
        atMost limit: Duration,
        _ forgotten: (inout ForgottenSessions) throws -> Void
    ) async throws -> Bool {
        try await self.listenerService.refuse(session, atMost: limit, forgotten)
    }

    private static func auditSettings(_ configuration: GatewayConfiguration) -> AuditTrail.Settings {
        var settings = AuditTrail.Settings()
        settings.keepFor = configuration.auditKeepFor
        settings.recordsMax = configuration.auditRecordsMax
        settings.recordsWaitingMax = configuration.auditRecordsWaitingMax
        return settings
    }

    private static func hubSettings(
        _ configuration: GatewayConfiguration,
        listenersMax: Int,
        epoch: UInt64
    ) -> NoticeHub.Settings {
        var settings = NoticeHub.Settings(epoch: epoch)
        settings.readersMax = listenersMax
        settings.readersPerAddressMax = configuration.httpListenersPerAddressMax
        settings.stalledTimeout = configuration.stalledTimeout
        settings.headInterval = configuration.headInterval
        settings.lease = configuration.lease
        return settings
    }

    private static func edgeSettings(
        _ configuration: GatewayConfiguration,
        instance: UInt64,
        epoch: UInt64
    ) -> EdgeSettings {
        var settings = EdgeSettings(instance: instance, epoch: epoch)
        settings.headInterval = configuration.headInterval
        settings.lease = configuration.lease
        settings.connectionsPerAddressMax = configuration.connectionsPerAddressMax
        settings.messagesPerConnectionPerSecondMax = configuration.messagesPerConnectionPerSecondMax
        settings.messagesPerAddressPerSecondMax = configuration.messagesPerAddressPerSecondMax
        settings.messagesPerSecondMax = configuration.messagesPerSecondMax
        settings.refusedTokensPerConnectionPerSecondMax = configuration.refusedTokensPerConnectionPerSecondMax
        settings.sessionsPerConnectionMax = configuration.sessionsPerConnectionMax
        settings.sessionsPerAddressMax = configuration.sessionsPerAddressMax
        settings.bytesWaitingMax = configuration.listenerBytesWaitingMax
        settings.handshakeTimeout = configuration.handshakeTimeout
        settings.unusedTimeout = configuration.unusedTimeout
        settings.stalledTimeout = configuration.stalledTimeout
        return settings
    }

    /// Compares the clock with the books, and begins where they end.
    ///
    /// - Returns: the newest time of the books that an operator has called wrong.
    /// - Throws: `ClockStart.Refusal` where the wall clock is behind the books.
    private static func begin(
        _ clock: SteeredClock,
        on board: Board,
        newest: Timestamp?,
        before: GatewayState?,
        configuration: GatewayConfiguration
    ) throws -> Timestamp? {
        // What was called wrong once stays wrong: it is in the log for good.
        let believed = newest.flatMap { newest in before?.acceptedNewest.map { newest <= $0 } ?? false ? nil : newest }
        try clock.begin(
            newest: believed,
            shown: before?.time,
            retention: board.hasTime ? board.retentionTime : nil,
            acceptsWall: configuration.acceptsClock
        )
        guard configuration.acceptsClock, let newest, newest > clock.now() else { return before?.acceptedNewest }
        return newest
    }

    /// When the newest acknowledgement came, or the newest batch was handed out; `nil` where no record tells.
    private static func newestAcknowledgement(in log: any EventLog) async -> Timestamp? {
        var newest: Timestamp?
        for lane in Lane.acknowledgementLanes {
            guard let head = try? await log.head(of: lane), head > 0,
                let record = try? await log.read(lane, after: head - 1, recordsMax: 1, bytesMax: .max).last,
                let group = try? AcknowledgementGroup(decoding: record.bytes)
            else { continue }
            for time in group.requests.map(\.received) + group.deliveries.map(\.at) {
                newest = newest.map { max($0, time) } ?? time
            }
        }
        return newest
    }

    /// How many listeners there were before, where that is not long ago.
    private static func expected(
        _ before: GatewayState?,
        at reading: ClockReading,
        configuration: GatewayConfiguration
    ) -> ExpectedListeners {
        guard let before, reading.now - before.time <= GatewayStateLimits.listenersAgeMax else {
            return ExpectedListeners()
        }
        // Within a lease everybody who still listens has asked for something.
        return ExpectedListeners(remembered: before.listeners, until: reading.steady + configuration.lease)
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
