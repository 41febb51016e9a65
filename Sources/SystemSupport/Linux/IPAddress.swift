// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// An address of IPv6, or one of IPv4 as `::ffff:a.b.c.d` (RFC 4291 section 2.5.5.2).
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// An address of IPv4 as a number.
    package init(ipv4 address: UInt32) {
        self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(address))
    }

    /// The number of an address of IPv4; `nil`: it is of IPv6.
    package var ipv4: UInt32? {
        self.high == 0 && self.low >> 32 == 0xFFFF ? UInt32(truncatingIfNeeded: self.low) : nil
    }

    /// An address as people write it, without brackets; `nil`: it is none.
    package init?(_ text: some StringProtocol) {
        guard !text.utf8.contains(0), let address = System.address(String(text)) else { return nil }
        self = address
    }

    /// `192.0.2.7`, or all eight groups of an address of IPv6.
    package var description: String {
        if let ipv4 {
            return stride(from: 24, through: 0, by: -8).map { "\(ipv4 >> $0 & 0xFF)" }.joined(separator: ".")
        }
        return [self.high, self.low]
            .flatMap { word in
                stride(from: 48, through: 0, by: -16).map { String(word >> UInt64($0) & 0xFFFF, radix: 16) }
            }
            .joined(separator: ":")
    }
}

/// Networks of addresses, such as `10.0.0.0/8` and `2001:db8::1`.
package struct AddressNetworks: Hashable, Sendable {
    private struct Network: Hashable, Sendable {
        let address: IPAddress
        let high: UInt64
        let low: UInt64

        init(_ address: IPAddress, bits: Int) {
            self.high = bits == 0 ? 0 : .max << UInt64(64 - min(bits, 64))
            self.low = bits <= 64 ? 0 : .max << UInt64(128 - bits)
            self.address = address
        }

        /// Whether the address has no bits beside those of the network.
        var isWhole: Bool { self.address.high & ~self.high == 0 && self.address.low & ~self.low == 0 }

        func contains(_ other: IPAddress) -> Bool {
            other.high & self.high == self.address.high && other.low & self.low == self.address.low
        }
    }

    /// The most networks of a list.
    package static let networksMax = 64

    private let networks: [Network]

    /// Reads a list of networks, with commas between them.
    ///
    /// - Returns: `nil` where one of them is none, or there are none or too many.
    package init?(_ text: String) {
        var networks: [Network] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let words = part.split(separator: " ")
            let numbers = words.first?.split(separator: "/", omittingEmptySubsequences: false) ?? []
            guard words.count == 1, let name = numbers.first, numbers.count <= 2, let address = IPAddress(name) else {
                return nil
            }
            let longest = name.contains(":") ? 128 : 32
            var bits = longest
            if numbers.count == 2 {
                guard let given = Int(numbers[1]), (0...longest).contains(given), numbers[1].first != "+" else {
                    return nil
                }
                bits = given
            }
            let network = Network(address, bits: 128 - longest + bits)
            guard network.isWhole else { return nil }
            networks.append(network)
        }
        guard !networks.isEmpty, networks.count <= Self.networksMax else { return nil }
        self.networks = networks
    }

    /// Whether an address is of one of them.
    package func contains(_ address: IPAddress) -> Bool { self.networks.contains { $0.contains(address) } }
}
