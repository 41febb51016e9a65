// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The prefix of everything that a shared log has on its servers, so that several logs share servers.
package enum SharedLogPrefix {
    /// The prefix where none is given.
    package static let value = "cuecast"
    /// The longest prefix, in characters.
    package static let lengthMax = 32
    /// The rule, as the end of a sentence.
    package static let rule = "1 to \(lengthMax) letters, digits, _ and -"

    /// Whether a text is a prefix.
    package static func isPrefix(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= Self.lengthMax
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
