// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Gateway
import GatewayCore
import Logging
import ServiceLifecycle
import UnixSignals

/// Reads the configuration again when SIGHUP says so, and takes over what may change while the gateway runs.
///
/// What the sources say is checked whole first: where anything is wrong, everything stays as it was.
struct ReloadService: Service {
    let hangups: UnixSignalsSequence
    let options: ServeConfiguration
    let configuration: GatewayConfiguration
    let gateway: Gateway
    let output: LogOutput
    let manager: ServiceManager
    let logger: Logger

    func run() async throws {
        var running = self.configuration
        for await _ in self.hangups.cancelOnGracefulShutdown() {
            // Told also where there is nothing to read: whoever asked for a reload waits for its end.
            self.manager.reloadBegan("reading the configuration again")
            defer { self.manager.reloadEnded(ManagerStatus(self.gateway.readiness, self.gateway.metrics).sentence) }
            guard self.options.config != nil || running.tellsBroadcastersApart else {
                self.logger.notice("SIGHUP: there is no configuration file to read again")
                continue
            }
            do {
                let change = ConfigurationChange(from: running, to: try await self.options.load())
                let access = try BroadcasterAccess.read(for: change.configuration)
                running = change.configuration
                self.output.reload(running)
                await self.gateway.reload(running, access)
                self.gateway.readiness.clear(.reload)
                self.tell(change, access)
            } catch let faults as ConfigurationFaults {
                self.raise(faults.faults.first.map { "\($0)" } ?? "")
                for fault in faults.faults {
                    self.logger.error(
                        "SIGHUP: the configuration is wrong, and everything stays as it was",
                        metadata: ["fault": "\(fault)"]
                    )
                }
            } catch {
                self.raise("\(error)")
                self.logger.error("SIGHUP: the configuration cannot be read", metadata: ["error": "\(error)"])
            }
        }
    }

    private func raise(_ reason: String) {
        self.gateway.readiness.raise(
            .reload,
            "The configuration could not be read again, and everything stays as it was: \(reason)"
        )
    }

    private func tell(_ change: ConfigurationChange, _ access: BroadcasterAccess?) {
        if access?.keys != self.gateway.broadcasterKeys {
            self.logger.warning(
                "SIGHUP: this key needs a restart",
                metadata: ["key": "broadcasters.secretKeyFile: another key stands in it"]
            )
        }
        for key in change.waiting {
            self.logger.warning("SIGHUP: this key needs a restart", metadata: ["key": "\(key)"])
        }
        self.logger.notice(
            "SIGHUP: the configuration was read again",
            metadata: [
                "file": "\(self.options.config ?? "none")",
                "changed": "\(change.applied.map(\.description).joined(separator: ", "))",
                "broadcasters": "\(access.map { $0.directory.names.joined(separator: ", ") } ?? "not told apart")",
            ]
        )
    }
}
