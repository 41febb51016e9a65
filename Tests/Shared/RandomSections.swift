// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import TestSupport

extension SeededGenerator {
    /// A section that the specification allows, with a layout that it asks for.
    mutating func section() -> SpliceInfoSection {
        var section = SpliceInfoSection(
            command: self.spliceCommand(),
            descriptors: self.list(0...4) { $0.spliceDescriptor() }
        )
        section.sapType = self.pick(StreamAccessPointType.allCases)
        section.ptsAdjustmentTicks = self.ticks()
        section.controlWordIndex = self.number(0...255)
        section.tier = self.number(0...0xFFF)
        return section
    }

    /// A section with bytes that have no meaning here and there.
    mutating func oddSection() -> SpliceInfoSection {
        var section = self.section()
        section.encryptionAlgorithm = self.number(0...63)
        if case .privateCommand = section.command {} else { section.layout.commandLengthIsLegacy = self.bool() }
        if !section.layout.commandLengthIsLegacy, section.command.type != 0xFF {
            section.layout.extraCommandBytes = self.bytes(0...3)
        }
        section.layout.alignmentStuffing = self.bytes(0...7)
        for index in section.descriptors.indices where self.bool() {
            switch section.descriptors[index].content {
            // These end where their length says.
            case .other, .segmentation: break
            default: section.descriptors[index].extraBytes = self.bytes(0...3)
            }
        }
        return section
    }

    mutating func ticks() -> UInt64 { self.number(0...0x1_FFFF_FFFF) }

    mutating func spliceCommand() -> SpliceCommand {
        switch Int.random(in: 0..<8, using: &self) {
        case 0: .spliceNull
        case 1: .bandwidthReservation
        case 2: .privateCommand(PrivateCommand(identifier: self.number(0...UInt32.max), bytes: self.bytes(0...40)))
        case 3, 4: .timeSignal(ptsTicks: self.maybe { $0.ticks() })
        default:
            .spliceInsert(
                SpliceInsert(eventID: self.number(0...UInt32.max), event: self.maybe { $0.spliceEvent() })
            )
        }
    }

    private mutating func spliceEvent() -> SpliceInsert.Event {
        let point: SpliceInsert.SplicePoint =
            switch Int.random(in: 0..<4, using: &self) {
            case 0: .programImmediate
            case 1: .componentsImmediate(tags: self.bytes(1...5))
            case 2:
                .components(
                    self.list(1...5) { generator in
                        SpliceInsert.Component(
                            tag: generator.number(0...255),
                            ptsTicks: generator.maybe { $0.ticks() }
                        )
                    }
                )
            default: .program(ptsTicks: self.maybe { $0.ticks() })
            }
        var event = SpliceInsert.Event(
            isOutOfNetwork: self.bool(),
            splicePoint: point,
            breakDuration: self.maybe { BreakDuration(autoReturn: $0.bool(), ticks: $0.ticks()) }
        )
        event.eventIDIsCompliant = self.bool()
        event.uniqueProgramID = self.number(0...UInt16.max)
        event.availNumber = self.number(0...255)
        event.availsExpected = self.number(0...255)
        return event
    }

    mutating func spliceDescriptor() -> SpliceDescriptor {
        switch Int.random(in: 0..<9, using: &self) {
        case 0: return SpliceDescriptor(.avail(providerAvailID: self.number(0...UInt32.max)))
        case 1:
            let characters = self.list(0...7) { $0.pick(Array("0123456789*#".utf8)) }
            return SpliceDescriptor(
                .dtmf(DTMFDescriptor(prerollTenths: self.number(0...255), characters: characters))
            )
        case 2:
            let time = TimeDescriptor(
                taiSeconds: self.number(0...0xFFFF_FFFF_FFFF),
                taiNanoseconds: self.number(0...UInt32.max),
                utcOffsetSeconds: self.number(0...UInt16.max)
            )
            return SpliceDescriptor(.time(time))
        case 3:
            return SpliceDescriptor(
                .audio(
                    self.list(0...15) { generator in
                        AudioChannel(
                            componentTag: generator.number(0...255),
                            languageCode: generator.pick([0x656E67, 0x646575, 0x667261]),
                            bitStreamMode: generator.number(0...7),
                            channelsCode: generator.number(0...15),
                            isFullService: generator.bool()
                        )
                    }
                )
            )
        case 4:
            let isOurs = self.bool()
            let other = OtherDescriptor(
                tag: self.number((isOurs ? 5 : 0)...255),
                identifier: isOurs ? SpliceDescriptor.cueIdentifier : self.number(0...0x4000_0000),
                bytes: self.bytes(0...40)
            )
            return SpliceDescriptor(.other(other))
        default: return .segmentation(self.segmentation())
        }
    }

    mutating func segmentation() -> SegmentationDescriptor {
        var descriptor = SegmentationDescriptor(
            eventID: self.number(0...UInt32.max),
            segment: Int.random(in: 0..<8, using: &self) == 0 ? nil : self.segment()
        )
        descriptor.eventIDIsCompliant = self.bool()
        return descriptor
    }

    private mutating func segment() -> SegmentationDescriptor.Segment {
        var segment = SegmentationDescriptor.Segment(
            SegmentationType(rawValue: self.pick([0x10, 0x22, 0x23, 0x30, 0x34, 0x36, 0x44, self.number(0...255)])),
            durationTicks: self.maybe { $0.number(0...0xFF_FFFF_FFFF) }
        )
        segment.deliveryRestrictions = self.maybe {
            DeliveryRestrictions(
                isWebDeliveryAllowed: $0.bool(),
                hasRegionalBlackout: $0.bool(),
                isArchiveAllowed: $0.bool(),
                devices: $0.pick(DeliveryRestrictions.DeviceRestriction.allCases)
            )
        }
        if Int.random(in: 0..<6, using: &self) == 0 {
            segment.components = self.list(1...4) {
                SegmentationDescriptor.Component(tag: $0.number(0...255), offsetTicks: $0.ticks())
            }
        }
        segment.upid = self.upid()
        segment.number = self.number(0...255)
        segment.expected = self.number(0...255)
        if segment.type.mayHaveSubsegments {
            segment.subsegment = self.maybe {
                SegmentationDescriptor.Subsegment(number: $0.number(0...255), expected: $0.number(0...255))
            }
        }
        return segment
    }

    private mutating func upid() -> SegmentationUPID {
        switch Int.random(in: 0..<5, using: &self) {
        case 0: return .notUsed
        case 1: return SegmentationUPID(type: 0x08, bytes: self.bytes(8...8))
        case 2:
            let text = self.list(1...60) { $0.pick(Array("abcXYZ 0189=&:/".utf8)) }
            return SegmentationUPID(type: self.pick([0x01, 0x03, 0x09, 0x0E, 0x0F, 0x11]), bytes: text)
        case 3:
            let parts = self.list(0...3) { SegmentationUPID(type: $0.number(0...255), bytes: $0.bytes(0...20)) }
            let bytes = parts.flatMap { [$0.type, UInt8($0.bytes.count)] + $0.bytes }
            return SegmentationUPID(type: 0x0D, bytes: bytes)
        default: return SegmentationUPID(type: self.number(0...255), bytes: self.bytes(0...32))
        }
    }
}

/// The section of bytes, or why there is none.
func readSection(_ bytes: [UInt8]) -> Result<SpliceInfoSection, SpliceSectionError> {
    Result { () throws(SpliceSectionError) in try SpliceInfoSection(bytes: bytes) }
}

/// The error of reading bytes; nil: they are a section.
func sectionError(_ bytes: [UInt8]) -> SpliceSectionError? {
    guard case .failure(let error) = readSection(bytes) else { return nil }
    return error
}

/// Bytes with the checksum that they must have at their end.
func withChecksum(_ bytes: [UInt8]) -> [UInt8] {
    var value: UInt32 = 0xFFFF_FFFF
    for byte in bytes.dropLast(4) {
        value ^= UInt32(byte) << 24
        for _ in 0..<8 { value = value & 0x8000_0000 == 0 ? value << 1 : value << 1 ^ 0x04C1_1DB7 }
    }
    return bytes.dropLast(4) + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
}
