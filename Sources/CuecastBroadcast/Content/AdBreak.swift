// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A break of a stream: when it starts, how long it lasts, and the ads that play in it.
///
/// ```swift
/// var noon = AdBreak(stream: "radio1", id: "noon-2026-05-01", start: .in(.seconds(10)), advertisements: [spot])
/// noon.duration = .seconds(30)
/// let status = try await client.publish(noon)
/// ```
///
/// Times are sent in whole milliseconds; what is finer is cut off.
public struct AdBreak: Hashable, Sendable {
    /// When a break starts.
    ///
    /// The gateway resolves it once, by its own clock. Publishing the same break again compares the start as it was
    /// sent: "in 10 s" is the same start however often it is sent.
    public enum Start: Hashable, Sendable {
        /// At an instant; up to 2 s late counts as now, later is refused.
        case at(Date)
        /// This long after the gateway received the request.
        case `in`(Duration)
        /// When the gateway receives the request.
        case now
        /// Not yet: listeners fetch the ads and hold them until ``BroadcastClient/punch(stream:breakID:start:expectedRevision:)`` gives the
        /// start, for at most `hold` (nil: what the gateway is configured to, usually 30 min; at most 24 h).
        case cued(hold: Duration? = nil)
        /// Before the stream: every listener that joins while the break is open gets its ads, once.
        ///
        /// It is open for `hold` (nil: what the gateway is configured to, usually 30 min; at most 24 h).
        case preStream(hold: Duration? = nil)
    }

    /// The effect of an early end on the playing ad.
    public enum EndMode: String, Hashable, Sendable, CaseIterable {
        /// It stops.
        case cut
        /// It plays to its own end.
        case finishAd
    }

    /// The stream: 1 to 64 characters `A–Z a–z 0–9 . _ -`.
    public var stream: String
    /// The id of the break, which the broadcaster chooses: 1 to 64 characters `A–Z a–z 0–9 . _ -`, unique in its stream for ever.
    public var id: String
    /// When it starts.
    public var start: Start
    /// The most that it lasts, up to 6 h; nil: until it is ended (the gateway has a safety limit, usually 5 min).
    public var duration: Duration?
    /// The advertisements that play, first to last; 1 to 64.
    public var advertisements: [AdvertisementDescription]
    /// Other ads for some listeners, in the order in which they are tried; at most 31.
    public var variants: [AdVariant] = []
    /// Whether listeners that come late get only what fits into the rest of the break, so that no ad is cut.
    public var isExact: Bool
    /// The effect of an early end on the playing ad, unless the end says otherwise.
    public var endMode: EndMode

    /// A break; its other properties have defaults.
    ///
    /// - Parameters:
    ///   - stream: the stream's id.
    ///   - id: the break's id.
    ///   - start: when it starts.
    ///   - duration: the most that it lasts; nil: until it is ended.
    ///   - advertisements: the advertisements, first to last.
    public init(
        stream: String,
        id: String,
        start: Start,
        duration: Duration? = nil,
        advertisements: [AdvertisementDescription]
    ) {
        self.stream = stream
        self.id = id
        self.start = start
        self.duration = duration
        self.advertisements = advertisements
        self.isExact = false
        self.endMode = .cut
    }

    /// How long the ads play together; of a break with variants those of the longest list.
    public var advertisementsDuration: Duration {
        ([self.advertisements] + self.variants.map(\.advertisements)).longestPlayingTime
    }
}

/// When something starts that has no start yet, or gets another one.
public enum BreakMoment: Hashable, Sendable {
    /// At an instant; up to 2 s late counts as now, later is refused.
    case at(Date)
    /// This long after the gateway received the request.
    case `in`(Duration)
    /// When the gateway receives the request.
    case now
}

/// The changes to a break; a property that is nil stays as it is.
public struct BreakChange: Hashable, Sendable {
    /// Another start; possible until the break starts.
    public var start: BreakMoment?
    /// Another duration, longer or shorter.
    public var duration: Duration?
    /// Other ads; possible until the break is announced.
    public var advertisements: [AdvertisementDescription]?
    /// The variants from now on, all of them; possible until the break is announced.
    public var variants: [AdVariant]?

    /// A change of what is not nil.
    ///
    /// - Parameters:
    ///   - start: another start.
    ///   - duration: another duration.
    ///   - advertisements: other ads.
    public init(
        start: BreakMoment? = nil,
        duration: Duration? = nil,
        advertisements: [AdvertisementDescription]? = nil
    ) {
        self.start = start
        self.duration = duration
        self.advertisements = advertisements
    }
}
