// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The two kinds of a file that says to servers of NATS who a client is.
package enum NATSCredentials: Hashable, Sendable {
    /// A token with its key, as `nsc` writes it.
    case token
    /// A key without a token, as `nk -gen user -pubout` writes it: a line with the seed, and a line with this public key.
    case key(publicKey: String)

    private static let tokenHead = "-----BEGIN NATS USER JWT-----"
    private static let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    private static let seedCharacters = 58
    private static let publicKeyCharacters = 56

    /// Fails where the text of the file is neither.
    package init?(_ text: String) {
        guard !text.contains(Self.tokenHead) else {
            self = .token
            return
        }
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        guard lines.count == 2, Self.isKey(lines[0], "SU", Self.seedCharacters),
            Self.isKey(lines[1], "U", Self.publicKeyCharacters)
        else { return nil }
        self = .key(publicKey: lines[1])
    }

    /// Whether a text is a key of NATS: base 32 (RFC 4648) without padding.
    private static func isKey(_ text: String, _ head: String, _ count: Int) -> Bool {
        text.utf8.count == count && text.hasPrefix(head)
            && text.utf8.allSatisfy { Self.alphabet.contains($0) }
    }
}
