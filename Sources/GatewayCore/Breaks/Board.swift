// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import HashTreeCollections

/// The effect of a record of the event log on the board.
package enum EntryResult: Hashable, Sendable {
    /// The break is now as in `info`; listeners are told where there is a notice.
    case changed(Break, Notice?)
    /// The request repeats an earlier one: the answer is the same, and no notice is sent again.
    case unchanged(Break)
    /// A change of an ad list: the record has its last values.
    case list(AdListRecord, AdListEffect)
    /// The rules did not allow it. The record has no effect, at any gateway.
    case refused(Refusal)
    /// The log's own time went on, and this data was dropped.
    case housekept(Housekeeping)
    /// From here on the fold goes by this version of its rules.
    case activated(UInt32)
}

/// The result of one record of housekeeping.
package struct Housekeeping: Hashable, Sendable {
    /// How many breaks keep only the essentials of their advertisements from now on.
    package var condensed = 0
    /// How many breaks are kept no more.
    package var retired = 0
    /// How many streams are kept no more.
    package var streams = 0
    /// Whether more is due than one record may do.
    package var hasMore = false

    package init(hasMore: Bool = false) {
        self.hasMore = hasMore
    }
}

/// All streams and their breaks: a fold over the lane `breaks` of the event log.
///
/// Records are applied in log order and decide everything, so that every gateway that reads the same log gives the same
/// notice the same position. Copies are cheap: the request thread works on one while the next is made.
///
/// Nothing that is done for one entry costs more because much is kept: what falls due, what is listed and what overlaps
/// is found through ordered indexes.
package struct Board: Sendable {
    /// Of the event log.
    package let epoch: UInt64
    /// The most bytes that it may come to; the same at every gateway.
    package let bytesMax: Int
    /// The offset of the last group applied.
    package private(set) var offset: UInt64 = 0
    package private(set) var streams: TreeDictionary<StreamID, StreamBoard> = [:]
    /// The streams with breaks that need a timer's record; follows from `streams`.
    package private(set) var waiting: TreeSet<StreamID> = []
    /// The log's own time: everything that is "too old" is so by it, never by a gateway's clock.
    ///
    /// It begins at the first entry's instant and goes on by housekeeping only, each time by a bounded step and never
    /// back: an entry with a wrong instant retires nothing. Before the first entry nothing is too old.
    package private(set) var retentionTime = Timestamp(microseconds: .min)
    /// The newest instant that an entry carried.
    package private(set) var newestTime = Timestamp(microseconds: .min)
    /// The highest sequence of a stream that is no longer kept: a stream that comes, or comes back, begins above it.
    package private(set) var retiredSequence: UInt64 = 0
    /// The names of breaks that are no longer kept.
    package private(set) var retired: RetiredNames
    /// The ad lists that fill breaks which signals open.
    package private(set) var lists = AdLists()
    /// How far each writer of the lane is, where several gateways share the log.
    package internal(set) var writers = WriterTable()
    /// The version of the fold's rules.
    package private(set) var rules = FoldRules.first
    /// The newest version that the reader knows; says nothing about the streams.
    package internal(set) var rulesKnown = FoldRules.newest
    /// How many breaks are kept.
    package private(set) var breakCount = 0
    /// About what it takes in memory, worked out from what is kept: the same at every gateway.
    private var streamBytes = 0
    /// The streams in the order of their ids; follows from `streams`.
    private var order = SortedTree<StreamID, Present>()
    /// How often a stream came or went; follows from nothing that is compared.
    package private(set) var streamSetVersion: UInt64 = 0
    /// When something about a break is to be let go of by the log's own time; follows from `streams`.
    private var due = SortedTree<BreakInstant, BreakKey>()
    /// The changes since they were last collected; says nothing about the streams, so that equal boards are equal without it.
    private var changes = BoardChanges()

    /// A board before the first entry.
    ///
    /// - Parameters:
    ///   - epoch: of the event log.
    ///   - names: hashes the names of breaks that are let go of; by a key of the event log.
    ///   - bytesMax: the most bytes that it may come to.
    package init(
        epoch: UInt64,
        names: SipHash = SipHash(key: 0, 0),
        bytesMax: Int = BoardLimits.boardBytesMax
    ) {
        self.epoch = epoch
        self.bytesMax = bytesMax
        self.retired = RetiredNames(hash: names)
    }

    /// The board as a snapshot kept it.
    package init(epoch: UInt64, names: SipHash = SipHash(key: 0, 0), _ record: BoardRecord) {
        var loader = BoardLoader(epoch: epoch, names: names)
        loader.add(record)
        self = loader.finish(at: record.offset)
    }

    /// A board of streams that were loaded.
    init(epoch: UInt64, offset: UInt64, streams: some Sequence<StreamBoard>, loaded: BoardLoader.Facts) {
        self.init(epoch: epoch)
        self.offset = offset
        self.retired = loaded.retired
        self.lists = loaded.lists
        self.writers = WriterTable(loaded.writers)
        self.rules = loaded.rules
        self.retiredSequence = loaded.retiredSequence
        for stream in streams {
            self.put(stream)
            for each in stream.breaks.values { if let due = each.due { self.due.updateValue(each.key, forKey: due) } }
        }
        self.newestTime = loaded.newest ?? self.newestTime
        self.retentionTime = loaded.retention ?? self.retentionTime
    }

    /// Whether any entry was ever applied.
    package var hasTime: Bool { self.newestTime.microseconds > .min }

    /// About how many bytes it takes in memory: what its limit goes by.
    package var bytes: Int { self.streamBytes + self.retired.bytes + self.lists.bytes }

    private mutating func put(_ stream: StreamBoard) {
        let before = self.streams.updateValue(stream, forKey: stream.stream)
        self.count(stream.stream, before: before.map { StreamFacts($0) }, after: StreamFacts(stream))
    }

    /// Changes a stream where it lies; one that is not there begins.
    ///
    /// So only the first of a group's entries about a stream copies data that other boards share, provided that no other copy of
    /// the stream is held meanwhile.
    private mutating func change(_ id: StreamID, _ body: (inout StreamBoard) -> Void) {
        let (new, countBefore) = (self.newStream(id), self.streams.count)
        let (before, after) = self.streams.updateValue(forKey: id, default: new) { stream in
            let before = StreamFacts(stream)
            body(&stream)
            return (before, StreamFacts(stream))
        }
        self.count(id, before: self.streams.count == countBefore ? before : nil, after: after)
    }

    /// Counts what became of a stream.
    private mutating func count(_ id: StreamID, before: StreamFacts?, after: StreamFacts) {
        self.streamBytes += after.bytes - (before?.bytes ?? 0)
        self.breakCount += after.breakCount - (before?.breakCount ?? 0)
        if before == nil {
            self.order.updateValue(Present(), forKey: id)
            self.streamSetVersion += 1
        }
        guard after.isWaiting != (before?.isWaiting ?? false) else { return }
        if after.isWaiting { self.waiting.insert(id) } else { self.waiting.remove(id) }
    }

    private mutating func drop(_ id: StreamID) {
        guard let stream = self.streams.removeValue(forKey: id) else { return }
        self.order.removeValue(forKey: stream.stream)
        self.streamSetVersion += 1
        self.waiting.remove(stream.stream)
        self.streamBytes -= stream.bytes
        self.breakCount -= stream.breakCount
        self.retiredSequence = max(self.retiredSequence, stream.sequence)
        self.changes.streams.insert(stream.stream)
    }

    /// For the snapshot: in an order that does not depend on hashing.
    package var record: BoardRecord {
        var record = self.headRecord
        record.retiredHashes = self.retired.chunks.flatMap { $0 }
        record.streams = self.sortedStreams.map(\.record)
        record.breaks = self.sortedStreams.flatMap { $0.sortedBreaks.map(\.record) }
        record.adLists = self.lists.records
        return record
    }

    /// The part that belongs to no stream and no break.
    var headRecord: BoardRecord {
        BoardRecord(
            offset: self.offset,
            retention: self.hasTime ? self.retentionTime : nil,
            newest: self.hasTime ? self.newestTime : nil,
            retiredSequence: self.retiredSequence,
            writers: self.writers.records,
            // A log of the first version has snapshots that every version reads.
            rules: self.rules == FoldRules.first ? nil : self.rules
        )
    }

    /// Every break that is kept.
    package var keys: [BreakKey] {
        self.streams.values.flatMap { stream in stream.breaks.values.map(\.key) }
    }

    /// Where each stream stands.
    package var sequences: [StreamID: UInt64] {
        Dictionary(uniqueKeysWithValues: self.streams.values.map { ($0.stream, $0.sequence) })
    }

    /// The state of a stream; `nil` where nothing was ever published for it, or nothing is kept any more.
    package func stream(_ id: StreamID) -> StreamBoard? { self.streams[id] }

    /// How many streams there are.
    package var streamCount: Int { self.streams.count }

    /// The streams in the order of their ids.
    package var sortedStreams: [StreamBoard] { self.order.elements.compactMap { self.streams[$0.key] } }

    /// The ids of the streams in their order.
    package var sortedStreamIDs: [StreamID] { self.order.elements.map { $0.key } }

    package subscript(key: BreakKey) -> Break? { self.streams[key.stream]?.breaks[key.id] }

    /// The break that a broadcaster means by a name; see ``StreamBoard/known(_:)``.
    package func known(_ key: BreakKey) -> Break? { self.streams[key.stream]?.known(key.id) }

    /// A stream of which nothing is kept: where it would begin.
    private func newStream(_ id: StreamID) -> StreamBoard {
        StreamBoard(stream: id, sequence: self.retiredSequence)
    }

    /// A stream's state for listeners, also if the board has nothing about it.
    ///
    /// Such a stream starts at the position where the next one begins. A listener that knows an old position of it is told to begin
    /// anew, and no listener is told that it missed nothing when it missed something.
    package func streamOrNew(_ id: StreamID) -> StreamBoard { self.streams[id] ?? self.newStream(id) }

    /// Where a stream stands.
    package func position(of stream: StreamID) -> Position {
        Position(epoch: self.epoch, sequence: self.streams[stream]?.sequence ?? self.retiredSequence)
    }

    /// Whether a break of this name was kept once and is no more. (It may be said of a name that was never used, once in
    /// 2⁶⁴ divided by how many were.)
    package func isRetired(_ key: BreakKey) -> Bool {
        self.known(key) == nil && self.retired.contains(key)
    }

    /// Visits breaks by stream, in the order in which they were published, until `body` says `false`.
    ///
    /// - Parameters:
    ///   - stream: the only stream to visit; `nil`: all.
    ///   - mark: begins behind this break; `nil`: at the first.
    ///   - isWanted: says whether a stream is visited at all.
    ///   - body: says whether to go on.
    package func scan(
        of stream: StreamID? = nil,
        after mark: BreakMark? = nil,
        where isWanted: (StreamID) -> Bool = { _ in true },
        _ body: (Break) -> Bool
    ) {
        if let stream {
            guard isWanted(stream) else { return }
            guard mark.map({ $0.stream <= stream }) ?? true else { return }
            _ = self.streams[stream]?.scan(after: mark?.stream == stream ? mark?.number : nil, body)
            return
        }
        self.order.scan(from: mark?.stream) { id, _ in
            guard isWanted(id) else { return true }
            return self.streams[id]?.scan(after: mark?.stream == id ? mark?.number : nil, body) ?? true
        }
    }

    /// The changes since this was last called, for the code that keeps snapshots.
    package mutating func takeChanges() -> BoardChanges {
        defer { self.changes = BoardChanges() }
        return self.changes
    }

    /// Applies one group.
    ///
    /// - Parameters:
    ///   - group: the next of the lane.
    ///   - offset: its offset.
    ///   - previous: the offset of the group before it in the log; `nil`: one less, as within an epoch.
    /// - Returns: the result of each entry, in order.
    package mutating func apply(_ group: BreakGroup, offset: UInt64, after previous: UInt64? = nil) -> [EntryResult] {
        let previous = previous ?? offset - 1
        precondition(
            previous == self.offset && offset > previous,
            "the board is at \(self.offset) and was given \(offset), which follows \(previous)"
        )
        self.offset = offset
        return group.entries.enumerated()
            .map { index, entry in
                self.apply(entry, number: BreakGroup.breakNumber(offset: offset, index: index))
            }
    }

    /// The effect that an entry would have if it were applied now; nothing changes.
    package func trial(of entry: BreakEntry) -> EntryResult {
        let number = BreakGroup.breakNumber(offset: self.offset + 1, index: 0)
        guard let result = self.decide(entry, number: number) else {
            var copy = self
            return copy.apply(entry, number: number)
        }
        return result
    }

    /// Decides about an entry; nothing changes.
    ///
    /// - Returns: the result of applying it; `nil`: it is about the board as a whole.
    private func decide(_ entry: BreakEntry, number: BreakNumber) -> EntryResult? {
        switch entry.kind {
        case .housekeeping, .rules: return nil
        case .putList, .removeList: return self.lists.decide(entry, room: self.bytesMax - self.bytes)
        case .signal(let signal): return self.decide(signal, asked: entry, number: number)
        case .publish, .punch, .update, .end, .cancel, .postpone, .announce, .expire:
            guard let key = entry.key else { preconditionFailure("an entry about a break names it") }
            return self.decide(entry, about: key, number: number)
        }
    }

    /// Decides about an entry about a break.
    private func decide(_ entry: BreakEntry, about key: BreakKey, number: BreakNumber) -> EntryResult {
        let known = self.streams[key.stream]
        let isRetired = known?.known(key.id) == nil && self.retired.contains(key)
        if known == nil {
            guard case .publish = entry.kind, !isRetired else {
                guard case .publish = entry.kind else {
                    return .refused(isRetired ? .retired(key) : .noSuchBreak(key))
                }
                return .refused(.reserved(key))
            }
            guard self.streams.count < BoardLimits.streamsMax else { return .refused(.tooManyStreams) }
        }
        let stream = known ?? self.newStream(key.stream)
        return stream.decide(
            entry,
            number: number,
            epoch: self.epoch,
            isRetired: isRetired,
            room: self.room(for: stream, isNew: known == nil)
        )
    }

    /// Decides about a signal.
    private func decide(_ signal: BreakEntry.Signal, asked entry: BreakEntry, number: BreakNumber) -> EntryResult {
        let id = signal.request.stream
        let known = self.streams[id]
        if known == nil, signal.request.kind == .out, self.streams.count >= BoardLimits.streamsMax {
            return .refused(.tooManyStreams)
        }
        let stream = known ?? self.newStream(id)
        let facts = StreamBoard.SignalFacts(
            number: number,
            epoch: self.epoch,
            room: self.room(for: stream, isNew: known == nil),
            isReserved: { self.retired.contains(BreakKey(stream: id, id: $0)) }
        )
        return stream.decide(signal, asked: entry, facts)
    }

    /// How many bytes there are for what comes to a stream.
    private func room(for stream: StreamBoard, isNew: Bool) -> Int {
        let room = self.bytesMax - self.bytes
        return isNew ? room - stream.bytes : room
    }

    private mutating func apply(_ entry: BreakEntry, number: BreakNumber) -> EntryResult {
        if !self.hasTime { self.retentionTime = entry.at }
        self.newestTime = max(self.newestTime, entry.at)
        guard let result = self.decide(entry, number: number) else {
            switch entry.kind {
            case .housekeeping(let time): return .housekept(self.runHousekeeping(time))
            case .rules(let version):
                self.rules = max(self.rules, version)
                return .activated(self.rules)
            default: preconditionFailure("an entry about nothing")
            }
        }
        if case .list(let record, let effect) = result {
            self.lists.keep(record, effect)
            if effect != .nothing { self.changes.lists.insert(record.name) }
        }
        guard case .changed(let each, let notice) = result else { return result }
        let key = each.key
        let before = self[key]
        let countBefore = self.streams.count
        self.change(key.stream) { $0.keep(each, notice) }
        if notice != nil || self.streams.count > countBefore { self.changes.streams.insert(key.stream) }
        self.note(each, before: before)
        if before == nil { self.makeRoom(in: key.stream, at: entry.at) }
        return result
    }

    /// Keeps what follows from a break as it is now.
    private mutating func note(_ each: Break, before: Break?) {
        self.changes.breaks[each.number] = each.key
        let (old, new) = (before?.due, each.due)
        guard old != new else { return }
        if let old { self.due.removeValue(forKey: old) }
        if let new { self.due.updateValue(each.key, forKey: new) }
    }

    /// Lets go of a stream's breaks that have been over for longest, where it has too many.
    private mutating func makeRoom(in id: StreamID, at now: Timestamp) {
        while let oldest = self.streams[id]?.surplus(at: now) { self.retire(oldest) }
    }

    private mutating func retire(_ each: Break) {
        self.change(each.key.stream) { $0.drop(each) }
        if let due = each.due { self.due.removeValue(forKey: due) }
        let count = self.retired.count
        for key in each.record.keys { self.retired.insert(key) }
        if self.retired.count > count { self.changes.firstName = min(self.changes.firstName ?? count, count) }
        self.changes.breaks[each.number] = each.key
    }

    /// Whether a record of housekeeping at this instant would drop something.
    package func hasDue(at now: Timestamp) -> Bool {
        let reached = max(self.retentionTime, min(now, self.retentionTime + BoardLimits.retentionStepMax))
        return self.due.first.map { $0.key.at < reached } ?? false
    }

    /// Advances the log's own time, and drops data that is too old by it: keeps only the essentials of breaks that no listener can
    /// ask for, only the names of those that can no longer be acknowledged, and nothing of streams without breaks.
    ///
    /// No more than a bounded number of breaks: the rest waits for the next record.
    private mutating func runHousekeeping(_ time: Timestamp) -> Housekeeping {
        self.retentionTime = max(self.retentionTime, min(time, self.retentionTime + BoardLimits.retentionStepMax))
        var done = Housekeeping()
        while let next = self.due.first, next.key.at < self.retentionTime {
            guard done.condensed + done.retired < BoardLimits.housekeepingBreaksMax else {
                done.hasMore = true
                break
            }
            guard let each = self[next.value], each.due == next.key else {
                preconditionFailure("the index of what is due has a break that is not kept")
            }
            guard each.record.condensed else {
                let condensed = each.condensed
                self.change(each.key.stream) { $0.put(condensed) }
                self.note(condensed, before: each)
                done.condensed += 1
                continue
            }
            self.retire(each)
            done.retired += 1
            if self.streams[each.key.stream]?.breakCount == 0 {
                self.drop(each.key.stream)
                done.streams += 1
            }
        }
        return done
    }
}

extension Board: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        left.epoch == right.epoch && left.offset == right.offset && left.retentionTime == right.retentionTime
            && left.newestTime == right.newestTime && left.retiredSequence == right.retiredSequence
            && left.retired == right.retired && left.lists == right.lists && left.writers == right.writers
            && left.rules == right.rules
            && left.bytes == right.bytes && left.breakCount == right.breakCount
            && left.streams == right.streams && left.waiting == right.waiting && left.order == right.order
            && left.due == right.due
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.epoch)
        hasher.combine(self.offset)
        hasher.combine(self.streams)
    }
}

/// The size that the board counts for a stream.
private struct StreamFacts {
    let bytes: Int
    let breakCount: Int
    let isWaiting: Bool

    init(_ stream: StreamBoard) {
        self.bytes = stream.bytes
        self.breakCount = stream.breakCount
        self.isWaiting = !stream.waiting.isEmpty
    }
}

/// A place in the list of all breaks.
package struct BreakMark: Hashable, Sendable {
    package let stream: StreamID
    package let number: BreakNumber

    package init(stream: StreamID, number: BreakNumber) {
        self.stream = stream
        self.number = number
    }

    package init(_ each: Break) {
        self.init(stream: each.key.stream, number: each.number)
    }
}

/// An instant that belongs to a break: no two are the same.
struct BreakInstant: Hashable, Comparable, Sendable {
    let at: Timestamp
    let number: BreakNumber

    static func < (left: Self, right: Self) -> Bool {
        left.at == right.at ? left.number < right.number : left.at < right.at
    }
}

extension Refusal {
    static func noSuchBreak(_ key: BreakKey) -> Refusal {
        Refusal(.notFound, "There is no break \(key.id) of the stream \(key.stream).")
    }

    static func retired(_ key: BreakKey) -> Refusal {
        Refusal(.breakTooOld, "The break \(key.id) is older than the gateway keeps.")
    }

    static func reserved(_ key: BreakKey) -> Refusal {
        Refusal(.conflict, "The id \(key.id) belonged to a break that is no longer kept; it stays reserved.")
    }

    /// The board has as many streams as it may.
    package static let tooManyStreams = Refusal(
        .limitReached,
        "The limit streamsMax is \(BoardLimits.streamsMax) and is reached."
    )

    /// The board is full.
    package static func boardFull(_ bytesMax: Int = BoardLimits.boardBytesMax) -> Refusal {
        Refusal(.limitReached, "The limit boardBytesMax is \(bytesMax) and is reached.")
    }
}
