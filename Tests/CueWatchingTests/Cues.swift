// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import CuecastBroadcast
import Foundation

@testable import CueWatching

/// Sections as encoders send them.
enum Cues {
    /// 2026-11-27T12:00:00Z, in milliseconds since 1970.
    static let noon = 1_795_780_800_000

    static func insert(
        _ id: UInt32,
        out: Bool = true,
        pts: UInt64? = 900_000,
        seconds: UInt64? = 30,
        autoReturn: Bool = true
    ) -> SpliceInfoSection {
        let duration = seconds.map { BreakDuration(autoReturn: autoReturn, ticks: $0 * 90_000) }
        let point: SpliceInsert.SplicePoint = pts.map { .program(ptsTicks: $0) } ?? .programImmediate
        let event = SpliceInsert.Event(isOutOfNetwork: out, splicePoint: point, breakDuration: duration)
        return SpliceInfoSection(command: .spliceInsert(SpliceInsert(eventID: id, event: event)))
    }

    static func insertIsCancelled(_ id: UInt32) -> SpliceInfoSection {
        SpliceInfoSection(command: .spliceInsert(SpliceInsert(eventID: id, event: nil)))
    }

    static func descriptor(
        _ id: UInt32,
        _ type: UInt8,
        seconds: UInt64? = nil,
        restrictions: DeliveryRestrictions? = nil
    ) -> SpliceDescriptor {
        var segment = SegmentationDescriptor.Segment(
            SegmentationType(rawValue: type),
            durationTicks: seconds.map { $0 * 90_000 }
        )
        segment.deliveryRestrictions = restrictions
        return .segmentation(SegmentationDescriptor(eventID: id, segment: segment))
    }

    static func segments(_ descriptors: [SpliceDescriptor], pts: UInt64? = 900_000) -> SpliceInfoSection {
        SpliceInfoSection(command: .timeSignal(ptsTicks: pts), descriptors: descriptors)
    }

    static func segment(
        _ id: UInt32,
        _ type: UInt8,
        pts: UInt64? = 900_000,
        seconds: UInt64? = nil
    ) -> SpliceInfoSection {
        self.segments([self.descriptor(id, type, seconds: seconds)], pts: pts)
    }

    static func segmentIsCancelled(_ id: UInt32) -> SpliceInfoSection {
        self.segments([.segmentation(SegmentationDescriptor(eventID: id, segment: nil))])
    }
}

/// A signal in one line: `out splice-7 +10000 30000`, with the start after noon in milliseconds.
func short(_ signal: ProgrammeSignal) -> String {
    var text = "\(signal.kind.rawValue) \(signal.eventID)"
    if let start = signal.startMilliseconds { text += " +\(start - Cues.noon)" }
    if let duration = signal.duration { text += " \(duration.components.seconds)s" }
    return text
}

/// What observations mean, in short lines.
func short(_ observations: [CueObservation]) -> [String] {
    observations.map { observation in
        switch observation.meaning {
        case .signal(let signal): short(signal)
        case .ignored(let reason): "ignored: \(reason)"
        case .refused(let refusal): "refused: \(refusal.code.rawValue)"
        }
    }
}

/// The signals of observations, in short lines.
func signals(_ observations: [CueObservation]) -> [String] {
    observations.compactMap { observation in
        if case .signal(let signal) = observation.meaning { return short(signal) }
        return nil
    }
}

/// One source's cues, with a clock that says 0 ticks at noon.
struct Source {
    var splices: SpliceSignals
    var now = Cues.noon
    var clock = CueClock.reference(ptsTicks: 0, atMilliseconds: Cues.noon)

    init(_ rule: SegmentationRule = SegmentationRule(), limits: SpliceSignalLimits = SpliceSignalLimits()) {
        self.splices = SpliceSignals(stream: "radio1", source: "encoder", rule: rule, limits: limits)
    }

    /// What a section means, and its observations must be at least one.
    mutating func take(_ section: SpliceInfoSection, atMilliseconds later: Int? = nil) throws -> [CueObservation] {
        if let later { self.now = Cues.noon + later }
        let bytes = try section.encoded()
        return self.splices.observations(of: bytes, clock: self.clock, atMilliseconds: self.now)
    }
}
