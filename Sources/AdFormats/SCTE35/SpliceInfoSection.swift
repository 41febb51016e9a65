// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// One message of SCTE 35: `splice_info_section()` (ANSI/SCTE 35 2023r1 section 9.6).
///
/// ```swift
/// let section = try SpliceInfoSection(text: "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo=")
/// for signal in section.signals { print(signal) }
/// ```
///
/// Reading and writing are pure functions. A section that was read is written with the same bytes.
public struct SpliceInfoSection: Hashable, Sendable {
    /// `table_id`: the first byte of every section (section 9.6.1).
    package static let tableID: UInt8 = 0xFC

    /// `sap_type`: the kind of stream access point at the splice point.
    public var sapType = StreamAccessPointType.notSpecified
    /// `pts_adjustment`: what is added to each `pts_time`, in ticks of the 90 kHz clock; below 2^33.
    ///
    /// A device that changes the times of a stream adds its change here (section 9.6.1).
    public var ptsAdjustmentTicks: UInt64 = 0
    /// `encryption_algorithm`: 0 to 63; without a meaning here, because encrypted sections are refused.
    public var encryptionAlgorithm: UInt8 = 0
    /// `cw_index`: the number of a key; without a meaning here, because encrypted sections are refused.
    public var controlWordIndex: UInt8 = 0
    /// `tier`: the authorization tier, 0 to 4095; 4095 is to be ignored.
    public var tier: UInt16 = 0xFFF
    /// The command.
    public var command: SpliceCommand
    /// The descriptors of the command, in order.
    public var descriptors: [SpliceDescriptor]
    /// Properties of the bytes that have no meaning.
    public var layout = SpliceSectionLayout()

    /// A section.
    ///
    /// - Parameters:
    ///   - command: its command.
    ///   - descriptors: the descriptors of the command.
    public init(command: SpliceCommand, descriptors: [SpliceDescriptor] = []) {
        self.command = command
        self.descriptors = descriptors
    }

    /// A section from its bytes, from `table_id` to `CRC_32`.
    ///
    /// - Parameter bytes: exactly the bytes of the section.
    /// - Throws: the place and the reason, where the bytes are no section that can be read.
    public init(bytes: [UInt8]) throws(SpliceSectionError) {
        var decoder = SpliceSectionDecoder(bytes)
        self = try decoder.decode()
    }

    /// The bytes of the section, with lengths and checksum.
    ///
    /// - Returns: at most ``SpliceSectionLimits/sectionBytesMax`` bytes.
    /// - Throws: the place and the field, where a value does not fit.
    public func encoded() throws(SpliceSectionError) -> [UInt8] {
        try SpliceSectionEncoder.encode(self)
    }

    /// The moment that a `pts_time` of the section means: with ``ptsAdjustmentTicks`` added, modulo 2^33 (section 9.6.1).
    ///
    /// - Parameter ptsTicks: the field, in ticks of the 90 kHz clock.
    /// - Returns: the presentation time in the stream, in ticks of the 90 kHz clock.
    public func effectiveTicks(_ ptsTicks: UInt64) -> UInt64 {
        (ptsTicks &+ self.ptsAdjustmentTicks) & 0x1_FFFF_FFFF
    }
}

/// The kind of stream access point at a splice point: `sap_type` (SCTE 35 section 9.6.1, table 6).
public enum StreamAccessPointType: UInt8, Hashable, Sendable, CaseIterable {
    /// A closed group of pictures without leading pictures.
    case type1 = 0
    /// A closed group of pictures with leading pictures.
    case type2 = 1
    /// An open group of pictures.
    case type3 = 2
    /// The section does not say.
    case notSpecified = 3
}

/// Properties of a section's bytes that have no meaning, kept so that the same bytes are written again.
///
/// A section that a program makes has none of them.
public struct SpliceSectionLayout: Hashable, Sendable {
    /// Whether `splice_command_length` is 0xFFF, as old encoders write it (SCTE 35 section 9.6.1).
    public var commandLengthIsLegacy = false
    /// Bytes between the end of the command and the descriptor loop.
    public var extraCommandBytes: [UInt8] = []
    /// `alignment_stuffing`: bytes between the descriptor loop and the checksum.
    public var alignmentStuffing: [UInt8] = []
    /// The reserved bits that are 0 instead of 1, counted from the first bit of the section, in order.
    public var clearedReservedBits: [Int] = []

    /// The layout that the specification asks for.
    public init() {}
}
