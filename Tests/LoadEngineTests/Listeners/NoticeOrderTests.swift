// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import LoadEngine
import Testing

@Suite(.suiteLimit)
struct NoticeOrderTests {
    var order = NoticeOrder()

    static func at(_ sequence: UInt64, epoch: UInt64 = 1) -> Position { Position(epoch: epoch, sequence: sequence) }

    mutating func verdicts(_ sequences: UInt64...) -> [NoticeOrder.Verdict] {
        sequences.map { self.order.received(Self.at($0)) }
    }

    @Test mutating func `one after the other is right`() {
        #expect(self.order.joined(Self.at(4)) == .known)
        #expect(self.verdicts(5, 6, 7) == [.next, .next, .next])
        #expect(self.order.head(Self.at(7)) == .known)
    }

    @Test mutating func `a notice that the join had may come once more, a second time is a repeat`() {
        #expect(self.order.joined(Self.at(4)) == .known)
        #expect(self.verdicts(3, 4, 5, 5, 3) == [.known, .known, .next, .repeated, .repeated])
    }

    @Test mutating func `a missing notice is counted, and becomes late when it comes`() {
        #expect(self.order.joined(Self.at(4)) == .known)
        #expect(self.verdicts(5, 9) == [.next, .gap(missing: 3)])
        #expect(self.verdicts(7, 7, 6, 8) == [.late, .repeated, .repeated, .late])
    }

    @Test mutating func `a head tells what is missing at the end`() {
        #expect(self.order.head(Self.at(9)) == .known, "before the join nothing is expected")
        #expect(self.order.joined(Self.at(4)) == .known)
        #expect(self.order.head(Self.at(6)) == .gap(missing: 2))
        #expect(self.order.head(Self.at(6)) == .known)
        #expect(self.verdicts(7) == [.next])
    }

    @Test mutating func `between the join and the first notice nothing may be missing`() {
        #expect(self.verdicts(8, 9) == [.next, .next])
        #expect(self.order.joined(Self.at(5)) == .gap(missing: 2))
        #expect(self.verdicts(10) == [.next])
        #expect(self.order.joined(Self.at(10)) == .known)
    }

    @Test mutating func `a later join vouches for what it recovered`() {
        #expect(self.order.joined(Self.at(4)) == .known)
        #expect(self.verdicts(7) == [.gap(missing: 2)])
        #expect(self.order.joined(Self.at(9)) == .known)
        #expect(self.verdicts(8, 9, 10) == [.known, .known, .next])
    }

    @Test mutating func `another epoch begins anew`() {
        #expect(self.order.joined(Self.at(4)) == .known)
        #expect(self.order.received(Self.at(1, epoch: 2)) == .otherEpoch)
        #expect(self.order.received(Self.at(2, epoch: 2)) == .next)
        #expect(self.order.head(Self.at(4)) == .otherEpoch)
    }

    @Test mutating func `no sequence of positions traps`() {
        var source = SeededSource(seed: 5)
        let extremes: [UInt64] = [0, 1, 2, .max - 1, .max]
        for _ in 0..<20_000 {
            let sequence = extremes[Int.random(in: 0..<extremes.count, using: &source)]
            let position = Self.at(sequence, epoch: UInt64.random(in: 0...1, using: &source))
            switch Int.random(in: 0..<3, using: &source) {
            case 0: _ = self.order.received(position)
            case 1: _ = self.order.head(position)
            default: _ = self.order.joined(position)
            }
        }
    }
}
