// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// How a log knows a repeat of an append.
@Suite(.suiteLimit)
struct RecentAppendsTests {
    private func id(_ number: UInt64) -> AppendID { AppendID(origin: 1, number: number) }

    @Test func `a repeat waits for the answer of the first, or has its offset`() {
        var appends = RecentAppends<String>(keptMax: 4)
        #expect(appends.begin(self.id(1), in: 0, "first") == .new)
        #expect(appends.begin(self.id(1), in: 0, "second") == .underWay)
        #expect(appends.begin(self.id(1), in: 0, "third") == .underWay)
        #expect(appends.begin(self.id(1), in: 1, "another lane") == .new)
        #expect(appends.settle(self.id(1), in: 0, at: 17) == ["second", "third"])
        #expect(appends.begin(self.id(1), in: 0, "late") == .durable(17))
        #expect(appends.begin(self.id(1), in: 1, "late") == .underWay)
    }

    @Test func `after a failure a repeat is a new append`() {
        var appends = RecentAppends<String>(keptMax: 4)
        #expect(appends.begin(self.id(1), in: 0, "first") == .new)
        #expect(appends.begin(self.id(1), in: 0, "second") == .underWay)
        #expect(appends.settle(self.id(1), in: 0, at: nil) == ["second"])
        #expect(appends.begin(self.id(1), in: 0, "third") == .new)
    }

    @Test func `the newest are known up to the limit, and the one before is forgotten`() {
        var appends = RecentAppends<String>(keptMax: 3)
        for number in 1...4 as ClosedRange<UInt64> {
            #expect(appends.begin(self.id(number), in: 0, "") == .new)
            #expect(appends.settle(self.id(number), in: 0, at: number).isEmpty)
        }
        for number in 2...4 as ClosedRange<UInt64> {
            #expect(appends.begin(self.id(number), in: 0, "") == .durable(number))
        }
        #expect(appends.begin(self.id(1), in: 0, "") == .new)
    }
}
