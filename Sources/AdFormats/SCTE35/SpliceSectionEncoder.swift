// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Writes a section: `splice_info_section()` (SCTE 35 section 9.6).
struct SpliceSectionEncoder {
    private var writer: SpliceBitWriter

    static func encode(_ section: SpliceInfoSection) throws(SpliceSectionError) -> [UInt8] {
        var encoder = SpliceSectionEncoder(
            writer: SpliceBitWriter(clearedReservedBits: section.layout.clearedReservedBits)
        )
        return try encoder.encode(section)
    }

    private mutating func encode(_ section: SpliceInfoSection) throws(SpliceSectionError) -> [UInt8] {
        try self.writer.write(SpliceInfoSection.tableID, 8, "table_id")
        self.writer.flag(false)
        self.writer.flag(false)
        try self.writer.write(section.sapType.rawValue, 2, "sap_type")
        let lengthBit = self.writer.position
        try self.writer.write(0, 12, "section_length")
        try self.writer.write(0, 8, "protocol_version")
        self.writer.flag(false)
        try self.writer.write(section.encryptionAlgorithm, 6, "encryption_algorithm")
        try self.writer.write(section.ptsAdjustmentTicks, 33, "pts_adjustment")
        try self.writer.write(section.controlWordIndex, 8, "cw_index")
        try self.writer.write(section.tier, 12, "tier")
        try self.encodeCommand(section.command, section.layout)
        try self.encodeDescriptors(section.descriptors)
        self.writer.write(section.layout.alignmentStuffing)
        let length = self.writer.bytes.count + 4 - 3
        guard length <= SpliceSectionLimits.sectionLengthMax else { throw SpliceSectionError.sectionTooLong(length) }
        self.writer.set(lengthBit, 12, length)
        try self.writer.write(SectionChecksum.of(self.writer.bytes), 32, "CRC_32")
        return self.writer.bytes
    }

    // MARK: Command

    private mutating func encodeCommand(
        _ command: SpliceCommand,
        _ layout: SpliceSectionLayout
    ) throws(SpliceSectionError) {
        let lengthBit = self.writer.position
        try self.writer.write(0, 12, "splice_command_length")
        try self.writer.write(command.type, 8, "splice_command_type")
        let first = self.writer.bytes.count
        switch command {
        case .spliceNull, .bandwidthReservation: break
        case .timeSignal(let ticks): try self.encodeSpliceTime(ticks)
        case .spliceInsert(let insert): try self.encodeSpliceInsert(insert)
        case .privateCommand(let command):
            try self.writer.write(command.identifier, 32, "identifier")
            self.writer.write(command.bytes)
        }
        if !layout.commandLengthIsLegacy { self.writer.write(layout.extraCommandBytes) }
        let length = self.writer.bytes.count - first
        try self.requireCommandLength(length, of: command, layout)
        self.writer.set(lengthBit, 12, layout.commandLengthIsLegacy ? 0xFFF : length)
    }

    /// Refuses lengths that a reader would take for something else.
    private func requireCommandLength(
        _ length: Int,
        of command: SpliceCommand,
        _ layout: SpliceSectionLayout
    ) throws(SpliceSectionError) {
        guard length < SpliceSectionLimits.sectionLengthMax else {
            let detail = "\(length) bytes of command are more than a section holds"
            throw SpliceSectionError(.tooLarge, "splice_command_length", byte: 11, detail)
        }
        if case .privateCommand = command, layout.commandLengthIsLegacy {
            throw SpliceSectionError.privateCommandWithoutLength
        }
    }

    private mutating func encodeSpliceTime(_ ticks: UInt64?) throws(SpliceSectionError) {
        self.writer.flag(ticks != nil)
        guard let ticks else { return self.writer.reserved(7) }
        self.writer.reserved(6)
        try self.writer.write(ticks, 33, "pts_time")
    }

    private mutating func encodeSpliceInsert(_ insert: SpliceInsert) throws(SpliceSectionError) {
        try self.writer.write(insert.eventID, 32, "splice_event_id")
        self.writer.flag(insert.event == nil)
        self.writer.reserved(7)
        guard let event = insert.event else { return }
        self.writer.flag(event.isOutOfNetwork)
        let (isProgram, isImmediate) =
            switch event.splicePoint {
            case .programImmediate: (true, true)
            case .program: (true, false)
            case .componentsImmediate: (false, true)
            case .components: (false, false)
            }
        self.writer.flag(isProgram)
        self.writer.flag(event.breakDuration != nil)
        self.writer.flag(isImmediate)
        self.writer.flag(!event.eventIDIsCompliant)
        self.writer.reserved(3)
        switch event.splicePoint {
        case .programImmediate: break
        case .program(let ticks): try self.encodeSpliceTime(ticks)
        case .componentsImmediate(let tags):
            try self.encodeComponentCount(tags.count)
            self.writer.write(tags)
        case .components(let components):
            try self.encodeComponentCount(components.count)
            for component in components {
                try self.writer.write(component.tag, 8, "component_tag")
                try self.encodeSpliceTime(component.ptsTicks)
            }
        }
        if let duration = event.breakDuration {
            self.writer.flag(duration.autoReturn)
            self.writer.reserved(6)
            try self.writer.write(duration.ticks, 33, "duration")
        }
        try self.writer.write(event.uniqueProgramID, 16, "unique_program_id")
        try self.writer.write(event.availNumber, 8, "avail_num")
        try self.writer.write(event.availsExpected, 8, "avails_expected")
    }

    private mutating func encodeComponentCount(_ count: Int) throws(SpliceSectionError) {
        guard count > 0 else { throw SpliceSectionError.noComponents(byte: self.writer.position / 8) }
        try self.writer.write(count, 8, "component_count")
    }

    // MARK: Descriptors

    private mutating func encodeDescriptors(_ descriptors: [SpliceDescriptor]) throws(SpliceSectionError) {
        let lengthBit = self.writer.position
        try self.writer.write(0, 16, "descriptor_loop_length")
        let first = self.writer.bytes.count
        for descriptor in descriptors {
            try self.encode(descriptor)
            // Before more is written than a section can have.
            guard self.writer.bytes.count <= SpliceSectionLimits.sectionBytesMax else {
                let detail = "the descriptors are more than a section holds"
                throw SpliceSectionError(.tooLarge, "descriptor_loop_length", byte: lengthBit / 8, detail)
            }
        }
        self.writer.set(lengthBit, 16, self.writer.bytes.count - first)
    }

    private mutating func encode(_ descriptor: SpliceDescriptor) throws(SpliceSectionError) {
        try self.writer.write(descriptor.tag, 8, "splice_descriptor_tag")
        let lengthBit = self.writer.position
        try self.writer.write(0, 8, "descriptor_length")
        let first = self.writer.bytes.count
        if case .other(let other) = descriptor.content {
            try self.encode(other)
        } else {
            try self.writer.write(SpliceDescriptor.cueIdentifier, 32, "identifier")
            try self.encode(descriptor.content)
        }
        self.writer.write(descriptor.extraBytes)
        let length = self.writer.bytes.count - first
        guard length <= SpliceSectionLimits.descriptorLengthMax else {
            let detail = "\(length) bytes are more than \(SpliceSectionLimits.descriptorLengthMax)"
            throw SpliceSectionError(.tooLarge, "descriptor_length", byte: lengthBit / 8, detail)
        }
        self.writer.set(lengthBit, 8, length)
    }

    private mutating func encode(_ other: OtherDescriptor) throws(SpliceSectionError) {
        guard other.identifier != SpliceDescriptor.cueIdentifier || SpliceDescriptor.name(ofTag: other.tag) == nil
        else {
            let detail = "the tag \(other.tag) of CUEI is a descriptor that is known"
            throw SpliceSectionError(.invalidValue, "splice_descriptor_tag", byte: self.writer.position / 8 - 2, detail)
        }
        try self.writer.write(other.identifier, 32, "identifier")
        self.writer.write(other.bytes)
    }

    private mutating func encode(_ content: SpliceDescriptor.Content) throws(SpliceSectionError) {
        switch content {
        case .other: break
        case .avail(let providerAvailID): try self.writer.write(providerAvailID, 32, "provider_avail_id")
        case .dtmf(let dtmf):
            try self.writer.write(dtmf.prerollTenths, 8, "preroll")
            try self.writer.write(dtmf.characters.count, 3, "dtmf_count")
            self.writer.reserved(5)
            self.writer.write(dtmf.characters)
        case .segmentation(let segmentation): try self.encode(segmentation)
        case .time(let time):
            try self.writer.write(time.taiSeconds, 48, "TAI_seconds")
            try self.writer.write(time.taiNanoseconds, 32, "TAI_ns")
            try self.writer.write(time.utcOffsetSeconds, 16, "UTC_offset")
        case .audio(let channels):
            try self.writer.write(channels.count, 4, "audio_count")
            self.writer.reserved(4)
            for channel in channels {
                try self.writer.write(channel.componentTag, 8, "component_tag")
                try self.writer.write(channel.languageCode, 24, "ISO_code")
                try self.writer.write(channel.bitStreamMode, 3, "Bit_Stream_Mode")
                try self.writer.write(channel.channelsCode, 4, "Num_Channels")
                self.writer.flag(channel.isFullService)
            }
        }
    }

    private mutating func encode(_ descriptor: SegmentationDescriptor) throws(SpliceSectionError) {
        try self.writer.write(descriptor.eventID, 32, "segmentation_event_id")
        self.writer.flag(descriptor.segment == nil)
        self.writer.flag(!descriptor.eventIDIsCompliant)
        self.writer.reserved(6)
        guard let segment = descriptor.segment else { return }
        self.writer.flag(segment.components == nil)
        self.writer.flag(segment.durationTicks != nil)
        self.writer.flag(segment.deliveryRestrictions == nil)
        if let restrictions = segment.deliveryRestrictions {
            self.writer.flag(restrictions.isWebDeliveryAllowed)
            self.writer.flag(!restrictions.hasRegionalBlackout)
            self.writer.flag(restrictions.isArchiveAllowed)
            try self.writer.write(restrictions.devices.rawValue, 2, "device_restrictions")
        } else {
            self.writer.reserved(5)
        }
        if let components = segment.components {
            try self.encodeComponentCount(components.count)
            for component in components {
                try self.writer.write(component.tag, 8, "component_tag")
                self.writer.reserved(7)
                try self.writer.write(component.offsetTicks, 33, "pts_offset")
            }
        }
        if let ticks = segment.durationTicks { try self.writer.write(ticks, 40, "segmentation_duration") }
        try self.writer.write(segment.upid.type, 8, "segmentation_upid_type")
        try self.writer.write(segment.upid.bytes.count, 8, "segmentation_upid_length")
        self.writer.write(segment.upid.bytes)
        try self.writer.write(segment.type.rawValue, 8, "segmentation_type_id")
        try self.writer.write(segment.number, 8, "segment_num")
        try self.writer.write(segment.expected, 8, "segments_expected")
        try self.encodeSubsegment(of: segment)
    }

    private mutating func encodeSubsegment(
        of segment: SegmentationDescriptor.Segment
    ) throws(SpliceSectionError) {
        guard let subsegment = segment.subsegment else { return }
        guard segment.type.mayHaveSubsegments else {
            let name = segment.type.name ?? "type \(segment.type.rawValue)"
            let detail = "a segment “\(name)” has no parts"
            throw SpliceSectionError(.invalidValue, "sub_segment_num", byte: self.writer.position / 8, detail)
        }
        try self.writer.write(subsegment.number, 8, "sub_segment_num")
        try self.writer.write(subsegment.expected, 8, "sub_segments_expected")
    }
}
