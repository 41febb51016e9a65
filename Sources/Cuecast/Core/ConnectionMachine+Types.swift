// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

extension ConnectionMachine {
    /// The proof that no notice is lost between the answer to a join and the received notices.
    enum Proof: Hashable, Sendable {
        /// A tick of this run of the gateway: the subscription was in effect before the join is sent.
        case tick(instance: UInt64)
        /// The answer itself, which says that the notices follow it on its connection.
        case answer
    }

    enum State: Hashable, Sendable {
        case idle
        case connecting(deadline: LocalInstant)
        /// Both subscriptions are made; a tick is awaited.
        case proving(deadline: LocalInstant)
        /// The app is asked for a token.
        case authorizing(Proof, deadline: LocalInstant)
        /// The join is to be sent at `sendAt`, or has been sent where that is `nil`.
        case joining(Proof, sendAt: LocalInstant?)
        case joined(Proof)
        /// As `joining`, but this connection has joined before: other requests may go on.
        case rejoining(Proof, sendAt: LocalInstant?)
        case waiting(until: LocalInstant, reason: ConnectionLoss)
        /// The app is in the background: no connection is made.
        case suspended
        case refused(reason: String)
        case stopped
    }

    enum Action: Hashable, Sendable {
        /// Make connection number `attempt`, to this address.
        case connect(attempt: Int, gateway: GatewayTarget)
        /// Give up the current connection.
        case disconnect
        case subscribe([UInt8])
        case unsubscribe([UInt8])
        case askForToken
        /// Send a join that names the tick's instance, or asks for the notices.
        case join(Proof)
    }
}

extension ConnectionMachine.State {
    var published: ConnectionState {
        switch self {
        case .idle: .idle
        case .connecting: .connecting
        case .proving: .subscribing
        case .authorizing, .joining, .rejoining: .joining
        case .joined: .listening
        case .waiting(_, let reason): .waiting(reason: reason.description)
        case .suspended: .suspended
        case .refused(let reason): .refused(reason: reason)
        case .stopped: .stopped
        }
    }

    /// Why there is no connection; `nil` where there is one, or none is wanted.
    var loss: ConnectionLoss? {
        switch self {
        case .waiting(_, let reason): reason
        case .refused(let reason): .refused(reason)
        default: nil
        }
    }
}
