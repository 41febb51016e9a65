// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore

/// Where the event log is that several gateways share; without servers the gateway has its log for itself, in its data directory.
package struct SharedLogSettings: Hashable, Sendable {
    /// The most servers that are named.
    package static let serversMax = 16
    /// Whether this program has the part that speaks with NATS.
    package static var isBuilt: Bool {
        #if JetStream
        true
        #else
        false
        #endif
    }

    /// The addresses of the servers of NATS, with commas between them; empty: there is no shared log.
    package var servers = ""
    /// The prefix of everything that the log has on the servers.
    package var prefix = SharedLogPrefix.value
    /// The file with a token of NATS and its key, or with a key alone; empty: none.
    package var credentialsFile = ""
    /// The file of authorities that servers are checked by, PEM; empty: those of the system, where TLS is used.
    package var authorityFile = ""
    /// Whether the operator says that every server synchronises each record before it confirms it.
    package var syncAlways = false
    /// After how many records of the lane `breaks` a snapshot of the board is left for gateways that begin.
    package var snapshotRecords = Int(SnapshotLimits.records)
    /// After how long one is left, where there are some records.
    package var snapshotInterval = SnapshotLimits.interval

    package init() {}

    /// When snapshots are written.
    var snapshotSchedule: SnapshotSchedule {
        SnapshotSchedule(records: UInt64(self.snapshotRecords), interval: self.snapshotInterval)
    }

    /// Whether several gateways share the log.
    package var isUsed: Bool { !self.servers.isEmpty }

    /// The addresses, one by one.
    package var addresses: [String] { GatewayConfiguration.list(self.servers) }

    /// Whether the servers are reached by TLS.
    package var encrypts: Bool { !self.authorityFile.isEmpty || self.addresses.contains { $0.hasPrefix("tls://") } }

    /// Why a list of servers is refused; `nil`: it is one.
    static func reasonAgainstServers(_ value: String) -> String? {
        let form = "it must be addresses nats://HOST:PORT or tls://HOST:PORT with commas between them"
        guard !value.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) else {
            return "\(form), without control characters"
        }
        let addresses = value.isEmpty ? [] : value.split(separator: ",", omittingEmptySubsequences: false)
        guard addresses.count <= Self.serversMax else { return "\(form), \(Self.serversMax) at most" }
        var schemes: Set<Substring> = []
        for text in addresses {
            let address = String(text.trimmingPrefix { $0 == " " })
            guard let scheme = ["nats://", "tls://"].first(where: { address.hasPrefix($0) }) else {
                return "\(form), and \(address.isEmpty ? "one is empty" : "\(address) has neither scheme")"
            }
            // A password in an address would stand in lists and logs.
            guard !address.contains("@") else {
                return "\(form), without names and passwords: use a file of credentials"
            }
            do throws(NetworkAddress.Fault) {
                _ = try Self.address(address)
            } catch {
                return "\(form), and of \(address) \(error)"
            }
            schemes.insert(scheme.prefix(while: { $0 != ":" }))
        }
        return schemes.count <= 1 ? nil : "\(form), all of them with one scheme"
    }

    private static func address(_ text: String) throws(NetworkAddress.Fault) -> NetworkAddress {
        let rest = text.drop { $0 != "/" }.dropFirst(2)
        return try NetworkAddress(hostAndPort: String(rest), for: .connect)
    }

    /// The servers that are reached over a network without encryption.
    var unencryptedRemotes: [String] {
        guard !self.encrypts else { return [] }
        return self.addresses.filter { !((try? Self.address($0))?.isLoopback ?? false) }
    }
}

extension ConfigurationTable {
    /// The keys of a log that several gateways share.
    static let sharedLogRows: [Row] = [
        text(
            "jetstream.servers",
            "servers of NATS with the event log that several gateways share: `nats://HOST:PORT` or `tls://HOST:PORT`, with commas between them; empty: the gateway has a log of its own in its data directory",
            \.sharedLog.servers
        ) { SharedLogSettings.reasonAgainstServers($0) }
        .explained("Several gateways", "operations/cluster.md"),
        text(
            "jetstream.prefix",
            "prefix of everything that the shared log has on the servers",
            \.sharedLog.prefix
        ) { SharedLogPrefix.isPrefix($0) ? nil : "it must be \(SharedLogPrefix.rule)" },
        text(
            "jetstream.credentialsFile",
            "file with the credentials for the servers (a token of NATS and its key, or a key alone); empty: none",
            \.sharedLog.credentialsFile
        ) { Self.reasonAgainstFile($0) },
        text(
            "jetstream.tls.authorityFile",
            "file of the authorities that the servers' certificates are checked by (PEM); with it TLS is used in every case; empty: those of the system",
            \.sharedLog.authorityFile
        ) { Self.reasonAgainstFile($0) },
        flag(
            "jetstream.syncAlways",
            "states that every server runs with `sync_interval: always`; without that, confirmed records can be lost, and the gateway does not start",
            \.sharedLog.syncAlways
        ),
        number(
            "jetstream.snapshots.records",
            "after how many records of breaks a gateway leaves a snapshot of the board in the shared log, for gateways that begin on an empty directory",
            \.sharedLog.snapshotRecords,
            10...100_000_000
        ),
        duration(
            "jetstream.snapshots.interval",
            "after how long a snapshot is left, where there are 100 records or more since the last one",
            \.sharedLog.snapshotInterval,
            .seconds(60) ... .seconds(7 * 86_400)
        ),
    ]
    .map(\.refusedWithoutNATS)
}

extension ConfigurationTable.Row {
    /// The same; a program without NATS takes the default only.
    fileprivate var refusedWithoutNATS: ConfigurationTable.Row {
        guard !SharedLogSettings.isBuilt else { return self }
        return self.checked { row, value in
            value == row.defaultText
                ? nil : "it must be left out: this program was built without NATS (the package's trait JetStream)"
        }
    }
}

extension GatewayConfiguration {
    /// A shared log whose servers are reached without encryption, although the operator did not ask for that.
    var sharedLogFaults: [ConfigurationFault] {
        guard !self.allowUnencryptedRemote, let server = self.sharedLog.unencryptedRemotes.first else { return [] }
        return [
            ConfigurationFault(
                key: "jetstream.servers",
                reason:
                    "it must be tls://HOST:PORT, or jetstream.tls.authorityFile must name the authorities: \(server) is on another machine and nothing encrypts the way to it; or say allowUnencryptedRemote: true"
            )
        ]
    }

    /// The statement without which nothing may be confirmed; `nil`: it is given, or not needed.
    package var syncFault: ConfigurationFault? {
        guard self.sharedLog.isUsed, !self.sharedLog.syncAlways else { return nil }
        return ConfigurationFault(
            key: "jetstream.syncAlways",
            reason:
                "it must be true: set `sync_interval: always` at every server, and state it here; without it, confirmed acknowledgements are lost when machines fail together, and no server tells how it is set"
        )
    }
}
