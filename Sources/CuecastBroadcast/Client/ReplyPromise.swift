// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import Synchronization

/// How one attempt of a request ended.
enum AttemptOutcome: Sendable {
    case replied(BroadcastReply)
    case unreadable(String)
    /// The connection was lost or not made; the request went out before, or not.
    case disconnected(reason: String, wasSent: Bool)
    /// The gateway does not let this client in.
    case refused(reason: String)
    case timedOut(wasSent: Bool)
    case cancelled
    case closed
}

/// The end of one attempt, for the task that waits for it: the first end stands.
final class ReplyPromise: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<AttemptOutcome, Never>)
        case ended(AttemptOutcome)
    }

    private let state = Mutex(State.open)

    func fulfil(_ outcome: AttemptOutcome) {
        let waiting = self.state.withLock { state -> CheckedContinuation<AttemptOutcome, Never>? in
            switch state {
            case .open:
                state = .ended(outcome)
                return nil
            case .awaited(let continuation):
                state = .ended(outcome)
                return continuation
            case .ended: return nil
            }
        }
        waiting?.resume(returning: outcome)
    }

    /// The outcome; awaited by one task.
    func outcome() async -> AttemptOutcome {
        await withCheckedContinuation { continuation in
            let ended = self.state.withLock { state -> AttemptOutcome? in
                switch state {
                case .open:
                    state = .awaited(continuation)
                    return nil
                case .ended(let outcome): return outcome
                case .awaited: preconditionFailure("a promise is awaited once")
                }
            }
            if let ended { continuation.resume(returning: ended) }
        }
    }
}
