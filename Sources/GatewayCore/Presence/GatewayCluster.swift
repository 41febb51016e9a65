// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// All that a gateway knows of the others of its log: who is alive, how many listen there, how far their clocks are, and whether their
/// boards are the same.
///
/// Beats go in, and its own beats come out; it knows no clock and no bus.
package struct GatewayCluster: Sendable {
    /// The facts that this gateway tells of itself in each beat.
    package struct Facts: Sendable {
        package var writer: UInt64 = 0
        package var clock: Timestamp
        package var version = ""
        package var rules: UInt32 = FoldRules.first
        package var applied: [String: UInt64] = [:]
        package var listeners = 0
        package var isDraining = false
        package var addresses: [String] = []
        /// Where players reach it from outside, as its operator says.
        package var advertised: [PlayerAddress] = []
        package var keys: [GatewayBeat.Key] = []

        package init(clock: Timestamp) {
            self.clock = clock
        }
    }

    private struct Heard {
        let sent: Timestamp
        let heard: Timestamp
    }

    package private(set) var table: GatewayTable
    package private(set) var counts = StreamSums()
    package private(set) var offsets: [UInt64: ClockOffset] = [:]
    package private(set) var boards = BoardComparison()
    private var lateness: LogLateness
    private let lateBounds: LogLateness.Bounds
    /// The record as of which this gateway began from a snapshot of another one that came to another board; `nil`: it did not.
    private var wrongBeginning: UInt64?
    /// The newest beats of the others, for their echoes.
    private var heard: [UInt64: Heard] = [:]
    /// The echoes begin behind this gateway.
    private var echoedThrough: UInt64 = 0
    private var portions = StreamPortions()
    private var number: UInt64 = 0

    /// - Parameters:
    ///   - own: the run of this gateway.
    ///   - identity: of the log; `nil`: its offsets do not jump.
    ///   - goneAfter: after so long without a beat a gateway is taken for gone.
    ///   - lateBounds: how much later than the others a gateway may be.
    package init(
        own: UInt64,
        of identity: LogIdentity? = nil,
        goneAfter: Duration = GatewayTable.goneAfter,
        lateBounds: LogLateness.Bounds = LogLateness.Bounds()
    ) {
        self.table = GatewayTable(own: own, goneAfter: goneAfter)
        self.lateness = LogLateness(of: identity)
        self.lateBounds = lateBounds
    }

    // MARK: - What others say

    /// Takes a beat.
    ///
    /// - Parameters:
    ///   - beat: as it came.
    ///   - clock: of this gateway.
    ///   - elapsed: monotonic time.
    /// - Returns: whether it is news, and the limits that it reached.
    package mutating func heard(
        _ beat: GatewayBeat,
        clock: Timestamp,
        elapsed: Timestamp
    ) -> (taken: GatewayTable.Taken, limits: [LimitName]) {
        let taken = self.table.heard(beat, elapsed: elapsed)
        guard taken == .taken else { return (taken, taken == .limit ? [.gatewaysMax] : []) }
        guard !beat.isLeaving else {
            self.forget(beat.gateway)
            return (taken, [])
        }
        self.heard[beat.gateway] = Heard(sent: beat.clock, heard: clock)
        for echo in beat.echoes where echo.gateway == self.table.own {
            self.offsets[beat.gateway, default: ClockOffset()]
                .add(sent: echo.sent, heardThere: echo.heard, sentBack: beat.clock, heard: clock)
        }
        self.boards.heard(beat)
        let hasRoom = beat.counts.map { self.counts.take($0, of: beat.gateway) } ?? true
        return (taken, hasRoom ? [] : [.remoteCountsMax])
    }

    /// Forgets those that have gone.
    ///
    /// - Parameter elapsed: monotonic time.
    package mutating func dropSilent(elapsed: Timestamp) {
        self.table.dropSilent(elapsed: elapsed)
        for gateway in self.heard.keys where !self.table.isAlive(gateway) { self.forget(gateway) }
    }

    private mutating func forget(_ gateway: UInt64) {
        self.heard[gateway] = nil
        self.offsets[gateway] = nil
        self.counts.drop(gateway)
        self.boards.drop(gateway)
    }

    /// The digest of this gateway's board as of a record.
    package mutating func made(_ board: BoardComparison.Kept) { self.boards.made(board) }

    // MARK: - What this gateway says

    /// The next beat.
    ///
    /// - Parameters:
    ///   - facts: of this gateway, now.
    ///   - listeners: how many listen to each stream here.
    /// - Returns: the beat.
    package mutating func beat(_ facts: Facts, listeners: [StreamID: Int]) -> GatewayBeat {
        self.number += 1
        var beat = GatewayBeat(
            gateway: self.table.own,
            writer: facts.writer,
            number: self.number,
            clock: facts.clock
        )
        beat.version = String(facts.version.prefix(GatewayBeat.textBytesMax / 4))
        beat.rules = facts.rules
        beat.applied = facts.applied
        beat.listeners = facts.listeners
        beat.isDraining = facts.isDraining
        beat.addresses = facts.addresses.filter { $0.utf8.count <= GatewayBeat.textBytesMax }
        beat.addresses = Array(beat.addresses.prefix(GatewayBeat.addressesMax))
        beat.advertised = Array(facts.advertised.prefix(WireLimits.advertisedAddressesMax))
        beat.keys = Array(facts.keys.prefix(GatewayBeat.keysMax))
        beat.boards = Array(self.boards.marks.suffix(GatewayBeat.boardsMax))
        beat.echoes = self.echoes()
        beat.counts = self.portions.next(
            streams: { Array(listeners.keys) },
            value: { listeners[$0].map { UInt64(clamping: $0) } }
        )
        beat.digests = self.boards.portion()
        return beat
    }

    /// The last beat.
    package mutating func farewell(_ facts: Facts) -> GatewayBeat {
        self.number += 1
        var beat = GatewayBeat(
            gateway: self.table.own,
            writer: facts.writer,
            number: self.number,
            clock: facts.clock
        )
        beat.isLeaving = true
        return beat
    }

    private mutating func echoes() -> [GatewayBeat.Echo] {
        let order = self.heard.keys.sorted()
        let begin = order.firstIndex { $0 > self.echoedThrough } ?? 0
        let turn = (order[begin...] + order[..<begin]).prefix(GatewayBeat.echoesMax)
        self.echoedThrough = turn.last ?? 0
        return turn.compactMap { gateway in
            self.heard[gateway].map { GatewayBeat.Echo(gateway: gateway, sent: $0.sent, heard: $0.heard) }
        }
    }

    /// The board that this gateway took from a snapshot of the log is not the one of the gateway that left it.
    package mutating func beganWrong(at offset: UInt64) { self.wrongBeginning = offset }

    // MARK: - What follows

    /// How far a gateway is behind those that have applied most.
    package struct Lateness: Sendable {
        /// Of this gateway.
        package let own: LogLateness.Late
        /// The sentence of the alarm; `nil`: no gateway is too late.
        package let alarm: String?
        /// The limits that some gateway passes.
        package let limits: [LimitName]
    }

    /// Compares how far all gateways have applied the lane of breaks.
    ///
    /// - Parameters:
    ///   - applied: up to which record this gateway has applied it.
    ///   - elapsed: monotonic time.
    /// - Returns: how late this gateway is, and the alarm about the one that is latest.
    package mutating func lateness(applied: UInt64, elapsed: Timestamp) -> Lateness {
        let lane = Lane.breaks.description
        let others = self.table.alive.compactMap { beat in beat.applied[lane].map { (beat: beat, applied: $0) } }
        self.lateness.note([applied] + others.map(\.applied), elapsed: elapsed)
        let own = self.lateness.late(applied, elapsed: elapsed)
        let all =
            [(name: String?.none, late: own)]
            + others.map { (name: $0.beat.name, late: self.lateness.late($0.applied, elapsed: elapsed)) }
        let late = all.filter { !$0.late.limits(passed: self.lateBounds).isEmpty }
        return Lateness(
            own: own,
            alarm: late.max { $0.late.time < $1.late.time }.map { GatewayFindings.late($0.name, $0.late) },
            limits: Array(Set(late.flatMap { $0.late.limits(passed: self.lateBounds) }))
        )
    }

    /// The alarms that follow, with their sentences; `nil`: it is not raised.
    ///
    /// - Parameter keys: of this gateway.
    /// - Returns: each of the three alarms about several gateways.
    package func alarms(keys: [GatewayBeat.Key]) -> [Alarm: String?] {
        let alive = self.table.alive
        return [
            .signingKeysDiffer: GatewayFindings.signingKeys(keys, alive),
            .gatewayClocksDiffer: GatewayFindings.clocks(self.offsets, alive),
            .boardsDiffer: self.wrongBeginning.map { GatewayFindings.wrongBeginning(at: $0) }
                ?? GatewayFindings.boards(self.boards.differences, alive),
        ]
    }

    /// The other gateways that listeners are told.
    package var alternatives: Alternatives { Alternatives(own: self.table.own, alive: self.table.alive) }

    /// How far the clock that differs most is away for certain, in microseconds.
    package var clockDifference: Int64 { self.offsets.values.compactMap(\.best).map(\.certain).max() ?? 0 }
}
