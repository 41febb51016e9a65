// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import NIOCore

/// Detects that the peer is gone.
///
/// It looks once an interval, whatever is heard meanwhile: a timer that followed each message would wake the device for
/// nothing. Where nothing was heard between two looks the peer is asked by a PING; where nothing is heard until the next look
/// it is gone: within three intervals of its last word. What it says meanwhile counts as an answer, whatever it is: a gateway
/// that repeats its position more often than once an interval is never asked. An app that was frozen asks first, however long that was.
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
        /// Something was heard since the last look, and the next one is due then.
        case heard(due: NIODeadline)
        /// Nothing was heard since the last look.
        case silent(due: NIODeadline)
        case asked(due: NIODeadline)
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
        case .opening(let due), .heard(let due), .silent(let due), .asked(let due): due
        case .off: nil
        }
    }

    /// The handshake is done.
    mutating func opened(canPing: Bool, now: NIODeadline) {
        self.state = canPing ? .silent(due: now + self.interval) : .off
    }

    /// The peer said something.
    mutating func heard() {
        switch self.state {
        case .heard(let due), .silent(let due), .asked(let due): self.state = .heard(due: due)
        case .opening, .off: break
        }
    }

    mutating func look(now: NIODeadline) -> Step {
        guard let due, due <= now else { return .wait }
        switch self.state {
        case .heard:
            self.state = .silent(due: now + self.interval)
            return .wait
        case .silent:
            self.state = .asked(due: now + self.interval)
            return .ping
        case .opening, .asked: return .lost
        case .off: return .wait
        }
    }
}
