// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// Several gateways know what is due; one appends it.
@Suite(.suiteLimit)
struct TimerRankTests {
    private func ranks(_ gateways: Set<UInt64>, of number: UInt64) -> [UInt64: Int] {
        var ranks: [UInt64: Int] = [:]
        for gateway in gateways {
            ranks[gateway] = TimerRanks(own: gateway, others: gateways).rank(of: BreakNumber(rawValue: number))
        }
        return ranks
    }

    @Test func `a gateway that is alone waits for no one`() {
        let number = BreakNumber(rawValue: 4_096)
        #expect(TimerRanks.alone.delay(of: number) == .zero)
        #expect(TimerRanks(own: 7, others: [7]).delay(of: number) == .zero)
    }

    @Test func `every gateway comes to the same order, and each has a place of its own`() {
        var generator = SeededGenerator(for: "ranks of timers")
        for _ in 0..<100 {
            let gateways = Set(generator.list(1...9) { UInt64.random(in: 1 ... .max, using: &$0) })
            let number = UInt64.random(in: 0 ... .max, using: &generator)
            let before = self.ranks(gateways, of: number)
            #expect(before.values.sorted() == Array(0..<gateways.count))
            // One that goes leaves the order of the others as it was.
            guard let gone = gateways.randomElement(using: &generator), let place = before[gone] else { continue }
            let after = self.ranks(gateways.subtracting([gone]), of: number)
            for (gateway, rank) in after {
                #expect(before[gateway].map { $0 > place ? $0 - 1 : $0 } == rank)
            }
        }
    }

    @Test func `each gateway is first for its share of the breaks`() {
        let gateways: Set<UInt64> = [11, 22, 33]
        var firsts: [UInt64: Int] = [:]
        for offset in 1...3_000 as ClosedRange<UInt64> {
            let first = self.ranks(gateways, of: offset * 1_024).first { $0.value == 0 }
            if let first { firsts[first.key, default: 0] += 1 }
        }
        #expect(firsts.count == 3 && firsts.values.allSatisfy { (900...1_100).contains($0) })
    }

    @Test func `the one of rank k appends k times the delay later, unless the record is there`() throws {
        let gateways: Set<UInt64> = [11, 22, 33]
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        let number = try #require(desk["b1"]).number
        let timers = BreakTimers(policy: desk.planner.policy)
        var queues: [Int: TimerQueue] = [:]
        for gateway in gateways {
            let ranks = TimerRanks(own: gateway, others: gateways)
            queues[ranks.rank(of: number)] = TimerQueue(desk.board, ranks: ranks)
        }
        // The announcement is due at 12.
        func due(_ rank: Int, at seconds: Double) -> Int {
            queues[rank]?.due(on: desk.board, at: Sample.at(seconds), timers: timers) { _ in 0 }.count ?? -1
        }
        for rank in 0...2 {
            let instant = 12 + 0.25 * Double(rank)
            #expect(queues[rank]?.next == Sample.at(instant))
            if rank > 0 { #expect(due(rank, at: instant - 0.000_001) == 0) }
        }
        // The first one is slow: the second appends, and the others have no reason to.
        #expect(due(1, at: 12.25) == 1)
        desk.tick(at: 12.25)
        let each = try #require(desk["b1"])
        for rank in 0...2 { queues[rank]?.note(each) }
        #expect((0...2).map { due($0, at: 20) } == [0, 0, 0])
    }
}
