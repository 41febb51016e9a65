// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// An address to call when something happens to an ad.
public struct AdTracker: Hashable, Sendable {
    /// The event name of an impression.
    public static let impression = "impression"
    /// The event name of a followed click-through.
    public static let clickTracking = "clickTracking"
    /// The event name of any other interaction.
    public static let customClick = "customClick"
    /// The event name of a failure.
    public static let error = "error"
    /// The event name of a banner that was shown.
    public static let bannerView = "bannerView"
    /// The event name of a banner that was acted upon.
    public static let bannerClick = "bannerClick"

    /// The event name of an ad that was seen.
    public static let viewable = "viewable"
    /// The event name of an ad that was not seen.
    public static let notViewable = "notViewable"
    /// The event name of an ad of which it is not known whether it was seen.
    public static let viewUndetermined = "viewUndetermined"

    /// The event to report: a name of VAST 4.3 section 3.14.1, one of the constants here, or one that is not known yet.
    public var event: String
    /// The URL to call.
    public var url: String
    /// The identifier that the ad server gave to the tracker.
    public var id: String?
    /// For `progress`: how far into the ad, in milliseconds.
    public var offsetMilliseconds: Int?

    /// A tracker of an event.
    public init(event: String, url: String, id: String? = nil, offsetMilliseconds: Int? = nil) {
        self.event = event
        self.url = url
        self.id = id
        self.offsetMilliseconds = offsetMilliseconds
    }
}
