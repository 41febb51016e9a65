// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The bounds of a playlist from outside, and of what is remembered of playlists.
///
/// A playlist that passes one of the first five is refused, with the line where it does. The others say what is kept.
public struct PlaylistLimits: Hashable, Sendable {
    /// The largest playlist, in bytes (8 MiB).
    public var playlistBytesMax = 8_388_608
    /// The most lines of a playlist.
    public var linesMax = 262_144
    /// The longest line, in bytes.
    public var lineBytesMax = 16_384
    /// The most markers in a playlist: tags of breaks, and date ranges.
    public var markersMax = 16_384
    /// The most variants and renditions in a multivariant playlist.
    public var renditionsMax = 1_024
    /// The most attributes of a tag; a marker with more is passed over, with a fault.
    public var attributesPerTagMax = 64
    /// The largest SCTE-35 section in a marker, in bytes; a larger one counts as unreadable.
    public var scte35BytesMax = SpliceSectionLimits.sectionBytesMax
    /// The most faults that are told of a playlist.
    public var faultsMax = 64
    /// The most breaks, and of other markers as many, that a ``PlaylistWatch`` remembers; it forgets the oldest.
    public var keptBreaksMax = 1_024
    /// The most renditions that a ``PlaylistWatch`` follows; it forgets the one that was read the longest ago.
    public var watchedRenditionsMax = 16

    /// The default limits.
    public init() {}

    /// The names of the limits that refuse a playlist.
    ///
    /// New cases may appear in a minor release.
    @nonexhaustive
    public enum Name: String, Hashable, Sendable, CaseIterable {
        /// See ``PlaylistLimits/playlistBytesMax``.
        case playlistBytesMax
        /// See ``PlaylistLimits/linesMax``.
        case linesMax
        /// See ``PlaylistLimits/lineBytesMax``.
        case lineBytesMax
        /// See ``PlaylistLimits/markersMax``.
        case markersMax
        /// See ``PlaylistLimits/renditionsMax``.
        case renditionsMax
    }
}
