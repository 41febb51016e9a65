// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The subprotocols of ZeroMQ over WebSocket (RFC 45) that there are here.
package enum ZWSMechanism: String, CaseIterable, Sendable {
    /// No handshake: the first message of each side is its routing id, and neither says what socket it is.
    case none = "ZWS2.0"
    /// The handshake of ZMTP's NULL mechanism.
    case null = "ZWS2.0/NULL"
}

/// Writes ZeroMQ frames as messages of WebSocket: one byte of flags and the body in one binary frame each (RFC 45, "Framing").
package enum ZWSFraming {
    /// The first byte of a message.
    ///
    /// The RFC's list says 0 for a frame with more behind it; its grammar and libzmq say 1.
    package enum Flags: UInt8, Sendable {
        case last = 0
        case more = 1
        case command = 2
    }

    /// The longest header before a body that a server sends, in bytes: the frame's, and the flags.
    package static let headerBytesMax = 11

    /// Writes what comes before the body of a ZeroMQ frame that is not masked.
    @inline(__always)
    package static func appendHeader(bodyBytes: Int, _ flags: Flags = .last, to output: inout [UInt8]) {
        WebSocketFrameHeader.append(.binary, payloadBytes: bodyBytes + 1, to: &output)
        output.append(flags.rawValue)
    }

    /// One ZeroMQ frame.
    package static func appendFrame(_ body: [UInt8], _ flags: Flags = .last, to output: inout [UInt8]) {
        self.appendHeader(bodyBytes: body.count, flags, to: &output)
        output += body
    }

    /// ZeroMQ frames that are written as ZMTP has them.
    ///
    /// - Parameters:
    ///   - frames: whole frames.
    ///   - mask: makes the key of each frame of a client; `nil`: a server's frames are not masked.
    ///   - output: grows by them.
    package static func append(
        zmtp frames: Span<UInt8>,
        mask: (() -> UInt32)? = nil,
        to output: inout [UInt8]
    ) {
        var offset = 0
        while let header = try? FrameHeader.read(
            frames,
            at: offset,
            frameBytesMax: frames.count,
            commandBytesMax: frames.count
        ) {
            let start = offset + header.headerBytes
            guard frames.count - start >= header.bodyBytes else { return }
            offset = start + header.bodyBytes
            let flags: Flags = header.isCommand ? .command : header.more ? .more : .last
            let key = mask?()
            WebSocketFrameHeader.append(.binary, payloadBytes: header.bodyBytes + 1, mask: key, to: &output)
            let payload = output.count
            output.append(flags.rawValue)
            for index in start..<offset { output.append(frames[index]) }
            if let key { self.apply(key, to: &output, from: payload) }
        }
    }

    /// The same for frames in an array.
    package static func append(zmtp frames: [UInt8], mask: (() -> UInt32)? = nil, to output: inout [UInt8]) {
        self.append(zmtp: frames.span, mask: mask, to: &output)
    }

    /// A ping, or the pong that answers one.
    package static func appendControl(
        _ opcode: WebSocketFrameHeader.Opcode,
        _ payload: [UInt8] = [],
        mask: UInt32? = nil,
        to output: inout [UInt8]
    ) {
        let payload = payload.prefix(WebSocketFrameHeader.controlBytesMax)
        WebSocketFrameHeader.append(opcode, payloadBytes: payload.count, mask: mask, to: &output)
        let start = output.count
        output += payload
        if let mask { self.apply(mask, to: &output, from: start) }
    }

    /// A close frame; the reason is cut after 123 bytes.
    package static func appendClose(
        _ code: UInt16?,
        _ reason: String = "",
        mask: UInt32? = nil,
        to output: inout [UInt8]
    ) {
        var payload: [UInt8] = []
        if let code {
            payload = [UInt8(code >> 8), UInt8(code & 0xFF)]
            for character in reason {
                guard payload.count + character.utf8.count <= WebSocketFrameHeader.controlBytesMax else { break }
                payload += Array(character.utf8)
            }
        }
        self.appendControl(.close, payload, mask: mask, to: &output)
    }

    private static func apply(_ mask: UInt32, to output: inout [UInt8], from start: Int) {
        let mask = WebSocketMask(mask, after: 0)
        for index in start..<output.count { output[index] ^= mask[index - start] }
    }
}
