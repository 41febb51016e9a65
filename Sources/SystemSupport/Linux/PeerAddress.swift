// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The peer of a connection, as far as limits go: an IPv4 address, or the first 64 bits of an IPv6 address.
///
/// One subscriber of an internet provider gets a whole network of 64 bits (RFC 6177), so that a limit on single IPv6 addresses
/// has no effect.
package struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The first eight bytes of an IPv6 address; an IPv4 address is kept as `::ffff:a.b.c.d` without its zeros.
    private let bits: UInt64
    private let isIPv4: Bool

    /// Where the system does not tell.
    package init() {
        self.init(bits: 0, isIPv4: true)
    }

    /// An IPv4 address as a number.
    package init(ipv4 address: UInt32) {
        self.init(bits: UInt64(address), isIPv4: true)
    }

    /// The peer of an address.
    package init(_ address: IPAddress) {
        if let ipv4 = address.ipv4 {
            self.init(ipv4: ipv4)
        } else {
            self.init(bits: address.high, isIPv4: false)
        }
    }

    private init(bits: UInt64, isIPv4: Bool) {
        self.bits = bits
        self.isIPv4 = isIPv4
    }

    /// Whether the peer is on this machine and came by its loopback interface.
    package var isLoopback: Bool { self.isIPv4 ? self.bits >> 24 == 127 : self.bits == 0 }

    /// `192.0.2.7`, or `2001:db8:0:7::/64`.
    package var description: String {
        if self.isIPv4 {
            return stride(from: 24, through: 0, by: -8).map { "\(self.bits >> $0 & 0xFF)" }.joined(separator: ".")
        }
        return stride(from: 48, through: 0, by: -16).map { String(self.bits >> $0 & 0xFFFF, radix: 16) }
            .joined(separator: ":") + "::/64"
    }
}
