// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Gateway
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
            guard let file = self.options.config else {
                self.logger.notice("SIGHUP: there is no configuration file to read again")
                continue
            }
            do {
                let change = ConfigurationChange(from: running, to: try await self.options.load())
                running = change.configuration
                self.output.reload(running)
                await self.gateway.reload(running)
                self.tell(change, file: file)
            } catch let faults as ConfigurationFaults {
                for fault in faults.faults {
                    self.logger.error(
                        "SIGHUP: the configuration is wrong, and everything stays as it was",
                        metadata: ["fault": "\(fault)"]
                    )
                }
            } catch {
                self.logger.error("SIGHUP: the configuration cannot be read", metadata: ["error": "\(error)"])
            }
        }
    }

    private func tell(_ change: ConfigurationChange, file: String) {
        for key in change.waiting {
            self.logger.warning("SIGHUP: this key needs a restart", metadata: ["key": "\(key)"])
        }
        self.logger.notice(
            "SIGHUP: the configuration was read again",
            metadata: ["file": "\(file)", "changed": "\(change.applied.map(\.description).joined(separator: ", "))"]
        )
    }
}
