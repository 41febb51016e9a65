// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Synchronization

/// The streams that have a listener or a break, for those who look at many of them.
///
/// Listeners are those of all gateways of the log, as far as they tell.
///
/// It asks nothing of the threads that serve listeners: it reads the newest board and the numbers that are kept anyway. The list
/// of ids is made once for all callers, at the first request after the set of streams has changed.
package final class StreamOverview: Sendable {
    private struct Index {
        let boardVersion: UInt64
        let listenersVersion: UInt64
        let othersVersion: UInt64
        let ids: [StreamID]
    }

    private let holder: BoardHolder
    private let live: LiveListeners
    private let others: Mutex<ClusterHolder?> = Mutex(nil)
    private let index: Mutex<Index?> = Mutex(nil)

    init(_ holder: BoardHolder, _ live: LiveListeners) {
        self.holder = holder
        self.live = live
    }

    /// Counts the listeners of the other gateways, too.
    func count(_ cluster: ClusterHolder) { self.others.withLock { $0 = cluster } }

    /// The listeners of all gateways, by stream.
    var presence: any Presence {
        if let cluster = self.others.withLock(\.self) { return cluster }
        return self.live
    }

    /// The newest board.
    package var board: Board { self.holder.board }

    /// How many listen at all gateways.
    package var listenerCount: Int { self.live.total + (self.others.withLock(\.self)?.otherListeners ?? 0) }

    /// How many listen at this gateway.
    package var ownListenerCount: Int { self.live.total }

    /// How many listen to a stream, at all gateways.
    package func listenerCount(of stream: StreamID) -> Int {
        self.others.withLock(\.self)?.count(of: stream) ?? self.live.count(of: stream)
    }

    /// The ids of all streams that have a listener or a break, in their order.
    package var streamIDs: [StreamID] {
        self.index.withLock { index in
            let board = self.holder.board
            let cluster = self.others.withLock(\.self)
            if let index, index.boardVersion == board.streamSetVersion, index.listenersVersion == self.live.version,
                index.othersVersion == cluster?.otherStreamsVersion ?? 0
            {
                return index.ids
            }
            let (heard, version) = self.live.streams
            let elsewhere = cluster?.otherStreams ?? (ids: [], version: 0)
            let onBoard = board.sortedStreamIDs
            let others = Set(heard).union(elsewhere.ids).filter { board.stream($0) == nil }.sorted()
            let ids = others.isEmpty ? onBoard : Self.merged(onBoard, others)
            index = Index(
                boardVersion: board.streamSetVersion,
                listenersVersion: version,
                othersVersion: elsewhere.version,
                ids: ids
            )
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
