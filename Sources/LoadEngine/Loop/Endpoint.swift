// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SystemSupport

/// Where to connect to: `tcp://HOST:PORT`, or `tls://HOST:PORT` for TLS, with an IPv4 address or a name that has one.
///
/// By WebSocket it is `ws://HOST:PORT/PATH`, or `wss://HOST:PORT/PATH` for TLS.
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// The endpoint as it was given.
    package let description: String
    /// Whether connections are encrypted.
    package let isEncrypted: Bool
    /// The path that is asked for by WebSocket; `nil`: connections speak ZMTP.
    let webSocketPath: String?
    /// The address or the name.
    let host: String
    /// The IPv4 address as a number.
    let address: UInt32
    let port: UInt16

    /// Reads the endpoint and looks up its name.
    ///
    /// - Parameters:
    ///   - text: the endpoint.
    ///   - encrypted: whether connections are encrypted also where it begins with `tcp://`.
    /// - Throws: `endpoint` where it cannot be used.
    package init(_ text: String, encrypted: Bool = false) throws(LoadError) {
        let scheme = ["tcp://", "tls://", "ws://", "wss://"].first { text.hasPrefix($0) }
        let rest = text.dropFirst(scheme?.count ?? 0)
        let isOverWebSocket = scheme?.hasPrefix("ws") == true
        let place = isOverWebSocket ? rest.prefix { $0 != "/" } : rest
        guard let scheme, let colon = place.lastIndex(of: ":"), colon > place.startIndex,
            let port = UInt16(place[place.index(after: colon)...]), port > 0
        else { throw .endpoint(text, "it has the form tcp://HOST:PORT") }
        let host = String(place[..<colon])
        let path = rest[place.endIndex...]
        let isEncrypted = scheme == "tls://" || scheme == "wss://"
        guard let address = System.ipv4Address(of: host) else {
            throw .endpoint(text, "\(host) has no IPv4 address")
        }
        self.description = text
        self.isEncrypted = isEncrypted || encrypted
        self.webSocketPath = isOverWebSocket ? (path.isEmpty ? "/" : String(path)) : nil
        self.host = host
        self.address = address
        self.port = port
    }
}
