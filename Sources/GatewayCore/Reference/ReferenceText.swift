// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A page that explains something.
package struct ReferenceLink: Hashable, Sendable {
    package let title: String
    /// The path in `docs`, with the heading.
    package let path: String

    package init(_ title: String, _ path: String) {
        self.title = title
        self.path = path
    }

    /// The link as a page of `docs/reference` has it.
    package var markdown: String { "[\(self.title)](../\(self.path))" }
}

/// Texts of declarations: Markdown for the reference pages, and plain text for terminals and programs.
package enum ReferenceText {
    /// A text in Markdown as plain text.
    ///
    /// Backticks and links in brackets of their own are left out. Of other links the title stays.
    package static func plain(_ markdown: String) -> String {
        var plain = ""
        var rest = Substring(markdown)
        while let link = Self.firstLink(in: rest) {
            let before = rest[..<link.start]
            let after = rest[link.end...]
            if before.hasSuffix(" ("), after.hasPrefix(")") {
                plain += before.dropLast(2)
                rest = after.dropFirst()
            } else {
                plain += before + link.title
                rest = after
            }
        }
        return (plain + rest).filter { $0 != "`" }
    }

    /// The same as a sentence: it begins with a capital and ends with a period.
    package static func sentence(_ markdown: String) -> String {
        let plain = Self.plain(markdown)
        return plain.prefix(1).uppercased() + plain.dropFirst() + (plain.hasSuffix(".") ? "" : ".")
    }

    private struct Link {
        let start: String.Index
        let title: Substring
        /// Behind the closing parenthesis.
        let end: String.Index
    }

    /// The first `[title](target)` of a text.
    private static func firstLink(in text: Substring) -> Link? {
        guard let start = text.firstIndex(of: "["), let middle = text[start...].firstIndex(of: "]"),
            text[middle...].hasPrefix("]("), let close = text[middle...].firstIndex(of: ")")
        else { return nil }
        return Link(start: start, title: text[text.index(after: start)..<middle], end: text.index(after: close))
    }
}
