// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization

/// Something that happens once, and is waited for.
final class Gate<Value: Sendable>: Sendable {
    private enum State {
        case closed([CheckedContinuation<Value, Never>])
        case open(Value)
    }

    private let state = Mutex(State.closed([]))

    /// Returns the value that the gate was opened with; at once where it is open.
    func passed() async -> Value {
        await withCheckedContinuation { continuation in
            let value: Value? = self.state.withLock { state in
                switch state {
                case .open(let value): return value
                case .closed(let waiting):
                    state = .closed(waiting + [continuation])
                    return nil
                }
            }
            if let value { continuation.resume(returning: value) }
        }
    }

    /// Lets all pass; only the first value counts.
    func open(_ value: Value) {
        let waiting = self.state.withLock { state in
            guard case .closed(let waiting) = state else { return [CheckedContinuation<Value, Never>]() }
            state = .open(value)
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }
}

extension Gate<Void> {
    func open() { self.open(()) }
}

/// The events of a session that others wait for.
struct SessionGates: Sendable {
    /// Whether the session has begun, or why it cannot; `false`: its file takes longer than `start` waits.
    let begun = Gate<Result<Bool, CuecastError>>()
    /// The advertisements before the stream are queued, or there are none, or they took too long.
    let preStream = Gate<Void>()
    /// The session is over.
    let ended = Gate<Void>()
}
