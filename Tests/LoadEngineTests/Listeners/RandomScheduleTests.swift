// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import LoadEngine
import Testing

/// Many listeners and a gateway of values, with wires that lose, repeat and delay what a seed says.
struct Crowd {
    struct Faults {
        /// The share of notices that a wire loses or repeats.
        var loss = 0.0
        var repetition = 0.0
        /// The share of requests that get no answer, are refused, or lose their connection.
        var silence = 0.0
        var refusal = 0.0
        var disconnection = 0.0
        var stalls = 0.0
        var churn = 0.0
    }

    enum Wiring: CaseIterable {
        case two
        case one
        /// One is asked for, and the gateway does not push.
        case fallingBack
    }

    private enum Message {
        case notice([UInt8])
        case reply([UInt8])
    }

    var gateway: ValueGateway
    var world: LoadWorld
    var listeners: [SimulatedListener]
    private(set) var lost = 0
    private(set) var repeated = 0
    private var source: SeededSource
    private var writer = RequestWriter()
    private var inbox: [[Message]]
    private var subscribed: [Bool]
    private var synced: [Bool]
    private var now: Microseconds = 1_000_000
    private var faults: Faults
    private var breakCount = 0

    /// - Parameters:
    ///   - count: how many listeners there are.
    ///   - faults: what goes wrong on the way.
    ///   - wiring: how many connections listeners ask for, and whether the gateway pushes.
    ///   - seed: of every choice.
    /// - Throws: never: the names are good.
    init(count: Int, faults: Faults, wiring: Wiring, seed: UInt64) throws {
        let stream = try StreamID("radio1")
        self.gateway = ValueGateway(stream: stream)
        self.gateway.pushes = wiring == .one
        var behaviour = ListenerBehaviour(mix: try .of(0.5, 0.3, 0.2, seed: seed))
        behaviour.push = wiring != .two
        behaviour.speed = seed.isMultiple(of: 2) ? 20 : nil
        self.world = LoadWorld(behaviour: behaviour, streams: [StreamKnowledge(id: stream)], began: 1_000_000)
        self.listeners = (0..<count).map { SimulatedListener(number: Int32($0), stream: 0, seed: seed) }
        self.source = SeededSource(seed: seed)
        self.inbox = Array(repeating: [], count: count)
        self.subscribed = Array(repeating: false, count: count)
        self.synced = Array(repeating: false, count: count)
        self.faults = faults
    }

    private mutating func happens(_ share: Double) -> Bool {
        share > 0 && Double.random(in: 0..<1, using: &self.source) < share
    }

    /// Does what a listener was told to.
    private mutating func act(_ actions: SimulatedListener.Actions, of index: Int) throws {
        if actions.contains(.disconnect) {
            self.subscribed[index] = false
            self.synced[index] = false
            self.inbox[index] = []
        }
        if !actions.isDisjoint(with: [.connect, .connectOne, .connectNotices]) {
            try self.act(self.listeners[index].connected(now: self.now, in: &self.world), of: index)
        }
        if actions.contains(.subscribe) { self.subscribed[index] = true }
        if actions.contains(.subscribeSync) { self.synced[index] = true }
        if actions.contains(.unsubscribeSync) { self.synced[index] = false }
        if actions.contains(.send) {
            #expect(self.listeners[index].write(into: &self.writer, in: self.world))
            let frame = self.writer.frame
            // Once the gateway has it, it counts, whether an answer arrives or not.
            if self.happens(self.faults.refusal) {
                self.inbox[index].append(.reply(self.gateway.refusal(of: frame, .unavailable, now: self.now)))
            } else {
                let answer = try self.gateway.answer(frame, now: self.now)
                if !self.happens(self.faults.silence) {
                    self.inbox[index].append(.reply(answer))
                    if case .joined(let joined) = try ListenerReply(decoding: answer).body, joined.pushed {
                        self.subscribed[index] = true
                    }
                }
            }
        }
    }

    /// One step of time: everything that is due, in a random order.
    mutating func step(publishes: Bool) throws {
        self.now += Microseconds.random(in: 1...20_000, using: &self.source)
        if publishes, self.happens(0.03) {
            self.breakCount += 1
            let name = "b\(self.breakCount)"
            let ads = try (0..<Int.random(in: 1...4, using: &self.source)).map { try advertisement("\(name)-\($0)") }
            self.broadcast(
                self.gateway.announce(
                    try BreakID(name),
                    ads: ads,
                    window: Microseconds.random(in: 0...500_000, using: &self.source),
                    lead: 2_000_000,
                    now: self.now
                )
            )
        }
        for index in self.listeners.indices where self.synced[index] {
            self.inbox[index].append(.notice(self.gateway.tick))
        }
        if self.happens(0.1) { self.broadcast(self.gateway.headFrame(now: self.now), isHead: true) }
        for index in self.listeners.indices.shuffled(using: &self.source) { try self.turn(of: index) }
    }

    private mutating func turn(of index: Int) throws {
        if self.listeners[index].phase == .idle || self.listeners[index].phase == .gone {
            self.listeners[index].renew()
            try self.act(self.listeners[index].open(intended: self.now, now: self.now, in: &self.world), of: index)
        }
        if self.happens(self.faults.disconnection) {
            try self.act(self.listeners[index].disconnected(now: self.now, in: &self.world), of: index)
        }
        if self.happens(self.faults.stalls) {
            let until = self.now + Microseconds.random(in: 1...3_000_000, using: &self.source)
            _ = self.listeners[index].stall(until: until, now: self.now, in: &self.world)
        }
        if self.happens(self.faults.churn) {
            try self.act(self.listeners[index].leave(now: self.now, in: &self.world), of: index)
        }
        if self.listeners[index].deadline <= self.now {
            try self.act(self.listeners[index].woke(now: self.now, in: &self.world), of: index)
        }
        guard !self.listeners[index].isStalled, self.happens(0.8) else { return }
        let messages = self.inbox[index]
        self.inbox[index] = []
        for (place, message) in messages.enumerated() {
            let actions =
                switch message {
                case .notice(let frame):
                    self.listeners[index].received(notice: frame.span, now: self.now, in: &self.world)
                case .reply(let frame):
                    self.listeners[index].received(reply: frame.span, now: self.now, in: &self.world)
                }
            try self.act(actions, of: index)
            if actions.contains(.disconnect) { break }
            if self.listeners[index].isStalled {
                self.inbox[index].insert(contentsOf: messages[(place + 1)...], at: 0)
                break
            }
        }
    }

    private mutating func broadcast(_ frame: [UInt8], isHead: Bool = false) {
        for index in self.listeners.indices where self.subscribed[index] {
            // Only who follows has to get it; before that it may be recovered by the join.
            if !isHead, self.listeners[index].phase == .following, self.happens(self.faults.loss) {
                self.lost += 1
                continue
            }
            self.inbox[index].append(.notice(frame))
            if !isHead, self.listeners[index].phase == .following, self.happens(self.faults.repetition) {
                self.repeated += 1
                self.inbox[index].append(.notice(frame))
            }
        }
    }

    /// Runs without further faults until all is told and confirmed.
    mutating func settle() throws {
        self.faults = Faults()
        // Far beyond the longest wait for another try, in steps of 10 ms on average.
        for _ in 0..<12_000 {
            if self.listeners.allSatisfy({ $0.isSettled(in: self.world) }), self.inbox.allSatisfy(\.isEmpty) { return }
            self.broadcast(self.gateway.headFrame(now: self.now), isHead: true)
            try self.step(publishes: false)
        }
        let unsettled = self.listeners.filter { !$0.isSettled(in: self.world) }
        Issue.record(
            "the listeners do not settle: \(unsettled.map { ($0.number, $0.phase, $0.hasWork, $0.isStalled) })"
        )
    }
}

@Suite(.suiteLimit)
struct RandomScheduleTests {
    static var seeds: [UInt64] {
        var system = SystemRandomNumberGenerator()
        // Fixed ones, and a new one; a failure names it.
        return [1, 2, 3, 4, 5, 6, system.next()]
    }

    private func run(
        _ faults: Crowd.Faults,
        _ wiring: Crowd.Wiring,
        seed: UInt64,
        steps: Int = 600
    ) throws -> Crowd {
        var crowd = try Crowd(count: 24, faults: faults, wiring: wiring, seed: seed)
        for _ in 0..<steps { try crowd.step(publishes: true) }
        try crowd.settle()
        return crowd
    }

    private func expectBalanced(_ crowd: Crowd, _ wiring: Crowd.Wiring, seed: UInt64) {
        var sum = BreakTally()
        for each in crowd.world.streams[0].breaks { sum.merge(each.tally) }
        #expect(sum.delivered == crowd.gateway.delivered.count, "\(wiring), seed \(seed)")
        #expect(sum.acknowledged == crowd.gateway.outcomes.count, "\(wiring), seed \(seed)")
        #expect(sum.played == crowd.gateway.outcomes.values.count { $0 == .played }, "\(wiring), seed \(seed)")
        #expect(sum.ignored == crowd.gateway.outcomes.values.count { $0 == .ignored }, "\(wiring), seed \(seed)")
        #expect(crowd.world.statistics.counts.notices > 0 && sum.batches > 0, "\(wiring), seed \(seed)")
    }

    @Test(arguments: Self.seeds, Crowd.Wiring.allCases)
    func `with a gateway that keeps its promises there is no finding`(seed: UInt64, wiring: Crowd.Wiring) throws {
        let crowd = try self.run(Crowd.Faults(churn: 0.002), wiring, seed: seed)
        #expect(crowd.world.statistics.findings == Findings(), "\(wiring), seed \(seed)")
        self.expectBalanced(crowd, wiring, seed: seed)
    }

    @Test(arguments: Self.seeds, Crowd.Wiring.allCases)
    func `bad connections and refusals lead to no finding either, and nothing counts twice`(
        seed: UInt64,
        wiring: Crowd.Wiring
    ) throws {
        let faults = Crowd.Faults(
            silence: 0.05,
            refusal: 0.1,
            disconnection: 0.002,
            stalls: 0.005,
            churn: 0.002
        )
        let crowd = try self.run(faults, wiring, seed: seed)
        #expect(crowd.world.statistics.findings == Findings(), "\(wiring), seed \(seed)")
        #expect(crowd.world.statistics.counts.rejoined > 0, "\(wiring), seed \(seed)")
        self.expectBalanced(crowd, wiring, seed: seed)
    }

    @Test(arguments: Self.seeds, Crowd.Wiring.allCases)
    func `every notice that a wire loses is found, and nothing else`(seed: UInt64, wiring: Crowd.Wiring) throws {
        let crowd = try self.run(Crowd.Faults(loss: 0.02), wiring, seed: seed)
        let findings = crowd.world.statistics.findings
        #expect(findings[.noticesLost] == crowd.lost && crowd.lost > 0, "\(wiring), seed \(seed)")
        #expect(findings.entries.keys.allSatisfy { $0 == .noticesLost }, "\(wiring), seed \(seed): \(findings)")
        self.expectBalanced(crowd, wiring, seed: seed)
    }

    @Test(arguments: Self.seeds, Crowd.Wiring.allCases)
    func `every notice that comes twice is found, and nothing else`(seed: UInt64, wiring: Crowd.Wiring) throws {
        let crowd = try self.run(Crowd.Faults(repetition: 0.02), wiring, seed: seed)
        let findings = crowd.world.statistics.findings
        #expect(findings[.noticesRepeated] == crowd.repeated && crowd.repeated > 0, "\(wiring), seed \(seed)")
        #expect(findings.entries.keys.allSatisfy { $0 == .noticesRepeated }, "\(wiring), seed \(seed): \(findings)")
        self.expectBalanced(crowd, wiring, seed: seed)
    }
}
