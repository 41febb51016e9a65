// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import AdFormats
internal import CuecastBroadcast
internal import CuecastWire

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Makes signals for the gateway of the marks in the playlists of one stream.
///
/// A mark's place in the programme is the start. Where the mark has an SCTE-35 section, that says which event it is and, where the
/// mark itself does not, how long the break is. A section that cannot be read is told, and then the mark alone counts.
///
/// The same marks always make the same signals, so that two watchers of one source make one break.
package struct PlaylistSignals: Hashable, Sendable {
    /// A break that the gateway was told of.
    private struct Break: Hashable {
        var eventID: String
        /// The id that the mark has.
        var markID: String?
        /// In milliseconds since 1970.
        var start: Int
        var durationMilliseconds: Int?
        var hasEnded = false
    }

    /// The most breaks that are remembered; the oldest is forgotten.
    static let rememberedBreaksMax = 64
    /// A mark that is this close to a break's start is of that break, in milliseconds.
    private static let toleranceMilliseconds = 2_000

    private let stream: String
    private let source: String
    private let limits: SpliceSignalLimits
    /// How long ago a break may have ended that is still told, in milliseconds: what the gateway takes in programme time.
    private var latenessMilliseconds = CueRule.programmeLateMillisecondsDefault
    private var splices: SpliceSignals
    private var breaks: [Break] = []

    /// Signals of playlists that were not read yet.
    ///
    /// - Parameters:
    ///   - stream: the stream that the gateway knows.
    ///   - source: the name of the source.
    ///   - rule: which segments of SCTE-35 open a break.
    ///   - limits: the bounds.
    package init(
        stream: String,
        source: String,
        rule: SegmentationRule = SegmentationRule(),
        limits: SpliceSignalLimits = SpliceSignalLimits()
    ) {
        self.stream = stream
        self.source = source
        self.limits = limits
        self.splices = SpliceSignals(stream: stream, source: source, rule: rule, limits: limits)
    }

    /// Goes on with other rules; what was told before stays told.
    ///
    /// - Parameter rules: which segments open a break, and how late a break may be told.
    package mutating func use(_ rules: WatchedSource.Rules) {
        self.splices.use(rules.segmentation)
        self.latenessMilliseconds = rules.latenessMilliseconds
    }

    /// How many breaks are remembered.
    var rememberedBreaks: Int { self.breaks.count }

    /// Takes the events of one reading of a playlist.
    ///
    /// - Parameters:
    ///   - events: the events, in their order.
    ///   - now: the time by the wall clock, in milliseconds since 1970.
    /// - Returns: the observations, at least one for each event.
    package mutating func observations(of events: [PlaylistEvent], atMilliseconds now: Int) -> [CueObservation] {
        var observations: [CueObservation] = []
        for (index, event) in events.enumerated() {
            observations += self.observations(of: event, before: events[(index + 1)...], now: now)
        }
        return observations
    }

    private mutating func observations(
        of event: PlaylistEvent,
        before later: ArraySlice<PlaylistEvent>,
        now: Int
    ) -> [CueObservation] {
        let seen = event.seen
        if let reason = self.reasonToIgnore(event, before: later, now: now) {
            return [self.observation(seen, .ignored(reason: reason))]
        }
        var observations: [CueObservation] = []
        var fromSection: [CueObservation]?
        if let bytes = event.scte35, event.kind != .update {
            do throws(SpliceSectionError) {
                let section = try SpliceInfoSection(bytes: bytes)
                // A section that says nothing about breaks leaves it to the mark.
                if event.kind == .message || !section.signals.isEmpty {
                    let clock = CueClock.fixed(atMilliseconds: event.timeMilliseconds)
                    fromSection = self.splices.observations(of: section, raw: bytes, clock: clock, atMilliseconds: now)
                }
            } catch {
                observations.append(self.observation("\(seen), with a section", .refused(CueRefusal(error))))
            }
        }
        if event.kind == .message {
            observations += fromSection ?? []
        } else {
            observations += self.take(event, seen, fromSection, now: now)
        }
        for observation in observations { self.remember(observation, markID: event.id, now: now) }
        return observations
    }

    private func observation(_ seen: String, _ meaning: CueObservation.Meaning) -> CueObservation {
        CueObservation(stream: self.stream, source: self.source, seen: seen, meaning: meaning)
    }

    /// Why the gateway would not take an event any more; `nil`: it matters.
    ///
    /// The first playlist that is read may have a window of hours. A break without a length goes on until its end is said: the
    /// watcher must know its begin, however old, so that the end is that of the same event.
    private func reasonToIgnore(_ event: PlaylistEvent, before later: ArraySlice<PlaylistEvent>, now: Int) -> String? {
        guard self.index(of: event) == nil else { return nil }
        let (age, overflows) = now.subtractingReportingOverflow(event.timeMilliseconds)
        guard !overflows, age > self.latenessMilliseconds else { return nil }
        guard event.kind == .out || event.kind == .update else { return self.whatIsOver(age) }
        if let duration = Self.durationMilliseconds(of: event) {
            return self.whatIsOver(age - min(duration, self.limits.breakMillisecondsMax))
        }
        if let end = later.first(where: { $0.ends(event, tolerance: Self.toleranceMilliseconds) }) {
            return self.whatIsOver(now - end.timeMilliseconds)
        }
        // No signal may be about a time that is further away.
        guard age > self.limits.distanceMillisecondsMax else { return nil }
        return "it began \(Duration.milliseconds(age).inSecondsText) ago, and no end of it is known"
    }

    private func whatIsOver(_ age: Int) -> String? {
        age > self.latenessMilliseconds ? "it was over \(Duration.milliseconds(age).inSecondsText) ago" : nil
    }

    /// How long the break of a mark is, by the mark or else by its section.
    private static func durationMilliseconds(of event: PlaylistEvent) -> Int? {
        if let duration = event.durationMilliseconds { return duration }
        guard let bytes = event.scte35, let section = try? SpliceInfoSection(bytes: bytes) else { return nil }
        return section.signals.first { $0.kind == .out }?.durationTicks.map { Int($0 / 90) }
    }

    // MARK: Events of a break

    private func take(
        _ event: PlaylistEvent,
        _ seen: String,
        _ fromSection: [CueObservation]?,
        now: Int
    ) -> [CueObservation] {
        let kind: ProgrammeSignal.Kind = event.kind == .in ? .in : .out
        guard let fromSection else { return [self.ofMark(event, kind, seen, now: now)] }
        let signals = fromSection.compactMap { observation -> ProgrammeSignal? in
            guard case .signal(let signal) = observation.meaning else { return nil }
            return signal
        }
        // The section says that the mark is no break of its own, because it lies in another one for instance.
        if signals.isEmpty { return fromSection.map { self.observation("\(seen), \($0.seen)", $0.meaning) } }
        var isAboutMark = false
        var observations = signals.map { signal in
            var signal = signal
            if !isAboutMark, signal.kind == kind, kind == .out || self.knows(signal.eventID) {
                isAboutMark = true
                if kind == .out, let duration = event.durationMilliseconds { signal.duration = .milliseconds(duration) }
            }
            return self.observation(seen, self.checked(signal, now: now))
        }
        if !isAboutMark {
            observations.removeAll { observation in
                guard case .signal(let signal) = observation.meaning else { return false }
                return signal.kind == kind
            }
            observations.append(self.ofMark(event, kind, seen, now: now))
        }
        return observations
    }

    /// The meaning of a mark without an SCTE-35 section.
    private func ofMark(
        _ event: PlaylistEvent,
        _ kind: ProgrammeSignal.Kind,
        _ seen: String,
        now: Int
    ) -> CueObservation {
        let raw = event.scte35 ?? []
        let known = self.index(of: event)
        let eventID = known.map { self.breaks[$0].eventID } ?? Self.eventID(of: event)
        var signal = ProgrammeSignal(
            stream: self.stream,
            source: self.source,
            eventID: eventID,
            kind: kind,
            start: .at(Date(timeIntervalSince1970: Double(event.timeMilliseconds) / 1_000)),
            isProgrammeTime: true,
            raw: raw.count <= SpliceSectionLimits.sectionBytesMax ? raw : []
        )
        if kind == .out { signal.duration = event.durationMilliseconds.map { .milliseconds($0) } }
        return self.observation(seen, self.checked(signal, now: now))
    }

    /// A signal whose times a live stream can have, or the refusal.
    private func checked(_ signal: ProgrammeSignal, now: Int) -> CueObservation.Meaning {
        if let start = signal.startMilliseconds {
            let (distance, overflows) = start.subtractingReportingOverflow(now)
            if overflows || distance.magnitude > UInt(self.limits.distanceMillisecondsMax) {
                return .refused(.tooFar(start, now: now, max: self.limits.distanceMillisecondsMax))
            }
        }
        if let duration = signal.duration, duration > .milliseconds(self.limits.breakMillisecondsMax) {
            let milliseconds = Int(duration.inMicroseconds / 1_000)
            return .refused(.tooLong(milliseconds, max: self.limits.breakMillisecondsMax))
        }
        return .signal(signal)
    }

    /// The id of a break that nothing but its mark has a name for.
    ///
    /// Without an id it is the start, which two watchers of one playlist with dates read alike.
    private static func eventID(of event: PlaylistEvent) -> String {
        if let id = event.id, (try? SignalEventID("hls-\(id)")) != nil { return "hls-\(id)" }
        if let id = event.id { return "hls-" + String(StableHash.hash([id.utf8]), radix: 16) }
        return "hls-\(event.timeMilliseconds)"
    }

    // MARK: Breaks that are known

    private func knows(_ eventID: String) -> Bool {
        // Where nothing runs, another watcher may know the break.
        !self.breaks.contains { !$0.hasEnded } || self.breaks.contains { $0.eventID == eventID }
    }

    /// The break that a mark is about.
    private func index(of event: PlaylistEvent) -> Int? {
        if let id = event.id, let index = self.breaks.lastIndex(where: { $0.markID == id }) { return index }
        switch event.kind {
        case .in:
            return self.breaks.lastIndex {
                !$0.hasEnded && $0.start < event.timeMilliseconds && (event.id == nil || $0.markID == nil)
            }
        default:
            return self.breaks.lastIndex {
                abs($0.start - event.timeMilliseconds) <= Self.toleranceMilliseconds
                    && (event.id == nil || $0.markID == nil)
            }
        }
    }

    private mutating func remember(_ observation: CueObservation, markID: String?, now: Int) {
        guard case .signal(let signal) = observation.meaning else { return }
        let index = self.breaks.lastIndex { $0.eventID == signal.eventID }
        switch signal.kind {
        case .in:
            if let index { self.breaks[index].hasEnded = true }
            self.splices.end(signal.eventID, atMilliseconds: signal.startMilliseconds ?? now)
        case .cancel:
            if let index { self.breaks.remove(at: index) }
        case .out:
            let known = Break(
                eventID: signal.eventID,
                markID: markID ?? index.flatMap { self.breaks[$0].markID },
                start: signal.startMilliseconds ?? 0,
                durationMilliseconds: signal.duration.map { Int($0.inMicroseconds / 1_000) }
            )
            if let index { self.breaks.remove(at: index) }
            self.breaks.append(known)
            if self.breaks.count > Self.rememberedBreaksMax { self.breaks.removeFirst() }
        }
    }
}

extension PlaylistEvent {
    /// Whether the break of an earlier mark is over with this one: it is the mark's end, or the next break begins.
    fileprivate func ends(_ begin: PlaylistEvent, tolerance: Int) -> Bool {
        switch self.kind {
        case .in:
            begin.timeMilliseconds < self.timeMilliseconds
                && (begin.id == nil || self.id == nil || begin.id == self.id)
        case .out:
            begin.timeMilliseconds < self.timeMilliseconds - tolerance
                && (begin.id == nil || begin.id != self.id)
        default: false
        }
    }

    /// A sentence for people about the mark.
    fileprivate var seen: String {
        var text = "\(self.tag.rawValue) on line \(self.line)"
        if let id { text += " with id \(id)" }
        switch self.kind {
        case .out: text += ": a break begins"
        case .update: text += ": a break changes"
        case .in: text += ": a break ends"
        default: text += ": a message"
        }
        text += " at \(Timestamp.text(ofMilliseconds: self.timeMilliseconds))"
        if self.isEstimated { text += " (estimated)" }
        if let milliseconds = self.durationMilliseconds {
            text += ", lasts \(Duration.milliseconds(milliseconds).inSecondsText)"
        }
        return text
    }
}
