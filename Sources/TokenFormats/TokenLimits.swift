// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// The bounds of tokens and of the keys that they are signed with.
package enum TokenLimits {
    /// The most bytes of a token, as of the field of a join that carries one.
    package static let tokenBytesMax = WireLimits.tokenBytesMax
    /// The most bytes of a file of keys.
    package static let tokenKeysFileBytesMax = 262_144
    /// The most keys of such a file.
    package static let tokenKeysMax = 100
    /// The most bytes of a key's id.
    package static let tokenKeyIDBytesMax = 128
    /// The least bytes of a key for HS256 (RFC 7518, section 3.2).
    package static let tokenSecretBytesMin = 32
    /// The most bytes of a key for HS256.
    package static let tokenSecretBytesMax = 512
    /// The most bytes of a token's subject, issuer or audience.
    package static let tokenNameBytesMax = 255
    /// The most stream patterns of a token, of each kind.
    package static let tokenStreamsMax = 64
    /// The most sessions that a token may allow its subject.
    package static let tokenSessionsMax = 1_000_000
    /// How far the clock of the token's issuer may be ahead of the gateway's: a token may be used so much before its `nbf`.
    package static let tokenClockAheadMax: Duration = .seconds(30)
}

/// The defaults of tokens, at the gateway and on the command line.
package enum TokenDefaults {
    package static let issuer = "cuecast"
    /// Of listeners' tokens.
    package static let audience = "cuecast"
    /// Of tokens for HTTP, so that a listener's token is none.
    package static let httpAudience = "cuecast-http"
}
