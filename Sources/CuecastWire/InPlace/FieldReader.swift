// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Reads the fields of one message in place (Protocol Buffers, "Encoding"), for the few messages that come too often to
/// be decoded into objects.
///
///     var fields = FieldReader<PositionField>(range)
///     while let field = fields.next(in: frame) {
///         switch field {
///         case .fixed64(.epoch, let value): epoch = value
///         case .unreadable: return nil
///         default: continue
///         }
///     }
///
/// It never traps where `range` lies in the frame, and never reads past it. It reads less than the generated code: `unreadable`
/// does not mean that a message is wrong. A caller that must know decodes the message in full.
///
/// To find what the generated code finds, take the last value of a field that comes again, leave out a field of another wire
/// type than its own, cut a number to the bits of its type, and give up where a nested message comes again: the generated
/// code merges it with the first.
@usableFromInline
package struct FieldReader<Message: MessageField> {
    /// A field: its number and its value, or where the value lies.
    @usableFromInline
    package enum Field {
        case varint(FieldNumber<Message>, UInt64)
        case fixed64(FieldNumber<Message>, UInt64)
        case fixed32(FieldNumber<Message>, UInt32)
        /// A text, bytes, a message, or a packed list.
        case bytes(FieldNumber<Message>, Range<Int>)
        /// Groups, and whatever is damaged; nothing is read after it.
        case unreadable
    }

    @usableFromInline var numbers: VarintReader
    /// The number of the field that `nextInOrder` read last.
    @usableFromInline var last = 0

    /// Reads the fields that lie in `range`.
    @inlinable @inline(__always)
    package init(_ range: Range<Int>) {
        self.numbers = VarintReader(range)
    }

    /// The next field; `nil` at the end.
    @inlinable @inline(__always)
    package mutating func next(in frame: Span<UInt8>) -> Field? {
        guard !self.numbers.isAtEnd else { return nil }
        guard let tag = self.tag(in: frame) else { return self.unreadable() }
        return self.field(tag, in: frame)
    }

    /// The next field of a message that holds each of them at most once, in the order of the numbers; `nil` at the end.
    ///
    /// - Parameters:
    ///   - frame: the bytes that hold the message.
    ///   - repeated: the field that may come more than once in a row.
    /// - Returns: `unreadable` also where a field does not follow the one before.
    @inlinable @inline(__always)
    package mutating func nextInOrder(in frame: Span<UInt8>, repeated: Message? = nil) -> Field? {
        guard !self.numbers.isAtEnd else { return nil }
        guard let tag = self.tag(in: frame) else { return self.unreadable() }
        // Before the wire type is looked at: so the code of a caller needs no second look at what kind of field it is.
        let number = Int(truncatingIfNeeded: tag >> 3)
        guard number > self.last || (number == self.last && number == repeated?.rawValue) else {
            return self.unreadable()
        }
        self.last = number
        return self.field(tag, in: frame)
    }

    /// Number and wire type; `nil` where the number is 0 or higher than there are.
    @inlinable @inline(__always)
    mutating func tag(in frame: Span<UInt8>) -> UInt64? {
        let first = frame[self.numbers.position]
        guard first >= 0x80 else {
            self.numbers.position += 1
            return first >> 3 == 0 ? nil : UInt64(first)
        }
        guard let tag = self.numbers.next(in: frame), (1 << 3..<1 << 32).contains(tag) else { return nil }
        return tag
    }

    @inlinable @inline(__always)
    mutating func field(_ tag: UInt64, in frame: Span<UInt8>) -> Field {
        let number = FieldNumber<Message>(rawValue: Int(truncatingIfNeeded: tag >> 3))
        switch tag & 7 {
        case WireType.varint:
            guard let value = self.numbers.next(in: frame) else { return self.unreadable() }
            return .varint(number, value)
        case WireType.lengthDelimited:
            guard let length = self.numbers.next(in: frame), let range = self.numbers.skip(length) else {
                return self.unreadable()
            }
            return .bytes(number, range)
        case WireType.fixed64:
            guard let range = self.numbers.skip(8) else { return self.unreadable() }
            return .fixed64(number, frame.littleEndian(at: range))
        case WireType.fixed32:
            guard let range = self.numbers.skip(4) else { return self.unreadable() }
            return .fixed32(number, UInt32(truncatingIfNeeded: frame.littleEndian(at: range)))
        default: return self.unreadable()
        }
    }

    /// Where in the frame the next field begins.
    package var position: Int { self.numbers.position }

    @inlinable @inline(__always)
    mutating func unreadable() -> Field {
        self.numbers.skipAll()
        return .unreadable
    }
}

/// The number of a field that was read: one of the table, or of a version that it does not know.
@usableFromInline
package struct FieldNumber<Message: MessageField>: Hashable, Sendable {
    @usableFromInline let rawValue: Int

    @inlinable @inline(__always)
    init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Lets patterns name the fields of the table.
    @inlinable @inline(__always)
    package static func ~= (field: Message, number: FieldNumber<Message>) -> Bool { number.rawValue == field.rawValue }
}

/// How the value of a field lies in a message; groups are not written any more.
@usableFromInline
enum WireType {
    @inlinable static var varint: UInt64 { 0 }
    @inlinable static var fixed64: UInt64 { 1 }
    @inlinable static var lengthDelimited: UInt64 { 2 }
    @inlinable static var fixed32: UInt64 { 5 }
}

/// Reads numbers that lie one behind the other (Protocol Buffers, "Encoding", "Base 128 Varints"), as in a packed list.
@usableFromInline
package struct VarintReader {
    @usableFromInline var position: Int
    @usableFromInline let end: Int

    /// Reads the numbers that lie in `range`.
    @inlinable @inline(__always)
    package init(_ range: Range<Int>) {
        self.position = range.lowerBound
        self.end = range.upperBound
    }

    /// Whether everything was read.
    @inlinable @inline(__always)
    package var isAtEnd: Bool {
        // As `next` asks it: asked twice with the same words it costs once.
        !(self.position < self.end)
    }

    /// The next number; `nil` at the end, and where it is damaged.
    @inlinable @inline(__always)
    package mutating func next(in frame: Span<UInt8>) -> UInt64? {
        guard self.position < self.end else { return nil }
        let first = frame[self.position]
        self.position += 1
        guard first >= 0x80 else { return UInt64(first) }
        var value = UInt64(first & 0x7F)
        var shift: UInt64 = 7
        while self.position < self.end {
            let byte = frame[self.position]
            self.position += 1
            value |= UInt64(byte & 0x7F) &<< shift
            // The tenth byte has room for one bit.
            if byte < 0x80 { return shift < 63 || byte <= 1 ? value : nil }
            shift &+= 7
            guard shift < 70 else { return nil }
        }
        return nil
    }

    /// Where the next bytes lie; `nil` where there are fewer.
    @inlinable @inline(__always)
    mutating func skip(_ count: UInt64) -> Range<Int>? {
        guard count <= UInt64(self.end - self.position) else { return nil }
        let start = self.position
        self.position += Int(count)
        return start..<self.position
    }

    @inlinable
    mutating func skipAll() { self.position = self.end }
}

extension Span<UInt8> {
    /// Up to eight bytes as a number, the lowest first.
    @usableFromInline @inline(never)
    func littleEndian(at range: Range<Int>) -> UInt64 {
        var value: UInt64 = 0
        for index in range.reversed() { value = value << 8 | UInt64(self[index]) }
        return value
    }
}
