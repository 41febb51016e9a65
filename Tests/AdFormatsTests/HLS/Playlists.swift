// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats

/// Small playlists, made of pieces.
enum Playlists {
    /// The start of the programme of these playlists, in milliseconds since 1970: 2026-01-01T00:00:00Z.
    static let start = 1_767_225_600_000

    /// A playlist of segments of 6 s, each with what stands before it.
    static func media(
        first: Int = 0,
        _ segments: [String],
        dates: Bool = true,
        header: String = "",
        end: String = ""
    ) -> [UInt8] {
        var text = "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:\(first)\n\(header)"
        for (index, tags) in segments.enumerated() {
            if index == 0, dates { text += "#EXT-X-PROGRAM-DATE-TIME:\(self.date(first * 6_000))\n" }
            text += tags.isEmpty ? "" : tags + "\n"
            text += "#EXTINF:6.000,\nsegment\(first + index).ts\n"
        }
        return Array((text + end).utf8)
    }

    /// So many milliseconds behind the start, as ISO 8601 writes it; less than a day.
    static func date(_ milliseconds: Int) -> String {
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: count - text.count) + text
        }
        let seconds = milliseconds / 1_000
        return "2026-01-01T\(digits(seconds / 3_600, 2)):\(digits(seconds / 60 % 60, 2)):\(digits(seconds % 60, 2))"
            + ".\(digits(milliseconds % 1_000, 3))Z"
    }

    /// Reads a media playlist.
    static func read(_ text: String, limits: PlaylistLimits = PlaylistLimits()) throws -> MediaPlaylist {
        guard case .media(let playlist) = try Playlist.read(Array(text.utf8), limits: limits) else {
            throw PlaylistError.notAPlaylist
        }
        return playlist
    }

    /// The one marker that a tag makes.
    static func marker(_ tag: String) throws -> PlaylistMarker? {
        try self.read("#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(tag)\n#EXTINF:6,\na.ts\n").markers.first
    }
}

/// The error that reading ends with; nil if it ends with a playlist.
func playlistError(_ text: String, limits: PlaylistLimits = PlaylistLimits()) -> PlaylistError? {
    do throws(PlaylistError) {
        _ = try Playlist.read(Array(text.utf8), limits: limits)
        return nil
    } catch {
        return error
    }
}

/// What of an event tests compare.
func brief(_ event: PlaylistEvent) -> String {
    let time = event.timeMilliseconds - Playlists.start
    let duration = event.durationMilliseconds.map { " for \($0)" } ?? ""
    let elapsed = event.elapsedMilliseconds.map { " after \($0)" } ?? ""
    let id = event.id.map { " \($0)" } ?? ""
    let bytes = event.scte35.map { " \($0.count) bytes" } ?? ""
    return "\(event.kind) \(time)\(duration)\(elapsed)\(id)\(bytes)"
}
