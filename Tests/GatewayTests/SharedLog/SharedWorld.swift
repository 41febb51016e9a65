// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import TestSupport

@testable import Gateway

/// Several gateways on one log far away, in pure values and virtual time: the same seed comes to the same.
///
/// Each gateway has the parts that a real one has: the lane of breaks, the appends of its run, and the board. Its clients change an ad
/// list again and again, without waiting for answers, and have deliveries recorded.
struct SharedWorld {
    /// A request that changes an ad list: the list is one of its gateway and run, and the number grows.
    struct Tag: Hashable {
        let writer: UInt64
        let number: Int
    }

    struct Gateway {
        let index: Int
        var writer: UInt64
        var board: Board
        var lane = BreakLane(entriesWaitingMax: .max, entryBytesWaitingMax: .max, isShared: true)
        var breaks: OwnAppends<AppendID>
        var outcomes: OwnAppends<[UInt8]>
        /// How far it has read the lane of acknowledgements.
        var readOutcomes: UInt64 = 0
        var groups: UInt64 = 0
        var requests = 0
        var sessions = 0
    }

    static let acknowledgements = Lane.acknowledgements(0)
    static let recordAgainWithin: Duration = .seconds(5)
    private static let tick: Duration = .milliseconds(500)

    private(set) var far: FarModel
    private(set) var gateways: [Gateway] = []
    private var generator: SeededGenerator
    /// What clients were told.
    private(set) var confirmed: Set<Tag> = []
    private(set) var refused: Set<Tag> = []
    private(set) var recorded: Set<SessionID> = []
    /// What gateways found wrong while they ran.
    private(set) var faults: [String] = []
    private var nextTick: Duration = .zero
    /// When clients ask something, with the gateway that they ask.
    private var plan: [(at: Duration, gateway: Int)] = []

    init(seed: UInt64, gateways count: Int, requests: Int) {
        self.far = FarModel(.stormy, seed: seed, identity: LogIdentity(epoch: 7))
        self.generator = SeededGenerator(seed: seed &+ 1)
        for _ in 0..<count { self.addGateway(Board(epoch: 7), readOutcomes: 0) }
        for _ in 0..<requests {
            let at: Duration = .milliseconds(Int.random(in: 0...60_000, using: &self.generator))
            self.plan.append((at, Int.random(in: 0..<count, using: &self.generator)))
        }
        self.plan.sort { $0.at < $1.at }
    }

    private var elapsed: Timestamp { FarModel.begin + self.far.now }

    private mutating func addGateway(_ board: Board, readOutcomes: UInt64) {
        let index = self.far.addGateway()
        let writer = UInt64.random(in: 100 ... .max, using: &self.generator)
        var gateway = Gateway(
            index: index,
            writer: writer,
            board: board,
            breaks: OwnAppends(writer: writer),
            outcomes: OwnAppends(writer: writer)
        )
        gateway.readOutcomes = readOutcomes
        self.gateways.append(gateway)
    }

    // MARK: - Time

    /// Runs until nothing is under way.
    mutating func run() throws {
        while true {
            let action = self.plan.first?.at
            let next = [self.far.nextAt, action].compactMap { $0 }.min()
            if next == nil, self.gateways.allSatisfy({ $0.breaks.openCount == 0 && $0.outcomes.openCount == 0 }) {
                return
            }
            if next.map({ self.nextTick <= $0 }) ?? true {
                self.far.wait(until: self.nextTick)
                self.nextTick += Self.tick
                for place in self.gateways.indices { self.settle(place) }
            } else if let at = self.far.nextAt, at == next {
                for case .shown(let lane, let gateway) in self.far.step() ?? [] { try self.read(lane, gateway) }
            } else if let action {
                self.far.wait(until: action)
                self.ask(self.plan.removeFirst().gateway)
            }
        }
    }

    // MARK: - What clients do

    private mutating func ask(_ place: Int) {
        switch Int.random(in: 0..<40, using: &self.generator) {
        case 0: self.restart(place)
        case 1..<20: self.record(place)
        default: for _ in 0...Int.random(in: 0...2, using: &self.generator) { self.change(place) }
        }
    }

    /// A gateway is killed, and starts again from its snapshot.
    private mutating func restart(_ place: Int) {
        let record = must { () throws(WireError) in
            try BoardRecord(decoding: self.gateways[place].board.record.encoded())
        }
        let writer = UInt64.random(in: 100 ... .max, using: &self.generator)
        var gateway = Gateway(
            index: place,
            writer: writer,
            board: Board(epoch: 7, record),
            breaks: OwnAppends(writer: writer),
            outcomes: OwnAppends(writer: writer)
        )
        gateway.readOutcomes = self.gateways[place].readOutcomes
        self.gateways[place] = gateway
    }

    private mutating func change(_ place: Int) {
        self.gateways[place].requests += 1
        let gateway = self.gateways[place]
        let entry = must { () throws in
            BreakEntry(
                at: self.elapsed,
                broadcaster: "\(gateway.writer)/\(gateway.requests)",
                kind: .putList(
                    BroadcastRequest.PutList(
                        name: try AdListName("list\(place)"),
                        advertisements: [try .madeUp("a", duration: .milliseconds(1_000 + gateway.requests))]
                    )
                )
            )
        }
        _ = self.gateways[place].lane.add(BreakLane.Member(entry: entry, waiting: nil, bytes: 1))
        self.closeGroups(place)
    }

    private mutating func closeGroups(_ place: Int) {
        let writer = self.gateways[place].writer
        while true {
            let next = AppendID(origin: writer, number: self.gateways[place].groups + 1)
            guard let (id, record) = self.gateways[place].lane.close(as: next) else { return }
            self.gateways[place].groups += 1
            let number = self.gateways[place].breaks.hand(over: id, bytes: record.count, at: self.elapsed)
            _ = self.far.append(record, id: AppendID(origin: writer, number: number), to: .breaks, by: place)
        }
    }

    private mutating func record(_ place: Int) {
        self.gateways[place].sessions += 1
        let session = SessionID(high: self.gateways[place].writer, low: UInt64(self.gateways[place].sessions))
        let number = BreakNumber(rawValue: 1_024)
        let delivery = AcknowledgementGroup.Delivery(session: session, breakNumber: number, at: self.elapsed)
        self.append(AcknowledgementGroup(deliveries: [delivery]).encoded(), place)
    }

    private mutating func append(_ record: [UInt8], _ place: Int) {
        let number = self.gateways[place].outcomes.hand(over: record, bytes: record.count, at: self.elapsed)
        let id = AppendID(origin: self.gateways[place].writer, number: number)
        _ = self.far.append(record, id: id, to: Self.acknowledgements, by: place)
    }

    private mutating func settle(_ place: Int) {
        let writer = self.gateways[place].writer
        if self.gateways[place].breaks.needsSettling(at: self.elapsed) {
            let number = self.gateways[place].breaks.settle(at: self.elapsed)
            _ = self.far.append([], id: AppendID(origin: writer, number: number), to: .breaks, by: place)
        }
        if self.gateways[place].outcomes.needsSettling(at: self.elapsed) {
            let number = self.gateways[place].outcomes.settle(at: self.elapsed)
            _ = self.far.append([], id: AppendID(origin: writer, number: number), to: Self.acknowledgements, by: place)
        }
    }

    // MARK: - What a gateway reads

    private mutating func read(_ lane: Lane, _ place: Int) throws {
        if lane == .breaks {
            for record in self.far.records(lane, after: self.gateways[place].board.offset, by: place) {
                try self.readBreaks(record, place)
            }
        } else {
            for record in self.far.records(lane, after: self.gateways[place].readOutcomes, by: place) {
                self.gateways[place].readOutcomes = record.offset
                for (bytes, outcome) in self.gateways[place].outcomes.saw(record) {
                    guard case .durable = outcome else {
                        self.append(bytes, place)
                        continue
                    }
                    let group = try AcknowledgementGroup(decoding: bytes)
                    self.recorded.formUnion(group.deliveries.map(\.session))
                }
            }
        }
    }

    private mutating func readBreaks(_ record: LoggedRecord, _ place: Int) throws {
        for (id, outcome) in self.gateways[place].breaks.saw(record) {
            switch outcome {
            case .durable: self.answer(self.gateways[place].lane.appended(id))
            case .dropped:
                let oldest = self.elapsed - Self.recordAgainWithin
                let members = self.gateways[place].lane.failed(id)
                self.gateways[place].lane.putBack(members.filter { $0.entry.at >= oldest })
                for member in members where member.entry.at < oldest { self.refused.insert(Self.tag(of: member.entry)) }
            }
        }
        if let applied = try self.gateways[place].board.apply(record) {
            self.answer(self.gateways[place].lane.applied(applied.results, of: applied.group.id))
        }
        self.closeGroups(place)
    }

    private mutating func answer(_ settled: [(member: BreakLane.Member, result: EntryResult)]) {
        for (member, result) in settled {
            if case .list = result {
                self.confirmed.insert(Self.tag(of: member.entry))
            } else {
                self.faults.append("\(member.entry.broadcaster) came to \(result)")
            }
        }
    }

    static func tag(of entry: BreakEntry) -> Tag {
        let parts = entry.broadcaster.split(separator: "/")
        return Tag(writer: UInt64(parts[0]) ?? 0, number: Int(parts[1]) ?? 0)
    }
}

/// A value that a test has made so that it is right.
private func must<Value>(_ body: () throws -> Value) -> Value {
    do { return try body() } catch { preconditionFailure("\(error)") }
}
