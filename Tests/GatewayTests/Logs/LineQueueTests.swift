// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Dispatch
import Synchronization
import Testing

@testable import Gateway

/// Lines for a reader that takes none of them for a while.
@Suite(.suiteLimit)
struct LineQueueTests {
    /// The reader of the lines: it takes nothing until the test allows it.
    private final class Reader: Sendable {
        let taken = Mutex("")
        private let begun = DispatchSemaphore(value: 0)
        private let gate = DispatchSemaphore(value: 0)

        func take(_ bytes: [UInt8]) {
            self.begun.signal()
            self.gate.wait()
            // Later writers need not wait.
            self.gate.signal()
            self.taken.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
        }

        /// Waits for a writer.
        func awaitWriting() { self.begun.wait() }

        func open() { self.gate.signal() }
    }

    private let reader = Reader()

    private func add(_ line: String, to lines: LineQueue) {
        lines.add(Array(line.utf8)) { Array("\($0) left out\n".utf8) }
    }

    @Test func `a writer of lines never waits, and all lines within the limit come in order`() {
        let reader = self.reader
        let lines = LineQueue { reader.take($0) }
        let wanted = (0..<1_000).map { "line \($0)\n" }
        for line in wanted { self.add(line, to: lines) }
        #expect(!lines.finish(within: .milliseconds(1)), "they have no reader")
        reader.open()
        #expect(lines.finish(within: .seconds(3_600)))
        #expect(reader.taken.withLock { $0 } == wanted.joined())
    }

    @Test func `as much as may wait has room, one byte more has none, is counted, and is told of`() {
        let (reader, count) = (self.reader, Counter())
        let lines = LineQueue(bytesMax: 10, lost: { count.add() }, write: { reader.take($0) })
        self.add("begun\n", to: lines)
        reader.awaitWriting()
        // What is being written waits, too.
        self.add("abc\n", to: lines)
        #expect(count.value == 0)
        self.add("\n", to: lines)
        self.add("\n", to: lines)
        #expect(count.value == 2)
        reader.open()
        #expect(lines.finish(within: .seconds(3_600)))
        self.add("again\n", to: lines)
        #expect(lines.finish(within: .seconds(3_600)))
        #expect(reader.taken.withLock { $0 } == "begun\nabc\n2 left out\nagain\n")
        #expect(count.value == 2)
    }

    private final class Counter: Sendable {
        private let number = Atomic(0)
        var value: Int { self.number.load(ordering: .relaxed) }
        func add() { self.number.add(1, ordering: .relaxed) }
    }
}
