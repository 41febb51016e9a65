// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The changes of a board: the parts of its snapshot that must be written again.
package struct BoardChanges: Hashable, Sendable {
    /// Breaks that are new, changed, or no longer kept.
    package var breaks: [BreakNumber: BreakKey] = [:]
    /// Streams of which more than breaks changed, or that are no longer kept.
    package var streams: Set<StreamID> = []
    /// Ad lists that are new, changed, or no longer kept.
    package var lists: Set<AdListName> = []
    /// The first of the reserved names that is new; `nil`: none is.
    package var firstName: Int?

    package init() {}

    /// Everything that a board has.
    package init(everythingOf board: Board) {
        self.streams = Set(board.sortedStreamIDs)
        var breaks: [BreakNumber: BreakKey] = [:]
        board.scan { each in
            breaks[each.number] = each.key
            return true
        }
        self.breaks = breaks
        self.lists = Set(board.lists.records.map(\.name))
        self.firstName = 0
    }

    /// Whether nothing changed but time.
    package var isEmpty: Bool { self == BoardChanges() }

    package mutating func formUnion(_ other: BoardChanges) {
        self.breaks.merge(other.breaks) { _, new in new }
        self.streams.formUnion(other.streams)
        self.lists.formUnion(other.lists)
        if let name = other.firstName { self.firstName = min(self.firstName ?? name, name) }
    }
}

/// The parts of a board's snapshot: one for what the board has as a whole, one for each stream without its breaks, one for
/// each break and each ad list, and chunks of the names that are reserved.
///
/// The keys are in the order in which a start reads them: a stream before its breaks.
package enum BoardParts {
    private static let head = "a"

    private static func key(of list: AdListName) -> String { "l/\(list)" }

    private static func key(of stream: StreamID) -> String { "s/\(stream)" }

    /// By the number: breaks that were published together lie together, whatever their stream.
    private static func key(of number: BreakNumber) -> String { "t/" + Self.digits(number.rawValue) }

    private static func key(ofChunk index: Int) -> String { "r/" + Self.digits(UInt64(index)) }

    private static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Writes what changed, in portions of a bounded size.
    ///
    /// - Parameters:
    ///   - changes: the changes since the snapshot that is kept.
    ///   - board: the board as it is.
    ///   - bytesMax: a portion is not made larger than this, except by its last part.
    ///   - partsMax: the most parts of a portion.
    ///   - save: keeps a portion.
    /// - Throws: the errors of `save`.
    package static func write<Failure: Error>(
        _ changes: BoardChanges,
        of board: Board,
        bytesMax: Int,
        partsMax: Int,
        save: (SnapshotPortion) async throws(Failure) -> Void
    ) async throws(Failure) {
        var portion = SnapshotPortion(offset: board.offset, isFirst: true)
        var bytes = 0
        func flushIfFull() async throws(Failure) {
            guard bytes >= bytesMax || portion.parts.count + portion.removed.count >= partsMax else { return }
            try await save(portion)
            portion = SnapshotPortion(offset: board.offset)
            bytes = 0
        }
        func add(_ key: String, _ record: BoardRecord) async throws(Failure) {
            let part = SnapshotPart(key: key, bytes: record.encoded())
            bytes += part.bytes.count
            portion.parts.append(part)
            try await flushIfFull()
        }
        var head = board.headRecord
        head.offset = 0
        try await add(Self.head, head)
        let firstName = changes.firstName ?? .max
        for index in board.retired.chunks.indices where (index + 1) * RetiredNames.chunkNames > firstName {
            try await add(Self.key(ofChunk: index), BoardRecord(retiredHashes: board.retired.chunks[index]))
        }
        for name in changes.lists.sorted() {
            if let list = board.lists[name] {
                try await add(Self.key(of: name), BoardRecord(adLists: [list]))
            } else {
                portion.removed.append(Self.key(of: name))
                try await flushIfFull()
            }
        }
        for id in changes.streams.sorted() {
            if let stream = board.stream(id) {
                try await add(Self.key(of: id), BoardRecord(streams: [stream.record]))
            } else {
                portion.removed.append(Self.key(of: id))
                try await flushIfFull()
            }
        }
        for (number, key) in changes.breaks.sorted(by: { $0.key < $1.key }) {
            if let each = board[key], each.number == number {
                try await add(Self.key(of: number), BoardRecord(breaks: [each.record]))
            } else {
                portion.removed.append(Self.key(of: number))
                try await flushIfFull()
            }
        }
        portion.isLast = true
        try await save(portion)
    }
}
