// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import HashTreeCollections

/// What a record of the event log did to the board.
package enum EntryResult: Hashable, Sendable {
    /// The break is now as in `info`; listeners are told where there is a notice.
    case changed(Break, Notice?)
    /// The same was asked before: the answer is the same and nobody is told again.
    case unchanged(Break)
    /// The rules did not allow it. The record has no effect, at any gateway.
    case refused(Refusal)
    /// The log's own time went on, and this was let go of by it.
    case housekept(Housekeeping)
}

/// What one record of housekeeping did.
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
package struct Board: Hashable, Sendable {
    /// Of the event log.
    package let epoch: UInt64
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

    package init(epoch: UInt64) {
        self.epoch = epoch
    }

    /// The board as a snapshot kept it.
    package init(epoch: UInt64, _ record: BoardRecord) {
        self.epoch = epoch
        self.offset = record.offset
        for each in record.streams { self.put(StreamBoard(each, epoch: epoch)) }
        // A snapshot from before these were kept: nothing in it is newer than the newest thing that happened.
        let newest = record.newest ?? self.streams.values.lazy.flatMap(\.breaks.values).map(\.record.newest).max()
        self.newestTime = newest ?? self.newestTime
        self.retentionTime = record.retention ?? self.newestTime
    }

    /// Whether any entry was ever applied.
    package var hasTime: Bool { self.newestTime.microseconds > .min }

    private mutating func put(_ stream: StreamBoard) {
        self.streams[stream.stream] = stream
        if stream.waiting.isEmpty { self.waiting.remove(stream.stream) } else { self.waiting.insert(stream.stream) }
    }

    /// For the snapshot: in an order that does not depend on hashing.
    package var record: BoardRecord {
        BoardRecord(
            offset: self.offset,
            retention: self.hasTime ? self.retentionTime : nil,
            newest: self.hasTime ? self.newestTime : nil,
            streams: self.sortedStreams.map(\.record)
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

    /// What is known of a stream; `nil` where nothing was ever published for it.
    package func stream(_ id: StreamID) -> StreamBoard? { self.streams[id] }

    /// How many streams there are.
    package var streamCount: Int { self.streams.count }

    /// The streams in the order of their ids.
    package var sortedStreams: [StreamBoard] { self.streams.values.sorted { $0.stream < $1.stream } }

    package subscript(key: BreakKey) -> Break? { self.streams[key.stream]?.breaks[key.id] }

    /// Where a stream stands; sequence 0 for a stream without any notice yet.
    package func position(of stream: StreamID) -> Position {
        Position(epoch: self.epoch, sequence: self.streams[stream]?.sequence ?? 0)
    }

    /// Whether a break of this name was kept once and is no more.
    package func isRetired(_ key: BreakKey) -> Bool {
        self.streams[key.stream]?.retired.contains(key.id) ?? false
    }

    /// Applies one group.
    ///
    /// - Parameters:
    ///   - group: the next of the lane.
    ///   - offset: its offset.
    ///   - previous: the offset of the group before it in the log; `nil`: one less, as within an epoch.
    /// - Returns: what became of each entry, in order.
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

    /// What an entry would do if it were applied now; nothing changes.
    package func trial(of entry: BreakEntry) -> EntryResult {
        var copy = self
        return copy.apply(entry, number: BreakGroup.breakNumber(offset: self.offset + 1, index: 0))
    }

    private mutating func apply(_ entry: BreakEntry, number: BreakNumber) -> EntryResult {
        if !self.hasTime { self.retentionTime = entry.at }
        self.newestTime = max(self.newestTime, entry.at)
        guard let key = entry.key else {
            guard case .housekeeping(let time) = entry.kind else { preconditionFailure("an entry about nothing") }
            return .housekept(self.keepHouse(time))
        }
        if self.streams[key.stream] == nil {
            guard case .publish = entry.kind else { return .refused(.noSuchBreak(key)) }
            guard self.streams.count < BoardLimits.streamsMax else {
                return .refused(
                    Refusal(.limitReached, "The limit streamsMax is \(BoardLimits.streamsMax) and is reached.")
                )
            }
        }
        var stream = self.streams[key.stream] ?? StreamBoard(stream: key.stream)
        let result = stream.apply(entry, number: number, epoch: self.epoch)
        if case .refused = result, self.streams[key.stream] == nil { return result }
        self.put(stream)
        return result
    }

    /// Whether a record of housekeeping at this instant would let go of something.
    package func hasDue(at now: Timestamp) -> Bool {
        let reached = min(now, self.retentionTime + BoardLimits.retentionStepMax)
        return self.streams.values.contains { $0.hasDue(at: reached) }
    }

    /// Lets the log's own time go on, and lets go of what is too old by it.
    private mutating func keepHouse(_ time: Timestamp) -> Housekeeping {
        self.retentionTime = max(self.retentionTime, min(time, self.retentionTime + BoardLimits.retentionStepMax))
        var done = Housekeeping()
        for stream in self.streams.values {
            var kept = stream
            let (condensed, retired) = kept.retire(at: self.retentionTime)
            guard condensed + retired > 0 else { continue }
            done.condensed += condensed
            done.retired += retired
            self.put(kept)
        }
        return done
    }
}

extension Refusal {
    static func noSuchBreak(_ key: BreakKey) -> Refusal {
        Refusal(.notFound, "There is no break \(key.id) of the stream \(key.stream).")
    }
}
