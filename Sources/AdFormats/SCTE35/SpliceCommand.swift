// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The command of a section (SCTE 35 section 9.7).
///
/// New cases may appear in a minor release.
@nonexhaustive
public enum SpliceCommand: Hashable, Sendable {
    /// `splice_null()`: nothing happens; a heartbeat, or a carrier of descriptors (section 9.7.1).
    case spliceNull
    /// `splice_insert()`: a splice event (section 9.7.3).
    case spliceInsert(SpliceInsert)
    /// `time_signal()`: a time for the descriptors, in ticks of the 90 kHz clock; `nil`: at once (section 9.7.4).
    case timeSignal(ptsTicks: UInt64?)
    /// `bandwidth_reservation()`: nothing happens (section 9.7.5).
    case bandwidthReservation
    /// `private_command()`: a command of one owner (section 9.7.6).
    case privateCommand(PrivateCommand)

    /// `splice_command_type` (section 9.6.1, table 7).
    public var type: UInt8 {
        switch self {
        case .spliceNull: 0x00
        case .spliceInsert: 0x05
        case .timeSignal: 0x06
        case .bandwidthReservation: 0x07
        case .privateCommand: 0xFF
        }
    }

    /// The name of the command in the specification.
    public var name: String { Self.name(ofType: self.type) ?? "" }

    /// The name of a `splice_command_type`; `nil`: it is reserved.
    ///
    /// - Parameter type: the value of the field.
    /// - Returns: the name in the specification, without parentheses.
    static func name(ofType type: UInt8) -> String? {
        switch type {
        case 0x00: "splice_null"
        case 0x04: "splice_schedule"
        case 0x05: "splice_insert"
        case 0x06: "time_signal"
        case 0x07: "bandwidth_reservation"
        case 0xFF: "private_command"
        default: nil
        }
    }
}

/// A command that one owner defines: `private_command()` (SCTE 35 section 9.7.6).
public struct PrivateCommand: Hashable, Sendable {
    /// `identifier`: the registered number of the owner.
    public var identifier: UInt32
    /// `private_byte`: the content.
    public var bytes: [UInt8]

    /// A private command.
    public init(identifier: UInt32, bytes: [UInt8]) {
        self.identifier = identifier
        self.bytes = bytes
    }
}

/// A splice event: `splice_insert()` (SCTE 35 section 9.7.3).
public struct SpliceInsert: Hashable, Sendable {
    /// `splice_event_id`: the number of the event.
    public var eventID: UInt32
    /// The event; `nil`: the event with this number is cancelled.
    public var event: Event?

    /// A splice event, or with `nil` its cancellation.
    public init(eventID: UInt32, event: Event?) {
        self.eventID = eventID
        self.event = event
    }

    /// The event of a command that does not cancel.
    public struct Event: Hashable, Sendable {
        /// `out_of_network_indicator`: whether the event leaves the programme; otherwise it returns to it.
        public var isOutOfNetwork: Bool
        /// Where in the stream the event is.
        public var splicePoint: SplicePoint
        /// `break_duration()`: how long the break is; `nil`: the command does not say.
        public var breakDuration: BreakDuration?
        /// Whether the sender says that event ids are unique as section 9.9.3 asks: `event_id_compliance_flag` is 0.
        public var eventIDIsCompliant = false
        /// `unique_program_id`: the number of the programme.
        public var uniqueProgramID: UInt16 = 0
        /// `avail_num`: the number of the break in the programme; 0: not used.
        public var availNumber: UInt8 = 0
        /// `avails_expected`: the number of breaks in the programme; 0: not used.
        public var availsExpected: UInt8 = 0

        /// An event.
        public init(isOutOfNetwork: Bool, splicePoint: SplicePoint, breakDuration: BreakDuration? = nil) {
            self.isOutOfNetwork = isOutOfNetwork
            self.splicePoint = splicePoint
            self.breakDuration = breakDuration
        }
    }

    /// Where in the stream an event is: `program_splice_flag`, `splice_immediate_flag` and `splice_time()`.
    public enum SplicePoint: Hashable, Sendable {
        /// All components, at the nearest opportunity.
        case programImmediate
        /// All components, at a time in ticks of the 90 kHz clock; `nil`: `time_specified_flag` is 0.
        case program(ptsTicks: UInt64?)
        /// The components with these tags, at the nearest opportunity (deprecated).
        case componentsImmediate(tags: [UInt8])
        /// Components, each with its time (deprecated).
        case components([Component])
    }

    /// A component of the programme that is spliced by itself.
    public struct Component: Hashable, Sendable {
        /// `component_tag`: the tag of the stream.
        public var tag: UInt8
        /// `pts_time` in ticks of the 90 kHz clock; `nil`: the time of the first component.
        public var ptsTicks: UInt64?

        /// A component.
        public init(tag: UInt8, ptsTicks: UInt64?) {
            self.tag = tag
            self.ptsTicks = ptsTicks
        }
    }
}

/// How long a break is: `break_duration()` (SCTE 35 section 9.8.2).
public struct BreakDuration: Hashable, Sendable {
    /// `auto_return`: whether the break ends by itself after the duration.
    ///
    /// Otherwise another command ends it, and the duration is a safety net.
    public var autoReturn: Bool
    /// `duration` in ticks of the 90 kHz clock; below 2^33.
    public var ticks: UInt64

    /// A duration.
    public init(autoReturn: Bool, ticks: UInt64) {
        self.autoReturn = autoReturn
        self.ticks = ticks
    }
}
