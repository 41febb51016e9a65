// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import ServiceLifecycle
import Synchronization

/// Makes the digest of the board as of each record of housekeeping, behind the board and at its leisure.
///
/// The first one of a large board is some seconds of work, so it runs on a thread of its own, and the board does not wait for it. Where
/// records of housekeeping come faster than digests are made, those in between are left out: each gateway tells several, and two that
/// compare need one record that both have.
///
/// Where the gateway began from a snapshot that another one left, that board's digest is compared first.
final class BoardDigests: Service {
    /// The board of a snapshot that another gateway left.
    struct Beginning {
        /// As it was loaded.
        let board: Board
        /// The number that it has to come to.
        let mark: BoardMark
        /// The changes since then, up to the first board of this gateway.
        let changes: BoardChanges
    }

    /// A board of which a digest is made, with the changes since the step before.
    private struct Step {
        var changes: BoardChanges
        let board: Board
        /// Whether it is as of a record of housekeeping: the others have one of it, too.
        let isTold: Bool
        /// Whether a snapshot is made of it.
        var isKept: Bool
    }

    private struct State {
        /// The first board, until its digest is made.
        var first: Board?
        var beginning: Beginning?
        var newest: Board
        /// The changes since the newest step.
        var changes = BoardChanges()
        var steps: [Step] = []

        mutating func add(isTold: Bool, isKept: Bool, most: Int) {
            var step = Step(changes: self.changes, board: self.newest, isTold: isTold, isKept: isKept)
            if self.steps.count >= most, let last = self.steps.popLast() {
                step.changes = last.changes
                step.changes.formUnion(self.changes)
                step.isKept = isKept || last.isKept
            }
            self.steps.append(step)
            self.changes = BoardChanges()
        }
    }

    /// The most boards that wait for their digests.
    private static let stepsMax = 4

    private let made: @Sendable (BoardComparison.Kept) -> Void
    private let differs: @Sendable (BoardMark) -> Void
    private let snapshots: SnapshotWriter?
    private let state: Mutex<State>
    private let due: AsyncStream<Void>
    private let sink: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - board: as it was loaded; changes since then are noted.
    ///   - beginning: the snapshot from which it was loaded; `nil`: it was this gateway's own one.
    ///   - snapshots: writes snapshots for others; `nil`: the log has no place for them.
    ///   - made: gets each digest.
    ///   - differs: is told when the board of the beginning does not come to what it has to.
    init(
        _ board: Board,
        beginning: Beginning? = nil,
        snapshots: SnapshotWriter? = nil,
        made: @escaping @Sendable (BoardComparison.Kept) -> Void,
        differs: @escaping @Sendable (BoardMark) -> Void = { _ in }
    ) {
        self.state = Mutex(State(first: board, beginning: beginning, newest: board))
        self.made = made
        self.differs = differs
        self.snapshots = snapshots
        (self.due, self.sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        if beginning != nil { self.sink.yield() }
        snapshots?.wants.withLock { $0 = { [weak self] in self?.keepOne() } }
    }

    /// A record was applied.
    ///
    /// - Parameters:
    ///   - changes: those of the record.
    ///   - results: of its entries.
    ///   - board: with it.
    func note(_ changes: BoardChanges, _ results: [EntryResult], _ board: Board) {
        let isStep = results.contains { if case .housekept = $0 { true } else { false } }
        self.state.withLock { state in
            state.changes.formUnion(changes)
            state.newest = board
            if isStep { state.add(isTold: true, isKept: false, most: Self.stepsMax) }
        }
        if isStep { self.sink.yield() }
    }

    /// A snapshot is to be made of the newest board.
    private func keepOne() {
        self.state.withLock { $0.add(isTold: false, isKept: true, most: Self.stepsMax) }
        self.sink.yield()
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var digest: BoardDigest?
            for await _ in self.due {
                if digest == nil { digest = self.begin() }
                while !Task.isCancelled, let step = self.takeStep(), var next = digest {
                    next.update(step.changes, step.board)
                    digest = next
                    let value = next.value(of: step.board)
                    if step.isTold {
                        self.made(
                            BoardComparison.Kept(offset: step.board.offset, digest: value, streams: next.streams)
                        )
                    }
                    if step.isKept { await self.snapshots?.write(step.board, digest: value) }
                }
            }
        }
    }

    /// The digest of the first board.
    private func begin() -> BoardDigest? {
        let (first, beginning) = self.state.withLock { state in
            defer { (state.first, state.beginning) = (nil, nil) }
            return (state.first, state.beginning)
        }
        guard let first else { return nil }
        guard let beginning else { return BoardDigest(first) }
        var digest = BoardDigest(beginning.board)
        if digest.value(of: beginning.board) != beginning.mark.digest { self.differs(beginning.mark) }
        digest.update(beginning.changes, first)
        return digest
    }

    private func takeStep() -> Step? {
        self.state.withLock { $0.steps.isEmpty ? nil : $0.steps.removeFirst() }
    }
}
