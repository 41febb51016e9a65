// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Where a client's connection to the gateway stands.
@nonexhaustive
public enum ConnectionState: Hashable, Sendable, CustomStringConvertible {
    /// Not started.
    case idle
    /// The connection is being made.
    case connecting
    /// Connected; the proof that the subscription is in effect is awaited. Not on one connection that carries all.
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
    /// The client sends its pending outcomes, and then stops.
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

/// Why there is no connection to the gateway; ``CuecastClient/connectionLoss`` gives it.
@_spi(Diagnostics)
@nonexhaustive
public enum ConnectionLoss: Hashable, Sendable, CustomStringConvertible {
    /// The transport could not make the connection, or lost it, for the reason given.
    case closed(String)
    /// No connection was made within ``ListenerTimings/connectTimeout``.
    case connectTimedOut
    /// The subscription did not take effect within ``ListenerTimings/subscriptionTimeout``.
    case subscriptionTimedOut
    /// The app could not give a token.
    case noToken
    /// The app gave no token in time.
    case tokenTimedOut
    /// Requests stay without a reply.
    case unanswered
    /// The gateway sends nothing any more.
    case silent
    /// Notices and answers come from different runs of the gateway.
    case differentRuns
    /// The gateway asked to go away for now, with this sentence.
    case sentAway(String)
    /// The gateway refuses this listener, with this sentence; it is not tried again until the client starts anew.
    case refused(String)

    /// A few words for people.
    public var description: String {
        switch self {
        case .closed(let reason), .sentAway(let reason), .refused(let reason): reason
        case .connectTimedOut: "no connection was made in time"
        case .subscriptionTimedOut: "the subscription did not take effect in time"
        case .noToken: "the app gave no token"
        case .tokenTimedOut: "the app gave no token in time"
        case .unanswered: "requests stay without a reply"
        case .silent: "the gateway is silent"
        case .differentRuns: "notices and answers come from different runs of the gateway"
        }
    }
}
