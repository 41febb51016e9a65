// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import JWTKit
package import TokenFormats

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TokenKey {
    /// Makes a new random key.
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

    /// The algorithm and the signer of this key.
    func checked() async throws(Fault) -> (algorithm: TokenAlgorithm, signer: any JWTAlgorithm) {
        let algorithm = try self.checkedForm()
        let keys = JWTKeyCollection()
        switch algorithm {
        case .hs256:
            guard let secret = self.secretOfHS256 else { throw Fault(reason: "it cannot be used") }
            await keys.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
        case .es256:
            guard let x = self.x, let y = self.y else { throw Fault(reason: "it cannot be used") }
            guard let key = try? ES256PublicKey(parameters: (x, y)) else {
                throw Fault(reason: "x and y are no point of P-256")
            }
            if self.d == nil {
                await keys.add(ecdsa: key)
            } else {
                guard let d = self.d, let secret = try? ES256PrivateKey(key: d) else {
                    throw Fault(reason: "d must be base64url of 32 bytes, and a key of P-256")
                }
                guard let point = Self.point(secret.publicKey), point.x == x, point.y == y else {
                    throw Fault(reason: "x and y do not belong to d")
                }
                await keys.add(ecdsa: secret)
            }
        case .edDSA:
            guard let x = self.x, let key = try? EdDSA.PublicKey(x: x, curve: .ed25519) else {
                throw Fault(reason: "x must be base64url of 32 bytes, and a key of Ed25519")
            }
            if self.d == nil {
                await keys.add(eddsa: key)
            } else {
                guard let d = self.d, let secret = try? EdDSA.PrivateKey(d: d, curve: .ed25519) else {
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
}
