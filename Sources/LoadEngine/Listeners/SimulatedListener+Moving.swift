// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

// Going on at another gateway, as the client library does.
extension SimulatedListener {
    /// The gateway asks its listeners to move: this one leaves after a random part of the time.
    mutating func askedToMove(_ move: Move, now: Microseconds, in world: inout LoadWorld) {
        guard self.moveAt == .max else { return }
        let named = world.places.numbers(of: move.addresses)
        if !named.isEmpty { self.named = named.shuffled(using: &self.source) }
        guard self.named.contains(where: { $0 != self.place }) else { return }
        self.moveAt = now + self.source.microseconds(upTo: Microseconds(move.within.inMicroseconds))
    }

    /// An answer to a join named other gateways.
    mutating func learn(_ addresses: [PlayerAddress], in world: inout LoadWorld) {
        let named = world.places.numbers(of: addresses)
        if !named.isEmpty { self.named = named }
    }

    /// The connection is given up: decides where the next one goes.
    ///
    /// - Parameter leaves: whether this gateway is of no use for now.
    mutating func choosePlace(leaves: Bool) {
        if self.moveAt != .max {
            self.place = self.named.first { $0 != self.place } ?? self.place
        } else if leaves {
            let order = [0] + self.named.filter { $0 != 0 }
            let next = order.firstIndex(of: self.place).map { ($0 + 1) % order.count } ?? 0
            self.place = order[next]
        }
    }
}
