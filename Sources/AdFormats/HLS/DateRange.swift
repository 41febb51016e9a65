// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A range of dates with what happens in it (RFC 8216 section 4.3.2.7; draft-pantos-hls-rfc8216bis section 4.4.5.1).
///
/// A tag may have a part only: what another one with the same id has belongs to the same range.
public struct DateRange: Hashable, Sendable {
    /// The class of ranges that are ads with their own media (draft-pantos-hls-rfc8216bis appendix D).
    public static let interstitialClass = "com.apple.hls.interstitial"

    /// When the range is.
    ///
    /// Dates are in microseconds since 1970.
    public struct Times: Hashable, Sendable {
        /// `START-DATE`.
        public var startMicroseconds: Int?
        /// `END-DATE`.
        public var endMicroseconds: Int?
        /// `DURATION`.
        public var durationMilliseconds: Int?
        /// `PLANNED-DURATION`.
        public var plannedMilliseconds: Int?
        /// `END-ON-NEXT=YES`: it ends where the next one of its class begins.
        public var endsOnNext = false
    }

    /// The SCTE-35 sections of a range, not decoded (RFC 8216 section 4.3.2.7.1).
    public struct Sections: Hashable, Sendable {
        /// `SCTE35-OUT`.
        public var out: [UInt8]?
        /// `SCTE35-IN`.
        public var `in`: [UInt8]?
        /// `SCTE35-CMD`.
        public var command: [UInt8]?
        /// Whether `SCTE35-OUT` is there, also where its bytes cannot be read.
        public var hasOut = false
        /// Whether `SCTE35-IN` is there, also where its bytes cannot be read.
        public var hasIn = false
    }

    /// Ads with their own media (draft-pantos-hls-rfc8216bis appendix D.2).
    public struct Interstitial: Hashable, Sendable {
        /// `X-ASSET-URI`.
        public var assetURI: String?
        /// `X-ASSET-LIST`.
        public var assetListURI: String?
        /// `X-PLAYOUT-LIMIT`.
        public var playoutLimitMilliseconds: Int?
        /// `CUE`: `PRE`, `POST`, `ONCE`.
        public var cues: [String] = []
    }

    /// `ID`.
    public var id: String
    /// The line, counted from 1.
    public var line: Int
    /// `CLASS`.
    public var rangeClass: String?
    /// When it is.
    public var times = Times()
    /// Its SCTE-35 sections.
    public var scte35 = Sections()
    /// The ads with their own media, if the class is ``interstitialClass``.
    public var interstitial: Interstitial?

    /// A range of which only the id is known.
    init(id: String, line: Int) {
        self.id = id
        self.line = line
    }

    /// When the range ends, as far as it is known: a duration, an end, or the plan.
    public var durationMilliseconds: Int? {
        self.endedMilliseconds ?? self.times.plannedMilliseconds ?? self.interstitial?.playoutLimitMilliseconds
    }

    /// How long the range was, once that is known.
    var endedMilliseconds: Int? {
        if let duration = self.times.durationMilliseconds { return duration }
        guard let start = self.times.startMicroseconds, let end = self.times.endMicroseconds, end >= start else {
            return nil
        }
        return PlaylistText.milliseconds(end - start)
    }

    /// Whether it plays before or after the programme, and at no place in it.
    var isOutsideProgramme: Bool {
        self.interstitial?.cues.contains { $0 == "PRE" || $0 == "POST" } ?? false
    }

    /// Takes what a later tag of the same range says; what it does not say stays.
    mutating func merge(_ other: DateRange) {
        self.rangeClass = other.rangeClass ?? self.rangeClass
        self.times.startMicroseconds = other.times.startMicroseconds ?? self.times.startMicroseconds
        self.times.endMicroseconds = other.times.endMicroseconds ?? self.times.endMicroseconds
        self.times.durationMilliseconds = other.times.durationMilliseconds ?? self.times.durationMilliseconds
        self.times.plannedMilliseconds = other.times.plannedMilliseconds ?? self.times.plannedMilliseconds
        self.times.endsOnNext = self.times.endsOnNext || other.times.endsOnNext
        self.scte35.out = other.scte35.out ?? self.scte35.out
        self.scte35.in = other.scte35.in ?? self.scte35.in
        self.scte35.command = other.scte35.command ?? self.scte35.command
        self.scte35.hasOut = self.scte35.hasOut || other.scte35.hasOut
        self.scte35.hasIn = self.scte35.hasIn || other.scte35.hasIn
        self.interstitial = other.interstitial ?? self.interstitial
    }

    /// Reads a tag's value.
    ///
    /// - Returns: The range, and what of it could not be read.
    /// - Throws: ``PlaylistTagFault`` where it is none.
    static func read(
        _ value: ArraySlice<UInt8>,
        line: Int,
        limits: PlaylistLimits
    ) throws(PlaylistTagFault) -> (range: DateRange, faults: [String]) {
        let attributes = try PlaylistAttributes(value, countMax: limits.attributesPerTagMax)
        guard let id = attributes["ID"], !id.isEmpty else { throw PlaylistTagFault("has no ID") }
        var range = DateRange(id: id, line: line)
        var faults: [String] = []
        func take<Value>(_ name: String, _ kind: String, _ read: (String) -> Value?) -> Value? {
            guard let text = attributes[name] else { return nil }
            let value = read(text)
            if value == nil { faults.append("has \(name) that is no \(kind): \(quoted(text))") }
            return value
        }
        func section(_ name: String) -> [UInt8]? {
            guard let text = attributes[name] else { return nil }
            do throws(PlaylistTagFault) {
                return try PlaylistBytes.read(text, countMax: limits.scte35BytesMax)
            } catch {
                faults.append(error.fault)
                return nil
            }
        }
        range.rangeClass = attributes["CLASS"]
        range.times.startMicroseconds = take("START-DATE", "date") { PlaylistText.date($0) }
        range.times.endMicroseconds = take("END-DATE", "date") { PlaylistText.date($0) }
        range.times.durationMilliseconds = take("DURATION", "number of seconds") { PlaylistText.milliseconds($0) }
        range.times.plannedMilliseconds = take("PLANNED-DURATION", "number of seconds") {
            PlaylistText.milliseconds($0)
        }
        range.times.endsOnNext = attributes["END-ON-NEXT"]?.uppercased() == "YES"
        range.scte35.out = section("SCTE35-OUT")
        range.scte35.in = section("SCTE35-IN")
        range.scte35.command = section("SCTE35-CMD")
        range.scte35.hasOut = attributes["SCTE35-OUT"] != nil
        range.scte35.hasIn = attributes["SCTE35-IN"] != nil
        if range.rangeClass == Self.interstitialClass {
            var interstitial = Interstitial()
            interstitial.assetURI = attributes["X-ASSET-URI"]
            interstitial.assetListURI = attributes["X-ASSET-LIST"]
            interstitial.playoutLimitMilliseconds = take("X-PLAYOUT-LIMIT", "number of seconds") {
                PlaylistText.milliseconds($0)
            }
            interstitial.cues = (attributes["CUE"] ?? "").split(separator: ",")
                .map { $0.trimmed.uppercased() }
            range.interstitial = interstitial
        }
        return (range, faults)
    }
}
