// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import HashTreeCollections

/// What is known of one stream: its position, the notices that can be recovered, and its breaks.
package struct StreamBoard: Hashable, Sendable {
    package let stream: StreamID
    /// The sequence of the last notice; 0 before the first.
    package private(set) var sequence: UInt64 = 0
    /// The last notices, in order, without gaps, up to `sequence`.
    package private(set) var recent = RecentNotices()
    package private(set) var breaks: TreeDictionary<BreakID, Break> = [:]
    /// The ids of breaks that are no longer kept: they stay reserved.
    package private(set) var retired: TreeSet<BreakID> = []

    // Three ways to find breaks without looking at the thousands that are kept for acknowledgements only. All of them
    // follow from `breaks`.
    /// The breaks that need a timer's record.
    package private(set) var waiting: TreeSet<BreakID> = []
    /// The breaks that a listener may still ask for, all that are not condensed, by the minutes in which they are over.
    private var current = BreakCalendar(slot: .seconds(300))
    /// The condensed breaks, by the hour in which they were over.
    private var condensed = BreakCalendar(slot: .seconds(3_600))

    package init(stream: StreamID) {
        self.stream = stream
    }

    /// A stream as a snapshot kept it.
    ///
    /// The snapshot may be of an earlier epoch of the same log: what it holds is counted as if it had been read from
    /// the log now.
    package init(_ record: StreamRecord, epoch: UInt64) {
        self.stream = record.stream
        self.sequence = record.sequence
        self.recent = RecentNotices(record.recentNotices.map { $0.moved(to: epoch) })
        for each in record.breaks {
            var each = each
            each.lastNotice = each.lastNotice?.moved(to: epoch)
            self.put(Break(each))
        }
        self.retired = TreeSet(record.retired)
    }

    /// For the snapshot: in an order that does not depend on hashing.
    package var record: StreamRecord {
        StreamRecord(
            stream: self.stream,
            sequence: self.sequence,
            recentNotices: self.recent.suffix(BoardLimits.recoveryNoticesMax),
            breaks: self.sortedBreaks.map(\.record),
            retired: self.retired.sorted()
        )
    }

    package subscript(id: BreakID) -> Break? { self.breaks[id] }

    /// How many breaks are kept.
    package var breakCount: Int { self.breaks.count }

    /// The breaks that are kept, in the order in which they were published.
    package var sortedBreaks: [Break] { self.breaks.values.sorted { $0.number < $1.number } }

    /// The breaks that a listener may still ask for and that are over at this instant or later; in no order.
    ///
    /// Some that were over a few minutes earlier are among them.
    func currentBreaks(overFrom instant: Timestamp) -> some Sequence<Break> {
        self.current.names(from: instant).lazy.compactMap { self.breaks[$0] }
    }

    /// How many breaks are not over.
    func openBreakCount(at now: Timestamp) -> Int {
        // What waits for a timer's record is not over, however late that record is.
        self.waiting.union(self.current.names(from: now))
            .count { self.breaks[$0].map { !$0.isOver(at: now) } ?? false }
    }

    /// Keeps a break as it is now.
    mutating func put(_ each: Break) {
        let id = each.key.id
        let before = self.breaks.updateValue(each, forKey: id)
        // Most changes leave a break where it is.
        if (before?.timer != nil) != (each.timer != nil) {
            if each.timer == nil { self.waiting.remove(id) } else { self.waiting.insert(id) }
        }
        let isCondensed = each.record.condensed
        if let before {
            if before.record.condensed == isCondensed, before.over == each.over { return }
            self.forgetPlace(of: before, id)
        }
        if isCondensed {
            self.condensed.insert(id, over: each.over)
        } else {
            self.current.insert(id, over: each.over)
        }
    }

    private mutating func drop(_ id: BreakID) {
        guard let each = self.breaks.removeValue(forKey: id) else { return }
        self.waiting.remove(id)
        self.forgetPlace(of: each, id)
    }

    private mutating func forgetPlace(of each: Break, _ id: BreakID) {
        if each.record.condensed {
            self.condensed.remove(id, over: each.over)
        } else {
            self.current.remove(id, over: each.over)
        }
    }

    /// Takes the next sequence for a notice about a break, and remembers both.
    mutating func announce(_ kind: Notice.Kind, of each: inout Break, epoch: UInt64, at now: Timestamp) -> Notice {
        self.sequence += 1
        let notice = each.notice(kind, position: Position(epoch: epoch, sequence: self.sequence), at: now)
        if each.record.lastNotice == nil { each.record.announced = now }
        each.record.lastNotice = notice
        self.put(each)
        self.recent.append(notice)
        return notice
    }

    /// The break that has part of an interval already.
    func overlapping(_ interval: Range<Timestamp>, except id: BreakID) -> Break? {
        self.currentBreaks(overFrom: interval.lowerBound)
            .filter { $0.key.id != id && ($0.interval?.overlaps(interval) ?? false) }
            .min { $0.number < $1.number }
    }
}

// Letting go of what nobody can ask for any more; by the time of records, so that every reader does the same.
extension StreamBoard {
    /// Keeps only the essentials of breaks that no listener can ask for, and only the ids of those that nobody can
    /// acknowledge.
    ///
    /// - Returns: how many were condensed, and how many are no longer kept.
    mutating func retire(at now: Timestamp) -> (condensed: Int, retired: Int) {
        var done = (condensed: 0, retired: 0)
        let oldest = now - BoardLimits.batchesWithin
        for each in self.current.names(through: oldest).compactMap({ self.breaks[$0] })
        where each.isOver(at: now) && each.over < oldest {
            self.put(each.condensed)
            done.condensed += 1
        }
        let limit = now - BoardLimits.acknowledgeWithin
        for id in self.condensed.names(through: limit) {
            guard let each = self.breaks[id], each.over < limit else { continue }
            self.retire(id)
            done.retired += 1
        }
        return done
    }

    /// Whether `retire` would do anything.
    func hasDue(at now: Timestamp) -> Bool {
        var copy = self
        let (condensed, retired) = copy.retire(at: now)
        return condensed + retired > 0
    }

    /// Lets go of the breaks that have been over for longest, where there is no room for one more.
    mutating func makeRoom(at now: Timestamp) {
        var surplus = self.breaks.count + 1 - BoardLimits.keptBreaksPerStreamMax
        guard surplus > 0 else { return }
        for names in self.condensed.slots + self.current.slots {
            let candidates = names.compactMap { self.breaks[$0] }.filter { $0.isOver(at: now) }
            for each in candidates.sorted(by: { ($0.over, $0.number) < ($1.over, $1.number) }).prefix(surplus) {
                self.retire(each.key.id)
                surplus -= 1
            }
            guard surplus > 0 else { return }
        }
    }

    private mutating func retire(_ id: BreakID) {
        self.drop(id)
        self.retired.insert(id)
    }
}

extension Notice {
    fileprivate func moved(to epoch: UInt64) -> Notice {
        var notice = self
        notice.position = Position(epoch: epoch, sequence: self.position.sequence)
        return notice
    }
}
