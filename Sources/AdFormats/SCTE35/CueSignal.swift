// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The meaning of a section for breaks: something begins, ends or is cancelled.
///
/// A signal is a fact about the stream. Whether a break opens because of it is a decision of a cue policy, which this
/// library does not make.
public struct CueSignal: Hashable, Sendable {
    /// The kind of a signal.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A break or a segment begins.
        case out
        /// A break or a segment ends.
        case `in`
        /// The event with the same id is cancelled.
        case cancel
    }

    /// When it happens.
    public enum Start: Hashable, Sendable {
        /// At the nearest opportunity in the stream.
        case immediate
        /// At a presentation time of the stream, in ticks of the 90 kHz clock, with `pts_adjustment` added.
        case at(ptsTicks: UInt64)
    }

    /// The kinds of segments, from the outermost to the innermost.
    ///
    /// Segments of later cases lie in segments of earlier ones.
    public enum Level: Int, Hashable, Sendable, Comparable, CaseIterable {
        /// A programme: 0x10 to 0x12.
        case program
        /// A chapter: 0x20 and 0x21.
        case chapter
        /// An unscheduled event: 0x40 and 0x41.
        case unscheduledEvent
        /// A break: 0x22 and 0x23.
        case breakSegment
        /// An opportunity for a provider or a distributor to place ads: 0x34 to 0x37.
        case placementOpportunity
        /// Several ads: 0x44 to 0x47.
        case adBlock
        /// One ad: 0x30 to 0x33.
        case advertisement

        /// Whether the first one is further out.
        public static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
    }

    /// The kind of the signal.
    public var kind: Kind
    /// The id of the event: an end and a cancellation have the id of the begin.
    public var eventID: UInt32
    /// When it happens; without a meaning for a cancellation.
    public var start: Start
    /// How long it lasts, in ticks of the 90 kHz clock; `nil`: the section does not say.
    public var durationTicks: UInt64?
    /// Whether a break of `splice_insert()` ends by itself after its duration.
    public var autoReturn: Bool
    /// The level of the segment; `nil`: it is from `splice_insert()`, or a cancellation.
    public var level: Level?
    /// The type of the segment; `nil`: it is from `splice_insert()`, or a cancellation.
    public var segmentationType: SegmentationType?
    /// Restrictions of the delivery of the segment; `nil`: there are none.
    public var deliveryRestrictions: DeliveryRestrictions?

    /// A signal.
    public init(kind: Kind, eventID: UInt32, start: Start, durationTicks: UInt64? = nil, autoReturn: Bool = false) {
        self.kind = kind
        self.eventID = eventID
        self.start = start
        self.durationTicks = durationTicks
        self.autoReturn = autoReturn
    }
}

extension SegmentationType {
    /// The level of this type and whether it begins; `nil`: the type has no signal.
    var boundary: (level: CueSignal.Level, isBegin: Bool)? {
        switch self.rawValue {
        case 0x10: (.program, true)
        case 0x11, 0x12: (.program, false)
        case 0x20, 0x21: (.chapter, self.rawValue == 0x20)
        case 0x22, 0x23: (.breakSegment, self.rawValue == 0x22)
        case 0x30...0x33: (.advertisement, self.rawValue.isMultiple(of: 2))
        case 0x34...0x37: (.placementOpportunity, self.rawValue.isMultiple(of: 2))
        case 0x40, 0x41: (.unscheduledEvent, self.rawValue == 0x40)
        case 0x44...0x47: (.adBlock, self.rawValue.isMultiple(of: 2))
        default: nil
        }
    }
}

extension SpliceInfoSection {
    /// The signals of the section about breaks, in the order of its fields; empty: none.
    ///
    /// A segment in a section without a time, `splice_null()` for instance, has no place in the stream. Of such sections
    /// only cancellations count.
    public var signals: [CueSignal] {
        var signals: [CueSignal] = []
        if case .spliceInsert(let insert) = self.command { signals.append(self.signal(of: insert)) }
        for case .segmentation(let descriptor) in self.descriptors.map(\.content) {
            if let signal = self.signal(of: descriptor) { signals.append(signal) }
        }
        return signals
    }

    private func signal(of insert: SpliceInsert) -> CueSignal {
        guard let event = insert.event else {
            return CueSignal(kind: .cancel, eventID: insert.eventID, start: .immediate)
        }
        return CueSignal(
            kind: event.isOutOfNetwork ? .out : .in,
            eventID: insert.eventID,
            start: self.start(atOffset: 0) ?? .immediate,
            durationTicks: event.breakDuration?.ticks,
            autoReturn: event.breakDuration?.autoReturn ?? false
        )
    }

    private func signal(of descriptor: SegmentationDescriptor) -> CueSignal? {
        guard let segment = descriptor.segment else {
            return CueSignal(kind: .cancel, eventID: descriptor.eventID, start: .immediate)
        }
        guard let boundary = segment.type.boundary,
            let start = self.start(atOffset: segment.components?.first?.offsetTicks ?? 0)
        else { return nil }
        var signal = CueSignal(
            kind: boundary.isBegin ? .out : .in,
            eventID: descriptor.eventID,
            start: start,
            durationTicks: segment.durationTicks
        )
        signal.level = boundary.level
        signal.segmentationType = segment.type
        signal.deliveryRestrictions = segment.deliveryRestrictions
        return signal
    }

    /// The moment of the command, with an offset in ticks; `nil`: the command has none.
    private func start(atOffset offset: UInt64) -> CueSignal.Start? {
        let ticks: UInt64?
        switch self.command {
        case .timeSignal(let time): ticks = time
        case .spliceInsert(let insert):
            switch insert.event?.splicePoint {
            case .program(let time): ticks = time
            // The first one has the time of those that have none (section 9.9.2.1).
            case .components(let components): ticks = components.lazy.compactMap(\.ptsTicks).first
            case .programImmediate, .componentsImmediate: ticks = nil
            case nil: return nil
            }
        case .spliceNull, .bandwidthReservation, .privateCommand: return nil
        }
        // If the moment is unknown, the moment plus an offset is unknown too.
        return ticks.map { .at(ptsTicks: self.effectiveTicks($0 &+ offset)) } ?? .immediate
    }
}

extension CueSignal: CustomStringConvertible {
    /// A sentence for people.
    public var description: String {
        let id = "\(self.eventID)"
        guard self.kind != .cancel else { return "event \(id) is cancelled" }
        let what = self.segmentationType?.name.map { "“\($0)” of event \(id)" } ?? "break of event \(id)"
        var text = "\(what): \(self.kind == .out ? "begins" : "ends")"
        switch self.start {
        case .immediate: text += " at once"
        case .at(let ticks): text += " at \(TickText.seconds(ticks)) of the stream's clock"
        }
        if let ticks = self.durationTicks { text += ", lasts \(TickText.seconds(ticks))" }
        if self.kind == .out, self.segmentationType == nil {
            text += self.autoReturn ? ", ends by itself" : ", ends by another cue"
        }
        return text
    }
}
