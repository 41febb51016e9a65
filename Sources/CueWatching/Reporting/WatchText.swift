// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Texts of a watcher that others read: on one line, short, and without secrets.
enum WatchText {
    /// The mark of a text that was cut.
    private static let ellipsis = "…"

    /// A sentence or an address as a report has it.
    ///
    /// - Parameters:
    ///   - text: the text; it may hold what a stranger wrote.
    ///   - hasQueries: whether queries of addresses stay: servers have tokens in those of their own.
    /// - Returns: it without control characters, without users and passwords in addresses, and of at most
    ///   `WireLimits.watchTextBytesMax` bytes.
    static func line(_ text: String, hasQueries: Bool = false) -> String {
        let cleaned = String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 })
        )
        return Self.cut(AddressSecrets.removed(from: cleaned, hasQueries: hasQueries))
    }

    private static func cut(_ text: String) -> String {
        let most = WireLimits.watchTextBytesMax
        guard text.utf8.count > most else { return text }
        var kept = ""
        var bytes = Self.ellipsis.utf8.count
        for scalar in text.unicodeScalars {
            bytes += UTF8.width(scalar)
            guard bytes <= most else { break }
            kept.unicodeScalars.append(scalar)
        }
        return kept + Self.ellipsis
    }
}
