// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Walks the fields of a protobuf message in place (Protocol Buffers, "Encoding").
///
/// A load of thousands of listeners reads the same few messages over and over; this reads what a listener needs without
/// an allocation. What is seldom goes through `CuecastWire`. It never traps, whatever the bytes are.
package struct FieldCursor: Sendable {
    /// One field: the value of a number, or the place of anything else.
    package struct Field: Sendable {
        package let number: Int
        /// Whether it is a number; otherwise it is a string, bytes or a message.
        package let isNumber: Bool
        /// A varint or fixed-width number; 0 for what has bytes.
        package let value: UInt64
        /// Where the bytes of a string, bytes or message stand; empty for numbers.
        package let bytes: Range<Int>
    }

    private var offset: Int
    private let end: Int
    /// Whether the bytes ended amid a field, or are no protobuf.
    package private(set) var isMalformed = false

    /// Begins at the first field of a message.
    ///
    /// - Parameter range: where the message stands; what lies outside of the bytes is malformed.
    package init(_ range: Range<Int>) {
        self.offset = range.lowerBound
        self.end = range.upperBound
    }

    /// The next field; `nil` at the end and where the bytes are malformed.
    package mutating func next(in bytes: Span<UInt8>) -> Field? {
        guard !self.isMalformed, self.offset < self.end, self.end <= bytes.count, self.offset >= 0 else { return nil }
        guard let tag = self.varint(in: bytes), tag >> 3 != 0, tag >> 3 < 1 << 29 else { return self.malformed() }
        let number = Int(tag >> 3)
        switch tag & 7 {
        case 0:
            guard let value = self.varint(in: bytes) else { return self.malformed() }
            return Field(number: number, isNumber: true, value: value, bytes: 0..<0)
        case 1:
            guard let value = self.fixed(8, in: bytes) else { return self.malformed() }
            return Field(number: number, isNumber: true, value: value, bytes: 0..<0)
        case 2:
            guard let length = self.varint(in: bytes), length <= UInt64(self.end - self.offset) else {
                return self.malformed()
            }
            let start = self.offset
            self.offset += Int(length)
            return Field(number: number, isNumber: false, value: 0, bytes: start..<self.offset)
        case 5:
            guard let value = self.fixed(4, in: bytes) else { return self.malformed() }
            return Field(number: number, isNumber: true, value: value, bytes: 0..<0)
        default: return self.malformed()
        }
    }

    private mutating func malformed() -> Field? {
        self.isMalformed = true
        return nil
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
        guard count <= self.end - self.offset else { return nil }
        var value: UInt64 = 0
        for index in 0..<count { value |= UInt64(bytes[self.offset + index]) << UInt64(8 * index) }
        self.offset += count
        return value
    }
}
