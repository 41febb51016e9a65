// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Where a client's connection to the gateway stands.
@nonexhaustive
public enum ConnectionState: Hashable, Sendable, CustomStringConvertible {
    /// Not started.
    case idle
    /// The connection is being made.
    case connecting
    /// Connected; the proof that the subscription is in effect is awaited.
    case subscribing
    /// The gateway is asked what was missed.
    case joining
    /// Every notice of the stream arrives, or its absence is noticed.
    case listening
    /// The connection was lost or could not be made, for the reason given; it is tried again soon.
    case waiting(reason: String)
    /// The app has suspended the client: nothing is received until it resumes.
    case suspended
    /// The gateway refuses this listener, for the reason given; it is not tried again until the client starts anew.
    case refused(reason: String)
    /// What is still to be told is told; then the client is stopped.
    case stopping
    /// Stopped.
    case stopped

    /// A few words for people.
    public var description: String {
        switch self {
        case .idle: "idle"
        case .connecting: "connecting"
        case .subscribing: "subscribing"
        case .joining: "joining"
        case .listening: "listening"
        case .waiting(let reason): "waiting: \(reason)"
        case .suspended: "suspended"
        case .refused(let reason): "refused: \(reason)"
        case .stopping: "stopping"
        case .stopped: "stopped"
        }
    }
}
