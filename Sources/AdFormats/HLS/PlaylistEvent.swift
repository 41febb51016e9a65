// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// An event that a ``PlaylistWatch`` saw in a playlist for the first time.
public struct PlaylistEvent: Hashable, Sendable {
    /// The kind of an event.
    ///
    /// New cases may appear in a minor release.
    @nonexhaustive
    public enum Kind: String, Hashable, Sendable {
        /// A break begins.
        case out
        /// A break that was told already has another duration, or another start.
        case update
        /// A break ends.
        case `in`
        /// Only the SCTE-35 section says what happens.
        case message
    }

    /// The kind of the event.
    public var kind: Kind
    /// The tag that told it.
    public var tag: PlaylistTag
    /// The line of that tag in the playlist, counted from 1.
    public var line: Int
    /// When in programme time, in milliseconds since 1970; of an update, the start of its break.
    public var timeMilliseconds: Int
    /// Whether the playlist has no date for it: then the end of the playlist counts as the time of reading.
    public var isEstimated: Bool
    /// How long the break is, in milliseconds, where it is known.
    public var durationMilliseconds: Int?
    /// How long the break had run where the playlist begins: its first mark is not in it.
    public var elapsedMilliseconds: Int?
    /// The id of the break: of a range of dates, or an attribute.
    public var id: String?
    /// `CLASS` of a range of dates.
    public var rangeClass: String?
    /// The SCTE-35 section, not decoded; `nil`: there is none, or it cannot be read, and the times of the tag count.
    public var scte35: [UInt8]?
}

extension PlaylistEvent {
    /// An event of a mark.
    init(_ marker: PlaylistMarker, _ kind: Kind, at moment: PlaylistMoment, range: DateRange?) {
        self.kind = kind
        self.tag = marker.tag
        self.line = marker.line
        self.timeMilliseconds = PlaylistText.milliseconds(moment.microseconds)
        self.isEstimated = !moment.isExact
        self.durationMilliseconds = marker.durationMilliseconds
        self.id = marker.id ?? range?.id
        self.rangeClass = range?.rangeClass
        self.scte35 = marker.scte35
    }
}
