// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Synchronization

/// The breaks that the ledger has to be told of: one ordered feed from the fold of the board.
///
/// After a start these are all, in their order; changes meanwhile are sent at once, and once more in their place. However
/// many changes wait, a break takes up one place: it is sent in its state when it is taken.
package final class LedgerFeed: BoardObserver {
    /// Breaks that the ledger has to be told of.
    package struct Portion: Sendable {
        /// By their numbers.
        package var breaks: [BreakSummary]
        /// The offset up to which they are the truth.
        package var offset: UInt64
        /// Whether there are more.
        package var hasMore: Bool
    }

    private struct State {
        var board: Board
        /// Breaks that the ledger has not been told of since they changed.
        var waiting: Set<BreakKey> = []
        /// The first time through all breaks: where it stands, until it is done.
        var firstPass: FirstPass? = .begun(nil)
    }

    private enum FirstPass {
        /// All breaks up to this one were taken; `nil`: none was.
        case begun(BreakMark?)
    }

    private let state: Mutex<State>
    /// Yields when there is something to take; further changes meanwhile are one.
    package let changed: AsyncStream<Void>
    private let sink: AsyncStream<Void>.Continuation

    /// Begins with everything: the ledger may be older than the board.
    package init(_ board: Board) {
        self.state = Mutex(State(board: board))
        (self.changed, self.sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.wake()
    }

    /// The newest board that the feed knows.
    package var board: Board { self.state.withLock(\.board) }

    package func applied(_ results: [EntryResult], of id: AppendID?, board: Board) {
        self.state.withLock { state in
            state.board = board
            for case .changed(let each, _) in results { state.waiting.insert(each.key) }
        }
        self.wake()
    }

    /// Wakes the ledger's side: breaks are left, or could not be handed over.
    package func wake() { self.sink.yield() }

    /// Takes the next breaks: at most so many.
    package func take(most: Int) -> Portion {
        self.state.withLock { state in
            var summaries: [BreakSummary] = []
            while summaries.count < most, let key = state.waiting.popFirst() {
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
                hasMore: !state.waiting.isEmpty || state.firstPass != nil
            )
        }
    }

    /// Sends everything again: another ledger replaced the one that had it.
    package func beginAgain() {
        self.state.withLock { $0.waiting.formUnion($0.board.keys) }
        self.wake()
    }

    /// Gives back what the ledger could not be told.
    package func putBack(_ portion: Portion) {
        self.state.withLock { $0.waiting.formUnion(portion.breaks.map(\.key)) }
    }
}
