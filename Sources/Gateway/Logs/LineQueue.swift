// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Dispatch
import Synchronization

/// Lines on their way to a reader that may not take them: a pipe that is not read, a terminal that is held.
///
/// They are written on a thread of their own, in order, each whole. A thread that adds a line never waits. A line for which there
/// is no room is dropped and counted; the number is written once there is room again.
///
/// ```swift
/// let lines = LineQueue { CommandOutput.writeToError($0) }
/// lines.add(Array("one\n".utf8)) { Array("\($0) lines were left out\n".utf8) }
/// lines.finish(within: .seconds(2))
/// ```
package final class LineQueue: Sendable {
    /// Makes the line that says how many were left out.
    package typealias Note = @Sendable (_ count: Int) -> [UInt8]

    private struct State {
        /// The lines of which no byte was written.
        var lines: [UInt8] = []
        /// How many bytes wait, those that are being written among them.
        var waitingBytes = 0
        var isWriting = false
        /// How many lines were left out since the last note, and who makes that note.
        var leftOut = 0
        var note: Note?
    }

    private let bytesMax: Int
    private let state = Mutex(State())
    private let thread = DispatchQueue(label: "cuecast-lines")
    private let lost: @Sendable () -> Void
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameters:
    ///   - bytesMax: the most bytes that wait; a line that has no room in there is left out.
    ///   - lost: called for each line that is left out.
    ///   - write: writes whole lines, and returns when they are written, however long that takes.
    package init(
        bytesMax: Int = LogLimits.waitingBytesMax,
        lost: @escaping @Sendable () -> Void = {},
        write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.bytesMax = bytesMax
        self.lost = lost
        self.write = write
    }

    /// Adds a line with its end; never waits.
    ///
    /// - Parameters:
    ///   - line: one line.
    ///   - note: where there is no room, makes the line that says so later.
    package func add(_ line: [UInt8], note: @escaping Note) {
        let (isLost, begins) = self.state.withLock { state in
            guard state.waitingBytes + line.count <= self.bytesMax else {
                state.leftOut += 1
                state.note = note
                return (true, false)
            }
            state.lines += line
            state.waitingBytes += line.count
            defer { state.isWriting = true }
            return (false, !state.isWriting)
        }
        if isLost { self.lost() }
        if begins { self.thread.async { self.writeAll() } }
    }

    /// Waits until everything is written.
    ///
    /// - Parameter timeout: how long at most.
    /// - Returns: whether it is.
    @discardableResult
    package func finish(within timeout: Duration) -> Bool {
        let end = DispatchSemaphore(value: 0)
        self.thread.async { end.signal() }
        return end.wait(timeout: .now() + timeout / .seconds(1)) == .success
    }

    private func writeAll() {
        while let (bytes, counted) = self.takeAll() {
            self.write(bytes)
            self.state.withLock { $0.waitingBytes -= counted }
        }
    }

    /// - Returns: the waiting lines with the note about dropped ones, and how many of these bytes were counted; `nil`: no line waits.
    private func takeAll() -> (bytes: [UInt8], counted: Int)? {
        self.state.withLock { state in
            guard !state.lines.isEmpty else {
                state.isWriting = false
                return nil
            }
            var bytes: [UInt8] = []
            swap(&bytes, &state.lines)
            let counted = bytes.count
            if let note = state.note {
                bytes += note(state.leftOut)
                state.leftOut = 0
                state.note = nil
            }
            return (bytes, counted)
        }
    }
}
