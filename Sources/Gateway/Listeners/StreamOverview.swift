// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Synchronization

/// The streams that have a listener or a break, for those who look at many of them.
///
/// It asks nothing of the threads that serve listeners: it reads the newest board and the numbers that are kept anyway. The list
/// of ids is made once for all callers, at the first request after the set of streams has changed.
package final class StreamOverview: Sendable {
    private struct Index {
        let boardVersion: UInt64
        let listenersVersion: UInt64
        let ids: [StreamID]
    }

    private let holder: BoardHolder
    private let live: LiveListeners
    private let index: Mutex<Index?> = Mutex(nil)

    init(_ holder: BoardHolder, _ live: LiveListeners) {
        self.holder = holder
        self.live = live
    }

    /// The newest board.
    package var board: Board { self.holder.board }

    /// How many listen in all.
    package var listenerCount: Int { self.live.total }

    /// How many listen to a stream.
    package func listenerCount(of stream: StreamID) -> Int { self.live.count(of: stream) }

    /// The ids of all streams that have a listener or a break, in their order.
    package var streamIDs: [StreamID] {
        self.index.withLock { index in
            let board = self.holder.board
            if let index, index.boardVersion == board.streamSetVersion, index.listenersVersion == self.live.version {
                return index.ids
            }
            let (heard, version) = self.live.streams
            let onBoard = board.sortedStreamIDs
            let others = heard.filter { board.stream($0) == nil }.sorted()
            let ids = others.isEmpty ? onBoard : Self.merged(onBoard, others)
            index = Index(boardVersion: board.streamSetVersion, listenersVersion: version, ids: ids)
            return ids
        }
    }

    /// Two lists in their order as one; none has an id of the other.
    private static func merged(_ one: [StreamID], _ other: [StreamID]) -> [StreamID] {
        var merged: [StreamID] = []
        merged.reserveCapacity(one.count + other.count)
        var rest = other[...]
        for id in one {
            while let next = rest.first, next < id {
                merged.append(next)
                rest.removeFirst()
            }
            merged.append(id)
        }
        return merged + rest
    }
}
