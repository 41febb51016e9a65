// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Synchronization

/// The state of a log that may end for good, for those who wait for it.
final class LogEnd: Sendable {
    private struct State {
        var reason: String?
        var isClosed = false
        var handler: (@Sendable (String) -> Void)?
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var counter: UInt64 = 0

        var isOver: Bool { self.isClosed || self.reason != nil }

        mutating func takeHandler() -> (@Sendable (String) -> Void)? {
            defer { self.handler = nil }
            return self.handler
        }
    }

    private let state = Mutex(State())

    /// Why what the log holds is not certain any more; `nil`: it is.
    var reason: String? { self.state.withLock(\.reason) }

    /// The content of the log is not certain any more; the first reason stays.
    func fail(_ reason: String) {
        self.end { state in if state.reason == nil { state.reason = reason } }
        if let handler = self.state.withLock({ $0.takeHandler() }) { handler(self.reason ?? reason) }
    }

    /// Sets what is done once when it fails.
    func onFailure(_ handler: @escaping @Sendable (String) -> Void) {
        let due = self.state.withLock { state -> String? in
            if let reason = state.reason { return reason }
            state.handler = handler
            return nil
        }
        if let due { handler(due) }
    }

    /// It is closed.
    func close() { self.end { $0.isClosed = true } }

    private func end(_ change: (inout State) -> Void) {
        let waiters = self.state.withLock { state in
            change(&state)
            defer { state.waiters = [:] }
            return state.waiters
        }
        for each in waiters.values { each.resume() }
    }

    /// Waits for the end.
    ///
    /// - Returns: the reason; `nil`: it was closed, or the task cancelled.
    func wait() async -> String? {
        let number = self.state.withLock { state in
            state.counter += 1
            return state.counter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = self.state.withLock { state in
                    guard !state.isOver, !Task.isCancelled else { return false }
                    state.waiters[number] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            self.state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
        return self.reason
    }
}
