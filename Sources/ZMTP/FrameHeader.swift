// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The header before the body of a frame (RFC 23, "Framing").
package struct FrameHeader: Hashable, Sendable {
    /// More frames of the same message follow.
    package let more: Bool
    package let isCommand: Bool
    /// The length of the header itself, in bytes: 2 or 9.
    package let headerBytes: Int
    /// The length of the body, in bytes.
    package let bodyBytes: Int

    private static let moreFlag: UInt8 = 1
    private static let longFlag: UInt8 = 2
    private static let commandFlag: UInt8 = 4
    private static let reservedFlags: UInt8 = 0xF8

    /// Reads the header at `offset`.
    ///
    /// - Returns: `nil` when it is not there in full.
    /// - Throws: `reservedFlags` and `frameTooLong`.
    package static func read(
        _ bytes: Span<UInt8>,
        at offset: Int,
        frameBytesMax: Int,
        commandBytesMax: Int = ZMTPLimits.commandBytesMax
    ) throws(ZMTPError) -> FrameHeader? {
        let available = bytes.count - offset
        guard available >= 1 else { return nil }
        let flags = bytes[offset]
        let isCommand = flags & self.commandFlag != 0
        // A command is one frame: it has no "more" (RFC 23, "command-size").
        guard flags & self.reservedFlags == 0, !(isCommand && flags & self.moreFlag != 0) else {
            throw .reservedFlags(flags)
        }
        let bytesMax = isCommand ? commandBytesMax : frameBytesMax
        let length: UInt64
        let headerBytes: Int
        if flags & self.longFlag == 0 {
            guard available >= 2 else { return nil }
            length = UInt64(bytes[offset + 1])
            headerBytes = 2
        } else {
            guard available >= 9 else { return nil }
            var value: UInt64 = 0
            for index in 1...8 { value = value << 8 | UInt64(bytes[offset + index]) }
            length = value
            headerBytes = 9
        }
        guard length <= UInt64(bytesMax) else { throw .frameTooLong(bytes: length, bytesMax: bytesMax) }
        return FrameHeader(
            more: flags & self.moreFlag != 0,
            isCommand: isCommand,
            headerBytes: headerBytes,
            bodyBytes: Int(length)
        )
    }

    /// Writes the header of a frame of `bodyBytes`, as short as it can be.
    package static func append(
        bodyBytes: Int,
        more: Bool = false,
        isCommand: Bool = false,
        to output: inout [UInt8]
    ) {
        self.write(bodyBytes: bodyBytes, more: more, isCommand: isCommand) { output.append($0) }
    }

    /// The length of the shortest header of a frame of `bodyBytes`.
    static func byteCount(bodyBytes: Int) -> Int { bodyBytes <= 255 ? 2 : 9 }

    /// Writes the bytes of the header of a frame of `bodyBytes`, as short as it can be, one after the other.
    @inline(__always)
    static func write(bodyBytes: Int, more: Bool, isCommand: Bool, _ writeByte: (UInt8) -> Void) {
        let flags = (more ? self.moreFlag : 0) | (isCommand ? self.commandFlag : 0)
        if bodyBytes <= 255 {
            writeByte(flags)
            writeByte(UInt8(bodyBytes))
        } else {
            writeByte(flags | self.longFlag)
            for shift in stride(from: 56, through: 0, by: -8) {
                writeByte(UInt8(truncatingIfNeeded: bodyBytes >> shift))
            }
        }
    }
}
