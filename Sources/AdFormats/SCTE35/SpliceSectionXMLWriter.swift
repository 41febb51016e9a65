// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

extension SpliceInfoSection {
    /// The section in the XML form (the schema of SCTE 35), as a document of UTF-8.
    ///
    /// The XML form has no place for ``layout`` and for ``SpliceDescriptor/extraBytes``. Everything else is read back as
    /// it was.
    ///
    /// - Returns: the document.
    /// - Throws: the place and the field, where a value does not fit.
    public func xml() throws(SpliceSectionError) -> String {
        _ = try self.encoded()
        var writer = MarkupWriter()
        let attributes: KeyValuePairs<StaticString, String?> = [
            "xmlns": "http://www.scte.org/schemas/35",
            "sapType": "\(self.sapType.rawValue)",
            "ptsAdjustment": "\(self.ptsAdjustmentTicks)",
            "protocolVersion": "0",
            "tier": "\(self.tier)",
        ]
        writer.element("SpliceInfoSection", attributes) { writer in
            writer.element(
                "EncryptedPacket",
                ["encryptionAlgorithm": "\(self.encryptionAlgorithm)", "cwIndex": "\(self.controlWordIndex)"]
            )
            writer.write(self.command)
            for descriptor in self.descriptors { writer.write(descriptor.content) }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension MarkupWriter {
    fileprivate mutating func write(_ command: SpliceCommand) {
        switch command {
        case .spliceNull: self.element("SpliceNull")
        case .bandwidthReservation: self.element("BandwidthReservation")
        case .timeSignal(let ticks): self.element("TimeSignal") { $0.writeTime(ticks) }
        case .spliceInsert(let insert): self.write(insert)
        case .privateCommand(let command):
            self.element("PrivateCommand", ["identifier": "\(command.identifier)"]) {
                $0.element("PrivateBytes", HexText.lower(command.bytes))
            }
        }
    }

    private mutating func writeTime(_ ticks: UInt64?) {
        self.element("SpliceTime", ["ptsTime": ticks.map { "\($0)" }])
    }

    private mutating func write(_ insert: SpliceInsert) {
        guard let event = insert.event else {
            let attributes: KeyValuePairs<StaticString, String?> = [
                "spliceEventId": "\(insert.eventID)", "spliceEventCancelIndicator": "true",
            ]
            return self.element("SpliceInsert", attributes)
        }
        let isImmediate =
            switch event.splicePoint {
            case .programImmediate, .componentsImmediate: true
            case .program, .components: false
            }
        let attributes: KeyValuePairs<StaticString, String?> = [
            "spliceEventId": "\(insert.eventID)",
            "spliceEventCancelIndicator": "false",
            "outOfNetworkIndicator": "\(event.isOutOfNetwork)",
            "spliceImmediateFlag": "\(isImmediate)",
            "eventIdComplianceFlag": "\(!event.eventIDIsCompliant)",
            "uniqueProgramId": "\(event.uniqueProgramID)",
            "availNum": "\(event.availNumber)",
            "availsExpected": "\(event.availsExpected)",
        ]
        self.element("SpliceInsert", attributes) { writer in
            writer.write(event.splicePoint)
            guard let duration = event.breakDuration else { return }
            writer.element(
                "BreakDuration",
                ["autoReturn": "\(duration.autoReturn)", "duration": "\(duration.ticks)"]
            )
        }
    }

    private mutating func write(_ point: SpliceInsert.SplicePoint) {
        switch point {
        case .programImmediate: self.element("Program")
        case .program(let ticks): self.element("Program") { $0.writeTime(ticks) }
        case .componentsImmediate(let tags):
            for tag in tags { self.element("Component", ["componentTag": "\(tag)"]) }
        case .components(let components):
            for component in components {
                self.element("Component", ["componentTag": "\(component.tag)"]) { $0.writeTime(component.ptsTicks) }
            }
        }
    }

    fileprivate mutating func write(_ content: SpliceDescriptor.Content) {
        switch content {
        case .avail(let id): self.element("AvailDescriptor", ["providerAvailId": "\(id)"])
        case .dtmf(let dtmf):
            let characters = String(decoding: dtmf.characters, as: UTF8.self)
            self.element("DTMFDescriptor", ["preroll": "\(dtmf.prerollTenths)", "chars": characters])
        case .segmentation(let segmentation): self.write(segmentation)
        case .time(let time):
            let attributes: KeyValuePairs<StaticString, String?> = [
                "taiSeconds": "\(time.taiSeconds)",
                "taiNs": "\(time.taiNanoseconds)",
                "utcOffset": "\(time.utcOffsetSeconds)",
            ]
            self.element("TimeDescriptor", attributes)
        case .audio(let channels):
            self.element("AudioDescriptor") { writer in
                for channel in channels { writer.write(channel) }
            }
        case .other(let other):
            let attributes: KeyValuePairs<StaticString, String?> = [
                "descriptorTag": "\(other.tag)", "identifier": "\(other.identifier)",
            ]
            self.element("PrivateDescriptor", attributes) { $0.element("PrivateBytes", HexText.lower(other.bytes)) }
        }
    }

    private mutating func write(_ channel: AudioChannel) {
        let attributes: KeyValuePairs<StaticString, String?> = [
            "componentTag": "\(channel.componentTag)",
            "ISOCode": String(decoding: channel.languageCode.lowestBytes(3), as: UTF8.self),
            "BitStreamMode": "\(channel.bitStreamMode)",
            "NumChannels": "\(channel.channelsCode)",
            "FullSrvcAudio": channel.isFullService ? "1" : "0",
        ]
        self.element("AudioChannel", attributes)
    }

    private mutating func write(_ descriptor: SegmentationDescriptor) {
        guard let segment = descriptor.segment else {
            let attributes: KeyValuePairs<StaticString, String?> = [
                "segmentationEventId": "\(descriptor.eventID)",
                "segmentationEventCancelIndicator": "true",
                "segmentationEventIdComplianceIndicator": "\(!descriptor.eventIDIsCompliant)",
            ]
            return self.element("SegmentationDescriptor", attributes)
        }
        let attributes: KeyValuePairs<StaticString, String?> = [
            "segmentationEventId": "\(descriptor.eventID)",
            "segmentationEventCancelIndicator": "false",
            "segmentationEventIdComplianceIndicator": "\(!descriptor.eventIDIsCompliant)",
            "segmentationDuration": segment.durationTicks.map { "\($0)" },
            "segmentationTypeId": "\(segment.type.rawValue)",
            "segmentNum": "\(segment.number)",
            "segmentsExpected": "\(segment.expected)",
            "subSegmentNum": segment.subsegment.map { "\($0.number)" },
            "subSegmentsExpected": segment.subsegment.map { "\($0.expected)" },
        ]
        self.element("SegmentationDescriptor", attributes) { writer in
            if let restrictions = segment.deliveryRestrictions { writer.write(restrictions) }
            // A list of one would be read as what is in it.
            if let parts = segment.upid.parts, parts.count > 1 {
                for part in parts { writer.write(part) }
            } else if segment.upid != .notUsed {
                writer.write(segment.upid)
            }
            for component in segment.components ?? [] {
                let attributes: KeyValuePairs<StaticString, String?> = [
                    "componentTag": "\(component.tag)", "ptsOffset": "\(component.offsetTicks)",
                ]
                writer.element("Component", attributes)
            }
        }
    }

    private mutating func write(_ restrictions: DeliveryRestrictions) {
        let attributes: KeyValuePairs<StaticString, String?> = [
            "webDeliveryAllowedFlag": "\(restrictions.isWebDeliveryAllowed)",
            "noRegionalBlackoutFlag": "\(!restrictions.hasRegionalBlackout)",
            "archiveAllowedFlag": "\(restrictions.isArchiveAllowed)",
            "deviceRestrictions": "\(restrictions.devices.rawValue)",
        ]
        self.element("DeliveryRestrictions", attributes)
    }

    private mutating func write(_ upid: SegmentationUPID) {
        let owner = upid.formatIdentifier
        let bytes = owner == nil ? upid.bytes : Array(upid.bytes.dropFirst(4))
        // A reader of tokens gives such a text back as it is.
        let words = bytes.split(separator: 0x20, omittingEmptySubsequences: false)
        let isText =
            !XMLDescriptors.isBinary(upid.type) && bytes.allSatisfy(SegmentationUPID.isPrintable)
            && words.allSatisfy { !$0.isEmpty }
        let attributes: KeyValuePairs<StaticString, String?> = [
            "segmentationUpidType": "\(upid.type)",
            "formatIdentifier": owner.map { "\($0)" },
            "segmentationUpidFormat": isText ? "text" : "hexbinary",
        ]
        let text = isText ? String(decoding: bytes, as: UTF8.self) : HexText.lower(bytes)
        self.element("SegmentationUpid", text, attributes)
    }
}
