// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Where players reach a gateway, as it tells them: a scheme, a host, perhaps a port and a path.
///
/// ```swift
/// PlayerAddress("tcp://gw-2.ads.example.org:7401")?.scheme  // .tcp
/// ```
///
/// Scheme, host and port are checked; of the path only that it can be passed on, and a client's transport checks the rest.
package struct PlayerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The transport of an address, and whether it is encrypted.
    ///
    /// A client goes on at addresses of the scheme that it was configured with, and at no others.
    package enum Scheme: String, CaseIterable, Sendable {
        /// ZMTP.
        case tcp
        /// ZMTP by TLS.
        case tls
        /// ZMTP by WebSocket.
        case ws
        /// The same by TLS.
        case wss
        /// Server-sent events.
        case http
        /// The same by TLS.
        case https

        /// The port of an address that says none (RFC 6455 section 3, RFC 9110 section 4.2); `nil`: it must say one.
        fileprivate var usualPort: Int? {
            switch self {
            case .tcp, .tls: nil
            case .ws, .http: 80
            case .wss, .https: 443
            }
        }

        /// Whether a path may follow.
        fileprivate var mayHavePath: Bool { self.usualPort != nil }
    }

    /// The form of an address, for messages.
    package static let form =
        "tcp://HOST:PORT, tls://HOST:PORT, ws://HOST/PATH, wss://HOST/PATH, http://HOST or https://HOST"

    package let description: String
    package let scheme: Scheme

    /// Reads an address; `nil` where it is none, or has a scheme of a later version.
    ///
    /// - Parameter text: printable ASCII without a space, a comma, a quote, a fragment, or the name of a user; at most
    ///   `addressBytesMax` bytes.
    package init?(_ text: String) {
        guard text.utf8.count <= WireLimits.addressBytesMax,
            let scheme = Scheme.allCases.first(where: { text.hasPrefix("\($0.rawValue)://") }),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !#",@"'\<>#"#.utf8.contains($0) }),
            !text.utf8.contains(UInt8(ascii: "#"))
        else { return nil }
        let rest = text.utf8.dropFirst(scheme.rawValue.utf8.count + 3)
        let host = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard host.count == rest.count || scheme.mayHavePath,
            Self.isAddress(String(Substring(host)), usualPort: scheme.usualPort)
        else { return nil }
        self.description = text
        self.scheme = scheme
    }

    /// Whether a text is a host and a port, or a host alone where there is a usual port.
    private static func isAddress(_ text: String, usualPort: Int?) -> Bool {
        // The colons of an IPv6 address are in brackets.
        let saysPort = text.utf8.reversed().prefix { $0 != UInt8(ascii: "]") }.contains(UInt8(ascii: ":"))
        let whole = usualPort.map { saysPort ? text : "\(text):\($0)" } ?? text
        return (try? NetworkAddress(hostAndPort: whole, for: .connect)) != nil
    }

    /// Those of several texts that are addresses, without repeats.
    ///
    /// - Parameters:
    ///   - texts: as a message has them; what cannot be read is of a later version, and is passed over.
    ///   - most: so many at most; further ones are passed over.
    /// - Returns: the addresses, in the same order.
    package static func readable(_ texts: [String], atMost most: Int) -> [PlayerAddress] {
        var addresses: [PlayerAddress] = []
        for text in texts {
            guard addresses.count < most else { break }
            if let address = PlayerAddress(text), !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }
}
