// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing
import ZMTP

@testable import Edge

/// Notices that wait, against a model that keeps everything.
@Suite(.suiteLimit)
struct NoticeRingModelTests {
    private static func frame(_ number: Int, _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        let padding = [UInt8](repeating: 0, count: generator.pick([0, 10, 300]))
        Outgoing.appendFrame([UInt8(number & 0xFF), UInt8(number >> 8)] + padding, to: &bytes)
        return bytes
    }

    /// The numbers of the notices in a stream of frames; `nil` where it is cut or damaged.
    private static func numbers(_ bytes: [UInt8]) -> [Int]? {
        var numbers: [Int] = []
        var offset = 0
        while offset < bytes.count {
            guard let header = try? FrameHeader.read(bytes.span, at: offset, frameBytesMax: 1_000) else { return nil }
            let body = offset + header.headerBytes
            guard body + header.bodyBytes <= bytes.count else { return nil }
            numbers.append(Int(bytes[body]) | Int(bytes[body + 1]) << 8)
            offset = body + header.bodyBytes
        }
        return numbers
    }

    /// Someone who takes as much as it likes.
    private struct Reader {
        var cursor: NoticeRing.Cursor
        /// The notices that were appended before it came or before it was skipped ahead.
        var from: Int
        var got: [UInt8] = []
        var overrun = false
    }

    @Test func `everybody gets whole notices in order and without a gap, or the ring overruns its reader`() {
        var generator = SeededGenerator(seed: 71)
        for _ in 0..<300 {
            var ring = NoticeRing(bytesMax: generator.pick([400, 2_000, 100_000]))
            var readers: [Reader] = []
            var count = 0
            for _ in 0..<generator.number(1...200) {
                switch generator.number(0...9) {
                case 0: readers.append(Reader(cursor: ring.end, from: count))
                case 1...4:
                    ring.append(Self.frame(count, &generator))
                    count += 1
                case 5 where readers.allSatisfy { $0.cursor == ring.end || ring.hasOverrun($0.cursor) }: ring.clear()
                default:
                    guard !readers.isEmpty else { continue }
                    let index = generator.number(0...readers.count - 1)
                    if ring.hasOverrun(readers[index].cursor) {
                        readers[index] = Reader(cursor: ring.end, from: count, overrun: true)
                        continue
                    }
                    let pending = ring.withPending(readers[index].cursor) { $0.count }
                    let taken = generator.pick([pending, generator.number(0...pending)])
                    ring.withPending(readers[index].cursor) { bytes in
                        for place in 0..<taken { readers[index].got.append(bytes[place]) }
                    }
                    if taken < pending {
                        let (rest, next) = ring.restOfFrame(after: taken, behind: readers[index].cursor)
                        readers[index].got += rest
                        readers[index].cursor = next
                    } else {
                        readers[index].cursor = ring.end
                    }
                }
            }
            for reader in readers {
                let got = Self.numbers(reader.got)
                let pending = ring.hasOverrun(reader.cursor) ? nil : ring.withPending(reader.cursor) { $0.count }
                #expect(got == Array(reader.from..<reader.from + (got?.count ?? 0)))
                if pending == 0, ring.end == reader.cursor { #expect(reader.from + (got?.count ?? 0) == count) }
            }
        }
    }

    @Test func `as much waits as may, one notice more lets the oldest half go`() {
        var ring = NoticeRing(bytesMax: 10 * 12)
        var frame: [UInt8] = []
        Outgoing.appendFrame([UInt8](repeating: 7, count: 10), to: &frame)
        for _ in 0..<10 { ring.append(frame) }
        #expect(ring.count == 120)
        #expect(!ring.hasOverrun(0))
        ring.append(frame)
        #expect(ring.count == 6 * 12)
        #expect(ring.hasOverrun(0))
        #expect(!ring.hasOverrun(5 * 12))
    }

    @Test func `a round reaches all subscribers of its beginning, while others come and go`() throws {
        var generator = SeededGenerator(seed: 73)
        for _ in 0..<500 {
            let stream = EdgeStream(id: try StreamID("radio1"), ringBytesMax: 1 << 20, total: EdgeStream.Total())
            /// By slot: its place, and up to where it has everything.
            var places: [UInt32: Int] = [:]
            var cursors: [UInt32: NoticeRing.Cursor] = [:]
            var nextSlot: UInt32 = 0
            func step() -> Bool {
                guard let slot = stream.next() else { return false }
                cursors[slot] = stream.ring.end
                return true
            }
            for _ in 0..<generator.number(1...100) {
                switch generator.number(0...4) {
                case 0, 1:
                    places[nextSlot] = stream.add(nextSlot)
                    cursors[nextSlot] = stream.ring.end
                    nextSlot += 1
                case 2:
                    guard let (slot, place) = places.randomElement(using: &generator) else { continue }
                    places[slot] = nil
                    cursors[slot] = nil
                    if let moved = stream.remove(at: place) { places[moved] = place }
                case 3:
                    stream.append(Self.frame(1, &generator))
                    _ = stream.beginRound()
                default: if stream.isInRound { _ = step() }
                }
            }
            while stream.isInRound, step() {}
            #expect(cursors.values.allSatisfy { $0 == stream.ring.end })
            #expect(stream.ring.count == 0, "what everybody has is given back")
        }
    }
}
