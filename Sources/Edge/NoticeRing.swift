// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The notices of one stream that some connection has not taken yet, encoded and framed, one behind the other.
///
/// Every connection has a cursor in it, always at the beginning of a frame; what is behind the cursor goes out as one write.
/// When more waits than the ring may hold, the oldest half goes: cursors in there are overtaken, and are set to the end.
package struct NoticeRing: Sendable {
    /// A place in the ring: how many bytes were appended before it, ever.
    package typealias Cursor = UInt64

    /// The most bytes that wait.
    private let bytesMax: Int
    private let framing: NoticeFraming
    private var bytes: [UInt8] = []
    /// The cursor of the first byte that is still there.
    package private(set) var start: Cursor = 0

    package init(bytesMax: Int, framing: NoticeFraming = .frames) {
        self.bytesMax = bytesMax
        self.framing = framing
    }

    /// The cursor behind the newest notice.
    package var end: Cursor { self.start + Cursor(self.bytes.count) }

    /// How many bytes it holds.
    package var count: Int { self.bytes.count }

    /// Whether so many bytes can be appended without letting anything go.
    package func hasRoom(for count: Int) -> Bool { self.bytes.isEmpty || self.bytes.count + count <= self.bytesMax }

    /// Appends whole frames.
    package mutating func append(_ frames: [UInt8]) {
        // So that half of the room is free.
        if !self.hasRoom(for: frames.count) { self.keep(atMost: self.bytesMax / 2) }
        self.bytes += frames
    }

    /// The bytes behind a cursor; empty at the end of the ring, or where the ring has overtaken the cursor.
    @inline(__always)
    package func withPending<Result, Failure: Error>(
        _ cursor: Cursor,
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let from = cursor < self.start ? self.bytes.count : Int(cursor - self.start)
        return try body(self.bytes.span.extracting(min(from, self.bytes.count)..<self.bytes.count))
    }

    /// Whether what is behind a cursor is gone in part.
    package func hasOverrun(_ cursor: Cursor) -> Bool { cursor < self.start }

    /// Finds the frame in which sending stopped.
    ///
    /// - Parameters:
    ///   - sent: how many bytes behind the cursor were sent: fewer than there are.
    ///   - cursor: where a frame begins.
    /// - Returns: the unsent rest of that frame, empty where sending stopped at a frame's end; and the cursor after it.
    package func restOfFrame(after sent: Int, behind cursor: Cursor) -> (rest: [UInt8], next: Cursor) {
        let base = Int(cursor - self.start)
        var offset = base
        while offset < base + sent {
            guard let next = self.framing.end(ofFrameAt: offset, in: self.bytes.span) else { break }
            offset = next
        }
        return (Array(self.bytes[(base + sent)..<offset]), self.start + Cursor(offset))
    }

    /// Finds how many whole frames behind a cursor have no more bytes together than `bytesMax`; the first one has its place whatever its
    /// length.
    ///
    /// - Returns: how many bytes they have, and the cursor behind them; nothing where the cursor is at the end or was overtaken.
    package func wholeFrames(behind cursor: Cursor, bytesMax: Int) -> (count: Int, next: Cursor) {
        guard cursor >= self.start else { return (0, cursor) }
        let base = Int(cursor - self.start)
        if self.bytes.count - base <= bytesMax { return (self.bytes.count - base, self.end) }
        var offset = base
        while offset < self.bytes.count, let next = self.framing.end(ofFrameAt: offset, in: self.bytes.span) {
            if offset > base, next - base > bytesMax { break }
            offset = next
        }
        return (offset - base, self.start + Cursor(offset))
    }

    /// Frees the notices that no connection waits for any more.
    package mutating func clear() {
        self.start = self.end
        // A burst's room is given back; that of a notice now and then is kept.
        self.bytes.removeAll(keepingCapacity: self.bytes.capacity <= 4_096)
    }

    /// Lets the oldest frames go until so many bytes are left at most.
    package mutating func keep(atMost bytesMax: Int) {
        var offset = 0
        while offset < self.bytes.count, self.bytes.count - offset > bytesMax {
            guard let next = self.framing.end(ofFrameAt: offset, in: self.bytes.span) else { break }
            offset = next
        }
        self.bytes.removeFirst(offset)
        self.start += Cursor(offset)
    }
}
