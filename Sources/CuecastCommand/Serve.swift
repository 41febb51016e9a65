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

    func run() async throws {
        let configuration = try await self.options.read()
        let level = Logger.Level(rawValue: configuration.logLevel) ?? .info
        LoggingSystem.bootstrap { label, _ in
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
