// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A segment begins, ends or is cancelled: `segmentation_descriptor()` (SCTE 35 section 10.3.3).
public struct SegmentationDescriptor: Hashable, Sendable {
    /// `segmentation_event_id`: the number of the event.
    public var eventID: UInt32
    /// Whether the sender says that event ids are unique as section 9.9.3 asks:
    /// `segmentation_event_id_compliance_indicator` is 0.
    public var eventIDIsCompliant = false
    /// The segment; `nil`: the event with this number is cancelled.
    public var segment: Segment?

    /// A segmentation event, or with `nil` its cancellation.
    public init(eventID: UInt32, segment: Segment?) {
        self.eventID = eventID
        self.segment = segment
    }

    /// The segment of a descriptor that does not cancel.
    public struct Segment: Hashable, Sendable {
        /// `segmentation_type_id`: the kind of segment, and whether it begins or ends.
        public var type: SegmentationType
        /// `segmentation_duration` in ticks of the 90 kHz clock, below 2^40; `nil`: the descriptor does not say.
        public var durationTicks: UInt64?
        /// Restrictions of the delivery; `nil`: there are none.
        public var deliveryRestrictions: DeliveryRestrictions?
        /// The components that are segmented by themselves (deprecated); `nil`: the whole programme is.
        public var components: [Component]?
        /// `segmentation_upid()`: an identifier of the content.
        public var upid = SegmentationUPID.notUsed
        /// `segment_num`: the number of the segment in its collection.
        public var number: UInt8 = 0
        /// `segments_expected`: the number of segments in the collection.
        public var expected: UInt8 = 0
        /// `sub_segment_num` and `sub_segments_expected`; `nil`: they are not there.
        ///
        /// Only some types have them (``SegmentationType/mayHaveSubsegments``).
        public var subsegment: Subsegment?

        /// A segment.
        public init(_ type: SegmentationType, durationTicks: UInt64? = nil) {
            self.type = type
            self.durationTicks = durationTicks
        }
    }

    /// A component of the programme that is segmented by itself.
    public struct Component: Hashable, Sendable {
        /// `component_tag`: the tag of the stream.
        public var tag: UInt8
        /// `pts_offset`: what is added to the time of the command, in ticks of the 90 kHz clock; below 2^33.
        public var offsetTicks: UInt64

        /// A component.
        public init(tag: UInt8, offsetTicks: UInt64) {
            self.tag = tag
            self.offsetTicks = offsetTicks
        }
    }

    /// A part of a segment.
    public struct Subsegment: Hashable, Sendable {
        /// `sub_segment_num`: the number of the part.
        public var number: UInt8
        /// `sub_segments_expected`: the number of parts.
        public var expected: UInt8

        /// A part.
        public init(number: UInt8, expected: UInt8) {
            self.number = number
            self.expected = expected
        }
    }
}

/// Restrictions of the delivery of a segment (SCTE 35 section 10.3.3.1).
public struct DeliveryRestrictions: Hashable, Sendable {
    /// `web_delivery_allowed_flag`: whether the segment may be delivered on the web.
    public var isWebDeliveryAllowed: Bool
    /// `no_regional_blackout_flag` is 0: whether the segment is blacked out in regions.
    public var hasRegionalBlackout: Bool
    /// `archive_allowed_flag`: whether the segment may be recorded.
    public var isArchiveAllowed: Bool
    /// `device_restrictions`: the group of devices that the segment is restricted for.
    public var devices: DeviceRestriction

    /// Restrictions.
    public init(
        isWebDeliveryAllowed: Bool,
        hasRegionalBlackout: Bool,
        isArchiveAllowed: Bool,
        devices: DeviceRestriction = .noRestriction
    ) {
        self.isWebDeliveryAllowed = isWebDeliveryAllowed
        self.hasRegionalBlackout = hasRegionalBlackout
        self.isArchiveAllowed = isArchiveAllowed
        self.devices = devices
    }

    /// The groups of devices (table 21); which devices are in a group is agreed elsewhere.
    public enum DeviceRestriction: UInt8, Hashable, Sendable, CaseIterable {
        /// Restrict Group 0.
        case group0 = 0
        /// Restrict Group 1.
        case group1 = 1
        /// Restrict Group 2.
        case group2 = 2
        /// No restriction.
        case noRestriction = 3
    }
}
