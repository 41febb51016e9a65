// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import Foundation
import Gateway
import GatewayCore
import GatewayHTTP
import Logging
import SQLiteStore
import ServiceLifecycle
import UnixSignals
import ZeroMQ

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a gateway until SIGTERM or SIGINT.",
        discussion: """
            Prints one line when it is ready: ready notices=… requests=… broadcast=… http=… instance=…
            A port of * (for --http: 0) is chosen by the system. Messages for people go to standard error.

            Example: cuecast serve --data-dir ./data --set breaks.announceAhead=8s
            """
    )

    @OptionGroup var options: ServeConfiguration

    @Flag(
        help: "Start although the machine's clock is behind the newest record: the clock is right, the record is not."
    )
    var acceptClock = false

    func run() async throws {
        var configuration = try await self.options.read()
        configuration.acceptsClock = self.acceptClock
        let level = Logger.Level(rawValue: configuration.logLevel) ?? .info
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        let logger = Logger(label: "cuecast")
        do {
            try await Self.serve(configuration, logger: logger)
        } catch let error as ExitCode {
            throw error
        } catch {
            complain("the gateway cannot run: \(error)")
            throw CommandExit.unavailable
        }
    }
}

extension Serve {
    private static func serve(_ configuration: GatewayConfiguration, logger: Logger) async throws {
        let directory = try StoreDirectory(path: configuration.dataDirectory)
        let log = try SQLiteEventLog(in: directory)
        let ledger = try SQLiteLedger(in: directory)
        let clock = SteeredClock(settings: configuration.clock)
        let gateway = try await Gateway(
            configuration: configuration,
            log: log,
            ledger: ledger,
            clock: clock,
            state: GatewayStateFile(directory: configuration.dataDirectory),
            logger: logger
        )
        let ready = ReadyLine(gateway.endpoints, instance: gateway.instance)
        var services = gateway.services
        if let address = configuration.http, let http = GatewayHTTPConfiguration(address: address) {
            services.append(
                GatewayHTTPService(
                    configuration: http,
                    ledger: ledger,
                    log: log,
                    metrics: gateway.metrics,
                    missing: { gateway.readiness.missing.map(\.rawValue) },
                    alarms: { gateway.readiness.alarms },
                    board: { gateway.board.board },
                    now: { clock.now() },
                    logger: logger,
                    bound: { ready.print(http: $0) }
                )
            )
        } else {
            services.append(ReadyService(ready: ready))
        }
        if let control = Self.control(of: gateway, in: configuration.dataDirectory, logger: logger) {
            // Last, so that it ends first: a command that runs is ended before what it needs.
            services.append(control)
        }
        try await ServiceGroup(
            services: services,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        .run()
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

/// Says that the gateway is ready where no HTTP service does: when signals are heard already.
private struct ReadyService: Service {
    let ready: ReadyLine

    func run() async throws {
        self.ready.print(http: "none")
        try await gracefulShutdown()
    }
}

/// The line that scripts wait for.
private struct ReadyLine: Sendable {
    private let endpoints: Gateway.Endpoints
    private let instance: UInt64

    init(_ endpoints: Gateway.Endpoints, instance: UInt64) {
        self.endpoints = endpoints
        self.instance = instance
    }

    func print(http: String) {
        let line =
            "ready notices=\(self.endpoints.notices) requests=\(self.endpoints.requests)"
            + " broadcast=\(self.endpoints.broadcast) http=\(http) instance=\(String(self.instance, radix: 16))\n"
        FileHandle.standardOutput.write(Data(line.utf8))
    }
}
