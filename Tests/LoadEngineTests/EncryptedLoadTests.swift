// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayTestKit
import Histogram
import LoadEngine
import Synchronization
import TestSupport
import Testing

/// Runs and measurements against a gateway whose ports have a certificate, and with streams that ask for tokens.
@Suite(.serialized, .suiteLimit)
struct EncryptedLoadTests {
    private let certificate: TestCertificate

    init() throws {
        self.certificate = try TestCertificate("gateway.test")
    }

    private var encryption: Encryption { Encryption(authorityFile: self.certificate.certificateFile) }

    /// Runs a gateway with the certificate, and a measurement on a thread of its own.
    private func measure<Result: Sendable>(
        tokens: ListenerTokenCheck? = nil,
        isEncrypted: Bool = true,
        _ body: @escaping @Sendable (Gateway.Endpoints) throws -> Result
    ) async throws -> (Result, MetricRegistry) {
        var configuration = GatewayConfiguration.forTests
        configuration.limits[.requestsPerSessionPerSecondMax] = 0
        configuration.headInterval = waitMax
        configuration.breaks.announceAhead = .seconds(3_600)
        if isEncrypted {
            configuration.listenersCertificateFile = self.certificate.certificateFile
            configuration.listenersKeyFile = self.certificate.keyFile
        }
        if tokens != nil { configuration.protectedStreams = [.every] }
        return try await withGateway(
            configuration: configuration,
            log: InMemoryEventLog(),
            ledger: InMemoryLedger(),
            tokens: tokens
        ) { running in
            let endpoints = running.endpoints
            return (try await onThread { try body(endpoints) }, running.metrics)
        }
    }

    private static func settings(_ endpoints: Gateway.Endpoints, _ encryption: Encryption?) -> RunSettings {
        var settings = RunSettings(
            gateway: .init(
                notices: endpoints.notices,
                requests: endpoints.requests,
                broadcast: endpoints.broadcast
            ),
            streams: ["radio1"]
        )
        settings.encryption = encryption
        settings.listeners = 40
        settings.breaks = 1
        settings.storm = true
        // Announced at once, and so far ahead that no machine is too slow.
        settings.lead = 1_800_000_000
        settings.duration = 300_000
        settings.seed = 17
        settings.runName = "test"
        settings.patience = 1_800_000_000
        settings.listenerTimeout = 120_000_000
        return settings
    }

    @Test(arguments: [true, false])
    func `listeners by TLS lose nothing, and their handshakes are timed`(push: Bool) async throws {
        let encryption = self.encryption
        let (outcome, metrics) = try await self.measure { endpoints in
            var settings = Self.settings(endpoints, encryption)
            settings.push = push
            return try runListeners(settings)
        }
        #expect(outcome.statistics.findings == Findings())
        let counts = outcome.statistics.counts
        #expect(counts.joined == 40 && counts.notices == 40 && counts.batches == 40 && counts.outcomes == 120)
        #expect(counts.pushed == (push ? 40 : 0))
        #expect(counts.handshakes >= (push ? 40 : 80))
        #expect(outcome.statistics.handshake.intended.totalCount == UInt64(counts.handshakes))
        #expect(outcome.statistics.handshakesUntilAllConnected >= (push ? 40 : 80))
        #expect(outcome.statistics.allConnected != nil)
        #expect(metrics.value(.encryptionHandshakes, .done) >= counts.handshakes)
    }

    @Test func `requests, notices and idle listeners go by TLS too`() async throws {
        let encryption = self.encryption
        let ((requests, notices, idle), _) = try await self.measure { endpoints in
            let where_ = try Endpoint(endpoints.requests, encrypted: true)
            var requests = RequestsSettings(
                requests: where_,
                broadcast: try Endpoint(endpoints.broadcast),
                kind: .batch,
                connections: 8
            )
            requests.encryption = encryption
            requests.warmUp = .zero
            requests.duration = .seconds(1)
            requests.patience = waitMax
            requests.drain = waitMax
            var notices = NoticesSettings(
                notices: try Endpoint(endpoints.notices.replacing("tcp:", with: "tls:")),
                publisher: .gateway(try Endpoint(endpoints.broadcast)),
                connections: 10,
                pattern: .burst,
                silence: .milliseconds(50)
            )
            notices.encryption = encryption
            notices.rounds = 1
            notices.burst = 200
            notices.patience = waitMax
            notices.roundPatience = waitMax
            var idle = IdleSettings(notices: where_, requests: where_, connections: 10, hold: .milliseconds(50))
            idle.encryption = encryption
            idle.patience = waitMax
            return (
                try measureRequests(requests), try measureNotices(notices), try holdIdleListeners(idle) { _ in }
            )
        }
        #expect(requests.lost == 0 && requests.refused == [:])
        #expect(notices.rounds.map(\.received) == [2_000])
        #expect(notices.lost == 0 && notices.repeated == 0 && notices.outOfOrder == 0)
        #expect(idle.ended == 0 && idle.pushed == 10)
        #expect(idle.handshakes >= 10 && idle.handshake.p50 > 0 && idle.handshake.max >= idle.handshake.p99)
    }

    @Test(arguments: [1, 7, 300])
    func `encrypted bytes may come in pieces of any size`(readBytesMax: Int) async throws {
        let encryption = self.encryption
        let (answered, _) = try await self.measure { endpoints in
            let endpoint = try Endpoint(endpoints.requests, encrypted: true)
            let driver = ScriptedDriver()
            var settings = LoopSettings()
            settings.readBytesMax = readBytesMax
            settings.encryption = encryption
            let loop = try LoadLoop(driver: driver, connectionsMax: 1, settings: settings)
            let request = ListenerRequest(id: 1, session: .random(), kind: .getTime).encoded()
            var answered = 0
            driver.onReady = { $1.sendRequest(request, on: $0) }
            driver.onMessage = { message, connection, loop in
                #expect((try? ListenerReply(decoding: message.indices.map { message[$0] }))?.requestID == 1)
                answered += 1
                if answered == 20 { loop.stop() } else { loop.sendRequest(request, on: connection) }
            }
            // A machine that stands still may take longer than a handshake may.
            driver.onEnd = { end, loop in
                #expect(end == .closedByPeer)
                _ = loop.connect(.req, to: endpoint, tag: 0)
            }
            _ = loop.connect(.req, to: endpoint, tag: 0)
            try loop.run()
            #expect(loop.openCount == 0)
            return answered
        }
        #expect(answered == 20)
    }

    /// Why a measurement did not come to anything.
    private func sentence(
        _ encryption: Encryption,
        isEncrypted: Bool = true,
        encrypted: Bool = true
    ) async throws -> String {
        let error = await #expect(throws: LoadError.self) {
            _ = try await self.measure(isEncrypted: isEncrypted) { endpoints in
                var settings = RequestsSettings(
                    requests: try Endpoint(endpoints.requests, encrypted: encrypted),
                    broadcast: nil,
                    kind: .time,
                    connections: 1
                )
                settings.encryption = encryption
                settings.patience = waitMax
                return try measureRequests(settings)
            }
        }
        return "\(try #require(error))"
    }

    @Test func `a certificate that is not trusted, or is another's, is told as such`() async throws {
        let other = try TestCertificate("other")
        let stranger = try await self.sentence(Encryption(authorityFile: other.certificateFile))
        #expect(stranger.contains("the peer's certificate is not trusted: self-signed certificate"), "\(stranger)")
        var named = self.encryption
        named.serverName = "elsewhere.test"
        let mismatch = try await self.sentence(named)
        #expect(mismatch.contains("the peer's certificate is not trusted: hostname mismatch"), "\(mismatch)")
        named.serverName = "127.0.0.2"
        #expect(try await self.sentence(named).contains("IP address mismatch"))
        // The system does not trust the test's authority.
        #expect(try await self.sentence(Encryption()).contains("is not trusted"))
    }

    @Test func `a certificate may be for a name that is told beside the address`() async throws {
        var named = self.encryption
        named.serverName = "gateway.test"
        let encryption = named
        let (idle, _) = try await self.measure { endpoints in
            let requests = try Endpoint(endpoints.requests, encrypted: true)
            var settings = IdleSettings(notices: requests, requests: requests, connections: 1, hold: .milliseconds(1))
            settings.encryption = encryption
            settings.patience = waitMax
            return try holdIdleListeners(settings) { _ in }
        }
        #expect(idle.ended == 0)
    }

    @Test func `where one side is plain and the other is not, it says so`() async throws {
        let plain = try await self.sentence(self.encryption, isEncrypted: false)
        #expect(plain.contains("the peer closed the connection") || plain.contains("does not speak TLS"), "\(plain)")
        #expect(try await self.sentence(self.encryption, encrypted: false).contains("the peer closed the connection"))
    }

    @Test func `a file of certificates has a limit, and must hold some`() throws {
        func sentence(_ bytes: [UInt8]) throws -> String {
            let path = self.certificate.certificateFile + ".authorities"
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            let requests = try Endpoint("tls://127.0.0.1:1")
            var settings = RequestsSettings(requests: requests, broadcast: nil, kind: .time, connections: 1)
            settings.encryption.authorityFile = path
            let error = #expect(throws: LoadError.self) { try measureRequests(settings) }
            guard case .usage(let sentence) = try #require(error) else { return "" }
            return sentence
        }
        let pem = try self.certificate.certificates()
        let limit = Encryption.authorityFileBytesMax
        let blank = [UInt8](repeating: 0x0A, count: limit)
        #expect(try sentence(blank).contains("it holds no certificate"))
        #expect(try sentence(blank + [0x0A]).contains("the limit authorityFileBytesMax is \(limit)"))
        #expect(try sentence([]).contains("it holds no certificate"))
        #expect(try sentence(pem + pem.dropLast(60)).contains("cannot be read"))
    }

    // MARK: - Tokens

    /// A file of tokens that only its owner may read.
    private func file(_ text: String, mode: Int = 0o600) throws -> String {
        let path = self.certificate.certificateFile + ".tokens"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    /// Tokens that a gateway was asked about, each as often as it was.
    private final class Asked: Sendable {
        private let counts: Mutex<[String: Int]> = Mutex([:])

        var all: [String: Int] { self.counts.withLock(\.self) }

        /// Grants what begins with `good`.
        var check: ListenerTokenCheck {
            { token, now in
                self.counts.withLock { $0[token, default: 0] += 1 }
                return token.hasPrefix("good")
                    ? .success(ListenerGrant(subject: token, streams: [.every], until: now + .seconds(86_400)))
                    : .failure(Refusal(.notAllowed, "no"))
            }
        }
    }

    @Test(arguments: [1, 40])
    func `listeners join streams that ask for a token with one for all or one each`(count: Int) async throws {
        let asked = Asked()
        let tokens = try self.file((0..<count).map { "good-\($0)\n" }.joined())
        let encryption = self.encryption
        let (outcome, _) = try await self.measure(tokens: asked.check) { endpoints in
            var settings = Self.settings(endpoints, encryption)
            settings.tokensFile = tokens
            return try runListeners(settings)
        }
        #expect(outcome.statistics.findings == Findings())
        #expect(outcome.statistics.counts.joined == 40 && outcome.statistics.counts.outcomes == 120)
        #expect(asked.all.count == count)
        #expect(asked.all.values.reduce(0, +) >= 40)
    }

    @Test func `joins are measured with a token each time`() async throws {
        let asked = Asked()
        let path = try self.file("good-a\ngood-b\r\ngood-c\ngood-d")
        let tokens = try JoinTokens(path: path, listeners: 4)
        let (result, _) = try await self.measure(tokens: asked.check, isEncrypted: false) { endpoints in
            var duration = Duration.milliseconds(300)
            while true {
                var settings = RequestsSettings(
                    requests: try Endpoint(endpoints.requests),
                    broadcast: nil,
                    kind: .join,
                    connections: 4
                )
                settings.tokens = tokens
                settings.warmUp = .zero
                settings.duration = duration
                settings.patience = waitMax
                settings.drain = waitMax
                let result = try measureRequests(settings)
                // A busy machine may need longer for the first answer.
                if result.count > 0 { return result }
                duration *= 4
            }
        }
        #expect(result.lost == 0 && result.refused == [:])
        #expect(Set(asked.all.keys) == ["good-a", "good-b", "good-c", "good-d"])
        #expect(asked.all.values.reduce(0, +) >= result.count)
    }

    @Test func `tokens are for joins at a gateway`() throws {
        let tokens = try JoinTokens(path: try self.file("good"), listeners: 1)
        for kind in RequestKind.allCases {
            var settings = RequestsSettings(
                requests: try Endpoint("tcp://127.0.0.1:1"),
                broadcast: nil,
                kind: kind,
                connections: 1
            )
            settings.tokens = tokens
            settings.isBare = true
            let error = #expect(throws: LoadError.self) { try measureRequests(settings) }
            #expect(error == .usage("tokens are for --kind join at a gateway"))
        }
    }

    @Test func `a file of tokens has a limit, belongs to its owner, and holds one or enough`() throws {
        func sentence(_ text: String, listeners: Int = 3, mode: Int = 0o600, bytesMax: Int = 8_192) throws -> String? {
            let path = try self.file(text, mode: mode)
            do throws(LoadError) {
                _ = try JoinTokens(path: path, listeners: listeners, bytesMax: bytesMax)
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(try sentence("one\n") == nil)
        #expect(try sentence("one\ntwo\n\nthree") == nil)
        #expect(try sentence("one\ntwo\nthree\nfour\n") == nil)
        #expect(try sentence("one\ntwo\n")?.contains("it holds 2 tokens") == true)
        #expect(try sentence("")?.contains("it holds 0 tokens") == true)
        #expect(try sentence("one", mode: 0o644)?.contains("others may read or change it") == true)
        #expect(try sentence("a token")?.contains("line 1 is no token") == true)
        let longest = String(repeating: "x", count: WireLimits.tokenBytesMax)
        #expect(try sentence(longest) == nil)
        let tooLong = try #require(try sentence("one\n\(longest)x"))
        #expect(tooLong.contains("line 2 is no token") && !tooLong.contains("xxx"))
        #expect(try sentence("12345678", bytesMax: 8) == nil)
        #expect(try sentence("123456789", bytesMax: 8)?.contains("the limit tokensFileBytesMax is 8") == true)
        #expect(JoinTokens.tokensFileBytesMax == 67_108_864)
    }
}
