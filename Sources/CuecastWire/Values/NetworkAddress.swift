// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Where to bind or to connect to over TCP, as people write it: `HOST:PORT`, or `tcp://HOST:PORT`.
///
/// A host is a name, an IPv4 address, or an IPv6 address in brackets (RFC 3986 section 3.2.2). Nothing is looked up.
package struct NetworkAddress: Hashable, Sendable {
    /// The purpose of an address.
    package enum Use: Sendable {
        /// The port may be 0 or `*`: the system chooses. The host may be `*`: all interfaces.
        case bind
        /// The port is one that a listener is bound to.
        case connect
    }

    /// Why a text is no address: the end of a sentence.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String

        fileprivate init(_ description: String) { self.description = description }
    }

    /// The host without brackets.
    package let host: String
    /// The port; 0: the system chooses.
    package let port: UInt16

    /// Whether only this machine can reach it: `localhost`, `::1`, or 127.0.0.0/8 (RFC 1122 section 3.2.1.3).
    package var isLoopback: Bool {
        self.host == "localhost" || self.host == "::1" || (self.host.hasPrefix("127.") && Self.isIPv4(self.host))
    }

    /// A host that `host(_:)` has read, and a port.
    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `tcp://HOST:PORT`.
    package init(endpoint text: String, for use: Use) throws(Fault) {
        guard let colon = text.range(of: "://") else {
            throw Fault("it must be tcp://HOST:PORT, and has no scheme")
        }
        guard text[..<colon.lowerBound] == "tcp" else {
            throw Fault(
                "it must be tcp://HOST:PORT, and '\(text[..<colon.lowerBound])' is not a scheme that is known here"
            )
        }
        try self.init(text[colon.upperBound...], form: "tcp://HOST:PORT", for: use)
    }

    /// Reads `HOST:PORT`.
    package init(hostAndPort text: String, for use: Use) throws(Fault) {
        guard text.range(of: "://") == nil else { throw Fault("it must be HOST:PORT, without a scheme") }
        try self.init(text[...], form: "HOST:PORT", for: use)
    }

    private init(_ text: Substring, form: String, for use: Use) throws(Fault) {
        let colon: Substring.Index
        if text.first == "[" {
            guard let bracket = text.firstIndex(of: "]") else { throw Fault("it must be \(form), and has no ']'") }
            colon = text.index(after: bracket)
            guard colon < text.endIndex, text[colon] == ":" else { throw Fault("it must be \(form), and has no port") }
        } else {
            guard let last = text.lastIndex(of: ":") else { throw Fault("it must be \(form), and has no port") }
            guard text[..<last].firstIndex(of: ":") == nil else {
                throw Fault("it must be \(form), with an IPv6 address in brackets, for instance [::1]:7400")
            }
            colon = last
        }
        let host = text[..<colon]
        if host == "*", use == .bind {
            self.host = "*"
        } else {
            self.host = try Self.host(host)
        }
        self.port = try Self.port(text[text.index(after: colon)...], for: use)
    }

    private static func port(_ text: Substring, for use: Use) throws(Fault) -> UInt16 {
        if use == .bind, text == "*" { return 0 }
        let digits = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard digits, text.utf8.count <= 5, let port = UInt16(text), port > 0 || use == .bind else {
            let bounds = use == .bind ? "a number from 0 to 65535, or *" : "a number from 1 to 65535"
            throw Fault("its port must be \(bounds), and is '\(text)'")
        }
        return port
    }

    /// Reads a host without a port; an IPv6 address with or without brackets.
    ///
    /// - Returns: the host, without brackets.
    package static func host(_ text: some StringProtocol) throws(Fault) -> String {
        guard !text.isEmpty else { throw Fault("its host is empty") }
        if text.first == "[" || text.contains(":") {
            var inner = Substring(text)
            if text.first == "[" {
                guard text.last == "]" else { throw Fault("its host '\(text)' has no ']'") }
                inner = inner.dropFirst().dropLast()
            }
            guard Self.isIPv6(inner) else { throw Fault("its host '\(text)' is not an IPv6 address") }
            return String(inner)
        }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        // Where the last label is a number it can only be an IPv4 address (WHATWG URL, "ends in a number checker").
        if labels.last?.allSatisfy(\.isASCIIDigit) == true {
            guard Self.isIPv4(text) else { throw Fault("its host '\(text)' is not an IPv4 address") }
            return String(text)
        }
        let isName = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.allSatisfy { $0.isASCIIDigit || $0.isASCIILetter || $0 == "-" || $0 == "_" }
        }
        guard isName, text.utf8.count <= 253 else { throw Fault("its host '\(text)' is neither a name nor an address") }
        return String(text)
    }

    /// Four numbers up to 255 (RFC 3986 section 3.2.2).
    private static func isIPv4(_ text: some StringProtocol) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { (1...3).contains($0.utf8.count) && $0.allSatisfy(\.isASCIIDigit) && UInt8($0) != nil }
    }

    /// Up to eight groups, at most one `::`, perhaps an IPv4 address at the end (RFC 4291 section 2.2), and perhaps a zone.
    private static func isIPv6(_ text: Substring) -> Bool {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 {
            let zone = parts[1]
            guard (1...15).contains(zone.utf8.count),
                zone.allSatisfy({ $0.isASCIIDigit || $0.isASCIILetter || "._-".contains($0) })
            else { return false }
        }
        let halves = Self.halves(of: parts[0])
        guard halves.count <= 2 else { return false }
        var groups = 0
        for (number, half) in halves.enumerated() where !half.isEmpty {
            let pieces = half.split(separator: ":", omittingEmptySubsequences: false)
            for (index, piece) in pieces.enumerated() {
                if number == halves.count - 1, index == pieces.count - 1, Self.isIPv4(piece) {
                    groups += 2
                } else {
                    guard (1...4).contains(piece.utf8.count), piece.allSatisfy(\.isASCIIHex) else { return false }
                    groups += 1
                }
            }
        }
        return halves.count == 2 ? groups <= 7 : groups == 8
    }

    /// The parts before and after each `::`.
    private static func halves(of text: Substring) -> [Substring] {
        var halves: [Substring] = []
        var rest = text
        while let range = rest.range(of: "::") {
            halves.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return halves + [rest]
    }

    /// The host as it stands before a port.
    package var bracketedHost: String { self.host.contains(":") ? "[\(self.host)]" : self.host }

    /// `HOST:PORT`.
    package var hostAndPort: String { "\(self.bracketedHost):\(self.port)" }

    /// `tcp://HOST:PORT`.
    package var endpoint: String { "tcp://\(self.hostAndPort)" }
}

extension Substring {
    /// The first place of a text in this one.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = self.startIndex
        while start < self.endIndex {
            if self[start...].hasPrefix(text) { return start..<self.index(start, offsetBy: text.count) }
            start = self.index(after: start)
        }
        return nil
    }
}

extension String {
    fileprivate func range(of text: String) -> Range<Index>? { self[...].range(of: text) }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) && self.isASCII }
    fileprivate var isASCIILetter: Bool { self.isASCII && self.isLetter }
    fileprivate var isASCIIHex: Bool { self.isASCII && self.isHexDigit }
}
