// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Where players reach a gateway, as it tells them: a scheme, a host, perhaps a port and a path.
///
/// ```swift
/// PlayerAddress("tcp://gw-2.ads.example.org:7401")?.scheme  // .tcp
/// ```
///
/// It is checked as far as it is passed on: a client's transport checks the rest.
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

        /// Whether an address must say its port.
        fileprivate var needsPort: Bool { self == .tcp || self == .tls }
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
        let hasPath = host.count < rest.count
        guard let first = host.first, first != UInt8(ascii: ":"),
            !scheme.needsPort || (!hasPath && Self.endsInPort(String(Substring(host))))
        else { return nil }
        self.description = text
        self.scheme = scheme
    }

    private static func endsInPort(_ text: String) -> Bool {
        (try? NetworkAddress(hostAndPort: text, for: .connect)) != nil
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
