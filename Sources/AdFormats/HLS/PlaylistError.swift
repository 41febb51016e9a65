// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why a playlist is refused.
///
/// Lines count from 1.
///
/// New cases may appear in a minor release.
@nonexhaustive
public enum PlaylistError: Error, Hashable, Sendable {
    /// The first line is not `#EXTM3U` (RFC 8216 section 4.3.1.1).
    case notAPlaylist
    /// A line says what a playlist cannot say there.
    case malformed(fault: String, line: Int)
    /// The playlist passes a limit of ``PlaylistLimits`` on this line.
    case tooLarge(limit: PlaylistLimits.Name, maximum: Int, line: Int)

    /// The line that is refused.
    public var line: Int {
        switch self {
        case .notAPlaylist: 1
        case .malformed(_, let line), .tooLarge(_, _, let line): line
        }
    }
}

extension PlaylistError: LocalizedError, CustomStringConvertible {
    /// A sentence for people.
    public var description: String {
        switch self {
        case .notAPlaylist:
            "This is not an HLS playlist: line 1 is not #EXTM3U."
        case .malformed(let fault, let line):
            "The playlist cannot be read: line \(line): \(fault)."
        case .tooLarge(let limit, let maximum, let line):
            "The playlist passes the limit \(limit.rawValue), which is \(maximum), on line \(line)."
        }
    }

    /// The same.
    public var errorDescription: String? { self.description }
}

/// A part of a playlist that was passed over, or taken with less than it should say.
public struct PlaylistFault: Hashable, Sendable, CustomStringConvertible {
    /// The line of the playlist, counted from 1.
    public var line: Int
    /// The tag, without `#`.
    public var tag: String
    /// The fault of the tag, as the end of a sentence.
    public var fault: String

    /// One sentence for people.
    public var description: String { "\(self.tag) on line \(self.line) \(self.fault)." }
}
