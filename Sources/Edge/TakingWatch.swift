// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Whether a peer takes what waits for it, and fast enough.
///
/// Clock-free: times are in nanoseconds, by a clock that is never set.
struct TakingWatch: Hashable, Sendable {
    /// Since when it has taken nothing; 0: nothing waits.
    private var idleSince: UInt64 = 0
    /// How much of what waited at `owedSince` still waits, in bytes.
    private var owed = 0
    private var owedSince: UInt64 = 0

    /// Whether something waits.
    var isWaiting: Bool { self.idleSince != 0 }

    /// Something waits; nothing did before.
    mutating func begin(_ bytes: Int, at now: UInt64) {
        self.idleSince = max(1, now)
        self.owe(bytes, at: now)
    }

    /// The peer took something of what waits.
    ///
    /// - Parameters:
    ///   - bytes: how much.
    ///   - left: how much waits now.
    ///   - now: the time.
    mutating func took(_ bytes: Int, left: Int, at now: UInt64) {
        guard bytes > 0 else { return }
        self.idleSince = max(1, now)
        self.owed -= bytes
        if self.owed <= 0 { self.owe(left, at: now) }
    }

    /// Nothing waits any more.
    mutating func end() { self = TakingWatch() }

    /// Looks whether the connection is to be closed.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - stalled: how long the peer may take nothing, in nanoseconds.
    ///   - slow: how long it may need for what waited at one time, in nanoseconds.
    /// - Returns: why; `nil`: it is not.
    func lateness(at now: UInt64, stalled: UInt64, slow: UInt64) -> EdgeClosing? {
        guard self.isWaiting else { return nil }
        if now >= self.idleSince + stalled { return .stalled }
        return now >= self.owedSince + slow ? .slow : nil
    }

    private mutating func owe(_ bytes: Int, at now: UInt64) {
        self.owed = bytes
        self.owedSince = now
    }
}
