// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The kind of a segment, and whether it begins or ends: `segmentation_type_id` (SCTE 35 section 10.3.3.1, table 23).
public struct SegmentationType: RawRepresentable, Hashable, Sendable {
    /// The value of the field; values that the table does not have are reserved.
    public let rawValue: UInt8

    /// A type by the value of the field.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Program Start.
    public static let programStart = SegmentationType(rawValue: 0x10)
    /// Program End.
    public static let programEnd = SegmentationType(rawValue: 0x11)
    /// Program Early Termination.
    public static let programEarlyTermination = SegmentationType(rawValue: 0x12)
    /// Chapter Start.
    public static let chapterStart = SegmentationType(rawValue: 0x20)
    /// Chapter End.
    public static let chapterEnd = SegmentationType(rawValue: 0x21)
    /// Break Start.
    public static let breakStart = SegmentationType(rawValue: 0x22)
    /// Break End.
    public static let breakEnd = SegmentationType(rawValue: 0x23)
    /// Provider Advertisement Start.
    public static let providerAdvertisementStart = SegmentationType(rawValue: 0x30)
    /// Provider Advertisement End.
    public static let providerAdvertisementEnd = SegmentationType(rawValue: 0x31)
    /// Distributor Advertisement Start.
    public static let distributorAdvertisementStart = SegmentationType(rawValue: 0x32)
    /// Distributor Advertisement End.
    public static let distributorAdvertisementEnd = SegmentationType(rawValue: 0x33)
    /// Provider Placement Opportunity Start.
    public static let providerPlacementOpportunityStart = SegmentationType(rawValue: 0x34)
    /// Provider Placement Opportunity End.
    public static let providerPlacementOpportunityEnd = SegmentationType(rawValue: 0x35)
    /// Distributor Placement Opportunity Start.
    public static let distributorPlacementOpportunityStart = SegmentationType(rawValue: 0x36)
    /// Distributor Placement Opportunity End.
    public static let distributorPlacementOpportunityEnd = SegmentationType(rawValue: 0x37)
    /// Unscheduled Event Start.
    public static let unscheduledEventStart = SegmentationType(rawValue: 0x40)
    /// Unscheduled Event End.
    public static let unscheduledEventEnd = SegmentationType(rawValue: 0x41)
    /// Provider Ad Block Start.
    public static let providerAdBlockStart = SegmentationType(rawValue: 0x44)
    /// Provider Ad Block End.
    public static let providerAdBlockEnd = SegmentationType(rawValue: 0x45)
    /// Distributor Ad Block Start.
    public static let distributorAdBlockStart = SegmentationType(rawValue: 0x46)
    /// Distributor Ad Block End.
    public static let distributorAdBlockEnd = SegmentationType(rawValue: 0x47)

    /// The name in the table; `nil`: the value is reserved.
    public var name: String? { Self.names[self.rawValue] }

    /// Whether a descriptor of this type may have a number of a part of the segment.
    public var mayHaveSubsegments: Bool {
        [0x30, 0x32, 0x34, 0x36, 0x38, 0x3A, 0x3C, 0x3E, 0x44, 0x46].contains(self.rawValue)
    }

    private static let names: [UInt8: String] = [
        0x00: "Not Indicated", 0x01: "Content Identification", 0x02: "Private",
        0x10: "Program Start", 0x11: "Program End", 0x12: "Program Early Termination", 0x13: "Program Breakaway",
        0x14: "Program Resumption", 0x15: "Program Runover Planned", 0x16: "Program Runover Unplanned",
        0x17: "Program Overlap Start", 0x18: "Program Blackout Override", 0x19: "Program Join",
        0x1A: "Program Immediate Resumption",
        0x20: "Chapter Start", 0x21: "Chapter End", 0x22: "Break Start", 0x23: "Break End",
        0x24: "Opening Credit Start", 0x25: "Opening Credit End", 0x26: "Closing Credit Start",
        0x27: "Closing Credit End",
        0x30: "Provider Advertisement Start", 0x31: "Provider Advertisement End",
        0x32: "Distributor Advertisement Start", 0x33: "Distributor Advertisement End",
        0x34: "Provider Placement Opportunity Start", 0x35: "Provider Placement Opportunity End",
        0x36: "Distributor Placement Opportunity Start", 0x37: "Distributor Placement Opportunity End",
        0x38: "Provider Overlay Placement Opportunity Start", 0x39: "Provider Overlay Placement Opportunity End",
        0x3A: "Distributor Overlay Placement Opportunity Start",
        0x3B: "Distributor Overlay Placement Opportunity End",
        0x3C: "Provider Promo Start", 0x3D: "Provider Promo End", 0x3E: "Distributor Promo Start",
        0x3F: "Distributor Promo End",
        0x40: "Unscheduled Event Start", 0x41: "Unscheduled Event End",
        0x42: "Alternate Content Opportunity Start", 0x43: "Alternate Content Opportunity End",
        0x44: "Provider Ad Block Start", 0x45: "Provider Ad Block End", 0x46: "Distributor Ad Block Start",
        0x47: "Distributor Ad Block End",
        0x50: "Network Start", 0x51: "Network End",
    ]
}
