// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Writes messages field by field (Protocol Buffers, "Encoding"), into bytes that the caller holds.
///
/// What is written in the order of the numbers is, byte for byte, what the generated code writes.
extension Array where Element == UInt8 {
    /// Appends a number.
    @inlinable @inline(__always)
    package mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            self.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a number as a field, unless it is 0, as proto3 does.
    @inlinable @inline(__always)
    package mutating func appendField(_ field: some MessageField, _ value: UInt64) {
        guard value != 0 else { return }
        if field.type == .fixed64 {
            self.appendVarint(fieldTag(field, WireType.fixed64))
            self.appendLittleEndian(value)
        } else {
            self.appendVarint(fieldTag(field, WireType.varint))
            self.appendVarint(value)
        }
    }

    /// Appends bytes or a text as a field, unless there are none, as proto3 does.
    @inlinable @inline(__always)
    package mutating func appendField(_ field: some MessageField, _ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        self.appendMessage(field, bytes)
    }

    /// Appends a nested message, or bytes of a list: they are there also when they are empty.
    @inlinable @inline(__always)
    package mutating func appendMessage(_ field: some MessageField, _ bytes: [UInt8]) {
        self.appendFieldHead(field, bytes: bytes.count)
        self.append(contentsOf: bytes)
    }

    /// Appends the prefix of bytes, a text or a nested message: their field and length.
    @inlinable @inline(__always)
    package mutating func appendFieldHead(_ field: some MessageField, bytes count: Int) {
        self.appendVarint(fieldTag(field, WireType.lengthDelimited))
        self.appendVarint(UInt64(count))
    }

    /// Appends a session as a field.
    @inline(__always)
    package mutating func appendField(_ field: some MessageField, _ session: SessionID) {
        self.appendFieldHead(field, bytes: WireLimits.sessionBytes)
        self.appendBigEndian(session.high)
        self.appendBigEndian(session.low)
    }

    /// Appends eight bytes, the highest first.
    @inlinable @inline(__always)
    package mutating func appendBigEndian(_ value: UInt64) {
        // Safety: the bytes of a number, copied while it lives.
        unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe self.append(contentsOf: $0) }
    }

    /// Appends four bytes, the highest first.
    @inlinable @inline(__always)
    mutating func appendBigEndian(_ value: UInt32) {
        // Safety: the bytes of a number, copied while it lives.
        unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe self.append(contentsOf: $0) }
    }

    @inlinable @inline(__always)
    mutating func appendLittleEndian(_ value: UInt64) { self.appendBigEndian(value.byteSwapped) }

    /// Writes another number over one that takes `range`, without moving what follows: short ones are filled up with bytes
    /// that add nothing.
    ///
    /// - Precondition: the number has no more than seven bits for each byte.
    package mutating func replaceVarint(at range: Range<Int>, with value: UInt64) {
        precondition(varintBytes(value) <= range.count, "\(value) does not fit into \(range.count) bytes")
        var rest = value
        for index in range {
            self[index] = UInt8(truncatingIfNeeded: rest) & 0x7F | (index + 1 < range.upperBound ? 0x80 : 0)
            rest >>= 7
        }
    }
}

/// The prefix of a field: its number, and its wire type.
@inlinable @inline(__always)
func fieldTag(_ field: some MessageField, _ wireType: UInt64) -> UInt64 {
    UInt64(truncatingIfNeeded: field.rawValue) << 3 | wireType
}

/// How many bytes `appendVarint` appends.
@inlinable @inline(__always)
package func varintBytes(_ value: UInt64) -> Int {
    (70 - (value | 1).leadingZeroBitCount) / 7
}

/// How many bytes `appendField` appends for a number that is no `fixed64`.
@inlinable @inline(__always)
package func fieldBytes(_ field: some MessageField, _ value: UInt64) -> Int {
    value == 0 ? 0 : varintBytes(fieldTag(field, WireType.varint)) + varintBytes(value)
}

/// How many bytes a field takes whose bytes, text or nested message is so long.
@inlinable @inline(__always)
package func fieldBytes(_ field: some MessageField, bytes count: Int) -> Int {
    varintBytes(fieldTag(field, WireType.lengthDelimited)) + varintBytes(UInt64(count)) + count
}
