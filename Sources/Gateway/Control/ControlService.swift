// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore
package import Logging
import ServiceLifecycle
import SystemSupport

/// Listens on `control.sock` in the data directory and carries out what is asked there.
///
/// One JSON object on a line each way: `{"command": "clock"}`; then any number of `{"progress": {…}}` (an empty one only
/// says that the command still runs) and in the end `{"done": {…}}` or `{"error": "sentence", "exitCode": 69}`. One
/// command at a time on a connection. A process that may open the file may run every command: the file's mode is 0600, in a
/// folder of mode 0700.
package struct ControlService: Service {
    /// The name of the socket's file in the data directory.
    package static let fileName = "control.sock"

    private let commands: ControlCommands
    private let server: ControlServer
    private let logger: Logger

    /// Binds the socket.
    ///
    /// - Parameters:
    ///   - directory: the data directory, which the caller holds: a socket file in it is a leftover and replaced.
    ///   - commands: the available commands.
    ///   - times: for tests.
    ///   - metrics: counts limits that are reached.
    ///   - logger: for people.
    /// - Throws: `UnixSocketError` when the file cannot be made.
    package init(
        directory: String,
        commands: ControlCommands,
        times: ControlTimes = ControlTimes(),
        metrics: MetricRegistry,
        logger: Logger
    ) throws {
        self.commands = commands
        self.server = try ControlServer(directory: directory, times: times, metrics: metrics, logger: logger)
        self.logger = logger
    }

    package func run() async throws {
        let thread = try OSThread.start(name: "cuecast-control") { [server] in server.serve() }
        thread.detach()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [server] in
                // Ends with the graceful shutdown and with the task: either way no command goes on.
                try? await gracefulShutdown()
                server.stop()
            }
            for await call in self.server.calls {
                group.addTask { await self.perform(call) }
            }
            // The calls end with the server; if the task ended before it, the child above ends them.
            self.server.stop()
            group.cancelAll()
        }
        // Every command that was begun is answered; a command that was read at the last moment has no service to run it.
        self.server.abandon()
        await self.server.waitForEnd()
    }

    /// Carries out one command; ends it when its client goes away.
    private func perform(_ call: ControlServer.Call) async {
        await withTaskGroup(of: ControlReply?.self) { group in
            group.addTask { await self.reply(to: call) }
            group.addTask {
                for await _ in call.cancellation {}
                return nil
            }
            for await reply in group {
                if let reply { self.server.answer(call, reply) }
                group.cancelAll()
            }
        }
    }

    private func reply(to call: ControlServer.Call) async -> ControlReply {
        let name = call.request.command
        do throws(ControlError) {
            let done = try await self.commands.perform(name, call.request.arguments) { [server] in
                server.progress(call, $0)
            }
            self.logger.info("a command was carried out", metadata: ["command": "\(name)"])
            return .done(done)
        } catch {
            self.logger.notice("a command was refused", metadata: ["command": "\(name)", "error": "\(error)"])
            return .failed(error)
        }
    }
}
