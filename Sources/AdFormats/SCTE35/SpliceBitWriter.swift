// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Writes fields of a section bit by bit.
struct SpliceBitWriter {
    private(set) var bytes: [UInt8] = []
    /// The next bit, counted from the first bit of the section.
    private(set) var position = 0
    /// The reserved bits that are written as 0.
    private let clearedReservedBits: Set<Int>

    init(clearedReservedBits: [Int]) { self.clearedReservedBits = Set(clearedReservedBits) }

    /// A field that is a number.
    ///
    /// - Parameters:
    ///   - value: its value.
    ///   - count: its bits, at most 64.
    ///   - name: its name in the specification.
    /// - Throws: where the bits cannot hold the value.
    mutating func write(_ value: some FixedWidthInteger, _ count: Int, _ name: String) throws(SpliceSectionError) {
        let wide = UInt64(truncatingIfNeeded: value)
        guard value >= 0, count == 64 || wide >> UInt64(count) == 0 else {
            let detail = "\(value) does not fit into its \(count) bits"
            throw SpliceSectionError(.invalidValue, name, byte: self.position / 8, detail)
        }
        self.put(wide, count)
    }

    /// A field of one bit.
    mutating func flag(_ value: Bool) { self.put(value ? 1 : 0, 1) }

    /// A field of whole bytes.
    mutating func write(_ bytes: [UInt8]) {
        self.bytes += bytes
        self.position += bytes.count * 8
    }

    /// Reserved bits.
    mutating func reserved(_ count: Int) {
        for _ in 0..<count { self.put(self.clearedReservedBits.contains(self.position) ? 0 : 1, 1) }
    }

    /// Sets a field that was written as 0 before.
    ///
    /// - Parameters:
    ///   - first: its first bit.
    ///   - count: its bits.
    ///   - value: its value, which the bits can hold.
    mutating func set(_ first: Int, _ count: Int, _ value: Int) {
        for bit in 0..<count where value >> (count - 1 - bit) & 1 == 1 {
            self.bytes[(first + bit) / 8] |= 0x80 >> UInt8((first + bit) % 8)
        }
    }

    private mutating func put(_ value: UInt64, _ count: Int) {
        var rest = count
        while rest > 0 {
            let offset = self.position & 7
            if offset == 0 { self.bytes.append(0) }
            let taken = min(8 - offset, rest)
            let bits = UInt8(truncatingIfNeeded: value >> UInt64(rest - taken) & (1 << UInt64(taken) - 1))
            self.bytes[self.bytes.count - 1] |= bits << UInt8(8 - offset - taken)
            self.position += taken
            rest -= taken
        }
    }
}
