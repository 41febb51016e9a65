// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

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
        return self.headByteCount + section.twoBytes(at: section.startIndex + 1) & 0x0FFF
    }
}
