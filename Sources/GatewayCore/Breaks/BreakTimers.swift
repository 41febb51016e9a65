// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import HashTreeCollections
import HeapModule

/// The entries that become due by time alone: announcements, and the end of breaks that waited too long.
///
/// Timers are not state. They follow from the board, so that after a restart everything that fell due meanwhile is done at
/// once, and a repeat of a timer's record has no effect.
package struct BreakTimers: Sendable {
    package var policy: BreakPolicy

    package init(policy: BreakPolicy) {
        self.policy = policy
    }

    /// The records that are due, and when to look again, worked out from the whole board.
    ///
    /// - Parameters:
    ///   - board: the board as it is.
    ///   - now: the gateway's clock.
    ///   - listeners: how many listeners of a stream are expected to ask for a batch.
    /// - Returns: entries for the log, at most a group of them, and the next instant at which something falls due.
    package func due(
        on board: Board,
        at now: Timestamp,
        listeners: (StreamID) -> Int
    ) -> (entries: [BreakEntry], next: Timestamp?) {
        var queue = TimerQueue(board)
        return (queue.due(on: board, at: now, timers: self, listeners: listeners), queue.next)
    }

    fileprivate func entry(for each: Break, at now: Timestamp, listeners: Int) -> BreakEntry {
        let playable = each.record.phase == .scheduled && (each.end.map { now < $0 } ?? true)
        guard playable else { return BreakEntry(at: now, kind: .expire(each.key, each.number)) }
        let window = self.policy.window(opens: now, start: each.record.start, listeners: listeners)
        return BreakEntry(at: now, kind: .announce(each.key, each.number, window: window))
    }
}

/// The breaks that wait for a timer's record, the earliest first: made once from the board, and changed by what becomes of
/// records, so that a change costs by the logarithm of how many wait, and waiting costs nothing.
package struct TimerQueue: Sendable {
    private struct Waiting: Comparable {
        let instant: Timestamp
        let number: BreakNumber
        let key: BreakKey

        static func < (left: Self, right: Self) -> Bool {
            left.instant == right.instant ? left.number < right.number : left.instant < right.instant
        }
    }

    /// Which gateway appends when.
    private let ranks: TimerRanks
    private var heap: Heap<Waiting>
    /// Where each break stands in the heap: what lies there under another instant is void.
    private var instants: [BreakNumber: Timestamp]

    /// The breaks of a board that wait for a timer.
    ///
    /// - Parameters:
    ///   - board: the board as it is.
    ///   - ranks: which gateway appends when; by default this one is alone.
    package init(_ board: Board, ranks: TimerRanks = .alone) {
        self.ranks = ranks
        var waiting: [Waiting] = []
        for stream in board.waiting.lazy.compactMap({ board.streams[$0] }) {
            for each in stream.waiting.lazy.compactMap({ stream.breaks[$0] }) {
                guard let instant = each.timer(by: ranks) else { continue }
                waiting.append(Waiting(instant: instant, number: each.number, key: each.key))
            }
        }
        self.instants = Dictionary(waiting.map { ($0.number, $0.instant) }) { _, new in new }
        self.heap = Heap(waiting)
    }

    /// How many breaks wait.
    package var count: Int { self.instants.count }

    /// How many entries are remembered; bounded by how many breaks wait, however often they change.
    package var entryCount: Int { self.heap.count }

    /// When something falls due next.
    package var next: Timestamp? { self.heap.min?.instant }

    /// Keeps what a record made of a break.
    package mutating func note(_ each: Break) {
        guard let instant = each.timer(by: self.ranks) else {
            if self.instants.removeValue(forKey: each.number) != nil { self.tidy() }
            return
        }
        guard self.instants.updateValue(instant, forKey: each.number) != instant else { return }
        self.heap.insert(Waiting(instant: instant, number: each.number, key: each.key))
        self.tidy()
    }

    /// The records that are due: at most a group of them.
    ///
    /// Their breaks wait no longer here: when it is known what became of a record, `note` takes its break again.
    ///
    /// - Parameters:
    ///   - board: the board as it is.
    ///   - now: the gateway's clock.
    ///   - timers: makes the records.
    ///   - listeners: how many listeners of a stream are expected to ask for a batch.
    /// - Returns: entries for the log, those that wait longest first.
    package mutating func due(
        on board: Board,
        at now: Timestamp,
        timers: BreakTimers,
        listeners: (StreamID) -> Int
    ) -> [BreakEntry] {
        var entries: [BreakEntry] = []
        while entries.count < BreakGroup.groupEntriesMax, let first = self.heap.min, first.instant <= now {
            self.heap.removeMin()
            self.instants[first.number] = nil
            defer { self.dropVoid() }
            guard let each = board[first.key], each.number == first.number, let instant = each.timer(by: self.ranks)
            else { continue }
            if instant <= now {
                entries.append(timers.entry(for: each, at: now, listeners: listeners(first.key.stream)))
            } else {
                self.note(each)
            }
        }
        return entries
    }

    /// The earliest entry is never void: the next instant is one at which something falls due.
    private mutating func dropVoid() {
        while let first = self.heap.min, self.instants[first.number] != first.instant { self.heap.removeMin() }
    }

    private mutating func tidy() {
        self.dropVoid()
        if self.heap.count > 2 * self.instants.count + 64 {
            self.heap = Heap(self.heap.unordered.filter { self.instants[$0.number] == $0.instant })
        }
    }
}

extension Break {
    /// When a gateway appends the record that time makes due; `nil`: there is none.
    fileprivate func timer(by ranks: TimerRanks) -> Timestamp? { self.timer.map { $0 + ranks.delay(of: self.number) } }
}
