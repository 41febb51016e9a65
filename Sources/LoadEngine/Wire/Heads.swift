// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The first two fields of a `Reply` or `BroadcastReply`: they are the same in both.
package struct ReplyHead: Hashable, Sendable {
    package let requestID: UInt64
    /// The code of the status, 1 for OK (`proto/cuecast/v1/status.proto`).
    package let status: Int

    /// Reads them without decoding the rest; `nil` where the bytes are no reply.
    package init?(_ body: Span<UInt8>) {
        var fields = FieldReader<ReplyField>(0..<body.count)
        var id: UInt64 = 0
        var status: Int32 = 0
        // The gateway writes fields in their order: behind these two nothing is of interest.
        while id == 0 || status == 0, let field = fields.next(in: body) {
            switch field {
            case .varint(.requestID, let value): id = value
            case .varint(.status, let value): status = Int32(truncatingIfNeeded: value)
            case .unreadable: return nil
            default: continue
            }
        }
        guard status > 0 else { return nil }
        self.requestID = id
        self.status = Int(status)
    }
}

/// The head of a frame on the notices' socket: its topic, and the position and kind of the notice.
package struct NoticeHead: Hashable, Sendable {
    /// The length of the topic without the zero byte that ends it.
    package let topicBytes: Int
    package let epoch: UInt64
    package let sequence: UInt64
    /// As `Notice.Kind`.
    package let kind: Int

    /// Reads them without decoding the rest; `nil` where the frame is no notice (a tick is none).
    package init?(_ frame: Span<UInt8>) {
        var zero = 0
        while zero < frame.count, frame[zero] != 0 { zero += 1 }
        // No stream id begins with the first byte of the topic of ticks.
        guard zero < frame.count, frame[0] != UInt8(ascii: "~") else { return nil }
        var fields = FieldReader<NoticeField>(zero + 1..<frame.count)
        var position: Position?
        var kind: Int32 = 0
        // As above: the gateway writes them first.
        while kind == 0, let field = fields.next(in: frame) {
            switch field {
            case .bytes(.position, let range):
                guard let found = Position(scanning: range, in: frame) else { return nil }
                position = found
            case .varint(.kind, let value): kind = Int32(truncatingIfNeeded: value)
            case .unreadable: return nil
            default: continue
            }
        }
        guard let position, kind > 0 else { return nil }
        self.topicBytes = zero
        self.epoch = position.epoch
        self.sequence = position.sequence
        self.kind = Int(kind)
    }
}
