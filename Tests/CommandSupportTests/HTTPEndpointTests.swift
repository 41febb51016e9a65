// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
import CuecastWire
import Foundation
import SecretFiles
import TestSupport
import Testing

/// Where and how a gateway is asked, from what is said and from what a gateway on this machine says.
@Suite(.suiteLimit)
final class HTTPEndpointTests {
    private let folder: String
    private let certificate: TestCertificate
    private let pem: [UInt8]

    init() throws {
        self.folder = FileManager.default.temporaryDirectory.appending(path: "cuecast-endpoint.\(UUID())").path
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: false)
        self.certificate = try TestCertificate("gateway.test")
        self.pem = try self.certificate.certificates()
    }

    deinit { try? FileManager.default.removeItem(atPath: self.folder) }

    private func write(_ text: String, _ pem: [UInt8] = [], mode: UInt32 = 0o600) throws {
        try SecretFile.replace(self.folder + "/http-endpoint", Array(text.utf8) + pem, mode: mode)
    }

    private func find(
        _ address: String = "127.0.0.1:7480",
        isNamed: Bool = true,
        caFile: String? = nil,
        _ environment: [String: String] = [:]
    ) throws -> HTTPEndpoint {
        try HTTPEndpoint.find(
            try HTTPAddress(address),
            isNamed: isNamed,
            caFile: caFile,
            dataDirectory: self.folder,
            environment: environment
        )
    }

    @Test func `the given address counts without a gateway on this machine`() throws {
        #expect(try self.find().trust == nil)
        #expect(try self.find("http://a:1").description == "a:1")
        let encrypted = try self.find("https://gateway.example:443")
        #expect(encrypted.trust == .system && encrypted.description == "https://gateway.example:443")
        #expect(encrypted.isPrivate)
        #expect(try self.find("gateway.example:443").isPrivate == false)
    }

    @Test func `a gateway on this machine says where it is asked, and shows its certificate`() throws {
        try self.write("https://127.0.0.1:7999\n", self.pem)
        let found = HTTPEndpoint(NetworkAddress(host: "127.0.0.1", port: 7_999), trust: .certificate(pem: self.pem))
        #expect(try self.find(isNamed: false) == found)
        #expect(try self.find("127.0.0.1:7999") == found)
        #expect(try self.find("https://127.0.0.1:7999") == found)
        #expect(try self.find("0.0.0.0:7999") == found)
        #expect(try self.find("localhost:7999").trust == found.trust)
        // Another gateway than that.
        #expect(try self.find("127.0.0.1:7480").trust == nil)
        #expect(try self.find("https://127.0.0.1:7480").trust == .system)
        #expect(try self.find("https://gateway.example:7999").trust == .system)
        #expect(try self.find("gateway.example:7999").trust == nil)
        // The user insists.
        #expect(try self.find("http://127.0.0.1:7999").trust == nil)
    }

    @Test(arguments: [("0.0.0.0", "127.0.0.1"), ("[::]", "[::1]"), ("192.0.2.7", "192.0.2.7")])
    func `one that listens at all addresses is asked at this machine's own`(bound: String, asked: String) throws {
        try self.write("https://\(bound):7999\n", self.pem)
        #expect(try self.find(isNamed: false).description == "https://\(asked):7999")
    }

    @Test func `a plain one is asked in plain, and has no certificate`() throws {
        try self.write("http://127.0.0.1:7999\n")
        #expect(try self.find(isNamed: false).description == "127.0.0.1:7999")
        #expect(try self.find("https://127.0.0.1:7999").trust == .system)
        #expect(try self.find("127.0.0.1:7999", caFile: self.certificate.certificateFile).trust == nil)
    }

    @Test(arguments: [
        "", "\n", "127.0.0.1:7999\n", "https://127.0.0.1:7999", "ftp://127.0.0.1:7999\n", "https://\n", "é",
    ])
    func `unreadable files are ignored`(text: String) throws {
        try self.write(text)
        #expect(try self.find(isNamed: false).description == "127.0.0.1:7480")
    }

    @Test(arguments: [0o644, 0o660, 0o606])
    func `files that others may read or change are ignored`(mode: Int) throws {
        try self.write("https://127.0.0.1:7999\n", self.pem)
        try FileManager.default.setAttributes(
            [.posixPermissions: mode],
            ofItemAtPath: self.folder + "/http-endpoint"
        )
        #expect(try self.find(isNamed: false).description == "127.0.0.1:7480")
    }

    @Test func `given certificates go first, and ask for TLS`() throws {
        try self.write("https://127.0.0.1:7999\n", self.pem)
        let file = self.certificate.certificateFile
        for address in ["gateway.example:1", "https://gateway.example:1", "127.0.0.1:7999"] {
            #expect(try self.find(address, caFile: file).trust == .roots(pem: self.pem))
            #expect(try self.find(address, ["CUECAST_CA_FILE": file]).trust == .roots(pem: self.pem))
        }
        #expect(try self.find("http://gateway.example:1", caFile: file).trust == nil)
        #expect(try self.find("gateway.example:1", ["CUECAST_CA_FILE": ""]).trust == nil)
    }

    @Test func `a file that holds no certificates is refused, and so is one past the limit`() throws {
        let path = self.folder + "/ca"
        for bytes in [[], Array("nonsense".utf8), self.pem.dropLast(100)] {
            try SecretFile.replace(path, Array(bytes), mode: 0o644)
            #expect(throws: HTTPEndpoint.Fault.self) { try self.find("https://a:1", caFile: path) }
        }
        let rest = HTTPEndpoint.caFileBytesMax - self.pem.count
        for (space, isTaken) in [(rest, true), (rest + 1, false)] {
            let bytes = self.pem + [UInt8](repeating: 0x0A, count: space)
            try SecretFile.replace(path, bytes, mode: 0o644)
            if isTaken {
                #expect(try self.find("https://a:1", caFile: path).trust == .roots(pem: bytes))
            } else {
                let fault = #expect(throws: HTTPEndpoint.Fault.self) { try self.find("https://a:1", caFile: path) }
                #expect(fault?.description.contains("caFileBytesMax") == true)
            }
        }
        #expect(throws: HTTPEndpoint.Fault.self) { try self.find("https://a:1", caFile: "/nowhere") }
    }
}
