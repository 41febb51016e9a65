// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The bytes of a journal file: a header, then records that can be told from damage.
///
/// A record is a mark of four bytes, the length of its payload, a hash of it, and the payload, a `JournalEntry`. Where a
/// record is damaged, reading goes on at the next mark that begins a whole one: only what is damaged is lost.
enum JournalRecords {
    /// The first bytes of every file, with the version of the format.
    static let header = Self.headerOfAnyVersion + Array("1\n".utf8)
    /// How the files of all versions begin.
    static let headerOfAnyVersion = Array("cuecast journal ".utf8)
    private static let mark: [UInt8] = [0xC5, 0x63, 0x75, 0x65]
    private static let headBytes = 16

    /// The content of a file.
    struct Contents: Hashable, Sendable {
        var entries: [JournalEntry] = []
        /// How many places could not be read.
        var damaged = 0
    }

    static func append(_ entry: JournalEntry, to bytes: inout [UInt8]) {
        let payload = entry.encoded()
        bytes += Self.mark
        Self.append(UInt64(payload.count), count: 4, to: &bytes)
        Self.append(StableHash.hash([payload]), count: 8, to: &bytes)
        bytes += payload
    }

    /// Reads a file; `nil` where it is none of ours, or of a later version.
    ///
    /// Never traps, whatever the bytes are.
    static func read(_ bytes: [UInt8]) -> Contents? {
        guard bytes.starts(with: Self.header) else {
            // A file whose very making was interrupted.
            return Self.header.starts(with: bytes) ? Contents(damaged: bytes.isEmpty ? 0 : 1) : nil
        }
        var contents = Contents()
        var index = Self.header.count
        var isInDamage = false
        while index < bytes.count {
            if let (entry, end) = Self.record(in: bytes, at: index) {
                contents.entries.append(entry)
                index = end
                isInDamage = false
            } else {
                if !isInDamage { contents.damaged += 1 }
                isInDamage = true
                index += 1
                while index < bytes.count, bytes[index] != Self.mark[0] { index += 1 }
            }
        }
        return contents
    }

    private static func record(in bytes: [UInt8], at start: Int) -> (entry: JournalEntry, end: Int)? {
        guard start + Self.headBytes <= bytes.count, bytes[start..<start + 4].elementsEqual(Self.mark) else {
            return nil
        }
        let length = Int(Self.number(in: bytes, at: start + 4, count: 4))
        let end = start + Self.headBytes + length
        guard length <= JournalEntry.bytesMax, end <= bytes.count else { return nil }
        let payload = Array(bytes[start + Self.headBytes..<end])
        guard StableHash.hash([payload]) == Self.number(in: bytes, at: start + 8, count: 8) else { return nil }
        // A whole record of a kind that only a later version knows is damage too: it is counted.
        guard let entry = try? JournalEntry(decoding: payload) else { return nil }
        return (entry, end)
    }

    /// Little-endian.
    private static func append(_ number: UInt64, count: Int, to bytes: inout [UInt8]) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index))) }
    }

    private static func number(in bytes: [UInt8], at start: Int, count: Int) -> UInt64 {
        (0..<count).reduce(0) { $0 | UInt64(bytes[start + $1]) << UInt64(8 * $1) }
    }
}
