// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
package import GatewayCore

/// A gateway of the log, as it said of itself last.
package struct KnownGateway: Hashable, Sendable {
    /// Which run of the gateway it is.
    package let instance: UInt64
    /// Whether it is the one that was asked.
    package let isOwn: Bool
    /// Of the program; empty: it did not say.
    package let version: String
    /// Where listeners reach it.
    package let addresses: [String]
    /// How many listen there.
    package let listeners: Int
    /// The newest record of the lane of breaks that it has; `nil`: it did not say.
    package let applied: UInt64?
    package let isDraining: Bool
    /// How far its clock is ahead of the one that was asked; `nil`: not measured, or the same one.
    package let clock: ClockOffset.Measure?
}

extension Gateway {
    /// This gateway, and the others of its log that are alive.
    ///
    /// - Parameter version: of this program.
    /// - Returns: this one first, the others in the order of their runs.
    package func knownGateways(version: String) -> [KnownGateway] {
        let own = KnownGateway(
            instance: self.instance,
            isOwn: true,
            version: version,
            addresses: [self.endpoints.requests],
            listeners: self.metrics.value(.listeners),
            applied: self.board.offset,
            isDraining: self.readiness.isDraining,
            clock: nil
        )
        let (beats, offsets) = self.cluster?.withLock { ($0.table.alive, $0.offsets) } ?? ([], [:])
        return [own]
            + beats.map { beat in
                KnownGateway(
                    instance: beat.gateway,
                    isOwn: false,
                    version: beat.version,
                    addresses: beat.addresses,
                    listeners: beat.listeners,
                    applied: beat.applied[Lane.breaks.description],
                    isDraining: beat.isDraining,
                    clock: offsets[beat.gateway]?.best
                )
            }
    }
}
