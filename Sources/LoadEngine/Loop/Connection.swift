// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SystemSupport
package import TLS
package import ZMTP

/// The kind of a connection: the ZMTP socket type of this side.
package enum ConnectionKind: Hashable, Sendable {
    case sub
    case req
    case dealer

    var socketType: SocketType {
        switch self {
        case .sub: .sub
        case .req: .req
        case .dealer: .dealer
        }
    }
}

/// The handle of a connection of a ``LoadLoop``: a value, valid until the connection ends.
///
/// Later uses are ignored.
package struct Connection: Hashable, Sendable {
    let index: UInt32
    let generation: UInt32
    package let kind: ConnectionKind
    /// The driver's own tag for it.
    package let tag: UInt64
}

/// Why a connection ended.
package enum ConnectionEnd: Hashable, Sendable, CustomStringConvertible {
    /// The peer closed it, or the network did.
    case closedByPeer
    /// No process listens there.
    case refused
    /// The peer does not keep to ZMTP, or refused us by it.
    case violation(ZMTPError)
    /// The peer sent a message that this kind of connection does not take.
    case unexpectedMessage
    /// The peer's certificate is not taken.
    case untrusted(reason: String)
    /// TLS came to nothing, or ended.
    case encryption(TLSFailure)
    /// The peer does not serve WebSocket: the first line of its answer.
    case noWebSocket(reason: String)
    /// The peer does not keep to WebSocket.
    case webSocket(WebSocketFailure)
    /// A call of the operating system failed.
    case system(operation: String, code: Int32)

    package var description: String {
        switch self {
        case .closedByPeer: "the peer closed the connection"
        case .refused: "the connection was refused"
        case .violation(let error): error.description
        case .unexpectedMessage: "the peer sent a message of frames that make no sense here"
        case .untrusted(let reason): "the peer's certificate is not trusted: \(reason)"
        case .encryption(let failure): failure.description
        case .noWebSocket(let reason): "the peer does not serve WebSocket: \(reason)"
        case .webSocket(let failure): failure.description
        case .system(let operation, let code): "\(operation) failed: \(System.describe(code))"
        }
    }
}
