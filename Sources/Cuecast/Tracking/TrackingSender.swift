// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Calls the tracking URLs of advertisements.
///
/// Replace it (`@_spi(Tracking) import Cuecast`) to send through the app's own network stack. The library decides what is
/// sent, when, and how often: a sender makes one attempt for each call, and says honestly how it ended.
///
/// ```swift
/// struct PrintingSender: TrackingSender {
///     func send(_ request: TrackingRequest) async -> TrackingResult {
///         print("GET \(request.url)")
///         return .answered(status: 204)
///     }
/// }
/// ```
@_spi(Tracking) public protocol TrackingSender: Sendable {
    /// Makes one attempt: an HTTP GET without body, cookies or credentials.
    ///
    /// It must return in bounded time, also when its task is cancelled, and must not try again by itself.
    func send(_ request: TrackingRequest) async -> TrackingResult
}

/// One attempt to call a tracking URL.
@_spi(Tracking) public struct TrackingRequest: Hashable, Sendable {
    /// Names the call; the same for each attempt at it.
    public let id: UInt64
    /// The URL to call, http or https, with the macros replaced.
    public let url: String
    /// The value of the header `User-Agent`.
    public let userAgent: String
    /// The event: the VAST event name, or `impression`, `clickTracking`, `error`.
    public let event: String
    /// The break of the advertisement.
    public let breakID: String
    /// The advertisement's key in its break.
    public let adID: String
    /// 1 for the first attempt.
    public let attempt: Int

    /// A request, for tests of a sender.
    public init(
        id: UInt64,
        url: String,
        userAgent: String,
        event: String,
        breakID: String,
        adID: String,
        attempt: Int
    ) {
        self.id = id
        self.url = url
        self.userAgent = userAgent
        self.event = event
        self.breakID = breakID
        self.adID = adID
        self.attempt = attempt
    }
}

/// How one attempt to call a tracking URL ended.
@_spi(Tracking)
@nonexhaustive
public enum TrackingResult: Hashable, Sendable {
    /// The server answered with this HTTP status, and asked to wait this long (header `Retry-After`), if it did.
    case answered(status: Int, retryAfter: Duration? = nil)
    /// Certainly nothing was sent: it is safe to try again.
    case couldNotConnect(String)
    /// Sending may have begun, and no answer came: it is never tried again, because it may have been counted.
    case uncertain(String)
    /// It cannot be sent at all, for instance because it is not a URL; it is not tried again.
    case notSendable(String)
}
