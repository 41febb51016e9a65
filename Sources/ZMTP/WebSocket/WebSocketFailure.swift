// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Why a peer over WebSocket cannot be talked to; a close frame tells it the reason.
package enum WebSocketFailure: Error, Hashable, Sendable {
    /// A frame has bits set that are reserved: no extension was agreed on.
    case reservedBits(UInt8)
    case unknownOpcode(UInt8)
    /// A message is text.
    case text
    /// A frame of a client is not masked.
    case notMasked
    /// A frame of a server is masked.
    case masked
    /// A length has more bytes than it needs.
    case lengthNotMinimal
    /// A message is longer than it may be, in bytes.
    case tooLong(bytes: UInt64, bytesMax: Int)
    /// A message has more fragments than it may have.
    case tooManyFragments(fragmentsMax: Int)
    /// A fragment continues no message.
    case nothingToContinue
    /// A message begins before the one before it has ended.
    case messageInMessage
    /// A control frame is in fragments, or longer than 125 bytes.
    case malformedControlFrame
    /// A close frame has one byte, a code that may not be sent, or a reason that is not UTF-8.
    case malformedClose
    /// A message has no byte with flags.
    case noFlags
    /// The flags of a ZeroMQ frame are not 0, 1 or 2.
    case reservedFlags(UInt8)

    /// The code of the close frame (RFC 6455 section 7.4.1).
    package var closeCode: UInt16 {
        switch self {
        case .text: 1003
        case .tooLong: 1009
        case .tooManyFragments: 1008
        default: 1002
        }
    }
}

extension WebSocketFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .reservedBits(let bits): "a frame has reserved bits: \(bits)"
        case .unknownOpcode(let opcode): "a frame has the opcode \(opcode), which means nothing"
        case .text: "a message is text; all messages here are binary"
        case .notMasked: "a frame is not masked"
        case .masked: "a frame is masked"
        case .lengthNotMinimal: "the length of a frame has more bytes than it needs"
        case .tooLong(let bytes, let bytesMax): "a message of \(bytes) bytes is longer than \(bytesMax)"
        case .tooManyFragments(let fragmentsMax): "a message has more than \(fragmentsMax) fragments"
        case .nothingToContinue: "a fragment continues no message"
        case .messageInMessage: "a message begins before the last one has ended"
        case .malformedControlFrame: "a control frame is in fragments, or longer than 125 bytes"
        case .malformedClose: "a close frame is malformed"
        case .noFlags: "a message is empty; its first byte must be 0, 1 or 2"
        case .reservedFlags(let flags): "the first byte of a message is \(flags); it must be 0, 1 or 2"
        }
    }
}
