// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayTestKit
import LoadEngine
import TestSupport
import Testing

/// Load by WebSocket, against a gateway that serves it, plain and by TLS.
@Suite(.serialized, .suiteLimit)
struct WebSocketLoadTests {
    private let certificate: TestCertificate

    init() throws {
        self.certificate = try TestCertificate("gateway.test")
    }

    private var encryption: Encryption { Encryption(authorityFile: self.certificate.certificateFile) }

    /// Runs a gateway with a port for WebSocket, and a measurement on a thread of its own.
    private func measure<Result: Sendable>(
        isEncrypted: Bool = false,
        path: String = "",
        _ body: @escaping @Sendable (_ webSocket: String, _ broadcast: String) throws -> Result
    ) async throws -> (Result, MetricRegistry) {
        var configuration = GatewayConfiguration.forTests
        configuration.limits[.requestsPerSessionPerSecondMax] = 0
        configuration.headInterval = waitMax
        configuration.breaks.announceAhead = .seconds(3_600)
        configuration.webSocket = "127.0.0.1:*"
        configuration.webSocketPath = path
        if isEncrypted {
            configuration.listenersCertificateFile = self.certificate.certificateFile
            configuration.listenersKeyFile = self.certificate.keyFile
        }
        return try await withGateway(configuration: configuration, log: InMemoryEventLog(), ledger: InMemoryLedger()) {
            running in
            let (webSocket, broadcast) = (try #require(running.endpoints.webSocket), running.endpoints.broadcast)
            return (try await onThread { try body(webSocket, broadcast) }, running.metrics)
        }
    }

    @Test(arguments: [(true, false), (false, false), (true, true)])
    func `listeners by WebSocket lose nothing`(push: Bool, isEncrypted: Bool) async throws {
        let encryption = isEncrypted ? self.encryption : nil
        let (outcome, metrics) = try await self.measure(isEncrypted: isEncrypted) { webSocket, broadcast in
            var settings = RunSettings(
                gateway: .init(notices: webSocket, requests: webSocket, broadcast: broadcast),
                streams: ["radio1"]
            )
            settings.encryption = encryption
            settings.listeners = 40
            settings.breaks = 1
            settings.storm = true
            settings.push = push
            // Announced at once, and so far ahead that no machine is too slow.
            settings.lead = 1_800_000_000
            settings.duration = 300_000
            settings.seed = 17
            settings.runName = "test"
            settings.patience = 1_800_000_000
            settings.listenerTimeout = 120_000_000
            return try runListeners(settings)
        }
        #expect(outcome.statistics.findings == Findings())
        let counts = outcome.statistics.counts
        #expect(counts.joined == 40 && counts.notices == 40 && counts.batches == 40 && counts.outcomes == 120)
        #expect(counts.pushed == (push ? 40 : 0))
        #expect(metrics.value(.webSocketUpgrades, .done) >= (push ? 40 : 80))
    }

    @Test func `a burst of notices reaches every subscriber once and in order`() async throws {
        let (result, _) = try await self.measure { webSocket, broadcast in
            var settings = NoticesSettings(
                notices: try Endpoint(webSocket),
                publisher: .gateway(try Endpoint(broadcast)),
                connections: 20,
                pattern: .burst,
                silence: .milliseconds(50)
            )
            settings.rounds = 2
            settings.burst = 100
            return try measureNotices(settings)
        }
        #expect(result.lost + result.repeated + result.outOfOrder == 0)
        #expect(result.rounds.map(\.received) == [2_000, 2_000])
    }

    @Test func `a peer that does not serve WebSocket at the path is told as such`() async throws {
        let error = await #expect(throws: LoadError.self) {
            _ = try await self.measure(path: "/listen") { webSocket, _ in
                let wrong = webSocket.dropLast("/listen".count) + "/elsewhere"
                var settings = RequestsSettings(
                    requests: try Endpoint(String(wrong)),
                    broadcast: nil,
                    kind: .time,
                    connections: 1
                )
                settings.patience = waitMax
                return try measureRequests(settings)
            }
        }
        let sentence = "\(try #require(error))"
        #expect(sentence.contains("the peer does not serve WebSocket: it answered "), "\(sentence)")
        #expect(sentence.contains("HTTP/1.1 404 Not Found"), "\(sentence)")
    }

    @Test(arguments: ["ws://127.0.0.1", "ws://:7403", "wss://127.0.0.1:0/listen", "http://127.0.0.1:7403"])
    func `an address that cannot be one is refused`(_ text: String) {
        #expect(throws: LoadError.self) { try Endpoint(text) }
    }
}
