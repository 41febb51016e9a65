// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

/// Asks listeners to go on at another gateway of the same event log: theirs is about to stop.
///
/// It stands in a head, so that clients of earlier versions take it for a head.
package struct Move: Hashable, Sendable {
    /// Each listener leaves after a random part of this time.
    package let within: Duration
    /// Where other gateways are reached, in no order; empty: as the last `Joined` said.
    package let addresses: [PlayerAddress]

    /// - Parameters:
    ///   - within: cut to `moveMillisecondsMax`.
    ///   - addresses: those that fit into a notice stay: `moveAddressesBytesMax` bytes.
    package init(within: Duration, addresses: [PlayerAddress]) {
        self.within = min(max(within, .zero), .milliseconds(WireLimits.moveMillisecondsMax))
        var room = WireLimits.moveAddressesBytesMax
        self.addresses = Array(
            addresses.prefix { address in
                room -= address.description.utf8.count + 3
                return room >= 0
            }
        )
    }

    init(wire: Cuecast_V1_Move) {
        self.init(
            within: .milliseconds(wire.withinMs),
            addresses: PlayerAddress.readable(wire.addresses, atMost: WireLimits.moveAddressesBytesMax / 12)
        )
    }

    var wire: Cuecast_V1_Move {
        .with {
            $0.withinMs = self.within.inMilliseconds
            $0.addresses = self.addresses.map(\.description)
        }
    }
}
