// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Reads XML 1.0 into a tree of elements, in time that grows only with the size of the document.
///
/// It accepts well-formed documents without a document type declaration. Such a declaration is refused, and with it
/// everything that makes XML from strangers dangerous: entities that expand, and entities that are fetched. Namespaces
/// are resolved, but an undeclared prefix is not an error. Two things outside the standard are let through, because
/// servers do them and the meaning is plain: white space before the XML declaration, and names with characters beyond
/// ASCII that section 2.3 excludes.
struct MarkupReader {
    /// An element whose end tag has not come yet.
    private struct OpenElement {
        let tag: ArraySlice<UInt8>
        var element: MarkupElement
        var text: [UInt8] = []
        var prefixes: [String] = []
    }

    private let text: [UInt8]
    private let limits: AdFormatLimits
    private var position = 0
    private var line = 1
    private var lineCountedTo = 0
    private var elements = 0
    private var open: [OpenElement] = []
    private var namespaces: [String: [String]] = [:]

    private init(text: [UInt8], limits: AdFormatLimits) {
        self.text = text
        self.limits = limits
    }

    /// The outermost element of a document.
    static func read(
        _ document: [UInt8],
        charset: String? = nil,
        limits: AdFormatLimits
    ) throws(AdFormatError) -> MarkupElement {
        var reader = MarkupReader(text: try MarkupText.utf8(of: document, charset: charset), limits: limits)
        return try reader.readDocument()
    }

    /// White space of XML 1.0 section 2.3.
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private mutating func readDocument() throws(AdFormatError) -> MarkupElement {
        self.skipSpace()
        if self.isAt("<?xml"), let next = self.byte(at: self.position + 5), Self.isSpace(next) {
            try self.readDeclaration()
        }
        var root: MarkupElement?
        while let byte = self.byte(at: self.position) {
            if byte != UInt8(ascii: "<") {
                try self.readText(isOutside: self.open.isEmpty)
            } else if self.isAt("</") {
                root = try self.readEndTag() ?? root
            } else if self.isAt("<!") || self.isAt("<?") {
                try self.readMarkup()
            } else {
                guard root == nil else { throw self.fault("a second outermost element") }
                root = try self.readStartTag()
            }
        }
        if let last = self.open.last {
            let name = String(decoding: last.tag, as: UTF8.self)
            throw self.fault("the document ends inside \(quoted(name)), which began on line \(last.element.line)")
        }
        guard let root else { throw self.fault("the document has no element") }
        return root
    }

    /// XML 1.0 section 2.8; what it says about the encoding is known already.
    private mutating func readDeclaration() throws(AdFormatError) {
        let start = self.position
        self.position += "<?xml".utf8.count
        let parts = try self.readAttributes()
        let names = parts.map(\.name)
        let isKnown = [
            ["version"], ["version", "encoding"], ["version", "standalone"], ["version", "encoding", "standalone"],
        ]
        .contains(names)
        guard isKnown, parts[0].value.hasPrefix("1."), parts[0].value.dropFirst(2).allSatisfy("0123456789".contains),
            names.last != "standalone" || parts.last?.value == "yes" || parts.last?.value == "no", self.take("?>")
        else {
            self.position = start
            throw self.fault("an XML declaration that is not one")
        }
    }

    /// A comment, a CDATA section or a processing instruction.
    private mutating func readMarkup() throws(AdFormatError) {
        if self.isAt("<!--") {
            let start = self.position
            self.position += 4
            try self.skip(past: "--", of: "a comment")
            guard self.take(">") else {
                self.position = start
                throw self.fault("a comment with “--” in it")
            }
        } else if self.isAt("<![CDATA[") {
            guard !self.open.isEmpty else { throw self.fault("text outside the outermost element") }
            self.position += 9
            let start = self.position
            try self.skip(past: "]]>", of: "a CDATA section")
            self.open[self.open.count - 1].text += self.text[start..<self.position - 3]
        } else if self.isAt("<?") {
            try self.readInstruction()
        } else if self.isAt("<!DOCTYPE") {
            throw self.fault("a document type declaration, which is not allowed here")
        } else {
            throw self.fault("“<!” that begins nothing known")
        }
    }

    private mutating func readInstruction() throws(AdFormatError) {
        let start = self.position
        self.position += 2
        let target = try self.readName()
        guard String(decoding: target, as: UTF8.self).lowercased() != "xml" else {
            self.position = start
            throw self.fault("an XML declaration that is not at the beginning")
        }
        guard self.isAt("?>") || self.skipSpace() else { throw self.fault("a processing instruction without its end") }
        try self.skip(past: "?>", of: "a processing instruction")
    }

    // MARK: Tags

    /// Opens an element; returns it if it is empty and the outermost one.
    private mutating func readStartTag() throws(AdFormatError) -> MarkupElement? {
        let line = self.currentLine()
        self.elements += 1
        guard self.elements <= self.limits.elementsMax else {
            throw .tooLarge(limit: AdFormatLimits.Name.elementsMax.rawValue, maximum: self.limits.elementsMax)
        }
        guard self.open.count < self.limits.depthMax else {
            throw .tooLarge(limit: AdFormatLimits.Name.depthMax.rawValue, maximum: self.limits.depthMax)
        }
        self.position += 1
        let tag = try self.readName()
        let attributes = try self.readAttributes()
        let prefixes = self.declareNamespaces(attributes)
        let (prefix, name) = Self.split(tag)
        let namespace = self.namespaces[prefix]?.last ?? (prefix.isEmpty ? "" : prefix + ":")
        let element = MarkupElement(name: name, namespace: namespace, attributes: attributes, line: line)
        self.open.append(OpenElement(tag: tag, element: element, prefixes: prefixes))
        if self.take("/>") { return self.close() }
        guard self.take(">") else { throw self.fault("a start tag that does not end") }
        return nil
    }

    /// Closes an element; returns it if it is the outermost one.
    private mutating func readEndTag() throws(AdFormatError) -> MarkupElement? {
        let start = self.position
        self.position += 2
        let tag = try self.readName()
        self.skipSpace()
        guard self.take(">") else { throw self.fault("an end tag that does not end") }
        guard let last = self.open.last, last.tag == tag else {
            self.position = start
            let name = quoted("</" + String(decoding: tag, as: UTF8.self) + ">")
            guard let last = self.open.last else { throw self.fault("the end tag \(name) without a start tag") }
            let opened = "\(quoted(String(decoding: last.tag, as: UTF8.self))) from line \(last.element.line)"
            throw self.fault("the end tag \(name) where \(opened) is open")
        }
        return self.close()
    }

    private mutating func close() -> MarkupElement? {
        var last = self.open.removeLast()
        last.element.text = String(decoding: last.text, as: UTF8.self)
        for prefix in last.prefixes { self.namespaces[prefix]?.removeLast() }
        guard !self.open.isEmpty else { return last.element }
        self.open[self.open.count - 1].element.children.append(last.element)
        return nil
    }

    private mutating func readAttributes() throws(AdFormatError) -> [MarkupElement.Attribute] {
        var attributes: [MarkupElement.Attribute] = []
        while true {
            let hadSpace = self.skipSpace()
            guard let byte = self.byte(at: self.position) else { throw self.fault("a start tag that does not end") }
            if byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") { return attributes }
            guard hadSpace else { throw self.fault("no white space before an attribute") }
            guard attributes.count < self.limits.attributesPerElementMax else {
                throw .tooLarge(
                    limit: AdFormatLimits.Name.attributesPerElementMax.rawValue,
                    maximum: self.limits.attributesPerElementMax
                )
            }
            let start = self.position
            let name = String(decoding: try self.readName(), as: UTF8.self)
            guard !attributes.contains(where: { $0.name == name }) else {
                self.position = start
                throw self.fault("the attribute \(quoted(name)) for the second time")
            }
            self.skipSpace()
            guard self.take("=") else { throw self.fault("the attribute \(quoted(name)) without a value") }
            self.skipSpace()
            attributes.append(MarkupElement.Attribute(name: name, value: try self.readAttributeValue()))
        }
    }

    private mutating func readAttributeValue() throws(AdFormatError) -> String {
        guard let quote = self.byte(at: self.position), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw self.fault("an attribute value without quotation marks")
        }
        let start = self.position
        self.position += 1
        var value: [UInt8] = []
        while let byte = self.byte(at: self.position), byte != quote {
            guard byte != UInt8(ascii: "<") else { throw self.fault("“<” in an attribute value") }
            if byte == UInt8(ascii: "&") {
                value += try self.readReference()
            } else {
                value.append(Self.isSpace(byte) ? 0x20 : byte)
                self.position += 1
            }
        }
        guard self.position < self.text.count else {
            self.position = start
            throw self.fault("an attribute value that does not end")
        }
        self.position += 1
        return String(decoding: value, as: UTF8.self)
    }

    // MARK: Namespaces

    /// Puts the declarations among the attributes into force; returns their prefixes.
    private mutating func declareNamespaces(_ attributes: [MarkupElement.Attribute]) -> [String] {
        var prefixes: [String] = []
        for attribute in attributes where attribute.name == "xmlns" || attribute.name.hasPrefix("xmlns:") {
            let prefix = String(attribute.name.dropFirst("xmlns:".count))
            self.namespaces[prefix, default: []].append(attribute.value)
            prefixes.append(prefix)
        }
        return prefixes
    }

    private static func split(_ tag: ArraySlice<UInt8>) -> (prefix: String, name: String) {
        guard let colon = tag.firstIndex(of: UInt8(ascii: ":")) else {
            return ("", String(decoding: tag, as: UTF8.self))
        }
        return (String(decoding: tag[..<colon], as: UTF8.self), String(decoding: tag[(colon + 1)...], as: UTF8.self))
    }

    // MARK: Text

    private mutating func readText(isOutside: Bool) throws(AdFormatError) {
        while let byte = self.byte(at: self.position), byte != UInt8(ascii: "<") {
            if isOutside, !Self.isSpace(byte) { throw self.fault("text outside the outermost element") }
            if byte == UInt8(ascii: "&") {
                let replacement = try self.readReference()
                self.open[self.open.count - 1].text += replacement
                continue
            }
            if byte == UInt8(ascii: "]"), self.isAt("]]>") { throw self.fault("“]]>” outside a CDATA section") }
            if !isOutside { self.open[self.open.count - 1].text.append(byte) }
            self.position += 1
        }
    }

    /// The meaning of `&…;`: one of the five predefined entities, or a character by its number.
    private mutating func readReference() throws(AdFormatError) -> [UInt8] {
        let longest = 12
        let rest = self.text[(self.position + 1)...].prefix(longest)
        guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else {
            throw self.fault("“&” that begins no reference; write &amp; or put the text into a CDATA section")
        }
        let name = String(decoding: rest[..<end], as: UTF8.self)
        let scalar: Unicode.Scalar? =
            switch name {
            case "amp": "&"
            case "lt": "<"
            case "gt": ">"
            case "quot": "\""
            case "apos": "'"
            case _ where name.hasPrefix("#"): Self.character(numbered: name.dropFirst())
            default: nil
            }
        guard let scalar else {
            throw self.fault("the reference \(quoted("&\(name);")), which stands for nothing known")
        }
        self.position = end + 1
        return Array(String(scalar).utf8)
    }

    /// The character of `&#…;`, if XML 1.0 section 2.2 allows it.
    private static func character(numbered digits: Substring) -> Unicode.Scalar? {
        let isHexadecimal = digits.hasPrefix("x")
        let number = isHexadecimal ? digits.dropFirst() : digits
        guard number.allSatisfy(\.isASCII), number.first?.isHexDigit ?? false,
            let value = UInt32(number, radix: isHexadecimal ? 16 : 10), let scalar = Unicode.Scalar(value),
            value >= 0x20 || value == 0x09 || value == 0x0A || value == 0x0D, value != 0xFFFE, value != 0xFFFF
        else { return nil }
        return scalar
    }

    // MARK: Bytes

    private func byte(at offset: Int) -> UInt8? { offset < self.text.count ? self.text[offset] : nil }

    private func isAt(_ token: String) -> Bool { self.matches(token, at: self.position) }

    private func matches(_ token: String, at offset: Int) -> Bool {
        var index = offset
        for byte in token.utf8 {
            guard self.byte(at: index) == byte else { return false }
            index += 1
        }
        return true
    }

    private mutating func take(_ token: String) -> Bool {
        guard self.isAt(token) else { return false }
        self.position += token.utf8.count
        return true
    }

    @discardableResult
    private mutating func skipSpace() -> Bool {
        let start = self.position
        while let byte = self.byte(at: self.position), Self.isSpace(byte) { self.position += 1 }
        return self.position > start
    }

    private mutating func skip(past token: String, of what: String) throws(AdFormatError) {
        var end = self.position
        while end < self.text.count, !self.matches(token, at: end) { end += 1 }
        guard end < self.text.count else { throw self.fault("\(what) that does not end") }
        self.position = end + token.utf8.count
    }

    private mutating func readName() throws(AdFormatError) -> ArraySlice<UInt8> {
        let start = self.position
        while let byte = self.byte(at: self.position), Self.isInName(byte, isFirst: self.position == start) {
            self.position += 1
        }
        guard self.position > start else { throw self.fault("no name where one must be") }
        return self.text[start..<self.position]
    }

    /// XML 1.0 section 2.3, with every character beyond ASCII allowed.
    private static func isInName(_ byte: UInt8, isFirst: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: ":"), 0x80...:
            true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): !isFirst
        default: false
        }
    }

    // MARK: Places

    private mutating func currentLine() -> Int {
        for byte in self.text[self.lineCountedTo..<self.position] where byte == 0x0A { self.line += 1 }
        self.lineCountedTo = self.position
        return self.line
    }

    private func fault(_ fault: String) -> AdFormatError {
        let place = MarkupText.place(of: self.position, in: self.text)
        return .malformed(fault: fault, line: place.line, column: place.column)
    }
}
