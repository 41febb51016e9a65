// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A text that others may read, without what is secret in the addresses in it.
package enum AddressSecrets {
    /// Takes users and passwords out of addresses, and queries and fragments, in which servers have tokens.
    ///
    /// What is removed once is removed: the same text once more stays as it is.
    ///
    /// - Parameters:
    ///   - text: any text; an address in it begins behind `://` and ends with white space or a quotation mark.
    ///   - hasQueries: whether queries and fragments stay.
    /// - Returns: the text without them.
    package static func removed(from text: String, hasQueries: Bool = false) -> String {
        var shown = ""
        var rest = text[...]
        while let mark = rest.firstRange(of: "://") {
            shown += rest[..<mark.upperBound]
            rest = rest[mark.upperBound...]
            let authority = rest.prefix { !"/?#".contains($0) && !Self.endsAddress($0) }
            // udp://@239.1.1.1:5000 has no user: it is how players write a multicast group.
            if let at = authority.lastIndex(of: "@"), at > authority.startIndex {
                rest = rest[rest.index(after: at)...]
            }
            let address = rest.prefix { !Self.endsAddress($0) }
            // Another address may follow in it: it is looked at in the next turn.
            let own = address.firstRange(of: "://").map { address[..<$0.lowerBound] } ?? address
            if !hasQueries, let query = own.firstIndex(where: { $0 == "?" || $0 == "#" }) {
                shown += own[..<query]
                rest = rest[address.endIndex...]
            } else {
                shown += own
                rest = rest[own.endIndex...]
            }
        }
        return shown + rest
    }

    private static func endsAddress(_ character: Character) -> Bool {
        character.isWhitespace || "\"'<>“”".contains(character)
    }
}
