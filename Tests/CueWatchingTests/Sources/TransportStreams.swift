// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats

/// A transport stream of one program, packet by packet.
struct TransportStreamMaker {
    var program = 1
    let mapPID = 0x100
    let clockPID = 0x101
    let cuePID = 0x102
    private var counters: [Int: UInt8] = [:]

    init() {}

    /// The table of programs, and the map with the clock and the cues.
    mutating func tables() -> [UInt8] {
        let association = [UInt8(self.program >> 8), UInt8(self.program & 0xFF)] + Self.reserved(self.mapPID)
        let map =
            Self.reserved(self.clockPID) + [0xF0, 6, 5, 4] + Array("CUEI".utf8) + [0x86]
            + Self.reserved(self.cuePID) + [0xF0, 0]
        return self.table(0, 0x00, 1, association) + self.table(self.mapPID, 0x02, self.program, map)
    }

    /// The packets of a section.
    mutating func section(_ section: [UInt8], pid: Int? = nil) -> [UInt8] {
        let pid = pid ?? self.cuePID
        var rest = ([0] + section)[...]
        var packets: [UInt8] = []
        while !rest.isEmpty {
            let counter = self.counters[pid] ?? 0
            self.counters[pid] = (counter + 1) & 0x0F
            let begins: UInt8 = packets.isEmpty ? 0x40 : 0
            let packet = [0x47, begins | UInt8(pid >> 8), UInt8(pid & 0xFF), 0x10 | counter] + rest.prefix(184)
            packets += packet + [UInt8](repeating: 0xFF, count: 188 - packet.count)
            rest = rest.dropFirst(184)
        }
        return packets
    }

    /// The next packets with cues are lost.
    mutating func lose(_ count: UInt8) { self.counters[self.cuePID, default: 0] += count }

    /// A packet with the clock, in ticks of 90 kHz.
    func clock(_ ticks: Int) -> [UInt8] {
        let field = (ticks & 0x1_FFFF_FFFF) << 15 | 0x7E00
        let bytes = (0..<6).map { UInt8(truncatingIfNeeded: field >> (40 - 8 * $0)) }
        let head: [UInt8] = [0x47, UInt8(self.clockPID >> 8), UInt8(self.clockPID & 0xFF), 0x20, 183, 0x10]
        return head + bytes + [UInt8](repeating: 0xFF, count: 176)
    }

    private mutating func table(_ pid: Int, _ table: UInt8, _ id: Int, _ rest: [UInt8]) -> [UInt8] {
        let body = [UInt8(id >> 8), UInt8(id & 0xFF), 0xC1, 0, 0] + rest
        let section = [table, 0xB0, UInt8(body.count + 4)] + body
        return self.section(section + Self.checksum(section), pid: pid)
    }

    private static func reserved(_ pid: Int) -> [UInt8] { [0xE0 | UInt8(pid >> 8), UInt8(pid & 0xFF)] }

    /// The CRC of ISO/IEC 13818-1 annex A.
    private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte) << 24
            for _ in 0..<8 { crc = crc & 0x8000_0000 != 0 ? crc << 1 ^ 0x04C1_1DB7 : crc << 1 }
        }
        return (0..<4).map { UInt8(truncatingIfNeeded: crc >> (24 - 8 * $0)) }
    }
}
