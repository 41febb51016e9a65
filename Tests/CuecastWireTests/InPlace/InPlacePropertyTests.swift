// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf
import TestSupport
import Testing

@testable import CuecastWire

/// The reader and the writer against the generated code, on random messages: with fields that come again, have another wire
/// type or are not known, with numbers that are longer than they need be, and cut anywhere.
@Suite(.suiteLimit)
struct InPlacePropertyTests {
    /// A message without nested ones, and how the generated code reads and writes it.
    struct Subject: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// A random message.
        let sample: @Sendable (inout SeededGenerator) -> RandomMessage
        /// Reads in place and writes what was found; `nil`: not readable in place.
        let inPlace: @Sendable ([UInt8]) -> [UInt8]?
        /// The same with the generated code, without what it does not know.
        let generated: @Sendable ([UInt8]) throws -> [UInt8]

        init<Message: SwiftProtobuf.Message, Fields: MessageField>(
            _: Message.Type,
            _ fields: Fields.Type,
            lists: Set<Fields> = []
        ) {
            self.testDescription = "\(fields)"
            self.sample = { RandomMessage(of: fields, &$0) }
            self.inPlace = { rewrittenInPlace($0, fields, lists: lists) }
            self.generated = { bytes in
                var message = try Message(serializedBytes: bytes)
                message.unknownFields = UnknownStorage()
                return try message.serializedBytes()
            }
        }
    }

    static let subjects = [
        Subject(Cuecast_V1_GetBatch.self, GetBatchField.self),
        Subject(Cuecast_V1_Outcome.self, OutcomeField.self),
        Subject(Cuecast_V1_Leave.self, LeaveField.self),
        Subject(Cuecast_V1_Acknowledged.self, AcknowledgedField.self),
        Subject(Cuecast_V1_Position.self, PositionField.self),
        Subject(Cuecast_V1_SyncTick.self, SyncTickField.self),
        Subject(Cuecast_V1_AcceptedRequest.self, AcceptedRequestField.self, lists: [.ordinals]),
        Subject(Cuecast_V1_DeliveryEntry.self, DeliveryEntryField.self),
    ]

    private func said(_ bytes: [UInt8]) -> Comment { "CUECAST_SEED=\(SeededGenerator.seed) \(bytes)" }

    @Test(arguments: InPlacePropertyTests.subjects)
    func `reading and writing in place agrees with the generated code`(
        subject: Subject
    ) throws {
        var generator = SeededGenerator(for: #function + subject.testDescription)
        var readable = 0
        for _ in 0..<3_000 {
            let sample = subject.sample(&generator)
            guard let found = subject.inPlace(sample.bytes) else {
                try #require(!sample.isReadable, self.said(sample.bytes))
                continue
            }
            readable += 1
            let expected = try subject.generated(sample.bytes)
            try #require(found == expected, self.said(sample.bytes))
        }
        #expect(readable > 1_000, "\(subject.testDescription)")
    }

    @Test(arguments: InPlacePropertyTests.subjects)
    func `a message that is cut anywhere is read as the generated code reads it, or not at all`(
        subject: Subject
    ) throws {
        var generator = SeededGenerator(for: #function + subject.testDescription)
        for _ in 0..<100 {
            let whole = subject.sample(&generator).bytes
            for count in 0...whole.count {
                let bytes = Array(whole.prefix(count))
                guard let found = subject.inPlace(bytes) else { continue }
                try #require(found == (try subject.generated(bytes)), self.said(bytes))
            }
        }
    }

    @Test func `whatever the bytes are, the reader ends and stays within its range`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<20_000 {
            let bytes = generator.bytes(0...40)
            let end = Int.random(in: 0...bytes.count, using: &generator)
            let start = Int.random(in: 0...end, using: &generator)
            var fields = FieldReader<OutcomeField>(start..<end)
            var position = start
            while let field = fields.next(in: bytes.span) {
                try #require(fields.position > position && fields.position <= end, self.said(bytes))
                position = fields.position
                if case .bytes(_, let range) = field {
                    try #require(range.lowerBound >= start && range.upperBound <= end, self.said(bytes))
                }
            }
            try #require(position == end, self.said(bytes))
        }
    }

    @Test func `a number of each length is read as it was written, and takes as many bytes as reckoned`() throws {
        var generator = SeededGenerator(for: #function)
        for bits in 0...64 {
            let value = bits == 0 ? 0 : UInt64.max >> UInt64(64 - bits)
            for value in [value, value &- 1, generator.number(0...value)] {
                var bytes: [UInt8] = []
                bytes.appendVarint(value)
                #expect(bytes.count == varintBytes(value))
                var numbers = VarintReader(0..<bytes.count)
                let found = numbers.next(in: bytes.span)
                #expect(found == value && numbers.isAtEnd)
                // Room for more: the digits that were there before do not shine through.
                for room in bytes.count...10 {
                    var longer = generator.bytes(room...room) + [7]
                    longer.replaceVarint(at: 0..<room, with: value)
                    var numbers = VarintReader(0..<longer.count)
                    let found = numbers.next(in: longer.span)
                    let next = numbers.next(in: longer.span)
                    #expect(found == value && next == 7, "\(longer)")
                }
            }
        }
    }

    @Test func `the tenth byte of a number has one bit, and there is no eleventh`() {
        let nine = [UInt8](repeating: 0xFF, count: 9)
        for (bytes, expected) in [
            (nine + [1], UInt64.max), (nine + [2], nil), (nine + [0x81, 0], nil), (nine, nil), ([], nil),
        ] as [([UInt8], UInt64?)] {
            var numbers = VarintReader(0..<bytes.count)
            let found = numbers.next(in: bytes.span)
            #expect(found == expected, "\(bytes)")
        }
    }

    @Test func `a field number of 0, and one past the highest, are not read`() {
        for (tag, isRead) in [(UInt64(0), false), (1 << 3, true), (UInt64(1 << 29 - 1) << 3, true), (1 << 32, false)] {
            var bytes: [UInt8] = []
            bytes.appendVarint(tag)
            bytes.append(5)
            var fields = FieldReader<OutcomeField>(0..<bytes.count)
            let found = fields.next(in: bytes.span)
            let after = fields.next(in: bytes.span)
            if case .varint(_, 5)? = found { #expect(isRead) } else { #expect(!isRead, "\(tag)") }
            #expect(after == nil)
        }
    }
}

/// Reads a message as `FieldReader` says that it must be read, and writes what was found in the order of the numbers.
///
/// - Returns: `nil` where the reader gives up.
private func rewrittenInPlace<Fields: MessageField>(
    _ bytes: [UInt8],
    _: Fields.Type,
    lists: Set<Fields>
) -> [UInt8]? {
    let frame = bytes.span
    var numbers: [Fields: UInt64] = [:]
    var ranges: [Fields: Range<Int>] = [:]
    var listed: [Fields: [UInt64]] = [:]
    var reader = FieldReader<Fields>(0..<bytes.count)
    while let read = reader.next(in: frame) {
        switch read {
        case .varint(let number, let value):
            guard let field = Fields.allCases.first(where: { $0 ~= number }), field.isVarint else { continue }
            if lists.contains(field) {
                listed[field, default: []].append(field.cut(value))
            } else {
                numbers[field] = field.cut(value)
            }
        case .fixed64(let number, let value):
            guard let field = Fields.allCases.first(where: { $0 ~= number }), field.type == .fixed64 else { continue }
            numbers[field] = value
        case .fixed32: continue
        case .bytes(let number, let range):
            guard let field = Fields.allCases.first(where: { $0 ~= number }) else { continue }
            if lists.contains(field) {
                var packed = VarintReader(range)
                while !packed.isAtEnd {
                    guard let value = packed.next(in: frame) else { return nil }
                    listed[field, default: []].append(field.cut(value))
                }
            } else if field.type == .text || field.type == .bytes {
                ranges[field] = range
            }
        case .unreadable: return nil
        }
    }
    var written: [UInt8] = []
    for field in Fields.allCases.sorted(by: { $0.rawValue < $1.rawValue }) {
        let before = written.count
        if let values = listed[field] {
            var packed: [UInt8] = []
            for value in values { packed.appendVarint(value) }
            written.appendField(field, packed)
        } else if let range = ranges[field] {
            written.appendField(field, Array(bytes[range]))
            #expect(written.count - before == (range.isEmpty ? 0 : fieldBytes(field, bytes: range.count)))
        } else if let value = numbers[field] {
            written.appendField(field, value)
            if field.isVarint { #expect(written.count - before == fieldBytes(field, value)) }
        }
    }
    return written
}

extension MessageField {
    fileprivate var isVarint: Bool {
        switch self.type {
        case .bool, .uint32, .uint64, .int64, .enumeration: true
        case .fixed64, .text, .bytes, .message: false
        }
    }

    /// The bits that a field of this type keeps.
    fileprivate func cut(_ value: UInt64) -> UInt64 {
        switch self.type {
        case .bool: value == 0 ? 0 : 1
        case .uint32: UInt64(UInt32(truncatingIfNeeded: value))
        case .enumeration: UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: value)))
        default: value
        }
    }
}

/// The bytes of a random message, right or wrong.
struct RandomMessage {
    private(set) var bytes: [UInt8] = []
    /// Whether everything in it can be read in place.
    private(set) var isReadable = true

    /// Up to twelve fields, each a usual one, or one of another wire type, or an unknown one, in any order.
    init<Fields: MessageField>(of _: Fields.Type, _ generator: inout SeededGenerator) {
        let fields = Array(Fields.allCases)
        for _ in 0..<generator.number(0...12) {
            let field = generator.pick(fields)
            switch generator.number(0...9) {
            case 0...5: self.appendField(field.rawValue, field.type, &generator)
            case 6: self.appendField(field.rawValue, Self.otherType(&generator), &generator)
            case 7:
                self.appendField(generator.number(100...(1 << 29 - 1)), Self.otherType(&generator), &generator)
            case 8:
                // 32 bits, which no field of ours has.
                self.append(UInt64(generator.pick([field.rawValue, 1_000])) << 3 | 5, &generator)
                self.bytes += generator.bytes(4...4)
            default: self.appendSeldom(field.rawValue, &generator)
            }
        }
    }

    private static func otherType(_ generator: inout SeededGenerator) -> MessageFieldType {
        generator.pick([MessageFieldType.uint64, .fixed64, .bytes])
    }

    private mutating func appendField(_ number: Int, _ type: MessageFieldType, _ generator: inout SeededGenerator) {
        switch type {
        case .bool, .uint32, .uint64, .int64, .enumeration:
            self.append(UInt64(number) << 3, &generator)
            self.append(generator.number(0...UInt64.max) >> generator.number(0...63), &generator)
        case .fixed64:
            self.append(UInt64(number) << 3 | 1, &generator)
            self.bytes += generator.bytes(8...8)
        case .text, .bytes, .message:
            // Letters: a text may hold them, and as numbers of a packed list each is one.
            let letters = generator.list(0...20) { UInt8.random(in: 0x20...0x7E, using: &$0) }
            self.append(UInt64(number) << 3 | 2, &generator)
            self.append(UInt64(letters.count), &generator)
            self.bytes += letters
        }
    }

    /// A group, a wire type that does not exist, or a length past the end.
    private mutating func appendSeldom(_ number: Int, _ generator: inout SeededGenerator) {
        guard generator.number(0...3) == 1 else { return }
        self.isReadable = false
        switch generator.number(0...2) {
        case 0: self.bytes += [0x0B, 0x0C]
        case 1: self.append(UInt64(number) << 3 | generator.pick([6, 7]), &generator)
        default:
            self.append(UInt64(number) << 3 | 2, &generator)
            self.append(generator.number(100_000...UInt64.max), &generator)
        }
    }

    /// A number, now and then with more bytes than it needs.
    private mutating func append(_ value: UInt64, _ generator: inout SeededGenerator) {
        let needed = varintBytes(value)
        let count = generator.number(0...3) == 1 ? generator.number(needed...(needed > 5 ? 10 : 5)) : needed
        var number = [UInt8](repeating: 0, count: count)
        number.replaceVarint(at: 0..<count, with: value)
        self.bytes += number
    }
}
