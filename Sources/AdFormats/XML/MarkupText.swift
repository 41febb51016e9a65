// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// From the bytes of an XML document to checked text.
enum MarkupText {
    /// The document as valid UTF-8 without a byte order mark, with every line end as one line feed and none of the
    /// characters that XML 1.0 section 2.2 excludes.
    ///
    /// UTF-8 and UTF-16 are known by their byte order mark or first bytes. A declaration that says `UTF-16` over text that
    /// is plainly not is overruled, because servers that build a document in memory often leave it there.
    ///
    /// - Parameters:
    ///   - document: its bytes.
    ///   - charset: the charset of its Content-Type, which comes before the document's own (RFC 7303 section 3). `nil`: none.
    /// - Returns: its text.
    /// - Throws: where it has another encoding, bytes that are none of its encoding's, or such a character.
    static func utf8(of document: [UInt8], charset: String? = nil) throws(AdFormatError) -> [UInt8] {
        let text = try self.decoded(document, charset)
        let lines = text.contains(0x0D) ? self.withLineFeeds(text) : text
        try self.requireAllowed(lines)
        return lines
    }

    /// The place of a byte, as people count: from 1, in lines and characters.
    static func place(of offset: Int, in text: [UInt8]) -> (line: Int, column: Int) {
        var line = 1
        var column = 1
        for byte in text.prefix(offset) {
            if byte == 0x0A {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        return (line, column)
    }

    private static func decoded(_ document: [UInt8], _ charset: String?) throws(AdFormatError) -> [UInt8] {
        switch (document.first, document.dropFirst().first, document.dropFirst(2).first, document.dropFirst(3).first) {
        case (0x00, 0x00, 0xFE, 0xFF), (0xFF, 0xFE, 0x00, 0x00), (0x00, 0x00, 0x00, 0x3C), (0x3C, 0x00, 0x00, 0x00):
            throw .unsupportedEncoding("UTF-32")
        case (0xFE, 0xFF, _, _): return try self.fromUTF16(document.dropFirst(2), bigEndian: true)
        case (0xFF, 0xFE, _, _): return try self.fromUTF16(document.dropFirst(2), bigEndian: false)
        case (0x00, 0x3C, _, _): return try self.fromUTF16(document[...], bigEndian: true)
        case (0x3C, 0x00, _, _): return try self.fromUTF16(document[...], bigEndian: false)
        case (0xEF, 0xBB, 0xBF, _): return try self.fromUTF8(document.dropFirst(3))
        default: break
        }
        let declared = charset ?? self.declaredEncoding(of: document)
        switch declared?.uppercased() {
        case nil, "UTF-8", "UTF8", "US-ASCII", "ASCII", "UTF-16", "UTF16", "UTF-16LE", "UTF-16BE":
            return try self.fromUTF8(document[...])
        case "ISO-8859-1", "ISO8859-1", "ISO_8859-1", "LATIN1", "LATIN-1", "WINDOWS-1252", "CP1252":
            return Array(String(String.UnicodeScalarView(document.map(Self.windows1252))).utf8)
        case let name?: throw .unsupportedEncoding(declared ?? name)
        }
    }

    /// The meaning of a byte in a text declared as Latin 1: Windows-1252 has letters where Latin 1 has control characters, and
    /// authors of these bytes mean the letters (WHATWG Encoding standard, "windows-1252").
    static func windows1252(_ byte: UInt8) -> Unicode.Scalar {
        guard (0x80...0x9F).contains(byte) else { return Unicode.Scalar(byte) }
        return Self.windowsLetters[Int(byte) - 0x80]
    }

    /// From 0x80 on; what is not used there stays as it is.
    private static let windowsLetters: [Unicode.Scalar] = [
        "€", "\u{81}", "‚", "ƒ", "„", "…", "†", "‡", "ˆ", "‰", "Š", "‹", "Œ", "\u{8D}", "Ž", "\u{8F}", "\u{90}", "‘",
        "’", "“", "”",
        "•", "–", "—", "˜", "™", "š", "›", "œ", "\u{9D}", "ž", "Ÿ",
    ]

    /// The value of `encoding="…"` in the XML declaration.
    private static func declaredEncoding(of document: [UInt8]) -> String? {
        let declarationBytesMax = 256
        let start = document.prefix(declarationBytesMax).drop { MarkupReader.isSpace($0) }
        guard start.starts(with: Array("<?xml".utf8)), let end = start.firstIndex(of: UInt8(ascii: ">")) else {
            return nil
        }
        let declaration = start[..<end]
        let key = Array("encoding".utf8)
        guard let keyStart = declaration.indices.first(where: { declaration[$0...].starts(with: key) }) else {
            return nil
        }
        let rest = declaration[keyStart...].dropFirst(key.count)
            .drop { MarkupReader.isSpace($0) || $0 == UInt8(ascii: "=") }
        guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        return String(decoding: rest.dropFirst().prefix { $0 != quote }, as: UTF8.self)
    }

    private static func fromUTF8(_ bytes: ArraySlice<UInt8>) throws(AdFormatError) -> [UInt8] {
        guard String(validating: bytes, as: UTF8.self) == nil else { return Array(bytes) }
        // Only a faulty document pays for finding out where the fault is.
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        var line = 1
        var column = 1
        while case .scalarValue(let scalar) = decoder.decode(&iterator) {
            line += scalar == "\n" ? 1 : 0
            column = scalar == "\n" ? 1 : column + 1
        }
        throw .malformed(fault: "the bytes are not UTF-8", line: line, column: column)
    }

    private static func fromUTF16(_ bytes: ArraySlice<UInt8>, bigEndian: Bool) throws(AdFormatError) -> [UInt8] {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        var index = bytes.startIndex
        while index < bytes.endIndex - 1 {
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            units.append(bigEndian ? first << 8 | second : second << 8 | first)
            index += 2
        }
        guard index == bytes.endIndex, let text = String(validating: units, as: UTF16.self) else {
            throw .malformed(fault: "the bytes are not UTF-16", line: 1, column: 1)
        }
        return Array(text.utf8)
    }

    /// XML 1.0 section 2.11.
    private static func withLineFeeds(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var wasReturn = false
        for byte in text {
            if byte == 0x0D {
                result.append(0x0A)
            } else if !(byte == 0x0A && wasReturn) {
                result.append(byte)
            }
            wasReturn = byte == 0x0D
        }
        return result
    }

    private static func requireAllowed(_ text: [UInt8]) throws(AdFormatError) {
        for offset in text.indices {
            let byte = text[offset]
            let isControl = byte < 0x20 && byte != 0x09 && byte != 0x0A
            // U+FFFE and U+FFFF are EF BF BE and EF BF BF.
            let isNoncharacter = byte >= 0xBE && offset >= 2 && text[offset - 1] == 0xBF && text[offset - 2] == 0xEF
            guard isControl || isNoncharacter else { continue }
            let place = self.place(of: isControl ? offset : offset - 2, in: text)
            let fault = "a character that XML does not allow"
            throw .malformed(fault: fault, line: place.line, column: place.column)
        }
    }
}
