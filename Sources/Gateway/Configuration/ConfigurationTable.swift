// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import NetworkIO
import ZeroMQ

/// The table of all keys: name, what it means, where it goes, and its bounds.
///
/// `docs/reference/configuration.md` is checked against it.
package enum ConfigurationTable {
    /// One key.
    ///
    /// The value is text in every source: a file, the environment, or a flag.
    package struct Row: Sendable {
        package let key: String
        package let help: String
        /// What its value is: `text`, `flag`, `duration`, or what a number counts.
        package var unit = "text"
        /// Puts a value into a configuration, or says why not.
        let set: @Sendable (inout GatewayConfiguration, String) -> String?
        /// What a configuration has.
        let get: @Sendable (GatewayConfiguration) -> String

        /// The same, whose value is of this unit.
        fileprivate func counting(_ unit: String) -> Row {
            var row = self
            row.unit = unit
            return row
        }

        /// What a configuration has, as one would write it.
        package func text(of configuration: GatewayConfiguration) -> String { self.get(configuration) }

        /// The default, as one would write it.
        package var defaultText: String { self.get(GatewayConfiguration()) }

        /// Whether a running gateway takes over a new value (SIGHUP); others need a restart.
        package var isReloadable: Bool {
            ConfigurationTable.reloadableKeys.contains(self.key) || self.key.hasPrefix("breaks.")
                || self.key.hasPrefix("tracing.")
        }

        /// The environment variable, for instance `CUECAST_BREAKS_ANNOUNCE_AHEAD`.
        package var environmentVariable: String {
            var name = "CUECAST_"
            for character in self.key {
                if character == "." {
                    name += "_"
                } else {
                    if character.isUppercase { name += "_" }
                    name += character.uppercased()
                }
            }
            return name
        }
    }

    /// What a running gateway takes over, beside everything about breaks and about tracing.
    private static let reloadableKeys: Set<String> = [
        "listeners.max", "listeners.requestsPerSecondMax", "drainTimeout", "logLevel", "log.format",
        "http.openReads", "http.hosts", "http.listenerOrigins", "http.tokenKeysFile", "http.tokenIssuer",
        "http.tokenAudience",
        "listeners.tokenIssuer", "listeners.tokenAudience", "listeners.sessionsPerSubjectMax",
        "listeners.protectedStreams",
    ]

    package static let rows: [Row] = [
        text("notices", "where notices are published (tcp://HOST:PORT)", \.notices, check: endpoint),
        text("requests", "where listeners ask (tcp://HOST:PORT)", \.requests, check: endpoint),
        text("broadcast", "where broadcasters publish (tcp://HOST:PORT)", \.broadcast, check: endpoint),
        Row(
            key: "http",
            help: "where operators look (HOST:PORT), or none",
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
            help:
                "what may be read over HTTP without a token: all, metrics (and health), health, or auto: all on loopback, metrics elsewhere",
            set: { configuration, value in
                configuration.httpOpenReads = HTTPOpenReads(rawValue: value)
                guard value != "auto", configuration.httpOpenReads == nil else { return nil }
                let values = ["auto"] + HTTPOpenReads.allCases.map(\.rawValue)
                return "it must be one of \(values.joined(separator: ", ")), and is \(value)"
            },
            get: { $0.httpOpenReads?.rawValue ?? "auto" }
        ),
        text(
            "http.hosts",
            "names by which HTTP is asked, with commas between them; addresses and names of one word need not be listed",
            \.httpHosts
        ) { Self.reasonAgainstHosts($0) },
        text(
            "http.tokenKeysFile",
            "the file of keys (cuecast token) that tokens over HTTP are signed with; empty: http-keys.json of dataDir, made at the first start",
            \.httpTokenKeysFile
        ) { Self.reasonAgainstFile($0) },
        text("http.tokenIssuer", "who makes tokens for HTTP: their iss", \.httpTokenIssuer) {
            Self.reasonAgainstName($0)
        },
        text("http.tokenAudience", "what tokens for HTTP are for: in their aud", \.httpTokenAudience) {
            Self.reasonAgainstName($0)
        },
        text(
            CertificateFiles.ofHTTP.certificateSetting,
            "the file of certificates (PEM) with which HTTP is served by TLS, and not otherwise; read again with SIGHUP; empty: none",
            \.httpCertificateFile
        ) { Self.reasonAgainstFile($0) },
        text(
            CertificateFiles.ofHTTP.privateKeySetting,
            "the file of that certificate's private key (PEM, without a password); read again with SIGHUP; empty: none",
            \.httpKeyFile
        ) { Self.reasonAgainstFile($0) },
        text(
            "http.listenerOrigins",
            "the origins whose pages may listen over HTTP, with commas between them: https://radio.example, https://*.radio.example (one label), capacitor://localhost, null; *: all; empty: the gateway's own",
            \.httpListenerOrigins
        ) { Self.reasonAgainstOrigins($0) },
        number(
            "http.listenersMax",
            "the most listeners that hear their notices over HTTP at a time",
            \.httpListenersMax,
            0...1_000_000
        ),
        number(
            "http.listenersPerAddressMax",
            "the most of them from one address (IPv6: one network of 64 bits), loopback not counted",
            \.httpListenersPerAddressMax,
            1...1_000_000
        ),
        text("dataDir", "the folder of the event log and the ledger", \.dataDirectory) {
            $0.isEmpty ? "it must name a folder" : nil
        },
        text(
            "broadcasters.secretKeyFile",
            "the file of the gateway's own secret key (cuecast keygen), with which broadcasters must encrypt; empty: none",
            \.broadcastersKeyFile
        ) {
            CurveKeyFile.isKey($0)
                ? "it must be the name of a file, and is a key itself" : Self.reasonAgainstFile($0)
        },
        text(
            "broadcasters.file",
            "the file of broadcasters: names, public keys and streams; read again with SIGHUP; empty: none",
            \.broadcastersFile
        ) { Self.reasonAgainstFile($0) },
        text(
            "signing.keysFile",
            "the file of the keys that sign deliveries and tickets; read again with SIGHUP; empty: signing.keys in the data directory",
            \.signingKeysFile
        ) { Self.reasonAgainstFile($0) },
        text(
            CertificateFiles.ofListeners.certificateSetting,
            "the file of certificates (PEM) with which the listeners' ports speak TLS, and nothing else; read again with SIGHUP; empty: none",
            \.listenersCertificateFile
        ) { Self.reasonAgainstFile($0) },
        text(
            CertificateFiles.ofListeners.privateKeySetting,
            "the file of the certificate's private key (PEM, without a password); read again with SIGHUP; empty: none",
            \.listenersKeyFile
        ) { Self.reasonAgainstFile($0) },
        text(
            "listeners.proxyProtocol.trusted",
            "the networks of the balancers that pass listeners on with the PROXY protocol, version 2, such as 10.0.0.0/8, ::1; nobody else gets in; empty: none",
            \.listenersProxyTrusted
        ) { value in
            value.isEmpty || AddressNetworks(value) != nil
                ? nil
                : "it must be up to \(AddressNetworks.networksMax) networks with commas between them, such as 10.0.0.0/8, 2001:db8::/32, with no bits beside those of the network, and is \(value)"
        },
        flag(
            "ledger.paused",
            "true to leave acknowledgements in the event log without counting them, until a start without this",
            \.ledgerPaused
        ),
        flag(
            "allowUnencryptedRemote",
            "true to bind to other addresses than loopback although nothing encrypts the sockets",
            \.allowUnencryptedRemote
        ),
        duration(
            "breaks.announceAhead",
            "how long before its start a break is announced",
            \.breaks.announceAhead,
            .zero ... .seconds(3_600)
        ),
        duration(
            "breaks.leadTimeMin",
            "the least time between publication and start",
            \.breaks.leadTimeMin,
            .zero ... .seconds(3_600)
        ),
        duration(
            "breaks.startLateMax",
            "absolute starts up to this late count as now",
            \.breaks.startLateMax,
            .zero ... .seconds(60)
        ),
        duration(
            "breaks.startAheadMax",
            "the furthest ahead that a start may be",
            \.breaks.startAheadMax,
            .seconds(1) ... .seconds(7 * 86_400)
        ),
        duration(
            "breaks.punchLead",
            "how long after the punch a cued break starts",
            \.breaks.punchLead,
            .zero ... .seconds(60)
        ),
        duration(
            "breaks.hold",
            "how long a cued break is held, or a pre-stream break open",
            \.breaks.hold,
            .seconds(1) ... .milliseconds(WireLimits.holdMillisecondsMax)
        ),
        duration(
            "breaks.safetyDuration",
            "the longest that a break without a duration lasts",
            \.breaks.safetyDuration,
            .seconds(1) ... .milliseconds(WireLimits.breakDurationMillisecondsMax)
        ),
        text(
            "breaks.cues",
            "what becomes of signals, in rules with ';' between them: STREAMS list=NAME duration=30s safety=5m tolerance=2s late=120s sources=A,B; the first rule whose streams match counts; empty: signals are refused",
            \.cues
        ) { text in
            do throws(CuePolicyFault) {
                _ = try CuePolicy(text: text)
                return nil
            } catch {
                return "it must be rules for signals: \(error)"
            }
        },
        Row(
            key: "breaks.batchRequestsPerSecond",
            help: "how many batch requests a second this gateway serves with ease",
            set: { configuration, value in
                guard let number = Int(value), (1...1_000_000).contains(number) else {
                    return "it must be a whole number from 1 to 1000000, and is \(value)"
                }
                configuration.breaks.batchRequestsPerSecond = Double(number)
                return nil
            },
            get: { String(Int($0.breaks.batchRequestsPerSecond)) }
        )
        .counting("1/s"),
        number(
            "clock.slewRate",
            "how fast the gateway's clock is moved towards the wall clock, in parts per million",
            \.clock.slewPartsPerMillion,
            1...500
        ),
        duration(
            "clock.differenceMax",
            "the largest difference between wall clock and gateway's clock that is followed; beyond it there is an alarm",
            \.clock.differenceMax,
            .milliseconds(10) ... .seconds(60)
        ),
        number(
            "clock.stepBackRate",
            "how much slower the gateway's clock runs while the wall clock catches up, in parts per million",
            \.clock.stepBackPartsPerMillion,
            1_000...500_000
        ),
        duration(
            "clock.stepBackMax",
            "the furthest that 'cuecast clock step' lets the wall clock catch up",
            \.clock.stepBackMax,
            .zero ... .seconds(3_600)
        ),
        duration(
            "clock.behindMax",
            "how far the wall clock may be behind the newest record at the start",
            \.clock.behindMax,
            .zero ... .seconds(3_600)
        ),
        duration(
            "clock.aheadMax",
            "how far the wall clock may be ahead of the log's own time at the start before retention is frozen",
            \.clock.aheadMax,
            .seconds(3_600) ... .seconds(3_650 * 86_400)
        ),
        duration(
            "clock.confirmAfter",
            "how long wall clock and monotonic clock must agree until frozen retention runs again by itself",
            \.clock.confirmAfter,
            .seconds(60) ... .seconds(365 * 86_400)
        ),
        duration(
            "listeners.headInterval",
            "how often a stream's position is repeated",
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
            "listeners.max",
            "the most sessions; 0: as many as the limit on open files leaves connections, 100,000 at most",
            \.listenersMax,
            0...10_000_000
        ),
        number(
            "listeners.requestsPerSecondMax",
            "the most requests of one session in a second; 0: no limit",
            \.requestsPerSessionPerSecondMax,
            0...1_000_000
        ),
        number(
            "listeners.messagesPerConnectionPerSecondMax",
            "the most messages of one connection in a second; more are read later; 0: no limit",
            \.messagesPerConnectionPerSecondMax,
            0...1_000_000
        ),
        number(
            "listeners.messagesPerAddressPerSecondMax",
            "the same for all connections from one address (loopback is not limited)",
            \.messagesPerAddressPerSecondMax,
            0...100_000_000
        ),
        number(
            "listeners.messagesPerSecondMax",
            "the same for all connections together",
            \.messagesPerSecondMax,
            0...100_000_000
        ),
        number(
            "listeners.refusedTokensPerConnectionPerSecondMax",
            "the most tokens of one connection that are refused in a second; more are read later; 0: no limit",
            \.refusedTokensPerConnectionPerSecondMax,
            0...1_000_000
        ),
        number(
            "listeners.sessionsPerConnectionMax",
            "the most sessions that one connection may begin within the time of a lease; 0: no limit",
            \.sessionsPerConnectionMax,
            0...10_000_000
        ),
        number(
            "listeners.sessionsPerAddressMax",
            "the same for all connections from one address (loopback is not limited)",
            \.sessionsPerAddressMax,
            0...10_000_000
        ),
        number(
            "listeners.connectionsPerAddressMax",
            "the most connections from one address (IPv6: one network of 64 bits), loopback not counted; 0: no limit",
            \.connectionsPerAddressMax,
            0...10_000_000
        ),
        number(
            "listeners.bytesWaitingMax",
            "the most bytes that wait until connections take them; beyond it whoever has most is closed",
            \.listenerBytesWaitingMax,
            4_194_304...1_099_511_627_776
        ),
        text(
            "listeners.tokenKeysFile",
            "the file of keys (cuecast token) that listeners' tokens are signed with; read again with SIGHUP; empty: none",
            \.listenerTokenKeysFile
        ) { Self.reasonAgainstFile($0) },
        text("listeners.tokenIssuer", "who makes listeners' tokens: their iss", \.listenerTokenIssuer) {
            Self.reasonAgainstName($0)
        },
        text("listeners.tokenAudience", "what listeners' tokens are for: in their aud", \.listenerTokenAudience) {
            Self.reasonAgainstName($0)
        },
        number(
            "listeners.sessionsPerSubjectMax",
            "the most sessions of a token's subject that listen at a time, where the token says no number; 0: no limit",
            \.sessionsPerSubjectMax,
            0...1_000_000
        ),
        Row(
            key: "listeners.protectedStreams",
            help:
                "streams that ask for a token: ids, or beginnings of ids and a '*', with commas between them; empty: none",
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
        ),
        duration(
            "listeners.stalledTimeout",
            "how long a listener may take nothing of what waits for it before its connection is closed",
            \.stalledTimeout,
            .seconds(1) ... .seconds(3_600)
        ),
        duration(
            "drainTimeout",
            "how long a shutdown waits for answers that were promised",
            \.drainTimeout,
            .zero ... .seconds(300)
        ),
        duration(
            "keepTotalsFor",
            "how long after a break's end its totals are kept",
            \.keepTotalsFor,
            .seconds(10 * 86_400) ... .seconds(36_500 * 86_400)
        ),
        duration(
            "audit.keepFor",
            "how long it is kept who asked for what to be changed",
            \.auditKeepFor,
            .seconds(86_400) ... .seconds(36_500 * 86_400)
        ),
        number(
            "audit.recordsMax",
            "the most lines of that; of more the oldest refusals go first, then the oldest",
            \.auditRecordsMax,
            1_000...100_000_000
        ),
        number(
            "keepLogRecords",
            "how many records that the ledger has already stay in the log",
            \.keepLogRecords,
            0...1_000_000_000
        ),
        number(
            "ledger.copies.kept",
            "how many checked copies of the ledger are kept; the log keeps what the second newest does not hold",
            \.ledgerCopiesKept,
            2...100
        ),
        duration(
            "ledger.copies.interval",
            "how often the ledger is copied",
            \.ledgerCopiesInterval,
            .seconds(60) ... .seconds(7 * 86_400)
        ),
        number(
            "log.bytesMax",
            "how many bytes the log may take before new work is refused",
            \.logBytesMax,
            67_108_864...17_592_186_044_416
        ),
        Row(
            key: "log.format",
            help: "how messages are written: text for people, or json for programs, one object a line",
            set: { configuration, value in
                let formats = LogFormat.allCases.map(\.rawValue)
                guard let format = LogFormat(rawValue: value) else {
                    return "it must be one of \(formats.joined(separator: ", ")), and is \(value)"
                }
                configuration.logFormat = format
                return nil
            },
            get: { $0.logFormat.rawValue }
        ),
        flag(
            "tracing.enabled",
            "true to follow requests whose callers have sampled their traces (traceparent), to their notices",
            \.tracing.isEnabled
        ),
        Row(
            key: "tracing.ratio",
            help: "how many of those traces are followed, from 0 to 1; picked by their ids, as OpenTelemetry does",
            set: { configuration, value in
                guard let ratio = Self.ratio(value) else {
                    return "it must be a number from 0 to 1 such as 0.05, and is \(value)"
                }
                configuration.tracing.ratio = ratio
                return nil
            },
            get: { "\($0.tracing.ratio)" }
        )
        .counting("ratio"),
        number(
            "tracing.tracesPerSecondMax",
            "the most traces that are followed in a second, of broadcasters and of listeners each",
            \.tracing.tracesPerSecondMax,
            1...100_000
        ),
        text(
            "tracing.file",
            "the file that spans are written to, for a collector (OTLP as JSON, a line each time); opened anew with SIGHUP; empty: none",
            \.tracing.file
        ) { Self.reasonAgainstFile($0) },
        number(
            "tracing.fileBytesMax",
            "how large that file grows before it becomes FILE.1, in the place of the one before, and a new one is begun",
            \.tracing.fileBytesMax,
            1_048_576...1_099_511_627_776
        ),
        number("ioThreads", "threads that move the bytes of broadcasters; 0: one", \.ioThreads, 0...64),
        number(
            "edge.threads",
            "threads that serve listeners; 0: as many as there are cores less one, and at least one",
            \.edgeThreads,
            0...GatewayConfiguration.edgeThreadsMax
        ),
        text("logLevel", "the least severe messages that are logged", \.logLevel) { value in
            let levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
            return levels.contains(value) ? nil : "it must be one of \(levels.joined(separator: ", ")), and is \(value)"
        },
    ]

    /// What values can be.
    package static let units = ["text", "flag", "duration", "bytes", "1/s", "ppm", "ratio", "count"]

    /// A part of everything, as one writes it in a configuration.
    private static func ratio(_ value: String) -> Double? {
        // No sign, no exponent, no name of a number.
        guard (1...20).contains(value.utf8.count),
            value.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let ratio = Double(value), ratio <= 1
        else { return nil }
        return ratio
    }

    /// What a number counts, by the name of its key.
    private static func unit(ofNumber key: String) -> String {
        if key.lowercased().contains("bytes") { return "bytes" }
        if key.hasSuffix("PerSecondMax") { return "1/s" }
        return key.hasSuffix("Rate") ? "ppm" : "count"
    }

    /// Why a text cannot be the name of a file; `nil`: it can, or there is none.
    private static func reasonAgainstFile(_ name: String) -> String? {
        name.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }
            ? "it must be the name of a file, without control characters" : nil
    }

    /// Why a text cannot be an issuer or an audience; `nil`: it can.
    private static func reasonAgainstName(_ name: String) -> String? {
        (1...256).contains(name.utf8.count) && !name.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }
            ? nil : "it must be 1 to 256 bytes without control characters"
    }

    /// Why a list of origins is refused: each must be one that a page can have.
    private static func reasonAgainstOrigins(_ value: String) -> String? {
        guard value.utf8.count <= 4_096 else { return "it must be 4096 bytes at most" }
        for part in GatewayConfiguration.list(value) {
            do throws(WebOrigin.Fault) {
                _ = try OriginPattern(part)
            } catch {
                return "it must be origins that pages can have, and \(part) is none: \(error.reason)"
            }
        }
        return nil
    }

    /// Why a list of host names is refused: each must be one that a request can ask for.
    private static func reasonAgainstHosts(_ value: String) -> String? {
        guard value.utf8.count <= 4_096 else { return "it must be 4096 bytes at most" }
        for part in GatewayConfiguration.list(value) {
            guard let origin = WebOrigin(scheme: "https", authority: part), !origin.host.contains("*") else {
                return "it must be host names, such as ads.radio.example, and \(part) is none"
            }
            guard origin.port == nil, !part.contains(":") || part.hasPrefix("[") else {
                return "it must be host names without ports, and \(part) has one"
            }
        }
        return nil
    }

    private static func text(
        _ key: String,
        _ help: String,
        _ path: any WritableKeyPath<GatewayConfiguration, String> & Sendable,
        check: @escaping @Sendable (String) -> String?
    ) -> Row {
        Row(
            key: key,
            help: help,
            set: { configuration, value in
                configuration[keyPath: path] = value
                return check(value)
            },
            get: { $0[keyPath: path] }
        )
    }

    private static func flag(
        _ key: String,
        _ help: String,
        _ path: any WritableKeyPath<GatewayConfiguration, Bool> & Sendable
    ) -> Row {
        Row(
            key: key,
            help: help,
            set: { configuration, value in
                guard let flag = Bool(value) else { return "it must be true or false, and is \(value)" }
                configuration[keyPath: path] = flag
                return nil
            },
            get: { String($0[keyPath: path]) }
        )
        .counting("flag")
    }

    private static func duration(
        _ key: String,
        _ help: String,
        _ path: any WritableKeyPath<GatewayConfiguration, Duration> & Sendable,
        _ bounds: ClosedRange<Duration>
    ) -> Row {
        Row(
            key: key,
            help: help,
            set: { configuration, value in
                guard let duration = Duration(text: value), bounds.contains(duration) else {
                    return
                        "it must be a duration from \(bounds.lowerBound.asText) to \(bounds.upperBound.asText) such as 8s, and is \(value)"
                }
                configuration[keyPath: path] = duration
                return nil
            },
            get: { $0[keyPath: path].asText }
        )
        .counting("duration")
    }

    private static func number(
        _ key: String,
        _ help: String,
        _ path: any WritableKeyPath<GatewayConfiguration, Int> & Sendable,
        _ bounds: ClosedRange<Int>
    ) -> Row {
        Row(
            key: key,
            help: help,
            set: { configuration, value in
                guard let number = Int(value), bounds.contains(number) else {
                    return
                        "it must be a whole number from \(bounds.lowerBound) to \(bounds.upperBound), and is \(value)"
                }
                configuration[keyPath: path] = number
                return nil
            },
            get: { String($0[keyPath: path]) }
        )
        .counting(Self.unit(ofNumber: key))
    }

    /// Why this is not an endpoint to bind to.
    private static func endpoint(_ value: String) -> String? {
        guard value.hasPrefix("tcp://"), let colon = value.lastIndex(of: ":"), colon > value.startIndex,
            value.dropFirst("tcp://".count).firstIndex(of: ":") != nil
        else { return "it must be tcp://HOST:PORT, and is \(value)" }
        let host = value[value.index(value.startIndex, offsetBy: "tcp://".count)..<colon]
        let port = value[value.index(after: colon)...]
        guard !host.isEmpty, port == "*" || UInt16(port) != nil else {
            return "it must be tcp://HOST:PORT with a port from 0 to 65535 or *, and is \(value)"
        }
        do throws(NetworkAddress.Fault) {
            _ = try NetworkAddress(endpoint: value, for: .bind)
            return nil
        } catch {
            return "\(error); it is \(value)"
        }
    }
}

extension Duration {
    /// As one writes it in a configuration: `8s`, `1h`, `400d`, `250ms`.
    fileprivate var asText: String {
        let milliseconds = self.inMicroseconds / 1_000
        for (unit, name) in [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")] as [(Int64, String)]
        where milliseconds != 0 && milliseconds % unit == 0 {
            return "\(milliseconds / unit)\(name)"
        }
        return milliseconds == 0 ? "0s" : "\(milliseconds)ms"
    }
}
