// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization

/// Lets tasks wait until something has changed.
final class ChangeSignal: Sendable {
    private struct State {
        var version = 0
        var lastWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    /// How many changes there were.
    var version: Int { self.state.withLock { $0.version } }

    /// Something changed.
    func send() {
        let waiters = self.state.withLock { state in
            state.version += 1
            defer { state.waiters = [:] }
            return state.waiters.values.map(\.self)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns after a change that `version` does not count, or when the task is cancelled.
    func changed(since version: Int) async {
        let number = self.state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = self.state.withLock { state in
                    if state.version == version, !Task.isCancelled { state.waiters[number] = continuation }
                    return state.waiters[number] == nil
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            self.state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }

    /// Returns after a change that `version` does not count, at `deadline`, or when the task is cancelled.
    func changed(since version: Int, orUntil deadline: ContinuousClock.Instant) async {
        await withTaskGroup { group in
            group.addTask { await self.changed(since: version) }
            // Cancelled is what it is when the change comes first.
            group.addTask { try? await Task.sleep(until: deadline, clock: .continuous) }
            await group.next()
            group.cancelAll()
        }
    }
}
