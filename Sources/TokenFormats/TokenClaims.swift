// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore

/// A right over HTTP.
///
/// None contains another: who may publish may not read reports unless the token says so.
package enum TokenScope: Hashable, Sendable {
    /// To see reports and breaks.
    case read
    /// To change the breaks of a stream.
    case publish(StreamID)
    /// To change the gateway: reload it.
    case admin

    /// The word in a token.
    package var word: String {
        switch self {
        case .read: "read"
        case .publish(let stream): "publish:\(stream)"
        case .admin: "admin"
        }
    }
}

/// The rights over HTTP that a token names in its claim `scope`.
package struct TokenScopes: Hashable, Sendable, CustomStringConvertible {
    package var read = false
    package var admin = false
    package var publish: [StreamPattern] = []

    /// None.
    package init() {}

    /// Reads the words of the claim; words that have no meaning here belong to other services.
    ///
    /// - Returns: `nil` where a pattern after `publish:` is none, or where there are too many.
    package init?(_ text: some StringProtocol) {
        for word in text.split(separator: " ") {
            switch word {
            case "read": self.read = true
            case "admin": self.admin = true
            case let word where word.hasPrefix("publish:"):
                guard let pattern = StreamPattern(String(word.dropFirst("publish:".count))),
                    self.publish.count < TokenLimits.tokenStreamsMax
                else { return nil }
                self.publish.append(pattern)
            default: break
            }
        }
    }

    package func grants(_ scope: TokenScope) -> Bool {
        switch scope {
        case .read: self.read
        case .admin: self.admin
        case .publish(let stream): self.publish.contains { $0.matches(stream) }
        }
    }

    package var description: String {
        ((self.read ? ["read"] : []) + self.publish.map { "publish:\($0)" } + (self.admin ? ["admin"] : []))
            .joined(separator: " ")
    }
}

/// The claims of a token, once its signature is verified.
package struct TokenClaims: Hashable, Sendable {
    /// The subject of the token, which logs show.
    package var subject: String
    package var issuer: String
    package var audience: [String]
    /// The first instant at which the token is not taken any more.
    package var expires: Timestamp
    package var notBefore: Timestamp?
    /// The rights over HTTP.
    package var scopes: TokenScopes
    /// The streams to which a listener may listen.
    package var streams: [StreamPattern]
    /// The attributes that replace those that the listener states itself; `nil`: its own count.
    package var attributes: [String: String]?
    /// The most sessions of its subject that listen at a time; `nil`: what the gateway says.
    package var sessionsMax: Int?

    package init(
        subject: String,
        issuer: String,
        audience: [String],
        expires: Timestamp,
        notBefore: Timestamp? = nil,
        scopes: TokenScopes = TokenScopes(),
        streams: [StreamPattern] = [],
        attributes: [String: String]? = nil,
        sessionsMax: Int? = nil
    ) {
        self.subject = subject
        self.issuer = issuer
        self.audience = audience
        self.expires = expires
        self.notBefore = notBefore
        self.scopes = scopes
        self.streams = streams
        self.attributes = attributes
        self.sessionsMax = sessionsMax
    }
}

/// Why a token is not taken.
package enum TokenRefusal: String, Error, CaseIterable, Sendable {
    case malformed
    case unknownKey
    case revokedKey
    case wrongAlgorithm
    case wrongSignature
    case wrongIssuer
    case wrongAudience
    case expired
    case notYetValid

    /// The explanation for the sender of the token; contains nothing of the token.
    package var sentence: String {
        switch self {
        case .malformed: "The token cannot be understood."
        case .unknownKey: "The token names no key that is known here."
        case .revokedKey: "The token's key is revoked."
        case .wrongAlgorithm: "The token names another algorithm than its key has."
        case .wrongSignature: "The token's signature is wrong."
        case .wrongIssuer: "The token is from another issuer."
        case .wrongAudience: "The token is for another audience."
        case .expired: "The token has expired."
        case .notYetValid: "The token is not valid yet."
        }
    }
}

extension TokenRefusal {
    /// For metrics.
    package var label: MetricLabel {
        switch self {
        case .malformed: .malformed
        case .unknownKey: .unknownKey
        case .revokedKey: .revokedKey
        case .wrongAlgorithm: .wrongAlgorithm
        case .wrongSignature: .wrongSignature
        case .wrongIssuer: .wrongIssuer
        case .wrongAudience: .wrongAudience
        case .expired: .expired
        case .notYetValid: .notYetValid
        }
    }
}
