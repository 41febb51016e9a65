// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The origin of a web page, in one spelling (RFC 6454, sections 4 and 6.1).
///
/// Scheme and host are in lower case, and the default port of a scheme is left out, so that equal origins are equal values.
package struct WebOrigin: Hashable, Sendable {
    /// The longest origin that is read, in bytes: a host has 255 at most (RFC 1035, section 2.3.4).
    package static let bytesMax = 512

    /// The scheme, such as `https`; empty for the opaque origin `null`.
    package let scheme: String
    /// The host; empty where the scheme has none, such as `file`.
    package let host: String
    /// The port; `nil` is the scheme's default.
    package let port: UInt16?

    /// The origin of pages that have none of their own, such as sandboxed frames and local files.
    package static let null = WebOrigin(scheme: "", host: "", port: nil)

    private init(scheme: String, host: String, port: UInt16?) {
        self.scheme = scheme
        self.host = host
        self.port = port == Self.defaultPorts[scheme] ? nil : port
    }

    /// The ports that browsers leave out (Fetch standard and RFC 6455, section 3).
    private static let defaultPorts: [String: UInt16] = ["http": 80, "https": 443, "ws": 80, "wss": 443]

    /// Reads the value of a header `Origin`.
    ///
    /// - Throws: `Fault` with the reason why no browser sends this.
    package init(_ text: some StringProtocol) throws(Fault) {
        guard text.utf8.count <= Self.bytesMax else { throw Fault("it is longer than \(Self.bytesMax) bytes") }
        guard text.lowercased() != "null" else {
            self = .null
            return
        }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Fault("it must be ASCII without spaces; a host in other letters is written as xn--…")
        }
        let lowered = text.lowercased()
        guard let colon = lowered.firstIndex(of: ":"), lowered[colon...].hasPrefix("://"),
            Self.isScheme(lowered[..<colon])
        else { throw Fault("it must begin with a scheme, such as https://") }
        let scheme = String(lowered[..<colon])
        let rest = lowered[colon...].dropFirst(3)
        guard !rest.contains(where: { "/?#".contains($0) }) else {
            throw Fault("an origin ends after its host and port; remove the path")
        }
        let (host, port) = try Self.hostAndPort(rest)
        guard !host.isEmpty || scheme == "file" else { throw Fault("it has no host") }
        self.init(scheme: scheme, host: host, port: port)
    }

    /// The origin of what is asked by a scheme at a host of a request; `nil`: the host cannot be read.
    package init?(scheme: String, authority: String) {
        guard let (host, port) = try? Self.hostAndPort(authority.lowercased()[...]), !host.isEmpty else { return nil }
        self.init(scheme: scheme, host: host, port: port)
    }

    /// Whether a page of an origin is one that the host of its request has served.
    ///
    /// A gateway serves pages over HTTP only: an app's page, such as `capacitor://localhost`, comes from no host of this name.
    package static func isOrigin(_ origin: String, of authority: String?) -> Bool {
        guard let authority, let page = try? WebOrigin(origin), page.scheme == "http" || page.scheme == "https" else {
            return false
        }
        return page == WebOrigin(scheme: page.scheme, authority: authority)
    }

    /// Why a text is no origin, as the end of a sentence.
    package struct Fault: Error, Hashable, Sendable {
        package let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return false }
        return text.utf8.allSatisfy("abcdefghijklmnopqrstuvwxyz0123456789+-.".utf8.contains)
    }

    private static func hostAndPort(_ text: Substring) throws(Fault) -> (host: String, port: UInt16?) {
        var (host, port): (Substring, Substring?) = (text, nil)
        // An address of IPv6 stands in brackets, and has colons of its own.
        let end = text.hasPrefix("[") ? text.firstIndex(of: "]").map(text.index(after:)) : text.firstIndex(of: ":")
        if let end {
            host = text[..<end]
            let rest = text[end...]
            if rest.hasPrefix(":") {
                port = rest.dropFirst()
            } else if !rest.isEmpty {
                throw Fault("its host is wrong")
            }
        } else if text.hasPrefix("[") {
            throw Fault("its host is wrong")
        }
        let isAddress = host.hasPrefix("[")
        let allowed = isAddress ? "0123456789abcdef:.[]" : "abcdefghijklmnopqrstuvwxyz0123456789-._*"
        guard host.utf8.allSatisfy(allowed.utf8.contains), isAddress || !host.contains("..") else {
            throw Fault("its host is wrong")
        }
        guard let port else { return (String(host), nil) }
        guard let number = UInt16(port), number > 0, port.utf8.allSatisfy("0123456789".utf8.contains) else {
            throw Fault("its port must be a number from 1 to 65535")
        }
        return (String(host), number)
    }
}

/// A rule of `http.listenerOrigins` or `listeners.webSocketOrigins`: the pages that may listen.
package enum OriginPattern: Hashable, Sendable {
    /// Every page: `*`.
    case every
    /// The pages of one origin, such as `capacitor://localhost`, or `null`.
    case one(WebOrigin)
    /// The pages of hosts with one more label, such as `https://*.radio.example`.
    case subdomains(of: WebOrigin)

    /// Reads a rule.
    ///
    /// - Throws: the reason why it could never match a page, as the end of a sentence.
    package init(_ text: some StringProtocol) throws(WebOrigin.Fault) {
        guard text != "*" else {
            self = .every
            return
        }
        let origin = try WebOrigin(text)
        guard origin.host.contains("*") else {
            self = .one(origin)
            return
        }
        guard origin.host.hasPrefix("*."), !origin.host.dropFirst(2).contains("*"), origin.host.utf8.count > 2,
            let parent = WebOrigin(
                scheme: origin.scheme,
                authority: origin.host.dropFirst(2) + (origin.port.map { ":\($0)" } ?? "")
            )
        else { throw WebOrigin.Fault("a * stands for the first label of a host alone, as in https://*.radio.example") }
        self = .subdomains(of: parent)
    }

    /// Whether pages of an origin match.
    package func matches(_ origin: WebOrigin) -> Bool {
        switch self {
        case .every: true
        case .one(let one): origin == one
        case .subdomains(let parent):
            origin.scheme == parent.scheme && origin.port == parent.port
                && origin.host.firstIndex(of: ".")
                    .map {
                        $0 != origin.host.startIndex && origin.host[origin.host.index(after: $0)...] == parent.host
                    } ?? false
        }
    }
}
