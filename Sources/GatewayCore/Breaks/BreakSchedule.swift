// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import HeapModule

/// Which announced breaks begin or are over by time alone, and which run now: what no record tells.
///
/// It is built once from the board and then updated by the results of records, so a change costs the logarithm of the number of
/// open breaks. It has no clock of its own: a caller that has one asks it for decisions.
package struct BreakSchedule: Sendable {
    private struct Turn: Comparable {
        let instant: Timestamp
        let number: BreakNumber
        let key: BreakKey

        static func < (left: Self, right: Self) -> Bool {
            left.instant == right.instant ? left.number < right.number : left.instant < right.instant
        }
    }

    private var heap: Heap<Turn> = []
    /// Where each break stands in the heap: what lies there under another instant is void.
    private var instants: [BreakNumber: Timestamp] = [:]
    private var running: Set<BreakNumber> = []

    /// - Parameters:
    ///   - board: the board with the open breaks.
    ///   - now: the gateway's clock.
    package init(_ board: Board, at now: Timestamp) {
        for stream in board.sortedStreams {
            for each in stream.open(at: now) { self.note(each, at: now) }
        }
    }

    /// How many breaks run.
    package var runningCount: Int { self.running.count }

    /// How many entries are remembered; bounded by how many breaks are open, however often they change.
    package var entryCount: Int { self.heap.count }

    /// Keeps what a record made of a break.
    package mutating func note(_ each: Break, at now: Timestamp) {
        let state = each.state(at: now)
        if state == .live { self.running.insert(each.number) } else { self.running.remove(each.number) }
        guard let turn = each.turn(after: now) else {
            if self.instants.removeValue(forKey: each.number) != nil { self.tidy() }
            return
        }
        guard self.instants.updateValue(turn, forKey: each.number) != turn else { return }
        self.heap.insert(Turn(instant: turn, number: each.number, key: each.key))
        self.tidy()
    }

    /// The breaks that have begun, or are over, by now.
    ///
    /// - Parameters:
    ///   - board: the board as it is.
    ///   - now: the gateway's clock.
    /// - Returns: each once, in the order in which that happened.
    package mutating func turned(on board: Board, at now: Timestamp) -> [Break] {
        var turned: [Break] = []
        while let first = self.heap.min, first.instant <= now {
            self.heap.removeMin()
            guard self.instants[first.number] == first.instant else { continue }
            self.instants[first.number] = nil
            guard let each = board[first.key], each.number == first.number else {
                self.running.remove(first.number)
                continue
            }
            self.note(each, at: now)
            turned.append(each)
        }
        return turned
    }

    private mutating func tidy() {
        if self.heap.count > 2 * self.instants.count + 64 {
            self.heap = Heap(self.heap.unordered.filter { self.instants[$0.number] == $0.instant })
        }
    }
}

extension Break {
    /// When it begins or is over by time alone, the nearest after an instant; `nil`: never, as it stands.
    fileprivate func turn(after now: Timestamp) -> Timestamp? {
        guard self.record.phase == .announced, let end = self.end else { return nil }
        if let start = self.record.start, start > now, start < end { return start }
        return end > now ? end : nil
    }
}
