// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import NIOCore

/// Finds out that nobody is at the other end any more.
///
/// A peer that was not heard from for an interval is asked by a PING; one that lets another interval pass then is gone. What it
/// says meanwhile counts as an answer, whatever it is: a gateway that repeats its position more often than once an interval
/// is never asked. An app that was frozen asks first, however long that was.
struct Heartbeat: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        /// Look again at `due`.
        case wait
        /// Send a PING, then look again at `due`.
        case ping
        /// The peer is gone, or never said what it had to.
        case lost
    }

    private enum State: Hashable, Sendable {
        /// The handshake has to be done by then.
        case opening(deadline: NIODeadline)
        case heard(NIODeadline)
        case asked(NIODeadline)
        /// The peer does not know PING.
        case off
    }

    let interval: TimeAmount
    private var state: State

    /// A connection that is made now.
    init(interval: TimeAmount, handshakeMax: TimeAmount, now: NIODeadline) {
        self.interval = interval
        self.state = .opening(deadline: now + handshakeMax)
    }

    /// When to call `look`; `nil`: not at all.
    var due: NIODeadline? {
        switch self.state {
        case .opening(let deadline): deadline
        case .heard(let time), .asked(let time): time + self.interval
        case .off: nil
        }
    }

    /// The handshake is done.
    mutating func opened(canPing: Bool, now: NIODeadline) {
        self.state = canPing ? .heard(now) : .off
    }

    /// The peer said something.
    mutating func heard(now: NIODeadline) {
        switch self.state {
        case .heard, .asked: self.state = .heard(now)
        case .opening, .off: break
        }
    }

    mutating func look(now: NIODeadline) -> Step {
        guard let due, due <= now else { return .wait }
        switch self.state {
        case .heard:
            self.state = .asked(now)
            return .ping
        case .opening, .asked: return .lost
        case .off: return .wait
        }
    }
}
