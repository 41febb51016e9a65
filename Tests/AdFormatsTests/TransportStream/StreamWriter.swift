// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import TestSupport

/// Makes transport streams: the other half of the reader, written from ISO/IEC 13818-1.
struct StreamWriter {
    static let mapPID = 0x100
    static let clockPID = 0x101
    static let cuePID = 0x102

    private(set) var bytes: [UInt8] = []
    private var counters: [Int: UInt8] = [:]

    /// A table of programs and the map of one, with cues on these PIDs.
    mutating func tables(cuePIDs: [Int] = [Self.cuePID], registration: String? = "CUEI", version: UInt8 = 0) {
        self.section(Self.association([(1, Self.mapPID)], version: version), pid: 0)
        self.section(Self.map(cuePIDs: cuePIDs, registration: registration, version: version), pid: Self.mapPID)
    }

    /// The packets of sections, one behind the other.
    mutating func section(_ sections: [UInt8]..., pid: Int, pieceMax: Int = 184) {
        // The first packet has the pointer; nothing is before the first section.
        var rest = ([0] + sections.joined())[...]
        var begins = true
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieceMax))
            rest = rest.dropFirst(piece.count)
            self.packet(pid: pid, begins: begins, payload: piece)
            begins = false
        }
    }

    /// A packet with a payload, which 0xFF fills.
    mutating func packet(pid: Int, begins: Bool = false, payload: [UInt8], scrambled: Bool = false, skip: UInt8 = 0) {
        let counter = ((self.counters[pid] ?? 15) &+ 1 &+ skip) & 0x0F
        self.counters[pid] = counter
        self.bytes += [0x47, (begins ? 0x40 : 0) | UInt8(pid >> 8), UInt8(pid & 0xFF)]
        self.bytes.append((scrambled ? 0xC0 : 0) | 0x10 | counter)
        self.bytes += payload + [UInt8](repeating: 0xFF, count: 184 - payload.count)
    }

    /// A packet with the program's clock and no payload.
    mutating func clock(_ base: Int, extension: Int = 0, isDiscontinuity: Bool = false, pid: Int = Self.clockPID) {
        let field = base << 15 | 0x3F << 9 | `extension`
        self.bytes += [0x47, UInt8(pid >> 8), UInt8(pid & 0xFF), 0x20, 183, isDiscontinuity ? 0x90 : 0x10]
        self.bytes += (0..<6).map { UInt8(truncatingIfNeeded: field >> (40 - 8 * $0)) }
        self.bytes += [UInt8](repeating: 0xFF, count: 176)
    }

    mutating func raw(_ bytes: [UInt8]) { self.bytes += bytes }

    /// A section of SCTE-35 with so many bytes of content.
    static func cue(_ content: [UInt8]) -> [UInt8] { self.section(0xFC, flags: 0x30, content) }

    static func association(
        _ programs: [(number: Int, pid: Int)],
        version: UInt8 = 0,
        part: UInt8 = 0,
        last: UInt8 = 0
    ) -> [UInt8] {
        var content: [UInt8] = [0, 1, 0xC1 | version << 1, part, last]
        for program in programs {
            content += [UInt8(program.number >> 8), UInt8(program.number & 0xFF)]
            content += Self.field(program.pid)
        }
        return self.section(0, flags: 0xB0, content)
    }

    static func map(
        program: UInt8 = 1,
        clockPID: Int = Self.clockPID,
        cuePIDs: [Int],
        registration: String?,
        version: UInt8 = 0
    ) -> [UInt8] {
        let descriptor: [UInt8] = registration.map { [0x05, 0x04] + Array($0.utf8) } ?? []
        let clock: [UInt8] = Self.field(clockPID)
        var content: [UInt8] = [0, program, 0xC1 | version << 1, 0, 0]
        content += clock
        content += [0xF0, UInt8(descriptor.count)]
        content += descriptor
        content.append(0x1B)
        content += clock
        content += [0xF0, 0x00]
        for pid in cuePIDs {
            content.append(0x86)
            content += Self.field(pid)
            content += [0xF0, 0x03, 0x8A, 0x01, 0x01]
        }
        return self.section(2, flags: 0xB0, content)
    }

    static func section(_ id: UInt8, flags: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count + 4
        var bytes: [UInt8] = [id, flags | UInt8(length >> 8), UInt8(length & 0xFF)]
        bytes += content
        return withChecksum(bytes + [0, 0, 0, 0])
    }

    /// A PID as tables write it.
    private static func field(_ pid: Int) -> [UInt8] { [0xE0 | UInt8(pid >> 8), UInt8(pid & 0xFF)] }
}

extension [TransportStreamEvent] {
    var cues: [CueSection] {
        self.compactMap { if case .cue(let section) = $0 { section } else { nil } }
    }

    var clocks: [PCRReading] {
        self.compactMap { if case .clock(_, let reading) = $0 { reading } else { nil } }
    }

    var faults: [TransportStreamFault.Reason] {
        self.compactMap { if case .fault(let fault) = $0 { fault.reason } else { nil } }
    }

    var programs: [[TransportProgram]] {
        self.compactMap { if case .programs(let programs) = $0 { programs } else { nil } }
    }
}
