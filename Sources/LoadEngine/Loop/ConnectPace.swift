// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Opens connections at a chosen rate: says how many are due.
package struct ConnectPace: Sendable {
    /// How many are to be opened in all.
    package let total: Int
    /// How many are opened in a second; not above 0: as fast as may be.
    package let perSecond: Double
    /// The most that may be under way at once: beyond the backlog of a listening socket the system drops the first
    /// packet, and sends it again only after a second.
    package let inProgressMax: Int
    /// How many were due so far.
    package private(set) var opened = 0
    private var start: LoopTime?

    package init(total: Int, perSecond: Double, inProgressMax: Int = 512) {
        self.total = total
        self.perSecond = perSecond
        self.inProgressMax = inProgressMax
    }

    /// Whether all have been due.
    package var isComplete: Bool { self.opened >= self.total }

    /// How many to open now; they count as opened.
    ///
    /// - Parameters:
    ///   - now: the instant; the first one begins the pace.
    ///   - inProgress: how many are under way.
    /// - Returns: as many as the rate and the limit allow.
    package mutating func due(at now: LoopTime, inProgress: Int) -> Int {
        let start = self.start ?? now
        self.start = start
        var allowed = self.total
        if self.perSecond > 0 {
            let elapsed = Double(now - start) / 1e9
            allowed = Int(min(Double(self.total), (elapsed * self.perSecond).rounded(.down) + 1))
        }
        let count = max(0, min(allowed - self.opened, self.inProgressMax - inProgress))
        self.opened += count
        return count
    }
}
