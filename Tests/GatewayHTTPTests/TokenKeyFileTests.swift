// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayHTTP
import SecretFiles
import TestSupport
import Testing
import TokenFormats
import Tokens

@Suite(.suiteLimit)
final class TokenKeyFileTests {
    private let folder: String

    init() throws {
        self.folder = FileManager.default.temporaryDirectory.appending(path: "cuecast-tokens.\(UUID())").path
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: self.folder) }

    private func faults(_ text: String) async -> [String] {
        do throws(TokenKeyFaults) {
            _ = try await TokenKeySet(Array(text.utf8))
            return []
        } catch {
            return error.sentences
        }
    }

    private func faults(at path: String) async -> [String] {
        do throws(TokenKeyFaults) {
            _ = try await TokenKeySet(path: path)
            return []
        } catch {
            return error.sentences
        }
    }

    private static let x = String(repeating: "A", count: 43)

    @Test(arguments: [
        ("", "it is not JSON"), ("null", "it must be an object"), ("[]", "it must be an object"), ("{}", "keys"),
        (#"{"keys":7}"#, "it must be an object with a list 'keys'"), (#"{"keys":[]}"#, "it has no key"),
        ("{\"keys\":[],\n\"keys\":[]}", "line 2: it is no strict JSON: a member is listed twice"),
        (#"{"keys":[7]}"#, "key 1"), (#"{"keys":[{"kty":"oct","alg":"HS256"}]}"#, "key 1: the field kid is missing"),
        (#"{"keys":[{"kty":"oct","kid":"","alg":"HS256","k":"x"}]}"#, "key 1: kid must be"),
        (#"{"keys":[{"kty":"oct","kid":"a b","alg":"HS256","k":"x"}]}"#, "key 1: kid must be"),
        (#"{"keys":[{"kty":"RSA","kid":"a","alg":"RS256"}]}"#, "key 1: alg must be HS256, ES256, EdDSA"),
        (#"{"keys":[{"kty":"oct","kid":"a","alg":"none","k":"x"}]}"#, "key 1: alg must be"),
        (#"{"keys":[{"kty":"oct","kid":"a","alg":"HS256","k":"c2hvcnQ"}]}"#, "k must be base64url of 32 to 512 bytes"),
        (#"{"keys":[{"kty":"EC","kid":"a","alg":"HS256","k":"\#(x)"}]}"#, "kty must be oct"),
        (#"{"keys":[{"kty":"oct","kid":"a","alg":"HS256","use":"enc","k":"\#(x)"}]}"#, "use must be sig"),
        (#"{"keys":[{"kty":"oct","kid":"a","alg":"HS256","k":"\#(x)","state":"off"}]}"#, "state must be one of"),
        (#"{"keys":[{"kty":"EC","kid":"a","alg":"ES256","crv":"P-384","x":"\#(x)","y":"\#(x)"}]}"#, "crv P-256"),
        (#"{"keys":[{"kty":"EC","kid":"a","alg":"ES256","crv":"P-256","x":"\#(x)"}]}"#, "x and y must be base64url"),
        (#"{"keys":[{"kty":"EC","kid":"a","alg":"ES256","crv":"P-256","x":"\#(x)","y":"\#(x)"}]}"#, "no point"),
        (#"{"keys":[{"kty":"OKP","kid":"a","alg":"EdDSA","crv":"Ed448","x":"\#(x)"}]}"#, "crv Ed25519"),
        (#"{"keys":[{"kty":"OKP","kid":"a","alg":"EdDSA","crv":"Ed25519","x":"AA"}]}"#, "x must be base64url"),
    ])
    func `a file that is wrong is refused with a sentence that says where`(text: String, said: String) async {
        let faults = await self.faults(text)
        #expect(faults.contains { $0.contains(said) }, "\(faults)")
    }

    @Test func `two keys of one id, two that sign, and halves that do not belong together are refused`() async throws {
        let one = try TokenKey.generate(.es256, id: "a")
        let other = try TokenKey.generate(.es256, id: "b")
        let twice = String(decoding: try TokenKeySet.file(of: [one, one]), as: UTF8.self)
        let faults = await self.faults(twice)
        #expect(
            faults == [
                "key 2: another key has the same kid",
                "more than one key has the state signing; the others must be verify-only",
            ]
        )
        for algorithm in [TokenAlgorithm.es256, .edDSA] {
            let (left, right) = (try TokenKey.generate(algorithm, id: "a"), try TokenKey.generate(algorithm, id: "a"))
            var mixed = try self.fields(of: left)
            mixed["d"] = try self.fields(of: right)["d"]
            let text = String(decoding: try JSONEncoder().encode(["keys": [mixed]]), as: UTF8.self)
            let found = await self.faults(text)
            #expect(found.first?.contains("belong to d") == true, "\(found)")
        }
        #expect(
            await self.faults(
                String(decoding: try TokenKeySet.file(of: TokenKeySet.rotated([one], with: other)), as: UTF8.self)
            ) == []
        )
    }

    private func fields(of key: TokenKey) throws -> [String: String] {
        let file = try TokenKeySet.file(of: [key])
        return try #require(JSONDecoder().decode([String: [[String: String]]].self, from: Data(file))["keys"]?.first)
    }

    @Test func `as many keys and bytes are taken as the limits say, and not one more`() async throws {
        let keys = try (0...TokenLimits.tokenKeysMax)
            .map {
                try TokenKey.generate(.hs256, id: "\($0)", state: .verifyOnly)
            }
        _ = try await TokenKeySet(Array(keys.dropLast()))
        await #expect(throws: TokenKeyFaults.self) { try await TokenKeySet(keys) }
        let file = try TokenKeySet.file(of: [keys[0]])
        let full = file + [UInt8](repeating: 0x20, count: TokenLimits.tokenKeysFileBytesMax - file.count)
        _ = try await TokenKeySet(full)
        let faults = await self.faults(String(decoding: full + [0x20], as: UTF8.self))
        #expect(faults.first?.contains("tokenKeysFileBytesMax") == true)
        let long = try TokenKey.generate(.hs256, id: String(repeating: "k", count: TokenLimits.tokenKeyIDBytesMax))
        _ = try await TokenKeySet([long])
        let longer = try TokenKey.generate(
            .hs256,
            id: String(repeating: "k", count: TokenLimits.tokenKeyIDBytesMax + 1)
        )
        await #expect(throws: TokenKeyFaults.self) { try await TokenKeySet([longer]) }
    }

    @Test func `files of random and mutated bytes are refused or read, and end nothing`() async throws {
        let file = try TokenKeySet.file(
            of: try TokenAlgorithm.allCases.map { try TokenKey.generate($0, id: $0.rawValue, state: .verifyOnly) }
        )
        var generator = SeededGenerator(seed: 23)
        for _ in 0..<3_000 {
            var bytes = file
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let place = Int.random(in: bytes.indices, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = .random(in: .min ... .max, using: &generator)
                case 1: bytes.removeSubrange(place..<min(bytes.count, place + 9))
                default: bytes.insert(contentsOf: Array(#"{["",0]}"#.utf8).shuffled(using: &generator), at: place)
                }
                if bytes.isEmpty { bytes = [0] }
            }
            _ = try? await TokenKeySet(bytes)
        }
        // Deeper than anybody nests.
        _ = await self.faults(String(repeating: #"{"keys":["#, count: 20_000))
    }

    @Test func `a fault never contains the file's content`() async throws {
        let secret = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"
        let texts = [
            secret, #"{"keys":"\#(secret)"}"#,
            #"{"keys":[{"kty":"oct","kid":"\#(secret)\u0000","alg":"HS256","k":"\#(secret)"}]}"#,
            #"{"keys":[{"kty":"oct","kid":"a","alg":"\#(secret)","k":"\#(secret)"}]}"#,
            #"{"keys":[{"kty":"oct","kid":"a","alg":"HS256","k":"\#(secret)","state":"\#(secret)"}]}"#,
            #"{"keys":[{"kty":"OKP","kid":"a","alg":"EdDSA","crv":"Ed25519","x":"\#(secret)","d":"\#(secret)"}]}"#,
        ]
        for text in texts {
            let faults = await self.faults(text)
            #expect(!faults.isEmpty && !faults.joined().contains(secret), "\(faults)")
        }
        let key = try TokenKey.generate(.hs256, id: "a")
        let inside = try #require(try self.fields(of: key)["k"])
        #expect(!"\(key)".contains(inside))
    }

    @Test func `a file with secrets must be its owner's alone, and no other user may change one without`() async throws
    {
        let secret = self.folder + "/secret.json"
        let open = self.folder + "/open.json"
        let key = try TokenKey.generate(.es256, id: "a")
        try SecretFile.create(secret, try TokenKeySet.file(of: [key]), mode: 0o600)
        try SecretFile.create(open, try TokenKeySet.file(of: [try #require(key.publicPart)]), mode: 0o644)
        #expect(await self.faults(at: secret) == [])
        #expect(await self.faults(at: open) == [])
        for mode in [0o640, 0o604, 0o644] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: secret)
            let faults = await self.faults(at: secret)
            #expect(faults.first?.contains("it holds a secret, and others may read or change it") == true, "\(faults)")
        }
        for mode in [0o664, 0o646] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: open)
            let faults = await self.faults(at: open)
            #expect(faults.first?.contains("others may change it") == true, "\(faults)")
        }
        let missing = await self.faults(at: self.folder + "/none.json")
        #expect(missing.first?.contains("it cannot be read") == true)
        let directory = await self.faults(at: self.folder)
        #expect(directory.count == 1)
    }

    @Test func `a first start makes keys and a token, a second one keeps both`() async throws {
        var configuration = GatewayConfiguration()
        configuration.dataDirectory = self.folder
        let (keys, token) = (self.folder + "/http-keys.json", self.folder + "/http-token")
        #expect(try await HTTPTokenFiles.access(for: configuration, makesFiles: false, at: Parts.now) == nil)
        #expect(!FileManager.default.fileExists(atPath: keys))
        let access = try #require(try await HTTPTokenFiles.access(for: configuration, makesFiles: true, at: Parts.now))
        for path in [keys, token] {
            let found = try SecretFile.read(path, bytesMax: 65_536, limit: "test")
            #expect(found.mode == 0o600)
        }
        let first = try self.text(token)
        for scope in [TokenScope.read, .admin, .publish(try StreamID("radio1"))] {
            #expect(try access.authorize("Bearer " + first, scope, at: Parts.now).name == "local")
        }
        let before = try self.text(keys)
        _ = try await HTTPTokenFiles.access(for: configuration, makesFiles: true, at: Parts.now + .seconds(86_400))
        #expect(try self.text(token) == first)
        #expect(try self.text(keys) == before)
        // After half of its life it is made anew, long before it is over.
        let late = Parts.now + .seconds(366 * 86_400)
        _ = try await HTTPTokenFiles.access(for: configuration, makesFiles: true, at: late)
        let second = try self.text(token)
        #expect(second != first)
        #expect(try access.authorize("Bearer " + second, .admin, at: late).name == "local")
        // Half a token, as after a loss of power, is made anew too; and so are removed keys.
        try SecretFile.replace(token, Array(second.utf8.prefix(20)), mode: 0o600)
        _ = try await HTTPTokenFiles.access(for: configuration, makesFiles: true, at: late)
        #expect(try access.authorize("Bearer " + self.text(token), .admin, at: late).name == "local")
        try FileManager.default.removeItem(atPath: keys)
        let renewed = try #require(try await HTTPTokenFiles.access(for: configuration, makesFiles: true, at: late))
        #expect(throws: HTTPRefusal.token(.unknownKey)) { try renewed.authorize("Bearer " + second, .admin, at: late) }
        #expect(try renewed.authorize("Bearer " + self.text(token), .admin, at: late).name == "local")
    }

    @Test func `half a file of keys is refused, and never written over`() async throws {
        var configuration = GatewayConfiguration()
        configuration.dataDirectory = self.folder
        let path = self.folder + "/http-keys.json"
        try SecretFile.create(path, Array(#"{"keys":["#.utf8), mode: 0o600)
        await #expect(throws: ConfigurationFaults.self) {
            try await HTTPTokenFiles.access(for: configuration, makesFiles: true, at: Parts.now)
        }
        #expect(try self.text(path) == #"{"keys":["#)
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .newlines)
    }
}
