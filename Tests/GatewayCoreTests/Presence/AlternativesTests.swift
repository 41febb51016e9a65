// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// Which other gateways listeners are told, and in which order.
@Suite(.suiteLimit)
struct AlternativesTests {
    private func beat(_ gateway: UInt64, addresses: Int = 1) throws -> GatewayBeat {
        var beat = GatewayBeat(gateway: gateway, writer: gateway, number: 1, clock: Timestamp(microseconds: 1))
        beat.advertised = try (0..<addresses)
            .map { try #require(PlayerAddress("tcp://gw-\(gateway):\(7_401 + $0)")) }
        return beat
    }

    private func beats(_ gateways: ClosedRange<UInt64>, addresses: Int = 1) throws -> [GatewayBeat] {
        try gateways.map { try self.beat($0, addresses: addresses) }
    }

    private func firsts(_ alternatives: Alternatives, of count: Int = 6_000) -> [PlayerAddress?: Int] {
        var generator = SeededGenerator(for: "sessions")
        var firsts: [PlayerAddress?: Int] = [:]
        for _ in 0..<count {
            let session = SessionID(high: generator.next(), low: generator.next())
            firsts[alternatives.addresses(for: session).first, default: 0] += 1
        }
        return firsts
    }

    @Test func `the listeners of one gateway spread evenly over the others`() throws {
        let alternatives = Alternatives(own: 1, alive: try self.beats(2...7))
        let firsts = self.firsts(alternatives)
        #expect(firsts.count == 6)
        // A thousand each, by chance: five standard deviations are 145.
        #expect(firsts.values.allSatisfy { (850...1_150).contains($0) }, "\(firsts)")
    }

    @Test func `where a gateway goes, only its listeners are told another first one, and they spread too`() throws {
        let before = Alternatives(own: 1, alive: try self.beats(2...7))
        let after = Alternatives(own: 1, alive: try self.beats(2...6))
        let gone = try self.beat(7).advertised[0]
        var generator = SeededGenerator(for: "sessions")
        var moved: [PlayerAddress?: Int] = [:]
        for _ in 0..<6_000 {
            let session = SessionID(high: generator.next(), low: generator.next())
            let (first, now) = (before.addresses(for: session).first, after.addresses(for: session).first)
            if first == gone { moved[now, default: 0] += 1 } else { #expect(first == now) }
        }
        #expect(moved.count == 5 && moved.values.allSatisfy { $0 > 100 }, "\(moved)")
    }

    @Test func `gateways that drain or leave, that advertise nothing, and this one are not named`() throws {
        var beats = try self.beats(1...6)
        beats[1].isDraining = true
        beats[2].isLeaving = true
        beats[3].advertised = []
        let alternatives = Alternatives(own: 1, alive: beats)
        #expect(alternatives.count == 2)
        let named = alternatives.addresses(for: .random())
        #expect(Set(named.map(\.description)) == ["tcp://gw-5:7401", "tcp://gw-6:7401"])
        #expect(Alternatives(own: 1, alive: Array(beats[..<4])) == .none)
        #expect(Alternatives.none.addresses(for: .random()).isEmpty)
    }

    @Test func `as many whole gateways are named as fit into an answer`() throws {
        let four = Alternatives(own: 1, alive: try self.beats(2...5, addresses: 4)).addresses(for: .random())
        #expect(four.count == WireLimits.alternativesMax)
        let five = Alternatives(own: 1, alive: try self.beats(2...6, addresses: 3)).addresses(for: .random())
        #expect(five.count == 15)
        let six = Alternatives(own: 1, alive: try self.beats(2...7, addresses: 3)).addresses(for: .random())
        #expect(six.count == 15, "the sixth one would be told in part")
        for place in stride(from: 0, to: 15, by: 3) {
            #expect(
                Set(six[place..<place + 3].map { $0.description.dropLast(5) }).count == 1,
                "those of a gateway are together"
            )
        }
    }

    @Test func `an address that two gateways advertise is named once`() throws {
        var beats = try self.beats(2...4)
        beats[1].advertised = beats[0].advertised
        #expect(Alternatives(own: 1, alive: beats).addresses(for: .random()).count == 2)
    }

    @Test func `with more gateways than are looked at, each gateway has others of them`() throws {
        let all = try self.beats(100...400)
        let one = Alternatives(own: 1, alive: Array(all.prefix(Alternatives.candidatesMax)))
        let more = Alternatives(own: 1, alive: Array(all.prefix(Alternatives.candidatesMax + 1)))
        #expect(one.count == Alternatives.candidatesMax && more.count == Alternatives.candidatesMax)
        var seen: Set<PlayerAddress?> = []
        for own in UInt64(1)...40 { seen.formUnion(self.firsts(Alternatives(own: own, alive: all), of: 200).keys) }
        #expect(seen.count > 280, "\(seen.count) of 301 are some gateway's")
    }

    @Test func `the same gateways are the same value, in whatever order they are heard`() throws {
        let beats = try self.beats(2...9)
        #expect(Alternatives(own: 1, alive: beats) == Alternatives(own: 1, alive: beats.reversed()))
        #expect(Alternatives(own: 1, alive: beats) != Alternatives(own: 1, alive: Array(beats.dropLast())))
    }

    @Test func `a request to move names others, of another order for other streams`() throws {
        let alternatives = Alternatives(own: 1, alive: try self.beats(2...9))
        let moves = try (0..<50).map { alternatives.move(try StreamID("radio\($0)"), within: .seconds(5)) }
        #expect(moves.allSatisfy { $0.within == .seconds(5) && $0.addresses.count == 8 })
        #expect(Set(moves.map(\.addresses[0])).count > 4)
    }

    @Test func `a beat carries what is advertised, and the others are told it`() throws {
        let mine = try self.beat(9).advertised
        var sender = GatewayCluster(own: 9)
        var facts = GatewayCluster.Facts(clock: Timestamp(microseconds: 5))
        facts.advertised = mine
        var receiver = GatewayCluster(own: 1)
        let now = Timestamp(microseconds: 0)
        let beat = try GatewayBeat(decoding: sender.beat(facts, listeners: [:]).encoded())
        _ = receiver.heard(beat, clock: now, elapsed: now)
        #expect(receiver.alternatives.addresses(for: .random()) == mine)
        facts.isDraining = true
        _ = receiver.heard(sender.beat(facts, listeners: [:]), clock: now, elapsed: now)
        #expect(receiver.alternatives == .none)
    }
}

/// The requests of listeners at a gateway that names others, and at one that asks them to move.
@Suite(.suiteLimit)
struct MovingListenerTests {
    @Test func `a join is told the others, and one at a gateway that moves its listeners is refused`() throws {
        var counter = Counter()
        var beat = GatewayBeat(gateway: 2, writer: 2, number: 1, clock: Timestamp(microseconds: 1))
        beat.advertised = [try #require(PlayerAddress("tcp://gw-2:7401"))]
        counter.handler.alternatives = Alternatives(own: 1, alive: [beat])
        _ = counter.desk.ask(.publish(Sample.publish()), at: 0)
        counter.desk.tick(at: 12)
        let join = ListenerRequest.Kind.join(.init(stream: Sample.stream, last: nil, instance: 0))
        guard case .reply(let first) = try counter.ask(join, at: 13), case .joined(let joined) = first.body else {
            Issue.record("it is not answered")
            return
        }
        #expect(joined.alternatives == beat.advertised)

        counter.handler.movesListeners = true
        guard case .reply(let second) = try counter.ask(join, at: 14), case .refused(let refusal) = second.body else {
            Issue.record("it is not refused")
            return
        }
        #expect(refusal.status == .draining)
        for kind in [ListenerRequest.Kind.getBatch(.init(key: Sample.key("b1"))), .getTime, .leave(Sample.stream)] {
            guard case .reply(let reply) = try counter.ask(kind, at: 15) else {
                Issue.record("\(kind) is not answered")
                continue
            }
            if case .refused(let refusal) = reply.body { Issue.record("\(kind): \(refusal)") }
        }
    }
}
