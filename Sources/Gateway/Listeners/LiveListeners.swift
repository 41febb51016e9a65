// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Synchronization

/// How many listen to each stream now, from the threads that serve listeners to those that plan breaks.
final class LiveListeners: Sendable {
    private struct State {
        var counts: [StreamID: Int] = [:]
        var total = 0
    }

    private let state: Mutex<State> = Mutex(State())

    /// How many listen to a stream.
    func count(of stream: StreamID) -> Int { self.state.withLock { $0.counts[stream] ?? 0 } }

    /// The streams that have listeners, with their numbers.
    var counts: [StreamID: Int] { self.state.withLock(\.counts) }

    /// Adds what streams have won or lost.
    ///
    /// - Returns: how many listen in all.
    func add(_ changes: [StreamID: Int]) -> Int {
        self.state.withLock { state in
            for (stream, change) in changes {
                let count = (state.counts[stream] ?? 0) + change
                state.counts[stream] = count == 0 ? nil : count
                state.total += change
            }
            return state.total
        }
    }
}
