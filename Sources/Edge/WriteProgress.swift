// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Detects a slow consumer: a peer that does not read its waiting bytes, or reads them too slowly.
///
/// Clock-free: times are in nanoseconds, by a clock that is never set.
struct WriteProgress: Hashable, Sendable {
    /// When the peer last read something, or its bytes began to wait; 0: no bytes wait.
    private var idleSince: UInt64 = 0
    /// How many of the bytes that waited at `owedSince` still wait.
    private var owed = 0
    private var owedSince: UInt64 = 0

    /// Whether bytes wait.
    var isWaiting: Bool { self.idleSince != 0 }

    /// Bytes wait; none did before.
    mutating func begin(_ bytes: Int, at now: UInt64) {
        self.idleSince = max(1, now)
        self.owe(bytes, at: now)
    }

    /// The kernel accepted some of the waiting bytes.
    ///
    /// - Parameters:
    ///   - bytes: how many.
    ///   - left: how many wait now.
    ///   - now: the time.
    mutating func wrote(_ bytes: Int, left: Int, at now: UInt64) {
        guard bytes > 0 else { return }
        self.idleSince = max(1, now)
        self.owed -= bytes
        if self.owed <= 0 { self.owe(left, at: now) }
    }

    /// No bytes wait any more.
    mutating func end() { self = WriteProgress() }

    /// Decides whether the connection is closed.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - stalled: the longest time without any progress, in nanoseconds.
    ///   - slow: the longest time for the bytes that waited at one instant, in nanoseconds.
    /// - Returns: the reason; `nil`: it stays open.
    func reasonToClose(at now: UInt64, stalled: UInt64, slow: UInt64) -> EdgeClosing? {
        guard self.isWaiting else { return nil }
        if now >= self.idleSince + stalled { return .stalled }
        return now >= self.owedSince + slow ? .slow : nil
    }

    private mutating func owe(_ bytes: Int, at now: UInt64) {
        self.owed = bytes
        self.owedSince = now
    }
}
