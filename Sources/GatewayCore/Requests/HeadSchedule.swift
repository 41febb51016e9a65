// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import HeapModule

/// When each stream's position is repeated: 1 s and 3 s after a notice, then at every interval.
///
/// No wait is longer than the interval: listeners are told it, and take a longer silence for a lost connection. Those that notices
/// are pushed to hear of every third repeat only, and are told three times the interval: each one wakes a phone, and what is
/// pushed is not lost on its way.
///
/// Without repeats a listener that missed the last notice would not know until the next. Only streams that have subscribers are in
/// it.
package struct HeadSchedule: Sendable {
    /// How long after a notice the first two repeats come.
    package static let firstRepeats: [Duration] = [.seconds(1), .seconds(3)]

    /// Of how many repeats in a row, the first two after a notice aside, those hear one that notices are pushed to.
    package static let pushedEvery = 3

    /// A position that is to be repeated.
    package struct Repeat: Hashable, Sendable {
        package let stream: StreamID
        /// Whether those hear it too that notices are pushed to.
        package let isForPushed: Bool
    }

    private struct Entry: Comparable {
        let due: Timestamp
        let stream: StreamID
        /// Entries of an earlier generation are void.
        let generation: UInt64
        /// How many repeats have come since the notice.
        let repeats: Int

        static func < (left: Self, right: Self) -> Bool {
            (left.due, left.stream, left.generation) < (right.due, right.stream, right.generation)
        }
    }

    package let interval: Duration
    private var generations: [StreamID: UInt64] = [:]
    private var heap: Heap<Entry> = []
    private var counter: UInt64 = 0

    /// A schedule without streams.
    ///
    /// - Parameter interval: how often a position is repeated when nothing else happens; at least 1 ms.
    package init(interval: Duration) {
        self.interval = max(interval, .milliseconds(1))
    }

    /// How many streams get repeats.
    package var count: Int { self.generations.count }

    /// How many entries are remembered; bounded by the number of streams, however many notices go out.
    package var entryCount: Int { self.heap.count }

    /// When to look again: no repeat is due before; `nil`: there are no streams.
    package var next: Timestamp? { self.heap.min?.due }

    /// A stream got its first subscriber.
    ///
    /// How many streams there can be is bounded by how many connections may subscribe to how many.
    ///
    /// - Parameters:
    ///   - stream: the stream.
    ///   - now: the gateway's clock.
    package mutating func subscribed(_ stream: StreamID, at now: Timestamp) {
        guard self.generations[stream] == nil else { return }
        self.push(stream, due: now + self.interval, repeats: Self.firstRepeats.count)
    }

    /// A stream lost its last subscriber.
    package mutating func unsubscribed(_ stream: StreamID) {
        self.generations[stream] = nil
    }

    /// A notice of a stream went out.
    package mutating func noticed(_ stream: StreamID, at now: Timestamp) {
        guard self.generations[stream] != nil else { return }
        self.push(stream, due: now + min(Self.firstRepeats[0], self.interval), repeats: 0)
    }

    /// The streams whose position is to be repeated now.
    package mutating func due(at now: Timestamp) -> [Repeat] {
        var streams: [Repeat] = []
        while let entry = self.heap.min, entry.due <= now {
            self.heap.removeMin()
            guard self.generations[entry.stream] == entry.generation else { continue }
            let repeats = entry.repeats + 1
            let number = repeats - Self.firstRepeats.count
            streams.append(
                Repeat(stream: entry.stream, isForPushed: number <= 0 || number % Self.pushedEvery == 0)
            )
            let wait =
                repeats < Self.firstRepeats.count
                ? Self.firstRepeats[repeats] - Self.firstRepeats[repeats - 1] : self.interval
            self.push(entry.stream, due: now + min(wait, self.interval), repeats: repeats)
        }
        return streams
    }

    private mutating func push(_ stream: StreamID, due: Timestamp, repeats: Int) {
        self.counter += 1
        self.generations[stream] = self.counter
        self.heap.insert(Entry(due: due, stream: stream, generation: self.counter, repeats: repeats))
        // Void entries go when they are due; in a burst they would pile up before.
        if self.heap.count > 2 * self.generations.count + 64 {
            let live = self.heap.unordered.filter { self.generations[$0.stream] == $0.generation }
            self.heap = Heap(live)
        }
    }
}
