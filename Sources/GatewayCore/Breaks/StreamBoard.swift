// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import HashTreeCollections

/// The state of one stream: its position, the notices that can be recovered, and its breaks.
package struct StreamBoard: Hashable, Sendable {
    /// A break that is not closed, as those need it who look for an interval or for what is open.
    private struct Current: Hashable, Sendable {
        let id: BreakID
        /// `nil` for pre-stream breaks, which hold no interval.
        let start: Timestamp?
        /// Whether listeners know of it.
        let isAnnounced: Bool
    }

    package let stream: StreamID
    /// The sequence of the last notice; where the stream began, before the first.
    package private(set) var sequence: UInt64
    /// The last notices, in order, without gaps, up to `sequence`.
    package private(set) var recent = RecentNotices()
    package private(set) var breaks: TreeDictionary<BreakID, Break> = [:]
    /// The size of the breaks.
    private var breakBytes = 0

    // Ways to find breaks without looking at the thousands that are kept for acknowledgements only. All of them follow
    // from `breaks`.
    /// The breaks that need a timer's record: none of them is over, so they are few.
    package private(set) var waiting: TreeSet<BreakID> = []
    /// In the order in which they were published.
    private var order = SortedTree<BreakNumber, BreakID>()
    /// The breaks with an end that were not cancelled and have not expired, until they are condensed, by their end.
    ///
    /// The intervals of a stream do not overlap: in this order they follow each other.
    private var current = SortedTree<BreakInstant, Current>()
    /// All that need no timer's record, by when they are over.
    private var settled = SortedTree<BreakInstant, BreakID>()
    /// By the events that signals told of.
    private(set) var signals = SignalIndex()
    /// The breaks that signals opened and broadcasters published then, by the ids of those publications.
    private var aliases: TreeDictionary<BreakID, BreakID> = [:]

    package init(stream: StreamID, sequence: UInt64 = 0) {
        self.stream = stream
        self.sequence = sequence
    }

    /// A stream as a snapshot kept it, without its breaks.
    ///
    /// The snapshot may be of an earlier epoch of the same log: what it holds is counted as if it had been read from
    /// the log now.
    package init(_ record: StreamRecord, epoch: UInt64) {
        self.stream = record.stream
        self.sequence = record.sequence
        self.recent = RecentNotices(record.recentNotices.map { $0.moved(to: epoch) })
    }

    /// Keeps a break that a snapshot has.
    mutating func load(_ record: BreakRecord, epoch: UInt64) {
        var record = record
        record.lastNotice = record.lastNotice?.moved(to: epoch)
        self.put(Break(record))
    }

    /// For the snapshot: without the breaks.
    var record: StreamRecord {
        StreamRecord(
            stream: self.stream,
            sequence: self.sequence,
            recentNotices: self.recent.suffix(BoardLimits.recoveryNoticesMax)
        )
    }

    package subscript(id: BreakID) -> Break? { self.breaks[id] }

    /// The break that a broadcaster means by an id: its own, or the one with which it was published after a signal had opened it.
    ///
    /// Listeners know the first one only.
    package func known(_ id: BreakID) -> Break? { self.breaks[id] ?? self.aliases[id].flatMap { self.breaks[$0] } }

    /// How many breaks are kept.
    package var breakCount: Int { self.order.count }

    /// About how many bytes it takes in memory.
    var bytes: Int {
        BoardLimits.streamBytes + self.recent.count * BoardLimits.noticeBytes + self.breakBytes
    }

    /// The breaks that are kept, in the order in which they were published.
    package var sortedBreaks: [Break] { self.order.elements.compactMap { self.breaks[$0.value] } }

    /// Visits breaks in the order in which they were published, until `body` says `false`.
    func scan(after number: BreakNumber?, _ body: (Break) -> Bool) -> Bool {
        var goesOn = true
        self.order.scan(from: number) { each, id in
            if each == number { return true }
            if let found = self.breaks[id] { goesOn = body(found) }
            return goesOn
        }
        return goesOn
    }

    /// The announced breaks that end after an instant or wait to be punched: at most so many, those that are over last.
    func announced(overAfter instant: Timestamp, most: Int) -> [Break] {
        var found = self.waiting.compactMap { self.breaks[$0] }.filter { $0.waitsForPunch && $0.over > instant }
        var ending: [Break] = []
        self.current.scanBackwards { key, each in
            guard key.at > instant, ending.count < most else { return false }
            if each.isAnnounced, let each = self.breaks[each.id] { ending.append(each) }
            return true
        }
        found += ending
        guard found.count > most else { return found }
        found.sort { ($0.over, $0.number) < ($1.over, $1.number) }
        return found.suffix(most)
    }

    /// The announced breaks with a start that are not over at an instant, the first to end first: the one that runs, and those behind it.
    ///
    /// What waits to be punched and what is pre-stream is for those who ask for it by name.
    ///
    /// - Parameters:
    ///   - instant: where a listener is.
    ///   - most: so many at most.
    /// - Returns: the breaks.
    package func playable(after instant: Timestamp, most: Int) -> [Break] {
        var found: [Break] = []
        let first = BreakInstant(at: instant + .microseconds(1), number: BreakNumber(rawValue: 0))
        self.current.scan(from: first) { _, each in
            if each.start != nil, each.isAnnounced, let each = self.breaks[each.id], !each.preStream {
                found.append(each)
            }
            return found.count < most
        }
        return found
    }

    /// The break that runs, and the one that comes next: the nearest with a start, or else the one that has been cued for longest.
    ///
    /// Pre-stream breaks have no place in the programme, and are neither.
    package func present(at now: Timestamp) -> (running: Break?, next: Break?) {
        var (running, next): (BreakID?, BreakID?) = (nil, nil)
        let first = BreakInstant(at: now + .microseconds(1), number: BreakNumber(rawValue: 0))
        self.current.scan(from: first) { _, each in
            guard let start = each.start else { return true }
            if start <= now, each.isAnnounced {
                running = each.id
                return true
            }
            next = each.id
            // The intervals follow each other: none behind this one begins earlier.
            return false
        }
        let cued = self.waiting.lazy.compactMap { self.breaks[$0] }.filter(\.waitsForPunch)
            .min { $0.number < $1.number }
        return (running.flatMap { self.breaks[$0] }, next.flatMap { self.breaks[$0] } ?? cued)
    }

    /// The break that was over last; `nil`: none is.
    package func latest(at now: Timestamp) -> Break? {
        var latest: Break?
        self.settled.scanBackwards { key, id in
            guard key.at <= now, let each = self.breaks[id], each.isOver(at: now) else { return true }
            latest = each
            return false
        }
        return latest
    }

    /// The break to show to an operator who looks at the stream: the running one; else the next one that listeners know of; else
    /// the one that ended last; else the next one.
    package func focus(at now: Timestamp) -> Break? {
        let (running, next) = self.present(at: now)
        if let running { return running }
        if let next, next.announced != nil { return next }
        return self.latest(at: now) ?? next
    }

    /// The breaks that are not over, in the order in which they were published.
    package func open(at now: Timestamp) -> [Break] {
        var open = self.waiting.compactMap { self.breaks[$0] }
        self.current.scanBackwards { key, each in
            guard key.at > now else { return false }
            if let each = self.breaks[each.id], each.timer == nil { open.append(each) }
            return true
        }
        return open.filter { !$0.isOver(at: now) }.sorted { $0.number < $1.number }
    }

    /// How many breaks are not over.
    func openBreakCount(at now: Timestamp) -> Int {
        // A break that waits for a timer's record is not over, however late that record is.
        var count = self.waiting.count
        self.current.scanBackwards { key, each in
            guard key.at > now else { return false }
            if each.isAnnounced { count += 1 }
            return true
        }
        return count
    }

    /// The break that has been over for longest; `nil`: none is over.
    func oldest(at now: Timestamp) -> Break? {
        guard let first = self.settled.first, let each = self.breaks[first.value], each.isOver(at: now) else {
            return nil
        }
        return each
    }

    /// The break to drop where the stream has too many; `nil`: it has not, or none is over.
    func surplus(at now: Timestamp) -> Break? {
        self.breakCount > BoardLimits.keptBreaksPerStreamMax ? self.oldest(at: now) : nil
    }

    /// Keeps a break as it is now.
    mutating func put(_ each: Break) {
        let id = each.key.id
        let before = self.breaks.updateValue(each, forKey: id)
        self.breakBytes += each.bytes - (before?.bytes ?? 0)
        if before == nil { self.order.updateValue(id, forKey: each.number) }
        self.signals.replace(before, by: each)
        if let alias = each.record.alias, before?.record.alias == nil { self.aliases.updateValue(id, forKey: alias) }
        // Most changes leave a break where it is.
        if (before?.timer != nil) != (each.timer != nil) {
            if each.timer == nil { self.waiting.remove(id) } else { self.waiting.insert(id) }
        }
        let (settled, current) = (each.settledAt, each.currentUntil)
        if before?.settledAt != settled {
            if let old = before?.settledAt { self.settled.removeValue(forKey: old) }
            if let settled { self.settled.updateValue(id, forKey: settled) }
        }
        if let old = before?.currentUntil, old != current { self.current.removeValue(forKey: old) }
        if let current {
            let place = Current(id: id, start: each.record.start, isAnnounced: each.record.phase == .announced)
            self.current.updateValue(place, forKey: current)
        }
    }

    mutating func drop(_ each: Break) {
        guard let each = self.breaks.removeValue(forKey: each.key.id) else { return }
        self.breakBytes -= each.bytes
        self.order.removeValue(forKey: each.number)
        self.signals.replace(each, by: nil)
        if let alias = each.record.alias { self.aliases.removeValue(forKey: alias) }
        self.waiting.remove(each.key.id)
        if let settled = each.settledAt { self.settled.removeValue(forKey: settled) }
        if let current = each.currentUntil { self.current.removeValue(forKey: current) }
    }

    /// Gives a notice about a break the next sequence, and has the break remember it.
    func announce(_ kind: Notice.Kind, of each: inout Break, epoch: UInt64, at now: Timestamp) -> Notice {
        let position = Position(epoch: epoch, sequence: self.sequence + 1)
        let notice = each.notice(kind, position: position, at: now, trace: each.record.trace)
        if each.record.lastNotice == nil { each.record.announced = now }
        each.record.lastNotice = notice
        return notice
    }

    /// Keeps what was decided: a break as it is now, and the notice about that.
    mutating func keep(_ each: Break, _ notice: Notice?) {
        self.put(each)
        guard let notice else { return }
        self.sequence = notice.position.sequence
        self.recent.append(notice)
    }

    /// The break that has part of an interval already: the first of them in time.
    func overlapping(_ interval: Range<Timestamp>, except id: BreakID) -> Break? {
        var found: BreakID?
        let first = BreakInstant(at: interval.lowerBound + .microseconds(1), number: BreakNumber(rawValue: 0))
        self.current.scan(from: first) { _, each in
            guard let start = each.start, each.id != id else { return true }
            if start < interval.upperBound { found = each.id }
            // The intervals follow each other: none behind this one begins earlier.
            return false
        }
        return found.flatMap { self.breaks[$0] }
    }

    /// The breaks that were not cancelled with a start at most so far from an instant, by the break itself or by a signal about it.
    ///
    /// Those that start there themselves come first, in the order of time. A broadcaster may have moved a break far from what the
    /// signals say.
    func starting(around instant: Timestamp, within distance: Duration) -> [Break] {
        var found: [Break] = []
        let first = BreakInstant(at: instant - distance, number: BreakNumber(rawValue: 0))
        self.current.scan(from: first) { _, each in
            guard let start = each.start else { return true }
            // The intervals follow each other: none behind this one begins earlier.
            guard start <= instant + distance else { return false }
            if instant - distance <= start, let each = self.breaks[each.id] { found.append(each) }
            return true
        }
        for id in self.signals.breaks(startingAround: instant, within: distance) {
            guard let each = self.breaks[id], each.currentUntil != nil else { continue }
            found.append(each)
        }
        return found
    }
}

extension Break {
    /// Its place among those that need no timer's record.
    fileprivate var settledAt: BreakInstant? {
        self.timer == nil ? BreakInstant(at: self.over, number: self.number) : nil
    }

    /// Its place among those with an end that are neither closed nor condensed.
    fileprivate var currentUntil: BreakInstant? {
        guard self.record.closed == nil, !self.record.condensed, let end = self.end else { return nil }
        return BreakInstant(at: end, number: self.number)
    }
}

extension Notice {
    fileprivate func moved(to epoch: UInt64) -> Notice {
        var notice = self
        notice.position = Position(epoch: epoch, sequence: self.position.sequence)
        return notice
    }
}
