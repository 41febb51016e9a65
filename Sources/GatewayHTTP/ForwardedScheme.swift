// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import HTTPTypes

/// Which scheme the player used, by the headers of the proxies in between.
enum ForwardedScheme {
    /// Whether the player asked by `https`.
    ///
    /// `Forwarded` (RFC 7239) counts before `X-Forwarded-Proto`. Each proxy adds a value at the end, in the same line or in one of its
    /// own, so the first value is that of the proxy which the player asked.
    static func isEncrypted(_ headers: HTTPFields) -> Bool {
        self.scheme(headers)?.lowercased() == "https"
    }

    /// The scheme that the first proxy was asked by; `nil`: no proxy names it.
    private static func scheme(_ headers: HTTPFields) -> String? {
        if let first = Self.first(of: headers[values: .forwarded]), let scheme = Self.parameter("proto", of: first) {
            return scheme
        }
        return Self.first(of: headers[values: .forwardedProto]).map { Self.unquoted($0) }
    }

    /// The first value of a list that may be spread over several lines (RFC 9110, section 5.3).
    private static func first(of lines: [String]) -> Substring? {
        for line in lines {
            for element in Self.split(line[...], at: ",") where !element.allSatisfy(\.isWhitespace) { return element }
        }
        return nil
    }

    /// A parameter of a value of `Forwarded`, whose names are the same in upper and lower case (RFC 7239, section 4).
    private static func parameter(_ name: String, of element: Substring) -> String? {
        for pair in Self.split(element, at: ";") {
            guard let equals = pair.firstIndex(of: "="),
                Self.trimmed(pair[..<equals]).lowercased() == name
            else { continue }
            return Self.unquoted(pair[pair.index(after: equals)...])
        }
        return nil
    }

    /// Splits at a separator that stands in no quoted string.
    private static func split(_ text: Substring, at separator: Character) -> [Substring] {
        var (isQuoted, isEscaped) = (false, false)
        return text.split(omittingEmptySubsequences: true) { character in
            defer { isEscaped = isQuoted && character == "\\" && !isEscaped }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            return character == separator && !isQuoted
        }
    }

    private static func unquoted(_ text: Substring) -> String {
        let value = Self.trimmed(text)
        guard value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") else { return String(value) }
        return String(value.dropFirst().dropLast())
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0.isWhitespace }
        return start.lastIndex { !$0.isWhitespace }.map { start[...$0] } ?? start.prefix(0)
    }
}
