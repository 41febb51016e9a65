// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import TestSupport
import Testing

/// The clock of a program, and datagrams.
@Suite(.suiteLimit)
struct PCRClockTests {
    private static let wrap = 1 << 33

    /// What a reader makes of these values of the clock.
    private func readings(_ values: [(base: Int, isMarked: Bool)]) -> [PCRReading] {
        var writer = StreamWriter()
        writer.tables()
        for value in values { writer.clock(value.base, isDiscontinuity: value.isMarked) }
        var reader = TransportStreamReader()
        return reader.read(writer.bytes).clocks
    }

    @Test func `the clock goes on over its wrap`() {
        let readings = self.readings([
            (Self.wrap - 9_000, false), (Self.wrap - 4_500, false), (0, false), (4_500, false),
        ])
        #expect(readings.map(\.ticks) == [0, 1_350_000, 2_700_000, 4_050_000])
        #expect(
            readings.map(\.run) == [0, 0, 0, 0]
                && readings.map(\.base) == [Self.wrap - 9_000, Self.wrap - 4_500, 0, 4_500]
        )
    }

    @Test func `a jump begins another run, marked or not, back or far ahead`() {
        let values = [
            (900_000, false), (904_500, true), (909_000, false), (900_000, false), (1_800_000, false),
            (2_700_001, false),
        ]
        #expect(self.readings(values).map(\.run) == [0, 1, 1, 2, 2, 3])
    }

    @Test func `places of the program have a time by the wall clock, over the wrap too`() {
        var clock = PCRWallClock()
        #expect(clock.milliseconds(atPTS: 0) == nil)
        // Values come every 40 ms, some of them up to 300 ms late.
        for index in 0..<250 {
            let late = [0, 300, 120, 7, 0][index % 5]
            let base = (Self.wrap - 900_000 + index * 3_600) % Self.wrap
            clock.take(
                PCRReading(base: base, ticks: index * 1_080_000, run: 0),
                atMilliseconds: 1_000_000 + index * 40 + late
            )
        }
        #expect(clock.milliseconds(atPTS: Self.wrap - 900_000) == 1_000_000)
        #expect(clock.milliseconds(atPTS: 720_000) == 1_018_000)
        #expect(clock.driftPartsPerMillion == nil)
        // Another run knows nothing of this one.
        clock.take(PCRReading(base: 0, ticks: 0, run: 1), atMilliseconds: 2_000_000)
        #expect(clock.milliseconds(atPTS: 90_000) == 2_001_000)
    }

    @Test(arguments: [0, 30, -30, 300])
    func `drift is told in millionths, and times follow it`(partsPerMillion: Int) throws {
        var clock = PCRWallClock()
        for index in 0..<6_000 {
            let milliseconds = index * 40
            let ticks = milliseconds * 27_000 + milliseconds * 27 * partsPerMillion / 1_000
            clock.take(PCRReading(base: ticks / 300, ticks: ticks, run: 0), atMilliseconds: milliseconds + index % 7)
        }
        let drift = try #require(clock.driftPartsPerMillion)
        #expect(abs(drift - Double(partsPerMillion)) < 25)
        let now = try #require(
            clock.milliseconds(atPTS: (239_960 * 27_000 + 239_960 * 27 * partsPerMillion / 1_000) / 300)
        )
        #expect(abs(now - 239_960) <= 4)
    }

    @Test func `a datagram has packets alone, or behind a header of RTP`() throws {
        let packets = [UInt8](repeating: 0x47, count: 376)
        let plain = try #require(TransportDatagram.payload(of: packets))
        #expect(Array(plain.packets) == packets && plain.sequenceNumber == nil)
        let head: [UInt8] = [0x80, 0xA1, 0x12, 0x34] + [UInt8](repeating: 0, count: 8)
        let rtp = try #require(TransportDatagram.payload(of: head + packets))
        #expect(Array(rtp.packets) == packets && rtp.sequenceNumber == 0x1234)
        // Two sources, an extension of one word, and four bytes of padding.
        var full: [UInt8] = [0xB2, 0x60, 0, 1] + [UInt8](repeating: 0, count: 16)
        full += [0, 0, 0, 1, 9, 9, 9, 9] + packets + [0, 0, 0, 4]
        #expect(try Array(#require(TransportDatagram.payload(of: full)).packets) == packets)
    }

    @Test(
        arguments: [
            [], [0x80], [0x80, 0x21] + [UInt8](repeating: 0, count: 9),
            [0x40, 0x21] + [UInt8](repeating: 0, count: 10),
            [0x80, 0x00] + [UInt8](repeating: 0, count: 10), [0x81, 0x21] + [UInt8](repeating: 0, count: 10),
            [0x90, 0x21] + [UInt8](repeating: 0, count: 13), [0xA0, 0x21] + [UInt8](repeating: 0, count: 10),
            [0xA0, 0x21] + [UInt8](repeating: 0, count: 9) + [13],
            [0x90, 0x21] + [UInt8](repeating: 0, count: 12) + [0, 1],
        ] as [[UInt8]]
    )
    func `a datagram that is neither has no packets`(datagram: [UInt8]) {
        #expect(TransportDatagram.payload(of: datagram) == nil)
    }
}
