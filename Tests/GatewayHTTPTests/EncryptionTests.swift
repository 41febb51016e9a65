// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import GatewayTestKit
import TestSupport
import Testing

/// HTTP by TLS: the real server, and the command `openssl` as its peer.
@Suite(.suiteLimit)
struct EncryptionTests {
    private let certificate: TestCertificate
    private var parts = Parts()

    init() throws {
        self.certificate = try TestCertificate("gateway.test")
        self.parts.identity = HTTPIdentityHolder(try Self.identity(self.certificate), metrics: self.parts.metrics)
    }

    private static func configuration(_ certificate: TestCertificate) -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.httpCertificateFile = certificate.certificateFile
        configuration.httpKeyFile = certificate.keyFile
        return configuration
    }

    private static func identity(_ certificate: TestCertificate) throws -> HTTPIdentity {
        try #require(try HTTPIdentity.read(for: self.configuration(certificate)))
    }

    /// A peer that goes on only where it is shown this certificate.
    private func trusting(_ certificate: TestCertificate, _ peer: HTTPPeer, _ options: [String] = []) -> HTTPPeer {
        var peer = peer
        peer.encryption = ["-verify_return_error", "-CAfile", certificate.certificateFile] + options
        return peer
    }

    private func handshakes(_ result: MetricLabel) -> Int { self.parts.metrics.value(.httpHandshakes, result) }

    // MARK: - What is spoken

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `each version is served as plain HTTP is`(version: String) async throws {
        try await self.parts.serve { [self] peer in
            #expect(peer.address.hasPrefix("https://127.0.0.1:"))
            let encrypted = self.trusting(self.certificate, peer, [version])
            let answer1 = try await encrypted.get("/healthz")
            #expect(answer1.status == 200)
            let answer2 = try await encrypted.get("/nothing")
            #expect(answer2.status == 404)
            let connection = try encrypted.connect()
            for _ in 0..<3 { try await onThread { try connection.ask("/healthz", until: "}") } }
            #expect(self.handshakes(.done) == 3)
        }
    }

    @Test func `older versions, and ciphers without ephemeral keys or authentication, are refused`() async throws {
        try await self.parts.serve { [self] peer in
            var old = peer
            for options in [
                ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"], ["-tls1_2", "-cipher", "AES128-SHA256"],
                ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA256"],
            ] {
                old.encryption = options
                let answer3 = try await old.exchange([])
                #expect(answer3.isEmpty)
            }
            try await until("the handshakes are counted") { self.handshakes(.failed) == 3 }
            #expect(self.handshakes(.done) == 0)
        }
    }

    @Test(arguments: [("http/1.1", "http/1.1", true), ("h2,http/1.1", "h2", false)])
    func `a client that names what it speaks learns which of it is spoken`(
        offers: String,
        agreed: String,
        isFirst: Bool
    ) async throws {
        try await self.parts.serve { [self] peer in
            let options = ["-ign_eof", "-alpn", offers, "-CAfile", self.certificate.certificateFile]
            let tunnel = try TLSTunnel(connectedTo: peer.address, options)
            let said = try await onThread { [connection = HTTPConnection(through: tunnel)] in
                try connection.send(HTTPPeer.request("/healthz"))
                return String(decoding: try connection.rest(), as: UTF8.self)
            }
            #expect(said.contains("ALPN protocol: \(agreed)"))
            // Who agreed on HTTP/2 and does not speak it is closed without an answer.
            #expect(said.contains("HTTP/1.1 200 OK") == isFirst)
        }
    }

    @Test func `a client that renegotiates is closed`() async throws {
        try await self.parts.serve { [self] peer in
            let connection = HTTPConnection(through: try TLSTunnel(connectedTo: peer.address, ["-tls1_2"]))
            try await until("the handshakes are counted") { self.handshakes(.done) == 1 }
            // A line that begins with R asks for it.
            try connection.send("R\n")
            _ = try await onThread { try connection.rest() }
            try await until("the connections have ended") { self.parts.metrics.value(.connections, .http) == 0 }
        }
    }

    @Test func `a plain request is told to use https`() async throws {
        try await self.parts.serve { [self] peer in
            let answer = try await peer.get("/healthz", headers: ["Authorization": "Bearer secret"])
            #expect(answer.status == 400)
            let document = try answer.decoded(as: ProblemDocument.self)
            #expect(document.code == "ENCRYPTED" && document.detail.contains("https"))
            #expect(!answer.body.contains("secret"))
            #expect(self.handshakes(.plaintext) == 1 && self.handshakes(.gone) == 0)
            let answer4 = try await self.trusting(self.certificate, peer).get("/healthz")
            #expect(answer4.status == 200)
        }
    }

    @Test func `operations that need a token need one with TLS too`() async throws {
        let workshop = try TokenWorkshop()
        var parts = self.parts
        parts.access = HTTPAccessHolder(try await workshop.access(.health))
        let token = try await workshop.token(try TokenWorkshop.claims(scope: "read"))
        try await parts.serve { [self] peer in
            let encrypted = self.trusting(self.certificate, peer)
            let answer5 = try await encrypted.get("/healthz")
            #expect(answer5.status == 200)
            let answer6 = try await encrypted.get("/metrics")
            #expect(answer6.status == 401)
            let headers = ["Authorization": "Bearer \(token)"]
            let answer7 = try await encrypted.get("/metrics", headers: headers)
            #expect(answer7.status == 200)
            let answer8 = try await encrypted.get("/v1/reload", method: "POST", headers: headers)
            #expect(answer8.status == 403)
            let other = headers.merging(["Host": "evil.example"]) { $1 }
            let answer9 = try await encrypted.get("/metrics", headers: other)
            #expect(answer9.status == 421)
        }
    }

    // MARK: - What bounds a connection

    /// The beginning of a handshake: a record whose rest never comes.
    private static let half: [UInt8] = [22, 3, 1, 0, 200, 1, 0]

    @Test func `a handshake that is not there in time ends, and so does what is half of a request`() async throws {
        var parts = self.parts
        parts.configuration.idleTimeout = .milliseconds(300)
        try await parts.serve { [self, parts] peer in
            let answer10 = try await peer.exchange([])
            #expect(answer10.isEmpty)
            let answer11 = try await peer.exchange(Self.half)
            #expect(answer11.isEmpty)
            try await until("the handshakes are counted") { self.handshakes(.gone) == 2 }
            let encrypted = self.trusting(self.certificate, peer)
            let answer12 = try await encrypted.exchange(Array("GET / HTTP/1.1\r\nHost:".utf8))
            #expect(answer12.isEmpty)
            try await until("the connections have ended") { parts.metrics.value(.connections, .http) == 0 }
        }
    }

    @Test func `a connection of HTTP 2 that asks for nothing ends in time, whatever else its peer says`() async throws {
        var parts = self.parts
        parts.configuration.idleTimeout = .milliseconds(300)
        try await parts.serve { [self, parts] peer in
            let encrypted = self.trusting(self.certificate, peer, ["-alpn", "h2"])
            // What a client says first, and settings that change nothing (RFC 9113 sections 3.4 and 6.5).
            let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
            let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
            for (number, opening) in [[], preface, preface + settings].enumerated() {
                // On a busy machine a handshake may not be there in time.
                while self.handshakes(.done) <= number { _ = try await encrypted.exchange(opening) }
            }
            try await until("the connections have ended") { parts.metrics.value(.connections, .http) == 0 }
        }
    }

    @Test func `a handshake that trickles in is not waited for longer than idleTimeout`() async throws {
        var parts = self.parts
        parts.configuration.idleTimeout = .milliseconds(300)
        try await parts.serve { peer in
            let connection = try peer.connect()
            try connection.send(Self.half)
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    // A server that waits for more would wait for ever.
                    while !Task.isCancelled {
                        try? connection.send([0])
                        try? await Task.sleep(for: .milliseconds(20))
                    }
                }
                let rest = try? await onThread { try connection.rest() }
                #expect(rest == [])
                group.cancelAll()
            }
        }
    }

    @Test(arguments: [7, 8, 50])
    func `half handshakes count as connections, and the oldest goes for one more`(count: Int) async throws {
        var parts = self.parts
        parts.configuration.connectionsMax = 8
        parts.configuration.readersWaitingMax = 4
        try await parts.serve { [self, parts] peer in
            let half = try (0..<count)
                .map { number in
                    let connection = try peer.connect()
                    if number % 2 == 0 { try connection.send(Self.half) }
                    return connection
                }
            let answer13 = try await self.trusting(self.certificate, peer).get("/healthz")
            #expect(answer13.status == 200)
            let closed = parts.metrics.value(.limitsHit, .limit(.httpConnectionsMax))
            #expect(closed == max(0, count + 1 - 8))
            for connection in half[..<closed] {
                let rest = try await onThread { try connection.receive() }
                #expect(rest.isEmpty)
            }
            #expect(parts.metrics.value(.connections, .http) <= 8)
        }
    }

    @Test func `changed bytes end their connection only`() async throws {
        var random = SeededGenerator(for: #function)
        var inputs: [[UInt8]] = []
        for number in 0..<50 {
            let count = Int.random(in: 1...600, using: &random)
            let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            // Every other one is a record of a handshake as far as its head.
            inputs.append((number % 2 == 0 ? [22, 3, 1, UInt8(count >> 8), UInt8(count & 255)] : []) + noise)
        }
        try await self.parts.serve { [self, inputs] peer in
            let honest = try self.trusting(self.certificate, peer).connect()
            try await onThread { try honest.ask("/healthz", until: "}") }
            for input in inputs { try peer.connect().send(input) }
            try await onThread { try honest.ask("/healthz", until: "}") }
        }
    }

    // MARK: - Another certificate

    @Test func `a new certificate is for later connections, and none is cut off`() async throws {
        let other = try TestCertificate("other", days: 9)
        let holder = try #require(self.parts.identity)
        let metrics = self.parts.metrics
        try await self.parts.serve { [self] peer in
            let first = metrics.value(.certificateExpiry, .http)
            let open = try self.trusting(self.certificate, peer).connect()
            try await onThread { try open.ask("/healthz", until: "}") }
            holder.reload(try Self.identity(other))
            #expect(metrics.value(.certificateExpiry, .http) > first + 6 * 86_400)
            try await onThread { try open.ask("/healthz", until: "}") }
            let answer14 = try await self.trusting(other, peer).get("/healthz")
            #expect(answer14.status == 200)
            let answer15 = try await self.trusting(self.certificate, peer).exchange([])
            #expect(answer15.isEmpty)
            try await onThread { try open.ask("/healthz", until: "}") }
        }
    }

    @Test func `a certificate is read where one is named, and HTTP is served`() throws {
        let none = try HTTPIdentity.read(for: GatewayConfiguration())
        #expect(none == nil)
        var configuration = Self.configuration(self.certificate)
        let end = Double(try Self.identity(self.certificate).notAfter)
        #expect((86_400...2 * 86_400).contains(end - Date().timeIntervalSince1970))
        configuration.http = nil
        let unserved = try HTTPIdentity.read(for: configuration)
        #expect(unserved == nil)
    }

    @Test func `faults of the files name the configuration keys of HTTP`() throws {
        func fault(_ change: (inout GatewayConfiguration) -> Void) throws -> ConfigurationFault? {
            var configuration = Self.configuration(self.certificate)
            change(&configuration)
            do {
                _ = try HTTPIdentity.read(for: configuration)
                return nil
            } catch {
                return error.faults.first
            }
        }
        let other = try TestCertificate("other")
        let missing = try fault { $0.httpCertificateFile = "/nowhere" }
        #expect(missing?.key == "http.tls.certificateFile")
        let foreign = try fault { $0.httpKeyFile = other.keyFile }
        #expect(foreign?.key == "http.tls.keyFile")
        #expect(foreign?.reason.contains("does not belong to the certificate") == true)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: other.keyFile)
        let open = try fault { $0.httpKeyFile = other.keyFile }
        #expect(open?.key == "http.tls.keyFile")
        #expect(open?.reason.contains("others may read or change it (mode 640)") == true)
    }
}
