// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
import CuecastWire
import Foundation
import SecretFiles
import Testing

@Suite(.suiteLimit)
final class OperatorTokenTests {
    private let folder: String
    private let here = HTTPEndpoint(NetworkAddress(host: "127.0.0.1", port: 7_480))
    private let elsewhere = HTTPEndpoint(NetworkAddress(host: "gateway.example", port: 7_480))

    init() throws {
        self.folder = FileManager.default.temporaryDirectory.appending(path: "cuecast-operator.\(UUID())").path
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: false)
        try SecretFile.create(self.folder + "/http-token", Array("local.token.here\n".utf8), mode: 0o600)
        try SecretFile.create(self.folder + "/other", Array("other.token.here".utf8), mode: 0o600)
    }

    deinit { try? FileManager.default.removeItem(atPath: self.folder) }

    private func headers(
        to endpoint: HTTPEndpoint,
        file: String? = nil,
        folder: String? = nil,
        _ environment: [String: String] = [:]
    ) throws(OperatorToken.Fault) -> [String: String] {
        try OperatorToken.headers(to: endpoint, file: file, dataDirectory: folder, environment: environment)
    }

    @Test func `a token that is given where its file belongs is not shown, and a name that is none is`() throws {
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0." + String(repeating: "s", count: 300)
        for (given, isShown) in [
            (token, false), (String(token.suffix(40)), false), (String(token.suffix(39)), true),
            (self.folder + "/" + String(repeating: "a", count: 40), true),
        ] {
            let fault = #expect(throws: OperatorToken.Fault.self) { try self.headers(to: self.here, file: given) }
            let sentence = "\(try #require(fault))"
            #expect(sentence.contains(given) == isShown, "\(given.count)")
            #expect(sentence.contains("it cannot be read"))
        }
    }

    @Test func `the token of the data directory is found, and one that is named goes before it`() throws {
        let local = ["Authorization": "Bearer local.token.here"]
        let other = ["Authorization": "Bearer other.token.here"]
        #expect(try self.headers(to: self.here, folder: self.folder) == local)
        #expect(try self.headers(to: self.here, ["CUECAST_DATA_DIR": self.folder]) == local)
        #expect(try self.headers(to: self.here, folder: self.folder, ["CUECAST_DATA_DIR": "/none"]) == local)
        #expect(try self.headers(to: self.here, file: self.folder + "/other", folder: self.folder) == other)
        #expect(
            try self.headers(to: self.here, folder: self.folder, ["CUECAST_TOKEN_FILE": self.folder + "/other"])
                == other
        )
        #expect(try self.headers(to: self.here, folder: self.folder, ["CUECAST_TOKEN_FILE": ""]) == local)
        #expect(try self.headers(to: self.here, folder: self.folder + "/none") == [:])
    }

    @Test func `no token goes to another machine in the open`() throws {
        #expect(try self.headers(to: self.elsewhere, folder: self.folder) == [:])
        let fault = #expect(throws: OperatorToken.Fault.self) {
            try self.headers(to: self.elsewhere, file: self.folder + "/other")
        }
        #expect(fault?.description.contains("gateway.example") == true)
    }

    @Test func `a token that is named goes to another machine by TLS, and the one of this machine never`() throws {
        let encrypted = HTTPEndpoint(NetworkAddress(host: "gateway.example", port: 7_480), trust: .system)
        #expect(try self.headers(to: encrypted, folder: self.folder) == [:])
        #expect(
            try self.headers(to: encrypted, file: self.folder + "/other")
                == ["Authorization": "Bearer other.token.here"]
        )
    }

    @Test func `a token that others may read is refused where it is named, and passed over where it is not`() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: self.folder + "/http-token")
        #expect(try self.headers(to: self.here, folder: self.folder) == [:])
        let fault = #expect(throws: OperatorToken.Fault.self) {
            try self.headers(to: self.here, file: self.folder + "/http-token")
        }
        #expect(fault?.description.contains("others may read") == true)
        #expect(fault?.description.contains("local.token") == false)
    }

    @Test(arguments: ["", "\n", "a b", "a\nb", "ä", String(repeating: "x", count: WireLimits.tokenBytesMax + 2)])
    func `a text that is no token is not sent`(text: String) throws {
        try SecretFile.replace(self.folder + "/other", Array(text.utf8), mode: 0o600)
        #expect(throws: OperatorToken.Fault.self) { try self.headers(to: self.here, file: self.folder + "/other") }
    }
}
