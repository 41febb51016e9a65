// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import TestSupport
import Testing

/// Random streams: however they are cut, the same events come.
@Suite(.suiteLimit)
struct TransportStreamPropertyTests {
    /// A stream of cues, clocks and other packets, and the cues.
    private func stream(_ random: inout SeededGenerator) -> (bytes: [UInt8], cues: [[UInt8]]) {
        var writer = StreamWriter()
        writer.tables()
        var cues: [[UInt8]] = []
        var base = Int.random(in: 0..<1 << 33, using: &random)
        for _ in 0..<Int.random(in: 1...30, using: &random) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let cue = StreamWriter.cue(random.bytes(0...600))
                cues.append(cue)
                writer.section(cue, pid: StreamWriter.cuePID)
            case 1:
                base = (base + Int.random(in: 0...90_000, using: &random)) % (1 << 33)
                writer.clock(base, extension: random.number(0...299))
            case 2: writer.packet(pid: 0x1FFF, payload: random.bytes(184...184))
            default: writer.tables()
            }
        }
        return (writer.bytes, cues)
    }

    /// The events where the bytes come in random pieces.
    private func events(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [TransportStreamEvent] {
        var reader = TransportStreamReader()
        var events: [TransportStreamEvent] = []
        var rest = bytes[...]
        let pieceMax = random.pick([3, 60, 188, 400, 5_000])
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...pieceMax, using: &random))
            rest = rest.dropFirst(piece.count)
            events += reader.read(piece)
        }
        return events
    }

    @Test func `every section comes once, however the bytes are cut`() {
        var random = SeededGenerator(for: #function)
        for _ in 0..<80 {
            let (bytes, cues) = self.stream(&random)
            var reader = TransportStreamReader()
            let whole = reader.read(bytes)
            #expect(whole.cues.map(\.bytes) == cues && whole.faults.isEmpty)
            #expect(whole.cues.allSatisfy { $0.hasValidCRC })
            let pieces = self.events(bytes, &random)
            #expect(pieces == whole, "CUECAST_SEED=\(SeededGenerator.seed)")
        }
    }

    @Test func `spoiled streams trap on nothing, and are the same however they are cut`() throws {
        var random = SeededGenerator(for: #function)
        for _ in 0..<150 {
            let (first, _) = self.stream(&random)
            let (second, _) = self.stream(&random)
            let spoiled = Mutation.spoiled(first, with: [second], using: &random)
            var reader = TransportStreamReader()
            let whole = reader.read(spoiled)
            let pieces = self.events(spoiled, &random)
            try #require(pieces == whole, "CUECAST_SEED=\(SeededGenerator.seed)")
        }
    }
}
