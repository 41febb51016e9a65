// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SystemSupport

/// Where to connect to: `tcp://HOST:PORT`, or `tls://HOST:PORT` for TLS, with an IPv4 address or a name that has one.
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// The endpoint as it was given.
    package let description: String
    /// Whether connections are encrypted.
    package let isEncrypted: Bool
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
        let isEncrypted = text.hasPrefix("tls://")
        let scheme = isEncrypted ? "tls://" : "tcp://"
        guard text.hasPrefix(scheme), let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...]), port > 0,
            text.distance(from: text.startIndex, to: colon) > scheme.count
        else { throw .endpoint(text, "it has the form tcp://HOST:PORT") }
        let host = String(text[text.index(text.startIndex, offsetBy: scheme.count)..<colon])
        guard let address = System.ipv4Address(of: host) else {
            throw .endpoint(text, "\(host) has no IPv4 address")
        }
        self.description = text
        self.isEncrypted = isEncrypted || encrypted
        self.host = host
        self.address = address
        self.port = port
    }
}
