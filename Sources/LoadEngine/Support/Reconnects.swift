// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Connections that a peer closes before they are up are made again, as a client does; but not without end.
///
/// A libzmq peer that is starved of CPU gives up handshakes (`HANDSHAKE_IVL`), and drops what its backlog does not hold.
struct Reconnects {
    /// How many more there may be: one for each connection.
    private var left: Int
    /// How many there were.
    private(set) var count = 0

    init(connections: Int) {
        self.left = connections
    }

    /// Whether a connection that ended so is to be made again; it counts as made.
    mutating func allow(after end: ConnectionEnd) -> Bool {
        guard end == .closedByPeer, self.left > 0 else { return false }
        self.left -= 1
        self.count += 1
        return true
    }
}
