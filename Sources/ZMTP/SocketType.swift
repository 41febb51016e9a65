// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The pattern that one side of a connection plays a part in (RFC 23 section "The Socket-Type Property").
package enum SocketType: String, CaseIterable, Sendable {
    case pub = "PUB"
    case sub = "SUB"
    case xpub = "XPUB"
    case xsub = "XSUB"
    case req = "REQ"
    case rep = "REP"
    case dealer = "DEALER"
    case router = "ROUTER"
    case pair = "PAIR"
    case push = "PUSH"
    case pull = "PULL"

    /// Whether a connection between the two means something (RFC 23, the table of that section).
    package func accepts(_ peer: SocketType) -> Bool {
        switch self {
        case .pub, .xpub: peer == .sub || peer == .xsub
        case .sub, .xsub: peer == .pub || peer == .xpub
        case .req: peer == .rep || peer == .router
        case .rep: peer == .req || peer == .dealer
        case .dealer: peer == .rep || peer == .dealer || peer == .router
        case .router: peer == .req || peer == .dealer || peer == .router
        case .pair: peer == .pair
        case .push: peer == .pull
        case .pull: peer == .push
        }
    }

    /// Whether this side takes subscriptions.
    var publishes: Bool { self == .pub || self == .xpub }
}
