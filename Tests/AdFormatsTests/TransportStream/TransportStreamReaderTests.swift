// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import TestSupport
import Testing

/// What a reader finds in transport streams.
@Suite(.suiteLimit)
struct TransportStreamReaderTests {
    private var writer = StreamWriter()
    private let cue = StreamWriter.cue(Array(1...20))

    /// The events of what was written, in a reader of its own.
    private var events: [TransportStreamEvent] {
        var reader = TransportStreamReader()
        return reader.read(self.writer.bytes)
    }

    @Test mutating func `a section comes with its PID, its program and the clock at its place`() throws {
        self.writer.tables()
        self.writer.section(self.cue, pid: StreamWriter.cuePID)
        self.writer.clock(900_000, extension: 150)
        self.writer.section(self.cue, pid: StreamWriter.cuePID)
        let events = self.events
        let cues = events.cues
        #expect(cues.map(\.bytes) == [self.cue, self.cue] && cues.allSatisfy { $0.hasValidCRC && $0.program == 1 })
        #expect(cues.map(\.pid) == [StreamWriter.cuePID, StreamWriter.cuePID])
        #expect(cues.map(\.clock) == [nil, PCRReading(base: 900_000, ticks: 0, run: 0)])
        #expect(events.faults.isEmpty)
        let program = try #require(events.programs.last?.first)
        #expect(program.number == 1 && program.mapPID == StreamWriter.mapPID && program.hasCueRegistration)
        #expect(program.clockPID == StreamWriter.clockPID && program.cuePIDs == [StreamWriter.cuePID])
    }

    @Test(arguments: [2, 4, 10, 170, 182, 183, 184])
    mutating func `sections are put together from several packets, and several from one`(pieceMax: Int) {
        self.writer.tables()
        let long = StreamWriter.cue(Array(repeating: 7, count: 700))
        if pieceMax == 184 {
            self.writer.section(self.cue, self.cue, long, pid: StreamWriter.cuePID)
            #expect(self.events.cues.map(\.bytes) == [self.cue, self.cue, long])
        } else {
            // Packets with less than they could hold are filled in the adaptation field.
            let pieces = stride(from: 0, to: long.count + 1, by: pieceMax)
                .map { Array(([0] + long)[$0...].prefix(pieceMax)) }
            for (index, piece) in pieces.enumerated() {
                let fill = 184 - piece.count
                let adaptation = fill == 1 ? [0] : [UInt8(fill - 1), 0] + [UInt8](repeating: 0xFF, count: fill - 2)
                let head: [UInt8] = [0x47, index == 0 ? 0x41 : 0x01, 0x02, 0x30 | UInt8(index & 0x0F)]
                self.writer.raw(head + adaptation + piece)
            }
            #expect(self.events.cues.map(\.bytes) == [long] && self.events.faults.isEmpty)
        }
    }

    @Test mutating func `the pointer leads over the end of the section before`() {
        self.writer.tables()
        let long = StreamWriter.cue(Array(repeating: 7, count: 200))
        self.writer.packet(pid: StreamWriter.cuePID, begins: true, payload: [0] + long.prefix(183))
        let tail = Array(long.dropFirst(183))
        self.writer.packet(pid: StreamWriter.cuePID, begins: true, payload: [UInt8(tail.count)] + tail + self.cue)
        #expect(self.events.cues.map(\.bytes) == [long, self.cue] && self.events.faults.isEmpty)
    }

    @Test mutating func `a missing packet costs its section and is told`() {
        self.writer.tables()
        let long = StreamWriter.cue(Array(repeating: 7, count: 400))
        self.writer.packet(pid: StreamWriter.cuePID, begins: true, payload: [0] + long.prefix(183))
        self.writer.packet(pid: StreamWriter.cuePID, payload: Array(long.dropFirst(367)), skip: 1)
        self.writer.section(self.cue, pid: StreamWriter.cuePID)
        #expect(self.events.cues.map(\.bytes) == [self.cue])
        #expect(self.events.faults == [.continuity(expected: 1, found: 2)])
    }

    @Test mutating func `a packet that comes twice counts once`() {
        self.writer.tables()
        let before = self.writer.bytes.count
        self.writer.section(self.cue, pid: StreamWriter.cuePID)
        let packet = Array(self.writer.bytes[before...])
        self.writer.raw(packet)
        #expect(self.events.cues.count == 1 && self.events.faults.isEmpty)
        self.writer.raw(packet)
        #expect(self.events.faults == [.continuity(expected: 1, found: 0)])
    }

    @Test mutating func `a packet with the same counter and other bytes is no repeat`() {
        self.writer.tables()
        self.writer.section(self.cue, pid: StreamWriter.cuePID)
        // An encoder that begins again on the same pipe begins with the same counter.
        let other = StreamWriter.cue(Array(21...40))
        self.writer.packet(pid: StreamWriter.cuePID, begins: true, payload: [0] + other, skip: 15)
        #expect(self.events.cues.map(\.bytes) == [self.cue, other])
        #expect(self.events.faults == [.continuity(expected: 1, found: 0)])
    }

    @Test mutating func `a repeat may have another clock, and nothing else`() {
        func packet(clock: UInt8, stuffing: UInt8) -> [UInt8] {
            let adaptation: [UInt8] = [8, 0x10, clock, 0, 0, 0, 0x7E, 0, stuffing]
            let packet = [0x47, 0x41, 0x02, 0x30] + adaptation + [0] + self.cue
            return packet + [UInt8](repeating: 0xFF, count: 188 - packet.count)
        }
        self.writer.tables()
        self.writer.raw(packet(clock: 1, stuffing: 0xFF))
        self.writer.raw(packet(clock: 2, stuffing: 0xFF))
        #expect(self.events.cues.count == 1 && self.events.faults.isEmpty)
        self.writer.raw(packet(clock: 2, stuffing: 0xFE))
        #expect(self.events.cues.count == 2)
        #expect(self.events.faults == [.continuity(expected: 1, found: 0)])
    }

    @Test mutating func `a section with a wrong CRC comes and says so; a table with one is passed over`() {
        var wrong = self.cue
        wrong[5] ^= 1
        self.writer.tables()
        self.writer.section(wrong, pid: StreamWriter.cuePID)
        var table = StreamWriter.association([(2, 0x200)], version: 1)
        table[9] ^= 1
        self.writer.section(table, pid: 0)
        let events = self.events
        #expect(events.cues.map(\.hasValidCRC) == [false] && events.faults == [.wrongTableCRC])
        #expect(events.programs.count == 2)
    }

    @Test mutating func `the reader finds packets again behind what is none`() {
        self.writer.raw(Array(repeating: 0x47, count: 100) + [1, 2, 3])
        for _ in 0..<3 { self.writer.packet(pid: 0x1FFF, payload: []) }
        self.writer.tables()
        self.writer.section(self.cue, pid: StreamWriter.cuePID)
        self.writer.raw([0x00])
        for _ in 0..<3 { self.writer.section(self.cue, pid: StreamWriter.cuePID) }
        self.writer.raw([0x47])
        #expect(self.events.cues.count == 4)
        #expect(self.events.faults == [.lostSynchronization, .lostSynchronization])
    }

    @Test mutating func `another map replaces the one before`() {
        self.writer.tables()
        self.writer.tables(cuePIDs: [0x1F0, 0x1F1], version: 1)
        self.writer.section(self.cue, pid: StreamWriter.cuePID)
        self.writer.section(self.cue, pid: 0x1F1)
        let events = self.events
        #expect(events.cues.map(\.pid) == [0x1F1])
        #expect(events.programs.last?.map(\.cuePIDs) == [[0x1F0, 0x1F1]])
    }

    @Test mutating func `a table of programs in parts counts once all are there`() {
        self.writer.section(StreamWriter.association([(1, 0x100)], part: 0, last: 1), pid: 0)
        #expect(self.events.programs.isEmpty)
        self.writer.section(StreamWriter.association([(0, 0x10), (2, 0x200)], part: 1, last: 1), pid: 0)
        #expect(self.events.programs.map { $0.map(\.number) } == [[1, 2]])
        // It is repeated all the time.
        self.writer.section(StreamWriter.association([(1, 0x100)], part: 0, last: 1), pid: 0)
        #expect(self.events.programs.count == 1)
    }

    @Test mutating func `streams of type 0x86 are cues unless they are a disc's sound`() {
        for (registration, count) in [("CUEI", 1), (nil, 1), ("GA94", 1), ("HDMV", 0)] {
            self.writer = StreamWriter()
            self.writer.tables(registration: registration)
            self.writer.section(self.cue, pid: StreamWriter.cuePID)
            #expect(self.events.cues.count == count, "\(registration ?? "none")")
            #expect(self.events.programs.last?.first?.hasCueRegistration == (registration == "CUEI"))
        }
    }

    @Test mutating func `what cannot be read is told with its PID and byte`() {
        self.writer.tables()
        self.writer.packet(pid: StreamWriter.cuePID, begins: true, payload: [0xFE, 1])
        self.writer.packet(pid: StreamWriter.cuePID, begins: true, payload: [0, 0xFC, 0x3F, 0xFF])
        self.writer.packet(
            pid: StreamWriter.cuePID,
            begins: true,
            payload: [0] + StreamWriter.section(0x42, flags: 0, [])
        )
        self.writer.packet(pid: StreamWriter.cuePID, begins: true, payload: [0, 1], scrambled: true)
        self.writer.packet(pid: StreamWriter.cuePID, begins: true, payload: [0, 1], scrambled: true)
        self.writer.packet(pid: StreamWriter.cuePID, begins: true, payload: [0] + self.cue)
        self.writer.raw([0x47, 0x81, 0x02, 0x10] + [UInt8](repeating: 0, count: 184))
        self.writer.raw([0x47, 0x01, 0x02, 0x30, 184] + [UInt8](repeating: 0, count: 183))
        let events = self.events
        let faults: [TransportStreamFault.Reason] = [
            .malformedSection("the pointer leads out of the packet"),
            .malformedSection("it would be 4098 bytes long, and sections have at most 4096"),
            .malformedSection("its table id is 66"), .scrambled, .damagedPacket, .malformedPacket,
        ]
        #expect(events.faults == faults && events.cues.count == 1)
        guard case .fault(let first) = events.first(where: { if case .fault = $0 { true } else { false } }) else {
            return
        }
        #expect(
            first.pid == StreamWriter.cuePID && first.byteOffset == 2 * 188 && "\(first)".contains("PID 258, byte 376")
        )
    }

    @Test mutating func `limits hold at the limit and one past it`() {
        var limits = TransportStreamLimits()
        limits.programsMax = 2
        limits.cuePIDsPerProgramMax = 1
        func faults(programs: Int, cues: [Int]) -> [TransportStreamFault.Reason] {
            var reader = TransportStreamReader(limits: limits)
            var writer = StreamWriter()
            let listed = (1...programs).map { ($0, StreamWriter.mapPID + 16 * ($0 - 1)) }
            writer.section(StreamWriter.association(listed), pid: 0)
            writer.section(StreamWriter.map(cuePIDs: cues, registration: "CUEI"), pid: StreamWriter.mapPID)
            return reader.read(writer.bytes).faults
        }
        #expect(faults(programs: 2, cues: [0x300]).isEmpty)
        #expect(faults(programs: 3, cues: [0x300]) == [.pastLimit(name: "programsMax", maximum: 2)])
        #expect(faults(programs: 2, cues: [0x300, 0x301]) == [.pastLimit(name: "cuePIDsPerProgramMax", maximum: 1)])
        // The longest section there can be.
        self.writer.tables()
        let longest = StreamWriter.cue(Array(repeating: 1, count: 4_089))
        self.writer.section(longest, pid: StreamWriter.cuePID)
        #expect(longest.count == 4_096 && self.events.cues.map(\.bytes) == [longest])
        self.writer.packet(pid: StreamWriter.cuePID, begins: true, payload: [0, 0xFC, 0x3F, 0xFE])
        let sentence = "it would be 4097 bytes long, and sections have at most 4096"
        #expect(self.events.faults == [.malformedSection(sentence)])
    }
}
