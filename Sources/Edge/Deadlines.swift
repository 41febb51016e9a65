// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Looks for connections that are late with something: a few after each tick, so that a second sees all of them.
///
/// Clock-free: times are in nanoseconds, by a clock that is never set.
struct Deadlines {
    /// So many connections that are late are closed in one round: thousands that are late together delay no other.
    static let closesPerRound = 8

    /// How many ticks see all connections.
    private let ticks: Int
    /// How long a handshake may take.
    private let handshake: UInt64
    /// How long a connection may do nothing after its handshake.
    private let unused: UInt64
    /// How long a peer may take nothing of what waits for it.
    private let stalled: UInt64
    /// How long it may need for what waited at one time.
    private let slow: UInt64
    /// The place that is looked at next.
    private var place = 0
    /// How many places are to be looked at before the next tick.
    private var left = 0

    init(_ settings: EdgeSettings) {
        self.ticks = max(1, Int(1_000_000 / max(1, settings.syncInterval.inMicroseconds)))
        self.handshake = UInt64(settings.handshakeTimeout.inMicroseconds) * 1_000
        self.unused = UInt64(settings.unusedTimeout.inMicroseconds) * 1_000
        self.stalled = UInt64(settings.stalledTimeout.inMicroseconds) * 1_000
        self.slow = self.stalled * UInt64(settings.stalledTimeoutsMax)
    }

    /// Whether connections are still to be looked at.
    var hasWork: Bool { self.left > 0 }

    /// A tick has come: some of so many places are looked at.
    mutating func ticked(_ count: Int) {
        self.left = min(count, self.left + (count + self.ticks - 1) / self.ticks)
    }

    /// The place that is looked at now, of so many; `nil`: enough were, until the next tick.
    mutating func next(of count: Int) -> Int? {
        guard self.left > 0 else { return nil }
        self.left -= 1
        if self.place >= count { self.place = 0 }
        defer { self.place += 1 }
        return self.place
    }

    /// With what a connection is late; `nil`: with nothing.
    func lateness(of slot: borrowing EdgeSlot, at now: UInt64) -> EdgeClosing? {
        switch slot.phase {
        case .free: nil
        case .handshake: now >= slot.since + self.handshake ? .handshake : nil
        case .ready:
            if let lateness = slot.taking.lateness(at: now, stalled: self.stalled, slow: self.slow) {
                lateness
            } else {
                !slot.isUsed && now >= slot.since + self.unused ? .unused : nil
            }
        }
    }
}
