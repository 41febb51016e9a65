// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import AdFormats
internal import CuecastBroadcast

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The break of a source that says what begins to play, and never what will play.
///
/// An ad begins a break, or goes on with it; the first element that is no ad ends it. Where a duration is known, it is that of the ads so
/// far.
struct OnAirBreak: Hashable, Sendable {
    private enum State: Hashable {
        /// The source said nothing yet: a break may run.
        case unknown
        /// No ad plays.
        case off
        case on(AutomationSignal.Running, heard: Int)
    }

    /// How long after its last ad a break whose end is not known still counts as running, in milliseconds (10 min): its end may never
    /// be told.
    static let silenceMillisecondsMax = 600_000

    private let stream: String
    private let source: String
    private var state = State.unknown

    init(stream: String, source: String) {
        self.stream = stream
        self.source = source
    }

    /// An element begins.
    ///
    /// - Parameters:
    ///   - element: The element.
    ///   - raw: As the source wrote it, for the audit.
    ///   - now: The time, in milliseconds since 1970.
    /// - Returns: What it means.
    mutating func begin(_ element: AutomationElement, raw: [UInt8], atMilliseconds now: Int) -> CueObservation.Meaning {
        let known = self.running(at: now)
        let signal = AutomationSignal(element, running: known, atMilliseconds: now)
        let start = element.startMilliseconds ?? now
        guard signal.kind == .out else {
            if case .off = self.state { return .ignored(reason: "no ad, and none played before") }
            self.state = .off
            return .signal(self.signal(.in, at: start, duration: nil, raw: raw))
        }
        guard var running = known else {
            let end = signal.durationMilliseconds.map { start + $0 }
            self.state = .on(AutomationSignal.Running(startMilliseconds: start, endMilliseconds: end), heard: now)
            return .signal(self.signal(.out, at: start, duration: signal.durationMilliseconds, raw: raw))
        }
        guard let duration = signal.durationMilliseconds else {
            self.state = .on(running, heard: now)
            return .ignored(reason: "another ad of the same break")
        }
        running.endMilliseconds = running.startMilliseconds + duration
        self.state = .on(running, heard: now)
        // With the start of the break: a gateway that takes it late, when that is over, must not begin another one.
        return .signal(self.signal(.out, at: running.startMilliseconds, duration: duration, raw: raw))
    }

    /// The break that runs, as far as the source told of it.
    private func running(at now: Int) -> AutomationSignal.Running? {
        guard case .on(let running, let heard) = self.state else { return nil }
        // At the gateway it is over then, and the next ad begins another break, which is not as long as both.
        return now <= running.endMilliseconds ?? (heard + Self.silenceMillisecondsMax) ? running : nil
    }

    private func signal(
        _ kind: ProgrammeSignal.Kind,
        at moment: Int,
        duration: Int?,
        raw: [UInt8]
    ) -> ProgrammeSignal {
        ProgrammeSignal(
            stream: self.stream,
            source: self.source,
            eventID: AutomationMapping.eventID,
            kind: kind,
            start: .at(Date(timeIntervalSince1970: Double(moment) / 1_000)),
            // It stays where it was when the gateway was away for a while.
            isProgrammeTime: true,
            duration: duration.map { .milliseconds($0) },
            raw: Array(raw.prefix(Self.rawBytesMax))
        )
    }

    /// The most bytes of what a source wrote that a signal carries, as the gateway has it.
    private static let rawBytesMax = 4_096
    /// The most characters of what a source wrote that are shown.
    private static let shownCharactersMax = 160

    /// Text of a stranger, on one line.
    static func shown(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(self.shownCharactersMax)
            .map { $0.properties.generalCategory == .control ? "·" : $0 }
        let isCut = text.unicodeScalars.count > self.shownCharactersMax
        return "“\(String(String.UnicodeScalarView(scalars)))\(isCut ? "…" : "")”"
    }
}
