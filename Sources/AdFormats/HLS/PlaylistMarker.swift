// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The tags that mark breaks in playlists.
///
/// Only `EXT-X-DATERANGE` is in a specification of the IETF; SCTE 35 section 12 has `EXT-X-SCTE35`, and packagers brought the others.
///
/// New cases may appear in a minor release.
@nonexhaustive
public enum PlaylistTag: String, Hashable, Sendable, CaseIterable {
    /// A range of dates (RFC 8216 section 4.3.2.7).
    case dateRange = "EXT-X-DATERANGE"
    /// A break begins; the duration stands in one of several forms, or nowhere.
    case cueOut = "EXT-X-CUE-OUT"
    /// A break runs.
    case cueOutContinued = "EXT-X-CUE-OUT-CONT"
    /// The programme goes on.
    case cueIn = "EXT-X-CUE-IN"
    /// An SCTE-35 section in base64, mostly beside `EXT-X-CUE-OUT`.
    case oatcls = "EXT-OATCLS-SCTE35"
    /// An SCTE-35 section with what it means (ANSI/SCTE 35 2016 section 12.2.2).
    case scte35 = "EXT-X-SCTE35"
    /// A splice, out or in, with its times.
    case cue = "EXT-X-CUE"
    /// An SCTE-35 section in base64.
    case splicePoint = "EXT-X-SPLICEPOINT-SCTE35"
}

/// A tag of a break at a segment; ``DateRange`` is for the ones that have a date.
public struct PlaylistMarker: Hashable, Sendable {
    /// The meaning of a marker.
    public enum Role: Hashable, Sendable {
        /// A break begins.
        case out
        /// A break runs.
        case continued
        /// A break ends.
        case `in`
        /// Only the SCTE-35 section says it.
        case message
    }

    /// The tag.
    public var tag: PlaylistTag
    /// The meaning of the marker.
    public var role: Role
    /// The line, counted from 1.
    public var line: Int
    /// The media sequence number of the segment that it stands before.
    public var sequence: Int
    /// How long the break is, in milliseconds.
    public var durationMilliseconds: Int?
    /// How long the break has run, in milliseconds.
    public var elapsedMilliseconds: Int?
    /// The id of the break.
    public var id: String?
    /// The SCTE-35 section, not decoded.
    public var scte35: [UInt8]?

    /// Reads a tag's value.
    ///
    /// - Returns: The marker, and what of it could not be read.
    static func read(
        _ tag: PlaylistTag,
        _ value: ArraySlice<UInt8>,
        line: Int,
        sequence: Int,
        limits: PlaylistLimits
    ) -> (marker: PlaylistMarker?, fault: String?) {
        var marker = PlaylistMarker(tag: tag, role: .message, line: line, sequence: sequence)
        do throws(PlaylistTagFault) {
            switch tag {
            case .cueOut:
                marker.role = .out
                try marker.readDuration(value, limits: limits)
            case .cueOutContinued:
                marker.role = .continued
                try marker.readProgress(value, limits: limits)
            case .cueIn:
                marker.role = .in
                let attributes = try PlaylistAttributes(value, countMax: limits.attributesPerTagMax)
                try marker.take(attributes, limits: limits)
            case .scte35, .cue:
                let attributes = try PlaylistAttributes(value, countMax: limits.attributesPerTagMax)
                marker.role = Self.role(attributes, of: tag)
                try marker.take(attributes, limits: limits)
            case .oatcls, .splicePoint:
                marker.scte35 = try PlaylistBytes.read(Self.unquoted(value), countMax: limits.scte35BytesMax)
            case .dateRange:
                return (nil, nil)
            }
        } catch {
            // Its place still counts, unless the bytes are all that it has.
            return (marker.role == .message ? nil : marker, error.fault)
        }
        guard marker.role != .message || marker.scte35 != nil else {
            return (nil, "says neither out nor in, and has no SCTE-35")
        }
        return (marker, nil)
    }

    /// `30`, `"30.0"`, `DURATION=30`, or nothing.
    private mutating func readDuration(_ value: ArraySlice<UInt8>, limits: PlaylistLimits) throws(PlaylistTagFault) {
        let text = Self.unquoted(value)
        guard !text.isEmpty else { return }
        if let duration = PlaylistText.milliseconds(text) {
            self.setDuration(duration)
            return
        }
        let attributes = try PlaylistAttributes(value, countMax: limits.attributesPerTagMax)
        if let bare = attributes.bare {
            guard let duration = PlaylistText.milliseconds(bare) else {
                throw PlaylistTagFault("has a duration that is no number of seconds: \(quoted(bare))")
            }
            self.setDuration(duration)
        }
        try self.take(attributes, limits: limits)
    }

    /// `8.3/30`, `8.3`, `ElapsedTime=8.3,Duration=30`, or nothing.
    private mutating func readProgress(_ value: ArraySlice<UInt8>, limits: PlaylistLimits) throws(PlaylistTagFault) {
        let text = Self.unquoted(value)
        guard !text.isEmpty else { return }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if let elapsed = PlaylistText.milliseconds(parts[0]), parts.count == 1 || parts[1].isEmpty {
            self.elapsedMilliseconds = elapsed
            return
        }
        if parts.count == 2, let duration = PlaylistText.milliseconds(parts[1]) {
            self.elapsedMilliseconds = PlaylistText.milliseconds(parts[0])
            self.setDuration(duration)
            return
        }
        let attributes = try PlaylistAttributes(value, countMax: limits.attributesPerTagMax)
        guard attributes.bare == nil else {
            throw PlaylistTagFault("has neither ELAPSED/DURATION nor attributes: \(quoted(text))")
        }
        try self.take(attributes, limits: limits)
    }

    /// Takes the attributes that these tags have, under the names that are in use.
    private mutating func take(_ attributes: PlaylistAttributes, limits: PlaylistLimits) throws(PlaylistTagFault) {
        self.id = attributes["ID", "BREAKID", "EVENTID", "SPLICEID"].flatMap { $0.isEmpty ? nil : $0 }
        var fault: PlaylistTagFault?
        if let text = attributes["DURATION"] {
            if let duration = PlaylistText.milliseconds(text) {
                self.setDuration(duration)
            } else {
                fault = PlaylistTagFault("has a duration that is no number of seconds: \(quoted(text))")
            }
        }
        if let text = attributes["ELAPSEDTIME", "ELAPSED"] {
            self.elapsedMilliseconds = PlaylistText.milliseconds(text)
            if self.elapsedMilliseconds == nil {
                fault = PlaylistTagFault("has an elapsed time that is no number of seconds: \(quoted(text))")
            }
        }
        let hasFlags = self.tag == .scte35 || self.tag == .cue
        if let text = hasFlags ? attributes["CUE", "SCTE35"] : attributes["SCTE35", "CUE"], !text.isEmpty {
            self.scte35 = try PlaylistBytes.read(text, countMax: limits.scte35BytesMax)
        }
        if let fault { throw fault }
    }

    /// A duration of 0 says that it is not known.
    private mutating func setDuration(_ milliseconds: Int) {
        self.durationMilliseconds = milliseconds > 0 ? milliseconds : nil
    }

    /// `CUE-OUT=YES|CONT`, `CUE-IN=YES` (SCTE 35 section 12.2.2), or `TYPE="SpliceOut"|"SpliceIn"`.
    private static func role(_ attributes: PlaylistAttributes, of tag: PlaylistTag) -> Role {
        let type = attributes["TYPE"]?.lowercased() ?? ""
        let out = attributes["CUE-OUT"]?.uppercased() ?? (type.hasSuffix("out") ? "YES" : "NO")
        if out == "CONT" { return .continued }
        if out == "YES" {
            let elapsed = attributes["ELAPSED"].flatMap { PlaylistText.microseconds($0) } ?? 0
            return tag == .cue && elapsed > 0 ? .continued : .out
        }
        if attributes["CUE-IN"]?.uppercased() == "YES" || type.hasSuffix("in") { return .in }
        return .message
    }

    /// The whole value without quotation marks around it.
    private static func unquoted(_ value: ArraySlice<UInt8>) -> String {
        var text = PlaylistText.trimmed(value)
        if text.count >= 2, text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") {
            text = text.dropFirst().dropLast()
        }
        return PlaylistText.string(text)
    }
}
