// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The events that one look at a poller told of, in the order in which they are handled.
///
/// A time slice may be over before all of them have had their turn. The poller tells of the rest again, but not first: a
/// level-triggered `epoll` keeps the order of what stays ready, so that the same connections would come first each time. So the
/// next look begins with the first event that was left over.
struct ReadyEvents {
    private struct Entry {
        let number: Int
        let key: UInt64
    }

    private var entries: [Entry] = []
    /// Which one comes first.
    private var start = 0
    /// How many have had their turn.
    private var handledCount = 0
    /// The first event that the last look did not reach.
    private var leftOver: UInt64?

    /// Whether none has had its turn yet.
    var isUntouched: Bool { self.handledCount == 0 }

    /// Whether the last look told of none.
    var isEmpty: Bool { self.entries.isEmpty }

    /// Forgets the events of the last look.
    mutating func begin() {
        guard !self.entries.isEmpty else { return }
        self.entries.removeAll(keepingCapacity: true)
        self.start = 0
        self.handledCount = 0
    }

    /// The poller told of an event.
    ///
    /// - Parameters:
    ///   - number: its number among those of this look.
    ///   - key: its key, which is the same at each look.
    mutating func append(_ number: Int, key: UInt64) {
        if key == self.leftOver { self.start = self.entries.count }
        self.entries.append(Entry(number: number, key: key))
    }

    /// The number of the event whose turn it is; `nil`: all have had theirs.
    mutating func next() -> Int? {
        guard let entry = self.first else { return nil }
        self.handledCount += 1
        return entry.number
    }

    /// Leaves the rest to the next look.
    ///
    /// - Returns: the number of the first event of the rest; `nil`: there is no rest.
    mutating func leaveRest() -> Int? {
        guard !self.entries.isEmpty else { return nil }
        let entry = self.first
        self.leftOver = entry?.key
        return entry?.number
    }

    private var first: Entry? {
        guard self.handledCount < self.entries.count else { return nil }
        let place = self.start + self.handledCount
        return self.entries[place < self.entries.count ? place : place - self.entries.count]
    }
}
