// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Reads fields of a section bit by bit, and records them where that is asked for.
struct SpliceBitReader {
    let bytes: [UInt8]
    /// The next bit, counted from the first bit of the section.
    private(set) var position = 0
    /// The bit after the last one that may be read: the end of the structure that is being read.
    var end: Int
    /// The reserved bits that are 0, in order.
    private(set) var clearedReservedBits: [Int] = []
    /// The fields so far; `nil`: they are not recorded.
    private(set) var fields: [SpliceField]?
    /// The structure that is being read, without parentheses.
    var structureName = "splice_info_section"
    /// The number of the descriptor that is being read; 0: it is none.
    var descriptorNumber = 0

    init(_ bytes: [UInt8], isRecording: Bool) {
        self.bytes = bytes
        self.end = bytes.count * 8
        self.fields = isRecording ? [] : nil
    }

    /// The structure for people: a text that only errors and records need.
    private var structure: String {
        self.descriptorNumber == 0 ? "\(self.structureName)()" : "\(self.structureName)() \(self.descriptorNumber)"
    }

    /// The byte that the next bit is in.
    var byte: Int { self.position / 8 }

    /// The whole bytes before the end of the structure.
    var bytesLeft: Int { (self.end - self.position) / 8 }

    /// A field that is a number.
    ///
    /// - Parameters:
    ///   - count: its bits, at most 64.
    ///   - name: its name in the specification.
    /// - Returns: its value.
    /// - Throws: where the structure ends inside it.
    mutating func read(_ count: Int, _ name: String) throws(SpliceSectionError) -> UInt64 {
        try self.require(count, name)
        let first = self.position
        let value = self.take(count)
        self.record(name, from: first, .number(value))
        return value
    }

    /// A field of one bit.
    mutating func flag(_ name: String) throws(SpliceSectionError) -> Bool { try self.read(1, name) == 1 }

    /// A field of eight bits.
    mutating func byte(_ name: String) throws(SpliceSectionError) -> UInt8 {
        UInt8(truncatingIfNeeded: try self.read(8, name))
    }

    /// A field of whole bytes.
    mutating func bytes(_ count: Int, _ name: String) throws(SpliceSectionError) -> [UInt8] {
        try self.require(count * 8, name)
        let first = self.position
        let value = Array(self.bytes[self.byte..<self.byte + count])
        self.position += count * 8
        if count > 0 { self.record(name, from: first, .bytes(value)) }
        return value
    }

    /// Says what the last field means, where fields are recorded.
    mutating func note(_ text: @autoclosure () -> String) {
        guard let fields = self.fields, !fields.isEmpty else { return }
        self.fields?[fields.count - 1].note = text()
    }

    /// Reserved bits, which are 1 and have no meaning where they are not.
    mutating func reserved(_ count: Int) throws(SpliceSectionError) {
        try self.require(count, "reserved")
        let first = self.position
        let value = self.take(count)
        self.record("reserved", from: first, .number(value))
        guard value != 1 << UInt64(count) - 1 else { return }
        for bit in 0..<count where value >> UInt64(count - 1 - bit) & 1 == 0 {
            self.clearedReservedBits.append(first + bit)
        }
    }

    private mutating func record(_ name: String, from first: Int, _ value: SpliceField.Value) {
        guard self.fields != nil else { return }
        let field = SpliceField(self.structure, name, first..<self.position, value)
        self.fields?.append(field)
    }

    private func require(_ count: Int, _ name: String) throws(SpliceSectionError) {
        guard self.end - self.position < count else { return }
        let here = self.end - self.position
        let detail = "\(name) has \(count) bits, and \(self.structure) ends after \(here) of them"
        throw SpliceSectionError(.truncated, name, byte: self.byte, detail)
    }

    private mutating func take(_ count: Int) -> UInt64 {
        if count == 1 {
            let bit = self.bytes[self.position >> 3] >> UInt8(7 - self.position & 7) & 1
            self.position += 1
            return UInt64(bit)
        }
        var value: UInt64 = 0
        var rest = count
        while rest > 0 {
            let offset = self.position & 7
            let taken = min(8 - offset, rest)
            let bits = UInt64(self.bytes[self.position >> 3]) >> UInt64(8 - offset - taken) & (1 << UInt64(taken) - 1)
            value = value << UInt64(taken) | bits
            self.position += taken
            rest -= taken
        }
        return value
    }
}
