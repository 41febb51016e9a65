// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import JetStreamLog
import Logging

/// Why the log that several gateways share cannot be used: a sentence, with what to do.
struct SharedLogFault: Error, CustomStringConvertible {
    let description: String
}

/// The event log that several gateways share, open, for the one of this process.
struct SharedLog: Sendable {
    /// How long a start waits for servers that do not answer (1 min): machines that start together take some time.
    static let openWithin: Duration = .seconds(60)
    /// How long a start waits for streams that the servers do not know (10 s): those that have just started do not know theirs.
    static let streamsWithin: Duration = .seconds(10)
    private static let tryAfter: Duration = .milliseconds(500)

    /// The log as this gateway writes and reads it.
    let log: any EventLog
    /// To the other gateways.
    let bus: GatewayBusParts
    /// Why what it holds is not certain any more; `nil`: it is.
    let failure: @Sendable () -> String?
    /// How many servers have each record.
    let replicas: Int
    /// The snapshots for gateways that begin; `nil`: the log was made without a stream for them.
    let snapshots: SnapshotArchive?
    /// The sessions that are forgotten; `nil`: there is no NATS in this program.
    let forgetting: SharedLogForgetting?

    /// Closes everything.
    ///
    /// Only where there is no gateway: a gateway closes it itself.
    func close() async {
        await self.bus.bus.close()
        await self.log.close()
    }
}

#if JetStream
extension SharedLogSettings {
    /// How the servers are reached.
    ///
    /// - Parameter name: of this client in the lists of the servers.
    /// - Returns: addresses, credentials and authorities.
    func access(as name: String) -> NATSAccess {
        var access = NATSAccess(servers: self.addresses)
        access.name = name
        if !self.credentialsFile.isEmpty {
            // Where it cannot be read any more, libnats says why.
            let text = (try? String(contentsOfFile: self.credentialsFile, encoding: .utf8)) ?? ""
            if case .key(let publicKey) = NATSCredentials(text) {
                access.key = NATSAccess.Key(publicKey: publicKey, seedFile: self.credentialsFile)
            } else {
                access.credentialsFile = self.credentialsFile
            }
        }
        if self.encrypts {
            access.tls = NATSAccess.TLS(authorityFile: self.authorityFile.isEmpty ? nil : self.authorityFile)
        }
        return access
    }

    /// The names of the log on the servers.
    ///
    /// A checked configuration has no prefix that is none.
    var names: LogNames { LogNames(prefix: self.prefix) ?? LogNames() }
}

extension SharedLog {
    /// Opens the log; waits for servers that do not answer yet.
    ///
    /// - Parameters:
    ///   - settings: checked.
    ///   - logger: is told what is waited for.
    /// - Returns: the log.
    /// - Throws: `SharedLogFault`.
    static func open(_ settings: SharedLogSettings, logger: Logger) async throws -> SharedLog {
        let begun = ContinuousClock.now
        var hasTold = false
        while true {
            do {
                return try await self.openOnce(settings, logger: logger)
            } catch let error as NATSError {
                let patience: Duration
                switch error {
                case .noAnswer, .refused: patience = self.openWithin
                case .noStream: patience = self.streamsWithin
                case .unusable: patience = .zero
                }
                guard ContinuousClock.now - begun < patience else { throw self.fault(error, settings) }
                if !hasTold {
                    hasTold = true
                    logger.notice("waiting for the servers of the shared log", metadata: ["error": "\(error)"])
                }
            } catch let error as EventLogError {
                guard ContinuousClock.now - begun < self.openWithin else {
                    throw SharedLogFault(description: "the shared log cannot be read: \(error)")
                }
            }
            try await Task.sleep(for: self.tryAfter)
        }
    }

    private static func openOnce(_ settings: SharedLogSettings, logger: Logger) async throws -> SharedLog {
        let access = settings.access(as: "cuecast-gateway")
        // Records of later orders wait until the books follow them (`SharedForgetting`).
        let base = try await JetStreamLog.open(access, names: settings.names, followed: 0)
        do {
            let connection = try await onAThread { () throws(NATSError) in try NATSConnection(access) }
            let replicas = try await onAThread { () throws(NATSError) in
                try LogCluster(connection, names: settings.names).replicas()
            }
            let log = try await WriterLog(over: base)
            if replicas == 1 {
                logger.warning(
                    "one server alone has the shared log: when its disk is lost, the log is lost",
                    metadata: ["prefix": "\(settings.prefix)"]
                )
            }
            let snapshots = await self.snapshots(settings, logger: logger)
            return SharedLog(
                log: log,
                bus: GatewayBusParts(
                    bus: NATSBus(connection, names: settings.names),
                    writer: log.writer,
                    version: CuecastVersion.text
                ),
                failure: { base.failure },
                replicas: replicas,
                snapshots: snapshots,
                forgetting: SharedLogForgetting(base)
            )
        } catch {
            await base.close()
            throw error
        }
    }

    /// The stream of snapshots; a start goes on without it.
    private static func snapshots(_ settings: SharedLogSettings, logger: Logger) async -> SnapshotArchive? {
        do throws(NATSError) {
            let found = try await JetStreamSnapshots.open(
                settings.access(as: "cuecast-snapshots"),
                names: settings.names
            )
            if let found { return SnapshotArchive(found) }
            logger.warning(
                "the shared log has no stream of snapshots: a gateway on an empty directory reads the whole log; 'cuecast cluster init --add-snapshots' makes it",
                metadata: ["stream": "\(settings.names.snapshotStream)"]
            )
        } catch {
            logger.warning(
                "the stream of snapshots cannot be used: a gateway on an empty directory reads the whole log",
                metadata: ["stream": "\(settings.names.snapshotStream)", "error": "\(error)"]
            )
        }
        return nil
    }

    private static func fault(_ error: NATSError, _ settings: SharedLogSettings) -> SharedLogFault {
        switch error {
        case .noAnswer, .refused:
            SharedLogFault(
                description:
                    "the servers of the shared log did not let the gateway in for \(self.openWithin.components.seconds) s: \(error)"
            )
        case .noStream:
            SharedLogFault(
                description:
                    "there is no log with the prefix \(settings.prefix) at \(settings.servers) (\(error)): make it once, with 'cuecast cluster init', or name another prefix (jetstream.prefix)"
            )
        case .unusable: SharedLogFault(description: "the shared log cannot be used: \(error)")
        }
    }
}

/// Does something that blocks, on a thread of its own.
func onAThread<Value: Sendable>(_ body: @escaping @Sendable () throws(NATSError) -> Value) async throws(NATSError)
    -> Value
{
    let result = await withCheckedContinuation { continuation in
        DispatchQueue(label: "cuecast-nats")
            .async { continuation.resume(returning: Result { () throws(NATSError) in try body() }) }
    }
    return try result.get()
}
#else
extension SharedLog {
    static func open(_ settings: SharedLogSettings, logger: Logger) async throws -> SharedLog {
        throw SharedLogFault(
            description:
                "this program was built without NATS (the package's trait JetStream), and cannot use a shared log"
        )
    }
}
#endif

extension GatewayConfiguration {
    /// The faults of the settings of a shared log that a start does not go on with; empty: none.
    var sharedLogStartFaults: [ConfigurationFault] {
        guard self.sharedLog.isUsed else { return [] }
        return self.sharedLogFileFaults + (self.syncFault.map { [$0] } ?? [])
    }

    /// The files that the settings name, and that cannot be used.
    var sharedLogFileFaults: [ConfigurationFault] {
        [
            ("jetstream.credentialsFile", self.sharedLog.credentialsFile),
            ("jetstream.tls.authorityFile", self.sharedLog.authorityFile),
        ]
        .compactMap { key, file in
            guard !file.isEmpty else { return nil }
            do {
                let text = try String(contentsOfFile: file, encoding: .utf8)
                guard !text.isEmpty else { return ConfigurationFault(key: key, reason: "the file \(file) is empty") }
                guard file == self.sharedLog.credentialsFile, NATSCredentials(text) == nil else { return nil }
                return ConfigurationFault(
                    key: key,
                    reason:
                        "\(file) has neither a token of NATS nor a key (a line with a seed, SU…, and a line with its public key, U…)"
                )
            } catch {
                return ConfigurationFault(key: key, reason: "\(file): \(ConfigurationFault.reason(notReading: error))")
            }
        }
    }
}
