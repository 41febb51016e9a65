// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Why a peer cannot be talked to.
package enum ZMTPError: Error, Hashable, Sendable {
    /// The first bytes are not a ZMTP signature.
    case noSignature
    /// The peer speaks an older version than 3.
    case versionTooOld(UInt8)
    /// The peer asks for a security mechanism other than NULL.
    case mechanismNotNull
    /// A frame has bits set that are reserved.
    case reservedFlags(UInt8)
    /// A frame is longer than it may be, in bytes.
    case frameTooLong(bytes: UInt64, bytesMax: Int)
    /// A message came before the handshake was done.
    case messageBeforeReady
    /// A command is not built as the RFC says.
    case malformedCommand
    /// A command came that has no place in a handshake.
    case unexpectedCommand
    /// The first message is no routing id.
    case noRoutingID
    /// The peer named no socket type, or one that is not known.
    case unknownSocketType
    /// The two socket types do not talk to each other.
    case incompatible(SocketType, SocketType)
    /// The peer refused the connection by an ERROR command.
    case refused(reason: String)
}

extension ZMTPError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noSignature: "the peer does not speak ZMTP"
        case .versionTooOld(let major): "the peer speaks version \(major) of ZMTP, not 3"
        case .mechanismNotNull: "the peer asks for another security mechanism than NULL"
        case .reservedFlags(let flags): "a frame has reserved flags: \(flags)"
        case .frameTooLong(let bytes, let bytesMax): "a frame of \(bytes) bytes is longer than \(bytesMax)"
        case .messageBeforeReady: "a message came before the handshake was done"
        case .malformedCommand: "a command is malformed"
        case .unexpectedCommand: "a command came that has no place in the handshake"
        case .noRoutingID: "the first message is no routing id"
        case .unknownSocketType: "the peer named no known socket type"
        case .incompatible(let own, let peer): "a \(own.rawValue) socket does not talk to a \(peer.rawValue) socket"
        case .refused(let reason): "the peer refused the connection: \(reason)"
        }
    }
}
