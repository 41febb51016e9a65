// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

extension SpliceInfoSection {
    /// A section from text: base64, hexadecimal digits, or the XML form (the schema of SCTE 35).
    ///
    /// ``SpliceSectionText/bytes(of:)`` says which text is which. Elements of XML become the fields of the section; an
    /// element `Binary` holds its bytes.
    ///
    /// - Parameter text: the text.
    /// - Throws: the place and the reason, where the text is no section that can be read.
    public init(text: String) throws(SpliceSectionError) {
        self = try SpliceSectionText.section(of: text)
    }

    /// The bytes of the section in base64.
    public func base64() throws(SpliceSectionError) -> String { Base64Text.text(try self.encoded()) }

    /// The bytes of the section as lowercase hexadecimal digits.
    public func hex() throws(SpliceSectionError) -> String { HexText.lower(try self.encoded()) }
}

/// Reads the text forms of a section.
public enum SpliceSectionText {
    /// The bytes of a section that a text means.
    ///
    /// - A text that begins with `<` is XML. A section that XML describes by its fields is written as bytes.
    /// - A text that begins with `0x`, or consists of hexadecimal digits, is hexadecimal. A section begins with 0xFC, so
    ///   that its base64 begins with `/`, which is no digit.
    /// - Any other text is base64, also in the alphabet for URLs, also without the padding at its end.
    ///
    /// White space around the text and between its digits does not count.
    ///
    /// - Parameter text: the text.
    /// - Returns: the bytes, which may be no section.
    /// - Throws: the place and the reason, where the text is none of these.
    public static func bytes(of text: String) throws(SpliceSectionError) -> [UInt8] {
        let kept = try self.kept(text)
        if kept.first == UInt8(ascii: "<") { return try SpliceSectionXMLReader.bytes(Array(text.utf8)) }
        return try self.bytes(ofDigits: kept)
    }

    static func section(of text: String) throws(SpliceSectionError) -> SpliceInfoSection {
        let kept = try self.kept(text)
        if kept.first == UInt8(ascii: "<") { return try SpliceSectionXMLReader.section(Array(text.utf8)) }
        return try SpliceInfoSection(bytes: try self.bytes(ofDigits: kept))
    }

    /// The bytes of a text that is not XML, without its white space.
    private static func bytes(ofDigits kept: [UInt8]) throws(SpliceSectionError) -> [UInt8] {
        if let digits = self.hexDigits(kept) { return try self.bytes(ofHex: digits) }
        return try Base64Text.bytes(kept)
    }

    /// The text without its white space.
    private static func kept(_ text: String) throws(SpliceSectionError) -> [UInt8] {
        let maximum = SpliceSectionLimits.textBytesMax
        guard text.utf8.count <= maximum else {
            throw SpliceSectionError(.tooLarge, "text", "\(text.utf8.count) bytes are more than \(maximum)")
        }
        var kept = Array(text.utf8)
        kept.removeAll(where: MarkupReader.isSpace)
        guard !kept.isEmpty else { throw SpliceSectionError(.unreadableText, "text", "it is empty") }
        return kept
    }

    /// The digits of a text that is hexadecimal; `nil`: it is not.
    private static func hexDigits(_ kept: [UInt8]) -> ArraySlice<UInt8>? {
        let isMarked = kept.count >= 2 && kept[0] == UInt8(ascii: "0") && kept[1] | 0x20 == UInt8(ascii: "x")
        if isMarked { return kept.dropFirst(2) }
        return kept.allSatisfy { HexText.value($0) != nil } ? kept[...] : nil
    }

    private static func bytes(ofHex digits: ArraySlice<UInt8>) throws(SpliceSectionError) -> [UInt8] {
        if let wrong = digits.firstIndex(where: { HexText.value($0) == nil }) {
            let detail = "character \(wrong + 1) is no hexadecimal digit"
            throw SpliceSectionError(.unreadableText, "text", detail)
        }
        guard let bytes = HexText.bytes(digits) else {
            throw SpliceSectionError(.unreadableText, "text", "\(digits.count) hexadecimal digits are no whole bytes")
        }
        return bytes
    }
}

/// Bytes in base64 (RFC 4648 sections 4 and 5).
enum Base64Text {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32((3 - group.count) * 8)
            for place in 0..<4 {
                let digit = Self.alphabet[Int(bits >> UInt32(18 - place * 6) & 63)]
                text.append(place <= group.count ? digit : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func bytes(_ text: [UInt8]) throws(SpliceSectionError) -> [UInt8] {
        let digits = text.prefix { $0 != UInt8(ascii: "=") }
        let padding = text.dropFirst(digits.count)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var bits: UInt32 = 0
        for (index, digit) in digits.enumerated() {
            guard let value = self.value(digit) else {
                throw SpliceSectionError(.unreadableText, "text", "character \(index + 1) is neither base64 nor XML")
            }
            bits = bits << 6 | value
            // Six bits more than whole bytes need: 6, 4, 2, 0.
            if index % 4 != 0 { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(6 - index % 4 * 2))) }
        }
        guard digits.count % 4 != 1, padding.count <= 2, padding.allSatisfy({ $0 == UInt8(ascii: "=") }),
            padding.isEmpty || text.count.isMultiple(of: 4)
        else {
            let detail = "\(digits.count) characters of base64 and \(padding.count) at its end are no whole bytes"
            throw SpliceSectionError(.unreadableText, "text", detail)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
