// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

/// The last values of one event of one source about a break.
package struct SignalClaim: Hashable, Sendable {
    package var name: SignalName
    /// Where the source stood among those of the cue policy when it was first heard of: lower goes first.
    package var rank: UInt32
    package var start: Timestamp
    /// Whether the start is a place in the programme, which may lie in the past.
    package var isProgrammeTime: Bool
    /// How long the break is to last; `nil`: that is not said.
    package var duration: Duration?
    /// Where an IN ends it; `nil`: none did.
    package var end: Timestamp?
    /// Whether it was taken back.
    package var isCancelled: Bool

    package init(
        name: SignalName,
        rank: UInt32,
        start: Timestamp,
        isProgrammeTime: Bool = false,
        duration: Duration? = nil,
        end: Timestamp? = nil,
        isCancelled: Bool = false
    ) {
        self.name = name
        self.rank = rank
        self.start = start
        self.isProgrammeTime = isProgrammeTime
        self.duration = duration
        self.end = end
        self.isCancelled = isCancelled
    }
}

/// The signals about a break.
package struct BreakSignals: Hashable, Sendable {
    /// The most events whose signals are about one break.
    package static let claimsPerBreakMax = 8

    /// Whether a signal opened it; `false`: a broadcaster published it.
    package var opened: Bool
    /// How long it lasts where no signal says it; `nil`: until the safety limit.
    package var defaultDuration: Duration?
    /// A publication whose start lies this close to the break is the same break.
    package var tolerance: Duration
    /// In the order of their names.
    package private(set) var claims: [SignalClaim]

    /// The tolerance of records that do not say it.
    package static let toleranceDefault: Duration = .seconds(2)

    package init(
        opened: Bool,
        defaultDuration: Duration?,
        tolerance: Duration = Self.toleranceDefault,
        claims: [SignalClaim] = []
    ) {
        self.opened = opened
        self.defaultDuration = defaultDuration
        self.tolerance = tolerance
        self.claims = claims.sorted { $0.name < $1.name }
    }

    /// By precedence: of two claims the one with the lower rank goes first, and of equal ones the one whose name comes first.
    package var byPrecedence: [SignalClaim] { self.claims.sorted { ($0.rank, $0.name) < ($1.rank, $1.name) } }

    package subscript(name: SignalName) -> SignalClaim? { self.claims.first { $0.name == name } }

    /// Keeps a claim as it is now.
    package mutating func put(_ claim: SignalClaim) {
        let index = self.claims.firstIndex { claim.name <= $0.name } ?? self.claims.count
        if index < self.claims.count, self.claims[index].name == claim.name {
            self.claims[index] = claim
        } else {
            self.claims.insert(claim, at: index)
        }
    }
}

// MARK: - Wire

extension SignalClaim {
    init(wire: Cuecast_V1_SignalClaim) throws(WireError) {
        self.init(
            name: SignalName(source: try SignalSource(wire.source), event: try SignalEventID(wire.eventID)),
            rank: wire.rank,
            start: Timestamp(microseconds: wire.startUs),
            isProgrammeTime: wire.programmeTime,
            duration: wire.hasDurationMs ? .milliseconds(wire.durationMs) : nil,
            end: wire.hasEndUs ? Timestamp(microseconds: wire.endUs) : nil,
            isCancelled: wire.cancelled
        )
    }

    var wire: Cuecast_V1_SignalClaim {
        .with {
            $0.source = self.name.source.description
            $0.eventID = self.name.event.description
            $0.rank = self.rank
            $0.startUs = self.start.microseconds
            $0.programmeTime = self.isProgrammeTime
            if let duration = self.duration { $0.durationMs = duration.inMilliseconds }
            if let end = self.end { $0.endUs = end.microseconds }
            $0.cancelled = self.isCancelled
        }
    }
}

extension BreakSignals {
    init(wire: Cuecast_V1_BreakSignals) throws(WireError) {
        try requireAtMost(Self.claimsPerBreakMax, wire.claims.count, limit: "claimsPerBreakMax")
        self.init(
            opened: wire.opened,
            defaultDuration: wire.hasDefaultDurationMs ? .milliseconds(wire.defaultDurationMs) : nil,
            tolerance: wire.hasToleranceMs ? .milliseconds(wire.toleranceMs) : Self.toleranceDefault,
            claims: try wire.claims.map { (claim) throws(WireError) in try SignalClaim(wire: claim) }
        )
        guard Set(self.claims.map(\.name)).count == self.claims.count else {
            throw .invalid(field: "claims", rule: "one event stands there twice")
        }
    }

    var wire: Cuecast_V1_BreakSignals {
        .with {
            $0.opened = self.opened
            if let duration = self.defaultDuration { $0.defaultDurationMs = duration.inMilliseconds }
            if self.tolerance != Self.toleranceDefault { $0.toleranceMs = self.tolerance.inMilliseconds }
            $0.claims = self.claims.map(\.wire)
        }
    }
}
