// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import TestSupport
import Testing
import TokenFormats
import Tokens

@Suite(.suiteLimit)
struct TokenVerifierTests {
    private let workshop: TokenWorkshop

    init() throws { self.workshop = try TokenWorkshop() }

    private func refusal(_ token: String, at now: Timestamp = Parts.now) async throws -> TokenRefusal? {
        let verifier = try await self.workshop.verifier()
        do throws(TokenRefusal) {
            _ = try verifier.verify(token, at: now)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: TokenAlgorithm.allCases)
    func `a token says what was put into it, by each algorithm`(algorithm: TokenAlgorithm) async throws {
        var claims = try TokenWorkshop.claims(
            scope: "read publish:radio* admin",
            audience: ["other", "cuecast-http"],
            notBefore: Parts.now
        )
        claims.streams = [try #require(StreamPattern("radio1")), .every]
        claims.attributes = ["device": "phone", "region": "Ö"]
        let token = try await self.workshop.token(claims, by: algorithm)
        #expect(try await self.workshop.verifier().verify(token, at: Parts.now) == claims)
    }

    @Test func `the public part of a key takes what the secret part has signed`() async throws {
        for algorithm in [TokenAlgorithm.es256, .edDSA] {
            let token = try await self.workshop.token(try TokenWorkshop.claims(scope: "read"), by: algorithm)
            let keys = try await TokenKeySet(self.workshop.keys.compactMap(\.publicPart))
            #expect(!keys.isSecret)
            let verifier = TokenVerifier(keys: keys, issuer: "cuecast", audience: "cuecast-http")
            #expect(try verifier.verify(token, at: Parts.now).scopes.read)
            #expect(TokenMaker(keys) == nil)
        }
    }

    @Test func `a token is taken until the instant at which it expires, and no longer`() async throws {
        let end = Parts.now + .seconds(60)
        let token = try await self.workshop.token(try TokenWorkshop.claims(expires: end))
        #expect(try await self.refusal(token, at: end.advanced(microseconds: -1)) == nil)
        #expect(try await self.refusal(token, at: end) == .expired)
    }

    @Test func `a token is taken from its begin on, and so much earlier as clocks may differ`() async throws {
        let begin = Parts.now + .seconds(30)
        let token = try await self.workshop.token(try TokenWorkshop.claims(notBefore: begin))
        #expect(try await self.refusal(token, at: begin - TokenLimits.tokenClockAheadMax) == nil)
        #expect(
            try await self.refusal(token, at: (begin - TokenLimits.tokenClockAheadMax).advanced(microseconds: -1))
                == .notYetValid
        )
    }

    @Test func `issuer and audience must be those that are expected`() async throws {
        let other = try await self.workshop.token(try TokenWorkshop.claims(issuer: "another"))
        #expect(try await self.refusal(other) == .wrongIssuer)
        let elsewhere = try await self.workshop.token(try TokenWorkshop.claims(audience: ["cuecast"]))
        #expect(try await self.refusal(elsewhere) == .wrongAudience)
        let nowhere = try await self.workshop.token(try TokenWorkshop.claims(audience: []))
        #expect(try await self.refusal(nowhere) == .wrongAudience)
    }

    @Test func `the algorithm in a token's header is never used`() async throws {
        var parts = try TokenParts(try await self.workshop.token(try TokenWorkshop.claims(), by: .es256))
        for algorithm in ["none", "None", "HS256", "EdDSA", "ES384", "es256", ""] {
            parts.header = TokenParts.part(#"{"alg":"\#(algorithm)","kid":"ES256","typ":"JWT"}"#)
            #expect(try await self.refusal(parts.token) == .wrongAlgorithm, "\(algorithm)")
            parts.signature = ""
            #expect(try await self.refusal(parts.token) == .wrongAlgorithm, "\(algorithm) without a signature")
        }
    }

    @Test func `a public key is no secret of HS256`() async throws {
        // The oldest trick: sign with HMAC and what everybody knows, the public key.
        let keys = self.workshop.keys
        let es256 = try #require(keys.first { $0.kid == "ES256" })
        let document = try JSONDecoder()
            .decode(
                [String: [[String: String]]].self,
                from: Data(try TokenKeySet.file(of: [try #require(es256.publicPart)]))
            )
        let x = try #require(document["keys"]?.first?["x"])
        let forged = try await TokenKeySet(
            Array(#"{"keys":[{"kty":"oct","kid":"ES256","alg":"HS256","k":"\#(x)","state":"signing"}]}"#.utf8)
        )
        let token = try #require(TokenMaker(forged)).token(try TokenWorkshop.claims(scope: "admin"), at: Parts.now)
        #expect(try await self.refusal(token) == .wrongAlgorithm)
        var parts = try TokenParts(token)
        parts.header = TokenParts.part(#"{"alg":"ES256","kid":"ES256"}"#)
        #expect(try await self.refusal(parts.token) == .wrongSignature)
    }

    @Test func `a key that is not listed, none at all, and a revoked one are refused`() async throws {
        var parts = try TokenParts(try await self.workshop.token(try TokenWorkshop.claims()))
        for header in [#"{"alg":"HS256","kid":"other"}"#, #"{"alg":"HS256"}"#, #"{"alg":"none"}"#] {
            parts.header = TokenParts.part(header)
            #expect(try await self.refusal(parts.token) == .unknownKey)
        }
        var keys = self.workshop.keys
        keys[0].state = .revoked
        let token = try await self.workshop.token(try TokenWorkshop.claims())
        let verifier = TokenVerifier(keys: try await TokenKeySet(keys), issuer: "cuecast", audience: "cuecast-http")
        #expect(throws: TokenRefusal.revokedKey) { try verifier.verify(token, at: Parts.now) }
    }

    @Test func `extensions that must be understood are not`() async throws {
        var parts = try TokenParts(try await self.workshop.token(try TokenWorkshop.claims()))
        parts.header = TokenParts.part(#"{"alg":"HS256","kid":"HS256","crit":["exp"]}"#)
        #expect(try await self.refusal(parts.token) == .malformed)
    }

    /// RFC 7515 section 4 and RFC 7519 section 4: a parser that takes the first of two is wrong, and one that refuses is right.
    @Test func `a token that says a thing twice is refused`() async throws {
        var parts = try TokenParts(try await self.workshop.token(try TokenWorkshop.claims()))
        parts.header = TokenParts.part(#"{"alg":"HS256","kid":"HS256","alg":"HS256"}"#)
        #expect(try await self.refusal(parts.token) == .malformed)
        parts.header = TokenParts.part(#"{"alg":"HS256","kid":"HS256"}"#)
        #expect(TokenText(parts.token)?.claims != nil)
        for twice in [#""exp":4102444800,"exp":4102444801"#, #""exp":4102444800,"e\u0078p":4102444801"#] {
            parts.payload = TokenParts.part(#"{"iss":"cuecast","aud":"a","sub":"s",\#(twice)}"#)
            #expect(TokenText(parts.token)?.claims == nil)
        }
        parts.payload = TokenParts.part(#"{"iss":"cuecast","aud":"a","sub":"s","exp":4102444800}"#)
        #expect(TokenText(parts.token)?.claims != nil)
    }

    @Test func `no bit of a token can be changed, nor can it be written otherwise`() async throws {
        let verifier = try await self.workshop.verifier()
        for algorithm in TokenAlgorithm.allCases {
            let token = Array(
                try await self.workshop.token(try TokenWorkshop.claims(scope: "read"), by: algorithm).utf8
            )
            // Signatures of pairs take long to check in a debug build.
            let step = algorithm == .hs256 ? 1 : 11
            for place in Array(stride(from: 0, to: token.count, by: step)) + [token.count - 1] {
                for other in [token[place] ^ 1, token[place] ^ 0x20, UInt8(ascii: "="), UInt8(ascii: "A")] {
                    var changed = token
                    changed[place] = other
                    guard changed != token else { continue }
                    #expect(throws: TokenRefusal.self, "\(algorithm) at \(place)") {
                        try verifier.verify(String(decoding: changed, as: UTF8.self), at: Parts.now)
                    }
                }
            }
            for addition in ["=", "==", ".", "A", " ", "\n"] {
                #expect(throws: TokenRefusal.self) {
                    try verifier.verify(String(decoding: token, as: UTF8.self) + addition, at: Parts.now)
                }
            }
        }
    }

    @Test func `tokens of random and mutated bytes are refused and end nothing`() async throws {
        let verifier = try await self.workshop.verifier()
        let token = Array(try await self.workshop.token(try TokenWorkshop.claims(scope: "read")).utf8)
        var generator = SeededGenerator(seed: 17)
        for _ in 0..<20_000 {
            var bytes = token
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                switch Int.random(in: 0..<4, using: &generator) {
                case 0:
                    bytes[Int.random(in: bytes.indices, using: &generator)] = .random(
                        in: .min ... .max,
                        using: &generator
                    )
                case 1: bytes.remove(at: Int.random(in: bytes.indices, using: &generator))
                case 2:
                    bytes.insert(
                        .random(in: .min ... .max, using: &generator),
                        at: Int.random(in: bytes.indices, using: &generator)
                    )
                default: bytes = Array(bytes.prefix(Int.random(in: 1...bytes.count, using: &generator)))
                }
                if bytes.isEmpty { bytes = [0] }
            }
            guard bytes != token else { continue }
            #expect(throws: TokenRefusal.self) {
                try verifier.verify(String(decoding: bytes, as: UTF8.self), at: Parts.now)
            }
        }
    }

    @Test func `claims of any kind are read or refused, never followed halfway`() async throws {
        let right = #""iss":"cuecast","aud":"cuecast-http","sub":"a""#
        let refused = [
            "", "null", "[]", "{}", "7", #"{\#(right)}"#, #"{\#(right),"exp":"soon"}"#, #"{\#(right),"exp":-1}"#,
            #"{\#(right),"exp":1e300}"#, #"{\#(right),"exp":253402300800}"#, #"{\#(right),"exp":9e9,"nbf":-5}"#,
            #"{\#(right),"exp":9e9,"scope":7}"#, #"{\#(right),"exp":9e9,"scope":"publish:a*b"}"#,
            #"{\#(right),"exp":9e9,"streams":[7]}"#, #"{\#(right),"exp":9e9,"streams":["a b"]}"#,
            #"{\#(right),"exp":9e9,"attributes":{"a":7}}"#, #"{\#(right),"exp":9e9,"attributes":{"a":"\u0000"}}"#,
            #"{"iss":"cuecast","aud":"cuecast-http","sub":"","exp":9e9}"#,
            #"{"iss":"cuecast","aud":"cuecast-http","sub":"a\u0007","exp":9e9}"#,
            #"{"iss":"cuecast","aud":{},"sub":"a","exp":9e9}"#,
            #"{\#(right),"exp":9e9,"attributes":{"a":"\#(String(repeating: "x", count: 129))"}}"#,
        ]
        let verifier = try await self.workshop.verifier()
        for payload in refused {
            let token = try await self.signed(payload)
            #expect(throws: TokenRefusal.malformed, "\(payload)") { try verifier.verify(token, at: Parts.now) }
        }
        let token = try await self.signed(
            #"{\#(right),"exp":9e9,"scope":"openid read","more":{"a":[1]},"streams":"radio1"}"#
        )
        let claims = try verifier.verify(token, at: Parts.now)
        #expect(claims.scopes.grants(.read) && !claims.scopes.grants(.admin))
        #expect(claims.streams.map(\.description) == ["radio1"])
    }

    /// Signs any bytes with the key of HS256.
    private func signed(_ payload: String) async throws -> String {
        let parts = try TokenParts(try await self.workshop.token(try TokenWorkshop.claims()))
        return try #require(TokenMaker(try await self.workshop.keySet()))
            .signed(parts.header + "." + TokenParts.part(payload))
    }

    @Test func `as many bytes and streams are taken as the limits say, and not one more`() async throws {
        let patterns = (0...TokenLimits.tokenStreamsMax).map { "publish:\($0)" }
        #expect(TokenScopes(patterns.dropLast().joined(separator: " ")) != nil)
        #expect(TokenScopes(patterns.joined(separator: " ")) == nil)
        var claims = try TokenWorkshop.claims()
        claims.attributes = Dictionary(
            uniqueKeysWithValues: (0..<WireLimits.attributesMax).map { ("\($0)", String(repeating: "x", count: 128)) }
        )
        let maker = try #require(TokenMaker(try await self.workshop.keySet()))
        var size = 1
        var longest = ""
        while true {
            claims.audience = ["cuecast-http", String(repeating: "y", count: size)]
            guard let token = try? maker.token(claims, at: Parts.now) else { break }
            longest = token
            size += 1
        }
        #expect(longest.utf8.count > TokenLimits.tokenBytesMax - 4)
        #expect(try await self.refusal(longest) == nil)
        #expect(try await self.refusal(longest + String(repeating: "A", count: 4)) == .malformed)
    }

    @Test func `each right is its own, and a stream's is of that stream`() async throws {
        let radio1 = try StreamID("radio1")
        let tv = try StreamID("tv")
        let publish = try #require(TokenScopes("publish:radio*"))
        #expect(publish.grants(.publish(radio1)) && !publish.grants(.publish(tv)))
        #expect(!publish.grants(.read) && !publish.grants(.admin))
        let read = try #require(TokenScopes("read"))
        #expect(read.grants(.read) && !read.grants(.publish(radio1)) && !read.grants(.admin))
        let admin = try #require(TokenScopes("admin"))
        #expect(admin.grants(.admin) && !admin.grants(.read) && !admin.grants(.publish(radio1)))
        #expect(try #require(TokenScopes("")) == TokenScopes())
    }
}
