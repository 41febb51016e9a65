// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Reads the lines of a playlist, in time that grows only with its size.
struct PlaylistReader {
    /// The largest media sequence number that is taken: no stream gets there, and sums stay numbers.
    private static let sequenceMax = 1 << 53
    /// The longest segment that is taken, in microseconds: a day.
    private static let segmentMicrosecondsMax = 86_400_000_000

    private let limits: PlaylistLimits
    private var line = 0
    private var media = MediaPlaylist()
    private var multivariant = MultivariantPlaylist()
    /// The lines of the first tag that only one kind of playlist may have.
    private var mediaLine: Int?
    private var multivariantLine: Int?
    private var hasTargetDuration = false
    /// The data from tags about the next address.
    private var next = NextAddress()

    private struct NextAddress {
        var durationMicroseconds: Int?
        var isDiscontinuity = false
        var dateMicroseconds: Int?
        var variant: MultivariantPlaylist.Variant?
    }

    init(limits: PlaylistLimits) { self.limits = limits }

    mutating func read(_ bytes: [UInt8]) throws(PlaylistError) -> Playlist {
        var rest = bytes[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        var isFirst = true
        while !rest.isEmpty {
            self.line += 1
            guard self.line <= self.limits.linesMax else {
                throw .tooLarge(limit: .linesMax, maximum: self.limits.linesMax, line: self.line)
            }
            let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
            var line = rest[rest.startIndex..<end]
            rest = rest[min(end + 1, rest.endIndex)...]
            if line.last == 0x0D { line = line.dropLast() }
            guard line.count <= self.limits.lineBytesMax else {
                throw .tooLarge(limit: .lineBytesMax, maximum: self.limits.lineBytesMax, line: self.line)
            }
            if isFirst {
                guard PlaylistText.trimmed(line).elementsEqual("#EXTM3U".utf8) else { throw .notAPlaylist }
                isFirst = false
            } else {
                try self.read(line: PlaylistText.trimmed(line))
            }
        }
        guard !isFirst else { throw .notAPlaylist }
        return try self.result()
    }

    private mutating func result() throws(PlaylistError) -> Playlist {
        if let variants = self.multivariantLine {
            if let media = self.mediaLine {
                throw .malformed(
                    fault: "tags of a media playlist and of a multivariant one are mixed",
                    line: max(media, variants)
                )
            }
            if let variant = self.next.variant {
                throw .malformed(fault: "EXT-X-STREAM-INF without an address behind it", line: variant.line)
            }
            return .multivariant(self.multivariant)
        }
        if !self.hasTargetDuration {
            guard let longest = self.media.segments.map(\.durationMicroseconds).max() else {
                throw .malformed(fault: "the playlist has no EXT-X-TARGETDURATION and no segment", line: self.line)
            }
            self.media.targetDurationMilliseconds = (longest + 999_999) / 1_000_000 * 1_000
        }
        self.media.nextDateMicroseconds = self.next.dateMicroseconds
        return .media(self.media)
    }

    private mutating func read(line: ArraySlice<UInt8>) throws(PlaylistError) {
        guard let first = line.first else { return }
        guard first == UInt8(ascii: "#") else {
            try self.readAddress(line)
            return
        }
        // A line that does not begin with #EXT is a comment (RFC 8216 section 4.1).
        guard line.starts(with: "#EXT".utf8) else { return }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        let name = PlaylistText.string(line[(line.startIndex + 1)..<colon])
        let value = line[min(colon + 1, line.endIndex)...]
        if let tag = PlaylistTag(rawValue: name) {
            try self.readMarker(tag, value)
        } else if !(try self.readSegmentTag(name, value)), !(try self.readPlaylistTag(name, value)) {
            try self.readMultivariantTag(name, value)
        }
    }

    private mutating func readAddress(_ line: ArraySlice<UInt8>) throws(PlaylistError) {
        let uri = PlaylistText.string(line)
        if var variant = self.next.variant {
            try self.countRendition()
            variant.uri = uri
            variant.line = self.line
            self.multivariant.variants.append(variant)
        } else {
            guard let duration = self.next.durationMicroseconds else {
                throw self.fault("an address without EXTINF or EXT-X-STREAM-INF before it: \(quoted(uri))")
            }
            self.media.segments.append(
                MediaPlaylist.Segment(
                    sequence: self.media.nextSequence,
                    durationMicroseconds: duration,
                    uri: uri,
                    dateMicroseconds: self.next.dateMicroseconds,
                    isDiscontinuity: self.next.isDiscontinuity
                )
            )
        }
        self.next = NextAddress()
    }

    private mutating func readMarker(_ tag: PlaylistTag, _ value: ArraySlice<UInt8>) throws(PlaylistError) {
        guard self.media.markers.count + self.media.dateRanges.count < self.limits.markersMax else {
            throw .tooLarge(limit: .markersMax, maximum: self.limits.markersMax, line: self.line)
        }
        self.mediaLine = self.mediaLine ?? self.line
        guard tag == .dateRange else {
            let read = PlaylistMarker.read(
                tag,
                value,
                line: self.line,
                sequence: self.media.nextSequence,
                limits: self.limits
            )
            if let marker = read.marker { self.media.markers.append(marker) }
            if let fault = read.fault { self.tell(fault, tag: tag.rawValue) }
            return
        }
        do throws(PlaylistTagFault) {
            let read = try DateRange.read(value, line: self.line, limits: self.limits)
            self.media.dateRanges.append(read.range)
            for fault in read.faults { self.tell(fault, tag: tag.rawValue) }
        } catch {
            self.tell(error.fault, tag: tag.rawValue)
        }
    }

    /// The tags of one segment (RFC 8216 section 4.3.2).
    private mutating func readSegmentTag(_ name: String, _ value: ArraySlice<UInt8>) throws(PlaylistError) -> Bool {
        switch name {
        case "EXTINF":
            let text = PlaylistText.string(value.prefix { $0 != UInt8(ascii: ",") })
            guard let duration = PlaylistText.microseconds(text), duration <= Self.segmentMicrosecondsMax else {
                throw self.fault("EXTINF with a duration that is no number of seconds: \(quoted(text))")
            }
            self.next.durationMicroseconds = duration
        case "EXT-X-DISCONTINUITY":
            self.next.isDiscontinuity = true
        case "EXT-X-PROGRAM-DATE-TIME":
            let text = PlaylistText.string(value)
            self.next.dateMicroseconds = PlaylistText.date(text)
            // Segments beside it say when this one is.
            if self.next.dateMicroseconds == nil { self.tell("is no date: \(quoted(text))", tag: name) }
        case "EXT-X-SKIP":
            guard self.media.segments.isEmpty, self.media.skippedSegments == 0 else {
                throw self.fault("EXT-X-SKIP behind a segment")
            }
            self.media.skippedSegments = try self.number(self.attributes(value, of: name)["SKIPPED-SEGMENTS"], of: name)
        default:
            return false
        }
        self.mediaLine = self.mediaLine ?? self.line
        return true
    }

    /// The tags of a media playlist (RFC 8216 section 4.3.3).
    private mutating func readPlaylistTag(_ name: String, _ value: ArraySlice<UInt8>) throws(PlaylistError) -> Bool {
        switch name {
        case "EXT-X-TARGETDURATION":
            let text = PlaylistText.string(value)
            guard let target = PlaylistText.microseconds(text), target <= Self.segmentMicrosecondsMax else {
                throw self.fault("\(name) that is no number of seconds: \(quoted(text))")
            }
            self.media.targetDurationMilliseconds = PlaylistText.milliseconds(target)
            self.hasTargetDuration = true
        case "EXT-X-MEDIA-SEQUENCE":
            guard self.media.segments.isEmpty, self.media.skippedSegments == 0 else {
                throw self.fault("EXT-X-MEDIA-SEQUENCE behind a segment")
            }
            self.media.mediaSequence = try self.number(PlaylistText.string(value), of: name)
            // A marker may stand before it.
            for index in self.media.markers.indices { self.media.markers[index].sequence = self.media.mediaSequence }
        case "EXT-X-DISCONTINUITY-SEQUENCE":
            self.media.discontinuitySequence = try self.number(PlaylistText.string(value), of: name)
        case "EXT-X-SERVER-CONTROL":
            let text = try self.attributes(value, of: name)["CAN-SKIP-UNTIL"]
            self.media.canSkipUntilMilliseconds = text.flatMap { PlaylistText.milliseconds($0) }
        case "EXT-X-ENDLIST":
            self.media.isEnded = true
        default:
            return false
        }
        self.mediaLine = self.mediaLine ?? self.line
        return true
    }

    /// The tags of a multivariant playlist (RFC 8216 section 4.3.4); others are passed over.
    private mutating func readMultivariantTag(_ name: String, _ value: ArraySlice<UInt8>) throws(PlaylistError) {
        guard name == "EXT-X-STREAM-INF" || name == "EXT-X-MEDIA" || name == "EXT-X-I-FRAME-STREAM-INF" else { return }
        self.multivariantLine = self.multivariantLine ?? self.line
        guard name != "EXT-X-I-FRAME-STREAM-INF" else { return }
        let attributes = try self.attributes(value, of: name)
        if name == "EXT-X-STREAM-INF" {
            if let variant = self.next.variant {
                throw .malformed(fault: "EXT-X-STREAM-INF without an address behind it", line: variant.line)
            }
            self.next.variant = MultivariantPlaylist.Variant(
                uri: "",
                bandwidth: attributes["BANDWIDTH"].flatMap { PlaylistText.integer($0) } ?? 0,
                audioGroup: attributes["AUDIO"],
                line: self.line
            )
        } else {
            try self.countRendition()
            self.multivariant.renditions.append(
                MultivariantPlaylist.Rendition(
                    type: attributes["TYPE"] ?? "",
                    group: attributes["GROUP-ID"] ?? "",
                    uri: attributes["URI"],
                    line: self.line
                )
            )
        }
    }

    private func countRendition() throws(PlaylistError) {
        guard self.multivariant.variants.count + self.multivariant.renditions.count < self.limits.renditionsMax else {
            throw .tooLarge(limit: .renditionsMax, maximum: self.limits.renditionsMax, line: self.line)
        }
    }

    private func attributes(_ value: ArraySlice<UInt8>, of tag: String) throws(PlaylistError) -> PlaylistAttributes {
        do throws(PlaylistTagFault) {
            return try PlaylistAttributes(value, countMax: self.limits.attributesPerTagMax)
        } catch {
            throw self.fault("\(tag) \(error.fault)")
        }
    }

    private func number(_ text: String?, of tag: String) throws(PlaylistError) -> Int {
        guard let number = PlaylistText.integer(text ?? ""), number <= Self.sequenceMax else {
            throw self.fault("\(tag) without a number: \(quoted(text ?? ""))")
        }
        return number
    }

    private func fault(_ fault: String) -> PlaylistError { .malformed(fault: fault, line: self.line) }

    /// Tells what is wrong with a marker, which no playlist is refused for.
    private mutating func tell(_ fault: String, tag: String) {
        guard self.media.faults.count < self.limits.faultsMax else { return }
        self.media.faults.append(PlaylistFault(line: self.line, tag: tag, fault: fault))
    }
}
