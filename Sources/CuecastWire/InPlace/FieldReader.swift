// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Reads the fields of one message in place (Protocol Buffers, "Encoding"), for the few messages that come too often to
/// be decoded into objects.
///
/// It accepts less than the specification allows, and whoever uses it falls back to the generated decoder for the rest:
/// `nil` and `.other` never mean that a message is wrong.
package struct FieldReader {
    /// A field: its number and its value, or where the value lies.
    package enum Field {
        case varint(Int, UInt64)
        case bytes(Int, Range<Int>)
        /// Fixed-width fields, groups, and whatever is damaged.
        case other
    }

    private var position: Int
    private let end: Int

    /// Reads the fields that lie in `range`.
    package init(_ range: Range<Int>) {
        self.position = range.lowerBound
        self.end = range.upperBound
    }

    /// The next field; `nil` at the end.
    @inline(__always)
    package mutating func next(in frame: Span<UInt8>) -> Field? {
        guard self.position < self.end else { return nil }
        guard let tag = self.varint(in: frame), let number = Int(exactly: tag >> 3), number > 0 else { return .other }
        switch tag & 7 {
        case 0:
            guard let value = self.varint(in: frame) else { return .other }
            return .varint(number, value)
        case 2:
            guard let length = self.varint(in: frame), length <= UInt64(self.end - self.position) else { return .other }
            let start = self.position
            self.position += Int(length)
            return .bytes(number, start..<self.position)
        default: return .other
        }
    }

    /// The next number of a packed list; `nil` at its end, or where it is damaged.
    package mutating func nextPacked(in frame: Span<UInt8>) -> UInt64? { self.varint(in: frame) }

    /// Whether everything was read.
    package var isAtEnd: Bool { self.position == self.end }

    @inline(__always)
    private mutating func varint(in frame: Span<UInt8>) -> UInt64? {
        guard self.position < self.end else { return nil }
        let first = frame[self.position]
        self.position += 1
        guard first >= 0x80 else { return UInt64(first) }
        var value = UInt64(first & 0x7F)
        var shift: UInt64 = 7
        while self.position < self.end {
            let byte = frame[self.position]
            self.position += 1
            // The tenth byte has room for one bit.
            guard shift < 63 || byte <= 1 else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
            guard shift < 70 else { return nil }
        }
        return nil
    }
}

extension Array where Element == UInt8 {
    /// Appends a number (Protocol Buffers, "Encoding", "Base 128 Varints").
    @inline(__always)
    package mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            self.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a number as a field, unless it is 0, as proto3 does.
    @inline(__always)
    package mutating func appendField(_ number: Int, _ value: UInt64) {
        guard value != 0 else { return }
        self.appendVarint(UInt64(number) << 3)
        self.appendVarint(value)
    }

    /// Appends what stands before bytes, a text or a nested message: their field and length.
    @inline(__always)
    package mutating func appendFieldHead(_ number: Int, bytes count: Int) {
        self.appendVarint(UInt64(number) << 3 | 2)
        self.appendVarint(UInt64(count))
    }

    /// Appends eight bytes, the highest first.
    @inline(__always)
    package mutating func appendBigEndian(_ value: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            self.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}

/// How many bytes `appendVarint` appends.
@inline(__always)
package func varintBytes(_ value: UInt64) -> Int {
    (70 - (value | 1).leadingZeroBitCount) / 7
}

/// How many bytes `appendField` appends for a field with a number below 16.
@inline(__always)
package func fieldBytes(_ value: UInt64) -> Int {
    value == 0 ? 0 : 1 + varintBytes(value)
}
