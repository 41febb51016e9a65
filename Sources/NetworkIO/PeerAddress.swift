// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Glibc

/// Who is at the other end of a connection, as far as limits go: an IPv4 address, or the first 64 bits of an IPv6 address.
///
/// One subscriber of an internet provider gets a whole network of 64 bits (RFC 6177), so that single IPv6 addresses limit
/// nobody.
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

    init(_ address: sockaddr_in6) {
        // Safety: both are plain values of the kernel's; the family says which one it wrote.
        if address.sin6_family == sa_family_t(AF_INET) {
            let number = unsafe withUnsafeBytes(of: address) { unsafe $0.load(fromByteOffset: 4, as: UInt32.self) }
            self.init(ipv4: UInt32(bigEndian: number))
            return
        }
        let words = unsafe withUnsafeBytes(of: address.sin6_addr) { bytes in
            unsafe (
                UInt64(bigEndian: bytes.load(as: UInt64.self)),
                UInt64(bigEndian: bytes.load(fromByteOffset: 8, as: UInt64.self))
            )
        }
        // An IPv4 peer of a socket that takes both (RFC 4291 section 2.5.5.2).
        if words.0 == 0, words.1 >> 32 == 0xFFFF {
            self.init(ipv4: UInt32(truncatingIfNeeded: words.1))
        } else {
            self.init(bits: words.0, isIPv4: false)
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
