// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
internal import ZMTP

/// A listener's request as it goes over the wire, made once: its id and session are written into it in place.
///
/// Ids take five bytes: from `firstID` on every one has that length, so that nothing behind it moves.
package struct WireRequest: Hashable, Sendable {
    /// Two to the power of 28: the first number of five bytes (Protocol Buffers, "Base 128 Varints").
    package static let firstID: UInt64 = 1 << 28
    /// The last number of five bytes.
    package static let lastID: UInt64 = 1 << 35 - 1

    /// Delimiter frame, header and body.
    package private(set) var bytes: [UInt8]
    /// How many bytes the body has.
    package let bodyBytes: Int
    /// Where the body begins.
    package let bodyOffset: Int
    /// Where the digits of the id begin: behind the tag of field 1, which is written first.
    private let idOffset: Int
    /// Where the session begins: behind the tag of field 2 and its length.
    private let sessionOffset: Int

    package init(_ request: ListenerRequest) {
        var request = request
        request.id = Self.firstID
        let body = request.encoded()
        var bytes: [UInt8] = []
        Outgoing.appendRequest(body, to: &bytes)
        self.bodyBytes = body.count
        self.bodyOffset = bytes.count - body.count
        self.idOffset = self.bodyOffset + 1
        self.sessionOffset = self.bodyOffset + 8
        precondition(
            body[0] == 0x08 && body[6] == 0x12 && body[7] == 16,
            "a request begins with its id and its session"
        )
        self.bytes = bytes
    }

    /// The protobuf frame.
    package var body: ArraySlice<UInt8> { self.bytes[self.bodyOffset...] }

    /// Writes another id, from `firstID` to `lastID`.
    package mutating func patch(id: UInt64) {
        for index in 0..<5 {
            let more: UInt8 = index < 4 ? 0x80 : 0
            self.bytes[self.idOffset + index] = UInt8(truncatingIfNeeded: id >> UInt64(7 * index)) & 0x7F | more
        }
    }

    /// Writes another session.
    package mutating func patch(session: SessionID) {
        for index in 0..<8 {
            let shift = UInt64(56 - 8 * index)
            self.bytes[self.sessionOffset + index] = UInt8(truncatingIfNeeded: session.high >> shift)
            self.bytes[self.sessionOffset + 8 + index] = UInt8(truncatingIfNeeded: session.low >> shift)
        }
    }

    /// Writes other bytes at a place in the body.
    package mutating func patch(_ replacement: Span<UInt8>, at offset: Int) {
        for index in replacement.indices { self.bytes[self.bodyOffset + offset + index] = replacement[index] }
    }
}
