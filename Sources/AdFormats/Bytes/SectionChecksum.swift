// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The CRC-32 of MPEG sections (ISO/IEC 13818-1 annex A): the polynomial 0x04C11DB7, all ones at the start, no reflection.
enum SectionChecksum {
    private static let table: [UInt32] = (0..<256)
        .map { index in
            (0..<8)
                .reduce(UInt32(index) << 24) { value, _ in
                    value & 0x8000_0000 == 0 ? value << 1 : value << 1 ^ 0x04C1_1DB7
                }
        }

    /// The checksum of bytes; 0 for a whole section with its right checksum.
    static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        let table = self.table
        var value: UInt32 = 0xFFFF_FFFF
        for byte in bytes { value = value << 8 ^ table[Int(value >> 24 ^ UInt32(byte))] }
        return value
    }

    /// Whether the last four bytes are the checksum of the bytes before them.
    static func isRight(in section: [UInt8]) -> Bool { section.count >= 4 && self.of(section) == 0 }
}
