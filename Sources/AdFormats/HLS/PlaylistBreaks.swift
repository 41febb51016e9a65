// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The breaks of a stream that playlists told of.
///
/// Each mark is told once, however often it is read, and in whichever rendition.
struct PlaylistBreaks: Hashable, Sendable {
    /// Durations that differ by less than this are one, in milliseconds.
    static let changeMillisecondsMin = 500
    /// The same message on segments that are this near is one, in microseconds.
    static let repeatMicroseconds = 60_000_000
    /// A running break that began more than this behind the known one is another break, unless estimates are less exact.
    static let runningStartMicroseconds = 5_000_000

    private struct Known: Hashable {
        var start: PlaylistMoment
        var end: PlaylistMoment?
        var durationMilliseconds: Int?
        var id: String?
        var rangeID: String?
        var scte35: [UInt8]?
        /// Up to where marks were read that say how long it is.
        var readTo: Int
        /// The last mark that was read as one of its middle; `nil`: none was.
        var runsTo: PlaylistMoment?
    }

    private struct Message: Hashable {
        var first: PlaylistMoment
        var last: PlaylistMoment
        let scte35: [UInt8]
    }

    private let keptMax: Int
    /// By start.
    private var breaks: [Known] = []
    private var loneEnds: [PlaylistMoment] = []
    private var messages: [Message] = []
    /// Marks before this were told and forgotten.
    private var forgottenTo = Int.min
    /// How far an estimate may be off.
    var estimateMicroseconds = 0

    init(keptMax: Int) { self.keptMax = max(keptMax, 1) }

    /// A break begins.
    mutating func out(_ marker: PlaylistMarker, at moment: PlaylistMoment, range: DateRange? = nil) -> PlaylistEvent? {
        if let index = self.breaks.lastIndex(where: { self.isSame($0, moment, range) }) {
            self.breaks[index].rangeID = self.breaks[index].rangeID ?? range?.id
            self.breaks[index].id = self.breaks[index].id ?? marker.id
            self.breaks[index].scte35 = self.breaks[index].scte35 ?? marker.scte35
            return self.update(index, marker, at: moment, range: range)
        }
        guard moment.microseconds >= self.forgottenTo else { return nil }
        self.insert(marker, at: moment, range: range)
        return PlaylistEvent(marker, .out, at: moment, range: range)
    }

    /// A break runs.
    mutating func continued(_ marker: PlaylistMarker, at moment: PlaylistMoment) -> PlaylistEvent? {
        let elapsed = (marker.elapsedMilliseconds ?? 0) * 1_000
        let start = moment.later(microseconds: -elapsed)
        if let index = self.latest(at: moment) {
            let known = self.breaks[index]
            // What was read as its middle once stays so, also where its end was told behind that mark, or told later.
            let isRead = known.runsTo.map { self.isPast($0, moment) } ?? false
            let isOver = !isRead && known.end.map { self.isPast(moment, $0) } ?? false
            // A break that began much later than the known one is another break, whose mark was not seen.
            let tolerance = max(self.estimateMicroseconds, Self.runningStartMicroseconds)
            let isLater = start.microseconds - known.start.microseconds > tolerance
            if !isOver, marker.elapsedMilliseconds == nil || !isLater {
                if known.runsTo.map({ $0.microseconds < moment.microseconds }) ?? true {
                    self.breaks[index].runsTo = moment
                }
                return self.update(index, marker, at: moment, range: nil)
            }
            // The end may be of this one, where a segment is longer than what is told to have run.
            if isOver, !isLater { return nil }
        }
        guard moment.microseconds >= self.forgottenTo else { return nil }
        self.insert(marker, at: start, range: nil, runsTo: moment)
        var event = PlaylistEvent(marker, .out, at: start, range: nil)
        event.elapsedMilliseconds = marker.elapsedMilliseconds ?? 0
        return event
    }

    /// A break ends.
    mutating func `in`(_ marker: PlaylistMarker, at moment: PlaylistMoment, range: DateRange? = nil) -> PlaylistEvent? {
        let estimate = self.estimateMicroseconds
        let isKnown =
            self.breaks.contains { known in
                known.end.map { $0.isNear(moment, estimateMicroseconds: estimate) } ?? false
                    && (range == nil || known.rangeID == nil || known.rangeID == range?.id)
            } || self.loneEnds.contains { $0.isNear(moment, estimateMicroseconds: estimate) }
        guard !isKnown, moment.microseconds >= self.forgottenTo else { return nil }
        let ofRange = range.flatMap { range in self.breaks.lastIndex { $0.rangeID == range.id } }
        let before = self.breaks.lastIndex { $0.start.microseconds < moment.microseconds }
        var event = PlaylistEvent(marker, .in, at: moment, range: range)
        if let index = ofRange ?? before, self.breaks[index].end == nil {
            self.breaks[index].end = moment
            event.id = event.id ?? self.breaks[index].id
        } else {
            self.loneEnds.append(moment)
            self.loneEnds.sort { $0.microseconds < $1.microseconds }
            if self.loneEnds.count > self.keptMax { self.forget(self.loneEnds.removeFirst()) }
        }
        return event
    }

    /// Only the SCTE-35 section says what happens.
    mutating func message(
        _ marker: PlaylistMarker,
        at moment: PlaylistMoment,
        range: DateRange? = nil
    ) -> PlaylistEvent? {
        guard let bytes = marker.scte35, moment.microseconds >= self.forgottenTo else { return nil }
        let estimate = self.estimateMicroseconds
        let reach = max(Self.repeatMicroseconds, estimate)
        let known = self.messages.lastIndex { message in
            message.scte35 == bytes && moment.microseconds >= message.first.microseconds - reach
                && moment.microseconds <= message.last.microseconds + reach
        }
        if let known {
            if moment.microseconds > self.messages[known].last.microseconds { self.messages[known].last = moment }
            return nil
        }
        // A tag that is repeated while its break runs.
        let isOfBreak = self.breaks.contains { known in
            guard known.scte35 == bytes else { return false }
            let planned = known.durationMilliseconds.map { known.start.later(microseconds: $0 * 1_000) }
            let end = known.end ?? planned
            return moment.microseconds >= known.start.microseconds - estimate
                && (end.map { moment.microseconds <= $0.microseconds + reach } ?? true)
        }
        guard !isOfBreak else { return nil }
        self.messages.append(Message(first: moment, last: moment, scte35: bytes))
        self.messages.sort { $0.last.microseconds < $1.last.microseconds }
        if self.messages.count > self.keptMax { self.forget(self.messages.removeFirst().last) }
        return PlaylistEvent(marker, .message, at: moment, range: range)
    }

    /// The start of a range was moved.
    ///
    /// - Returns: Whether its break is known.
    mutating func move(_ range: DateRange, to moment: PlaylistMoment) -> Bool {
        guard let index = self.breaks.lastIndex(where: { $0.rangeID == range.id }) else { return false }
        self.breaks[index].start = moment
        self.breaks.sort { $0.start.microseconds < $1.start.microseconds }
        return true
    }

    private func isSame(_ known: Known, _ moment: PlaylistMoment, _ range: DateRange?) -> Bool {
        if let range, let id = known.rangeID, id != range.id { return false }
        return known.start.isNear(moment, estimateMicroseconds: self.estimateMicroseconds)
    }

    private func isPast(_ moment: PlaylistMoment, _ end: PlaylistMoment) -> Bool {
        moment.microseconds >= end.microseconds || moment.isNear(end, estimateMicroseconds: self.estimateMicroseconds)
    }

    /// The break that began last at a point.
    private func latest(at moment: PlaylistMoment) -> Int? {
        self.breaks.lastIndex {
            $0.start.microseconds <= moment.microseconds
                || $0.start.isNear(moment, estimateMicroseconds: self.estimateMicroseconds)
        }
    }

    /// Takes what a later mark says of a break's duration.
    private mutating func update(
        _ index: Int,
        _ marker: PlaylistMarker,
        at moment: PlaylistMoment,
        range: DateRange?
    ) -> PlaylistEvent? {
        guard let duration = marker.durationMilliseconds else { return nil }
        // Marks that stand before the last one that counted are read again, and say what was then.
        guard range != nil || moment.microseconds > self.breaks[index].readTo else { return nil }
        self.breaks[index].readTo = max(self.breaks[index].readTo, moment.microseconds)
        let known = self.breaks[index].durationMilliseconds
        if let known, abs(known - duration) < Self.changeMillisecondsMin { return nil }
        self.breaks[index].durationMilliseconds = duration
        var event = PlaylistEvent(marker, .update, at: self.breaks[index].start, range: range)
        event.id = event.id ?? self.breaks[index].id
        return event
    }

    private mutating func insert(
        _ marker: PlaylistMarker,
        at moment: PlaylistMoment,
        range: DateRange?,
        runsTo: PlaylistMoment? = nil
    ) {
        let known = Known(
            start: moment,
            durationMilliseconds: marker.durationMilliseconds,
            id: marker.id ?? range?.id,
            rangeID: range?.id,
            scte35: marker.scte35,
            readTo: moment.microseconds,
            runsTo: runsTo
        )
        let place = self.breaks.lastIndex { $0.start.microseconds <= moment.microseconds }
        self.breaks.insert(known, at: place.map { $0 + 1 } ?? 0)
        if self.breaks.count > self.keptMax {
            let oldest = self.breaks.removeFirst()
            // An end behind the next break is of a clock that was set.
            let next = self.breaks[0].start
            self.forget(oldest.end.map { $0.microseconds < next.microseconds ? $0 : next } ?? oldest.start)
        }
    }

    private mutating func forget(_ moment: PlaylistMoment) {
        self.forgottenTo = max(self.forgottenTo, moment.microseconds + PlaylistMoment.nearMicroseconds)
    }
}
