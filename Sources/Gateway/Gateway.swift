// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
package import GatewayCore
package import Logging
package import ServiceLifecycle
import ZeroMQ

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A gateway: its sockets bound, its board loaded, its services ready to run.
///
/// ```swift
/// let gateway = try await Gateway(configuration: configuration, log: log, ledger: ledger, logger: logger)
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
    package let services: [any Service]
    package let readiness: ReadinessBoard
    package let metrics: MetricRegistry
    package let board: BoardHolder
    /// What can be asked of this gateway through its control socket; `ControlService` serves it.
    package let control: ControlCommands
    /// Which run of the gateway this is.
    package let instance: UInt64
    private let requestService: RequestService

    /// Loads the board and binds the sockets.
    ///
    /// - Parameters:
    ///   - configuration: checked.
    ///   - log: open; the last of `services` to end closes it.
    ///   - ledger: open; closed with the log.
    ///   - clock: the truth about when breaks start.
    ///   - retention: whether the log's own time may go on.
    ///   - metrics: counts what happens.
    ///   - logger: for people.
    /// - Throws: what stands in the way of starting, for instance an address that is in use.
    package init(
        configuration: GatewayConfiguration,
        log: any EventLog,
        ledger: any Ledger,
        clock: any GatewayClock = SystemClock(),
        retention: RetentionGate = RetentionGate(),
        metrics: MetricRegistry = MetricRegistry(),
        logger: Logger
    ) async throws {
        let board = try await BreakBoardService.load(from: log)
        let holder = BoardHolder(board)
        let instance = UInt64.random(in: 1 ... .max)
        let readiness = ReadinessBoard(metrics: metrics)
        readiness.set(.log, isReady: true)
        readiness.set(.board, isReady: true)
        metrics.set(.streams, to: board.streams.count)
        for lane in [Lane.breaks, .acknowledgements(0)] {
            metrics.set(.logOffset, .lane(lane), to: Int(clamping: try await log.head(of: lane)))
        }

        let cores = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let context = try Context(
            ioThreads: configuration.ioThreads > 0 ? configuration.ioThreads : max(1, cores - 1),
            socketsMax: 64
        )
        let monitors = ConnectionMonitors(metrics: metrics)
        let notices = try GatewaySocket.notices.make(in: context)
        let noticesMonitor = try monitors.watch(notices, .notices)
        let requests = try GatewaySocket.requests.make(in: context)
        let requestsMonitor = try monitors.watch(requests, .requests)
        let broadcast = try GatewaySocket.broadcast.make(in: context)
        let broadcastMonitor = try monitors.watch(broadcast, .broadcast)
        self.endpoints = Endpoints(
            notices: try notices.bind(configured: configuration.notices),
            requests: try requests.bind(configured: configuration.requests),
            broadcast: try broadcast.bind(configured: configuration.broadcast)
        )

        let noticeThread = try PollingThread(name: "cuecast-notices")
        let requestThread = try PollingThread(name: "cuecast-request")
        let boardThread = try WorkerThreads(name: "cuecast-board", count: 1)
        let fanOut = FanOutService(
            thread: noticeThread,
            socket: notices,
            board: board,
            settings: FanOutService.Settings(instance: instance, headInterval: configuration.headInterval),
            clock: clock,
            metrics: metrics,
            logger: logger
        )
        var settings = ListenerRequestHandler.Settings(instance: instance)
        settings.headInterval = configuration.headInterval
        settings.lease = configuration.lease
        settings.listenersMax = configuration.listenersMax
        settings.requestsPerSessionPerSecondMax = Double(configuration.requestsPerSessionPerSecondMax)
        settings.acknowledgementsWaitingMax = configuration.acknowledgementsWaitingMax
        settings.acknowledgementBytesWaitingMax = configuration.acknowledgementBytesWaitingMax
        settings.deliveriesWaitingMax = configuration.deliveriesWaitingMax
        let requestService = RequestService(
            thread: requestThread,
            listeners: requests,
            broadcasters: broadcast,
            handler: ListenerRequestHandler(settings: settings, board: board, metrics: metrics),
            log: log,
            holder: holder,
            configuration: configuration,
            clock: clock,
            metrics: metrics,
            readiness: readiness,
            retention: retention,
            logger: logger
        )
        let ledgerService = LedgerService(
            log: log,
            ledger: ledger,
            holder: holder,
            configuration: configuration,
            clock: clock,
            metrics: metrics,
            logger: logger
        )
        let boardService = BreakBoardService(
            log: log,
            holder: holder,
            observers: [requestService, ledgerService],
            sinks: [fanOut],
            metrics: metrics,
            logger: logger
        )

        self.services = [
            ResourceService(
                log: log,
                ledger: ledger,
                threads: [noticeThread, requestThread],
                workers: [boardThread],
                monitors: [noticesMonitor, requestsMonitor, broadcastMonitor]
            ),
            MemoryService(metrics: metrics, logger: logger), ledgerService, fanOut,
            ThreadedService(boardService, on: boardThread), requestService,
        ]
        self.readiness = readiness
        self.metrics = metrics
        self.board = holder
        self.control = ControlCommands()
        self.instance = instance
        self.requestService = requestService
    }

    /// Takes over what may change while the gateway runs; everything else of a configuration is passed over.
    package func reload(_ configuration: GatewayConfiguration) async {
        await self.requestService.reload(configuration)
    }
}
