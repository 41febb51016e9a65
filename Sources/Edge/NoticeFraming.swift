// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import ZMTP

/// How the notices of a ring stand on a connection; all connections of a ring have the same framing.
package enum NoticeFraming: Hashable, Sendable, CaseIterable {
    /// Frames of ZMTP.
    case frames
    /// Server-sent events, each as a chunk of an answer of HTTP/1.1 (RFC 9112 section 7.1).
    case chunks
    /// Server-sent events one behind the other, as HTTP/1.0 has them: the answer ends with the connection.
    case lines

    /// Those of server-sent events.
    static let events: [NoticeFraming] = [.chunks, .lines]

    /// Appends the text of one event; what is no event has no text.
    func append(event text: [UInt8], to output: inout [UInt8]) {
        guard !text.isEmpty else { return }
        if self == .chunks { output += Array(String(text.count, radix: 16).utf8) + Self.lineEnd }
        output += text
        if self == .chunks { output += Self.lineEnd }
    }

    /// One event, framed.
    func framed(event text: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count + 12)
        self.append(event: text, to: &bytes)
        return bytes
    }

    /// The bytes behind the last event of an answer.
    var end: [UInt8] { self == .chunks ? Array("0\r\n\r\n".utf8) : [] }

    /// Finds where a whole frame ends.
    ///
    /// - Parameters:
    ///   - offset: where it begins.
    ///   - bytes: whole frames.
    /// - Returns: where the next one begins; `nil`: there is no whole frame.
    @inline(__always)
    func end(ofFrameAt offset: Int, in bytes: Span<UInt8>) -> Int? {
        switch self {
        case .frames:
            guard let header = try? FrameHeader.read(bytes, at: offset, frameBytesMax: bytes.count) else { return nil }
            return offset + header.headerBytes + header.bodyBytes
        case .chunks: return Self.chunkEnd(offset, bytes)
        case .lines: return Self.eventEnd(offset, bytes)
        }
    }

    private static let lineEnd: [UInt8] = [0x0D, 0x0A]

    private static func chunkEnd(_ start: Int, _ bytes: Span<UInt8>) -> Int? {
        var (count, offset) = (0, start)
        while offset < bytes.count, bytes[offset] != Self.lineEnd[0] {
            guard let digit = Character(UnicodeScalar(bytes[offset])).hexDigitValue, count <= bytes.count else {
                return nil
            }
            count = count << 4 | digit
            offset += 1
        }
        let end = offset + count + 2 * Self.lineEnd.count
        return end <= bytes.count ? end : nil
    }

    /// An event ends with an empty line, and has none before.
    private static func eventEnd(_ start: Int, _ bytes: Span<UInt8>) -> Int? {
        var offset = start + 1
        while offset < bytes.count {
            if bytes[offset] == 0x0A, bytes[offset - 1] == 0x0A { return offset + 1 }
            offset += 1
        }
        return nil
    }
}
