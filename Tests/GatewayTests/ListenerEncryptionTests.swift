// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Gateway
import GatewayCore
import GatewayTestKit
import TLS
import TestSupport
import Testing

/// The files of the listeners' certificate: what is refused, and what a reload does.
@Suite(.suiteLimit)
struct ListenerEncryptionTests {
    private let certificate: TestCertificate
    private var configuration = GatewayConfiguration.forTests

    init() throws {
        self.certificate = try TestCertificate("gateway.test")
        self.configuration.listenersCertificateFile = self.certificate.certificateFile
        self.configuration.listenersKeyFile = self.certificate.keyFile
    }

    private func faults(_ change: (inout GatewayConfiguration) throws -> Void) throws -> [ConfigurationFault] {
        var configuration = self.configuration
        try change(&configuration)
        do {
            _ = try ListenerEncryption.read(for: configuration)
            return []
        } catch {
            return error.faults
        }
    }

    /// Writes something to a file beside the certificate.
    private func file(_ name: String, _ bytes: some Sequence<UInt8>, mode: Int = 0o600) throws -> String {
        let path = self.certificate.certificateFile + "." + name
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test func `a certificate and its key are read, and without them ports are plain`() throws {
        let identity = try #require(try ListenerEncryption.read(for: self.configuration))
        let left = Double(identity.notAfter) - Date().timeIntervalSince1970
        #expect((86_400...2 * 86_400).contains(left))
        #expect(try ListenerEncryption.read(for: .forTests) == nil)
    }

    @Test func `a key that others may read is refused`() throws {
        let key = try self.file("open", try self.certificate.key(), mode: 0o640)
        let faults = try self.faults { $0.listenersKeyFile = key }
        #expect(faults.map(\.key) == ["listeners.tls.keyFile"])
        #expect(faults.first?.reason.contains("others may read or change it (mode 640)") == true)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        #expect(try self.faults { $0.listenersKeyFile = key } == [])
    }

    @Test func `every fault has a sentence, and none tells what stands in a file`() throws {
        let (pem, key) = (try self.certificate.certificates(), try self.certificate.key())
        let other = try TestCertificate("other")
        let encrypted = self.certificate.keyFile + ".encrypted"
        try TestCertificate.run([
            "pkey", "-in", self.certificate.keyFile, "-aes128", "-passout", "pass:x", "-out", encrypted,
        ])
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: encrypted)
        let large = [UInt8](repeating: 0x20, count: CertificateFiles.fileBytesMax)
        let cases: [(certificate: String?, key: String?, sentence: String)] = [
            ("/nowhere", nil, "it cannot be read"),
            (nil, "/nowhere", "it cannot be read"),
            ("/tmp", nil, "it is no file"),
            (try self.file("empty", []), nil, "it holds no certificate"),
            (try self.file("large", large), nil, "it holds no certificate"),
            (try self.file("larger", large + [0x20]), nil, "the limit certificateFileBytesMax is 262144"),
            (try self.file("cut", pem.dropLast(100)), nil, "cannot be read"),
            (try self.file("tail", pem + pem.dropLast(100)), nil, "cannot be read"),
            (nil, try self.file("no-key", pem), "it holds no private key"),
            (nil, try self.file("cut-key", key.dropLast(60)), "it holds no private key"),
            (nil, other.keyFile, "does not belong to the certificate"),
            (nil, encrypted, "needs a password"),
        ]
        for each in cases {
            let faults = try self.faults {
                if let certificate = each.certificate { $0.listenersCertificateFile = certificate }
                if let key = each.key { $0.listenersKeyFile = key }
            }
            #expect(faults.count == 1, "\(each)")
            #expect(faults.first?.reason.contains(each.sentence) == true, "\(each): \(faults)")
            #expect(faults.first?.key == (each.key == nil ? "listeners.tls.certificateFile" : "listeners.tls.keyFile"))
            let secret = String(decoding: key, as: UTF8.self).split(separator: "\n")[1]
            #expect(!"\(faults)".contains(secret))
        }
    }

    @Test func `a certificate without a key, or a key without one, is a fault of the configuration`() async throws {
        let pairs = ["listeners", "http"].map { ("\($0).tls.certificateFile", "\($0).tls.keyFile") }
        for (given, missing) in pairs + pairs.map({ ($1, $0) }) {
            let faults = await #expect(throws: ConfigurationFaults.self) {
                _ = try await GatewayConfiguration.read(
                    flags: [given: "/some/file"],
                    environment: [:],
                    file: nil
                )
            }
            #expect(faults?.faults.map(\.key) == [missing])
        }
    }

    @Test func `listeners' ports may be reached from elsewhere with a certificate, and only those`() async throws {
        let flags = [
            "notices": "tcp://0.0.0.0:7400", "requests": "tcp://0.0.0.0:7401",
            "listeners.tls.certificateFile": "/some/file", "listeners.tls.keyFile": "/some/key",
        ]
        #expect(try await GatewayConfiguration.read(flags: flags, environment: [:], file: nil).encryptsListeners)
        let faults = await #expect(throws: ConfigurationFaults.self) {
            let all = flags.merging(["http": "0.0.0.0:7480"]) { $1 }
            _ = try await GatewayConfiguration.read(flags: all, environment: [:], file: nil)
        }
        #expect(faults?.faults.map(\.key) == ["http"])
        #expect(faults?.faults.first?.reason.contains("or have a certificate (http.tls.certificateFile)") == true)
    }

    @Test func `HTTP may be reached from elsewhere with a certificate, and shows no more for it`() async throws {
        let flags = [
            "http": "0.0.0.0:7480", "http.tls.certificateFile": "/some/file", "http.tls.keyFile": "/some/key",
        ]
        let read = try await GatewayConfiguration.read(flags: flags, environment: [:], file: nil)
        #expect(read.encryptsHTTP && !read.encryptsListeners)
        #expect(read.httpReads == .metrics)
        let faults = await #expect(throws: ConfigurationFaults.self) {
            let all = flags.merging(["requests": "tcp://0.0.0.0:7401", "http.openReads": "all"]) { $1 }
            _ = try await GatewayConfiguration.read(flags: all, environment: [:], file: nil)
        }
        #expect(faults?.faults.map(\.key).sorted() == ["http.openReads", "requests"])
    }

    @Test func `a reload shows another certificate, and one that fails changes nothing`() async throws {
        let other = try TestCertificate("other", days: 9)
        try await withGateway(configuration: self.configuration, log: InMemoryEventLog(), ledger: InMemoryLedger()) {
            running in
            let first = running.metrics.value(.certificateExpiry, .listeners)
            try Data(try other.certificates())
                .write(to: URL(fileURLWithPath: self.configuration.listenersCertificateFile))
            // The key is still that of the first one.
            #expect(throws: ConfigurationFaults.self) { try ListenerEncryption.read(for: self.configuration) }
            #expect(running.metrics.value(.certificateExpiry, .listeners) == first)
            try Data(try other.key()).write(to: URL(fileURLWithPath: self.configuration.listenersKeyFile))
            await running.gateway.reload(
                self.configuration,
                nil,
                nil,
                try ListenerEncryption.read(for: self.configuration)
            )
            let second = running.metrics.value(.certificateExpiry, .listeners)
            #expect(second > first + 6 * 86_400)
            // Ports that were bound with a certificate stay so.
            await running.gateway.reload(.forTests, nil, nil)
            #expect(running.metrics.value(.certificateExpiry, .listeners) == second)
        }
    }
}
