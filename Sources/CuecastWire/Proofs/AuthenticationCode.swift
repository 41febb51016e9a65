// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The first 16 bytes of an HMAC-SHA256, which prove that a gateway made a delivery, a ticket or a tracking URL.
package struct AuthenticationCode: Hashable, Sendable {
    /// How long it is, in bytes.
    package static let byteCount = 16

    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The next bytes of something that was signed.
    @inline(__always)
    init(_ numbers: inout BigEndianReader, in bytes: Span<UInt8>) {
        self.high = numbers.next(8, in: bytes)
        self.low = numbers.next(8, in: bytes)
    }

    /// Whether both are the same; takes as long where they are not, wherever they differ.
    @inline(__always)
    package func matches(_ other: AuthenticationCode) -> Bool {
        (self.high ^ other.high) | (self.low ^ other.low) == 0
    }
}

/// Which key made a code: the first four bytes of a hash of the key, so that no two gateways call one key otherwise.
package struct KeyID: Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Eight hexadecimal digits.
    package var description: String {
        let digits = String(self.rawValue, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

/// The code of something, and the key that it was made with.
package struct Signature: Hashable, Sendable {
    package let key: KeyID
    package let code: AuthenticationCode

    package init(key: KeyID, code: AuthenticationCode) {
        self.key = key
        self.code = code
    }
}

/// Reads numbers that were written with their highest byte first, one after the other.
///
/// The caller has checked that there are as many bytes.
struct BigEndianReader {
    private(set) var rest: Range<Int>

    @inline(__always)
    init(_ range: Range<Int>) {
        self.rest = range
    }

    /// The number in the next `count` bytes, at most 8.
    @inline(__always)
    mutating func next(_ count: Int, in bytes: Span<UInt8>) -> UInt64 {
        var value: UInt64 = 0
        for index in self.rest.prefix(count) { value = value << 8 | UInt64(bytes[index]) }
        self.rest = self.rest.dropFirst(count)
        return value
    }

    /// Where the next `count` bytes lie; `nil` where there are fewer.
    mutating func range(_ count: Int) -> Range<Int>? {
        guard count <= self.rest.count else { return nil }
        defer { self.rest = self.rest.dropFirst(count) }
        return self.rest.prefix(count)
    }
}
