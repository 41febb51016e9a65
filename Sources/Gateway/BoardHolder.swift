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
        var unrecorded: Set<BreakKey> = []
        /// The first time through all breaks: where it stands, until it is done.
        var firstPass: FirstPass? = .begun(nil)
    }

    private enum FirstPass {
        /// All breaks up to this one were taken; `nil`: none was.
        case begun(BreakMark?)
    }

    /// Breaks that the ledger has to be told of.
    package struct Portion: Sendable {
        package var breaks: [BreakSummary]
        /// The offset up to which they are the truth.
        package var offset: UInt64
        /// Whether there are more.
        package var hasMore: Bool
    }

    private let state: Mutex<State>
    /// The offset of the board in `state`, for those who look before every request whether they have it.
    private let newest: Atomic<UInt64>

    /// Begins with everything unrecorded: the ledger may be older than the board.
    package init(_ board: Board) {
        self.state = Mutex(State(board: board))
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

    /// Takes breaks that the ledger has to be told of: at most so many.
    ///
    /// After a start these are all, in their order; what changes meanwhile is told at once, and once more in its place.
    package func takeUnrecorded(most: Int) -> Portion {
        self.state.withLock { state in
            var summaries: [BreakSummary] = []
            while summaries.count < most, let key = state.unrecorded.popFirst() {
                if let each = state.board[key] { summaries.append(each.summary) }
            }
            if case .begun(let mark)? = state.firstPass, summaries.count < most {
                var last = mark
                var isDone = true
                state.board.scan(after: mark) { each in
                    guard summaries.count < most else {
                        isDone = false
                        return false
                    }
                    summaries.append(each.summary)
                    last = BreakMark(each)
                    return true
                }
                state.firstPass = isDone ? nil : .begun(last)
            }
            return Portion(
                breaks: summaries.sorted { $0.number < $1.number },
                offset: state.board.offset,
                hasMore: !state.unrecorded.isEmpty || state.firstPass != nil
            )
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
