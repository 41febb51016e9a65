// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Which other gateways of the log a listener is told, and in which order.
///
/// The rule: for each session the gateways rank themselves by a hash of the session and the run of the gateway
/// (``StableHash/weight(of:for:)``), and the listener tries them in this order. So the listeners of one gateway spread evenly over all
/// others, whichever of these are left, without any count that is old when it is used. Gateways that drain, and those that advertise
/// nothing, are not named.
///
/// A notice that asks all listeners of a stream to move is the same for all of them: its addresses are those that rank first for the
/// stream, and each client takes them in an order of its own.
package struct Alternatives: Hashable, Sendable {
    /// A gateway that may be named.
    private struct Candidate: Hashable {
        let gateway: UInt64
        let addresses: [PlayerAddress]
    }

    /// No join looks at more gateways than these: with more, each gateway has other ones.
    package static let candidatesMax = 64

    private let candidates: [Candidate]

    /// There are no others.
    package static let none = Alternatives(own: 0, alive: [])

    /// - Parameters:
    ///   - own: the run of this gateway.
    ///   - alive: the newest beats of the others that are alive.
    package init(own: UInt64, alive: [GatewayBeat]) {
        let named = alive.filter { !$0.isDraining && !$0.isLeaving && !$0.advertised.isEmpty && $0.gateway != own }
        let chosen = Self.ranked(named, for: Array(StableHash.bytes(of: own))) { $0.gateway }.prefix(Self.candidatesMax)
        // In one order, so that the same gateways are the same value.
        self.candidates = chosen.sorted { $0.gateway < $1.gateway }
            .map { Candidate(gateway: $0.gateway, addresses: $0.advertised) }
    }

    /// How many gateways may be named.
    package var count: Int { self.candidates.count }

    /// The addresses that a session is told: those of one gateway behind those of the other, of as many whole gateways as fit.
    package func addresses(for session: SessionID) -> [PlayerAddress] {
        guard !self.candidates.isEmpty else { return [] }
        return self.addresses(rankedFor: [session.high, session.low].flatMap { StableHash.bytes(of: $0) })
    }

    /// Asks the listeners of a stream to move.
    package func move(_ stream: StreamID, within: Duration) -> Move {
        Move(within: within, addresses: self.addresses(rankedFor: Array(stream.description.utf8)))
    }

    private func addresses(rankedFor key: [UInt8]) -> [PlayerAddress] {
        var addresses: [PlayerAddress] = []
        for candidate in Self.ranked(self.candidates, for: key, { $0.gateway }) {
            let new = candidate.addresses.filter { !addresses.contains($0) }
            guard addresses.count + new.count <= WireLimits.alternativesMax else { break }
            addresses += new
        }
        return addresses
    }

    /// The one with the highest hash is first.
    private static func ranked<Each>(_ all: [Each], for key: [UInt8], _ gateway: (Each) -> UInt64) -> [Each] {
        all.map { each -> (weight: UInt64, gateway: UInt64, each: Each) in
            (StableHash.weight(of: gateway(each), for: key), gateway(each), each)
        }
        .sorted { ($0.weight, $0.gateway) > ($1.weight, $1.gateway) }
        .map(\.each)
    }
}
