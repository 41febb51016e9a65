// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Reads a section: `splice_info_section()` (SCTE 35 section 9.6).
struct SpliceSectionDecoder {
    private(set) var reader: SpliceBitReader
    /// Whether a wrong checksum refuses the section.
    private let isChecksumRequired: Bool

    init(_ bytes: [UInt8], isChecksumRequired: Bool = true, isRecording: Bool = false) {
        self.reader = SpliceBitReader(bytes, isRecording: isRecording)
        self.isChecksumRequired = isChecksumRequired
    }

    mutating func decode() throws(SpliceSectionError) -> SpliceInfoSection {
        let sapType = try self.decodeStart()
        let adjustment = try self.decodeEncryption()
        let controlWordIndex = try self.reader.byte("cw_index")
        let tier = try self.reader.read(12, "tier")
        var layout = SpliceSectionLayout()
        let command = try self.decodeCommand(&layout)
        let descriptors = try self.decodeDescriptors()
        layout.alignmentStuffing = try self.reader.bytes(self.reader.bytesLeft, "alignment_stuffing")
        self.reader.end += 32
        _ = try self.reader.read(32, "CRC_32")
        layout.clearedReservedBits = self.reader.clearedReservedBits
        var section = SpliceInfoSection(command: command, descriptors: descriptors)
        section.sapType = sapType
        section.ptsAdjustmentTicks = adjustment.ticks
        section.encryptionAlgorithm = adjustment.algorithm
        section.controlWordIndex = controlWordIndex
        section.tier = UInt16(tier)
        section.layout = layout
        return section
    }

    /// The checksum that the section states and the one of its bytes, where they differ; `nil`: they are equal.
    var checksumError: SpliceSectionError? {
        let bytes = self.reader.bytes
        guard bytes.count >= 4, SectionChecksum.of(bytes) != 0 else { return nil }
        let stated = bytes.suffix(4).number(UInt32.self)
        let computed = SectionChecksum.of(bytes.dropLast(4))
        let found = HexText.lower(bytes.suffix(4))
        let right = HexText.lower(computed.lowestBytes(4))
        let detail = "0x\(found) is not the checksum of the bytes before it, 0x\(right)"
        let reason = SpliceSectionError.Reason.wrongChecksum(stated: stated, computed: computed)
        return SpliceSectionError(reason, "CRC_32", byte: bytes.count - 4, detail)
    }

    /// The fields up to `section_length`, and the checksum.
    private mutating func decodeStart() throws(SpliceSectionError) -> StreamAccessPointType {
        let count = self.reader.bytes.count
        let table = try self.reader.byte("table_id")
        guard table == SpliceInfoSection.tableID else {
            let detail = "0x\(HexText.lower([table])) is another table; a splice information section has 0xfc"
            throw SpliceSectionError(.notASection, "table_id", byte: 0, detail)
        }
        for name in ["section_syntax_indicator", "private_indicator"] where try self.reader.flag(name) {
            throw SpliceSectionError(.notASection, name, byte: 1, "the bit is 1, and it must be 0")
        }
        let sapType = try self.reader.read(2, "sap_type")
        let length = Int(try self.reader.read(12, "section_length"))
        func refuse(_ reason: SpliceSectionError.Reason, _ detail: String) -> SpliceSectionError {
            SpliceSectionError(reason, "section_length", byte: 1, detail)
        }
        guard length <= SpliceSectionLimits.sectionLengthMax else { throw SpliceSectionError.sectionTooLong(length) }
        guard count >= length + 3 else {
            throw refuse(.truncated, "\(length) bytes must follow, and \(count - 3) do")
        }
        guard count == length + 3 else {
            throw refuse(.wrongLength, "\(length) bytes must follow, and there are more")
        }
        // 11 bytes up to splice_command_type, descriptor_loop_length and CRC_32.
        guard length >= 17 else { throw refuse(.wrongLength, "\(length) is less than 17, the shortest section") }
        if self.isChecksumRequired, let error = self.checksumError { throw error }
        self.reader.end = (count - 4) * 8
        // Two bits have four values, and all of them have a case.
        return StreamAccessPointType(rawValue: UInt8(sapType)) ?? .notSpecified
    }

    private mutating func decodeEncryption() throws(SpliceSectionError) -> (algorithm: UInt8, ticks: UInt64) {
        let version = try self.reader.byte("protocol_version")
        guard version == 0 else {
            throw SpliceSectionError(.notASection, "protocol_version", byte: 3, "\(version) is not known; 0 is")
        }
        let isEncrypted = try self.reader.flag("encrypted_packet")
        let algorithm = try self.reader.read(6, "encryption_algorithm")
        guard !isEncrypted else {
            let detail = "the section is encrypted with algorithm \(algorithm), and encrypted sections are not read"
            throw SpliceSectionError(.encrypted, "encrypted_packet", byte: 4, detail)
        }
        return (UInt8(algorithm), try self.reader.read(33, "pts_adjustment"))
    }

    // MARK: Command

    private mutating func decodeCommand(
        _ layout: inout SpliceSectionLayout
    ) throws(SpliceSectionError) -> SpliceCommand {
        let lengthByte = self.reader.byte
        let length = Int(try self.reader.read(12, "splice_command_length"))
        let typeByte = self.reader.byte
        let type = try self.reader.byte("splice_command_type")
        let sectionEnd = self.reader.end
        layout.commandLengthIsLegacy = length == 0xFFF
        if length != 0xFFF {
            // Behind the command there are the two bytes of descriptor_loop_length.
            guard length + 2 <= self.reader.bytesLeft else {
                let left = max(0, self.reader.bytesLeft - 2)
                let detail = "\(length) bytes of command do not fit: \(left) are left for it"
                throw SpliceSectionError(.wrongLength, "splice_command_length", byte: lengthByte, detail)
            }
            self.reader.end = self.reader.position + length * 8
        }
        self.reader.structureName = SpliceCommand.name(ofType: type) ?? "splice_command"
        let command = try self.decodeCommand(type, at: typeByte, hasLength: length != 0xFFF)
        if length != 0xFFF {
            layout.extraCommandBytes = try self.reader.bytes(self.reader.bytesLeft, "unknown bytes")
        }
        self.reader.structureName = "splice_info_section"
        self.reader.end = sectionEnd
        return command
    }

    private mutating func decodeCommand(
        _ type: UInt8,
        at byte: Int,
        hasLength: Bool
    ) throws(SpliceSectionError) -> SpliceCommand {
        switch type {
        case 0x00: return .spliceNull
        case 0x05: return .spliceInsert(try self.decodeSpliceInsert())
        case 0x06: return .timeSignal(ptsTicks: try self.decodeSpliceTime())
        case 0x07: return .bandwidthReservation
        case 0xFF:
            guard hasLength else { throw SpliceSectionError.privateCommandWithoutLength }
            let identifier = try self.reader.read(32, "identifier")
            let bytes = try self.reader.bytes(self.reader.bytesLeft, "private_byte")
            return .privateCommand(PrivateCommand(identifier: UInt32(identifier), bytes: bytes))
        case 0x04:
            let detail = "splice_schedule() is not read: its events have a wall clock time and no place in the stream"
            throw SpliceSectionError(.unsupportedCommand(type), "splice_command_type", byte: byte, detail)
        default:
            let detail = "0x\(HexText.lower([type])) is reserved"
            throw SpliceSectionError(.unsupportedCommand(type), "splice_command_type", byte: byte, detail)
        }
    }

    private mutating func decodeSpliceTime() throws(SpliceSectionError) -> UInt64? {
        guard try self.reader.flag("time_specified_flag") else {
            try self.reader.reserved(7)
            return nil
        }
        try self.reader.reserved(6)
        return try self.reader.read(33, "pts_time")
    }

    private mutating func decodeSpliceInsert() throws(SpliceSectionError) -> SpliceInsert {
        let eventID = UInt32(try self.reader.read(32, "splice_event_id"))
        let isCancelled = try self.reader.flag("splice_event_cancel_indicator")
        try self.reader.reserved(7)
        guard !isCancelled else { return SpliceInsert(eventID: eventID, event: nil) }
        let isOut = try self.reader.flag("out_of_network_indicator")
        let isProgram = try self.reader.flag("program_splice_flag")
        let hasDuration = try self.reader.flag("duration_flag")
        let isImmediate = try self.reader.flag("splice_immediate_flag")
        let isNotCompliant = try self.reader.flag("event_id_compliance_flag")
        try self.reader.reserved(3)
        let point = try self.decodeSplicePoint(isProgram: isProgram, isImmediate: isImmediate)
        let duration = hasDuration ? try self.decodeBreakDuration() : nil
        var event = SpliceInsert.Event(isOutOfNetwork: isOut, splicePoint: point, breakDuration: duration)
        event.eventIDIsCompliant = !isNotCompliant
        event.uniqueProgramID = UInt16(try self.reader.read(16, "unique_program_id"))
        event.availNumber = try self.reader.byte("avail_num")
        event.availsExpected = try self.reader.byte("avails_expected")
        return SpliceInsert(eventID: eventID, event: event)
    }

    private mutating func decodeSplicePoint(
        isProgram: Bool,
        isImmediate: Bool
    ) throws(SpliceSectionError) -> SpliceInsert.SplicePoint {
        if isProgram { return isImmediate ? .programImmediate : .program(ptsTicks: try self.decodeSpliceTime()) }
        let count = try self.decodeComponentCount()
        if isImmediate {
            var tags: [UInt8] = []
            for _ in 0..<count { tags.append(try self.reader.byte("component_tag")) }
            return .componentsImmediate(tags: tags)
        }
        var components: [SpliceInsert.Component] = []
        for _ in 0..<count {
            let tag = try self.reader.byte("component_tag")
            components.append(SpliceInsert.Component(tag: tag, ptsTicks: try self.decodeSpliceTime()))
        }
        return .components(components)
    }

    private mutating func decodeComponentCount() throws(SpliceSectionError) -> Int {
        let byte = self.reader.byte
        let count = Int(try self.reader.byte("component_count"))
        guard count > 0 else { throw SpliceSectionError.noComponents(byte: byte) }
        return count
    }

    private mutating func decodeBreakDuration() throws(SpliceSectionError) -> BreakDuration {
        let autoReturn = try self.reader.flag("auto_return")
        try self.reader.reserved(6)
        return BreakDuration(autoReturn: autoReturn, ticks: try self.reader.read(33, "duration"))
    }

    // MARK: Descriptors

    private mutating func decodeDescriptors() throws(SpliceSectionError) -> [SpliceDescriptor] {
        let byte = self.reader.byte
        let length = Int(try self.reader.read(16, "descriptor_loop_length"))
        guard length <= self.reader.bytesLeft else {
            let detail = "\(length) bytes of descriptors do not fit: \(self.reader.bytesLeft) are left before CRC_32"
            throw SpliceSectionError(.wrongLength, "descriptor_loop_length", byte: byte, detail)
        }
        let sectionEnd = self.reader.end
        let loopEnd = self.reader.position + length * 8
        var descriptors: [SpliceDescriptor] = []
        while self.reader.position < loopEnd {
            self.reader.end = loopEnd
            self.reader.structureName = "splice_descriptor"
            self.reader.descriptorNumber = descriptors.count + 1
            descriptors.append(try self.decodeDescriptor())
        }
        self.reader.structureName = "splice_info_section"
        self.reader.descriptorNumber = 0
        self.reader.end = sectionEnd
        return descriptors
    }

    private mutating func decodeDescriptor() throws(SpliceSectionError) -> SpliceDescriptor {
        let tag = try self.reader.byte("splice_descriptor_tag")
        let lengthByte = self.reader.byte
        let length = Int(try self.reader.byte("descriptor_length"))
        let maximum = min(self.reader.bytesLeft, SpliceSectionLimits.descriptorLengthMax)
        guard (4...max(4, maximum)).contains(length), length <= maximum else {
            let detail =
                length < 4
                ? "\(length) bytes are too few for the identifier, which has 4"
                : "\(length) bytes do not fit: at most \(maximum) may follow here"
            throw SpliceSectionError(.wrongLength, "descriptor_length", byte: lengthByte, detail)
        }
        self.reader.end = self.reader.position + length * 8
        let identifier = UInt32(try self.reader.read(32, "identifier"))
        guard identifier == SpliceDescriptor.cueIdentifier, let name = SpliceDescriptor.name(ofTag: tag) else {
            let bytes = try self.reader.bytes(self.reader.bytesLeft, "private_byte")
            return SpliceDescriptor(.other(OtherDescriptor(tag: tag, identifier: identifier, bytes: bytes)))
        }
        self.reader.structureName = name
        var descriptor = SpliceDescriptor(try self.decodeContent(tag))
        descriptor.extraBytes = try self.reader.bytes(self.reader.bytesLeft, "unknown bytes")
        return descriptor
    }

    private mutating func decodeContent(_ tag: UInt8) throws(SpliceSectionError) -> SpliceDescriptor.Content {
        switch tag {
        case 0: return .avail(providerAvailID: UInt32(try self.reader.read(32, "provider_avail_id")))
        case 1:
            let preroll = try self.reader.byte("preroll")
            let count = Int(try self.reader.read(3, "dtmf_count"))
            try self.reader.reserved(5)
            return .dtmf(
                DTMFDescriptor(prerollTenths: preroll, characters: try self.reader.bytes(count, "DTMF_char"))
            )
        case 2: return .segmentation(try self.decodeSegmentation())
        case 3:
            let seconds = try self.reader.read(48, "TAI_seconds")
            let nanoseconds = UInt32(try self.reader.read(32, "TAI_ns"))
            let offset = UInt16(try self.reader.read(16, "UTC_offset"))
            return .time(
                TimeDescriptor(taiSeconds: seconds, taiNanoseconds: nanoseconds, utcOffsetSeconds: offset)
            )
        default:
            let count = Int(try self.reader.read(4, "audio_count"))
            try self.reader.reserved(4)
            var channels: [AudioChannel] = []
            for _ in 0..<count {
                channels.append(
                    AudioChannel(
                        componentTag: try self.reader.byte("component_tag"),
                        languageCode: UInt32(try self.reader.read(24, "ISO_code")),
                        bitStreamMode: UInt8(try self.reader.read(3, "Bit_Stream_Mode")),
                        channelsCode: UInt8(try self.reader.read(4, "Num_Channels")),
                        isFullService: try self.reader.flag("Full_Srvc_Audio")
                    )
                )
            }
            return .audio(channels)
        }
    }

    private mutating func decodeSegmentation() throws(SpliceSectionError) -> SegmentationDescriptor {
        let eventID = UInt32(try self.reader.read(32, "segmentation_event_id"))
        let isCancelled = try self.reader.flag("segmentation_event_cancel_indicator")
        let isNotCompliant = try self.reader.flag("segmentation_event_id_compliance_indicator")
        try self.reader.reserved(6)
        var descriptor = SegmentationDescriptor(eventID: eventID, segment: nil)
        descriptor.eventIDIsCompliant = !isNotCompliant
        if !isCancelled { descriptor.segment = try self.decodeSegment() }
        return descriptor
    }

    private mutating func decodeSegment() throws(SpliceSectionError) -> SegmentationDescriptor.Segment {
        let isProgram = try self.reader.flag("program_segmentation_flag")
        let hasDuration = try self.reader.flag("segmentation_duration_flag")
        let isNotRestricted = try self.reader.flag("delivery_not_restricted_flag")
        let restrictions = try self.decodeRestrictions(isNotRestricted: isNotRestricted)
        var components: [SegmentationDescriptor.Component]?
        if !isProgram {
            var found: [SegmentationDescriptor.Component] = []
            for _ in 0..<(try self.decodeComponentCount()) {
                let tag = try self.reader.byte("component_tag")
                try self.reader.reserved(7)
                found.append(
                    SegmentationDescriptor.Component(tag: tag, offsetTicks: try self.reader.read(33, "pts_offset"))
                )
            }
            components = found
        }
        let duration = hasDuration ? try self.reader.read(40, "segmentation_duration") : nil
        let upidType = try self.reader.byte("segmentation_upid_type")
        let upidLength = Int(try self.reader.byte("segmentation_upid_length"))
        let upid = SegmentationUPID(type: upidType, bytes: try self.reader.bytes(upidLength, "segmentation_upid"))
        if upidLength > 0 { self.reader.note(upid.text) }
        let type = SegmentationType(rawValue: try self.reader.byte("segmentation_type_id"))
        var segment = SegmentationDescriptor.Segment(type, durationTicks: duration)
        segment.deliveryRestrictions = restrictions
        segment.components = components
        segment.upid = upid
        segment.number = try self.reader.byte("segment_num")
        segment.expected = try self.reader.byte("segments_expected")
        // The length of the descriptor says whether they are there (section 10.3.3.1).
        if type.mayHaveSubsegments, self.reader.bytesLeft >= 2 {
            segment.subsegment = SegmentationDescriptor.Subsegment(
                number: try self.reader.byte("sub_segment_num"),
                expected: try self.reader.byte("sub_segments_expected")
            )
        }
        return segment
    }

    private mutating func decodeRestrictions(
        isNotRestricted: Bool
    ) throws(SpliceSectionError) -> DeliveryRestrictions? {
        guard !isNotRestricted else {
            try self.reader.reserved(5)
            return nil
        }
        let isWebDeliveryAllowed = try self.reader.flag("web_delivery_allowed_flag")
        let hasNoBlackout = try self.reader.flag("no_regional_blackout_flag")
        let isArchiveAllowed = try self.reader.flag("archive_allowed_flag")
        let devices = UInt8(try self.reader.read(2, "device_restrictions"))
        return DeliveryRestrictions(
            isWebDeliveryAllowed: isWebDeliveryAllowed,
            hasRegionalBlackout: !hasNoBlackout,
            isArchiveAllowed: isArchiveAllowed,
            // Two bits have four values, and all of them have a case.
            devices: DeliveryRestrictions.DeviceRestriction(rawValue: devices) ?? .noRestriction
        )
    }
}
