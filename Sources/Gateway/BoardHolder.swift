// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Synchronization

/// The newest board, for everybody who reads it.
///
/// Writers swap it whole; a reader keeps what it took.
package final class BoardHolder: Sendable {
    private struct State {
        var board: Board
        /// Breaks that the ledger has not been told of since they changed.
        var unrecorded: Set<BreakKey>
    }

    private let state: Mutex<State>
    /// The offset of the board in `state`, for those who look before every request whether they have it.
    private let newest: Atomic<UInt64>

    /// Begins with everything unrecorded: the ledger may be older than the board.
    package init(_ board: Board) {
        self.state = Mutex(State(board: board, unrecorded: Set(board.keys)))
        self.newest = Atomic(board.offset)
    }

    package var board: Board { self.state.withLock(\.board) }

    /// The offset of the newest board.
    package var offset: UInt64 { self.newest.load(ordering: .acquiring) }

    /// Replaces the board.
    package func swap(_ board: Board, changed: some Sequence<BreakKey>) {
        self.state.withLock {
            $0.board = board
            $0.unrecorded.formUnion(changed)
        }
        self.newest.store(board.offset, ordering: .releasing)
    }

    /// The breaks that the ledger has to be told of, with the offset up to which that is the truth.
    package func takeUnrecorded() -> (breaks: [BreakSummary], offset: UInt64) {
        self.state.withLock { state in
            let summaries = state.unrecorded.compactMap { state.board[$0]?.summary }
            state.unrecorded = []
            return (summaries.sorted { $0.number < $1.number }, state.board.offset)
        }
    }

    /// The ledger has to be told of everything again: another one took its place.
    package func forgetRecorded() {
        self.state.withLock { $0.unrecorded.formUnion($0.board.keys) }
    }

    /// Gives back what the ledger could not be told.
    package func putBack(_ breaks: [BreakSummary]) {
        self.state.withLock { $0.unrecorded.formUnion(breaks.map(\.key)) }
    }
}
