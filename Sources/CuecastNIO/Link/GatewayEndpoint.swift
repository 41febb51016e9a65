// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Where one channel goes, and how.
///
/// - `tcp://HOST:PORT`: ZMTP; `tls://HOST:PORT`: the same where the connection is encrypted.
/// - `ws://HOST/PATH`: ZeroMQ over WebSocket; `wss://HOST/PATH`: the same where the connection is encrypted. `:PORT` may follow
///   the host, else it is 80 or 443; without a path it is `/`.
struct GatewayEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// Why a text is no endpoint.
    struct Invalid: Error, Hashable, CustomStringConvertible {
        let text: String

        var description: String {
            "\"\(self.text)\" is no address: tcp://HOST:PORT, tls://HOST:PORT, ws://HOST/PATH or wss://HOST/PATH is"
        }
    }

    private enum Scheme: String, CaseIterable {
        case tcp, tls, ws, wss

        var isEncrypted: Bool { self == .tls || self == .wss }

        /// Without a port in the address; `nil`: there must be one.
        var usualPort: Int? {
            switch self {
            case .tcp, .tls: nil
            case .ws: 80
            case .wss: 443
            }
        }
    }

    /// The longest name of a host, in bytes (RFC 1035, section 2.3.4).
    static let hostBytesMax = 255
    /// The longest path with its query, in bytes.
    static let pathBytesMax = 1_024

    /// A name or an address; one of IPv6 without its brackets.
    let host: String
    let port: Int
    private let scheme: Scheme
    /// Path and query, of a WebSocket.
    private let path: String

    var isEncrypted: Bool { self.scheme.isEncrypted }

    /// The host and the path of a WebSocket; `nil`: ZMTP begins at once.
    var webSocket: WebSocketAddress? {
        guard let usual = self.scheme.usualPort else { return nil }
        let port = self.port == usual ? "" : ":\(self.port)"
        return WebSocketAddress(host: self.hostInAddress + port, path: self.path)
    }

    var description: String {
        let port = self.port == self.scheme.usualPort ? "" : ":\(self.port)"
        return "\(self.scheme)://\(self.hostInAddress)\(port)\(self.path)"
    }

    private var hostInAddress: String { self.host.contains(":") ? "[\(self.host)]" : self.host }

    init(_ text: String) throws(Invalid) {
        guard let scheme = Scheme.allCases.first(where: { text.hasPrefix("\($0)://") }) else {
            throw Invalid(text: Self.shown(text))
        }
        var rest = text.dropFirst("\(scheme)://".count)
        var path = ""
        if scheme.usualPort != nil {
            let slash = rest.firstIndex(of: "/") ?? rest.endIndex
            path = slash == rest.endIndex ? "/" : String(rest[slash...])
            rest = rest[..<slash]
            guard path.utf8.count <= Self.pathBytesMax, path.utf8.allSatisfy({ Self.isOfPath($0) }) else {
                throw Invalid(text: Self.shown(text))
            }
        }
        guard let place = Self.place(rest, usualPort: scheme.usualPort) else { throw Invalid(text: Self.shown(text)) }
        (self.host, self.port, self.scheme, self.path) = (place.host, place.port, scheme, path)
    }

    /// The host and the port of `HOST:PORT`, or of `HOST` where there is a usual port.
    private static func place(_ text: Substring, usualPort: Int?) -> (host: String, port: Int)? {
        var (host, port) = (text, usualPort)
        // In an address of IPv6 without a port the last colon is within the brackets.
        if let colon = text.lastIndex(of: ":"), usualPort == nil || !text.hasSuffix("]") {
            host = text[..<colon]
            let digits = text[text.index(after: colon)...]
            guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            port = Int(digits)
        }
        let hasBrackets = host.hasPrefix("[") && host.hasSuffix("]")
        if hasBrackets { host = host.dropFirst().dropLast() }
        guard let port, (1...65_535).contains(port), !host.isEmpty, host.utf8.count <= Self.hostBytesMax,
            host.utf8.contains(UInt8(ascii: ":")) == hasBrackets,
            host.utf8.allSatisfy({ Self.isOfHost($0, inBrackets: hasBrackets) })
        else { return nil }
        return (String(host), port)
    }

    private static func isOfHost(_ byte: UInt8, inBrackets: Bool) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        case UInt8(ascii: ":"), UInt8(ascii: "%"): inBrackets
        default: false
        }
    }

    /// Printable ASCII without a space and without a fragment, which no server is sent.
    private static func isOfPath(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "#")
    }

    /// As much of a text as an error shows.
    private static func shown(_ text: String) -> String { String(text.prefix(80)) }
}
