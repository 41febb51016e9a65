// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import AdFormats
internal import CuecastBroadcast

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Makes signals for the gateway of the SCTE-35 cues of one source.
///
/// ```swift
/// var splices = SpliceSignals(stream: "sport1", source: "encoder")
/// for each in splices.observations(of: bytes, clock: .program(clock), atMilliseconds: now) { await sender.take(each) }
/// ```
///
/// The same cues always make the same signals, so that two watchers of one source make one break. A cue that comes again is
/// ignored, with that reason. It fetches nothing and has no clock.
package struct SpliceSignals: Hashable, Sendable {
    private let stream: String
    private let source: String
    private var rule: SegmentationRule
    private let limits: SpliceSignalLimits
    private var events: SpliceEvents

    /// Signals of a source that has said nothing yet.
    ///
    /// - Parameters:
    ///   - stream: the stream that the gateway knows.
    ///   - source: the name of the source.
    ///   - rule: which segments open a break.
    ///   - limits: the bounds.
    package init(
        stream: String,
        source: String,
        rule: SegmentationRule = SegmentationRule(),
        limits: SpliceSignalLimits = SpliceSignalLimits()
    ) {
        self.stream = stream
        self.source = source
        self.rule = rule
        self.limits = limits
        self.events = SpliceEvents(limits: limits)
    }

    /// How many events are remembered.
    var rememberedEvents: Int { self.events.events.count }

    /// Goes on with another rule; what runs already is still ended by its own segment.
    ///
    /// - Parameter rule: which segments open a break from now on.
    package mutating func use(_ rule: SegmentationRule) { self.rule = rule }

    /// The ids of the breaks that the gateway was told of and that run at a moment.
    ///
    /// - Parameter moment: in milliseconds since 1970.
    /// - Returns: the event ids, as signals have them.
    package func runningEventIDs(atMilliseconds moment: Int) -> [String] {
        self.events.running(at: moment).map(\.key.eventID)
    }

    /// An event ended without a cue that says so, by a mark of a playlist for instance: segments that begin later do not lie in it.
    ///
    /// - Parameters:
    ///   - eventID: its id, as signals have it; one that is not known is passed over.
    ///   - moment: when it ended, in milliseconds since 1970.
    package mutating func end(_ eventID: String, atMilliseconds moment: Int) {
        for var event in self.events.events where event.key.eventID == eventID && !event.hasEnded {
            event.hasEnded = true
            event.end = max(moment, event.start)
            self.events[event.key] = event
        }
    }

    /// Takes the bytes of a section.
    ///
    /// - Parameters:
    ///   - bytes: from `table_id` to `CRC_32`.
    ///   - clock: when its times are.
    ///   - now: the time by the wall clock, in milliseconds since 1970.
    /// - Returns: the observations in it, at least one.
    package mutating func observations(
        of bytes: [UInt8],
        clock: CueClock,
        atMilliseconds now: Int
    ) -> [CueObservation] {
        do throws(SpliceSectionError) {
            let section = try SpliceInfoSection(bytes: bytes)
            return self.observations(of: section, raw: bytes, clock: clock, atMilliseconds: now)
        } catch {
            return [self.observation("a cue of \(bytes.count) bytes", .refused(CueRefusal(error)))]
        }
    }

    /// Takes a section.
    ///
    /// - Parameters:
    ///   - section: the section.
    ///   - raw: its bytes, for the audit.
    ///   - clock: when its times are.
    ///   - now: the time by the wall clock, in milliseconds since 1970.
    /// - Returns: the observations in it, at least one.
    package mutating func observations(
        of section: SpliceInfoSection,
        raw: [UInt8],
        clock: CueClock,
        atMilliseconds now: Int
    ) -> [CueObservation] {
        // A clock that is set to nonsense traps on nothing.
        let now = min(max(now, 0), Self.timeMillisecondsMax)
        self.events.forget(atMilliseconds: now)
        var observations: [CueObservation] = []
        for (signal, isSegment) in Self.inOrder(section) {
            let meanings =
                signal.kind == .cancel
                ? [self.cancel(signal.eventID, isSegment: isSegment, raw: raw)]
                : self.take(signal, raw: raw, clock: clock, now: now)
            observations += meanings.map { self.observation("\(signal)", $0) }
        }
        for segment in section.segmentsWithoutSignal {
            observations.append(self.observation(segment.seen, .ignored(reason: segment.reason)))
        }
        if observations.isEmpty {
            let reason = "\(section.command.name)() means nothing for breaks"
            observations.append(self.observation("\(section.command.name)()", .ignored(reason: reason)))
        }
        return observations
    }

    /// Times of the wall clock up to the year 37,000 are taken, so that sums of them fit.
    private static let timeMillisecondsMax = 1 << 50

    /// The signals of a section, each with whether it is of a segment.
    ///
    /// Ends come before begins, the outermost begin first and the innermost end first: a section may end one segment and begin
    /// another one.
    private static func inOrder(_ section: SpliceInfoSection) -> [(signal: CueSignal, isSegment: Bool)] {
        var inserts = 0
        if case .spliceInsert = section.command { inserts = 1 }
        func rank(_ signal: CueSignal) -> (Int, Int) {
            let level = signal.level?.rawValue ?? -1
            switch signal.kind {
            case .cancel: return (0, 0)
            case .in: return (1, -level)
            case .out: return (2, level)
            }
        }
        return section.signals.enumerated()
            .sorted { one, other in
                let (first, second) = (rank(one.element), rank(other.element))
                return first == second ? one.offset < other.offset : first < second
            }
            .map { ($0.element, $0.offset >= inserts) }
    }

    private func observation(_ seen: String, _ meaning: CueObservation.Meaning) -> CueObservation {
        CueObservation(stream: self.stream, source: self.source, seen: seen, meaning: meaning)
    }

    // MARK: One signal

    private mutating func take(
        _ signal: CueSignal,
        raw: [UInt8],
        clock: CueClock,
        now: Int
    ) -> [CueObservation.Meaning] {
        if let type = signal.segmentationType, let reason = self.reasonToIgnore(type, signal) {
            return [.ignored(reason: reason)]
        }
        let moment: Int
        switch signal.start {
        case .immediate:
            if case .fixed(let fixed) = clock { moment = fixed } else { moment = now }
        case .at(let ticks):
            guard let milliseconds = clock.milliseconds(atTicks: ticks) else {
                return [.refused(.noTimeReference)]
            }
            moment = milliseconds
        }
        guard let distance = Self.distance(moment, now), distance <= self.limits.distanceMillisecondsMax else {
            return [.refused(.tooFar(moment, now: now, max: self.limits.distanceMillisecondsMax))]
        }
        if let type = signal.segmentationType, self.rule.endingTypes.contains(type.rawValue) {
            return self.endAll(at: moment, raw: raw, now: now)
        }
        return signal.kind == .out
            ? self.begin(signal, at: moment, raw: raw, now: now) : [self.end(signal, at: moment, raw: raw, now: now)]
    }

    private static func distance(_ one: Int, _ other: Int) -> Int? {
        let (difference, overflow) = one.subtractingReportingOverflow(other)
        return overflow ? nil : Int(clamping: difference.magnitude)
    }

    private func reasonToIgnore(_ type: SegmentationType, _ signal: CueSignal) -> String? {
        if self.rule.endingTypes.contains(type.rawValue) { return nil }
        guard self.rule.opens(type) || self.isEndOfKnown(signal) else {
            return "segments of type \(type.hex) open no break here"
        }
        guard signal.kind == .out, let restrictions = signal.deliveryRestrictions else { return nil }
        if self.rule.obeysDeliveryRestrictions, !restrictions.isWebDeliveryAllowed {
            return "the segment may not be delivered on the web (web_delivery_allowed_flag is 0)"
        }
        if self.rule.obeysRegionalBlackout, restrictions.hasRegionalBlackout {
            return "the segment is blacked out in regions (no_regional_blackout_flag is 0)"
        }
        return nil
    }

    /// Whether a segment ends one that began under an earlier rule: its break must not go on to the safety limit.
    private func isEndOfKnown(_ signal: CueSignal) -> Bool {
        signal.kind == .in && self.events[signal.key].map { !$0.hasEnded } ?? false
    }

    private mutating func begin(
        _ signal: CueSignal,
        at moment: Int,
        raw: [UInt8],
        now: Int
    ) -> [CueObservation.Meaning] {
        // Encoders write 0 where they do not know the duration.
        let ticks = signal.durationTicks.flatMap { $0 > 0 ? $0 : nil }
        let duration = ticks.map { Int(($0 + 45) / 90) }
        if let duration, duration > self.limits.breakMillisecondsMax {
            return [.refused(.tooLong(duration, max: self.limits.breakMillisecondsMax))]
        }
        let key = signal.key
        let said = SpliceEvents.Said(ticks: signal.ticks, durationTicks: ticks)
        var known = self.events[key]
        // The id of an event that ended long ago, or is far away in time, means another event.
        if let event = known, self.isAnother(event, moment, isAtOnce: said.ticks == nil) { known = nil }
        if var event = known {
            event.heard = now
            self.events[key] = event
            if event.hasEnded { return [.ignored(reason: "event \(signal.eventID) ended already")] }
            if event.begin == said || (said.ticks == nil && event.begin.durationTicks == ticks) {
                return [.ignored(reason: "a repeat of what was said before")]
            }
        }
        let start = said.ticks == nil ? (known?.start ?? moment) : moment
        var event = SpliceEvents.Event(key: key, level: signal.level, start: start, begin: said, heard: now)
        event.end = duration.map { start + $0 }
        var takenBack: (before: [CueObservation.Meaning], after: [CueObservation.Meaning]) = ([], [])
        if let level = signal.level {
            if let outer = self.outer(of: level, key, at: start) {
                event.outer = outer.key
                self.events[key] = event
                return [.ignored(reason: "lies in the break \(outer.key.eventID)")]
            }
            takenBack = self.takeBack(insideOf: event, level, raw: raw, now: now)
        }
        self.events[key] = event
        let out = self.signal(.out, key.eventID, at: start, duration: duration.map { .milliseconds($0) }, raw: raw)
        return takenBack.before + [.signal(out)] + takenBack.after
    }

    /// Whether an event that is remembered with a number is not the one that begins at a moment.
    private func isAnother(_ event: SpliceEvents.Event, _ moment: Int, isAtOnce: Bool) -> Bool {
        // "At once" after the planned end is no repeat: an encoder may have one number for all breaks.
        if isAtOnce, let end = event.end, moment > end + self.limits.toleranceMilliseconds { return true }
        let reach = self.limits.rememberedMilliseconds
        return event.hasEnded && moment > self.events.lastMoment(of: event)
            || moment > self.events.lastMoment(of: event) + reach || moment < event.start - reach
    }

    /// The running segment that a segment lies in.
    private func outer(of level: CueSignal.Level, _ key: SpliceEvents.Key, at start: Int) -> SpliceEvents.Event? {
        self.events.running(at: start)
            .first { event in
                guard let outer = event.level, event.key != key else { return false }
                if outer < level { return true }
                // A placement opportunity of the provider and one of the distributor begin together, for instance.
                return outer == level && abs(event.start - start) <= self.limits.toleranceMilliseconds
            }
    }

    /// A segment came after segments that lie in it: they are no breaks of their own any more.
    ///
    /// - Returns: the cancellations to send before the segment begins, since their breaks would be in its way, and those to send
    ///   after it, since it is joined with their breaks.
    private mutating func takeBack(
        insideOf outer: SpliceEvents.Event,
        _ level: CueSignal.Level,
        raw: [UInt8],
        now: Int
    ) -> (before: [CueObservation.Meaning], after: [CueObservation.Meaning]) {
        var (before, after): ([CueObservation.Meaning], [CueObservation.Meaning]) = ([], [])
        for var inner in self.events.events where inner.outer == nil && !inner.hasEnded && inner.key != outer.key {
            guard let innerLevel = inner.level, innerLevel > level,
                inner.start >= outer.start - self.limits.toleranceMilliseconds,
                inner.start < self.events.lastMoment(of: outer), self.events.lastMoment(of: inner) > now
            else { continue }
            inner.outer = outer.key
            self.events[inner.key] = inner
            // Segments of several types may have one number: at the gateway both are one event, which the begin changes.
            guard inner.key.eventID != outer.key.eventID else { continue }
            let cancel = CueObservation.Meaning.signal(self.signal(.cancel, inner.key.eventID, at: nil, raw: raw))
            if inner.start <= outer.start + self.limits.toleranceMilliseconds {
                after.append(cancel)
            } else {
                before.append(cancel)
            }
        }
        return (before, after)
    }

    private mutating func end(
        _ signal: CueSignal,
        at moment: Int,
        raw: [UInt8],
        now: Int
    ) -> CueObservation.Meaning {
        let key = signal.key
        let said = SpliceEvents.Said(ticks: signal.ticks)
        if var event = self.events[key] {
            event.heard = now
            self.events[key] = event
            let isRepeat = event.ending == said || (event.ending != nil && said.ticks == nil)
            if isRepeat { return .ignored(reason: "a repeat of what was said before") }
            event.ending = said
            event.hasEnded = true
            event.end = max(moment, event.start)
            self.events[key] = event
            if let outer = event.outer { return .ignored(reason: "lies in the break \(outer.eventID)") }
        } else {
            var event = SpliceEvents.Event(
                key: key,
                level: signal.level,
                start: moment,
                begin: SpliceEvents.Said(),
                heard: now
            )
            event.end = moment
            event.hasEnded = true
            event.ending = said
            self.events[key] = event
        }
        // An end whose begin was not seen here may be of a break that another watcher saw begin.
        return .signal(self.signal(.in, key.eventID, at: moment, raw: raw))
    }

    /// A programme begins or ends: no break goes on over it.
    private mutating func endAll(at moment: Int, raw: [UInt8], now: Int) -> [CueObservation.Meaning] {
        let running = self.events.running(at: moment).filter { $0.start < moment }
        guard !running.isEmpty else { return [.ignored(reason: "no break runs that it could end")] }
        return running.map { event in
            var ended = event
            ended.hasEnded = true
            ended.end = moment
            ended.heard = now
            self.events[event.key] = ended
            return .signal(self.signal(.in, event.key.eventID, at: moment, raw: raw))
        }
    }

    /// A cancellation has the number only: it does not say of which type the segment is.
    private mutating func cancel(_ id: UInt32, isSegment: Bool, raw: [UInt8]) -> CueObservation.Meaning {
        let known = self.events.events.filter { $0.key.id == id && ($0.key.openingType != nil) == isSegment }
        for event in known { self.events[event.key] = nil }
        let inner = known.compactMap(\.outer)
        if !known.isEmpty, inner.count == known.count, let outer = inner.first {
            return .ignored(reason: "lies in the break \(outer.eventID)")
        }
        // An event that was not seen here may be one that another watcher saw.
        let eventID = SpliceEvents.Key.eventID(id, isSegment: isSegment)
        return .signal(self.signal(.cancel, eventID, at: nil, raw: raw))
    }

    private func signal(
        _ kind: ProgrammeSignal.Kind,
        _ eventID: String,
        at moment: Int?,
        duration: Duration? = nil,
        raw: [UInt8]
    ) -> ProgrammeSignal {
        ProgrammeSignal(
            stream: self.stream,
            source: self.source,
            eventID: eventID,
            kind: kind,
            start: moment.map { .at(Date(timeIntervalSince1970: Double($0) / 1_000)) },
            isProgrammeTime: moment != nil,
            duration: duration,
            raw: raw
        )
    }
}
