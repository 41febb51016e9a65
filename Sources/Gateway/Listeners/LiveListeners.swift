// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Synchronization

/// How many listen to each stream now, and in all, from the threads that serve listeners to those that plan breaks.
final class LiveListeners: Presence {
    private struct State {
        var counts: [StreamID: Int] = [:]
        var total = 0
        /// How often a stream won its first listener or lost its last.
        var version: UInt64 = 0
    }

    private let state: Mutex<State> = Mutex(State())
    private let metrics: MetricRegistry

    init(metrics: MetricRegistry) {
        self.metrics = metrics
    }

    /// How many listen to a stream.
    func count(of stream: StreamID) -> Int { self.state.withLock { $0.counts[stream] ?? 0 } }

    /// The streams that have listeners, with their numbers.
    var counts: [StreamID: Int] { self.state.withLock(\.counts) }

    /// How often a stream won its first listener or lost its last: while that stays, the same streams have listeners.
    var version: UInt64 { self.state.withLock(\.version) }

    /// The streams that have listeners, and as of which version that is so.
    var streams: (ids: [StreamID], version: UInt64) {
        self.state.withLock { (Array($0.counts.keys), $0.version) }
    }

    /// How many listen in all.
    var total: Int { self.state.withLock(\.total) }

    /// Counts one more in all, where there is room; which stream it listens to is added after that.
    ///
    /// - Returns: whether there was.
    func reserve(atMost most: Int) -> Bool {
        self.state.withLock { state in
            guard state.total < most else { return false }
            state.total += 1
            return true
        }
    }

    /// Adds what streams have won or lost.
    ///
    /// - Parameters:
    ///   - changes: of each stream.
    ///   - reserved: how many of them were counted in all before.
    func add(_ changes: [StreamID: Int], reserved: Int = 0) {
        self.state.withLock { state in
            state.total -= reserved
            for (stream, change) in changes {
                let before = state.counts[stream] ?? 0
                let count = before + change
                state.counts[stream] = count == 0 ? nil : count
                if (before == 0) != (count == 0) { state.version += 1 }
                state.total += change
            }
            self.metrics.set(.listeners, to: state.total)
        }
    }
}
