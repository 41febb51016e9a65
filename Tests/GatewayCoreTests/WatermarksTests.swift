// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// Which records of the log may be forgotten.
@Suite(.suiteLimit)
struct WatermarksTests {
    private let outcomes = Lane.acknowledgements(0)
    private let identity = LogIdentity(epoch: 7)

    @Test func `nothing of a lane is released before each of its readers has spoken`() {
        var marks = Watermarks()
        #expect(marks.lowest(of: .breaks) == 0)
        marks.advance(.ledger, in: .breaks, through: .max)
        #expect(marks.lowest(of: .breaks) == 0, "the board has said nothing")
        marks.advance(.board, in: .breaks, through: 40)
        #expect(marks.lowest(of: .breaks) == 40)
        marks.advance(.ledger, in: self.outcomes, through: 17)
        #expect(marks.lowest(of: self.outcomes) == 17, "only the ledger reads it")
        #expect(Set(marks.lanes) == [.breaks, self.outcomes])
    }

    @Test func `the slowest reader decides, and a mark never goes back`() {
        var marks = Watermarks()
        marks.advance(.board, in: .breaks, through: 40)
        marks.advance(.ledger, in: .breaks, through: 25)
        #expect(marks.lowest(of: .breaks) == 25)
        marks.advance(.ledger, in: .breaks, through: 24)
        #expect(marks.lowest(of: .breaks) == 25)
        marks.advance(.ledger, in: .breaks, through: 100)
        #expect(marks.lowest(of: .breaks) == 40)
    }

    @Test func `so many records stay that no reader needs`() {
        var marks = Watermarks()
        marks.advance(.ledger, in: self.outcomes, through: 17)
        for (kept, last) in [(0, 17), (1, 16), (16, 1), (17, 0), (1_000, 0)] as [(UInt64, UInt64)] {
            #expect(marks.releasable(of: self.outcomes, in: self.identity, keeping: kept) == last)
        }
    }
}
