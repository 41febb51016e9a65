// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import GatewayCore
import JWTKit

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
    /// What `iss` must be.
    package let issuer: String
    /// What must be in `aud`.
    package let audience: String

    package init(keys: TokenKeySet, issuer: String, audience: String) {
        self.keys = keys
        self.issuer = issuer
        self.audience = audience
    }

    /// Checks a token.
    ///
    /// - Parameters:
    ///   - token: what somebody sent.
    ///   - now: the gateway's clock.
    /// - Returns: what it says.
    /// - Throws: the first reason against it.
    package func verify(_ token: String, at now: Timestamp) throws(TokenRefusal) -> TokenClaims {
        let bytes = Array(token.utf8)
        guard bytes.count <= TokenLimits.tokenBytesMax else { throw .malformed }
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header: TokenHeader = Self.decoded(parts[0]),
            // Extensions that must be understood; there are none (RFC 7515 section 4.1.11).
            header.crit == nil
        else { throw .malformed }
        guard let kid = header.kid, let entry = self.keys.entries[kid] else { throw .unknownKey }
        guard header.alg == entry.algorithm.rawValue else { throw .wrongAlgorithm }
        guard entry.state != .revoked else { throw .revokedKey }
        guard let signature = Base64URL.decode(parts[2]) else { throw .malformed }
        guard signature.count == entry.algorithm.signatureBytes,
            (try? entry.signer.verify(signature, signs: bytes[..<parts[1].endIndex])) == true
        else { throw .wrongSignature }
        guard let payload: TokenPayload = Self.decoded(parts[1]), let claims = TokenClaims(payload) else {
            throw .malformed
        }
        guard claims.issuer == self.issuer else { throw .wrongIssuer }
        guard claims.audience.contains(self.audience) else { throw .wrongAudience }
        guard now < claims.expires else { throw .expired }
        if let notBefore = claims.notBefore, now + TokenLimits.tokenClockAheadMax < notBefore { throw .notYetValid }
        return claims
    }

    private static func decoded<Value: Decodable>(_ part: ArraySlice<UInt8>) -> Value? {
        guard let bytes = Base64URL.decode(part) else { return nil }
        return try? JSONDecoder().decode(Value.self, from: Data(bytes))
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
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let header = TokenHeader(alg: self.entry.algorithm.rawValue, kid: self.key.kid, typ: "JWT")
        let signed =
            Base64URL.encode(Array(try encoder.encode(header))) + "."
            + Base64URL.encode(Array(try encoder.encode(TokenPayload(claims, issued: now))))
        let token = try self.signed(signed)
        guard token.utf8.count <= TokenLimits.tokenBytesMax else { throw TokenRefusal.malformed }
        return token
    }

    /// A header and a payload, as they stand in a token, and their signature after them.
    package func signed(_ text: String) throws -> String {
        text + "." + Base64URL.encode(try self.entry.signer.sign(Array(text.utf8)))
    }
}

private struct TokenHeader: Codable {
    var alg: String
    var kid: String?
    var typ: String?
    var crit: [String]?
}

/// The claims as they stand in a token (RFC 7519 section 4.1; `scope`: RFC 8693 section 4.2).
private struct TokenPayload: Codable {
    /// One text, or several.
    struct Texts: Codable {
        let values: [String]

        init(_ values: [String]) { self.values = values }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(String.self) {
                self.values = [value]
            } else {
                self.values = try container.decode([String].self)
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            if self.values.count == 1 {
                try container.encode(self.values[0])
            } else {
                try container.encode(self.values)
            }
        }
    }

    var iss: String
    var aud: Texts
    var sub: String
    /// Seconds since 1970; may have a fraction.
    var exp: Double
    var nbf: Double?
    var iat: Double?
    var scope: String?
    var streams: Texts?
    var attributes: [String: String]?
    /// The most sessions of the subject.
    var sessions: Int?

    init(_ claims: TokenClaims, issued: Timestamp) {
        let seconds = { (time: Timestamp) in (Double(time.microseconds) / 1_000_000).rounded(.down) }
        self.iss = claims.issuer
        self.aud = Texts(claims.audience)
        self.sub = claims.subject
        self.exp = seconds(claims.expires)
        self.nbf = claims.notBefore.map(seconds)
        self.iat = seconds(issued)
        let scope = claims.scopes.description
        self.scope = scope.isEmpty ? nil : scope
        self.streams = claims.streams.isEmpty ? nil : Texts(claims.streams.map(\.description))
        self.attributes = claims.attributes
        self.sessions = claims.sessionsMax
    }
}

extension TokenClaims {
    /// `nil` where something breaks a rule.
    fileprivate init?(_ payload: TokenPayload) {
        guard let expires = Self.instant(payload.exp), Self.isName(payload.sub),
            payload.aud.values.count <= TokenLimits.tokenStreamsMax
        else { return nil }
        var notBefore: Timestamp?
        if let nbf = payload.nbf {
            guard let instant = Self.instant(nbf) else { return nil }
            notBefore = instant
        }
        guard let scopes = TokenScopes(payload.scope ?? "") else { return nil }
        var streams: [StreamPattern] = []
        for text in payload.streams?.values ?? [] {
            guard streams.count < TokenLimits.tokenStreamsMax, let pattern = StreamPattern(text) else { return nil }
            streams.append(pattern)
        }
        if let attributes = payload.attributes {
            guard (try? ListenerRequest.Join.check(attributes: attributes)) != nil else { return nil }
        }
        if let sessions = payload.sessions, !(1...TokenLimits.tokenSessionsMax).contains(sessions) { return nil }
        self.init(
            subject: payload.sub,
            issuer: payload.iss,
            audience: payload.aud.values,
            expires: expires,
            notBefore: notBefore,
            scopes: scopes,
            streams: streams,
            attributes: payload.attributes,
            sessionsMax: payload.sessions
        )
    }

    /// Whether a text can be a subject: it stands in logs.
    package static func isName(_ text: String) -> Bool {
        (1...TokenLimits.tokenNameBytesMax).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
    }

    /// Up to the end of the year 9999.
    private static func instant(_ seconds: Double) -> Timestamp? {
        guard (0...253_402_300_799).contains(seconds) else { return nil }
        return Timestamp(microseconds: Int64((seconds * 1_000_000).rounded(.down)))
    }
}
