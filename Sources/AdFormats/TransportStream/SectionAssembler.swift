// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The CRC of sections: polynomial 0x04C11DB7, begun with ones, not reflected (ISO/IEC 13818-1 annex A).
enum SectionCRC {
    private static let table: [UInt32] = (0..<256)
        .map { index in
            (0..<8)
                .reduce(UInt32(index) << 24) { value, _ in
                    value & 0x8000_0000 == 0 ? value << 1 : value << 1 ^ 0x04C1_1DB7
                }
        }

    /// Whether the last four bytes are the CRC of those before them.
    static func isValid(_ section: [UInt8]) -> Bool { section.count >= 4 && self.crc(section[...]) == 0 }

    /// The CRC of bytes; of a section with its CRC it is 0.
    static func crc(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        let table = self.table
        return bytes.reduce(0xFFFF_FFFF) { $0 << 8 ^ table[Int(($0 >> 24) ^ UInt32($1))] }
    }
}

/// Puts the sections of one PID together from the payloads of its packets (ISO/IEC 13818-1 section 2.4.4).
struct SectionAssembler: Hashable, Sendable {
    /// The longest section, with its head: a private one (ISO/IEC 13818-1 section 2.4.4.11).
    static let byteCountMax = 4_096
    private static let headByteCount = 3

    /// The section that is not complete; empty: none.
    private var part: [UInt8] = []

    /// Forgets what is not complete.
    mutating func reset() { self.part = [] }

    /// Takes a packet's payload.
    ///
    /// - Parameters:
    ///   - payload: The payload.
    ///   - begins: Whether a section begins in it: it then has a pointer to the first one.
    /// - Returns: The sections that are complete now, and what cannot be read.
    mutating func take(_ payload: ArraySlice<UInt8>, begins: Bool) -> (sections: [[UInt8]], fault: String?) {
        var sections: [[UInt8]] = []
        var fault: String?
        var rest = payload
        if begins {
            guard let pointer = payload.first, payload.count > Int(pointer) + 1 else {
                self.reset()
                return ([], "the pointer leads out of the packet")
            }
            let start = payload.startIndex + 1 + Int(pointer)
            if !self.part.isEmpty {
                self.part += payload[(payload.startIndex + 1)..<start]
                fault = self.take(into: &sections)
                if fault == nil, !self.part.isEmpty { fault = "another one begins before its end" }
                self.reset()
            }
            rest = payload[start...]
            // Several may begin in one packet; 0xFF instead of a table's id fills the rest.
            while let id = rest.first, id != 0xFF {
                let length = Self.length(of: rest) ?? .max
                self.part = Array(rest.prefix(length))
                rest = rest.dropFirst(self.part.count)
                let failed = self.take(into: &sections)
                fault = fault ?? failed
                if failed != nil { break }
            }
        } else if !self.part.isEmpty {
            self.part += rest
            fault = self.take(into: &sections)
        }
        return (sections, fault)
    }

    /// Takes the section if it is complete; what follows it fills the packet.
    private mutating func take(into sections: inout [[UInt8]]) -> String? {
        guard let length = Self.length(of: self.part[...]) else { return nil }
        guard length <= Self.byteCountMax else {
            self.reset()
            return "it would be \(length) bytes long, and sections have at most \(Self.byteCountMax)"
        }
        guard self.part.count >= length else { return nil }
        sections.append(Array(self.part.prefix(length)))
        self.reset()
        return nil
    }

    private static func length(of section: ArraySlice<UInt8>) -> Int? {
        guard section.count >= self.headByteCount else { return nil }
        let first = section.startIndex
        return self.headByteCount + (Int(section[first + 1] & 0x0F) << 8 | Int(section[first + 2]))
    }
}
