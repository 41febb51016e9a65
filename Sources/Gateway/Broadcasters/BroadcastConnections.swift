// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Synchronization
import SystemSupport

/// Knows which connections of broadcasters have brought no request yet, so that those can be ended.
///
/// A ROUTER of libzmq ignores a connection that claims the routing id of an open one: the connection stays open, and nothing that comes by
/// it is ever received. libzmq reports nothing of that. Once the gateway has ended such a connection, its peer connects again, and is
/// served where the other one has gone. So a connection is ended when it has brought nothing for long, and earlier when another one has
/// gone meanwhile.
///
/// The socket's monitor reports connections on its own thread, and the socket reports messages on another. A message may be known before
/// the event that its connection was accepted. Where the monitor lags behind a whole connection, a later one with the same descriptor
/// may count as unused although it has asked: it is ended once, and its peer connects again.
final class BroadcastConnections: Sendable {
    /// A connection that brought no request in time.
    struct Unused: Hashable, Sendable {
        let descriptor: Int32
        let peer: ConnectionPeer
        /// Whether it brought nothing for the whole time; otherwise it is ended earlier, because another connection has gone.
        let isLate: Bool
    }

    private enum Use {
        case unused(since: ContinuousClock.Instant, ConnectionPeer)
        /// It has brought a message, or is ended already.
        case done
    }

    private struct State {
        /// By descriptor: as many as there are connections.
        var uses: [Int32: Use] = [:]
        /// When a connection has ended last.
        var lastEnd: ContinuousClock.Instant?
    }

    /// How long a connection may bring no request.
    private let unusedTimeout: Duration
    /// How long a connection has to bring a request even where another one has gone: its handshake may take so long.
    private let handshakeTimeout: Duration
    private let state = Mutex(State())

    init(unusedTimeout: Duration, handshakeTimeout: Duration) {
        self.unusedTimeout = unusedTimeout
        self.handshakeTimeout = handshakeTimeout
    }

    /// A connection was accepted.
    func accepted(_ descriptor: Int32, from peer: ConnectionPeer, at now: ContinuousClock.Instant) {
        self.state.withLock { state in
            if state.uses[descriptor] == nil { state.uses[descriptor] = .unused(since: now, peer) }
        }
    }

    /// A connection has brought a message.
    func brought(_ descriptor: Int32) {
        self.state.withLock { $0.uses[descriptor] = .done }
    }

    /// A connection has ended.
    func ended(_ descriptor: Int32, at now: ContinuousClock.Instant) {
        self.state.withLock { state in
            state.uses[descriptor] = nil
            state.lastEnd = now
        }
    }

    /// The connections that are to be ended because they have brought nothing, each of them once.
    func takeUnused(at now: ContinuousClock.Instant) -> [Unused] {
        self.state.withLock { state in
            var found: [Unused] = []
            for case (let descriptor, .unused(let since, let peer)) in state.uses {
                let isLate = now - since >= self.unusedTimeout
                let mayBeServedNow = state.lastEnd.map { $0 > since } == true && now - since >= self.handshakeTimeout
                if isLate || mayBeServedNow { found.append(Unused(descriptor: descriptor, peer: peer, isLate: isLate)) }
            }
            for each in found { state.uses[each.descriptor] = .done }
            return found
        }
    }
}
