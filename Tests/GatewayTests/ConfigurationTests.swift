// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayTestKit
import Testing

/// The valid settings from each source, and the sentences of refusals.
@Suite(.suiteLimit)
struct ConfigurationTests {
    /// Reads a configuration with a file of this text.
    private func read(
        _ text: String? = nil,
        flags: [String: String] = [:],
        environment: [String: String] = [:]
    ) async throws -> GatewayConfiguration {
        guard let text else {
            return try await GatewayConfiguration.read(flags: flags, environment: environment, file: nil)
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "cuecast-\(UUID().uuidString).yaml")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await GatewayConfiguration.read(flags: flags, environment: environment, file: file.path)
    }

    /// The sentences with which a configuration is refused.
    private func faults(
        _ text: String? = nil,
        flags: [String: String] = [:],
        environment: [String: String] = [:]
    ) async -> [String] {
        do {
            _ = try await self.read(text, flags: flags, environment: environment)
            return []
        } catch let faults as ConfigurationFaults {
            // The file has another name each time.
            return faults.faults.map { $0.description.replacing(/of \S+\.yaml/, with: "of FILE") }
        } catch {
            return ["not a fault: \(error)"]
        }
    }

    @Test func `nothing said means the defaults`() async throws {
        #expect(try await self.read() == GatewayConfiguration())
        #expect(try await self.read("") == GatewayConfiguration())
        #expect(try await self.read("{}") == GatewayConfiguration())
        // What is in the environment for others is not ours.
        #expect(try await self.read(environment: ["PATH": "/bin", "CUECAST_GATEWAY": "x"]) == GatewayConfiguration())
    }

    @Test func `each value tells where it comes from, and each key what it counts`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "cuecast-\(UUID().uuidString).yaml")
        try Data("listeners.max: 5\nbreaks.hold: 20m\nlogLevel: debug\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let running = try await GatewayConfiguration.readWithSources(
            flags: ["listeners.max": "7"],
            environment: ["CUECAST_LISTENERS_MAX": "6", "CUECAST_BREAKS_HOLD": "10m"],
            file: file.path
        )
        #expect(running.sources == ["listeners.max": .flag, "breaks.hold": .environment, "logLevel": .file])
        #expect(running.configuration.limits[.listenersMax] == 7 && running.configuration.breaks.hold == .seconds(600))
        #expect(running.configuration.logLevel == "debug")
        let units = Dictionary(uniqueKeysWithValues: ConfigurationTable.rows.map { ($0.key, $0.unit) })
        #expect(Set(units.values) == Set(ConfigurationDocument.Setting.units))
        for (key, unit) in [
            ("log.bytesMax", "bytes"), ("listeners.bytesWaitingMax", "bytes"), ("breaks.hold", "duration"),
            ("listeners.requestsPerSecondMax", "1/s"), ("breaks.batchRequestsPerSecond", "1/s"),
            ("clock.slewRate", "ppm"), ("tracing.ratio", "ratio"),
            ("listeners.max", "count"), ("ledger.paused", "flag"), ("logLevel", "text"),
        ] {
            #expect(units[key] == unit, "\(key)")
        }
    }

    @Test func `a file in YAML and the same in JSON are the same`() async throws {
        let yaml = """
            notices: tcp://127.0.0.1:9000
            http: none
            dataDir: "/var/lib/cue cast"
            breaks:
              announceAhead: 4s
              batchRequestsPerSecond: 5000
            listeners.max: 7
            """
        let json = """
            {"notices": "tcp://127.0.0.1:9000", "http": "none", "dataDir": "/var/lib/cue cast",
             "breaks": {"announceAhead": "4s", "batchRequestsPerSecond": 5000}, "listeners": {"max": 7}}
            """
        let configuration = try await self.read(yaml)
        #expect(configuration.notices == "tcp://127.0.0.1:9000")
        #expect(configuration.http == nil)
        #expect(configuration.dataDirectory == "/var/lib/cue cast")
        #expect(configuration.breaks.announceAhead == .seconds(4))
        #expect(configuration.breaks.batchRequestsPerSecond == 5_000)
        #expect(configuration.limits[.listenersMax] == 7)
        #expect(try await self.read(json) == configuration)
    }

    @Test func `flags go before the environment, which goes before the file`() async throws {
        let file = "drainTimeout: 1s\nioThreads: 1\nlogLevel: error"
        let environment = ["CUECAST_DRAIN_TIMEOUT": "2s", "CUECAST_IO_THREADS": "2"]
        let configuration = try await self.read(file, flags: ["drainTimeout": "3s"], environment: environment)
        #expect(configuration.drainTimeout == .seconds(3))
        #expect(configuration.ioThreads == 2)
        #expect(configuration.logLevel == "error")
    }

    @Test(arguments: ConfigurationTable.rows.map(\.key))
    func `each key is read from flags, its variable and the file, and its default is a legal value`(
        key: String
    ) async throws {
        let row = try #require(ConfigurationTable.rows.first { $0.key == key })
        let value = row.defaultText
        #expect(try await self.read(flags: [key: value]) == GatewayConfiguration())
        #expect(try await self.read(environment: [row.environmentVariable: value]) == GatewayConfiguration())
        #expect(try await self.read("\(key): \"\(value)\"") == GatewayConfiguration())
        // A value that no key takes is seen from each source.
        let wrong = key == "dataDir" ? "" : "\u{1}"
        for faults in [
            await self.faults(flags: [key: wrong]),
            await self.faults(environment: [row.environmentVariable: wrong]),
            await self.faults("\(key): \"\(wrong == "" ? "" : "\\x01")\""),
        ] {
            #expect(faults.count == 1)
            #expect(faults.first?.hasPrefix("\(key): it must ") == true)
        }
    }

    @Test func `variables are named after their keys`() {
        let names = ConfigurationTable.rows.map { ($0.key, $0.environmentVariable) }
        #expect(names.contains { $0 == ("dataDir", "CUECAST_DATA_DIR") })
        #expect(names.contains { $0 == ("breaks.announceAhead", "CUECAST_BREAKS_ANNOUNCE_AHEAD") })
        #expect(
            names.contains { $0 == ("listeners.requestsPerSecondMax", "CUECAST_LISTENERS_REQUESTS_PER_SECOND_MAX") }
        )
    }

    @Test(
        arguments: [
            ("listeners.max", "0", "10000000", "-1", "10000001"),
            ("listeners.headInterval", "100ms", "5m", "99ms", "301s"),
            ("listeners.lease", "10s", "1d", "9s", "86401s"),
            ("breaks.hold", "1s", "1d", "999ms", "86401s"),
            ("breaks.announceAhead", "0s", "1h", "-1s", "3601s"),
            ("breaks.batchRequestsPerSecond", "1", "1000000", "0", "1000001"),
            ("audit.keepFor", "1d", "36500d", "23h", "36501d"),
            ("audit.recordsMax", "1000", "100000000", "999", "100000001"),
            ("tracing.tracesPerSecondMax", "1", "100000", "0", "100001"),
            ("tracing.fileBytesMax", "1048576", "1099511627776", "1048575", "1099511627777"),
            ("drainTimeout", "0ms", "5m", "8", "301s"), ("listeners.moveWithin", "0s", "1m", "-1s", "60001ms"),
            ("ioThreads", "0", "64", "-1", "65"), ("edge.threads", "0", "64", "-1", "65"),
        ]
    )
    func `numbers and durations are taken at their bounds and refused past them`(
        key: String,
        least: String,
        most: String,
        below: String,
        above: String
    ) async throws {
        for value in [least, most] { #expect(await self.faults(flags: [key: value]) == []) }
        for value in [below, above, "", "many", "1.5", "1 s", "0x10"] {
            let faults = await self.faults(flags: [key: value])
            #expect(faults.count == 1)
            #expect(faults.first?.hasPrefix("\(key): it must be a ") == true)
            #expect(faults.first?.hasSuffix("and is \(value)") == true)
        }
    }

    @Test func `as many addresses for players are advertised as a beat carries, and each is one`() async throws {
        let most = (1...WireLimits.advertisedAddressesMax).map { "tls://gw-\($0).example:7401" }
        let longest = "wss://gw/" + String(repeating: "a", count: WireLimits.addressBytesMax - 9)
        for value in ["", most.joined(separator: ", "), longest] {
            #expect(try await self.read(flags: ["listeners.advertised": value]).advertised == value)
        }
        let read = try await self.read(flags: ["listeners.advertised": most.joined(separator: ",")])
        #expect(read.advertisedAddresses.map(\.description) == most)

        let one = "tls://one-more.example:7401"
        let five = (most + [one]).joined(separator: ",")
        #expect(
            await self.faults(flags: ["listeners.advertised": five]) == [
                "listeners.advertised: it must be at most 4 addresses, and these are 5"
            ]
        )
        for wrong in [
            "tcp://gw", "gw:7401", "wss://gw:99999/", "ws://[x/", "ws://a:b:c/", "https://me@gw", "udp://gw:1",
            longest + "a",
        ] {
            let faults = await self.faults(flags: ["listeners.advertised": "\(one),\(wrong)"])
            #expect(faults.count == 1, "\(wrong): \(faults)")
            #expect(faults.first?.hasPrefix("listeners.advertised: it must be addresses tcp://") == true, "\(faults)")
            #expect(faults.first?.contains("and \(wrong) is none") == true, "\(faults)")
        }
    }

    @Test(.enabled(if: SharedLogSettings.isBuilt))
    func `the servers of a shared log are addresses of one scheme, and each fault is said once`() async throws {
        let most = (1...SharedLogSettings.serversMax).map { "nats://127.0.0.1:\($0)" }
        for value in [
            "", "nats://127.0.0.1:4222", "nats://localhost:1, nats://[::1]:65535", most.joined(separator: ","),
            "tls://nats-a.example:4222,tls://nats-b.example:4222",
        ] {
            #expect(try await self.read(flags: ["jetstream.servers": value]).sharedLog.servers == value)
        }
        for value in [
            ",", "nats://127.0.0.1:4222,", "127.0.0.1:4222", "http://127.0.0.1:4222", "nats://127.0.0.1",
            "nats://127.0.0.1:0", "nats://127.0.0.1:65536", "nats://:4222", "nats://me:secret@127.0.0.1:4222",
            "nats://127.0.0.1:4222/x", "nats://127.0.0.1:4222,tls://127.0.0.1:4222", "nats://127.0.0.1:4222\u{7}",
            "nats://a b:4222", "nats://127.0.0.1:4222;nats://127.0.0.1:4223",
            (most + ["nats://127.0.0.1:9999"]).joined(separator: ","),
        ] {
            let faults = await self.faults(flags: ["jetstream.servers": value])
            #expect(faults.count == 1, "\(value): \(faults)")
            #expect(faults.first?.hasPrefix("jetstream.servers: it must be addresses") == true, "\(faults)")
            #expect(faults.first?.contains("secret@") != true)
        }
        for key in ["jetstream.prefix", "jetstream.credentialsFile", "jetstream.tls.authorityFile"] {
            let faults = await self.faults(flags: [key: "a\u{1B}b"])
            #expect(faults.count == 1 && faults.first?.hasPrefix("\(key): it must be") == true, "\(faults)")
        }
        for value in ["", "a.b", "a b", "ä", String(repeating: "a", count: 33)] {
            #expect(await self.faults(flags: ["jetstream.prefix": value]).count == 1)
        }
        #expect(await self.faults(flags: ["jetstream.prefix": String(repeating: "a", count: 32)]) == [])
    }

    @Test(.enabled(if: SharedLogSettings.isBuilt))
    func `servers on other machines are reached by TLS, unless the operator says otherwise`() async throws {
        let remote = ["jetstream.servers": "nats://127.0.0.1:4222,nats://nats-b.example:4222"]
        let faults = await self.faults(flags: remote)
        #expect(faults.count == 1)
        #expect(faults.first?.contains("nats://nats-b.example:4222 is on another machine") == true)
        for more in [("jetstream.tls.authorityFile", "/ca.pem"), ("allowUnencryptedRemote", "true")] {
            #expect(await self.faults(flags: remote.merging([more.0: more.1]) { $1 }) == [])
        }
        let encrypted = try await self.read(flags: ["jetstream.servers": "tls://nats-b.example:4222"])
        #expect(encrypted.sharedLog.encrypts)
        // The statement about the servers is no matter of a single value: a start asks for it.
        #expect(encrypted.syncFault?.reason.hasPrefix("it must be true") == true)
        #expect(GatewayConfiguration().syncFault == nil)
    }

    @Test(.enabled(if: !SharedLogSettings.isBuilt))
    func `a program without NATS takes the defaults of a shared log only`() async throws {
        for (key, value) in [
            ("jetstream.servers", "nats://127.0.0.1:4222"), ("jetstream.prefix", "b"), ("jetstream.syncAlways", "true"),
        ] {
            let faults = await self.faults(flags: [key: value])
            #expect(faults.count == 1)
            #expect(faults.first?.contains("built without NATS") == true)
        }
    }

    @Test func `the ratio of traces is a number from 0 to 1`() async throws {
        for (value, ratio) in [("0", 0), ("1", 1), ("1.0", 1), ("0.05", 0.05), (".5", 0.5)] as [(String, Double)] {
            #expect(try await self.read(flags: ["tracing.ratio": value]).tracing.ratio == ratio)
        }
        for value in ["1.01", "-0.1", "2", "", "nan", "inf", "1e-3", "0x1", "5%", "0,5", "."] {
            #expect(
                await self.faults(flags: ["tracing.ratio": value]) == [
                    "tracing.ratio: it must be a number from 0 to 1 such as 0.05, and is \(value)"
                ]
            )
        }
    }

    @Test func `whether the ledger is paused is true or false`() async {
        #expect(await self.faults(flags: ["ledger.paused": "true"]) == [])
        #expect(await self.faults(flags: ["ledger.paused": "false"]) == [])
        let faults = await self.faults(flags: ["ledger.paused": "perhaps"])
        #expect(faults == ["ledger.paused: it must be true or false, and is perhaps"])
    }

    @Test func `everything that is wrong is said at once, each with its sentence`() async {
        let faults = await self.faults(
            """
            notices: banana
            requests: tcp://127.0.0.1
            broadcast: tcp://127.0.0.1:70000
            http: everywhere
            allowUnencryptedRemote: perhaps
            logLevel: loud
            brakes:
              hold: 1h
            ports: [1, 2]
            """
        )
        // A list is seen before anything else.
        #expect(faults == ["ports: it must be a single value"])
        let others = await self.faults(
            """
            notices: banana
            requests: tcp://127.0.0.1
            broadcast: tcp://127.0.0.1:70000
            http: everywhere
            allowUnencryptedRemote: perhaps
            logLevel: loud
            brakes:
              hold: 1h
            """
        )
        #expect(
            others == [
                "brakes.hold: there is no such key (line 8 of FILE); did you mean breaks.hold?",
                "notices: it must be tcp://HOST:PORT, and is banana",
                "requests: it must be tcp://HOST:PORT, and is tcp://127.0.0.1",
                "broadcast: it must be tcp://HOST:PORT with a port from 0 to 65535 or *, and is tcp://127.0.0.1:70000",
                "http: it must be HOST:PORT, or none, and is everywhere",
                "allowUnencryptedRemote: it must be true or false, and is perhaps",
                "logLevel: it must be one of trace, debug, info, notice, warning, error, critical, and is loud",
            ]
        )
    }

    @Test(
        arguments: [
            "a: b: c", "- one\n- two", "just words", "\"unclosed", "{\"a\": 1", "a: 1\na: 2",
            "breaks: {hold: 1h, hold: 2h}",
            "? [a, b]\n: c", "breaks..hold: 1h\nbreaks.hold: 1h", ".: 1", "\u{0}", "a: &x {b: *x}", "breaks: 5",
        ]
    )
    func `a file that is no table of keys is refused with a sentence`(text: String) async {
        let faults = await self.faults(text)
        #expect(!faults.isEmpty)
        #expect(faults.allSatisfy { !$0.hasPrefix("not a fault") && $0.contains(": ") })
    }

    @Test func `a file that is not there, or not text, is refused with a sentence`() async throws {
        await #expect(
            throws: ConfigurationFaults([ConfigurationFault(key: "/nowhere/at/all", reason: "there is no such file")])
        ) {
            _ = try await GatewayConfiguration.read(flags: [:], environment: [:], file: "/nowhere/at/all")
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "cuecast-\(UUID().uuidString).yaml")
        try Data([0xFF, 0xFE, 0xC0]).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        await #expect(
            throws: ConfigurationFaults([ConfigurationFault(key: file.path, reason: "the file is not text in UTF-8")])
        ) {
            _ = try await GatewayConfiguration.read(flags: [:], environment: [:], file: file.path)
        }
    }

    @Test(
        arguments: [
            "tcp://0.0.0.0:7400", "tcp://*:7400", "tcp://10.0.0.1:7400", "tcp://[::]:7400", "tcp://128.0.0.1:7400",
            "tcp://127.0.0.1.example:7400", "tcp://localhost.example:7400", "tcp://eth0:7400",
        ]
    )
    func `an address that others can reach needs the explicit word`(endpoint: String) async throws {
        for key in ["notices", "requests", "broadcast"] {
            let faults = await self.faults(flags: [key: endpoint])
            #expect(faults.count == 1)
            #expect(faults.first?.hasPrefix("\(key): \(endpoint) can be reached from other machines") == true)
            #expect(faults.first?.contains("allowUnencryptedRemote: true") == true)
            #expect(await self.faults(flags: [key: endpoint, "allowUnencryptedRemote": "true"]) == [])
            #expect(await self.faults(flags: [key: endpoint, "allowUnencryptedRemote": "false"]).count == 1)
        }
        let host = String(endpoint.dropFirst("tcp://".count))
        #expect(await self.faults(flags: ["http": host]).count == 1)
        #expect(await self.faults(flags: ["http": host, "allowUnencryptedRemote": "true"]) == [])
    }

    @Test func `an IPv4 address that is cut short is none, whatever else is said`() async throws {
        for flags in [
            ["notices": "tcp://127.1:7400"], ["notices": "tcp://127.1:7400", "allowUnencryptedRemote": "true"],
        ] {
            #expect(await self.faults(flags: flags).count == 1)
        }
    }

    @Test(arguments: ["127.0.0.1", "127.0.0.2", "localhost", "[::1]"])
    func `a gateway binds to each loopback address, with a port of the system's choice`(host: String) async throws {
        let endpoint = "tcp://\(host):*"
        var configuration = try await self.read(
            flags: ["notices": endpoint, "requests": endpoint, "broadcast": endpoint, "http": "none"]
        )
        configuration.ioThreads = 1
        try await withGateway(configuration: configuration, log: InMemoryEventLog(), ledger: InMemoryLedger()) {
            running in
            #expect(!running.endpoints.notices.hasSuffix("*"))
            let joined = try await running.listener().join()
            #expect(joined.kind == .snapshot)
            try await running.broadcaster().publish("b")
        }
    }

    @Test func `an address in use is named`() async throws {
        try await Station()
            .run { running in
                var configuration = GatewayConfiguration.forTests
                configuration.requests = running.endpoints.requests
                let error = await #expect(throws: (any Error).self) {
                    try await withGateway(
                        configuration: configuration,
                        log: InMemoryEventLog(),
                        ledger: InMemoryLedger()
                    ) {
                        _ in
                    }
                }
                let sentence = "\(try #require(error))"
                #expect(sentence.contains(running.endpoints.requests))
            }
    }

    @Test(arguments: [
        ("https://radio.example/", "and https://radio.example/ is none: an origin ends after its host and port"),
        ("https://*", "a * stands for the first label of a host alone"),
        ("capacitor://localhost, radio.example", "and radio.example is none: it must begin with a scheme"),
    ])
    func `an origin that no page can have is refused at the start`(_ value: String, _ reason: String) async {
        let faults = await self.faults(flags: ["http.listenerOrigins": value])
        #expect(faults.count == 1)
        #expect(faults.first?.contains(reason) == true, "\(faults)")
    }

    @Test func `origins of apps, of subdomains and of pages without one are taken`() async {
        let value = "capacitor://localhost, https://*.radio.example ,null,http://[::1]:3000"
        #expect(await self.faults(flags: ["http.listenerOrigins": value]) == [])
    }

    @Test(arguments: [
        ("listeners.webSocket", "7403", "it must be HOST:PORT, or none"),
        ("listeners.webSocket", "0.0.0.0:7403", "have a certificate (listeners.tls.certificateFile)"),
        ("listeners.webSocketOrigins", "radio.example", "it must begin with a scheme"),
        ("listeners.webSocketPath", "listen", "a path of at most 256 bytes"),
        ("listeners.webSocketPath", "/listen?token=1", "without a query"),
        ("listeners.webSocketPath", "/" + String(repeating: "x", count: 256), "a path of at most 256 bytes"),
    ])
    func `a port for WebSocket that cannot be served is refused at the start`(
        _ key: String,
        _ value: String,
        _ reason: String
    ) async {
        let faults = await self.faults(flags: [key: value])
        #expect(faults.count == 1)
        #expect(faults.first?.contains(reason) == true, "\(faults)")
    }

    @Test func `a port for WebSocket is told with its path, and there is none unless it is set`() async throws {
        let path = "/" + String(repeating: "x", count: 255)
        var configuration = try await self.read(flags: ["listeners.webSocketPath": path, "http": "none"])
        #expect(configuration.webSocket == nil)
        configuration = GatewayConfiguration.forTests
        configuration.webSocket = "127.0.0.1:*"
        configuration.webSocketPath = path
        try await withGateway(configuration: configuration, log: InMemoryEventLog(), ledger: InMemoryLedger()) {
            running in
            let address = try #require(running.endpoints.webSocket)
            #expect(address.hasPrefix("ws://127.0.0.1:") && address.hasSuffix(path))
        }
    }

    @Test func `pages of the asked host and of listed origins may listen by WebSocket`() throws {
        let origins = WebSocketOrigins([try OriginPattern("https://*.radio.example")])
        #expect(origins.admits("https://www.radio.example", host: "gateway.example"))
        #expect(origins.admits("https://gateway.example", host: "gateway.example"))
        #expect(origins.admits("http://127.0.0.1:7403", host: "127.0.0.1:7403"))
        #expect(!origins.admits("https://radio.example", host: "gateway.example"))
        #expect(!origins.admits("https://gateway.example:8443", host: "gateway.example"))
        #expect(!origins.admits("null", host: "gateway.example"))
        // A gateway serves no such pages, whatever their host is called.
        for scheme in ["capacitor", "file", "ws"] {
            #expect(!origins.admits("\(scheme)://localhost", host: "localhost"))
        }
        origins.replace(by: [.every])
        #expect(origins.admits("https://radio.example", host: "gateway.example"))
    }

    @Test(arguments: ["ads.radio.example:8443", "https://ads.radio.example", "*.radio.example"])
    func `a host name that no request can ask for is refused at the start`(_ value: String) async {
        let faults = await self.faults(flags: ["http.hosts": "radio.example, \(value)"])
        #expect(faults.count == 1)
        #expect(
            faults.first?.contains("it must be host names") == true && faults.first?.contains("and \(value) ") == true,
            "\(faults)"
        )
    }
}
