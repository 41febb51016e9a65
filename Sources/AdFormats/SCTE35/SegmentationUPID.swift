// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// An identifier of content: `segmentation_upid()` with its type (SCTE 35 section 10.3.3.1, table 22).
public struct SegmentationUPID: Hashable, Sendable {
    /// No identifier.
    public static let notUsed = SegmentationUPID(type: 0, bytes: [])

    /// `segmentation_upid_type`.
    public var type: UInt8
    /// The identifier as the section has it.
    public var bytes: [UInt8]

    /// An identifier.
    public init(type: UInt8, bytes: [UInt8]) {
        self.type = type
        self.bytes = bytes
    }

    /// The name of the type in the table; `nil`: the type is reserved.
    public var typeName: String? {
        let names = [
            "Not Used", "User Defined", "ISCI", "Ad-ID", "UMID", "ISAN (8 bytes)", "ISAN", "TID", "TI (AiringID)",
            "ADI", "EIDR", "ATSC Content Identifier", "MPU()", "MID()", "ADS Information", "URI", "UUID", "SCR",
        ]
        return Int(self.type) < names.count ? names[Int(self.type)] : nil
    }

    /// The identifiers in a `MID()` (section 10.3.3.4); `nil`: this is none, or its bytes are not its parts.
    public var parts: [SegmentationUPID]? {
        guard self.type == 0x0D else { return nil }
        var parts: [SegmentationUPID] = []
        var rest = self.bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 2 else { return nil }
            let type = rest.removeFirst()
            let count = Int(rest.removeFirst())
            guard rest.count >= count else { return nil }
            parts.append(SegmentationUPID(type: type, bytes: Array(rest.prefix(count))))
            rest = rest.dropFirst(count)
        }
        return parts
    }

    /// The owner of an `MPU()` (section 10.3.3.3); `nil`: this is none, or it is too short.
    public var formatIdentifier: UInt32? {
        guard self.type == 0x0C, self.bytes.count >= 4 else { return nil }
        return self.bytes.prefix(4).number(UInt32.self)
    }

    /// The identifier for people.
    ///
    /// A number for type 8, the canonical form for EIDR and UUID, the characters where all bytes are characters of ISO
    /// 8859-1, and hexadecimal digits otherwise.
    public var text: String {
        switch self.type {
        case 0x08 where self.bytes.count == 8:
            return "\(self.bytes.number(UInt64.self))"
        case 0x0A where self.bytes.count == 12:
            let groups = stride(from: 2, to: 12, by: 2).map { HexText.upper(self.bytes[$0..<$0 + 2]) }
            return "10.\(self.bytes.twoBytes(at: 0))/\(groups.joined(separator: "-"))"
        case 0x0C:
            guard self.bytes.count >= 4, self.bytes.prefix(4).allSatisfy(Self.isPrintable) else { break }
            return "\(String(decoding: self.bytes.prefix(4), as: UTF8.self)) \(HexText.lower(self.bytes.dropFirst(4)))"
        case 0x0D:
            guard let parts = self.parts else { break }
            return parts.map { "\($0.typeName ?? "type \($0.type)") \($0.text)" }.joined(separator: ", ")
        case 0x10 where self.bytes.count == 16:
            let bounds = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
            return bounds.map { HexText.lower(self.bytes[$0]) }.joined(separator: "-")
        case 0x04, 0x05, 0x06, 0x0B: break
        default:
            guard self.bytes.allSatisfy({ Self.isPrintable($0) || $0 >= 0xA0 }) else { break }
            return String(String.UnicodeScalarView(self.bytes.map { Unicode.Scalar($0) }))
        }
        return HexText.lower(self.bytes)
    }

    /// Whether a byte is a character of ASCII that people can see, or a space.
    static func isPrintable(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }
}
