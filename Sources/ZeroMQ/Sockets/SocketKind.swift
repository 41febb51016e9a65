// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ

/// The pattern that a socket plays a part in.
package enum SocketKind: Hashable, Sendable, CaseIterable {
    case pub
    case sub
    case xpub
    case xsub
    case req
    case rep
    case dealer
    case router
    case pair
    case push
    case pull
    /// Bare TCP: a message is the connection's id and a piece of its bytes, or nothing where the connection is made or lost.
    case stream

    var rawValue: CInt {
        switch self {
        case .pub: ZMQ_PUB
        case .sub: ZMQ_SUB
        case .xpub: ZMQ_XPUB
        case .xsub: ZMQ_XSUB
        case .req: ZMQ_REQ
        case .rep: ZMQ_REP
        case .dealer: ZMQ_DEALER
        case .router: ZMQ_ROUTER
        case .pair: ZMQ_PAIR
        case .push: ZMQ_PUSH
        case .pull: ZMQ_PULL
        case .stream: ZMQ_STREAM
        }
    }
}

/// How a socket's connections are secured.
package enum SecurityMechanism: CInt, Hashable, Sendable {
    // The numbers of ZMQ_NULL, ZMQ_PLAIN, ZMQ_CURVE and ZMQ_GSSAPI.
    case null = 0
    case plain = 1
    case curve = 2
    case gssapi = 3
}
