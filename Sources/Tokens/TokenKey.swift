// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import JWTKit

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How a token is signed (RFC 7518 section 3.1, RFC 8037).
///
/// It belongs to the key and not to the token: what a token says of it must be the same.
package enum TokenAlgorithm: String, CaseIterable, Sendable {
    /// One secret for who makes tokens and for who checks them.
    case hs256 = "HS256"
    /// A key pair on P-256.
    case es256 = "ES256"
    /// A key pair on Ed25519.
    case edDSA = "EdDSA"

    /// How long a signature is.
    var signatureBytes: Int {
        switch self {
        case .hs256: 32
        case .es256, .edDSA: 64
        }
    }
}

/// What a key is good for at present.
package enum TokenKeyState: String, Codable, CaseIterable, Sendable {
    /// Tokens are made with it; at most one key of a file.
    case signing
    /// Tokens that were made with it are taken, and none are made.
    case verifyOnly = "verify-only"
    /// Tokens that were made with it are refused.
    case revoked
}

/// One key of a JWKS file (RFC 7517), as it stands there.
///
/// Fields that are not named here are passed over when a file is read, and left out when one is written.
package struct TokenKey: Codable, Sendable, CustomStringConvertible {
    /// `oct`, `EC` or `OKP`.
    var kty: String
    package var kid: String
    var alg: String
    var use: String?
    var crv: String?
    /// The public key, or its first coordinate.
    var x: String?
    var y: String?
    /// The secret part of a key pair.
    var d: String?
    /// The secret of HS256.
    var k: String?
    package var state: TokenKeyState?

    /// Without the key.
    package var description: String { "the key \(self.kid) (\(self.alg), \((self.state ?? .verifyOnly).rawValue))" }

    /// Whether whoever reads it can make tokens.
    package var isSecret: Bool { self.d != nil || self.k != nil }

    /// The key without its secret part; `nil` where there is nothing else.
    package var publicPart: TokenKey? {
        guard self.k == nil else { return nil }
        var key = self
        key.d = nil
        return key
    }

    /// Makes a key that nobody has.
    package static func generate(
        _ algorithm: TokenAlgorithm,
        id: String,
        state: TokenKeyState = .signing
    ) throws -> TokenKey {
        let secret = { () -> [UInt8] in
            // The system's generator is a cryptographic one.
            var generator = SystemRandomNumberGenerator()
            return (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        }
        switch algorithm {
        case .hs256:
            return TokenKey(
                kty: "oct",
                kid: id,
                alg: algorithm.rawValue,
                use: "sig",
                k: Base64URL.encode(secret()),
                state: state
            )
        case .es256:
            while true {
                let d = Base64URL.encode(secret())
                // One number in 4 billion is too large to be a key of this curve.
                guard let key = try? ES256PrivateKey(key: d), let point = Self.point(key.publicKey) else { continue }
                return TokenKey(
                    kty: "EC",
                    kid: id,
                    alg: algorithm.rawValue,
                    use: "sig",
                    crv: "P-256",
                    x: point.x,
                    y: point.y,
                    d: d,
                    state: state
                )
            }
        case .edDSA:
            let d = Base64URL.encode(secret())
            let key = try EdDSA.PrivateKey(d: d, curve: .ed25519)
            return TokenKey(
                kty: "OKP",
                kid: id,
                alg: algorithm.rawValue,
                use: "sig",
                crv: "Ed25519",
                x: Base64URL.encode([UInt8](key.publicKey.rawRepresentation)),
                d: d,
                state: state
            )
        }
    }

    /// The coordinates of a key, as a JWKS file has them.
    private static func point(_ key: ES256PublicKey) -> (x: String, y: String)? {
        guard let parameters = key.parameters, let x = Data(base64Encoded: parameters.x),
            let y = Data(base64Encoded: parameters.y)
        else { return nil }
        return (Base64URL.encode([UInt8](x)), Base64URL.encode([UInt8](y)))
    }
}

extension TokenKey {
    /// Why a key is not taken, without anything that it may hold.
    struct Fault: Error {
        let reason: String
    }

    /// What signs and checks with this key.
    func checked() async throws(Fault) -> (algorithm: TokenAlgorithm, signer: any JWTAlgorithm) {
        guard (1...TokenLimits.tokenKeyIDBytesMax).contains(self.kid.utf8.count),
            self.kid.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw Fault(reason: "kid must be 1 to \(TokenLimits.tokenKeyIDBytesMax) visible characters of ASCII") }
        guard let algorithm = TokenAlgorithm(rawValue: self.alg) else {
            throw Fault(reason: "alg must be \(TokenAlgorithm.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        guard self.use == nil || self.use == "sig" else { throw Fault(reason: "use must be sig") }
        let keys = JWTKeyCollection()
        switch algorithm {
        case .hs256:
            guard self.kty == "oct" else { throw Fault(reason: "kty must be oct for HS256") }
            guard let secret = self.k.flatMap({ Base64URL.decode($0.utf8) }),
                (TokenLimits.tokenSecretBytesMin...TokenLimits.tokenSecretBytesMax).contains(secret.count)
            else {
                throw Fault(
                    reason:
                        "k must be base64url of \(TokenLimits.tokenSecretBytesMin) to \(TokenLimits.tokenSecretBytesMax) bytes"
                )
            }
            await keys.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
        case .es256:
            guard self.kty == "EC", self.crv == "P-256" else { throw Fault(reason: "ES256 needs kty EC and crv P-256") }
            guard let x = self.bytes32(self.x), let y = self.bytes32(self.y) else {
                throw Fault(reason: "x and y must be base64url of 32 bytes each")
            }
            guard let key = try? ES256PublicKey(parameters: (x, y)) else {
                throw Fault(reason: "x and y are no point of P-256")
            }
            if self.d == nil {
                await keys.add(ecdsa: key)
            } else {
                guard let d = self.bytes32(self.d), let secret = try? ES256PrivateKey(key: d) else {
                    throw Fault(reason: "d must be base64url of 32 bytes, and a key of P-256")
                }
                guard let point = Self.point(secret.publicKey), point.x == x, point.y == y else {
                    throw Fault(reason: "x and y do not belong to d")
                }
                await keys.add(ecdsa: secret)
            }
        case .edDSA:
            guard self.kty == "OKP", self.crv == "Ed25519" else {
                throw Fault(reason: "EdDSA needs kty OKP and crv Ed25519")
            }
            guard let x = self.bytes32(self.x), let key = try? EdDSA.PublicKey(x: x, curve: .ed25519) else {
                throw Fault(reason: "x must be base64url of 32 bytes, and a key of Ed25519")
            }
            if self.d == nil {
                await keys.add(eddsa: key)
            } else {
                guard let d = self.bytes32(self.d), let secret = try? EdDSA.PrivateKey(d: d, curve: .ed25519) else {
                    throw Fault(reason: "d must be base64url of 32 bytes, and a key of Ed25519")
                }
                guard Base64URL.encode([UInt8](secret.publicKey.rawRepresentation)) == x else {
                    throw Fault(reason: "x does not belong to d")
                }
                await keys.add(eddsa: secret)
            }
        }
        guard let signer = try? await keys.getKey() else { throw Fault(reason: "it cannot be used") }
        return (algorithm, signer)
    }

    /// The text where it stands for 32 bytes.
    private func bytes32(_ text: String?) -> String? {
        text.flatMap { text in Base64URL.decode(text.utf8)?.count == 32 ? text : nil }
    }
}
