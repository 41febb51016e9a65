// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The results of one reading of a playlist by a ``PlaylistWatch``.
public struct PlaylistReading: Hashable, Sendable {
    /// The new events, in the order of programme time.
    public var events: [PlaylistEvent] = []
    /// Whether the playlist differs from the last one of its rendition.
    public var isChanged = true
    /// Whether a delta update leaves out segments that were never read: the next load must ask for the whole playlist.
    public var needsWholePlaylist = false
    /// Whether the segments have other numbers than before, as after a restart of the packager.
    public var isRestarted = false
    /// The programme time at the end of the playlist, in milliseconds since 1970.
    public var endMilliseconds: Int?
    /// How long after this load began the next one may begin, in milliseconds; `nil`: the playlist has ended.
    public var reloadAfterMilliseconds: Int?
    /// The parts that the reader skipped because of faults.
    public var faults: [PlaylistFault] = []
}

/// Watches the playlists of one stream, and tells each mark of a break once.
///
/// ```swift
/// var watch = PlaylistWatch()
/// let reading = try watch.read(bytes, rendition: url, atMilliseconds: now)
/// for event in reading.events { print(event.kind, event.timeMilliseconds) }
/// ```
///
/// It fetches nothing and has no clock: what loads playlists gives it each one with the time of reading, and asks it when to
/// load the next one. Marks that stay in the window of a live playlist are the same marks; so are those of another rendition of the
/// stream. Where the playlist has dates (`EXT-X-PROGRAM-DATE-TIME`, RFC 8216 section 4.3.2.6), they are the clock. Else the end of
/// the first playlist counts as the time of its reading, and the durations of segments count from there.
public struct PlaylistWatch: Hashable, Sendable {
    private struct Rendition: Hashable {
        var timeline: PlaylistTimeline
        var schedule = ReloadSchedule()
        var digest: UInt64?
        var endMilliseconds: Int?
        var lastRead = 0
    }

    private enum Item {
        case marker(PlaylistMarker)
        case rangeBegins(DateRange)
        case rangeEnds(DateRange)
        case rangeCommand(DateRange)
    }

    private static let timeMillisecondsMax = 1 << 50

    /// The classes of date ranges that are breaks without SCTE-35.
    public var breakClasses: Set<String> = [DateRange.interstitialClass]
    /// The most that the watch reads and keeps.
    public let limits: PlaylistLimits
    private var renditions: [String: Rendition] = [:]
    private var breaks: PlaylistBreaks
    private var ranges: WatchedRanges
    private var timelines = 0
    private var reads = 0

    /// A watch that has read nothing.
    public init(limits: PlaylistLimits = PlaylistLimits()) {
        self.limits = limits
        self.breaks = PlaylistBreaks(keptMax: limits.keptBreaksMax)
        self.ranges = WatchedRanges(keptMax: limits.keptBreaksMax)
    }

    /// Reads a playlist.
    ///
    /// - Parameters:
    ///   - bytes: The playlist.
    ///   - name: A name for the rendition, such as its address; all are of one stream.
    ///   - now: The time of reading, in milliseconds since 1970.
    /// - Returns: What is new.
    /// - Throws: ``PlaylistError`` where it cannot be read; then the load counts as failed, and what was read before stays.
    public mutating func read(
        _ bytes: [UInt8],
        rendition name: String = "",
        atMilliseconds now: Int
    ) throws(PlaylistError) -> PlaylistReading {
        var rendition = self.rendition(name)
        let digest = BytesHash.of(bytes)
        if rendition.digest == digest {
            rendition.schedule.loaded(
                targetDurationMilliseconds: rendition.schedule.targetDurationMilliseconds,
                isChanged: false,
                isEnded: rendition.schedule.isEnded
            )
            self.renditions[name] = rendition
            var reading = PlaylistReading()
            reading.isChanged = false
            reading.endMilliseconds = rendition.endMilliseconds
            reading.reloadAfterMilliseconds = rendition.schedule.waitMilliseconds
            return reading
        }
        do throws(PlaylistError) {
            guard case .media(let playlist) = try Playlist.read(bytes, limits: self.limits) else {
                throw .malformed(fault: "a multivariant playlist where segments were expected", line: 1)
            }
            rendition.digest = digest
            // A clock that is set to nonsense traps on nothing.
            let microseconds = min(max(now, 0), Self.timeMillisecondsMax) * 1_000
            let reading = self.read(playlist, in: &rendition, now: microseconds)
            self.renditions[name] = rendition
            return reading
        } catch {
            rendition.schedule.failed()
            self.renditions[name] = rendition
            throw error
        }
    }

    /// A playlist could not be loaded.
    ///
    /// - Parameter name: The name of the rendition.
    /// - Returns: How long after that load began the next one may begin, in milliseconds.
    @discardableResult
    public mutating func failed(rendition name: String = "") -> Int {
        var rendition = self.rendition(name)
        rendition.schedule.failed()
        self.renditions[name] = rendition
        return rendition.schedule.waitMilliseconds ?? ReloadSchedule.waitMillisecondsMin
    }

    /// When the playlist of a rendition is to be loaded again.
    ///
    /// - Parameter name: The name of the rendition.
    /// - Returns: How long after its last load began, in milliseconds; `nil`: it has ended.
    public func reloadAfterMilliseconds(rendition name: String = "") -> Int? {
        (self.renditions[name]?.schedule ?? ReloadSchedule()).waitMilliseconds
    }

    private mutating func rendition(_ name: String) -> Rendition {
        self.reads += 1
        if var known = self.renditions[name] {
            known.lastRead = self.reads
            return known
        }
        if self.renditions.count >= max(self.limits.watchedRenditionsMax, 1),
            let oldest = self.renditions.min(by: { $0.value.lastRead < $1.value.lastRead })
        {
            self.renditions[oldest.key] = nil
        }
        self.timelines += 1
        return Rendition(timeline: PlaylistTimeline(number: self.timelines), lastRead: self.reads)
    }

    private mutating func read(_ playlist: MediaPlaylist, in rendition: inout Rendition, now: Int) -> PlaylistReading {
        self.timelines += 1
        let fit = rendition.timeline.place(playlist, now: now, freshNumber: self.timelines)
        self.breaks.estimateMicroseconds = 2_000 * playlist.targetDurationMilliseconds + 1_000_000
        var items: [(moment: PlaylistMoment, line: Int, item: Item)] = []
        var rest = playlist.markers[...]
        while let sequence = rest.first?.sequence {
            let group = rest.prefix { $0.sequence == sequence }
            rest = rest[group.endIndex...]
            // The watch read marks before skipped segments earlier.
            guard let moment = rendition.timeline.start(of: sequence) else { continue }
            rendition.timeline.pin(sequence)
            items += PlaylistMarks.merged(group).map { (moment, $0.line, .marker($0)) }
        }
        var reading = PlaylistReading()
        for change in self.ranges.take(playlist.dateRanges) {
            items += self.items(of: change.range)
            if change.isMoved, let event = self.moved(change.range) { reading.events.append(event) }
        }
        items.sort { ($0.moment.microseconds, $0.line) < ($1.moment.microseconds, $1.line) }
        reading.events += items.compactMap { self.event(of: $0.item, at: $0.moment) }
        rendition.endMilliseconds = rendition.timeline.end.map { PlaylistText.milliseconds($0.microseconds) }
        rendition.schedule.loaded(
            targetDurationMilliseconds: playlist.targetDurationMilliseconds,
            isChanged: fit != .isOld,
            isEnded: playlist.isEnded
        )
        reading.isChanged = fit != .isOld
        reading.needsWholePlaylist = fit == .hasGap && playlist.skippedSegments > 0
        reading.isRestarted = fit == .restarts
        reading.endMilliseconds = rendition.endMilliseconds
        reading.reloadAfterMilliseconds = rendition.schedule.waitMilliseconds
        reading.faults = playlist.faults
        return reading
    }

    private mutating func event(of item: Item, at moment: PlaylistMoment) -> PlaylistEvent? {
        switch item {
        case .marker(let marker):
            switch marker.role {
            case .out: self.breaks.out(marker, at: moment)
            case .continued: self.breaks.continued(marker, at: moment)
            case .in: self.breaks.in(marker, at: moment)
            case .message: self.breaks.message(marker, at: moment)
            }
        case .rangeBegins(let range):
            self.breaks.out(Self.marker(range, .out, range.scte35.out), at: moment, range: range)
        case .rangeEnds(let range):
            self.breaks.in(Self.marker(range, .in, range.scte35.in), at: moment, range: range)
        case .rangeCommand(let range):
            self.breaks.message(Self.marker(range, .message, range.scte35.command), at: moment, range: range)
        }
    }

    /// Where a range begins and ends, as far as it is a break (RFC 8216 section 4.3.2.7.1).
    private func items(of range: DateRange) -> [(moment: PlaylistMoment, line: Int, item: Item)] {
        let isListed = range.rangeClass.map { self.breakClasses.contains($0) } ?? false
        guard let start = range.times.startMicroseconds else { return [] }
        let moment = PlaylistMoment(microseconds: start, isExact: true, timeline: 0)
        var items: [(moment: PlaylistMoment, line: Int, item: Item)] = []
        let begins = range.scte35.hasOut || (isListed && !range.isOutsideProgramme)
        if begins { items.append((moment, range.line, .rangeBegins(range))) }
        if range.scte35.hasIn {
            // The end of what it began; of a range that only ends something, its start.
            let duration = range.endedMilliseconds ?? range.times.plannedMilliseconds ?? (begins ? nil : 0)
            if let duration {
                items.append((moment.later(microseconds: duration * 1_000), range.line, .rangeEnds(range)))
            }
        }
        if range.scte35.command != nil { items.append((moment, range.line, .rangeCommand(range))) }
        return items
    }

    /// Moves the start of a range that was told with another one.
    private mutating func moved(_ range: DateRange) -> PlaylistEvent? {
        guard let start = range.times.startMicroseconds else { return nil }
        let moment = PlaylistMoment(microseconds: start, isExact: true, timeline: 0)
        guard self.breaks.move(range, to: moment) else { return nil }
        return PlaylistEvent(Self.marker(range, .out, range.scte35.out), .update, at: moment, range: range)
    }

    private static func marker(_ range: DateRange, _ role: PlaylistMarker.Role, _ bytes: [UInt8]?) -> PlaylistMarker {
        var marker = PlaylistMarker(tag: .dateRange, role: role, line: range.line, sequence: 0)
        marker.durationMilliseconds = role == .in ? nil : range.durationMilliseconds
        marker.id = range.id
        marker.scte35 = bytes
        return marker
    }
}
