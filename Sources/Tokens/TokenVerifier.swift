// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import JWTKit
package import TokenFormats

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tells whether a token (JWT, RFC 7519) is true, and what it says.
///
/// Each key is for one algorithm: what the token says of it is compared and never followed. A token must name its key, an issuer, an
/// audience, a subject and when it expires. It computes and does nothing else; from any thread.
///
/// ```swift
/// let verifier = TokenVerifier(keys: try await TokenKeySet(path: "keys.json"), issuer: "https://login.example", audience: "cuecast")
/// let claims = try verifier.verify(token, at: clock.now())
/// ```
package struct TokenVerifier: Sendable {
    package let keys: TokenKeySet
    /// The required `iss`.
    package let issuer: String
    /// The required member of `aud`.
    package let audience: String

    package init(keys: TokenKeySet, issuer: String, audience: String) {
        self.keys = keys
        self.issuer = issuer
        self.audience = audience
    }

    /// Checks a token.
    ///
    /// - Parameters:
    ///   - token: the token that a client sent.
    ///   - now: the gateway's clock.
    /// - Returns: the token's claims.
    /// - Throws: the first reason against it.
    package func verify(_ token: String, at now: Timestamp) throws(TokenRefusal) -> TokenClaims {
        guard let text = TokenText(token) else { throw .malformed }
        guard let kid = text.keyID, let entry = self.keys.entries[kid] else { throw .unknownKey }
        guard text.algorithm == entry.algorithm.rawValue else { throw .wrongAlgorithm }
        guard entry.state != .revoked else { throw .revokedKey }
        guard let signature = text.signature else { throw .malformed }
        guard signature.count == entry.algorithm.signatureBytes,
            (try? entry.signer.verify(signature, signs: text.signed)) == true
        else { throw .wrongSignature }
        guard let claims = text.claims else { throw .malformed }
        guard claims.issuer == self.issuer else { throw .wrongIssuer }
        guard claims.audience.contains(self.audience) else { throw .wrongAudience }
        guard now < claims.expires else { throw .expired }
        if let notBefore = claims.notBefore, now + TokenLimits.tokenClockAheadMax < notBefore { throw .notYetValid }
        return claims
    }
}

/// Makes tokens with a file's signing key.
package struct TokenMaker: Sendable {
    private let key: TokenKey
    private let entry: TokenKeySet.Entry

    /// `nil` where the file has no signing key, or not its secret part.
    package init?(_ keys: TokenKeySet) {
        guard let key = keys.signingKey, let entry = keys.entries[key.kid] else { return nil }
        self.key = key
        self.entry = entry
    }

    /// Which key signs.
    package var keyID: String { self.key.kid }

    /// A token that says so.
    ///
    /// - Throws: where the token would be larger than tokens may be (`TokenRefusal.malformed`), or where it cannot be signed.
    package func token(_ claims: TokenClaims, at now: Timestamp) throws -> String {
        let signed = try TokenText.signedPart(
            of: claims,
            algorithm: self.entry.algorithm,
            keyID: self.key.kid,
            issued: now
        )
        let token = try self.signed(signed)
        guard token.utf8.count <= TokenLimits.tokenBytesMax else { throw TokenRefusal.malformed }
        return token
    }

    /// A header and a payload, as they stand in a token, and their signature after them.
    package func signed(_ text: String) throws -> String {
        text + "." + Base64URL.encode(try self.entry.signer.sign(Array(text.utf8)))
    }
}
