// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import SystemSupport
import ZeroMQ

extension ConfigurationTable {
    /// The keys that set no limit.
    ///
    /// ``LimitName`` declares those that do.
    static let ownRows: [Row] = [
        text("notices", "address of the notices for listeners, `tcp://HOST:PORT`", \.notices, check: endpoint),
        text("requests", "address of listeners' requests", \.requests, check: endpoint),
        text("broadcast", "address of the broadcasters' socket", \.broadcast, check: endpoint),
        Row(
            key: "http",
            meaning: "address of HTTP, `HOST:PORT`, or `none`",
            set: { configuration, value in
                guard value != "none" else {
                    configuration.http = nil
                    return nil
                }
                configuration.http = value
                return endpoint("tcp://" + value).map { _ in "it must be HOST:PORT, or none, and is \(value)" }
            },
            get: { $0.http ?? "none" }
        ),
        Row(
            key: "http.openReads",
            meaning:
                "reads without a token: `all`, `metrics` (and health), `health`, or `auto`: `all` on loopback, `metrics` elsewhere",
            set: { configuration, value in
                configuration.httpOpenReads = HTTPOpenReads(rawValue: value)
                return Self.reasonAgainst(value, unlessOneOf: ["auto"] + HTTPOpenReads.allCases.map(\.rawValue))
            },
            get: { $0.httpOpenReads?.rawValue ?? "auto" }
        )
        .explained("Tokens", "operations/tokens.md#reads-without-a-token")
        .reloadable,
        text(
            "http.hosts",
            "further host names of the gateway; addresses and names of one word need not be listed",
            \.httpHosts
        ) { Self.reasonAgainstHosts($0) }
        .reloadable,
        text(
            "http.tokenKeysFile",
            "file of the keys that sign tokens for HTTP; empty: `http-keys.json` in the data directory, made at the first start",
            \.httpTokenKeysFile
        ) { Self.reasonAgainstFile($0) }
        .reloadable,
        text("http.tokenIssuer", "`iss` of the tokens for HTTP", \.httpTokenIssuer) {
            Self.reasonAgainstName($0)
        }
        .reloadable,
        text("http.tokenAudience", "`aud` of the tokens for HTTP", \.httpTokenAudience) {
            Self.reasonAgainstName($0)
        }
        .reloadable,
        text(
            CertificateFiles.ofHTTP.certificateSetting,
            "file of certificates (PEM); with it HTTP accepts TLS only",
            \.httpCertificateFile
        ) { Self.reasonAgainstFile($0) }
        .explained("TLS", "operations/tls.md#tls-for-http"),
        text(
            CertificateFiles.ofHTTP.privateKeySetting,
            "file of the certificate's private key (PEM, without a password)",
            \.httpKeyFile
        ) { Self.reasonAgainstFile($0) },
        text(
            "http.listenerOrigins",
            "origins whose pages may listen over HTTP: `https://radio.example`, `https://*.radio.example` (one label), `capacitor://localhost`, `null`; `*`: all; empty: the gateway's own",
            \.httpListenerOrigins
        ) { Self.reasonAgainstOrigins($0) }
        .reloadable,
        text("dataDir", "the data directory: event log, ledger and the gateway's own keys", \.dataDirectory) {
            $0.isEmpty ? "it must name a folder" : nil
        }
        .explained("Data directory", "operations/data-directory.md"),
        text(
            "broadcasters.secretKeyFile",
            "file of the gateway's own secret key; with it broadcasters need keys",
            \.broadcastersKeyFile
        ) {
            CurveKeyFile.isKey($0)
                ? "it must be the name of a file, and is a key itself" : Self.reasonAgainstFile($0)
        }
        .explained("Keys for broadcasters", "operations/broadcaster-keys.md"),
        text(
            "broadcasters.file",
            "file of broadcasters: names, public keys and streams",
            \.broadcastersFile
        ) { Self.reasonAgainstFile($0) },
        text(
            "signing.keysFile",
            "file of the signing keys; empty: `signing.keys` in the data directory",
            \.signingKeysFile
        ) { Self.reasonAgainstFile($0) }
        .explained("Signing keys", "operations/signing-keys.md"),
        text(
            CertificateFiles.ofListeners.certificateSetting,
            "file of certificates (PEM); with it the listeners' ports accept TLS only",
            \.listenersCertificateFile
        ) { Self.reasonAgainstFile($0) }
        .explained("TLS", "operations/tls.md#tls-for-listeners"),
        text(
            CertificateFiles.ofListeners.privateKeySetting,
            "file of the certificate's private key (PEM, without a password)",
            \.listenersKeyFile
        ) { Self.reasonAgainstFile($0) },
        text(
            "listeners.proxyProtocol.trusted",
            "networks of the balancers that send the PROXY protocol, version 2; other peers are refused",
            \.listenersProxyTrusted
        ) { value in
            value.isEmpty || AddressNetworks(value) != nil
                ? nil
                : "it must be up to \(AddressNetworks.networksMax) networks with commas between them, such as 10.0.0.0/8, 2001:db8::/32, with no bits beside those of the network, and is \(value)"
        }
        .explained("Balancers", "operations/balancers.md"),
        Row(
            key: "listeners.webSocket",
            meaning: "address of listeners' WebSocket, `HOST:PORT`, or `none`",
            set: { configuration, value in
                guard value != "none" else {
                    configuration.webSocket = nil
                    return nil
                }
                configuration.webSocket = value
                return endpoint("tcp://" + value).map { _ in "it must be HOST:PORT, or none, and is \(value)" }
            },
            get: { $0.webSocket ?? "none" }
        )
        .explained("WebSocket", "operations/connections.md#websocket"),
        text(
            "listeners.webSocketOrigins",
            "origins whose pages may listen by WebSocket, as `http.listenerOrigins`; empty: the gateway's own",
            \.webSocketOrigins
        ) { Self.reasonAgainstOrigins($0) }
        .reloadable,
        text(
            "listeners.webSocketPath",
            "the only path that is served by WebSocket, such as `/listen`; empty: every path",
            \.webSocketPath
        ) { Self.reasonAgainstPath($0) },
        flag(
            "ledger.paused",
            "leaves acknowledgements in the log without counting them, until a start without it",
            \.ledgerPaused
        )
        .explained("Pause the ledger", "operations/ledger.md#pause-the-ledger"),
        flag(
            "allowUnencryptedRemote",
            "allows addresses beyond loopback without encryption",
            \.allowUnencryptedRemote
        )
        .explained("Secure", "operations/secure.md"),
        duration(
            "breaks.announceAhead",
            "time between a break's announcement and its start",
            \.breaks.announceAhead,
            .zero ... .seconds(3_600)
        )
        .reloadable,
        duration(
            "breaks.leadTimeMin",
            "smallest time between publication and start",
            \.breaks.leadTimeMin,
            .zero ... .seconds(3_600)
        )
        .reloadable,
        duration(
            "breaks.startLateMax",
            "an absolute start that is late by at most this much counts as now",
            \.breaks.startLateMax,
            .zero ... .seconds(60)
        )
        .reloadable,
        duration(
            "breaks.startAheadMax",
            "largest time between publication and start",
            \.breaks.startAheadMax,
            .seconds(1) ... .seconds(7 * 86_400)
        )
        .reloadable,
        duration(
            "breaks.punchLead",
            "time between the punch and the start of a cued break",
            \.breaks.punchLead,
            .zero ... .seconds(60)
        )
        .reloadable,
        duration(
            "breaks.hold",
            "how long a cued break is held, or a pre-stream break is open",
            \.breaks.hold,
            .seconds(1) ... .milliseconds(WireLimits.holdMillisecondsMax)
        )
        .reloadable,
        duration(
            "breaks.safetyDuration",
            "longest duration of a break without a duration",
            \.breaks.safetyDuration,
            .seconds(1) ... .milliseconds(WireLimits.breakDurationMillisecondsMax)
        )
        .reloadable,
        text(
            "breaks.cues",
            "rules for signals, by stream, with `;` between them; empty: signals are refused",
            \.cues
        ) { text in
            do throws(StreamRuleFault) {
                _ = try CuePolicy(text: text)
                return nil
            } catch {
                return "it must be rules for signals: \(error)"
            }
        }
        .explained("Signals", "broadcasters/signals.md#the-cue-policy")
        .reloadable,
        duration(
            "breaks.sourceSilentAfter",
            "how long no playlist, packet or title may come from a source of cues until that is an alarm",
            \.sourceSilentAfter,
            .seconds(2) ... .seconds(3_600)
        )
        .explained("Watchers", "broadcasters/signals.md#watchers")
        .reloadable,
        text(
            "breaks.signalMappingsFile",
            "file of mappings for messages of automation systems; empty: the ready mappings only",
            \.signalMappingsFile
        ) { Self.reasonAgainstFile($0) }
        .explained("Mappings", "broadcasters/from-your-automation.md#mappings-of-your-own")
        .reloadable,
        Row(
            key: "breaks.batchRequestsPerSecond",
            meaning: "batch requests a second that this gateway serves easily; it sizes request windows",
            set: { configuration, value in
                var number = 0
                let reason = Self.readNumber(value, 1...1_000_000, &number)
                if reason == nil { configuration.breaks.batchRequestsPerSecond = Double(number) }
                return reason
            },
            get: { String(Int($0.breaks.batchRequestsPerSecond)) }
        )
        .counting("1/s")
        .reloadable,
        number(
            "clock.slewRate",
            "how fast the gateway's clock follows the wall clock, in parts per million; players allow for 100 between two clocks, theirs included",
            \.clock.slewPartsPerMillion,
            1...500
        ),
        duration(
            "clock.differenceMax",
            "largest difference that the gateway's clock follows; alarm beyond it",
            \.clock.differenceMax,
            .milliseconds(10) ... .seconds(60)
        ),
        number(
            "clock.stepBackRate",
            "how much slower the gateway's clock runs while the wall clock catches up, in parts per million: a minute takes 20 minutes",
            \.clock.stepBackPartsPerMillion,
            1_000...500_000
        ),
        duration(
            "clock.stepBackMax",
            "largest difference that `cuecast clock step` lets the wall clock catch up",
            \.clock.stepBackMax,
            .zero ... .seconds(3_600)
        ),
        duration(
            "clock.behindMax",
            "how far the wall clock may be behind the newest record at a start",
            \.clock.behindMax,
            .zero ... .seconds(3_600)
        ),
        duration(
            "clock.aheadMax",
            "how far the wall clock may be ahead of the log's own time at a start before retention is frozen",
            \.clock.aheadMax,
            .seconds(3_600) ... .seconds(3_650 * 86_400)
        ),
        duration(
            "clock.confirmAfter",
            "how long wall clock and monotonic clock must agree until frozen retention continues by itself",
            \.clock.confirmAfter,
            .seconds(60) ... .seconds(365 * 86_400)
        ),
        duration(
            "listeners.headInterval",
            "how often the gateway repeats a stream's position",
            \.headInterval,
            .milliseconds(100) ... .seconds(300)
        ),
        duration(
            "listeners.lease",
            "how long a session counts as listening after its last request",
            \.lease,
            .seconds(10) ... .seconds(86_400)
        ),
        number(
            "listeners.sessionsPerAddressMax",
            "sessions that all connections from one address may begin within a lease (loopback is not limited); 0: no limit",
            \.sessionsPerAddressMax,
            0...10_000_000
        ),
        text(
            "listeners.tokenKeysFile",
            "file of the keys that sign listeners' tokens",
            \.listenerTokenKeysFile
        ) { Self.reasonAgainstFile($0) },
        text("listeners.tokenIssuer", "`iss` of listeners' tokens", \.listenerTokenIssuer) {
            Self.reasonAgainstName($0)
        }
        .reloadable,
        text("listeners.tokenAudience", "`aud` of listeners' tokens", \.listenerTokenAudience) {
            Self.reasonAgainstName($0)
        }
        .reloadable,
        Row(
            key: "listeners.protectedStreams",
            meaning:
                "streams that require a token: ids, or prefixes with `*`",
            set: { configuration, value in
                let texts = value.isEmpty ? [] : value.split(separator: ",", omittingEmptySubsequences: false)
                let patterns = texts.map { StreamPattern(String($0.trimmingPrefix(while: { $0 == " " }))) }
                guard patterns.count <= 64, patterns.allSatisfy({ $0 != nil }) else {
                    return "it must be at most 64 patterns with commas between them, each of them \(StreamPattern.rule)"
                }
                configuration.protectedStreams = patterns.compactMap(\.self)
                return nil
            },
            get: { $0.protectedStreams.map(\.description).joined(separator: ",") }
        )
        .explained("Tokens", "operations/tokens.md#tokens-for-listeners")
        .reloadable,
        text(
            "listeners.attributes",
            "attributes of listeners that choose their variant of a break, by stream, with `;` between the rules; empty: none",
            \.audiences
        ) { text in
            do throws(StreamRuleFault) {
                _ = try AudiencePolicy(text: text)
                return nil
            } catch {
                return "it must be rules for attributes: \(error)"
            }
        }
        .explained("Audiences", "broadcasters/audiences.md#which-attributes-count")
        .reloadable,
        duration(
            "listeners.stalledTimeout",
            "how long a listener may read nothing of its pending bytes",
            \.stalledTimeout,
            .seconds(1) ... .seconds(3_600)
        ),
        text(
            "listeners.advertised",
            "where players reach this gateway, told to players of the other gateways of a shared log: `tcp://HOST:PORT`, `tls://HOST:PORT`, `ws://HOST/PATH`, `wss://HOST/PATH`, `http://HOST`, `https://HOST`; empty: they are told nothing",
            \.advertised
        ) { Self.reasonAgainstAdvertised($0) }
        .explained("Players move", "operations/cluster.md#players-move-by-themselves"),
        duration(
            "listeners.moveWithin",
            "within what time listeners leave a gateway that stops, each after a random part of it, where other gateways advertise addresses",
            \.moveWithin,
            .zero ... .milliseconds(WireLimits.moveMillisecondsMax)
        )
        .reloadable,
        duration(
            "drainTimeout",
            "how long a stop waits for the answers to accepted requests",
            \.drainTimeout,
            .zero ... .seconds(300)
        )
        .reloadable,
        duration(
            "keepTotalsFor",
            "how long totals are kept after a break's end",
            \.keepTotalsFor,
            .seconds(10 * 86_400) ... .seconds(36_500 * 86_400)
        ),
        duration(
            "audit.keepFor",
            "how long lines of the audit are kept",
            \.auditKeepFor,
            .seconds(86_400) ... .seconds(36_500 * 86_400)
        )
        .explained("The audit", "operations/audit.md"),
        number(
            "audit.recordsMax",
            "lines of the audit; beyond it the oldest refusals go first, then the oldest lines",
            \.auditRecordsMax,
            1_000...100_000_000
        ),
        number(
            "keepLogRecords",
            "log records that stay although the ledger has counted them",
            \.keepLogRecords,
            0...1_000_000_000
        ),
        number(
            "ledger.copies.kept",
            "checked copies of the ledger; the log keeps records that the second newest lacks",
            \.ledgerCopiesKept,
            2...100
        ),
        duration(
            "ledger.copies.interval",
            "how often the gateway copies the ledger",
            \.ledgerCopiesInterval,
            .seconds(60) ... .seconds(7 * 86_400)
        ),
        Row(
            key: "log.format",
            meaning: "`text` for people, `json` for programs, one object a line",
            set: { configuration, value in
                if let format = LogFormat(rawValue: value) { configuration.logFormat = format }
                return Self.reasonAgainst(value, unlessOneOf: LogFormat.allCases.map(\.rawValue))
            },
            get: { $0.logFormat.rawValue }
        )
        .reloadable,
        flag(
            "tracing.enabled",
            "follows requests whose callers sampled their traces",
            \.tracing.isEnabled
        )
        .explained("Traces", "operations/traces.md")
        .reloadable,
        Row(
            key: "tracing.ratio",
            meaning:
                "share of the sampled traces that are followed, from 0 to 1; selected by their ids, as OpenTelemetry does",
            set: { configuration, value in
                guard let ratio = Self.ratio(value) else {
                    return "it must be a number from 0 to 1 such as 0.05, and is \(value)"
                }
                configuration.tracing.ratio = ratio
                return nil
            },
            get: { "\($0.tracing.ratio)" }
        )
        .counting("ratio")
        .reloadable,
        text(
            "tracing.file",
            "file of spans for a collector (OTLP as JSON lines); a reload opens it anew; empty: none",
            \.tracing.file
        ) { Self.reasonAgainstFile($0) }
        .reloadable,
        number("ioThreads", "threads that read and write the bytes of broadcasters; 0: one", \.ioThreads, 0...64),
        number(
            "edge.threads",
            "threads that serve listeners, at most 64; 0: as many as cores less one, and at least one",
            \.edgeThreads,
            0...GatewayConfiguration.edgeThreadsMax
        ),
        text(
            "logLevel",
            "lowest level of the log: `trace`, `debug`, `info`, `notice`, `warning`, `error`, `critical`",
            \.logLevel
        ) { Self.reasonAgainst($0, unlessOneOf: ["trace", "debug", "info", "notice", "warning", "error", "critical"]) }
        .explained("Logs", "operations/logs.md")
        .reloadable,
    ]
}
