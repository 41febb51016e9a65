// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Synchronization

/// Something that happens once, and those who wait for it.
final class Occurrence: Sendable {
    private struct State {
        var hasHappened = false
        var waiters: [AsyncStream<Void>.Continuation] = []
    }

    private let state: Mutex<State> = Mutex(State())

    /// It has happened; further calls do nothing.
    func happen() {
        let waiters = self.state.withLock { state in
            state.hasHappened = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.finish() }
    }

    var hasHappened: Bool { self.state.withLock(\.hasHappened) }

    /// Waits for it; ends early when the task is cancelled.
    ///
    /// - Returns: whether it has happened.
    func wait(atMost limit: Duration) async -> Bool {
        let (stream, waiter) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        let waits = self.state.withLock { state in
            guard !state.hasHappened else { return false }
            state.waiters.append(waiter)
            return true
        }
        guard waits else { return true }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in stream {} }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
        return self.hasHappened
    }
}
