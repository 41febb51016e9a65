// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Which other gateways of the log are alive, by their beats.
///
/// A gateway is alive from its first beat until none of its beats has come for `goneAfter`, or its last one says that it leaves. A beat
/// that is older than one that came before it is passed over, also where its gateway has gone since.
///
/// ```swift
/// var table = GatewayTable(own: instance)
/// if table.heard(beat, elapsed: elapsed) == .taken { … }
/// table.dropSilent(elapsed: elapsed)
/// ```
package struct GatewayTable: Sendable {
    /// How often a gateway sends a beat (1 s).
    package static let beatInterval: Duration = .seconds(1)
    /// After so long without a beat a gateway is taken for gone (5 s).
    package static let goneAfter: Duration = .seconds(5)
    /// How long it is remembered which beat of a gateway that has gone was its newest (60 s).
    package static let goneKeptFor: Duration = .seconds(60)
    /// The most other gateways that are taken for alive.
    package static let gatewaysMax = LimitName.gatewaysMax.value

    /// The fate of a beat.
    package enum Taken: Hashable, Sendable {
        case taken
        /// It is this gateway's own, or not newer than one that came before.
        case passedOver
        /// There are as many gateways as may be.
        case limit
    }

    private struct Known {
        var beat: GatewayBeat
        var heard: Timestamp
    }

    /// The run of this gateway.
    package let own: UInt64
    private let goneAfter: Duration
    /// When the newest of its own beats came back; `nil`: none did.
    private var ownHeard: Timestamp?
    /// Since when its own beats come back without a long pause.
    private var hearsSince: Timestamp?
    private var known: [UInt64: Known] = [:]
    private var gone: [UInt64: (number: UInt64, at: Timestamp)] = [:]

    /// - Parameters:
    ///   - own: the run of this gateway.
    ///   - goneAfter: after so long without a beat a gateway is taken for gone.
    package init(own: UInt64, goneAfter: Duration = Self.goneAfter) {
        self.own = own
        self.goneAfter = goneAfter
    }

    /// Takes a beat.
    ///
    /// - Parameters:
    ///   - beat: as it came.
    ///   - elapsed: monotonic time.
    /// - Returns: whether it is news.
    package mutating func heard(_ beat: GatewayBeat, elapsed: Timestamp) -> Taken {
        guard beat.gateway != self.own else {
            if !self.hears(elapsed: elapsed) { self.hearsSince = elapsed }
            self.ownHeard = elapsed
            return .passedOver
        }
        if let before = self.known[beat.gateway] {
            guard beat.number > before.beat.number else { return .passedOver }
        } else {
            if let last = self.gone[beat.gateway], beat.number <= last.number { return .passedOver }
            guard self.known.count < Self.gatewaysMax || beat.isLeaving else { return .limit }
        }
        guard !beat.isLeaving else {
            self.known[beat.gateway] = nil
            self.remember(beat.gateway, .max, elapsed)
            return .taken
        }
        self.gone[beat.gateway] = nil
        self.known[beat.gateway] = Known(beat: beat, heard: elapsed)
        return .taken
    }

    /// Takes those for gone of which no beat has come for too long.
    ///
    /// - Parameter elapsed: monotonic time.
    package mutating func dropSilent(elapsed: Timestamp) {
        for (gateway, each) in self.known where elapsed - each.heard >= self.goneAfter {
            self.known[gateway] = nil
            self.remember(gateway, each.beat.number, elapsed)
        }
        self.gone = self.gone.filter { elapsed - $0.value.at < Self.goneKeptFor }
    }

    private mutating func remember(_ gateway: UInt64, _ number: UInt64, _ elapsed: Timestamp) {
        // As many as may come and go within that time; without the oldest one an old beat of it may be taken for news, until it has gone
        // again.
        if self.gone.count >= 4 * Self.gatewaysMax, let oldest = self.gone.min(by: { $0.value.at < $1.value.at }) {
            self.gone[oldest.key] = nil
        }
        self.gone[gateway] = (number, elapsed)
    }

    /// The newest beat of each of the others, in the order of their runs.
    package var alive: [GatewayBeat] { self.known.values.map(\.beat).sorted { $0.gateway < $1.gateway } }

    package var aliveCount: Int { self.known.count }

    package func isAlive(_ gateway: UInt64) -> Bool { self.known[gateway] != nil }

    /// Whether the bus works: this gateway's own beats come back.
    private func hears(elapsed: Timestamp) -> Bool { self.ownHeard.map { elapsed - $0 < self.goneAfter } ?? false }

    /// Whether it has listened for long enough to have heard every gateway that is alive, on a bus that works.
    ///
    /// - Parameter elapsed: monotonic time.
    /// - Returns: whether a gateway of which nothing came is not there.
    package func isComplete(elapsed: Timestamp) -> Bool {
        self.hears(elapsed: elapsed) && (self.hearsSince.map { elapsed - $0 >= Self.goneAfter } ?? false)
    }
}

/// The other gateways, for those who take turns with them and decide what all must know.
package struct GatewayPeers: Hashable, Sendable {
    /// The runs of those that append records.
    package var appending: Set<UInt64>
    /// The newest versions of the fold's rules that they know; `nil`: it is not certain yet that all are heard.
    package var rules: [UInt32]?

    package init(appending: Set<UInt64>, rules: [UInt32]?) {
        self.appending = appending
        self.rules = rules
    }

    /// None of them is heard yet.
    package static let unknown = GatewayPeers(appending: [], rules: nil)
    /// There is no other gateway.
    package static let none = GatewayPeers(appending: [], rules: [])
}

extension GatewayTable {
    /// The others as those who take turns with them see them.
    ///
    /// - Parameter elapsed: monotonic time.
    /// - Returns: a gateway that drains appends nothing by itself, but folds until it ends.
    package func peers(elapsed: Timestamp) -> GatewayPeers {
        let beats = self.known.values.map(\.beat)
        return GatewayPeers(
            appending: Set(beats.filter { !$0.isDraining }.map(\.gateway)),
            rules: self.isComplete(elapsed: elapsed) ? beats.map(\.rules).sorted() : nil
        )
    }
}
