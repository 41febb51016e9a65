// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Which addresses that a gateway names a client may go on at.
///
/// Only those of the scheme that the app configured: so a client that asked for TLS never goes on without it, and the same trust
/// decides about each gateway's certificate. Where the two addresses of the app's gateway have different schemes, none is taken.
struct AddressLearning: Sendable {
    /// The scheme of the app's gateway; `nil`: nothing is learnt.
    private let scheme: PlayerAddress.Scheme?
    /// The indices of the addresses of the configuration, which need not be learnt.
    private let known: [String: Int]

    init(_ configuration: ListenerConfiguration) {
        let requests = PlayerAddress(configuration.gateway.requests)?.scheme
        let notices = PlayerAddress(configuration.gateway.notices)?.scheme
        self.scheme = requests == notices ? requests : nil
        var known: [String: Int] = [:]
        for (index, gateway) in ([configuration.gateway] + configuration.alternativeGateways).enumerated() {
            for text in [gateway.requests, gateway.notices] where known[text] == nil { known[text] = index }
        }
        self.known = known
    }

    /// The targets that several addresses stand for, without those that may not be used.
    func targets(_ addresses: [PlayerAddress]) -> [GatewayTarget] {
        addresses.filter { $0.scheme == self.scheme }
            .map { address in self.known[address.description].map { .configured($0) } ?? .learnt(address) }
    }
}

extension ListenerConfiguration {
    /// The address of a target.
    func address(of target: GatewayTarget) -> GatewayAddress {
        switch target {
        case .configured(let index): index == 0 ? self.gateway : self.alternativeGateways[index - 1]
        case .learnt(let address): GatewayAddress(url: address.description)
        }
    }
}
