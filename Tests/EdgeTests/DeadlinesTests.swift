// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing

@testable import Edge

/// With what a connection may be late, at each limit and just before, and how soon it is found.
@Suite(.suiteLimit)
struct DeadlinesTests {
    private static let second: UInt64 = 1_000_000_000

    private var settings: EdgeSettings {
        var settings = EdgeSettings(instance: 1, epoch: 1)
        settings.syncInterval = .milliseconds(100)
        settings.handshakeTimeout = .seconds(3)
        settings.unusedTimeout = .seconds(30)
        settings.stalledTimeout = .seconds(20)
        settings.stalledTimeoutsMax = 2
        return settings
    }

    private func slot(_ phase: EdgeSlot.Phase, isUsed: Bool = false, waitsSince: UInt64? = nil) -> EdgeSlot {
        var slot = EdgeSlot()
        slot.phase = phase
        slot.isUsed = isUsed
        slot.since = Self.second
        if let waitsSince { slot.writeProgress.begin(10, at: waitsSince) }
        return slot
    }

    private func expect(_ slot: EdgeSlot, isLate reason: EdgeClosing, after seconds: UInt64) {
        let deadlines = Deadlines(self.settings)
        let limit = Self.second + seconds * Self.second
        #expect(deadlines.reasonToClose(of: slot, at: limit - 1) == nil)
        #expect(deadlines.reasonToClose(of: slot, at: limit) == reason)
    }

    @Test func `each connection is late at its limit, and not before`() {
        self.expect(self.slot(.handshake), isLate: .handshake, after: 3)
        self.expect(self.slot(.ready), isLate: .unused, after: 30)
        self.expect(self.slot(.ready, isUsed: true, waitsSince: Self.second), isLate: .stalled, after: 20)
        // It takes something now and then.
        var slow = self.slot(.ready, isUsed: true, waitsSince: Self.second)
        slow.writeProgress.wrote(1, left: 9, at: 25 * Self.second)
        self.expect(slow, isLate: .slow, after: 40)
    }

    @Test func `a connection that has asked and takes its answers is never late`() {
        let deadlines = Deadlines(self.settings)
        #expect(deadlines.reasonToClose(of: self.slot(.ready, isUsed: true), at: .max) == nil)
        #expect(deadlines.reasonToClose(of: self.slot(.free), at: .max) == nil)
    }

    @Test(arguments: [0, 1, 9, 10, 11, 1_003])
    func `the ticks of a second see each place once`(count: Int) {
        var deadlines = Deadlines(self.settings)
        var seen: [Int: Int] = [:]
        var most = 0
        for _ in 0..<10 {
            deadlines.ticked(count)
            #expect(deadlines.hasWork == (count > 0))
            var looks = 0
            while let place = deadlines.next(of: count) {
                seen[place, default: 0] += 1
                looks += 1
            }
            most = max(most, looks)
        }
        #expect(seen.count == count)
        #expect(most <= count / 10 + 1)
        #expect(!deadlines.hasWork)
    }
}
