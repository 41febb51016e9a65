// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The status of one call of a tracking URL.
@_spi(Tracking) public struct TrackingStatus: Hashable, Sendable {
    /// Where a call stands.
    @nonexhaustive
    public enum State: Hashable, Sendable {
        /// It waits: for its first attempt, or for the next one.
        case pending
        /// An attempt is under way.
        case sending
        /// The server took it, with this HTTP status.
        case sent(status: Int)
        /// It was not taken and is not tried again.
        case failed(TrackingFailure)
        /// It may have been taken or not, and is not tried again; the text says why this is unknown.
        ///
        /// When the app dies in the moment in which an attempt ends, the call is told as uncertain at the next start, even
        /// where its end was told before.
        case uncertain(String)
    }

    /// Names the call.
    public let id: UInt64
    /// The event: the VAST event name, or `impression`, `clickTracking`, `error`.
    public let event: String
    /// The URL, with the macros replaced.
    public let url: String
    /// The break of the advertisement.
    public let breakID: String
    /// The advertisement's key in its break.
    public let adID: String
    /// Where it stands.
    public let state: State
    /// How many attempts were begun.
    public let attempts: Int
}

/// Why a tracking URL is not called any more.
@_spi(Tracking)
@nonexhaustive
public enum TrackingFailure: Hashable, Sendable, CustomStringConvertible {
    /// The server refused it with this HTTP status.
    case refused(status: Int)
    /// All attempts are used up; how the last one ended.
    case attemptsExhausted(String)
    /// Too much time passed since the event.
    case tooOld
    /// More calls waited than ``TrackingLimits/pendingMax``.
    case tooManyPending
    /// It cannot be sent, for the reason given.
    case notSendable(String)
    /// The listener denies tracking.
    case denied

    /// One sentence for people.
    public var description: String {
        switch self {
        case .refused(let status): "The server refused it with status \(status)."
        case .attemptsExhausted(let last): "All attempts failed; the last one: \(last)."
        case .tooOld: "Too much time passed since the event."
        case .tooManyPending: "Too many calls were waiting."
        case .notSendable(let reason): "It cannot be sent: \(reason)."
        case .denied: "The listener denies tracking."
        }
    }
}
