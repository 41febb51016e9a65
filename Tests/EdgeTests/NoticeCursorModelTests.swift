// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing
import ZMTP

@testable import Edge

/// Joins on the connection of the notices, on boards that rings lag behind, in every order.
@Suite(.suiteLimit)
struct NoticeCursorModelTests {
    /// A loop: its ring, and the notices that are on their way into it.
    private struct Loop {
        var ring = NoticeRing(bytesMax: 400)
        /// The newest notice in the ring.
        var sent: UInt64 = 0
    }

    /// A listener with one connection.
    private struct Listener {
        let loop: Int
        var cursor: NoticeCursor
        /// The newest sequence that it has, by its answers and notices.
        var last: UInt64
        /// Whether the ring has overrun it: then a gap is told by the next position.
        var isOverrun = false
    }

    /// One frame; a repeat of the position has another kind than a notice, and no sequence of its own.
    private static func frame(_ sequence: UInt64, isHead: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        let body = [isHead ? UInt8(1) : 0] + (0..<8).map { UInt8(truncatingIfNeeded: sequence >> (8 * $0)) }
        Outgoing.appendFrame(body, to: &bytes)
        return bytes
    }

    private static func read(_ frames: [UInt8]) -> [(sequence: UInt64, isHead: Bool)] {
        stride(from: 0, to: frames.count, by: 11)
            .map { start in
                var sequence: UInt64 = 0
                for byte in frames[start + 3..<start + 11].reversed() { sequence = sequence << 8 | UInt64(byte) }
                return (sequence, frames[start + 2] == 1)
            }
    }

    @Test func `each notice above the head of the answer follows once, in order, or the ring has overrun it`() throws {
        var generator = SeededGenerator(seed: 79)
        var (skipped, heard, gaps) = (0, 0, 0)
        for _ in 0..<400 {
            var loops = [Loop](repeating: Loop(), count: generator.pick([1, 2, 4]))
            var board: UInt64 = 0
            var listeners: [Listener] = []

            func append(_ index: Int, isHead: Bool) {
                if !isHead { loops[index].sent += 1 }
                loops[index].ring.append(Self.frame(loops[index].sent, isHead: isHead))
                for number in listeners.indices where listeners[number].loop == index {
                    let before = listeners[number].cursor.place
                    listeners[number].cursor.appended(loops[index].sent, end: loops[index].ring.end)
                    if listeners[number].cursor.place != before { skipped += 1 }
                }
            }

            func take(_ number: Int, all: Bool) {
                let index = listeners[number].loop
                let place = listeners[number].cursor.place
                if loops[index].ring.hasOverrun(place) {
                    listeners[number].cursor.place = loops[index].ring.end
                    listeners[number].isOverrun = true
                    return
                }
                var bytes = loops[index].ring.withPending(place) { span in span.indices.map { span[$0] } }
                let taken = all ? bytes.count : generator.number(0...bytes.count)
                if taken < bytes.count {
                    let (rest, next) = loops[index].ring.restOfFrame(after: taken, behind: place)
                    bytes = bytes.prefix(taken) + rest
                    listeners[number].cursor.place = next
                } else {
                    listeners[number].cursor.place = loops[index].ring.end
                }
                for (sequence, isHead) in Self.read(bytes) {
                    let last = listeners[number].last
                    if isHead {
                        #expect(
                            sequence <= last || listeners[number].isOverrun,
                            "a repeat tells of nothing that was lost"
                        )
                    } else {
                        heard += 1
                        #expect(sequence > last, "what the answer has does not come again")
                        if sequence != last + 1 {
                            #expect(listeners[number].isOverrun)
                            gaps += 1
                        }
                        listeners[number].last = sequence
                        listeners[number].isOverrun = false
                    }
                }
            }

            for _ in 0..<generator.number(1...300) {
                switch generator.number(0...9) {
                case 0...2: board += 1
                case 3...5:
                    // A loop takes some of what it has not yet, or repeats its position.
                    let index = generator.number(0...loops.count - 1)
                    if loops[index].sent < board {
                        for _ in 0..<generator.number(1...Int(board - loops[index].sent)) {
                            append(index, isHead: false)
                        }
                    } else {
                        append(index, isHead: true)
                    }
                case 6:
                    // Someone joins, on the newest board.
                    let index = generator.number(0...loops.count - 1)
                    let end = loops[index].ring.end
                    var listener = Listener(loop: index, cursor: NoticeCursor(end: end), last: board)
                    listener.cursor.follow(board, sent: loops[index].sent, end: end)
                    listeners.append(listener)
                default:
                    guard !listeners.isEmpty else { continue }
                    let number = generator.number(0...listeners.count - 1)
                    if generator.number(0...4) == 0 {
                        // It joins again, whatever waits for it: its answer has all of that.
                        let loop = loops[listeners[number].loop]
                        listeners[number].cursor.follow(board, sent: loop.sent, end: loop.ring.end)
                        (listeners[number].last, listeners[number].isOverrun) = (board, false)
                    } else {
                        take(number, all: generator.bool())
                    }
                }
            }
            // In the end every loop has everything, and everybody takes it.
            for index in loops.indices { while loops[index].sent < board { append(index, isHead: false) } }
            for number in listeners.indices {
                take(number, all: true)
                #expect(listeners[number].last == board || listeners[number].isOverrun)
            }
        }
        #expect(skipped > 100 && heard > 1_000 && gaps > 10, "all of it has happened: \(skipped), \(heard), \(gaps)")
    }
}
