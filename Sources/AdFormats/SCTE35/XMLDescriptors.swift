// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Reads the descriptors of the XML form of a section (the schema of SCTE 35).
enum XMLDescriptors {
    static func descriptor(_ element: MarkupElement) throws(SpliceSectionError) -> SpliceDescriptor {
        let fields = XMLFields(element)
        switch element.name {
        case "AvailDescriptor":
            return SpliceDescriptor(.avail(providerAvailID: try fields.required("providerAvailId", max: UInt32.max)))
        case "DTMFDescriptor":
            let preroll = try fields.number("preroll", max: UInt8.max) ?? 0
            let characters = Array((fields.text("chars") ?? "").utf8)
            return SpliceDescriptor(.dtmf(DTMFDescriptor(prerollTenths: preroll, characters: characters)))
        case "SegmentationDescriptor": return .segmentation(try self.segmentation(fields))
        case "TimeDescriptor":
            let time = TimeDescriptor(
                taiSeconds: try fields.number("taiSeconds", max: 0xFFFF_FFFF_FFFF as UInt64) ?? 0,
                taiNanoseconds: try fields.number("taiNs", max: UInt32.max) ?? 0,
                utcOffsetSeconds: try fields.number("utcOffset", max: UInt16.max) ?? 0
            )
            return SpliceDescriptor(.time(time))
        case "AudioDescriptor":
            var channels: [AudioChannel] = []
            for child in element.children where child.name == "AudioChannel" {
                channels.append(try self.audioChannel(XMLFields(child)))
            }
            return SpliceDescriptor(.audio(channels))
        case "PrivateDescriptor":
            let tag = try fields.required("descriptorTag", max: UInt8.max)
            let identifier = try fields.required("identifier", max: UInt32.max)
            let bytes = try fields.privateBytes()
            return SpliceDescriptor(.other(OtherDescriptor(tag: tag, identifier: identifier, bytes: bytes)))
        default: throw fields.fault(element.name, "it is no descriptor that is known")
        }
    }

    private static func audioChannel(_ fields: XMLFields) throws(SpliceSectionError) -> AudioChannel {
        let letters = Array((fields.text("ISOCode") ?? "").utf8)
        guard letters.count == 3 else { throw fields.fault("ISOCode", "a language of three letters is missing") }
        return AudioChannel(
            componentTag: try fields.number("componentTag", max: UInt8.max) ?? 0xFF,
            languageCode: letters.number(UInt32.self),
            bitStreamMode: try fields.required("BitStreamMode", max: UInt8(7)),
            channelsCode: try fields.required("NumChannels", max: UInt8(15)),
            isFullService: try fields.flag("FullSrvcAudio") ?? false
        )
    }

    private static func segmentation(_ fields: XMLFields) throws(SpliceSectionError) -> SegmentationDescriptor {
        let eventID = try fields.required("segmentationEventId", max: UInt32.max)
        var descriptor = SegmentationDescriptor(eventID: eventID, segment: nil)
        // The second name is a misprint of the schema of 2023.
        for name in ["segmentationEventIdComplianceIndicator", "segmentationEventIdComplianceIndicatorbute"] {
            if let isNotCompliant = try fields.flag(name) { descriptor.eventIDIsCompliant = !isNotCompliant }
        }
        guard !(try fields.flag("segmentationEventCancelIndicator") ?? false) else { return descriptor }
        let type = try fields.number("segmentationTypeId", max: UInt8.max) ?? 0
        var segment = SegmentationDescriptor.Segment(SegmentationType(rawValue: type))
        segment.durationTicks = try fields.number("segmentationDuration", max: 0xFF_FFFF_FFFF as UInt64)
        segment.deliveryRestrictions = try fields.child("DeliveryRestrictions").map(self.restrictions)
        segment.components = try self.components(fields)
        segment.upid = try self.upid(fields.element.children.filter { $0.name == "SegmentationUpid" })
        segment.number = try fields.number("segmentNum", max: UInt8.max) ?? 0
        segment.expected = try fields.number("segmentsExpected", max: UInt8.max) ?? 0
        if let number = try fields.number("subSegmentNum", max: UInt8.max) {
            let expected = try fields.number("subSegmentsExpected", max: UInt8.max) ?? 0
            segment.subsegment = SegmentationDescriptor.Subsegment(number: number, expected: expected)
        }
        descriptor.segment = segment
        return descriptor
    }

    private static func restrictions(_ fields: XMLFields) throws(SpliceSectionError) -> DeliveryRestrictions {
        func flag(_ name: String) throws(SpliceSectionError) -> Bool {
            guard let flag = try fields.flag(name) else { throw fields.fault(name, "it is missing") }
            return flag
        }
        let devices = try fields.required("deviceRestrictions", max: UInt8(3))
        return DeliveryRestrictions(
            isWebDeliveryAllowed: try flag("webDeliveryAllowedFlag"),
            hasRegionalBlackout: !(try flag("noRegionalBlackoutFlag")),
            isArchiveAllowed: try flag("archiveAllowedFlag"),
            devices: DeliveryRestrictions.DeviceRestriction(rawValue: devices) ?? .noRestriction
        )
    }

    private static func components(
        _ fields: XMLFields
    ) throws(SpliceSectionError) -> [SegmentationDescriptor.Component]? {
        let elements = fields.element.children.filter { $0.name == "Component" }
        var components: [SegmentationDescriptor.Component] = []
        for element in elements {
            let tag = try XMLFields(element).required("componentTag", max: UInt8.max)
            let offset = try XMLFields(element).required("ptsOffset", max: XMLFields.ticksMax)
            components.append(SegmentationDescriptor.Component(tag: tag, offsetTicks: offset))
        }
        return components.isEmpty ? nil : components
    }

    // MARK: Identifiers of content

    /// One identifier; several are a `MID()`.
    private static func upid(_ elements: [MarkupElement]) throws(SpliceSectionError) -> SegmentationUPID {
        var parts: [SegmentationUPID] = []
        for element in elements { parts.append(try self.upid(XMLFields(element))) }
        guard parts.count > 1 else { return parts.first ?? .notUsed }
        var bytes: [UInt8] = []
        for (part, element) in zip(parts, elements) {
            guard part.bytes.count <= UInt8.max else {
                throw XMLFields(element).fault("SegmentationUpid", "\(part.bytes.count) bytes are more than 255")
            }
            bytes += [part.type, UInt8(part.bytes.count)] + part.bytes
        }
        return SegmentationUPID(type: 0x0D, bytes: bytes)
    }

    private static func upid(_ fields: XMLFields) throws(SpliceSectionError) -> SegmentationUPID {
        let type = try fields.number("segmentationUpidType", max: UInt8.max) ?? 0
        let format = fields.text("segmentationUpidFormat") ?? (self.isBinary(type) ? "hexbinary" : "text")
        let text = fields.element.text
        let digits = text.utf8.filter { !MarkupReader.isSpace($0) }
        let bytes: [UInt8]?
        switch format {
        case "hexbinary", "hex", "hexBinary":
            bytes = HexText.bytes(digits.starts(with: Array("0x".utf8)) ? digits.dropFirst(2) : digits[...])
        case "base-64": bytes = try? Base64Text.bytes(digits)
        case "text": bytes = self.bytes(of: String(decoding: self.collapsed(text), as: UTF8.self), type)
        default: throw fields.fault("segmentationUpidFormat", "\(quoted(format)) is not text, hexbinary or base-64")
        }
        guard let bytes else {
            throw fields.fault("SegmentationUpid", "\(quoted(text)) is no value of type \(type) as \(format)")
        }
        let owner = try fields.number("formatIdentifier", max: UInt32.max)
        let prefix = owner?.lowestBytes(4) ?? []
        return SegmentationUPID(type: type, bytes: prefix + bytes)
    }

    /// Whether the identifiers of a type are numbers rather than characters (table 22).
    static func isBinary(_ type: UInt8) -> Bool {
        [0x04, 0x05, 0x06, 0x08, 0x0A, 0x0B, 0x0C, 0x0D, 0x10].contains(type)
    }

    /// The text without white space at its ends, and with one space for each run of it (`xsd:token`).
    private static func collapsed(_ text: String) -> [UInt8] {
        Array(text.utf8.split(whereSeparator: MarkupReader.isSpace).joined(separator: [0x20]))
    }

    /// The bytes of an identifier as ``SegmentationUPID/text`` writes it; `nil`: it is none.
    private static func bytes(of text: String, _ type: UInt8) -> [UInt8]? {
        switch type {
        case 0x08:
            let number = text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
            return number?.lowestBytes(8)
        case 0x0A:
            let parts = text.split(separator: "/")
            guard parts.count == 2, parts[0].hasPrefix("10."), let prefix = UInt16(parts[0].dropFirst(3)),
                let rest = HexText.bytes(parts[1].utf8.filter { $0 != UInt8(ascii: "-") }), rest.count == 10
            else { return nil }
            return prefix.lowestBytes(2) + rest
        case 0x04, 0x05, 0x06, 0x0C, 0x0D: return HexText.bytes(Array(text.utf8))
        case 0x10: return HexText.bytes(text.utf8.filter { $0 != UInt8(ascii: "-") })
        default:
            // ISO 8859-1, in which one character is one byte, where that has them all.
            let scalars = text.unicodeScalars
            return scalars.allSatisfy { $0.value <= 0xFF } ? scalars.map { UInt8($0.value) } : Array(text.utf8)
        }
    }
}
