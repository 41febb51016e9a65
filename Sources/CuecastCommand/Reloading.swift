// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import Logging
import ServiceLifecycle
import Tokens
import UnixSignals

/// Reads the configuration, keys and rights again, and takes over what may change while the gateway runs.
///
/// It checks the whole configuration first: if anything is wrong, nothing changes. Reloads run one after the other, whatever
/// requested them.
actor Reloader {
    private let options: ServeConfiguration
    /// The configuration that the gateway runs with.
    nonisolated let holder: RunningConfigurationHolder
    private let process: GatewayProcess
    private var last: Task<ReloadDocument, any Error>?

    /// - Parameters:
    ///   - options: read again.
    ///   - running: the configuration that the process was opened with.
    ///   - process: takes over what has changed.
    init(_ options: ServeConfiguration, running: RunningConfiguration, of process: GatewayProcess) {
        self.options = options
        self.holder = RunningConfigurationHolder(running)
        self.process = process
    }

    private var gateway: Gateway { self.process.gateway }
    private var logger: Logger { self.process.outlets.logger }

    /// Reads everything again.
    ///
    /// - Parameter way: how it was asked for, for the log.
    /// - Returns: the changes.
    /// - Throws: `ConfigurationFaults` where anything is wrong; it is logged and an alarm too.
    @discardableResult
    func reload(_ way: String) async throws -> ReloadDocument {
        let before = self.last
        let next = Task {
            _ = await before?.result
            return try await self.readAgain(way)
        }
        self.last = next
        return try await next.value
    }

    /// Reads everything again because a signal says so; what went wrong is logged and an alarm.
    func hangUp() async {
        var refusal: Refusal?
        do {
            try await self.reload("SIGHUP")
        } catch {
            refusal = Refusal(.invalid, "\(error)")
        }
        self.gateway.audit.note("reload", by: "", from: RequestOrigin(.command, requestID: "SIGHUP"), refusal)
    }

    private func readAgain(_ way: String) async throws -> ReloadDocument {
        // Reported also if there is nothing to read: the caller that asked for a reload waits for its end.
        let manager = self.process.outlets.manager
        manager.reloadBegan("reading the configuration again")
        defer { manager.reloadEnded(ManagerStatus(self.gateway.readiness, self.gateway.metrics).sentence) }
        do {
            let (running, read) = (self.holder.running, try await self.options.loadWithSources())
            try self.requireSettings(of: read, where: running)
            let change = ConfigurationChange(from: running.configuration, to: read.configuration)
            let broadcasters = try BroadcasterAccess.read(for: change.configuration)
            let keys = try SigningKeys.read(for: change.configuration)
            let identity = try ListenerEncryption.read(for: change.configuration)
            let httpIdentity = try HTTPIdentity.read(for: change.configuration)
            let rules = try await ListenerTokenFiles.rules(for: change.configuration)
            let mappings = try AutomationMappingsFile.mappings(for: change.configuration)
            // The last that may fail: it makes files, which count only where everything else is right.
            var access: HTTPAccess?
            if self.process.http.access != nil {
                let now = self.process.clock.now()
                access = try await HTTPTokenFiles.access(for: change.configuration, makesFiles: true, at: now)
            }
            // From here on nothing fails.
            self.holder.replace(by: running.changed(by: change, read.sources))
            self.process.outlets.output.reload(change.configuration)
            await self.gateway.reload(change.configuration, broadcasters, keys, identity)
            self.process.http.reload(access, httpIdentity, logger: self.logger)
            self.process.http.mappings.reload(mappings)
            if let rules { self.process.listenerTokens?.reload(rules) }
            self.gateway.readiness.clear(.reload)
            return self.report(change, broadcasters, keys, way)
        } catch let faults as ConfigurationFaults {
            self.raise(faults.faults.first.map { "\($0)" } ?? "")
            for fault in faults.faults {
                self.logger.error(
                    "a reload found a fault, and everything stays as it was",
                    metadata: ["fault": "\(fault)", "by": "\(way)"]
                )
            }
            throw faults
        } catch {
            self.raise("\(error)")
            self.logger.error(
                "a reload could not read the configuration, and everything stays as it was",
                metadata: ["error": "\(error)", "by": "\(way)"]
            )
            throw ConfigurationFaults([ConfigurationFault(key: "config", reason: "\(error)")])
        }
    }

    /// A file that says nothing any more was lost on its way, and not meant: what it protected would be open to everybody.
    private func requireSettings(of read: RunningConfiguration, where running: RunningConfiguration) throws {
        guard running.sources.values.contains(.file), !read.sources.values.contains(.file) else { return }
        throw ConfigurationFaults([
            ConfigurationFault(
                key: "config",
                reason: "the file has no setting any more; where that is meant, start the gateway again"
            )
        ])
    }

    private func raise(_ reason: String) {
        self.gateway.readiness.raise(
            .reload,
            "The configuration could not be read again, and everything stays as it was: \(reason)"
        )
    }

    private func report(
        _ change: ConfigurationChange,
        _ access: BroadcasterAccess?,
        _ keys: MessageKeys,
        _ way: String
    ) -> ReloadDocument {
        var waiting = change.waiting.map(\.description)
        if access?.keys != self.gateway.broadcasterKeys {
            waiting.insert("broadcasters.secretKeyFile: another key stands in it", at: 0)
        }
        for key in waiting {
            self.logger.warning("a reload found a key that needs a restart", metadata: ["key": "\(key)"])
        }
        let document = ReloadDocument(changed: change.applied.map(\.description), needRestart: waiting)
        self.logger.notice(
            "the configuration was read again",
            metadata: [
                "by": "\(way)",
                "file": "\(self.options.config ?? "none")",
                "changed": "\(document.changed.joined(separator: ", "))",
                "broadcasters": "\(access.map { $0.directory.names.joined(separator: ", ") } ?? "not told apart")",
                "signingKeys": "\(keys.ring.keys.map { "\($0.id) \($0.state.rawValue)" }.joined(separator: ", "))",
            ]
        )
        return document
    }
}

/// Reloads when SIGHUP says so.
struct ReloadService: Service {
    let hangups: UnixSignalsSequence
    let reloader: Reloader

    func run() async throws {
        for await _ in self.hangups.cancelOnGracefulShutdown() {
            await self.reloader.hangUp()
        }
    }
}
