// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Where one channel goes: `tcp://HOST:PORT`, or `tls://HOST:PORT` where the connection is encrypted.
struct GatewayEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// Why a text is no endpoint.
    struct Invalid: Error, Hashable, CustomStringConvertible {
        let text: String

        var description: String { "\"\(self.text)\" is no address: tcp://HOST:PORT or tls://HOST:PORT is" }
    }

    /// The longest name of a host, in bytes (RFC 1035, section 2.3.4).
    static let hostBytesMax = 255

    /// A name or an address; one of IPv6 without its brackets.
    let host: String
    let port: Int
    let isEncrypted: Bool

    var description: String {
        let host = self.host.contains(":") ? "[\(self.host)]" : self.host
        return "\(self.isEncrypted ? "tls" : "tcp")://\(host):\(self.port)"
    }

    init(_ text: String) throws(Invalid) {
        let rest: Substring
        if text.hasPrefix("tcp://") {
            (self.isEncrypted, rest) = (false, text.dropFirst(6))
        } else if text.hasPrefix("tls://") {
            (self.isEncrypted, rest) = (true, text.dropFirst(6))
        } else {
            throw Invalid(text: Self.shown(text))
        }
        guard let colon = rest.lastIndex(of: ":") else { throw Invalid(text: Self.shown(text)) }
        var host = rest[..<colon]
        let hasBrackets = host.hasPrefix("[") && host.hasSuffix("]")
        if hasBrackets { host = host.dropFirst().dropLast() }
        let digits = rest[rest.index(after: colon)...].utf8
        guard !host.isEmpty, host.utf8.count <= Self.hostBytesMax, host.utf8.contains(UInt8(ascii: ":")) == hasBrackets,
            host.utf8.allSatisfy({ Self.isOfHost($0, inBrackets: hasBrackets) }),
            (1...5).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(rest[rest.index(after: colon)...]), (1...65_535).contains(port)
        else { throw Invalid(text: Self.shown(text)) }
        self.host = String(host)
        self.port = port
    }

    private static func isOfHost(_ byte: UInt8, inBrackets: Bool) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        case UInt8(ascii: ":"), UInt8(ascii: "%"): inBrackets
        default: false
        }
    }

    /// As much of a text as an error shows.
    private static func shown(_ text: String) -> String { String(text.prefix(80)) }
}
