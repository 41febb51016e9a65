// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

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
    package var signatureBytes: Int {
        switch self {
        case .hs256: 32
        case .es256, .edDSA: 64
        }
    }
}

/// The present use of a key.
package enum TokenKeyState: String, Codable, CaseIterable, Sendable {
    /// Tokens are made with it; at most one key of a file.
    case signing
    /// Tokens that were made with it are taken, and none are made.
    case verifyOnly = "verify-only"
    /// Tokens that were made with it are refused.
    case revoked
}

/// One key of a JWKS file (RFC 7517), as it is in the file.
///
/// Fields that are not named here are passed over when a file is read, and left out when one is written.
package struct TokenKey: Codable, Sendable, CustomStringConvertible {
    /// `oct`, `EC` or `OKP`.
    package var kty: String
    package var kid: String
    package var alg: String
    package var use: String?
    package var crv: String?
    /// The public key, or its first coordinate.
    package var x: String?
    package var y: String?
    /// The secret part of a key pair.
    package var d: String?
    /// The secret of HS256.
    package var k: String?
    package var state: TokenKeyState?

    /// Without the key.
    package var description: String { "the key \(self.kid) (\(self.alg), \((self.state ?? .verifyOnly).rawValue))" }

    /// Whether a reader of it can make tokens.
    package var isSecret: Bool { self.d != nil || self.k != nil }

    /// The key without its secret part; `nil` where there is nothing else.
    package var publicPart: TokenKey? {
        guard self.k == nil else { return nil }
        var key = self
        key.d = nil
        return key
    }

    package init(
        kty: String,
        kid: String,
        alg: String,
        use: String? = nil,
        crv: String? = nil,
        x: String? = nil,
        y: String? = nil,
        d: String? = nil,
        k: String? = nil,
        state: TokenKeyState? = nil
    ) {
        self.kty = kty
        self.kid = kid
        self.alg = alg
        self.use = use
        self.crv = crv
        self.x = x
        self.y = y
        self.d = d
        self.k = k
        self.state = state
    }
}

extension TokenKey {
    /// Why a key is not taken, without anything that it may hold.
    package struct Fault: Error, Hashable, Sendable {
        package let reason: String

        package init(reason: String) {
            self.reason = reason
        }
    }

    /// Checks what can be said of a key without computing with it: its id, its algorithm, and that its parts are as long as they must be.
    ///
    /// - Returns: its algorithm.
    /// - Throws: the first fault.
    package func checkedForm() throws(Fault) -> TokenAlgorithm {
        guard (1...TokenLimits.tokenKeyIDBytesMax).contains(self.kid.utf8.count),
            self.kid.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw Fault(reason: "kid must be 1 to \(TokenLimits.tokenKeyIDBytesMax) visible characters of ASCII") }
        guard let algorithm = TokenAlgorithm(rawValue: self.alg) else {
            throw Fault(reason: "alg must be \(TokenAlgorithm.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        guard self.use == nil || self.use == "sig" else { throw Fault(reason: "use must be sig") }
        switch algorithm {
        case .hs256:
            guard self.kty == "oct" else { throw Fault(reason: "kty must be oct for HS256") }
            guard self.secretOfHS256 != nil else {
                throw Fault(
                    reason:
                        "k must be base64url of \(TokenLimits.tokenSecretBytesMin) to \(TokenLimits.tokenSecretBytesMax) bytes"
                )
            }
        case .es256:
            guard self.kty == "EC", self.crv == "P-256" else { throw Fault(reason: "ES256 needs kty EC and crv P-256") }
            guard Self.bytes32(self.x) != nil, Self.bytes32(self.y) != nil else {
                throw Fault(reason: "x and y must be base64url of 32 bytes each")
            }
            guard self.d == nil || Self.bytes32(self.d) != nil else {
                throw Fault(reason: "d must be base64url of 32 bytes, and a key of P-256")
            }
        case .edDSA:
            guard self.kty == "OKP", self.crv == "Ed25519" else {
                throw Fault(reason: "EdDSA needs kty OKP and crv Ed25519")
            }
            guard Self.bytes32(self.x) != nil else {
                throw Fault(reason: "x must be base64url of 32 bytes, and a key of Ed25519")
            }
            guard self.d == nil || Self.bytes32(self.d) != nil else {
                throw Fault(reason: "d must be base64url of 32 bytes, and a key of Ed25519")
            }
        }
        return algorithm
    }

    /// The secret of HS256, where it is one.
    package var secretOfHS256: [UInt8]? {
        self.k.flatMap { Base64URL.decode($0.utf8) }
            .flatMap { secret in
                (TokenLimits.tokenSecretBytesMin...TokenLimits.tokenSecretBytesMax).contains(secret.count)
                    ? secret : nil
            }
    }

    /// The text where it stands for 32 bytes.
    package static func bytes32(_ text: String?) -> String? {
        text.flatMap { text in Base64URL.decode(text.utf8)?.count == 32 ? text : nil }
    }
}
