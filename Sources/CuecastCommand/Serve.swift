// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import Foundation
import Gateway
import GatewayCore
import GatewayHTTP
import Logging
import NetworkIO
import SQLiteStore
import SecretFiles
import ServiceLifecycle
import Synchronization
import Tokens
import UnixSignals
import ZeroMQ

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a gateway until SIGTERM or SIGINT.",
        discussion: """
            Prints one line when it is ready: ready notices=… requests=… broadcast=… http=… instance=…
            A port of * (for --http: 0) is chosen by the system. Messages for people go to standard error. SIGHUP reads the
            configuration file again; 'cuecast check-config' marks the keys that take effect at once as reloadable.

            Exits with 0 after a stop that was asked for, 69 when it cannot run, and 75 when the event log failed so that
            only a new start can tell what its file holds: a supervisor should then start it again.

            Example: cuecast serve --data-dir ./data --set breaks.announceAhead=8s
            """
    )

    @OptionGroup var options: ServeConfiguration

    @Flag(
        help: "Start although the machine's clock is behind the newest record: the clock is right, the record is not."
    )
    var acceptClock = false

    /// Kept until the process is gone: when it is let go, a hang-up ends the process again.
    private static let keptHangups: Mutex<UnixSignalsSequence?> = Mutex(nil)

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let manager = ServiceManager(ManagerEnvironment(environment, process: getpid())) {
            Logger(label: "cuecast").warning("\($0)")
        }
        ManagerEnvironment.clear()
        // From here on a hang-up ends nothing, whenever it comes.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        Self.keptHangups.withLock { $0 = hangups }
        let isForJournal = JournalStream.isStandardError(environment)
        let complain = { (sentence: String) in CommandOutput.complain(sentence, isForJournal: isForJournal) }
        var running: RunningConfiguration
        do {
            running = try await self.options.loadWithSources()
            try await self.options.checkFiles(of: running.configuration)
        } catch let faults as ConfigurationFaults {
            for fault in faults.faults { complain("the configuration is wrong: \(fault)") }
            manager.failed(
                "the configuration is wrong: \(faults.faults.first.map { "\($0)" } ?? "")",
                errorNumber: EINVAL
            )
            throw CommandExit.badData
        }
        running.configuration.acceptsClock = self.acceptClock
        let metrics = MetricRegistry()
        // Nobody of the gateway waits for who reads its messages.
        let lines = LineQueue(
            lost: { metrics.count(.logLinesSuppressed, .unread) },
            write: { CommandOutput.writeToError($0) }
        )
        let output = LogOutput(running.configuration, isForJournal: isForJournal, lines: lines)
        defer { output.finish() }
        LoggingSystem.bootstrap { label in GatewayLogHandler(label: label, output: output) }
        let logger = Logger(label: "cuecast")
        // A file that reaches a limit of the process is an error of the write, not the end of the process.
        signal(SIGXFSZ, SIG_IGN)
        do {
            try await self.serve(
                running,
                hangups: hangups,
                output: output,
                metrics: metrics,
                manager: manager,
                logger: logger
            )
        } catch let failure as LogFailed {
            let sentence =
                "the gateway ends because its event log failed: \(failure.reason). What was confirmed is in the file;"
                + " mend the disk, and start again: the start reads what the file holds."
            output.complain(sentence)
            manager.failed(sentence, errorNumber: EIO)
            throw CommandExit.logFailed
        } catch is CommandOutput.Failure {
            throw CommandExit.cannotWrite
        } catch let error as ExitCode {
            throw error
        } catch {
            output.complain("the gateway cannot run: \(error)")
            manager.failed("the gateway cannot run: \(error)", errorNumber: Self.errorNumber(of: error))
            throw CommandExit.unavailable
        }
    }
}

extension Serve {
    private func serve(
        _ running: RunningConfiguration,
        hangups: UnixSignalsSequence,
        output: LogOutput,
        metrics: MetricRegistry,
        manager: ServiceManager,
        logger: Logger
    ) async throws {
        let configuration = running.configuration
        let clock = SteeredClock(settings: configuration.clock)
        let opened = try await manager.whileStarting(
            "starting: opening the event log and the ledger"
        ) {
            try await Self.open(configuration, clock: clock, metrics: metrics, manager: manager, logger: logger)
        }
        let (stores, gateway) = (opened.stores, opened.gateway)
        let (log, ledger) = (stores.log, stores.ledger)
        if let reason = stores.newEpoch { gateway.readiness.raise(.epoch, reason.sentence) }
        let reloader = Reloader(
            options: self.options,
            running: running,
            gateway: gateway,
            httpAccess: opened.httpAccess,
            httpIdentity: opened.httpIdentity,
            httpEndpoint: opened.httpEndpoint,
            listenerTokens: opened.listenerTokens,
            output: output,
            manager: manager,
            now: { clock.now() },
            logger: logger
        )
        Reload.register(reloader, with: gateway.control)
        BackupCommand.register(
            stores.log,
            ledger,
            keysOf: configuration.dataDirectory,
            with: gateway.control
        )
        ForgetCommand.register(stores, configuration, of: gateway)
        let ready = ReadyLine(gateway, manager: manager)
        let endpointFile = opened.httpEndpoint
        var services: [any Service]
        if let access = opened.httpAccess, let address = configuration.http,
            var http = GatewayHTTPConfiguration(address: address)
        {
            http.bound(connectionsMax: gateway.httpConnectionsMax, listenersMax: gateway.httpListenersMax)
            // Until the gateway has drained it says that it is not ready, and that it lives.
            services = gateway.services(
                with: [
                    GatewayHTTPService(
                        configuration: http,
                        parts: Self.parts(opened, access: access, reloader: reloader, clock: clock, logger: logger),
                        identity: opened.httpIdentity,
                        bound: { address in
                            Self.note(address, in: endpointFile, logger: logger)
                            await ready.print(http: address)
                        }
                    )
                ]
            )
        } else {
            services = gateway.services + [ReadyService(ready: ready)]
        }
        services.append(ReloadService(hangups: hangups, reloader: reloader))
        services.append(ready)
        if let control = Self.control(of: gateway, in: configuration.dataDirectory, logger: logger) {
            // Last, so that it ends first: a command that runs is ended before what it needs.
            services.append(control)
        }
        services.append(ManagerStopService(manager: manager, drainTimeout: configuration.drainTimeout))
        let deadline = Task.detached { [log] in
            if await log.stopped() != nil { Self.endAnyway(after: configuration.drainTimeout, output) }
        }
        defer { deadline.cancel() }
        var groupLogger = logger
        // Its lines for developers show all that a service is made of.
        groupLogger.logLevel = .info
        do {
            try await ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: services.map {
                        // Where nobody can be told that the gateway is ready, it stops as if it was asked to.
                        .init(
                            service: $0,
                            failureTerminationBehavior: $0 is ReadyLine ? .gracefullyShutdownGroup : .cancelGroup
                        )
                    },
                    gracefulShutdownSignals: [.sigterm, .sigint],
                    logger: groupLogger
                )
            )
            .run()
        } catch {
            // What the log says is the better explanation.
            if log.failure == nil { throw error }
        }
        if let reason = log.failure { throw LogFailed(reason: "\(reason)") }
    }

    /// What HTTP asks of the gateway.
    private static func parts(
        _ opened: Opened,
        access: HTTPAccessHolder,
        reloader: Reloader,
        clock: SteeredClock,
        logger: Logger
    ) -> HTTPParts {
        let gateway = opened.gateway
        var parts = HTTPParts(
            ledger: opened.stores.ledger,
            log: opened.stores.log,
            metrics: gateway.metrics,
            missing: { gateway.readiness.missing.map(\.rawValue) },
            board: { gateway.board.board },
            now: { clock.now() },
            access: access,
            reload: { try await reloader.reload("HTTP") },
            logger: logger
        )
        parts.failure = { gateway.readiness.failure }
        parts.alarms = { gateway.readiness.alarms }
        parts.audit = { try await gateway.audit.records($0) }
        parts.note = { gateway.audit.note($0) }
        parts.broadcast = { request, principal, origin in
            await gateway.breakDesk.ask(
                request,
                by: principal,
                from: RequestOrigin(.http, address: origin.address, requestID: origin.requestID),
                trace: origin.trace
            )
        }
        parts.traces = gateway.traces
        parts.listeners = gateway.listeners
        parts.configuration = { reloader.holder.running }
        parts.limits = { gateway.limits(reloader.holder.running.configuration) }
        parts.overview = gateway.overview
        parts.breakChanges = gateway.breakChanges
        parts.draining = { gateway.readiness.isDraining }
        parts.version = CuecastVersion.text
        return parts
    }

    /// Lets commands on this machine find where HTTP is served; without that they must be told.
    private static func note(_ address: String, in file: HTTPEndpointFile, logger: Logger) {
        do throws(SecretFile.Fault) {
            try file.bound(address)
        } catch {
            logger.warning("commands must be told where HTTP is served", metadata: ["error": "\(error)"])
        }
    }

    /// Why only a new start helps.
    private struct LogFailed: Error {
        let reason: String
    }

    /// What a gateway runs with.
    private struct Opened {
        let stores: KeptStores
        let gateway: Gateway
        let httpAccess: HTTPAccessHolder?
        let httpIdentity: HTTPIdentityHolder?
        let httpEndpoint: HTTPEndpointFile
        let listenerTokens: ListenerTokens?
    }

    /// Opens the stores and makes the gateway; where that fails, what was opened is closed.
    private static func open(
        _ configuration: GatewayConfiguration,
        clock: SteeredClock,
        metrics: MetricRegistry,
        manager: ServiceManager,
        logger: Logger
    ) async throws -> Opened {
        let directory = try StoreDirectory(path: configuration.dataDirectory)
        var limits = SQLiteEventLog.Limits()
        limits.bytesMax = configuration.logBytesMax
        var ledgerSettings = KeptLedger.Settings()
        ledgerSettings.copiesKept = configuration.ledgerCopiesKept
        let stores = try await KeptStores.open(
            in: directory,
            limits: limits,
            settings: ledgerSettings,
            now: clock.now()
        )
        let (log, ledger) = (stores.log, stores.ledger)
        let audit = SQLiteAudit.open(in: directory)
        if let reason = stores.newEpoch {
            logger.warning(
                "the event log goes on in a new epoch: players get a snapshot, and no number is used again",
                metadata: ["reason": "\(reason.sentence)", "epoch": "\(String(log.epoch, radix: 16))"]
            )
        }
        do {
            var access: HTTPAccess?
            if configuration.http != nil {
                access = try await HTTPTokenFiles.access(for: configuration, makesFiles: true, at: clock.now())
            }
            let identity = try HTTPIdentity.read(for: configuration)
            let tokens = try await ListenerTokenFiles.rules(for: configuration)
                .map { ListenerTokens($0, metrics: metrics) }
            let gateway = try await Gateway(
                configuration: configuration,
                log: LogParts(local: log),
                ledger: ledger,
                keys: try await SigningKeys.open(for: configuration, of: log, logger: logger),
                tokens: tokens?.check,
                forgotten: try ForgettingFiles(directory: configuration.dataDirectory).read(),
                clock: clock,
                state: GatewayStateFile(directory: configuration.dataDirectory),
                audit: (audit.store, audit.fault),
                manager: manager,
                metrics: metrics,
                logger: logger
            )
            let holder = identity.map { HTTPIdentityHolder($0, metrics: metrics) }
            return Opened(
                stores: stores,
                gateway: gateway,
                httpAccess: access.map { HTTPAccessHolder($0) },
                httpIdentity: holder,
                httpEndpoint: HTTPEndpointFile(in: configuration.dataDirectory, holder),
                listenerTokens: tokens
            )
        } catch {
            await audit.store?.close()
            // Closed in order, so that the next start does not take this one for a crash.
            await ledger.close()
            await log.close()
            throw error
        }
    }

    /// The number that the system has for a failure; `nil`: it has none.
    private static func errorNumber(of error: any Error) -> Int32? {
        switch error {
        case let error as ZeroMQError: error.code.rawValue
        case let error as SystemCallError: error.code
        case GatewayHTTPError.addressInUse: EADDRINUSE
        default: nil
        }
    }
}

extension Serve {
    /// The control socket; without one the gateway runs all the same, and says so.
    private static func control(of gateway: Gateway, in directory: String, logger: Logger) -> ControlService? {
        do {
            return try ControlService(
                directory: directory,
                commands: gateway.control,
                metrics: gateway.metrics,
                logger: logger
            )
        } catch {
            let sentence = "There is no control socket, so commands cannot reach this gateway: \(error)"
            gateway.readiness.raise(.control, sentence)
            logger.error("there is no control socket", metadata: ["error": "\(error)"])
            return nil
        }
    }
}

extension Serve {
    /// Ends the process where it cannot close: what failed the log may let the next call never return.
    ///
    /// Nothing is lost by it: what was confirmed is in the log's file.
    private static func endAnyway(after timeout: Duration, _ output: LogOutput) {
        // A thread of its own: what hangs may hold all that Swift's tasks share.
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: timeout / .seconds(1))
            output.complain(
                "the event log failed, and its files could not be closed for \(timeout): the process ends as it is"
            )
            output.finish()
            _exit(CommandExit.logFailed.rawValue)
        }
    }
}

/// Says that the gateway is ready where no HTTP service does: when signals are heard already.
private struct ReadyService: Service {
    let ready: ReadyLine

    func run() async throws {
        await self.ready.print(http: "none")
        try await gracefulShutdown()
    }
}

/// The line that scripts wait for, and what the service manager is told with it.
///
/// As a service it ends the gateway where the line cannot be written: whoever waits for it would wait for ever.
private struct ReadyLine: Service {
    private let gateway: Gateway
    private let manager: ServiceManager
    private let failures: AsyncStream<CommandOutput.Failure>
    private let sink: AsyncStream<CommandOutput.Failure>.Continuation

    init(_ gateway: Gateway, manager: ServiceManager) {
        self.gateway = gateway
        self.manager = manager
        (self.failures, self.sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    func print(http: String) async {
        await self.gateway.readiness.begun()
        guard !Task.isCancelled else { return }
        let endpoints = self.gateway.endpoints
        CommandOutput.say(
            "ready notices=\(endpoints.notices) requests=\(endpoints.requests)"
                + " broadcast=\(endpoints.broadcast) http=\(http) instance=\(String(self.gateway.instance, radix: 16))"
        )
        guard CommandOutput.failure == nil else {
            if let failure = CommandOutput.failure { self.sink.yield(failure) }
            return
        }
        self.manager.ready(ManagerStatus(self.gateway.readiness, self.gateway.metrics).sentence)
    }

    func run() async throws {
        for await failure in self.failures.cancelOnGracefulShutdown() { throw failure }
    }
}
