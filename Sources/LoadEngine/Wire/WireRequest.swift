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
    private static let idBytes = 5

    /// Delimiter frame, header and body.
    package private(set) var bytes: [UInt8]
    /// How many bytes the body has.
    package let bodyBytes: Int
    /// Where the body begins.
    package let bodyOffset: Int
    /// Where the digits of the id are.
    private let idDigits: Range<Int>
    /// Where the session begins.
    private let sessionOffset: Int

    package init(_ request: ListenerRequest) {
        var request = request
        request.id = Self.firstID
        let body = request.encoded()
        var bytes: [UInt8] = []
        Outgoing.appendRequest(body, to: &bytes)
        self.bodyBytes = body.count
        self.bodyOffset = bytes.count - body.count
        var fields = FieldReader<RequestField>(self.bodyOffset..<bytes.count)
        guard case .varint(.requestID, Self.firstID) = fields.next(in: bytes.span),
            case let idEnd = fields.position,
            case .bytes(.session, let session) = fields.next(in: bytes.span)
        else { preconditionFailure("a request begins with its id and its session") }
        self.idDigits = idEnd - Self.idBytes..<idEnd
        self.sessionOffset = session.lowerBound
        self.bytes = bytes
    }

    /// The protobuf frame.
    package var body: ArraySlice<UInt8> { self.bytes[self.bodyOffset...] }

    /// Writes another id, from `firstID` to `lastID`.
    package mutating func patch(id: UInt64) {
        self.bytes.replaceVarint(at: self.idDigits, with: id)
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
