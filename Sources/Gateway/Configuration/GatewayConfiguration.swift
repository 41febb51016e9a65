// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Edge
package import GatewayCore
import SystemSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Everything that an operator may set, checked.
package struct GatewayConfiguration: Hashable, Sendable {
    /// Where notices are published.
    package var notices = "tcp://127.0.0.1:7400"
    /// Where listeners ask.
    package var requests = "tcp://127.0.0.1:7401"
    /// Where broadcasters publish.
    package var broadcast = "tcp://127.0.0.1:7402"
    /// Where operators look, as HOST:PORT; `nil`: nowhere.
    package var http: String? = "127.0.0.1:7480"
    /// The reads over HTTP without a token; `nil`: everything on loopback, health and metrics elsewhere.
    package var httpOpenReads: HTTPOpenReads?
    /// Names by which HTTP is asked, besides addresses and names of one word; with commas between them.
    package var httpHosts = ""
    /// The file of keys that tokens over HTTP are signed with; empty: one of the data directory.
    package var httpTokenKeysFile = ""
    /// The issuer of tokens for HTTP.
    package var httpTokenIssuer = "cuecast"
    /// The audience of tokens for HTTP.
    package var httpTokenAudience = "cuecast-http"
    /// The file of the certificates that the gateway shows to HTTP clients, PEM; empty: none, and HTTP is plain.
    package var httpCertificateFile = ""
    /// The file of its private key, PEM; empty: none.
    package var httpKeyFile = ""
    /// The origins whose pages may listen over HTTP, with commas between them; `*`: all; empty: the gateway's own.
    package var httpListenerOrigins = ""
    /// The folder of the event log and the ledger.
    package var dataDirectory = "cuecast-data"
    /// Where the event log is that several gateways share, if it is not in the data directory.
    package var sharedLog = SharedLogSettings()
    /// Whether sockets may bind to other addresses than loopback although nothing encrypts them.
    package var allowUnencryptedRemote = false
    /// The file of the gateway's own secret key, by which broadcasters know it; empty: none.
    package var broadcastersKeyFile = ""
    /// The file of broadcasters; empty: none.
    package var broadcastersFile = ""
    /// The file of the keys that sign deliveries and tickets; empty: `signing.keys` in the data directory, made at the first start.
    package var signingKeysFile = ""
    /// The file of the certificates that listeners are shown, PEM; empty: none, and the listeners' ports are plain.
    package var listenersCertificateFile = ""
    /// The file of its private key, PEM; empty: none.
    package var listenersKeyFile = ""
    /// The networks of the balancers before the listeners' ports, with commas between them; empty: none, and clients come by
    /// themselves.
    package var listenersProxyTrusted = ""
    /// Where listeners connect by WebSocket, as HOST:PORT; `nil`: nowhere.
    package var webSocket: String?
    /// The origins whose pages may listen by WebSocket, with commas between them; `*`: all; empty: the gateway's own.
    package var webSocketOrigins = ""
    /// The only path that is served by WebSocket; empty: every path.
    package var webSocketPath = ""
    /// Whether acknowledgements stay in the event log without being counted by the ledger.
    package var ledgerPaused = false
    /// The values of the limits.
    ///
    /// Tests can also change those without a key that parts read from here; other parts read the constant ``LimitName/value``.
    ///
    /// Of ``LimitName/listenersMax`` and ``LimitName/connectionsMax``, 0 says: as many as the limit on descriptors leaves.
    package var limits = LimitValues()
    package var breaks = BreakPolicy()
    /// The cue policy as `CuePolicy` reads it; empty: signals are refused.
    package var cues = ""
    /// How long nothing may come from a source of cues until that is an alarm.
    package var sourceSilentAfter: Duration = SettingDefaults.sourceSilentAfter
    /// The file of mappings for messages of automation systems; empty: the ready mappings only.
    package var signalMappingsFile = ""
    package var clock = ClockSettings()
    /// Whether the wall clock is right although the books are newer; for one start, so it is no key of a file.
    package var acceptsClock = false
    /// How often a stream's position is repeated when nothing else happens.
    package var headInterval: Duration = SettingDefaults.headInterval
    /// How long a session counts as listening after its last request.
    package var lease: Duration = SettingDefaults.lease
    /// The most sessions that all connections from one address may begin within the time of a lease, loopback not counted; 0: no
    /// limit.
    package var sessionsPerAddressMax = SettingDefaults.sessionsPerAddressMax
    /// The file of keys that listeners' tokens are signed with; empty: tokens are not checked.
    package var listenerTokenKeysFile = ""
    /// The issuer of listeners' tokens.
    package var listenerTokenIssuer = "cuecast"
    /// The audience of listeners' tokens.
    package var listenerTokenAudience = "cuecast"
    /// Streams that ask listeners for a token.
    package var protectedStreams: [StreamPattern] = []
    /// The attributes of listeners that choose their variant, as `AudiencePolicy` reads it; empty: none.
    package var audiences = ""
    /// How long a listener may read nothing of its pending bytes before its connection is closed.
    package var stalledTimeout: Duration = SettingDefaults.stalledTimeout
    /// Where players reach this gateway, for those that leave another gateway of the log; with commas between them, empty: nowhere.
    package var advertised = ""
    /// Within what time listeners leave a gateway that stops, where other gateways advertise addresses.
    package var moveWithin: Duration = .seconds(5)
    /// How long a shutdown waits for answers that were promised.
    package var drainTimeout: Duration = .seconds(10)
    /// How long after a break's end its totals are kept.
    package var keepTotalsFor: Duration = .seconds(400 * 86_400)
    /// How long a line of the audit is kept.
    package var auditKeepFor: Duration = SettingDefaults.auditKeepFor
    /// The most lines of the audit that are kept.
    package var auditRecordsMax = SettingDefaults.auditRecordsMax
    /// How many records that the ledger has already stay in the log.
    package var keepLogRecords = 100_000
    /// How many checked copies of the ledger are kept.
    package var ledgerCopiesKept = SettingDefaults.ledgerCopiesKept
    /// How often the ledger is copied.
    package var ledgerCopiesInterval: Duration = .seconds(3_600)
    /// How long after the start the ledger is copied where there are not two copies yet.
    ///
    /// For tests.
    package var ledgerFirstCopyAfter: Duration = .seconds(10)
    /// How long groups of acknowledgements, or breaks that change, gather after a transaction of the ledger before the next one.
    ///
    /// For tests.
    package var ledgerGatherFor: Duration = .milliseconds(50)
    /// Threads of libzmq that move the bytes of broadcasters; 0: one.
    package var ioThreads = 0
    /// Threads that serve listeners; 0: as many as there are cores less one, and at least one.
    package var edgeThreads = 0
    /// Which requests are traced, and where their spans go.
    package var tracing = TracingSettings()
    /// The least severe messages that are logged: trace, debug, info, notice, warning, error, critical.
    package var logLevel = "info"
    /// How messages are written.
    package var logFormat = LogFormat.text
    /// How often the metrics of disk, memory and descriptors are taken, and the log's room is looked at.
    ///
    /// For tests.
    package var sampleInterval: Duration = .seconds(5)
    /// How long the log may answer nothing at all while something waits before the alarm `logSilent` is raised.
    ///
    /// For tests.
    package var logSilenceMax: Duration = .seconds(10)
    /// How long a request that knows more than the board waits until the board has caught up with a log that several gateways share.
    ///
    /// For tests.
    package var behindWaitMax: Duration = LogCatchUp.behindWaitMax
    /// How often the gateway tells the others of its log that it is there.
    ///
    /// For tests.
    package var beatInterval: Duration = GatewayTable.beatInterval
    /// After so long without a beat another gateway of the log is taken for gone.
    ///
    /// For tests.
    package var gatewayGoneAfter: Duration = GatewayTable.goneAfter
    /// How much later than the others a gateway may be before the alarm `gatewayLate` is raised.
    ///
    /// For tests.
    package var gatewayLate = LogLateness.Bounds()
    /// The newest version of the fold's rules that the gateway goes by.
    ///
    /// For tests: of two releases beside each other.
    package var rulesKnown: UInt32 = FoldRules.newest
    /// How long a connection, of a listener or a broadcaster, may take for its greeting and handshake.
    ///
    /// For tests.
    package var handshakeTimeout: Duration = SettingDefaults.handshakeTimeout
    /// How long a connection, of a listener or a broadcaster, may ask for nothing.
    ///
    /// For tests.
    package var unusedTimeout: Duration = SettingDefaults.unusedTimeout
    /// How often timers are looked at even when nothing is due by the clock as it was.
    ///
    /// For tests.
    package var timerRecheck: Duration = .seconds(1)

    /// Whether broadcasters must show a key: then the gateway has one too.
    package var tellsBroadcastersApart: Bool { !self.broadcastersKeyFile.isEmpty }

    /// Whether listeners are served by TLS and not otherwise.
    package var encryptsListeners: Bool { !self.listenersCertificateFile.isEmpty }

    /// Whether HTTP is served by TLS and not otherwise.
    package var encryptsHTTP: Bool { !self.httpCertificateFile.isEmpty }
    /// Whether the connections of listeners over HTTP go to the loops of the edge.
    package var handsListenersOver: Bool { !self.encryptsHTTP }

    /// The balancers before the listeners' ports; `nil`: none.
    var balancers: Balancers? {
        AddressNetworks(self.listenersProxyTrusted)
            .map {
                Balancers(trusted: $0, mustEncrypt: !self.allowUnencryptedRemote)
            }
    }

    package init() {}

    /// The reads over HTTP without a token.
    package var httpReads: HTTPOpenReads {
        self.httpOpenReads ?? (self.http.map { Self.isLoopback("tcp://" + $0) } ?? true ? .all : .metrics)
    }

    /// The attributes of listeners that choose their variant.
    ///
    /// A checked configuration has no rule that cannot be read.
    package var audiencePolicy: AudiencePolicy { (try? AudiencePolicy(text: self.audiences)) ?? AudiencePolicy() }

    /// The origins whose pages may listen.
    ///
    /// A checked configuration has no rule that cannot be read.
    package var httpListenerOriginPatterns: [OriginPattern] {
        Self.list(self.httpListenerOrigins).compactMap { try? OriginPattern($0) }
    }

    /// The origins whose pages may listen by WebSocket.
    package var webSocketOriginPatterns: [OriginPattern] {
        Self.list(self.webSocketOrigins).compactMap { try? OriginPattern($0) }
    }

    /// Where players reach this gateway.
    ///
    /// A checked configuration has no address that cannot be read.
    package var advertisedAddresses: [PlayerAddress] { Self.list(self.advertised).compactMap { PlayerAddress($0) } }

    /// The parts of a list with commas.
    static func list(_ text: String) -> [String] {
        text.split(separator: ",")
            .map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
            .filter { !$0.isEmpty }
    }

    /// The names by which HTTP is asked, with that of the address that it binds to.
    package var httpHostNames: [String] {
        let bound = self.http.flatMap { address in address.lastIndex(of: ":").map { String(address[..<$0]) } }
        return (bound.map { [$0] } ?? []) + Self.list(self.httpHosts)
    }

    /// How many threads serve listeners.
    var edgeThreadCount: Int {
        self.edgeThreads > 0
            ? self.edgeThreads : min(Self.edgeThreadsMax, max(1, ProcessInfo.processInfo.activeProcessorCount - 1))
    }

    /// The most threads that serve listeners.
    static let edgeThreadsMax = 64
}

/// The reads over HTTP without a token.
package enum HTTPOpenReads: String, CaseIterable, Sendable {
    /// Reports and breaks too: for loopback only.
    case all
    /// Metrics and health.
    case metrics
    /// Whether the gateway lives and is ready, and which paths there are.
    case health
}

/// Why a configuration is refused.
package struct ConfigurationFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key, as in the file, for instance `breaks.announceAhead`.
    package let key: String
    /// The fault of its value.
    package let reason: String

    package init(key: String, reason: String) {
        self.key = key
        self.reason = reason
    }

    package var description: String { "\(self.key): \(self.reason)" }
}

/// All that is wrong with a configuration, so that an operator mends it in one go.
package struct ConfigurationFaults: Error, Hashable, Sendable, CustomStringConvertible {
    package let faults: [ConfigurationFault]

    package init(_ faults: [ConfigurationFault]) {
        self.faults = faults
    }

    package var description: String { self.faults.map(\.description).joined(separator: "\n") }
}
