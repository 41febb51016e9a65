// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The other end of a TCP connection.
package struct ConnectionPeer: Hashable, Sendable, CustomStringConvertible {
    package let address: IPAddress
    package let port: UInt16

    package init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// `192.0.2.7:50123`, or `[2001:db8:0:0:0:0:0:7]:50123`.
    package var description: String {
        self.address.ipv4 == nil ? "[\(self.address)]:\(self.port)" : "\(self.address):\(self.port)"
    }
}
