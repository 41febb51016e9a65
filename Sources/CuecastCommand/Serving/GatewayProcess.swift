// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import Foundation
import Gateway
import GatewayCore
import GatewayHTTP
import Logging
import SQLiteStore
import ServiceLifecycle
import Tokens
import UnixSignals

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The process of `cuecast serve`: its stores, the gateway on them, and what looks at the gateway.
///
/// Everything of the process is made here. What the gateway itself is made of stands in `Gateway.init`.
struct GatewayProcess: Sendable {
    /// Why only a new start helps.
    struct LogFailed: Error {
        let reason: String
        /// Whether several gateways share the log.
        let isShared: Bool
    }

    let gateway: Gateway
    let http: ServedHTTP
    /// Check the tokens of listeners; `nil`: no token is checked.
    let listenerTokens: ListenerTokens?
    let clock: SteeredClock
    let outlets: ProcessOutlets
    private let stores: ProcessStores

    /// Opens the stores and makes the gateway; where that fails, what was opened is closed.
    ///
    /// - Parameters:
    ///   - configuration: checked.
    ///   - outlets: by what the process tells what it does.
    /// - Throws: the reason not to start, for instance an address in use.
    init(opening configuration: GatewayConfiguration, outlets: ProcessOutlets) async throws {
        let clock = SteeredClock(settings: configuration.clock)
        let stores = try await ProcessStores(opening: configuration, at: clock.now(), logger: outlets.logger)
        do {
            var access: HTTPAccess?
            if configuration.http != nil {
                access = try await HTTPTokenFiles.access(for: configuration, makesFiles: true, at: clock.now())
            }
            let identity = try HTTPIdentity.read(for: configuration)
            let mappings = try AutomationMappingsFile.mappings(for: configuration)
            self.listenerTokens = try await ListenerTokenFiles.rules(for: configuration)
                .map { ListenerTokens($0, metrics: outlets.metrics) }
            let keys = GatewayKeys(
                try await SigningKeys.open(
                    for: configuration,
                    of: stores.log,
                    isShared: stores.kept == nil,
                    logger: outlets.logger
                ),
                tokens: self.listenerTokens?.check
            )
            self.gateway = try await Gateway(
                configuration: configuration,
                stores: try stores.gatewayStores(),
                keys: keys,
                clock: clock,
                manager: outlets.manager,
                metrics: outlets.metrics,
                logger: outlets.logger
            )
            self.http = ServedHTTP(access, identity, mappings, in: configuration.dataDirectory, outlets: outlets)
        } catch {
            await stores.close()
            throw error
        }
        self.stores = stores
        self.clock = clock
        self.outlets = outlets
    }

    /// Runs until SIGTERM or SIGINT, or until a service fails.
    ///
    /// - Parameters:
    ///   - options: read again by a reload.
    ///   - running: the configuration that the process was opened with.
    ///   - hangups: ask for a reload.
    /// - Throws: `LogFailed`, or what ended another service.
    func run(
        _ options: ServeConfiguration,
        _ running: RunningConfiguration,
        hangups: UnixSignalsSequence
    ) async throws {
        let (configuration, log, output) = (running.configuration, self.stores.log, self.outlets.output)
        if let reason = self.stores.newEpoch { self.gateway.readiness.raise(.epoch, reason.sentence) }
        let reloader = Reloader(options, running: running, of: self)
        self.registerCommands(reloader, configuration)
        let services = self.services(configuration, reloader: reloader, hangups: hangups)
        let deadline = Task.detached {
            if await log.stopped() != nil { Self.endAnyway(after: configuration.drainTimeout, output) }
        }
        defer { deadline.cancel() }
        do {
            try await self.group(of: services).run()
        } catch {
            // The log has the better explanation.
            if self.stores.failure == nil { throw error }
        }
        await self.stores.closeBoard()
        if let reason = self.stores.failure {
            throw LogFailed(reason: reason, isShared: self.stores.kept == nil)
        }
    }
}

extension GatewayProcess {
    /// Registers the commands of the control socket, beside those that the gateway answers itself.
    private func registerCommands(_ reloader: Reloader, _ configuration: GatewayConfiguration) {
        Reload.register(reloader, with: self.gateway.control)
        GatewaysCommand.register(self.gateway)
        guard let kept = self.stores.kept else {
            for (name, sentence) in Self.refusedOnSharedLog {
                self.gateway.control.register(name, changes: true) { _, _ in
                    throw ControlError(sentence, exitCode: CommandExit.unavailable.rawValue)
                }
            }
            return
        }
        BackupCommand.register(
            kept.log,
            kept.ledger,
            keysOf: configuration.dataDirectory,
            with: self.gateway.control
        )
        ForgetCommand.register(kept, configuration, of: self.gateway)
    }

    /// The commands that do not work yet where several gateways share the log, and what is said of each.
    private static let refusedOnSharedLog = [
        (
            "backup",
            "no backup was made: several gateways share the log. 'cuecast cluster backup' copies it from its servers"
        ),
        (
            ForgetCommand.name,
            "nothing was forgotten: several gateways share the log; name its servers with --servers or --config, and the operator's key"
        ),
    ]

    /// The services in the order in which they start; they end in the opposite one.
    private func services(
        _ configuration: GatewayConfiguration,
        reloader: Reloader,
        hangups: UnixSignalsSequence
    ) -> [any Service] {
        let ready = ReadyLine(self.gateway, manager: self.outlets.manager)
        var services: [any Service]
        if let server = self.server(configuration, reloader: reloader, ready: ready) {
            // Until the gateway has drained it says that it is not ready, and that it lives.
            services = self.gateway.services(with: [server])
        } else {
            services = self.gateway.services + [ReadyService(ready: ready)]
        }
        services.append(ReloadService(hangups: hangups, reloader: reloader))
        if let forgetting = self.stores.forgetting {
            services.append(
                SharedForgettingService(
                    forgetting,
                    ledger: self.stores.ledger,
                    log: self.stores.log,
                    gateway: self.gateway,
                    logger: self.outlets.logger
                )
            )
        }
        services.append(ready)
        if let control = self.control(in: configuration.dataDirectory) {
            // Last, so that it ends first: a command that runs is ended before what it needs.
            services.append(control)
        }
        services.append(ManagerStopService(manager: self.outlets.manager, stopMax: configuration.stopMax))
        return services
    }

    private func group(of services: [any Service]) -> ServiceGroup {
        var logger = self.outlets.logger
        // Its lines for developers show all that a service is made of.
        logger.logLevel = .info
        return ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map {
                    // If the ready line cannot be written, the gateway stops gracefully.
                    .init(
                        service: $0,
                        failureTerminationBehavior: $0 is ReadyLine ? .gracefullyShutdownGroup : .cancelGroup
                    )
                },
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
        )
    }

    /// The HTTP server; `nil`: HTTP is not served.
    private func server(
        _ configuration: GatewayConfiguration,
        reloader: Reloader,
        ready: ReadyLine
    ) -> GatewayHTTPService? {
        guard let access = self.http.access, let address = configuration.http,
            var server = GatewayHTTPConfiguration(address: address)
        else { return nil }
        server.bound(
            connectionsMax: self.gateway.httpConnectionsMax,
            listenersMax: self.gateway.httpListenersServedMax,
            handsListenersOver: configuration.handsListenersOver
        )
        let (clock, http, logger) = (self.clock, self.http, self.outlets.logger)
        var parts = HTTPParts(
            of: self.gateway,
            ledger: self.stores.ledger,
            log: self.stores.log,
            now: { clock.now() },
            access: access,
            configuration: { reloader.holder.running },
            reload: { try await reloader.reload("HTTP") },
            logger: logger
        )
        parts.administration.version = CuecastVersion.text
        parts.breaks.mappings = { http.mappings.mappings }
        return GatewayHTTPService(
            configuration: server,
            parts: parts,
            identity: http.identity,
            bound: { address in
                http.bound(address, logger: logger)
                await ready.print(http: address)
            }
        )
    }

    /// The control socket; without one the gateway runs all the same, and says so.
    private func control(in directory: String) -> ControlService? {
        let (gateway, logger) = (self.gateway, self.outlets.logger)
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
