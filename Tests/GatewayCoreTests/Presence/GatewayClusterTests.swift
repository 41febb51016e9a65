// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// Gateways that speak with each other on a bus where messages are lost, late, doubled and out of order, in virtual time.
@Suite(.suiteLimit)
struct GatewayClusterTests {
    private struct Gateway {
        var cluster: GatewayCluster
        /// How far its clock is ahead.
        let ahead: Int64
        var listeners: [StreamID: Int]
        let keys: [GatewayBeat.Key]

        func clock(at seconds: Double) -> Timestamp { Sample.at(seconds).advanced(microseconds: self.ahead) }
    }

    private struct Message {
        let at: Double
        let to: Int
        let bytes: [UInt8]
    }

    private func elapsed(_ seconds: Double) -> Timestamp { Timestamp(microseconds: Int64(seconds * 1e6)) }

    private func key(_ id: UInt32, signs: Bool = true) -> GatewayBeat.Key {
        GatewayBeat.Key(id: KeyID(rawValue: id), signs: signs, isRevoked: false)
    }

    private func sentence(_ alarm: Alarm, _ alarms: [Alarm: String?]) -> String? { alarms[alarm] ?? nil }

    /// Lets gateways speak for a while.
    ///
    /// In the last `safe` seconds nothing is lost: a gateway that five beats in a row do not reach counts the other one as gone,
    /// and needs some beats to know all its listeners again.
    private func run(
        _ gateways: inout [Gateway],
        seconds: Int,
        safe: Int = 0,
        _ generator: inout SeededGenerator
    ) throws {
        var waiting: [Message] = []
        for step in 0..<seconds * 20 {
            let now = Double(step) / 20
            for message in waiting.filter({ $0.at <= now }).sorted(by: { $0.at < $1.at }) {
                let beat = try GatewayBeat(decoding: message.bytes)
                let (clock, elapsed) = (gateways[message.to].clock(at: message.at), self.elapsed(message.at))
                _ = gateways[message.to].cluster.heard(beat, clock: clock, elapsed: elapsed)
            }
            waiting.removeAll { $0.at <= now }
            for place in gateways.indices where step % 20 == place {
                gateways[place].cluster.dropSilent(elapsed: self.elapsed(now))
                var facts = GatewayCluster.Facts(clock: gateways[place].clock(at: now))
                facts.keys = gateways[place].keys
                facts.addresses = ["tcp://192.0.2.\(place):7401"]
                let listeners = gateways[place].listeners
                let bytes = gateways[place].cluster.beat(facts, listeners: listeners).encoded()
                #expect(bytes.count <= GatewayBeat.beatBytesMax)
                let isSafe = step >= (seconds - safe) * 20
                for to in gateways.indices where Int.random(in: 0..<4, using: &generator) > 0 || isSafe {
                    for _ in 0...Int.random(in: 0...1, using: &generator) {
                        let way = Double.random(in: 0.001...0.1, using: &generator)
                        waiting.append(Message(at: now + way, to: to, bytes: bytes))
                    }
                }
            }
        }
    }

    private func gateway(_ own: UInt64, ahead: Int64 = 0, streams: Int = 0, keys: [GatewayBeat.Key]) -> Gateway {
        let listeners = (0..<streams).map { (Sample.stream("s\(10_000 + $0)"), Int(own)) }
        return Gateway(
            cluster: GatewayCluster(own: own),
            ahead: ahead,
            listeners: Dictionary(uniqueKeysWithValues: listeners),
            keys: keys
        )
    }

    @Test func `gateways that agree come to the same sums, and raise no alarm`() throws {
        var generator = SeededGenerator(for: "clusters")
        let keys = [self.key(7), self.key(8, signs: false)]
        var gateways = [3, 5, 9].map { self.gateway($0, streams: 1_500, keys: keys) }
        try self.run(&gateways, seconds: 60, safe: 25, &generator)
        for (place, own) in [3, 5, 9].enumerated() {
            let sums = gateways[place].cluster.counts.sums
            #expect(sums.count == 1_500 && sums.values.allSatisfy { $0 == 17 - own })
            #expect(gateways[place].cluster.alarms(keys: keys).allSatisfy { $0.value == nil })
            #expect(gateways[place].cluster.table.peers(elapsed: self.elapsed(60)).appending.count == 2)
        }
    }

    @Test func `a clock that is off, and a key that differs, are told with the gateway's name`() throws {
        var generator = SeededGenerator(for: "clusters that differ")
        let keys = [self.key(7)]
        var gateways = [
            self.gateway(3, keys: keys), self.gateway(5, ahead: -200_000, keys: keys),
            self.gateway(9, keys: [self.key(8)]),
        ]
        try self.run(&gateways, seconds: 30, &generator)
        let alarms = gateways[0].cluster.alarms(keys: keys)
        let clocks = try #require(self.sentence(.gatewayClocksDiffer, alarms))
        #expect(clocks.contains("0000000000000005 at tcp://192.0.2.1:7401") && clocks.contains("behind"))
        let signing = try #require(self.sentence(.signingKeysDiffer, alarms))
        #expect(signing.contains("0000000000000009 at tcp://192.0.2.2:7401") && signing.contains("00000007, 00000008"))
        #expect(gateways[0].cluster.clockDifference > 50_000)
        // The one with the wrong clock sees all others wrong.
        let ahead = self.sentence(.gatewayClocksDiffer, gateways[1].cluster.alarms(keys: keys))
        #expect(ahead?.contains("ahead of") ?? false)
    }

    @Test func `a gateway that leaves takes its listeners and its alarms with it`() throws {
        var generator = SeededGenerator(for: "a gateway that leaves")
        let keys = [self.key(7)]
        var gateways = [self.gateway(3, keys: keys), self.gateway(5, streams: 10, keys: [self.key(8)])]
        try self.run(&gateways, seconds: 20, &generator)
        #expect(gateways[0].cluster.counts.sums.count == 10)
        #expect(self.sentence(.signingKeysDiffer, gateways[0].cluster.alarms(keys: keys)) != nil)
        let farewell = gateways[1].cluster.farewell(GatewayCluster.Facts(clock: Sample.at(20)))
        _ = gateways[0].cluster.heard(farewell, clock: Sample.at(20), elapsed: self.elapsed(20))
        #expect(gateways[0].cluster.counts.sums.isEmpty && gateways[0].cluster.table.alive.isEmpty)
        #expect(gateways[0].cluster.alarms(keys: keys).allSatisfy { $0.value == nil })
    }

    @Test func `with many gateways the echoes take turns`() {
        var cluster = GatewayCluster(own: 1)
        let others = Array(2...101 as ClosedRange<UInt64>)
        for other in others {
            let beat = GatewayBeat(gateway: other, writer: other, number: 1, clock: Sample.at(0))
            _ = cluster.heard(beat, clock: Sample.at(0), elapsed: self.elapsed(0))
        }
        var echoed: Set<UInt64> = []
        for _ in 0..<4 {
            let beat = cluster.beat(GatewayCluster.Facts(clock: Sample.at(1)), listeners: [:])
            #expect(beat.echoes.count == GatewayBeat.echoesMax)
            echoed.formUnion(beat.echoes.map(\.gateway))
        }
        #expect(echoed == Set(others))
    }
}
