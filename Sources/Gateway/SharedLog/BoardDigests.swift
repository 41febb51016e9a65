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
final class BoardDigests: Service {
    /// A board as of a record of housekeeping, with the changes since the step before.
    private struct Step {
        let changes: BoardChanges
        let board: Board
    }

    private struct State {
        /// The changes since the newest step.
        var changes = BoardChanges()
        var steps: [Step] = []
    }

    /// The most boards that wait for their digests.
    private static let stepsMax = 4

    private let first: Board
    private let made: @Sendable (BoardComparison.Kept) -> Void
    private let state: Mutex<State> = Mutex(State())
    private let due: AsyncStream<Void>
    private let sink: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - board: as it was loaded; changes since then are noted.
    ///   - made: gets each digest.
    init(_ board: Board, made: @escaping @Sendable (BoardComparison.Kept) -> Void) {
        self.first = board
        self.made = made
        (self.due, self.sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
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
            guard isStep else { return }
            if state.steps.count >= Self.stepsMax, let last = state.steps.popLast() {
                var all = last.changes
                all.formUnion(state.changes)
                state.changes = all
            }
            state.steps.append(Step(changes: state.changes, board: board))
            state.changes = BoardChanges()
        }
        if isStep { self.sink.yield() }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var digest: BoardDigest?
            for await _ in self.due {
                while !Task.isCancelled, let step = self.takeStep() {
                    var next = digest ?? BoardDigest(self.first)
                    next.update(step.changes, step.board)
                    digest = next
                    self.made(
                        BoardComparison.Kept(
                            offset: step.board.offset,
                            digest: next.value(of: step.board),
                            streams: next.streams
                        )
                    )
                }
            }
        }
    }

    private func takeStep() -> Step? {
        self.state.withLock { $0.steps.isEmpty ? nil : $0.steps.removeFirst() }
    }
}
