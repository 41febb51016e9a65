// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// A secret by which gateways know what they made: deliveries and tickets.
///
/// Neither its description nor a dump of it shows the secret.
package struct SigningKey: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The use of a key.
    package enum State: String, CaseIterable, Sendable {
        /// New signatures use it.
        case signing
        /// Its earlier signatures are accepted.
        case verifyOnly = "verify-only"
        /// Nothing that was signed with it is taken any more.
        case revoked
    }

    /// How long a secret is, in bytes.
    package static let secretBytes = 32

    package let secret: [UInt8]
    package let id: KeyID
    package var state: State
    /// Since when it has this state, by the wall clock of the process that set it.
    package var since: Timestamp

    /// A key with its secret; `nil` where that has another length.
    ///
    /// - Parameters:
    ///   - secret: `secretBytes` bytes that cannot be guessed.
    ///   - state: its use.
    ///   - since: since when.
    package init?(secret: [UInt8], state: State, since: Timestamp) {
        guard secret.count == Self.secretBytes else { return nil }
        self.secret = secret
        self.state = state
        self.since = since
        self.id = KeyID(
            rawValue: KeyedHash.hash(Array("cuecast key id".utf8) + secret).prefix(4)
                .reduce(0) { $0 << 8 | UInt32($1) }
        )
    }

    /// A new secret.
    package static func make(_ state: State, at now: Timestamp) -> SigningKey {
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<Self.secretBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        guard let key = SigningKey(secret: secret, state: state, since: now) else {
            preconditionFailure("a secret that was just made is as long as secrets are")
        }
        return key
    }

    package var description: String { "\(self.id) \(self.state.rawValue) since \(self.since)" }

    package var customMirror: Mirror { Mirror(self, children: ["key": self.description]) }
}
