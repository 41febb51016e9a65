// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import GatewayCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A token (JWT, RFC 7519) as text: taken apart, and nothing of it known to be true.
///
/// Strict: base64url is read as RFC 7515 has it and no other way, and there are no extensions that must be understood.
package struct TokenText: Sendable {
    /// Which algorithm the header names; compared, and never followed.
    package let algorithm: String
    /// Which key the header names.
    package let keyID: String?
    /// The signed bytes.
    package let signed: ArraySlice<UInt8>
    private let payload: ArraySlice<UInt8>
    private let code: ArraySlice<UInt8>

    /// Takes a token apart; `nil` where it cannot be one.
    package init?(_ token: String) {
        let bytes = Array(token.utf8)
        guard bytes.count <= TokenLimits.tokenBytesMax else { return nil }
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header: TokenHeader = Self.decoded(parts[0]),
            // Extensions that must be understood; there are none (RFC 7515 section 4.1.11).
            header.crit == nil
        else { return nil }
        self.algorithm = header.alg
        self.keyID = header.kid
        self.signed = bytes[..<parts[1].endIndex]
        self.payload = parts[1]
        self.code = parts[2]
    }

    /// The signature; `nil` where it is not base64url.
    package var signature: [UInt8]? { Base64URL.decode(self.code) }

    /// The claims, to be used only after the signature is verified; `nil` if they break a rule.
    package var claims: TokenClaims? {
        guard let payload: TokenPayload = Self.decoded(self.payload) else { return nil }
        return TokenClaims(payload)
    }

    /// Header and payload of a token that says so.
    ///
    /// - Throws: where it cannot be written.
    package static func signedPart(
        of claims: TokenClaims,
        algorithm: TokenAlgorithm,
        keyID: String,
        issued: Timestamp
    ) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let header = TokenHeader(alg: algorithm.rawValue, kid: keyID, typ: "JWT")
        return Base64URL.encode(Array(try encoder.encode(header))) + "."
            + Base64URL.encode(Array(try encoder.encode(TokenPayload(claims, issued: issued))))
    }

    private static func decoded<Value: Decodable>(_ part: ArraySlice<UInt8>) -> Value? {
        // No member twice (RFC 7515 section 4, RFC 7519 section 4).
        guard let bytes = Base64URL.decode(part), (try? JSONReader.read(bytes)) != nil else { return nil }
        return try? JSONDecoder().decode(Value.self, from: Data(bytes))
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
