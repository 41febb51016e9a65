// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import SecretFiles
import Testing
import ZeroMQ

/// Keys in files: who may read them, and what is said about those that are none.
@Suite(.suiteLimit)
final class CurveKeyFileTests {
    private let folder: String

    init() throws {
        self.folder = FileManager.default.temporaryDirectory.appending(path: "cuecast-keys-\(UUID())").path
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: self.folder) }

    private func write(_ text: String, mode: Int = 0o600) throws -> String {
        let path = self.folder + "/\(UUID()).key"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    private func reason(_ body: () throws(CurveKeyFile.Fault) -> Void) -> String {
        do throws(CurveKeyFile.Fault) {
            try body()
            return ""
        } catch {
            return error.reason
        }
    }

    @Test func `a pair is written, and read again`() throws {
        let pair = try CurveKeyPair.generate()
        let files = try CurveKeyFile.write(pair, as: self.folder + "/studio")
        #expect(files == (self.folder + "/studio.key", self.folder + "/studio.pub"))
        #expect(try CurveKeyFile.secretKey(at: files.secretKey) == pair.secretKey)
        #expect(try CurveKeyFile.publicKey(at: files.publicKey) == pair.publicKey)
        let mode = try FileManager.default.attributesOfItem(atPath: files.secretKey)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test(arguments: ["key", "pub"]) func `nothing is written over`(ending: String) throws {
        let path = self.folder + "/studio." + ending
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
        let pair = try CurveKeyPair.generate()
        let fault = #expect(throws: CurveKeyFile.Fault.self) {
            try CurveKeyFile.write(pair, as: self.folder + "/studio")
        }
        #expect(fault?.isInTheWay == true && fault?.path == path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.folder) == ["studio." + ending])
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o602, 0o610, 0o777])
    func `a secret that others may read or change is refused, a public key is not`(mode: Int) throws {
        let pair = try CurveKeyPair.generate()
        let secret = try self.write(pair.secretKey.z85, mode: mode)
        #expect(
            self.reason { () throws(CurveKeyFile.Fault) in _ = try CurveKeyFile.secretKey(at: secret) }
                == "it holds a secret, and others may read or change it (mode \(String(mode, radix: 8))); say chmod 600 to it"
        )
        #expect(try CurveKeyFile.publicKey(at: self.write(pair.publicKey.z85, mode: mode)) == pair.publicKey)
    }

    @Test(arguments: [0o600, 0o400, 0o700]) func `only its owner may read a secret`(mode: Int) throws {
        let pair = try CurveKeyPair.generate()
        #expect(try CurveKeyFile.secretKey(at: self.write(pair.secretKey.z85 + "\n", mode: mode)) == pair.secretKey)
    }

    @Test func `a lost, half-written, too long or special file is reported without its content`() throws {
        let key = try CurveKeyPair.generate().secretKey.z85
        let table: [(path: String, reason: String)] = [
            (self.folder + "/lost", "it cannot be read: No such file or directory"),
            (self.folder, "it is no file"),
            ("/dev/null", "it is no file"),
            (try self.write(""), "it holds no key: a key has 40 characters of Z85, and this has 0"),
            (
                try self.write(String(key.prefix(20))),
                "it holds no key: a key has 40 characters of Z85, and this has 20"
            ),
            (try self.write(key + key), "it holds no key: a key has 40 characters of Z85, and this has 80"),
            (
                try self.write(String(key.dropLast()) + "~"),
                "it holds no key: not all of its 40 characters are of Z85"
            ),
            (
                try self.write(key + String(repeating: " ", count: CurveKeyFile.keyFileBytesMax - 39)),
                "it is too large; the limit keyFileBytesMax is 256"
            ),
        ]
        for (path, reason) in table {
            let said = self.reason { () throws(CurveKeyFile.Fault) in _ = try CurveKeyFile.secretKey(at: path) }
            #expect(said == reason)
            #expect(!said.contains(key.prefix(20)))
        }
        // A key instead of a file's name is not repeated either.
        for said in [
            self.reason { () throws(CurveKeyFile.Fault) in _ = try CurveKeyFile.secretKey(at: key) },
            self.reason { () throws(CurveKeyFile.Fault) in _ = try CurveKeyFile.publicKey(at: key) },
        ] { #expect(said == "what is given is a key itself, and must be the name of a file") }
        // At the limit, not one past it.
        let longest = try self.write(key + String(repeating: "\n", count: CurveKeyFile.keyFileBytesMax - 40))
        #expect(try CurveKeyFile.secretKey(at: longest).z85 == key)
    }

    @Test func `an existing path is a file, even if its name could be a key`() throws {
        let digits = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        let path = "/tmp/" + String((0..<35).map { _ in digits[Int.random(in: digits.indices)] })
        #expect(CurveKeyFile.isKey(path))
        try Data().write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(!CurveKeyFile.isKey(path))
    }
}
