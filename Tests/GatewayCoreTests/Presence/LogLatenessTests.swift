// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing

@testable import GatewayCore

/// How late gateways of one log are, in virtual time.
@Suite(.suiteLimit)
struct LogLatenessTests {
    private func at(_ seconds: Double) -> Timestamp { Timestamp(microseconds: Int64(seconds * 1e6)) }

    @Test func `a gateway is late from the moment on at which another one had the record`() {
        var lateness = LogLateness()
        for (second, head) in [(0.0, 10), (1, 11), (2, 11), (3, 14)] as [(Double, UInt64)] {
            lateness.note([10, head, head], elapsed: self.at(second))
        }
        #expect(lateness.late(14, elapsed: self.at(9)) == .init())
        #expect(lateness.late(20, elapsed: self.at(9)) == .init())
        #expect(lateness.late(11, elapsed: self.at(9)) == .init(records: 3, time: .seconds(6)))
        #expect(lateness.late(10, elapsed: self.at(9)) == .init(records: 4, time: .seconds(8)))
        // It has caught up in part, then with everything.
        lateness.note([11, 14, 14], elapsed: self.at(10))
        #expect(lateness.late(11, elapsed: self.at(10)) == .init(records: 3, time: .seconds(7)))
        lateness.note([14, 14], elapsed: self.at(11))
        #expect(lateness.late(14, elapsed: self.at(99)) == .init())
        // The others are gone: there is no one to be behind of but the records that were seen.
        lateness.note([13], elapsed: self.at(100))
        #expect(lateness.late(13, elapsed: self.at(100)).records == 1)
    }

    @Test func `a gateway that comes with fewer records than all had is late from then on`() {
        var lateness = LogLateness()
        lateness.note([10, 10], elapsed: self.at(0))
        #expect(lateness.late(10, elapsed: self.at(0)) == .init())
        lateness.note([10, 5], elapsed: self.at(1))
        #expect(lateness.late(5, elapsed: self.at(20)) == .init(records: 5, time: .seconds(19)))
        lateness.note([10, 10], elapsed: self.at(21))
        #expect(lateness.late(10, elapsed: self.at(30)) == .init())
    }

    @Test func `offsets that a restore left out are no records that a gateway lacks`() {
        let identity = LogIdentity().continued(epoch: 7, base: 1_000_000, last: [.breaks: 20])
        var lateness = LogLateness(of: identity)
        lateness.note([18, 1_000_003], elapsed: self.at(1))
        #expect(lateness.late(18, elapsed: self.at(3)) == .init(records: 5, time: .seconds(2)))
        #expect(lateness.late(20, elapsed: self.at(3)).records == 3)
        #expect(lateness.late(1_000_001, elapsed: self.at(3)).records == 2)
    }

    @Test func `both limits hold, and one past each is too late`() {
        let bounds = LogLateness.Bounds()
        #expect(bounds == .init(after: .seconds(10), recordsMax: 10_000))
        typealias Late = LogLateness.Late
        #expect(Late(records: 10_000, time: .seconds(10)).limits(passed: bounds) == [])
        #expect(Late(records: 10_001, time: .zero).limits(passed: bounds) == [.gatewayLateRecordsMax])
        #expect(
            Late(records: 1, time: .seconds(10) + .microseconds(1)).limits(passed: bounds) == [.gatewayLateAfter]
        )
        #expect(Late(records: .max, time: .seconds(11)).limits(passed: bounds).count == 2)
    }

    @Test func `what is kept is bounded, and a gateway that stands still stays late`() {
        var lateness = LogLateness()
        let seconds = 100_000
        var most = 0
        for second in 0...seconds {
            lateness.note([1, UInt64(second) + 2], elapsed: self.at(Double(second)))
            most = max(most, lateness.markCount)
            // One past the limit some go.
            if second == LogLateness.marksMax { #expect(lateness.markCount < LogLateness.marksMax) }
        }
        #expect(most == LogLateness.marksMax)
        let late = lateness.late(1, elapsed: self.at(Double(seconds)))
        #expect(late.records == UInt64(seconds) + 1)
        #expect(late.time == .seconds(seconds))
        // In the middle it is known less exactly, and never too long.
        let middle = lateness.late(50_001, elapsed: self.at(Double(seconds)))
        #expect(middle.time <= .seconds(50_000) && middle.time >= .seconds(48_000))
    }

    @Test func `the alarm names the gateway that is latest`() {
        var cluster = GatewayCluster(own: 1)
        func hear(_ gateway: UInt64, _ number: UInt64, applied: UInt64?, at seconds: Double) {
            var beat = GatewayBeat(gateway: gateway, writer: gateway, number: number, clock: Sample.at(seconds))
            beat.applied = applied.map { [Lane.breaks.description: $0] } ?? [:]
            beat.addresses = ["tcp://192.0.2.\(gateway):7401"]
            _ = cluster.heard(beat, clock: Sample.at(seconds), elapsed: self.at(seconds))
        }
        func look(_ applied: UInt64, at seconds: Double) -> GatewayCluster.Lateness {
            cluster.lateness(applied: applied, elapsed: self.at(seconds))
        }
        // One that says nothing of the lane is not late.
        hear(7, 1, applied: nil, at: 0)
        hear(5, 1, applied: 100, at: 0)
        let (same, one) = (look(100, at: 0), look(101, at: 1))
        #expect(same.alarm == nil && one.alarm == nil)
        hear(5, 2, applied: 100, at: 11)
        let most = look(101, at: 11)
        #expect(most.alarm == nil)
        hear(5, 3, applied: 100, at: 12)
        let other = look(101, at: 12)
        #expect(other.alarm?.hasPrefix("The gateway 0000000000000005 at tcp://192.0.2.5:7401 lacks 1 record ") == true)
        #expect(other.own == .init() && other.limits == [.gatewayLateAfter])
        hear(5, 4, applied: 101, at: 13)
        let over = look(101, at: 13)
        #expect(over.alarm == nil)
        // This one, by the number of records.
        hear(5, 5, applied: 10_102, at: 14)
        let own = look(101, at: 14)
        #expect(own.alarm?.hasPrefix("This gateway lacks 10001 records") == true)
        #expect(own.own.records == 10_001 && own.limits == [.gatewayLateRecordsMax])
    }
}
