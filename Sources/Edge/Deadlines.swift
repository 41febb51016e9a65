// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Finds connections that exceed a timeout.
///
/// It checks some of them after each tick, so that it has checked all of them after a second.
///
/// Clock-free: times are in nanoseconds, by a clock that is never set.
struct Deadlines {
    /// The most overdue connections that are closed in one iteration: thousands at once do not delay the others.
    static let closesPerIteration = 8

    /// In how many ticks all connections are checked.
    private let ticks: Int
    /// How long a handshake may take.
    private let handshake: UInt64
    /// How long a connection may do nothing after its handshake.
    private let unused: UInt64
    /// How long a peer may read none of its waiting bytes.
    private let stalled: UInt64
    /// How long it may need for the bytes that waited at one instant.
    private let slow: UInt64
    /// The place that is checked next.
    private var place = 0
    /// How many places are still to be checked before the next tick.
    private var left = 0

    init(_ settings: EdgeSettings) {
        self.ticks = max(1, Int(1_000_000 / max(1, settings.syncInterval.inMicroseconds)))
        self.handshake = UInt64(settings.handshakeTimeout.inMicroseconds) * 1_000
        self.unused = UInt64(settings.unusedTimeout.inMicroseconds) * 1_000
        self.stalled = UInt64(settings.stalledTimeout.inMicroseconds) * 1_000
        self.slow = self.stalled * UInt64(settings.stalledTimeoutsMax)
    }

    /// Whether connections are still to be checked before the next tick.
    var hasWork: Bool { self.left > 0 }

    /// A tick has come: a share of all places is checked.
    mutating func ticked(_ count: Int) {
        self.left = min(count, self.left + (count + self.ticks - 1) / self.ticks)
    }

    /// The place to check now; `nil`: none until the next tick.
    mutating func next(of count: Int) -> Int? {
        guard self.left > 0 else { return nil }
        self.left -= 1
        if self.place >= count { self.place = 0 }
        defer { self.place += 1 }
        return self.place
    }

    /// The timeout that a connection has exceeded; `nil`: none.
    func reasonToClose(of slot: borrowing EdgeSlot, at now: UInt64) -> EdgeClosing? {
        switch slot.phase {
        case .free: nil
        case .handshake: now >= slot.since + self.handshake ? .handshake : nil
        case .ready:
            if let reason = slot.writeProgress.reasonToClose(at: now, stalled: self.stalled, slow: self.slow) {
                reason
            } else {
                !slot.isUsed && now >= slot.since + self.unused ? .unused : nil
            }
        // It has ended: the loop looks at it.
        case .ending: nil
        }
    }
}
