// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The header before the payload of a WebSocket frame (RFC 6455 section 5.2).
package struct WebSocketFrameHeader: Hashable, Sendable {
    package enum Opcode: UInt8, Sendable {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { self.rawValue & 8 != 0 }
    }

    /// The longest header, in bytes.
    package static let bytesMax = 14
    /// The longest payload of a control frame, in bytes.
    package static let controlBytesMax = 125

    private static let finalBit: UInt8 = 0x80
    private static let reservedBits: UInt8 = 0x70
    private static let maskBit: UInt8 = 0x80

    /// Whether it is the last frame of its message.
    package let isFinal: Bool
    package let opcode: Opcode
    /// The key of the mask, first byte first; 0: it is not masked.
    package let mask: UInt32
    /// The length of the header itself, in bytes.
    package let headerBytes: Int
    package let payloadBytes: UInt64

    /// Reads the header at `offset`.
    ///
    /// A byte that makes the frame invalid is refused as soon as it is there, however the bytes are cut.
    ///
    /// - Parameters:
    ///   - bytes: of the peer.
    ///   - offset: where the frame begins.
    ///   - isMasked: whether the peer is a client, which masks its frames.
    /// - Returns: `nil` when it is not there in full.
    /// - Throws: its fault.
    package static func read(
        _ bytes: Span<UInt8>,
        at offset: Int,
        isMasked: Bool
    ) throws(WebSocketFailure) -> WebSocketFrameHeader? {
        let available = bytes.count - offset
        guard available >= 1 else { return nil }
        let first = bytes[offset]
        guard first & self.reservedBits == 0 else { throw .reservedBits(first & self.reservedBits) }
        guard let opcode = Opcode(rawValue: first & 0x0F) else { throw .unknownOpcode(first & 0x0F) }
        guard opcode != .text else { throw .text }
        let isFinal = first & self.finalBit != 0
        guard isFinal || !opcode.isControl else { throw .malformedControlFrame }
        guard available >= 2 else { return nil }
        let second = bytes[offset + 1]
        guard (second & self.maskBit != 0) == isMasked else { throw isMasked ? .notMasked : .masked }
        let short = second & ~self.maskBit
        guard short <= Self.controlBytesMax || !opcode.isControl else { throw .malformedControlFrame }
        let lengthBytes = short == 126 ? 2 : short == 127 ? 8 : 0
        guard available >= 2 + lengthBytes else { return nil }
        var payloadBytes = UInt64(short)
        if lengthBytes > 0 {
            payloadBytes = 0
            for index in 0..<lengthBytes { payloadBytes = payloadBytes << 8 | UInt64(bytes[offset + 2 + index]) }
            guard payloadBytes > (lengthBytes == 2 ? 125 : 65_535) else { throw .lengthNotMinimal }
        }
        let maskBytes = isMasked ? 4 : 0
        guard available >= 2 + lengthBytes + maskBytes else { return nil }
        var mask: UInt32 = 0
        for index in 0..<maskBytes { mask = mask << 8 | UInt32(bytes[offset + 2 + lengthBytes + index]) }
        return WebSocketFrameHeader(
            isFinal: isFinal,
            opcode: opcode,
            mask: mask,
            headerBytes: 2 + lengthBytes + maskBytes,
            payloadBytes: payloadBytes
        )
    }

    /// Writes the header of a frame, as short as it can be.
    ///
    /// - Parameters:
    ///   - opcode: the kind of the frame.
    ///   - payloadBytes: how long its payload is.
    ///   - isFinal: whether it is the last frame of its message.
    ///   - mask: a client's key; `nil`: a server's frame is not masked.
    ///   - output: grows by it.
    package static func append(
        _ opcode: Opcode,
        payloadBytes: Int,
        isFinal: Bool = true,
        mask: UInt32? = nil,
        to output: inout [UInt8]
    ) {
        output.append(opcode.rawValue | (isFinal ? self.finalBit : 0))
        let maskBit = mask == nil ? 0 : self.maskBit
        if payloadBytes <= 125 {
            output.append(UInt8(payloadBytes) | maskBit)
        } else {
            let lengthBytes = payloadBytes <= 65_535 ? 2 : 8
            output.append((lengthBytes == 2 ? 126 : 127) | maskBit)
            for index in 1...lengthBytes {
                output.append(UInt8(truncatingIfNeeded: payloadBytes >> (8 * (lengthBytes - index))))
            }
        }
        guard let mask else { return }
        for shift in stride(from: UInt32(24), through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: mask >> shift))
        }
    }
}
