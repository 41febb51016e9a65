// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Foundation

/// Sections of another project's tests, scte35-go, with what it reads from them.
struct SectionVectors: Decodable {
    struct Case: Decodable {
        let name: String
        let base64: String
        let hex: String?
        let expected: Section?
        let expectError: String?
    }

    struct Section: Decodable {
        let sapType: UInt8
        let tier: UInt16
        let ptsAdjustmentTicks: UInt64
        let cwIndex: UInt8
        let encryptionAlgorithm: UInt8
        let command: Command
        let descriptors: [Descriptor]
    }

    struct Command: Decodable {
        struct Duration: Decodable {
            let autoReturn: Bool
            let ticks: UInt64
        }

        let type: UInt8
        let name: String
        let ptsTicks: UInt64?
        let eventId: UInt32?
        let cancel: Bool?
        let outOfNetwork: Bool?
        let immediate: Bool?
        let programSplice: Bool?
        let breakDuration: Duration?
        let uniqueProgramId: UInt16?
        let availNum: UInt8?
        let availsExpected: UInt8?
    }

    struct Descriptor: Decodable {
        struct Restrictions: Decodable {
            let webDeliveryAllowed: Bool
            let noRegionalBlackout: Bool
            let archiveAllowed: Bool
            let deviceRestrictions: UInt8
        }

        struct UPID: Decodable {
            let type: UInt8
            let value: String
            let formatIdentifier: UInt32?
        }

        let tag: UInt8?
        let name: String
        let providerAvailId: UInt32?
        let preroll: UInt8?
        let dtmf: String?
        let identifier: UInt32?
        let bytes: [UInt8]?
        let eventId: UInt32?
        let cancel: Bool?
        let typeId: UInt8?
        let durationTicks: UInt64?
        let segmentNum: UInt8?
        let segmentsExpected: UInt8?
        let subSegmentNum: UInt8?
        let subSegmentsExpected: UInt8?
        let deliveryRestrictions: Restrictions?
        let upids: [UPID]?
    }

    let cases: [Case]

    static func load() throws -> [Case] {
        let file = Places.samples.appending(path: "scte35/scte35-go-vectors.json")
        return try JSONDecoder().decode(SectionVectors.self, from: Data(contentsOf: file)).cases
    }
}

extension SectionVectors.Section {
    /// The names of the fields in which a section differs.
    func differences(from section: SpliceInfoSection) -> [String] {
        var differences: [String] = []
        func compare<Value: Equatable>(_ name: String, _ ours: Value, _ theirs: Value) {
            if ours != theirs { differences.append("\(name): \(ours), there \(theirs)") }
        }
        compare("sap_type", section.sapType.rawValue, self.sapType)
        compare("tier", section.tier, self.tier)
        compare("pts_adjustment", section.ptsAdjustmentTicks, self.ptsAdjustmentTicks)
        compare("cw_index", section.controlWordIndex, self.cwIndex)
        compare("encryption_algorithm", section.encryptionAlgorithm, self.encryptionAlgorithm)
        compare("command", section.command.type, self.command.type)
        compare("command", section.command.name, self.command.name)
        differences += self.command.differences(from: section.command)
        compare("descriptors", section.descriptors.count, self.descriptors.count)
        for (ours, theirs) in zip(section.descriptors, self.descriptors) {
            differences += theirs.differences(from: ours)
        }
        return differences
    }
}

extension SectionVectors.Command {
    func differences(from command: SpliceCommand) -> [String] {
        switch command {
        case .timeSignal(let ticks): return ticks == self.ptsTicks ? [] : ["pts_time"]
        case .spliceInsert(let insert):
            guard let event = insert.event else { return self.cancel == true ? [] : ["cancel"] }
            let isProgramImmediate = event.splicePoint == .programImmediate
            let isSame: [String: Bool] = [
                "splice_event_id": insert.eventID == self.eventId,
                "cancel": self.cancel == false,
                "out_of_network": event.isOutOfNetwork == self.outOfNetwork,
                "immediate": isProgramImmediate == self.immediate && self.programSplice == true,
                "pts_time": isProgramImmediate || event.splicePoint == .program(ptsTicks: self.ptsTicks),
                "duration": event.breakDuration
                    == self.breakDuration.map { BreakDuration(autoReturn: $0.autoReturn, ticks: $0.ticks) },
                "unique_program_id": event.uniqueProgramID == self.uniqueProgramId,
                "avail_num": event.availNumber == self.availNum,
                "avails_expected": event.availsExpected == self.availsExpected,
            ]
            return isSame.filter { !$0.value }.map(\.key)
        default: return []
        }
    }
}

extension SectionVectors.Descriptor {
    func differences(from descriptor: SpliceDescriptor) -> [String] {
        switch descriptor.content {
        case .avail(let id): return id == self.providerAvailId ? [] : ["provider_avail_id"]
        case .dtmf(let dtmf):
            let isSame = dtmf.prerollTenths == self.preroll && dtmf.characters == Array((self.dtmf ?? "").utf8)
            return isSame ? [] : ["DTMF"]
        case .other(let other):
            return other.identifier == self.identifier && other.bytes == self.bytes ? [] : ["private"]
        case .segmentation(let segmentation):
            guard let segment = segmentation.segment else { return self.cancel == true ? [] : ["cancel"] }
            let restrictions = self.deliveryRestrictions.map {
                DeliveryRestrictions(
                    isWebDeliveryAllowed: $0.webDeliveryAllowed,
                    hasRegionalBlackout: !$0.noRegionalBlackout,
                    isArchiveAllowed: $0.archiveAllowed,
                    devices: .init(rawValue: $0.deviceRestrictions) ?? .noRestriction
                )
            }
            let isSame: [String: Bool] = [
                "segmentation_event_id": segmentation.eventID == self.eventId,
                "cancel": self.cancel == false,
                "type": segment.type.rawValue == self.typeId,
                "duration": segment.durationTicks == self.durationTicks,
                "segment_num": segment.number == self.segmentNum,
                "segments_expected": segment.expected == self.segmentsExpected,
                "sub_segment_num": segment.subsegment?.number == self.subSegmentNum,
                "sub_segments_expected": segment.subsegment?.expected == self.subSegmentsExpected,
                "restrictions": segment.deliveryRestrictions == restrictions,
                "upid": self.hasUPID(segment.upid),
            ]
            return isSame.filter { !$0.value }.map { "\($0.key) of \(segmentation.eventID)" }
        default: return ["\(descriptor)"]
        }
    }

    private func hasUPID(_ upid: SegmentationUPID) -> Bool {
        let ours = upid.type == 0 ? [] : upid.parts ?? [upid]
        let theirs = (self.upids ?? []).filter { self.upids?.count != 1 || $0.type != 0 }
        guard ours.count == theirs.count else { return false }
        return zip(ours, theirs)
            .allSatisfy { ours, theirs in
                // An MPU() is in base64 there.
                let text =
                    ours.formatIdentifier == nil
                    ? ours.text : Data(ours.bytes.dropFirst(4)).base64EncodedString()
                return ours.type == theirs.type && text == theirs.value
                    && ours.formatIdentifier == theirs.formatIdentifier
            }
    }
}
