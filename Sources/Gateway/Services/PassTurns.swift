// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore

/// Whose turn it is on the request thread, and for how long.
///
/// The sockets are served in turn, each for a pass. A pass ends when the socket has nothing more, or after so much time, so
/// many bytes or so many messages: what is left waits for the next one. A pass that took longer, because one request
/// did, is a debt: while the other socket has more, the one in debt lets it go first until it has had as much time. So
/// no socket makes the other one wait for longer than one of its requests takes, and both get half of the thread.
///
/// Clock-free: the caller says what time it is, by a clock that is never set.
struct PassTurns {
    /// How long a pass goes on; the request that reaches it is finished.
    static let passTimeMax: Duration = .milliseconds(2)
    /// How many bytes of requests a pass takes; the request that reaches it is finished.
    static let passBytesMax = 1_048_576
    /// How many messages a pass takes.
    static let passMessagesMax = 256

    private struct Turn {
        /// What is left of the time that the socket may have before the other one goes first; below zero it is in debt.
        var credit = PassTurns.passTimeMax
        /// Whether the last pass ended before the socket was empty.
        var hasMore = false
    }

    /// A pass that goes on.
    struct Pass {
        fileprivate let side: RequestSockets.Side
        fileprivate let began: ContinuousClock.Instant
        fileprivate var bytes = 0
        fileprivate var messages = 0
    }

    private var listeners = Turn()
    private var broadcasters = Turn()

    /// Begins a pass over a socket that has something.
    ///
    /// - Returns: `nil` while it is the other one's turn.
    mutating func begin(_ side: RequestSockets.Side, at now: ContinuousClock.Instant) -> Pass? {
        let other = self[side == .listeners ? .broadcasters : .listeners]
        // Debts are paid back while somebody waits for it; nothing is saved up.
        let credit = other.hasMore ? self[side].credit + Self.passTimeMax : Self.passTimeMax
        self[side].credit = min(credit, Self.passTimeMax)
        return self[side].credit > .zero ? Pass(side: side, began: now) : nil
    }

    /// Takes note of a message of so many bytes that was dealt with.
    ///
    /// - Returns: whether the pass goes on.
    mutating func goesOn(_ pass: inout Pass, bytes: Int, at now: ContinuousClock.Instant) -> Bool {
        pass.bytes += bytes
        pass.messages += 1
        return pass.messages < Self.passMessagesMax && pass.bytes < Self.passBytesMax
            && now - pass.began < Self.passTimeMax
    }

    /// Ends a pass.
    ///
    /// - Parameters:
    ///   - pass: which.
    ///   - hasMore: whether the socket may have more.
    ///   - now: when all that came of the pass was done.
    mutating func end(_ pass: Pass, hasMore: Bool, at now: ContinuousClock.Instant) {
        self[pass.side].hasMore = hasMore
        self[pass.side].credit -= now - pass.began
    }

    private subscript(side: RequestSockets.Side) -> Turn {
        get { side == .listeners ? self.listeners : self.broadcasters }
        set {
            switch side {
            case .listeners: self.listeners = newValue
            case .broadcasters: self.broadcasters = newValue
            }
        }
    }
}
