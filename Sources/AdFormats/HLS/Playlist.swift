// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A playlist of HTTP Live Streaming (RFC 8216; draft-pantos-hls-rfc8216bis).
///
/// ```swift
/// switch try Playlist.read(bytes) {
/// case .media(let playlist): print(playlist.segments.count, playlist.markers)
/// case .multivariant(let playlist): print(playlist.watchOrder)
/// }
/// ```
///
/// Reading fetches nothing and knows no time: the same bytes always give the same result.
public enum Playlist: Hashable, Sendable {
    /// The segments of one rendition.
    case media(MediaPlaylist)
    /// The renditions of one stream.
    case multivariant(MultivariantPlaylist)

    /// Reads a playlist.
    ///
    /// The reader passes over a tag of a break that it cannot read, and tells it in the playlist's faults. Tags that say where
    /// segments are must be right.
    ///
    /// - Parameters:
    ///   - bytes: The playlist in UTF-8; a byte order mark is passed over.
    ///   - limits: How much of it to read.
    /// - Returns: The playlist.
    /// - Throws: ``PlaylistError`` where it is none, or passes a limit.
    public static func read(
        _ bytes: [UInt8],
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistError) -> Playlist {
        guard bytes.count <= limits.playlistBytesMax else {
            let line = bytes.prefix(max(limits.playlistBytesMax, 0)).count { $0 == 0x0A } + 1
            throw .tooLarge(limit: .playlistBytesMax, maximum: limits.playlistBytesMax, line: line)
        }
        var reader = PlaylistReader(limits: limits)
        return try reader.read(bytes)
    }
}

/// The segments of one rendition, and the marks of breaks between them (RFC 8216 section 4.3.3).
public struct MediaPlaylist: Hashable, Sendable {
    /// One segment.
    public struct Segment: Hashable, Sendable {
        /// Its media sequence number (RFC 8216 section 3).
        public var sequence: Int
        /// `EXTINF`, in microseconds.
        public var durationMicroseconds: Int
        /// Its address as written.
        public var uri: String
        /// `EXT-X-PROGRAM-DATE-TIME`, in microseconds since 1970.
        public var dateMicroseconds: Int?
        /// Whether `EXT-X-DISCONTINUITY` stands before it.
        public var isDiscontinuity: Bool
    }

    /// `EXT-X-TARGETDURATION`; where it is missing, the longest segment.
    public var targetDurationMilliseconds = 0
    /// `EXT-X-MEDIA-SEQUENCE`: the number of the first segment, also of one that is skipped.
    public var mediaSequence = 0
    /// `EXT-X-DISCONTINUITY-SEQUENCE`.
    public var discontinuitySequence = 0
    /// The segments, in order, without those that are skipped.
    public var segments: [Segment] = []
    /// `EXT-X-SKIP`: how many segments a delta update leaves out (draft-pantos-hls-rfc8216bis section 4.4.5.2).
    public var skippedSegments = 0
    /// `CAN-SKIP-UNTIL` of `EXT-X-SERVER-CONTROL`: the server makes delta updates of what is older than this.
    public var canSkipUntilMilliseconds: Int?
    /// `EXT-X-ENDLIST`: no more segments follow.
    public var isEnded = false
    /// The date of what follows the last segment, in microseconds since 1970, where one is given.
    public var nextDateMicroseconds: Int?
    /// The marks of breaks, in order.
    public var markers: [PlaylistMarker] = []
    /// The ranges of dates, in order; several may have one id.
    public var dateRanges: [DateRange] = []
    /// The parts that the reader skipped because of faults.
    public var faults: [PlaylistFault] = []

    /// The number of the segment behind the last one.
    public var nextSequence: Int { self.mediaSequence + self.skippedSegments + self.segments.count }
}

/// The renditions of one stream (RFC 8216 section 4.3.4).
public struct MultivariantPlaylist: Hashable, Sendable {
    /// A playlist of segments, in one of several qualities.
    public struct Variant: Hashable, Sendable {
        /// Its address as written.
        public var uri: String
        /// `BANDWIDTH`, in bits a second; 0 where it is missing.
        public var bandwidth: Int
        /// The group of its audio.
        public var audioGroup: String?
        /// The line of its address.
        public var line: Int
    }

    /// A playlist of segments in another language, or of another kind.
    public struct Rendition: Hashable, Sendable {
        /// `TYPE`, such as `AUDIO`.
        public var type: String
        /// `GROUP-ID`.
        public var group: String
        /// Its address as written; `nil`: it is in the variants.
        public var uri: String?
        /// The line, counted from 1.
        public var line: Int
    }

    /// The variants, in order.
    public var variants: [Variant] = []
    /// The other renditions, in order.
    public var renditions: [Rendition] = []

    /// The addresses of the variants, each once, the smallest bandwidth first: the first one is enough to watch, and the next one
    /// stands in for it.
    public var watchOrder: [String] {
        var seen: Set<String> = []
        return self.variants.enumerated()
            .sorted { ($0.element.bandwidth, $0.offset) < ($1.element.bandwidth, $1.offset) }
            .map(\.element.uri)
            .filter { seen.insert($0).inserted }
    }
}
