// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Walks over the fields of a protobuf message without decoding it (Protocol Buffers, "Encoding").
///
/// Never traps, whatever the bytes are.
struct WireScan {
    enum Value: Hashable {
        case number(UInt64)
        case bytes(Range<Int>)
    }

    private(set) var offset: Int
    private let end: Int

    init(_ range: Range<Int>) {
        self.offset = range.lowerBound
        self.end = range.upperBound
    }

    /// The next field; `nil` at the end and where the bytes are no message.
    mutating func next(in bytes: Span<UInt8>) -> (field: Int, value: Value)? {
        guard let tag = self.varint(in: bytes), let field = Int(exactly: tag >> 3), field > 0 else { return nil }
        switch tag & 7 {
        case 0: return self.varint(in: bytes).map { (field, .number($0)) }
        case 1: return self.fixed(8, in: bytes).map { (field, .number($0)) }
        case 2:
            guard let count = self.varint(in: bytes), count <= UInt64(self.end - self.offset) else { return nil }
            let start = self.offset
            self.offset += Int(count)
            return (field, .bytes(start..<self.offset))
        case 5: return self.fixed(4, in: bytes).map { (field, .number($0)) }
        default: return nil
        }
    }

    private mutating func varint(in bytes: Span<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while self.offset < self.end, shift < 64 {
            let byte = bytes[self.offset]
            self.offset += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    private mutating func fixed(_ count: Int, in bytes: Span<UInt8>) -> UInt64? {
        guard self.end - self.offset >= count else { return nil }
        var value: UInt64 = 0
        for index in 0..<count { value |= UInt64(bytes[self.offset + index]) << UInt64(8 * index) }
        self.offset += count
        return value
    }
}

/// The first two fields of a `Reply` or `BroadcastReply`: they are the same in both.
package struct ReplyHead: Hashable, Sendable {
    package let requestID: UInt64
    /// The code of the status, 1 for OK (`proto/cuecast/v1/status.proto`).
    package let status: Int

    private static let requestIDField = 1
    private static let statusField = 2
    private static let gatewayTimeField = 6

    /// Reads them without decoding the rest; `nil` where the bytes are no reply.
    package init?(_ body: Span<UInt8>) {
        var scan = WireScan(0..<body.count)
        var id: UInt64 = 0
        var status: UInt64 = 0
        while let (field, value) = scan.next(in: body) {
            guard case .number(let number) = value else { continue }
            if field == Self.requestIDField { id = number }
            if field == Self.statusField {
                status = number
                // The gateway writes fields in their order: nothing before it is left out.
                if id != 0 { break }
            }
        }
        guard let code = Int(exactly: status), code > 0 else { return nil }
        self.requestID = id
        self.status = code
    }
}

/// What a frame on the notices' socket says first: its topic, and the position and kind of the notice.
package struct NoticeHead: Hashable, Sendable {
    /// The length of the topic without the zero byte that ends it.
    package let topicBytes: Int
    package let epoch: UInt64
    package let sequence: UInt64
    /// As `Notice.Kind`.
    package let kind: Int

    private static let positionField = 1
    private static let kindField = 2

    /// Reads them without decoding the rest; `nil` where the frame is no notice (a tick is none).
    package init?(_ frame: Span<UInt8>) {
        var zero = 0
        while zero < frame.count, frame[zero] != 0 { zero += 1 }
        // No stream id begins with the first byte of the topic of ticks.
        guard zero < frame.count, frame[0] != UInt8(ascii: "~") else { return nil }
        var scan = WireScan(zero + 1..<frame.count)
        var position: Range<Int>?
        var kind: UInt64 = 0
        while kind == 0, let (field, value) = scan.next(in: frame) {
            if field == Self.positionField, case .bytes(let range) = value { position = range }
            if field == Self.kindField, case .number(let number) = value { kind = number }
        }
        guard let position, let code = Int(exactly: kind), code > 0 else { return nil }
        var inner = WireScan(position)
        var epoch: UInt64 = 0
        var sequence: UInt64 = 0
        while let (field, value) = inner.next(in: frame) {
            guard case .number(let number) = value else { continue }
            if field == 1 { epoch = number }
            if field == 2 { sequence = number }
        }
        self.topicBytes = zero
        self.epoch = epoch
        self.sequence = sequence
        self.kind = code
    }
}
