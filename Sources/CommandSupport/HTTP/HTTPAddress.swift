// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Where a gateway is asked over HTTP, as people write it: `HOST:PORT`, `http://HOST:PORT` or `https://HOST:PORT`.
package struct HTTPAddress: Hashable, Sendable {
    /// How it is asked.
    package enum Scheme: String, CaseIterable, Sendable {
        case http
        /// By TLS.
        case https
    }

    /// The given scheme; `nil`: none, so that it has to be found.
    package let scheme: Scheme?
    package let address: NetworkAddress

    package init(_ scheme: Scheme?, _ address: NetworkAddress) {
        self.scheme = scheme
        self.address = address
    }

    /// Parses an address that a user gave.
    ///
    /// - Throws: why it is no address.
    package init(_ text: String) throws(NetworkAddress.Fault) {
        for scheme in Scheme.allCases {
            let prefix = scheme.rawValue + "://"
            guard text.hasPrefix(prefix) else { continue }
            let rest = String(text.dropFirst(prefix.count))
            self.init(scheme, try NetworkAddress(hostAndPort: rest, for: .connect))
            return
        }
        self.init(nil, try NetworkAddress(hostAndPort: text, for: .connect))
    }

    /// The address at which a program on the same machine reaches it: a wildcard address includes loopback.
    package var fromHere: HTTPAddress {
        let own: String
        switch self.address.host {
        case "0.0.0.0", "*": own = "127.0.0.1"
        case "::": own = "::1"
        default: return self
        }
        return HTTPAddress(self.scheme, NetworkAddress(host: own, port: self.address.port))
    }
}
