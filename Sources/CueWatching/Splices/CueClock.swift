// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import AdFormats
internal import CuecastWire

/// When something happens that an SCTE-35 cue is about.
///
/// A cue has times of its stream's clock only. All times here are in milliseconds since 1970.
package enum CueClock: Hashable, Sendable {
    /// Nothing says how the stream's clock goes: only a cue that says "at once" has a time.
    case none
    /// The stream's clock was at this presentation time, in ticks of 90 kHz, at this moment.
    case reference(ptsTicks: UInt64, atMilliseconds: Int)
    /// The clock of a transport stream's program.
    case program(PCRWallClock)
    /// Everything happens at this moment, whatever time the cue has: a playlist has a place for it, or a person gave a time.
    case fixed(atMilliseconds: Int)

    /// The number of values of a presentation time: 33 bits (SCTE 35 section 9.6.1).
    private static let wrap: UInt64 = 1 << 33

    /// The moment of a presentation time; `nil`: there is no reference.
    ///
    /// Of all the moments at which the stream's clock has this value, it is the nearest to the reference.
    func milliseconds(atTicks ticks: UInt64) -> Int? {
        switch self {
        case .none: return nil
        case .fixed(let moment): return moment
        case .program(let clock): return clock.milliseconds(atPTS: Int(ticks % Self.wrap))
        case .reference(let reference, let moment):
            var distance = Int((ticks &- reference) % Self.wrap)
            if distance >= Int(Self.wrap / 2) { distance -= Int(Self.wrap) }
            // A cue on a tick and a reference near it round in the same way before and after the reference.
            let milliseconds = (Double(distance) / 90).rounded()
            return moment.addingReportingOverflow(Int(milliseconds)).partialValue
        }
    }
}

/// Which segments of SCTE-35 open a break (section 10.3.3.1, table 23).
package struct SegmentationRule: Hashable, Sendable {
    /// The types that open a break unless a rule says otherwise: breaks, placement opportunities, ad blocks and ads.
    package static let usualTypes: Set<UInt8> = SegmentPolicy.usualOpeningTypes
    /// The types that may open a break: the usual ones, chapters and unscheduled events.
    package static let possibleTypes: Set<UInt8> = SegmentPolicy.possibleOpeningTypes
    /// The types that may end every break that runs: a programme starts, ends, or is terminated early.
    package static let possibleEndingTypes: Set<UInt8> = SegmentPolicy.possibleEndingTypes

    /// The start types that open a break; each is even, and its end has the next number.
    package var openingTypes: Set<UInt8> = Self.usualTypes
    /// The types of ``possibleEndingTypes`` that end every break that runs.
    package var endingTypes: Set<UInt8> = []
    /// Whether a segment that may not be delivered on the web (`web_delivery_allowed_flag` is 0) opens no break.
    package var obeysDeliveryRestrictions = false
    /// Whether a segment that is blacked out in regions (`no_regional_blackout_flag` is 0) opens no break.
    ///
    /// A gateway does not know where listeners are: it opens the break for all of them, or for none.
    package var obeysRegionalBlackout = false

    /// The rule that applies unless it is changed.
    package init() {}

    /// Whether a type opens a break, or ends one that it opened.
    func opens(_ type: SegmentationType) -> Bool { self.openingTypes.contains(type.rawValue & 0xFE) }
}

/// The bounds of what ``SpliceSignals`` takes and remembers.
package struct SpliceSignalLimits: Hashable, Sendable {
    /// How far from now a cue's time may be, in milliseconds (1 h): a live stream is not further ahead or behind.
    package var distanceMillisecondsMax = 3_600_000
    /// The longest break, in milliseconds (6 h), as the gateway has it.
    package var breakMillisecondsMax = 21_600_000
    /// How long a segment without a duration counts as running, in milliseconds (10 min), for segments inside it.
    package var unboundedMillisecondsMax = 600_000
    /// How long an event is remembered after its end, in milliseconds (10 min): then its id means another event.
    package var rememberedMilliseconds = 600_000
    /// The most events that are remembered at a time; beyond it the one that is heard of the longest ago is forgotten.
    package var rememberedEventsMax = 256
    /// Starts that are this close are of one break, in milliseconds.
    package var toleranceMilliseconds = 2_000

    /// The default limits.
    package init() {}
}
