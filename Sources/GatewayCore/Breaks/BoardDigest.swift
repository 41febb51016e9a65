// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import HashTreeCollections

/// A board as one number, kept up to date with its changes.
///
/// Gateways that have applied the same records have the same number. Where theirs differ, the numbers of the streams tell of which
/// stream the boards differ first.
///
/// The digest of 100,000 breaks takes some ten seconds of work, so it is not for the way of a start; a change takes as much as it has
/// breaks.
///
/// ```swift
/// var digest = BoardDigest(board)
/// _ = try board.apply(record)
/// digest.update(board.takeChanges(), board)
/// let value = digest.value(of: board)
/// ```
package struct BoardDigest: Sendable {
    private struct CountedBreak: Hashable, Sendable {
        let stream: StreamID
        let hash: UInt64
    }

    /// Of each stream with its breaks.
    package private(set) var streams: TreeDictionary<StreamID, UInt64> = [:]
    /// Of each stream without its breaks.
    private var records: TreeDictionary<StreamID, UInt64> = [:]
    private var breaks: TreeDictionary<BreakNumber, CountedBreak> = [:]
    private var lists: TreeDictionary<AdListName, UInt64> = [:]
    /// Of each chunk of the names that are reserved.
    private var names: [UInt64] = []

    /// The digest of a board as it is.
    package init(_ board: Board) {
        self.update(BoardChanges(everythingOf: board), board)
    }

    /// Takes over what has changed.
    ///
    /// - Parameters:
    ///   - changes: the changes since the digest was made or last updated.
    ///   - board: with them.
    package mutating func update(_ changes: BoardChanges, _ board: Board) {
        for id in changes.streams {
            let hash = board.stream(id).map { Self.hash($0.record) }
            self.add((hash ?? 0) &- (self.records[id] ?? 0), to: id)
            self.records[id] = hash
        }
        for (number, key) in changes.breaks {
            if let before = self.breaks[number] { self.add(0 &- before.hash, to: before.stream) }
            self.breaks[number] = nil
            guard let each = board[key], each.number == number else { continue }
            let hash = Self.hash(each.record)
            self.breaks[number] = CountedBreak(stream: key.stream, hash: hash)
            self.add(hash, to: key.stream)
        }
        for id in changes.streams where board.stream(id) == nil { self.streams[id] = nil }
        for name in changes.lists {
            self.lists[name] = board.lists[name].map { Self.hash(BoardRecord(adLists: [$0])) }
        }
        if let first = changes.firstName {
            let chunks = board.retired.chunks
            self.names.removeLast(max(0, self.names.count - first / RetiredNames.chunkNames))
            for chunk in chunks[self.names.count...] { self.names.append(Self.hash(BoardRecord(retiredHashes: chunk))) }
        }
    }

    private mutating func add(_ hash: UInt64, to stream: StreamID) { self.streams[stream, default: 0] &+= hash }

    /// The number of the whole board.
    ///
    /// - Parameter board: the one that the digest was last updated with.
    /// - Returns: the same number at every gateway that has applied the same records.
    package func value(of board: Board) -> UInt64 {
        var head = board.headRecord
        head.offset = 0
        var value = Self.hash(head)
        for (id, hash) in self.streams { value &+= StableHash.mixed(StableHash.hash([id.description.utf8]) &+ hash) }
        for hash in self.lists.values { value &+= hash }
        for (place, hash) in self.names.enumerated() { value &+= StableHash.mixed(hash &+ UInt64(place)) }
        return value
    }

    /// The first stream, by its id, of which two boards differ; `nil`: they differ of none.
    package func firstDifference(from other: TreeDictionary<StreamID, UInt64>) -> StreamID? {
        let mine = self.streams
        return Set(mine.keys).union(other.keys).filter { mine[$0] != other[$0] }.min()
    }

    private static func hash(_ record: BoardRecord) -> UInt64 { StableHash.hash([record.encoded()]) }

    // A board that is loaded in a new epoch has its notices in that epoch, and is the same board.

    private static func hash(_ stream: StreamRecord) -> UInt64 {
        var stream = stream
        stream.recentNotices = stream.recentNotices.map(\.withoutEpoch)
        return Self.hash(BoardRecord(streams: [stream]))
    }

    private static func hash(_ each: BreakRecord) -> UInt64 {
        var each = each
        each.lastNotice = each.lastNotice?.withoutEpoch
        return Self.hash(BoardRecord(breaks: [each]))
    }
}

extension BoardDigest: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        left.streams == right.streams && left.lists == right.lists && left.names == right.names
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.streams) }
}

extension Notice {
    fileprivate var withoutEpoch: Notice {
        var notice = self
        notice.position = Position(epoch: 0, sequence: self.position.sequence)
        return notice
    }
}
