// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Numbers as MPEG and SCTE write them: the highest byte first.

extension Sequence<UInt8> {
    /// All bytes as one number.
    func number<Number: FixedWidthInteger>(_: Number.Type) -> Number { self.reduce(0) { $0 << 8 | Number($1) } }
}

extension RandomAccessCollection<UInt8> where Index == Int {
    /// Two bytes as a number.
    func twoBytes(at index: Int) -> Int { Int(self[index]) << 8 | Int(self[index + 1]) }
}

extension FixedWidthInteger {
    /// The lowest bytes of the number.
    func lowestBytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: self >> ((count - 1 - $0) * 8)) }
    }
}
