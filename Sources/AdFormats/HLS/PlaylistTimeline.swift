// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A point in programme time.
struct PlaylistMoment: Hashable, Sendable {
    /// Exact times that are this near are one: packagers round, and renditions have other segments.
    static let nearMicroseconds = 1_000_000

    /// Microseconds since 1970.
    var microseconds: Int
    /// Whether it comes from a date in the playlist; else from the time of reading.
    var isExact: Bool
    /// The timeline that it was read in; of one timeline all times fit each other.
    var timeline: Int

    /// Whether both can be the same point.
    ///
    /// - Parameters:
    ///   - other: The other point.
    ///   - estimateMicroseconds: How far an estimate may be off.
    /// - Returns: Whether they are near enough.
    func isNear(_ other: PlaylistMoment, estimateMicroseconds: Int) -> Bool {
        let fits = self.timeline == other.timeline || (self.isExact && other.isExact)
        let tolerance = fits ? Self.nearMicroseconds : estimateMicroseconds
        return abs(self.microseconds - other.microseconds) <= tolerance
    }

    /// The point so much later.
    func later(microseconds: Int) -> PlaylistMoment {
        PlaylistMoment(
            microseconds: self.microseconds + microseconds,
            isExact: self.isExact,
            timeline: self.timeline
        )
    }
}

/// When each segment of a rendition is: by dates, by the segments beside it, or by the time of reading.
///
/// A segment keeps its time as long as it is in the playlist.
struct PlaylistTimeline: Hashable, Sendable {
    private struct Place: Hashable {
        let sequence: Int
        let start: PlaylistMoment
        let durationMicroseconds: Int
        let pathHash: UInt64

        var end: PlaylistMoment { self.start.later(microseconds: self.durationMicroseconds) }
    }

    /// How a playlist fits the ones before it.
    enum Fit: Equatable {
        /// It goes on, or is the first.
        case goesOn
        /// It lacks segments that no playlist before it had.
        case hasGap
        /// It is an older one, as a cache may have it.
        case isOld
        /// Its segments have other numbers than before.
        case restarts
    }

    /// The segments of the last playlist, with those that it skips; their numbers have no gaps.
    private var places: [Place] = []
    /// Where a marker stood behind the last segment: it keeps the time that it was told with.
    private var pinned: [Int: PlaylistMoment] = [:]
    private var number: Int
    /// Where the segments of the playlist are that was placed last.
    private var current: [Place] = []
    /// The moment that follows the last segment of that playlist.
    private(set) var end: PlaylistMoment?
    private var nextSequence = 0

    /// A timeline with a number that no other has.
    init(number: Int) { self.number = number }

    /// When the segment with a number begins; `nil`: it is not in the playlist.
    func start(of sequence: Int) -> PlaylistMoment? {
        if let pinned = self.pinned[sequence] { return pinned }
        if sequence == self.nextSequence { return self.end }
        return Self.place(of: sequence, in: self.current)?.start
    }

    /// Remembers the time of what is not there yet.
    mutating func pin(_ sequence: Int) {
        guard sequence == self.nextSequence, self.pinned[sequence] == nil, let end = self.end else { return }
        self.pinned[sequence] = end
    }

    /// Finds the times of a playlist's segments.
    ///
    /// - Parameters:
    ///   - playlist: The playlist.
    ///   - now: The time of reading, in microseconds since 1970.
    ///   - freshNumber: The number for a timeline that begins with it.
    /// - Returns: How it fits the one before.
    mutating func place(_ playlist: MediaPlaylist, now: Int, freshNumber: Int) -> Fit {
        let fit = self.fit(of: playlist)
        if fit == .restarts {
            self.places = []
            self.pinned = [:]
            self.number = freshNumber
        }
        self.current = self.placed(playlist, now: now, freshNumber: freshNumber)
        self.nextSequence = playlist.nextSequence
        let next = playlist.nextDateMicroseconds
        let dated = next.map { PlaylistMoment(microseconds: $0, isExact: true, timeline: self.number) }
        // All segments may be skipped, and there may be none yet.
        let lastKnown = Self.place(of: self.nextSequence - 1, in: self.places)
        self.end =
            dated ?? self.current.last?.end ?? lastKnown?.end
            ?? PlaylistMoment(microseconds: now, isExact: false, timeline: self.number)
        guard fit != .isOld else { return fit }
        let firstFresh = playlist.mediaSequence + playlist.skippedSegments
        let kept = self.places.filter { (playlist.mediaSequence..<firstFresh).contains($0.sequence) }
        // Without the ones between, numbers would have a gap.
        let fits = kept.last.map { $0.sequence == firstFresh - 1 } ?? false
        self.places = (fits ? kept : []) + self.current
        self.pinned = self.pinned.filter { $0.key >= playlist.mediaSequence }
        return fit
    }

    private func fit(of playlist: MediaPlaylist) -> Fit {
        guard let knownFirst = self.places.first, let knownLast = self.places.last else {
            return playlist.skippedSegments > 0 ? .hasGap : .goesOn
        }
        guard let first = playlist.segments.first, let last = playlist.segments.last else {
            return playlist.nextSequence >= knownFirst.sequence ? .goesOn : .restarts
        }
        if first.sequence > knownLast.sequence {
            return first.sequence == knownLast.sequence + 1 ? .goesOn : .hasGap
        }
        if last.sequence < knownFirst.sequence {
            guard let date = last.dateMicroseconds, knownFirst.start.isExact else { return .restarts }
            return date < knownFirst.start.microseconds ? .isOld : .restarts
        }
        let shared = playlist.segments[min(last.sequence, knownLast.sequence) - first.sequence]
        guard let known = Self.place(of: shared.sequence, in: self.places), Self.isSame(shared, known) else {
            return .restarts
        }
        return last.sequence < knownLast.sequence ? .isOld : .goesOn
    }

    private func placed(_ playlist: MediaPlaylist, now: Int, freshNumber: Int) -> [Place] {
        var starts: [PlaylistMoment?] = []
        starts.reserveCapacity(playlist.segments.count)
        var previous: PlaylistMoment? =
            playlist.segments.first.flatMap { Self.place(of: $0.sequence - 1, in: self.places)?.end }
        for segment in playlist.segments {
            let dated = segment.dateMicroseconds
                .map { PlaylistMoment(microseconds: $0, isExact: true, timeline: self.number) }
            let start = Self.place(of: segment.sequence, in: self.places)?.start ?? dated ?? previous
            starts.append(start)
            previous = start?.later(microseconds: segment.durationMicroseconds)
        }
        // Segments without a time come before the first segment that has one.
        var following: PlaylistMoment?
        if !starts.contains(where: { $0 != nil }) {
            // A gap has an unknown length: what follows does not fit what was before.
            let number = self.places.isEmpty ? self.number : freshNumber
            following = PlaylistMoment(microseconds: now, isExact: false, timeline: number)
        }
        for (index, segment) in zip(playlist.segments.indices, playlist.segments).reversed() {
            if starts[index] == nil { starts[index] = following?.later(microseconds: -segment.durationMicroseconds) }
            following = starts[index]
        }
        return zip(playlist.segments, starts)
            .compactMap { segment, start in
                start.map {
                    Place(
                        sequence: segment.sequence,
                        start: $0,
                        durationMicroseconds: segment.durationMicroseconds,
                        pathHash: Self.pathHash(segment.uri)
                    )
                }
            }
    }

    private static func place(of sequence: Int, in places: [Place]) -> Place? {
        guard let first = places.first?.sequence, sequence >= first, sequence - first < places.count else { return nil }
        return places[sequence - first]
    }

    /// Whether a segment is the one that is known: by its date, else by its path.
    private static func isSame(_ segment: MediaPlaylist.Segment, _ known: Place) -> Bool {
        if let date = segment.dateMicroseconds, known.start.isExact {
            return abs(date - known.start.microseconds) <= PlaylistMoment.nearMicroseconds
        }
        return self.pathHash(segment.uri) == known.pathHash
    }

    /// A hash of an address without its query, in which tokens change.
    private static func pathHash(_ uri: String) -> UInt64 { BytesHash.of(uri.utf8.prefix { $0 != UInt8(ascii: "?") }) }
}
