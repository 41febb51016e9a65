// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import HashTreeCollections

/// Compares the board of this gateway with those of the others: all that have applied the same records must be the same.
///
/// Each gateway tells the digest of its board as of its newest records of housekeeping. Where two differ as of one record, both send the
/// digests of their streams as of it, portion by portion, and so find the first stream of which they differ.
package struct BoardComparison: Sendable {
    /// A board as of a record.
    package struct Kept: Sendable {
        package let mark: GatewayBeat.Board
        /// Of each stream.
        package let streams: TreeDictionary<StreamID, UInt64>

        package init(offset: UInt64, digest: UInt64, streams: TreeDictionary<StreamID, UInt64>) {
            self.mark = GatewayBeat.Board(offset: offset, digest: digest)
            self.streams = streams
        }
    }

    /// A gateway whose board is another one.
    package struct Difference: Hashable, Sendable {
        package let gateway: UInt64
        /// The record as of which they differ.
        package let offset: UInt64
        /// The first stream, by its id, of which they differ, as far as is known; `nil`: it is not known yet, or they differ of no stream.
        package var stream: StreamID?
    }

    /// Of so many of the newest records of housekeeping the digests are kept.
    package static let boardsKept = 4

    private var kept: [Kept] = []
    private var differing: [UInt64: Difference] = [:]
    /// The board of which the streams' digests are sent; kept for as long as the boards differ.
    private var disputed: Kept?
    private var portions = StreamPortions()

    package init() {}

    /// The digests to tell, newest last.
    package var marks: [GatewayBeat.Board] {
        let marks = self.kept.map(\.mark)
        guard let disputed, !marks.contains(disputed.mark) else { return marks }
        return [disputed.mark] + marks
    }

    /// Takes the digest of this gateway's board as of a newer record.
    package mutating func made(_ board: Kept) {
        self.kept.append(board)
        if self.kept.count > Self.boardsKept { self.kept.removeFirst() }
    }

    /// Compares with what a beat says.
    ///
    /// - Parameter beat: the newest of its gateway.
    package mutating func heard(_ beat: GatewayBeat) {
        // The newest record that both know decides, so that boards that have become the same again are no difference.
        let common = beat.boards.compactMap { theirs in
            self.kept.first { $0.mark.offset == theirs.offset }.map { (mine: $0, theirs: theirs) }
        }
        if let newest = common.max(by: { $0.theirs.offset < $1.theirs.offset }) {
            if newest.mine.mark.digest == newest.theirs.digest {
                self.drop(beat.gateway)
            } else if self.differing[beat.gateway] == nil {
                let first = common.first { $0.mine.mark.digest != $0.theirs.digest } ?? newest
                if self.disputed == nil { self.disputed = newest.mine }
                self.differing[beat.gateway] = Difference(gateway: beat.gateway, offset: first.theirs.offset)
            }
        }
        if let portion = beat.digests { self.compare(portion, of: beat.gateway) }
    }

    private mutating func compare(_ portion: StreamPortion, of gateway: UInt64) {
        guard var difference = self.differing[gateway],
            let mine = ([self.disputed].compactMap(\.self) + self.kept)
                .first(where: { $0.mark.offset == portion.offset })
        else { return }
        if let offset = self.disputed?.mark.offset, portion.offset > offset {
            // All come to send those of the newest record.
            self.disputed = mine
            self.portions.restart()
        }
        let theirs = Dictionary(portion.values.map { ($0.stream, $0.value) }) { $1 }
        let missing = mine.streams.keys.filter { portion.covers($0) && theirs[$0] == nil }
        let others = theirs.filter { mine.streams[$0.key] != $0.value }.map(\.key)
        guard let first = (missing + others).min() else { return }
        difference.stream = difference.stream.map { min($0, first) } ?? first
        self.differing[gateway] = difference
    }

    /// A gateway has gone, or its board is the same.
    package mutating func drop(_ gateway: UInt64) {
        self.differing[gateway] = nil
        if self.differing.isEmpty {
            self.disputed = nil
            self.portions.restart()
        }
    }

    /// Those whose boards are other ones, in the order of their runs.
    package var differences: [Difference] { self.differing.values.sorted { $0.gateway < $1.gateway } }

    /// The digests of some streams to send; `nil`: the boards do not differ.
    package mutating func portion() -> StreamPortion? {
        guard let disputed = self.disputed else { return nil }
        return self.portions.next(
            of: disputed.mark.offset,
            streams: { Array(disputed.streams.keys) },
            value: { disputed.streams[$0] }
        )
    }
}
