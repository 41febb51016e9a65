// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// Which gateways are alive, by their beats.
@Suite(.suiteLimit)
struct GatewayTableTests {
    private func elapsed(_ seconds: Double) -> Timestamp { Timestamp(microseconds: Int64(seconds * 1e6)) }

    private func beat(_ gateway: UInt64, _ number: UInt64, rules: UInt32 = 1, isDraining: Bool = false) -> GatewayBeat {
        var beat = GatewayBeat(gateway: gateway, writer: gateway, number: number, clock: Sample.at(0))
        beat.rules = rules
        beat.isDraining = isDraining
        return beat
    }

    private func farewell(_ gateway: UInt64, _ number: UInt64) -> GatewayBeat {
        var beat = self.beat(gateway, number)
        beat.isLeaving = true
        return beat
    }

    @Test func `a gateway is alive until its beats stay away`() {
        var table = GatewayTable(own: 1)
        #expect(table.heard(self.beat(2, 1), elapsed: self.elapsed(1)) == .taken)
        table.dropSilent(elapsed: self.elapsed(5.999_999))
        #expect(table.isAlive(2) && table.aliveCount == 1)
        #expect(table.heard(self.beat(2, 2), elapsed: self.elapsed(5.999_999)) == .taken)
        table.dropSilent(elapsed: self.elapsed(10.999_998))
        #expect(table.isAlive(2))
        table.dropSilent(elapsed: self.elapsed(10.999_999))
        #expect(!table.isAlive(2) && table.alive.isEmpty)
    }

    @Test func `its own beats, repeats and older ones are passed over`() {
        var table = GatewayTable(own: 1)
        #expect(table.heard(self.beat(1, 1), elapsed: self.elapsed(0)) == .passedOver)
        #expect(table.heard(self.beat(2, 5), elapsed: self.elapsed(0)) == .taken)
        #expect(table.heard(self.beat(2, 5), elapsed: self.elapsed(4)) == .passedOver)
        #expect(table.heard(self.beat(2, 4), elapsed: self.elapsed(4)) == .passedOver)
        // They do not keep it alive.
        table.dropSilent(elapsed: self.elapsed(5))
        #expect(!table.isAlive(2))
        // And do not bring it back; a newer one does.
        #expect(table.heard(self.beat(2, 5), elapsed: self.elapsed(6)) == .passedOver)
        #expect(table.heard(self.beat(2, 6), elapsed: self.elapsed(6)) == .taken)
    }

    @Test func `one that leaves has gone at once, and no late beat brings it back`() {
        var table = GatewayTable(own: 1)
        _ = table.heard(self.beat(2, 1), elapsed: self.elapsed(0))
        #expect(table.heard(self.farewell(2, 3), elapsed: self.elapsed(1)) == .taken)
        #expect(!table.isAlive(2))
        #expect(table.heard(self.beat(2, 2), elapsed: self.elapsed(2)) == .passedOver)
        // A farewell that came before the first beat.
        #expect(table.heard(self.farewell(3, 9), elapsed: self.elapsed(1)) == .taken)
        #expect(table.heard(self.beat(3, 8), elapsed: self.elapsed(2)) == .passedOver)
    }

    @Test func `as many as the limit are known, and one more is taken for absent`() {
        var table = GatewayTable(own: 1)
        for gateway in 0..<UInt64(GatewayTable.gatewaysMax) {
            #expect(table.heard(self.beat(10 + gateway, 1), elapsed: self.elapsed(0)) == .taken)
        }
        #expect(table.heard(self.beat(5, 1), elapsed: self.elapsed(0)) == .limit)
        #expect(table.heard(self.beat(10, 2), elapsed: self.elapsed(0)) == .taken)
        #expect(table.heard(self.farewell(10, 3), elapsed: self.elapsed(0)) == .taken)
        #expect(table.heard(self.beat(5, 1), elapsed: self.elapsed(0)) == .taken)
        #expect(table.aliveCount == GatewayTable.gatewaysMax)
    }

    @Test func `the versions that all know are certain after long enough on a bus that works`() {
        var table = GatewayTable(own: 1)
        // Nothing comes back of what it says: others may be there.
        #expect(table.peers(elapsed: self.elapsed(1_000)) == .unknown)
        _ = table.heard(self.beat(1, 1), elapsed: self.elapsed(1_000))
        #expect(table.peers(elapsed: self.elapsed(1_004.9)) == .unknown)
        _ = table.heard(self.beat(1, 5), elapsed: self.elapsed(1_004.9))
        #expect(table.peers(elapsed: self.elapsed(1_005)) == .none)
        _ = table.heard(self.beat(2, 1, rules: 3), elapsed: self.elapsed(1_005))
        _ = table.heard(self.beat(3, 1, rules: 2, isDraining: true), elapsed: self.elapsed(1_005))
        // One that drains appends nothing by itself, and folds until it ends.
        #expect(table.peers(elapsed: self.elapsed(1_005)) == GatewayPeers(appending: [2], rules: [2, 3]))
        // The bus brings nothing any more, and then again.
        #expect(table.peers(elapsed: self.elapsed(1_009.9)).rules == nil)
        _ = table.heard(self.beat(1, 20), elapsed: self.elapsed(1_020))
        #expect(table.peers(elapsed: self.elapsed(1_024)).rules == nil)
        _ = table.heard(self.beat(1, 24), elapsed: self.elapsed(1_024))
        #expect(table.peers(elapsed: self.elapsed(1_025)).rules == [2, 3])
    }

    /// Gateways come, go and crash; beats are lost, late, doubled and out of order.
    @Test func `on a bus where everything goes wrong, those who live are known, and those who have gone are not`() {
        for round in 0..<50 {
            var generator = SeededGenerator(for: "gateways \(round)")
            var table = GatewayTable(own: 1)
            /// Until when each of them speaks, and whether it says that it leaves.
            let lives = (2...8 as ClosedRange<UInt64>)
                .map { gateway in
                    (
                        gateway: gateway, from: Double.random(in: 0...20, using: &generator),
                        to: Double.random(in: 20...60, using: &generator), leaves: generator.bool()
                    )
                }
            var plan: [(at: Double, beat: GatewayBeat)] = []
            for life in lives {
                var number: UInt64 = 0
                for at in stride(from: life.from, to: life.to, by: 1) {
                    number += 1
                    // No three in a row are lost, so that each is heard within the time.
                    guard number % 3 == 0 || Int.random(in: 0..<4, using: &generator) > 0 else { continue }
                    for _ in 0...Int.random(in: 0...1, using: &generator) {
                        let way = Double.random(in: 0...1, using: &generator)
                        plan.append((at + way, self.beat(life.gateway, number)))
                    }
                }
                if life.leaves { plan.append((life.to, self.farewell(life.gateway, number + 1))) }
            }
            plan.sort { $0.at < $1.at }
            var next = plan[...]
            for tick in 0...80 {
                while let first = next.first, first.at <= Double(tick) {
                    _ = table.heard(first.beat, elapsed: self.elapsed(first.at))
                    next.removeFirst()
                }
                table.dropSilent(elapsed: self.elapsed(Double(tick)))
                for life in lives {
                    // The first one that is not lost comes within four seconds; the last one two seconds after the end.
                    if life.from + 4 <= Double(tick), Double(tick) <= life.to {
                        #expect(table.isAlive(life.gateway), "round \(round), \(life) at \(tick)")
                    }
                    let gone = life.leaves ? life.to : life.to + 1 + 5
                    if Double(tick) > gone || Double(tick) < life.from {
                        #expect(!table.isAlive(life.gateway), "round \(round), \(life) at \(tick)")
                    }
                }
            }
            #expect(table.alive.isEmpty)
        }
    }
}
