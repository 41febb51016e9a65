// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The results of one break, over all listeners of a process.
package struct BreakTally: Codable, Hashable, Sendable {
    /// How long one bin of the fetch curve is.
    package static let binMicroseconds: Microseconds = 100_000
    /// The most bins that are kept: 60 s from the opening of the window; later requests count in the last one.
    package static let binsMax = 600

    /// Listeners that got its announcement over their subscription.
    package var notices = 0
    /// Batches that came, each listener's once.
    package var batches = 0
    /// Of those, the ones that came before the start; counted only for breaks with a start.
    package var batchesBeforeStart = 0
    /// Advertisements in those batches.
    package var delivered = 0
    package var played = 0
    package var ignored = 0
    package var failed = 0
    /// Requests per bin since the window opened.
    package var requests: [Int] = []
    /// The gateway's times of the window and the start, once known.
    package var windowFrom: Int64?
    package var windowBy: Int64?
    package var start: Int64?

    package init() {}

    package var acknowledged: Int { self.played + self.ignored + self.failed }

    /// A listener asks for its batch.
    package mutating func asked(at gateway: Timestamp) {
        guard let windowFrom else { return }
        let offset = max(0, gateway.microseconds - windowFrom) / Self.binMicroseconds
        let bin = Int(min(offset, Int64(Self.binsMax - 1)))
        while self.requests.count <= bin { self.requests.append(0) }
        self.requests[bin] += 1
    }

    package mutating func merge(_ other: BreakTally) {
        self.notices += other.notices
        self.batches += other.batches
        self.batchesBeforeStart += other.batchesBeforeStart
        self.delivered += other.delivered
        self.played += other.played
        self.ignored += other.ignored
        self.failed += other.failed
        while self.requests.count < other.requests.count { self.requests.append(0) }
        for (bin, count) in other.requests.enumerated() { self.requests[bin] += count }
        self.windowFrom = self.windowFrom ?? other.windowFrom
        self.windowBy = self.windowBy ?? other.windowBy
        self.start = self.start ?? other.start
    }

    /// The highest rate over the mean one, of the whole bins within the window; `nil` where there are fewer than two.
    package var peakOverMean: Double? {
        guard let windowFrom, let windowBy else { return nil }
        let bins = Int((windowBy - windowFrom) / Self.binMicroseconds)
        guard bins >= 2, bins <= Self.binsMax else { return nil }
        let counts = (0..<bins).map { $0 < self.requests.count ? self.requests[$0] : 0 }
        let sum = counts.reduce(0, +)
        guard sum > 0, let peak = counts.max() else { return nil }
        return Double(peak) * Double(bins) / Double(sum)
    }

    /// The share of batches that came before the start; `nil` where there is no start or no batch.
    package var shareBeforeStart: Double? {
        guard self.start != nil, self.batches > 0 else { return nil }
        return Double(self.batchesBeforeStart) / Double(self.batches)
    }
}
