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
        return try self.bytes(ofBase64: kept)
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
        HexText.digits(afterPrefixOf: kept) ?? (kept.allSatisfy { HexText.value($0) != nil } ? kept[...] : nil)
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
    /// The bytes of base64 without white space.
    private static func bytes(ofBase64 digits: [UInt8]) throws(SpliceSectionError) -> [UInt8] {
        do throws(Base64Text.Fault) {
            return try Base64Text.bytes(digits)
        } catch {
            let detail =
                switch error {
                case .character(let number): "character \(number) is neither base64 nor XML"
                case .length(let digits, let padding):
                    "\(digits) characters of base64 and \(padding) at its end are no whole bytes"
                }
            throw SpliceSectionError(.unreadableText, "text", detail)
        }
    }
}
