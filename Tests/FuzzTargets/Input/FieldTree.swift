// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import TestSupport

/// A message of Protocol Buffers as the fields that it consists of, whatever they mean: one can be changed, and the rest stays
/// readable.
struct FieldTree {
    enum Value {
        /// A number, and how many bytes it takes: more than it needs now and then.
        case varint(UInt64, bytes: Int)
        /// Four or eight bytes.
        case fixed([UInt8])
        case bytes([UInt8])
        case message(FieldTree)
    }

    struct Field {
        var number: UInt64
        var value: Value
    }

    private static let depthMax = 5
    /// Numbers at which something begins or ends.
    private static let edges: [UInt64] = [
        0, 1, 2, 3, 4, 5, 8, 16, 64, 127, 128, 999, 1_000, 3_600_000, 3_600_001, 1 << 31 - 1, 1 << 31, 1 << 32 - 1,
        1 << 32, 1 << 32 + 1, 1 << 63 - 1, 1 << 63, .max - 1, .max,
    ]

    var fields: [Field] = []

    /// Reads a message; `nil` where it is none.
    ///
    /// What reads as a message within is taken for one, also where it is a text.
    init?(_ bytes: ArraySlice<UInt8>, depth: Int = 0) {
        var rest = bytes
        while !rest.isEmpty {
            guard let (tag, _) = Self.takeVarint(&rest), tag >> 3 > 0, tag < 1 << 32 else { return nil }
            let value: Value
            switch tag & 7 {
            case 0:
                guard let (number, count) = Self.takeVarint(&rest) else { return nil }
                value = .varint(number, bytes: count)
            case 1, 5:
                let count = tag & 7 == 1 ? 8 : 4
                guard rest.count >= count else { return nil }
                value = .fixed(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            case 2:
                guard let (length, _) = Self.takeVarint(&rest), length <= UInt64(rest.count) else { return nil }
                let part = rest.prefix(Int(length))
                rest = rest.dropFirst(Int(length))
                if depth < Self.depthMax, !part.isEmpty, let tree = FieldTree(part, depth: depth + 1) {
                    value = .message(tree)
                } else {
                    value = .bytes(Array(part))
                }
            default: return nil
            }
            self.fields.append(Field(number: tag >> 3, value: value))
        }
    }

    private static func takeVarint(_ rest: inout ArraySlice<UInt8>) -> (UInt64, bytes: Int)? {
        var value: UInt64 = 0
        for (count, byte) in rest.prefix(10).enumerated() {
            value |= UInt64(byte & 0x7F) << UInt64(7 * count)
            guard byte < 0x80 else { continue }
            rest = rest.dropFirst(count + 1)
            return (value, count + 1)
        }
        return nil
    }

    private static func appendVarint(_ value: UInt64, bytes: Int = 1, to written: inout [UInt8]) {
        var rest = value
        var count = 1
        while rest >= 0x80 || count < min(bytes, 10) {
            written.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
            count += 1
        }
        written.append(UInt8(truncatingIfNeeded: rest))
    }

    var bytes: [UInt8] {
        var written: [UInt8] = []
        for field in self.fields {
            switch field.value {
            case .varint(let value, let count):
                Self.appendVarint(field.number << 3, to: &written)
                Self.appendVarint(value, bytes: count, to: &written)
            case .fixed(let part):
                Self.appendVarint(field.number << 3 | (part.count == 8 ? 1 : 5), to: &written)
                written += part
            case .bytes(let part): Self.append(part, field.number, to: &written)
            case .message(let tree): Self.append(tree.bytes, field.number, to: &written)
            }
        }
        return written
    }

    private static func append(_ part: [UInt8], _ number: UInt64, to written: inout [UInt8]) {
        Self.appendVarint(number << 3 | 2, to: &written)
        Self.appendVarint(UInt64(part.count), to: &written)
        written += part
    }

    /// Changes one thing, here or further within.
    mutating func change(_ generator: inout SeededGenerator) {
        guard !self.fields.isEmpty else {
            self.fields.append(Self.anyField(&generator))
            return
        }
        let at = Int.random(in: self.fields.indices, using: &generator)
        if case .message(var tree) = self.fields[at].value, Int.random(in: 0..<4, using: &generator) != 0 {
            tree.change(&generator)
            self.fields[at].value = .message(tree)
            return
        }
        switch Int.random(in: 0..<9, using: &generator) {
        case 0: self.fields.remove(at: at)
        case 1: self.fields.insert(self.fields[at], at: Int.random(in: self.fields.indices, using: &generator))
        case 2: self.fields.swapAt(at, Int.random(in: self.fields.indices, using: &generator))
        case 3: self.fields[at].number = generator.pick([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 31])
        case 4: self.fields.insert(Self.anyField(&generator), at: at)
        case 5:
            // Once more with another value: the last one counts.
            var copy = self.fields[at]
            Self.change(&copy.value, &generator)
            self.fields.insert(copy, at: generator.bool() ? at : self.fields.count)
        default: Self.change(&self.fields[at].value, &generator)
        }
    }

    private static func anyField(_ generator: inout SeededGenerator) -> Field {
        let value: Value =
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: .varint(generator.pick(Self.edges), bytes: 1)
            case 1: .fixed(generator.bytes(8...8))
            default: .bytes(generator.bytes(0...20))
            }
        return Field(number: UInt64.random(in: 1...15, using: &generator), value: value)
    }

    private static func change(_ value: inout Value, _ generator: inout SeededGenerator) {
        switch value {
        case .varint(let number, _):
            let bits = UInt64.random(in: 0..<64, using: &generator)
            value = .varint(
                generator.bool() ? generator.pick(Self.edges) : number ^ (1 << bits),
                bytes: Int.random(in: 0..<4, using: &generator) == 0 ? Int.random(in: 1...10, using: &generator) : 1
            )
        case .fixed(let part): value = .fixed(Self.changed(part, &generator, keepsLength: true))
        case .bytes(let part):
            value = generator.bool() && part.count < 3 ? .varint(1, bytes: 1) : .bytes(Self.changed(part, &generator))
        case .message(let tree): value = .bytes(Self.changed(tree.bytes, &generator))
        }
    }

    /// Other bytes, of about the same length.
    static func changed(
        _ part: [UInt8],
        _ generator: inout SeededGenerator,
        keepsLength: Bool = false
    ) -> [UInt8] {
        var bytes = part
        let at = Int.random(in: 0...max(0, bytes.count - 1), using: &generator)
        switch Int.random(in: 0..<(keepsLength ? 2 : 7), using: &generator) {
        case 0 where !bytes.isEmpty: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1 where !bytes.isEmpty: bytes[at] = generator.pick([0, 1, 0x7F, 0x80, 0xFF, UInt8(ascii: "a")])
        case 2: bytes.removeSubrange(at..<min(bytes.count, at + generator.number(0...8)))
        case 3: bytes.insert(contentsOf: generator.bytes(1...8), at: min(at, bytes.count))
        case 4: bytes = Array(bytes.prefix(at))
        case 5: bytes += bytes.prefix(generator.number(0...min(bytes.count, 200)))
        case 6: bytes += [UInt8](repeating: bytes.last ?? 1, count: generator.number(0...130))
        default: break
        }
        return bytes
    }

    /// A message with one to three changes; where it is no message, other bytes.
    static func changedMessage(_ bytes: ArraySlice<UInt8>, _ generator: inout SeededGenerator) -> [UInt8] {
        guard Int.random(in: 0..<16, using: &generator) != 0, var tree = FieldTree(bytes) else {
            return Self.changed(Array(bytes), &generator)
        }
        for _ in 0..<Int.random(in: 1...3, using: &generator) { tree.change(&generator) }
        return tree.bytes
    }
}
