// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ

/// The name by which a router socket knows one of its peers.
///
/// libzmq assigns 5 bytes, and a peer may choose up to 255 of its own. Up to 16 bytes are held in place; a longer one
/// costs an allocation. It is a plain value: keep it with work that is answered later.
package struct RoutingID: Hashable, Sendable {
    private var inline: (UInt64, UInt64) = (0, 0)
    private var inlineCount: UInt8 = 0
    private var overflow: [UInt8]?

    /// The most bytes that need no allocation.
    static let inlineBytesMax = 16

    package init(_ bytes: RawSpan) {
        if bytes.byteCount <= Self.inlineBytesMax {
            self.inlineCount = UInt8(bytes.byteCount)
            unsafe withUnsafeMutableBytes(of: &self.inline) { target in
                unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
            }
        } else {
            self.overflow = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
        }
    }

    package init(_ bytes: [UInt8]) {
        self = unsafe RoutingID(bytes.span.bytes)
    }

    /// The number of bytes.
    package var count: Int { self.overflow?.count ?? Int(self.inlineCount) }

    /// Lends the bytes to `body`.
    package func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if let overflow {
            return try unsafe body(overflow.span.bytes)
        }
        return try unsafe withUnsafePointer(to: self.inline) { (inline) throws(Failure) -> Result in
            try unsafe body(RawSpan(_unsafeStart: inline, byteCount: self.count))
        }
    }

    package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.inline == rhs.inline && lhs.inlineCount == rhs.inlineCount && lhs.overflow == rhs.overflow
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.inline.0)
        hasher.combine(self.inline.1)
        hasher.combine(self.inlineCount)
        hasher.combine(self.overflow)
    }
}

extension RoutingID: CustomStringConvertible {
    /// Hexadecimal digits.
    package var description: String {
        let bytes = self.withBytes { unsafe $0.withUnsafeBytes { unsafe Array($0) } }
        return bytes.lazy.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
