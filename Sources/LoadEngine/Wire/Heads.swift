// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The first two fields of a `Reply` or `BroadcastReply`: they are the same in both.
package struct ReplyHead: Hashable, Sendable {
    package let requestID: UInt64
    /// The code of the status, 1 for OK (`proto/cuecast/v1/status.proto`).
    package let status: Int

    private static let requestIDField = 1
    private static let statusField = 2

    /// Reads them without decoding the rest; `nil` where the bytes are no reply.
    package init?(_ body: Span<UInt8>) {
        var fields = FieldCursor(0..<body.count)
        var id: UInt64 = 0
        var status: UInt64 = 0
        while let field = fields.next(in: body) {
            guard field.isNumber else { continue }
            if field.number == Self.requestIDField { id = field.value }
            if field.number == Self.statusField {
                status = field.value
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
        var fields = FieldCursor(zero + 1..<frame.count)
        var position: Range<Int>?
        var kind: UInt64 = 0
        while kind == 0, let field = fields.next(in: frame) {
            if field.number == Self.positionField, !field.isNumber { position = field.bytes }
            if field.number == Self.kindField, field.isNumber { kind = field.value }
        }
        guard let position, let code = Int(exactly: kind), code > 0 else { return nil }
        var inner = FieldCursor(position)
        var epoch: UInt64 = 0
        var sequence: UInt64 = 0
        while let field = inner.next(in: frame) {
            guard field.isNumber else { continue }
            if field.number == 1 { epoch = field.value }
            if field.number == 2 { sequence = field.value }
        }
        self.topicBytes = zero
        self.epoch = epoch
        self.sequence = sequence
        self.kind = code
    }
}
