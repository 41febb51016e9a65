// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The gateways that the listeners of one process connect to: the one of the settings, and those that gateways named.
///
/// Listeners hold numbers of them: 0 is the one of the settings.
package struct GatewayPlaces: Sendable {
    /// The most gateways that are known; further ones are passed over.
    package static let placesMax = 256

    /// The scheme of the addresses that are taken; `nil`: none are.
    private let scheme: PlayerAddress.Scheme?
    private let first: String
    /// Those that were named.
    package private(set) var named: [PlayerAddress] = []
    private var numbers: [PlayerAddress: UInt8] = [:]

    /// - Parameter first: where requests go, as the settings say.
    package init(first: String = "") {
        self.first = first
        self.scheme = PlayerAddress(first)?.scheme
    }

    /// The numbers of those of several addresses that listeners may go on at: those with the scheme of the first.
    package mutating func numbers(of addresses: [PlayerAddress]) -> [UInt8] {
        addresses.compactMap { address in
            guard address.scheme == self.scheme else { return nil }
            guard address.description != self.first else { return 0 }
            if let number = self.numbers[address] { return number }
            guard self.named.count < Self.placesMax - 1 else { return nil }
            self.named.append(address)
            self.numbers[address] = UInt8(self.named.count)
            return UInt8(self.named.count)
        }
    }

    /// The address with a number; `nil`: that of the settings.
    package func address(_ number: UInt8) -> PlayerAddress? { number == 0 ? nil : self.named[Int(number) - 1] }
}
