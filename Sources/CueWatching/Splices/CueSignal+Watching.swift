// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import AdFormats
internal import CuecastWire

extension CueSignal {
    /// The name that the event is remembered by.
    var key: SpliceEvents.Key {
        SpliceEvents.Key(id: self.eventID, openingType: self.segmentationType.map { $0.rawValue & 0xFE })
    }

    /// The moment in ticks of the stream's clock; `nil`: at once.
    var ticks: UInt64? {
        if case .at(let ticks) = self.start { return ticks }
        return nil
    }
}

extension SegmentationType {
    /// The value as the specification writes it, such as `0x34`.
    var hex: String {
        let digits = String(self.rawValue, radix: 16, uppercase: true)
        return "0x" + (digits.count < 2 ? "0" : "") + digits
    }
}

extension SpliceInfoSection {
    /// The segments that have no signal, each with what was seen, and why it means nothing for breaks.
    var segmentsWithoutSignal: [(seen: String, reason: String)] {
        let signals = self.signals
        var found: [(seen: String, reason: String)] = []
        for case .segmentation(let descriptor) in self.descriptors.map(\.content) {
            guard let type = descriptor.segment?.type,
                !signals.contains(where: { $0.eventID == descriptor.eventID && $0.segmentationType == type })
            else { continue }
            let name = type.name.map { "“\($0)”" } ?? "a segment of type \(type.hex)"
            let hasTime: Bool
            switch self.command {
            case .timeSignal, .spliceInsert: hasTime = true
            default: hasTime = false
            }
            let reason =
                hasTime
                ? "segments of type \(type.hex) open no break"
                : "a segment in a section with \(self.command.name)() has no time"
            found.append(("\(name) of event \(descriptor.eventID)", reason))
        }
        return found
    }
}

extension CueRefusal {
    /// The refusal of bytes that are no section.
    init(_ error: SpliceSectionError) {
        switch error.reason {
        case .encrypted: self.init(.encrypted, error.description)
        case .unsupportedCommand: self.init(.unsupportedCommand, error.description)
        default: self.init(.unreadable, error.description)
        }
    }

    /// Nothing says when a time of the stream's clock is.
    static let noTimeReference = CueRefusal(
        .noTimeReference,
        "The cue has a time of the stream's clock, and nothing says when that is."
    )

    /// The cue is about a time that no live stream has.
    static func tooFar(_ moment: Int, now: Int, max: Int) -> CueRefusal {
        let (distance, _) = moment.subtractingReportingOverflow(now)
        let text = Duration.milliseconds(Int(clamping: distance.magnitude)).inSecondsText
        let side = moment < now ? "ago" : "ahead"
        let most = Duration.milliseconds(max).inSecondsText
        let sentence = "The time of the cue is \(text) \(side), more than \(most): it is none of a live stream."
        return CueRefusal(.tooFar, sentence)
    }

    /// The break is longer than breaks may be.
    static func tooLong(_ milliseconds: Int, max: Int) -> CueRefusal {
        let (text, most) = (Duration.milliseconds(milliseconds).inSecondsText, Duration.milliseconds(max).inSecondsText)
        return CueRefusal(.tooLong, "The break is \(text) long, more than \(most).")
    }
}
