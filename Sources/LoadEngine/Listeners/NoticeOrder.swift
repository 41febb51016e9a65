// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Whether the notices that come over one connection are complete, in order, and each there once.
///
/// PUB/SUB keeps the order of one connection and repeats nothing, so everything else is the other side's fault.
package struct NoticeOrder: Sendable {
    package enum Verdict: Hashable, Sendable {
        /// The next one.
        case next
        /// It was known from the answer to a join already, as may happen once.
        case known
        /// This many before it are missing.
        case gap(missing: UInt64)
        case repeated
        /// It was missing, and comes late.
        case late
        /// Positions before and after cannot be compared.
        case otherEpoch
    }

    private var epoch: UInt64 = 0
    /// The highest sequence that came over this connection.
    private var seen: UInt64 = 0
    /// The highest sequence that an answer to a join vouched for.
    private var floor: UInt64 = 0
    /// The first that came over this connection.
    private var first: UInt64 = 0
    private var gap: ClosedRange<UInt64>?
    private var hasBase = false

    package init() {}

    private var highest: UInt64 { max(self.seen, self.floor) }

    package mutating func received(_ position: Position) -> Verdict {
        let sequence = position.sequence
        guard self.hasBase, position.epoch == self.epoch else {
            let isFirst = !self.hasBase
            self = NoticeOrder()
            (self.epoch, self.hasBase) = (position.epoch, true)
            (self.seen, self.first) = (sequence, sequence)
            return isFirst ? .next : .otherEpoch
        }
        if self.first == 0 { self.first = sequence }
        let highest = self.highest
        if sequence > highest, sequence - highest == 1 {
            self.seen = sequence
            return .next
        }
        if sequence > highest {
            self.gap = highest + 1...sequence - 1
            self.seen = sequence
            return .gap(missing: sequence - highest - 1)
        }
        if sequence > self.seen {
            self.seen = sequence
            return .known
        }
        if let gap, gap.contains(sequence) {
            self.gap = nil
            if sequence > gap.lowerBound { self.gap = gap.lowerBound...sequence - 1 }
            if sequence < gap.upperBound { self.gap = sequence + 1...gap.upperBound }
            return .late
        }
        return .repeated
    }

    /// The stream's position was told, once the subscription has been proven: what is missing up to it will not come.
    package mutating func head(_ position: Position) -> Verdict {
        guard self.hasBase, position.epoch == self.epoch else { return self.hasBase ? .otherEpoch : .known }
        let highest = self.highest
        guard position.sequence > highest else { return .known }
        self.gap = highest + 1...position.sequence
        self.seen = position.sequence
        return .gap(missing: position.sequence - highest)
    }

    /// A join was answered.
    ///
    /// The subscription was proven before it was sent, so that all after `head` must come over this connection.
    package mutating func joined(_ head: Position) -> Verdict {
        guard self.hasBase, head.epoch == self.epoch else {
            self = NoticeOrder()
            (self.epoch, self.floor, self.hasBase) = (head.epoch, head.sequence, true)
            return .known
        }
        let isFirstJoin = self.floor == 0
        self.floor = max(self.floor, head.sequence)
        guard isFirstJoin, self.first > head.sequence, self.first - head.sequence > 1 else { return .known }
        let missing = self.first - head.sequence - 1
        self.gap = head.sequence + 1...self.first - 1
        return .gap(missing: missing)
    }
}
