// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore
import Synchronization

/// The newest board, for everybody who reads it.
///
/// Its one writer swaps it whole; a reader keeps what it took.
package final class BoardHolder: Sendable {
    private let state: Mutex<Board>
    /// The offset of the board in `state`, for those who look before every request whether they have it.
    private let newest: Atomic<UInt64>

    package init(_ board: Board) {
        self.state = Mutex(board)
        self.newest = Atomic(board.offset)
    }

    package var board: Board { self.state.withLock { $0 } }

    /// The offset of the newest board.
    package var offset: UInt64 { self.newest.load(ordering: .acquiring) }

    /// Replaces the board.
    package func swap(_ board: Board) {
        self.state.withLock { $0 = board }
        self.newest.store(board.offset, ordering: .releasing)
    }
}
