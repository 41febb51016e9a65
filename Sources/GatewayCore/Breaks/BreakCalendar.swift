// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import HashTreeCollections

/// Names of breaks by when they are over, in slots of time: finds those of an interval without looking at the others.
struct BreakCalendar: Hashable, Sendable {
    private let slotMicroseconds: Int64
    private var names: TreeDictionary<Int64, TreeSet<BreakID>> = [:]

    init(slot: Duration) {
        self.slotMicroseconds = slot.inMicroseconds
    }

    /// The names of each slot, the earliest first.
    var slots: [TreeSet<BreakID>] {
        self.names.sorted { $0.key < $1.key }.map(\.value)
    }

    mutating func insert(_ id: BreakID, over: Timestamp) {
        self.names[self.slot(of: over), default: []].insert(id)
    }

    mutating func remove(_ id: BreakID, over: Timestamp) {
        let slot = self.slot(of: over)
        self.names[slot]?.remove(id)
        if self.names[slot]?.isEmpty == true { self.names[slot] = nil }
    }

    /// All that are over at this instant or later, and what else is in its slot.
    func names(from instant: Timestamp) -> [BreakID] {
        self.names { $0 >= self.slot(of: instant) }
    }

    /// All that are over by this instant, and what else is in its slot.
    func names(through instant: Timestamp) -> [BreakID] {
        self.names { $0 <= self.slot(of: instant) }
    }

    private func names(where holds: (Int64) -> Bool) -> [BreakID] {
        var found: [BreakID] = []
        for (slot, names) in self.names where holds(slot) { found += names }
        return found
    }

    private func slot(of instant: Timestamp) -> Int64 {
        let (quotient, remainder) = instant.microseconds.quotientAndRemainder(dividingBy: self.slotMicroseconds)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
