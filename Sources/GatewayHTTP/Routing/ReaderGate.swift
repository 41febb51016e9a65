// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Synchronization

/// Lets few requests be worked on at the same time, lets a few more wait in their order, and turns away the rest.
final class ReaderGate: Sendable {
    private struct State {
        var running = 0
        /// In the order in which they came.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// There were as many requests as may wait.
    struct Busy: Error {}

    private let readersMax: Int
    private let readersWaitingMax: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - readersMax: how many are worked on at the same time.
    ///   - readersWaitingMax: how many more wait.
    init(readersMax: Int, readersWaitingMax: Int) {
        self.readersMax = readersMax
        self.readersWaitingMax = readersWaitingMax
    }

    /// Does something when it is its turn.
    ///
    /// - Throws: `Busy` at once where too many wait; what `body` throws.
    func pass<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await self.enter()
        defer { self.leave() }
        return try await body()
    }

    private func enter() async throws(Busy) {
        var isTurnedAway = false
        await withCheckedContinuation { continuation in
            let mustResume = self.state.withLock { state in
                if state.running < self.readersMax {
                    state.running += 1
                    return true
                }
                guard state.waiting.count < self.readersWaitingMax else {
                    isTurnedAway = true
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if mustResume { continuation.resume() }
        }
        if isTurnedAway { throw Busy() }
    }

    /// Passes the turn on.
    private func leave() {
        let next = self.state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.running -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
