// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

extension SpliceField {
    /// The meaning of the value for people; empty: the value says it all.
    public var meaning: String {
        if let note = self.note { return note }
        switch self.value {
        case .bytes(let bytes): return Self.meaning(of: bytes, self.name)
        case .number(let value):
            return Self.meaning(ofFlag: value == 1, self.name) ?? Self.meaning(of: value, self.name, self.bits.count)
        }
    }

    private static func meaning(of bytes: [UInt8], _ name: String) -> String {
        switch name {
        case "unknown bytes": "behind the last known field"
        case "alignment_stuffing": "without a meaning"
        default: bytes.allSatisfy(SegmentationUPID.isPrintable) ? quoted(String(decoding: bytes, as: UTF8.self)) : ""
        }
    }

    private static let flags: [String: (set: String, clear: String)] = [
        "section_syntax_indicator": ("long section", "short section"),
        "private_indicator": ("private", "not private"),
        "encrypted_packet": ("encrypted", "not encrypted"),
        "splice_event_cancel_indicator": ("the event is cancelled", "the event is not cancelled"),
        "out_of_network_indicator": ("out: the break begins", "in: the break ends"),
        "program_splice_flag": ("all components", "components by themselves"),
        "duration_flag": ("with a duration", "without a duration"),
        "splice_immediate_flag": ("at once", "at a time"),
        "event_id_compliance_flag": ("uniqueness of event ids is not stated", "event ids are unique (9.9.3)"),
        "time_specified_flag": ("with a time", "without a time: at once"),
        "auto_return": ("the break ends by itself", "another cue ends the break"),
        "segmentation_event_cancel_indicator": ("the event is cancelled", "the event is not cancelled"),
        "segmentation_event_id_compliance_indicator": (
            "uniqueness of event ids is not stated", "event ids are unique (9.9.3)"
        ),
        "program_segmentation_flag": ("all components", "components by themselves"),
        "segmentation_duration_flag": ("with a duration", "without a duration"),
        "delivery_not_restricted_flag": ("no restrictions of delivery", "with restrictions of delivery"),
        "web_delivery_allowed_flag": ("web delivery is allowed", "web delivery is restricted"),
        "no_regional_blackout_flag": ("no regional blackout", "regional blackout"),
        "archive_allowed_flag": ("recording is allowed", "recording is restricted"),
        "Full_Srvc_Audio": ("complete by itself", "to be combined with another stream"),
    ]

    private static func meaning(ofFlag isSet: Bool, _ name: String) -> String? {
        self.flags[name].map { isSet ? $0.set : $0.clear }
    }

    private static func meaning(of value: UInt64, _ name: String, _ bits: Int) -> String {
        let byte = UInt8(truncatingIfNeeded: value)
        return switch name {
        case "table_id": value == UInt64(SpliceInfoSection.tableID) ? "splice information section" : ""
        case "sap_type": ["type 1", "type 2", "type 3", "not specified"][Int(value & 3)]
        case "section_length", "descriptor_length", "descriptor_loop_length", "segmentation_upid_length":
            "bytes that follow"
        case "splice_command_length": value == 0xFFF ? "not stated, as old encoders do" : "bytes of the command"
        case "protocol_version": value == 0 ? "the only version" : "not known"
        case "encryption_algorithm", "cw_index": "without a meaning where nothing is encrypted"
        case "tier": value == 0xFFF ? "every tier" : ""
        case "splice_command_type": SpliceCommand.name(ofType: byte).map { $0 + "()" } ?? "reserved"
        case "pts_adjustment", "pts_time", "pts_offset", "duration", "segmentation_duration": TickText.seconds(value)
        case "identifier": self.letters(value, 4)
        case "ISO_code": self.letters(value, 3)
        case "splice_descriptor_tag": SpliceDescriptor.name(ofTag: byte).map { $0 + "()" } ?? ""
        case "preroll": "\(value / 10).\(value % 10) s"
        case "device_restrictions": ["group 0", "group 1", "group 2", "no device is restricted"][Int(value & 3)]
        case "segmentation_upid_type": SegmentationUPID(type: byte, bytes: []).typeName ?? "reserved"
        case "segmentation_type_id": SegmentationType(rawValue: byte).name ?? "reserved"
        case "reserved": value == 1 << UInt64(bits) - 1 ? "" : "not all 1, which has no meaning"
        default: ""
        }
    }

    /// A number as the letters that its bytes are; empty: they are none.
    private static func letters(_ value: UInt64, _ count: Int) -> String {
        let bytes = value.lowestBytes(count)
        return bytes.allSatisfy(SegmentationUPID.isPrintable) ? quoted(String(decoding: bytes, as: UTF8.self)) : ""
    }
}
