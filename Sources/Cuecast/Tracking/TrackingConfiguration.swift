// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How the tracking URLs of advertisements are called.
///
/// Each URL of an advertisement is called at most once for each event of a listening session. What the app reports makes
/// them due: see ``AdvertisementReport``.
public struct TrackingConfiguration: Sendable {
    /// The sender that calls the URLs.
    @_spi(Tracking) public var sender: any TrackingSender
    /// The value of the header `User-Agent` and of the macros `[CLIENTUA]` and `[DEVICEUA]`; control characters are left
    /// out.
    public var userAgent: String
    /// The app's bundle or package name for the macro `[APPBUNDLE]`; `nil`: not told.
    public var appBundle: String?
    /// Whether what was concluded from time alone counts like what the app reported.
    ///
    /// Off unless told: a tracking URL cannot say how sure it is, and many are paid for. Turn it on for an app that plays
    /// advertisements in the loop "get, play, get again" and reports nothing.
    public var countsInferred: Bool
    /// How much is kept and tried.
    @_spi(Tracking) public var limits: TrackingLimits

    /// A configuration with the defaults for all that is not given.
    public init(userAgent: String = "cuecast-swift", appBundle: String? = nil, countsInferred: Bool = false) {
        self.init(
            sender: URLSessionTrackingSender(),
            userAgent: userAgent,
            appBundle: appBundle,
            countsInferred: countsInferred
        )
    }

    /// A configuration with a sender of the app's own.
    @_spi(Tracking)
    public init(
        sender: any TrackingSender,
        userAgent: String = "cuecast-swift",
        appBundle: String? = nil,
        countsInferred: Bool = false,
        limits: TrackingLimits = TrackingLimits()
    ) {
        self.sender = sender
        self.userAgent = userAgent
        self.appBundle = appBundle
        self.countsInferred = countsInferred
        self.limits = limits
    }
}

/// How many calls of tracking URLs are kept, and how often and how long they are tried.
///
/// Counts below 1 are taken as 1, and durations below zero as zero.
@_spi(Tracking) public struct TrackingLimits: Hashable, Sendable {
    /// The most that ``pendingMax`` and ``rememberedMax`` count as, whatever they say: each call takes room in the journal.
    static let callsMax = 16_384

    /// The most calls that wait or are under way; of more, the oldest that waits is given up, visibly.
    public var pendingMax = 1_024
    /// The most calls under way at the same time.
    public var inFlightMax = 4
    /// The most attempts at one call.
    public var attemptsMax = 16
    /// How long after the event a call may still be tried.
    public var ageMax = Duration.seconds(86_400)
    /// The wait before the second attempt is anything up to this; the limit doubles with each further one.
    public var retryDelayFirst = Duration.seconds(1)
    /// The longest that limit grows.
    public var retryDelayMax = Duration.seconds(900)
    /// How many calls that are over are remembered, so that none is made twice.
    public var rememberedMax = 4_096

    /// The defaults.
    public init() {}

    /// The same with every value in its range.
    var checked: TrackingLimits {
        var limits = self
        limits.pendingMax = min(max(1, self.pendingMax), Self.callsMax)
        limits.inFlightMax = max(1, self.inFlightMax)
        limits.attemptsMax = max(1, self.attemptsMax)
        limits.rememberedMax = min(max(1, self.rememberedMax), Self.callsMax)
        limits.ageMax = max(.zero, self.ageMax)
        limits.retryDelayFirst = max(.zero, self.retryDelayFirst)
        limits.retryDelayMax = max(limits.retryDelayFirst, self.retryDelayMax)
        return limits
    }
}
