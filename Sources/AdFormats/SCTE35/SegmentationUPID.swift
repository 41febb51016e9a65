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
        return self.bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The identifier for people.
    ///
    /// A number for type 8, the canonical form for EIDR and UUID, the characters where all bytes are characters of ISO
    /// 8859-1, and hexadecimal digits otherwise.
    public var text: String {
        switch self.type {
        case 0x08 where self.bytes.count == 8:
            return "\(self.bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })"
        case 0x0A where self.bytes.count == 12:
            let groups = stride(from: 2, to: 12, by: 2).map { HexText.upper(self.bytes[$0..<$0 + 2]) }
            return "10.\(Int(self.bytes[0]) << 8 | Int(self.bytes[1]))/\(groups.joined(separator: "-"))"
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

/// Bytes as hexadecimal digits.
enum HexText {
    static func lower(_ bytes: some Sequence<UInt8>) -> String { self.text(bytes, Array("0123456789abcdef".utf8)) }

    static func upper(_ bytes: some Sequence<UInt8>) -> String { self.text(bytes, Array("0123456789ABCDEF".utf8)) }

    private static func text(_ bytes: some Sequence<UInt8>, _ digits: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The bytes of digits without anything between them; `nil`: they are none.
    static func bytes(_ digits: some Collection<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in digits {
            guard let value = self.value(digit) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }

    /// The value of a digit; `nil`: it is none.
    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
