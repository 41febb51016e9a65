// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import GatewayCore
internal import ZMTP

/// Answers to one connection that go out as one write.
struct AnswerBuffer {
    /// So many bytes go out at the latest.
    private static let bytesMax = 65_536

    private var bytes: [UInt8] = []
    /// The place of the connection whose answers they are; `nil`: there are none.
    private(set) var owner: Int?
    /// Whether that connection is over WebSocket.
    private var isOverWebSocket = false

    /// Whether there are as many bytes as may gather.
    var isFull: Bool { self.bytes.count >= Self.bytesMax }

    /// From now on answers of a connection gather; there are no others.
    mutating func begin(_ owner: Int, overWebSocket: Bool) {
        self.owner = owner
        self.isOverWebSocket = overWebSocket
    }

    /// Adds a reply, as a ROUTER sends it: what the request's envelope was, an empty frame and one body.
    mutating func append(_ reply: ReplyBytes, _ correlation: EdgeCorrelation?) {
        if self.isOverWebSocket {
            if let correlation { ZWSFraming.appendFrame(correlation.bytes, .more, to: &self.bytes) }
            ZWSFraming.appendHeader(bodyBytes: 0, .more, to: &self.bytes)
            ZWSFraming.appendHeader(bodyBytes: reply.head.count + reply.tail.count, to: &self.bytes)
        } else {
            if let correlation { correlation.appendFrame(to: &self.bytes) }
            FrameHeader.append(bodyBytes: 0, more: true, to: &self.bytes)
            FrameHeader.append(bodyBytes: reply.head.count + reply.tail.count, to: &self.bytes)
        }
        self.bytes += reply.head
        self.bytes += reply.tail
    }

    /// Takes what gathered, so that nothing is added while it is sent; give it back with `reuse`.
    mutating func take() -> [UInt8] {
        self.owner = nil
        var bytes: [UInt8] = []
        swap(&bytes, &self.bytes)
        return bytes
    }

    /// Uses the room of what was sent again, where it is not too much to keep.
    mutating func reuse(_ bytes: inout [UInt8]) {
        guard bytes.capacity <= 4 * Self.bytesMax else { return }
        bytes.removeAll(keepingCapacity: true)
        swap(&self.bytes, &bytes)
    }

    /// The connection has ended: its answers go nowhere.
    mutating func forget(_ owner: Int) {
        guard self.owner == owner else { return }
        self.bytes.removeAll(keepingCapacity: true)
        self.owner = nil
    }
}
