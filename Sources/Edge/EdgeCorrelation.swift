// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import ZMTP

/// The frame that a REQ socket with `ZMQ_REQ_CORRELATE` sends before the delimiter of a request: it takes an answer only with the
/// same frame before its delimiter.
///
/// Its four bytes mean something to the peer only. They are kept in place, so a waiting request costs no allocation.
package struct EdgeCorrelation: Hashable, Sendable {
    /// How long it is: libzmq counts requests in 32 bits.
    static let byteCount = 4

    private let number: UInt32

    /// - Parameter bytes: the frame's, ``byteCount`` of them.
    init(_ bytes: Span<UInt8>) {
        precondition(bytes.count == Self.byteCount, "a correlation of \(bytes.count) bytes")
        var number: UInt32 = 0
        for index in bytes.indices { number = number << 8 | UInt32(bytes[index]) }
        self.number = number
    }

    /// The bytes as they came.
    package var bytes: [UInt8] { (0..<Self.byteCount).map(self.byte) }

    /// Adds the frame as it came, with more behind it.
    func appendFrame(to output: inout [UInt8]) {
        FrameHeader.append(bodyBytes: Self.byteCount, more: true, to: &output)
        for index in 0..<Self.byteCount { output.append(self.byte(index)) }
    }

    private func byte(_ index: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: self.number >> UInt32(8 * (Self.byteCount - 1 - index)))
    }
}
