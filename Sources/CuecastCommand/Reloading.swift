// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Gateway
import Logging
import ServiceLifecycle
import Synchronization
import UnixSignals

/// The least severe messages that are logged; may change while the gateway runs.
final class LogThreshold: Sendable {
    private let level: Mutex<Logger.Level>

    init(_ level: Logger.Level) {
        self.level = Mutex(level)
    }

    var value: Logger.Level {
        get { self.level.withLock { $0 } }
        set { self.level.withLock { $0 = newValue } }
    }
}

extension Logger.Level {
    init(_ configuration: GatewayConfiguration) {
        // The configuration is checked: every level of it is one.
        self = Logger.Level(rawValue: configuration.logLevel) ?? .info
    }
}

/// Writes to standard error what the threshold lets through.
struct ThresholdLogHandler: LogHandler {
    private var output: StreamLogHandler
    private let threshold: LogThreshold

    init(label: String, threshold: LogThreshold) {
        self.output = StreamLogHandler.standardError(label: label)
        self.output.logLevel = .trace
        self.threshold = threshold
    }

    var logLevel: Logger.Level {
        get { self.threshold.value }
        // One threshold for the process: the configuration's.
        set { _ = newValue }
    }

    var metadata: Logger.Metadata {
        get { self.output.metadata }
        set { self.output.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.output[metadataKey: key] }
        set { self.output[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        self.output.log(event: event)
    }
}

/// Reads the configuration again when SIGHUP says so, and takes over what may change while the gateway runs.
///
/// What the sources say is checked whole first: where anything is wrong, everything stays as it was.
struct ReloadService: Service {
    let hangups: UnixSignalsSequence
    let options: ServeConfiguration
    let configuration: GatewayConfiguration
    let gateway: Gateway
    let threshold: LogThreshold
    let logger: Logger

    func run() async throws {
        var running = self.configuration
        for await _ in self.hangups.cancelOnGracefulShutdown() {
            guard let file = self.options.config else {
                self.logger.notice("SIGHUP: there is no configuration file to read again")
                continue
            }
            do {
                let change = ConfigurationChange(from: running, to: try await self.options.load())
                running = change.configuration
                self.threshold.value = Logger.Level(running)
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
