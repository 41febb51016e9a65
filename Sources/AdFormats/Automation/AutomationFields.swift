// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The bounds of what automation systems say.
package enum AutomationLimits {
    /// The longest message, in bytes (64 KiB).
    package static let messageBytesMax = 65_536
    /// The most fields of a message.
    package static let fieldsMax = 1_024
    /// The longest line, in bytes.
    package static let lineBytesMax = 4_096
    /// The deepest nesting of elements in a message.
    package static let depthMax = 32
    /// The longest time that an element can play, in milliseconds (6 h).
    package static let durationMillisecondsMax = 21_600_000
    /// The most mappings that a configuration has.
    package static let mappingsMax = 64
    /// The most names of one field, and the most values that mean an ad.
    package static let namesMax = 64
    /// The longest name of a field, and the longest value that means an ad, in bytes.
    package static let nameBytesMax = 128
}

/// Why a message of an automation system, or a mapping, cannot be used.
package struct AutomationFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence for people.
    package let description: String
    /// Whether a limit is passed.
    package let isTooLarge: Bool

    package init(_ description: String, isTooLarge: Bool = false) {
        self.description = description
        self.isTooLarge = isTooLarge
    }

    static func limit(_ name: String, _ maximum: Int) -> AutomationFault {
        AutomationFault("The limit \(name) is \(maximum), and the message has more.", isTooLarge: true)
    }
}

/// A message of an automation system about the element that begins, as fields with names, whatever form it had.
///
/// Names do not distinguish upper and lower case of A to Z. A field that is there twice has its first value. Fields inside others have
/// both names with `/` between them; an attribute of XML has `@` before its name. A field with a longer name than mappings may have is
/// passed over.
package struct AutomationFields: Hashable, Sendable {
    private var values: [String: String] = [:]

    package init() {}

    /// How many there are.
    package var count: Int { self.values.count }

    /// The value of a field without white space around it; `nil`: it is not there.
    package subscript(name: String) -> String? { self.values[Self.folded(name)] }

    /// Adds a field; one that is there stays.
    package mutating func add(_ name: String, _ value: String) throws(AutomationFault) {
        guard name.utf8.count <= AutomationLimits.nameBytesMax else { return }
        let key = Self.folded(name)
        guard self.values[key] == nil else { return }
        guard self.values.count < AutomationLimits.fieldsMax else {
            throw .limit("fieldsMax", AutomationLimits.fieldsMax)
        }
        self.values[key] = Self.trimmed(value)
    }

    /// Adds the fields of another message that are not there.
    package mutating func add(_ other: AutomationFields) throws(AutomationFault) {
        for (name, value) in other.values.sorted(by: { $0.key < $1.key }) { try self.add(name, value) }
    }

    // MARK: - Forms

    /// Reads a form, or what stands behind the question mark of an address: `type=ad&duration=30`.
    ///
    /// - Throws: where a `%` begins no byte, the bytes of a value are no UTF-8, or a limit is passed; it names the byte.
    package init(form: some Collection<UInt8>) throws(AutomationFault) {
        let bytes = Array(form)
        guard bytes.count <= AutomationLimits.messageBytesMax else {
            throw .limit("messageBytesMax", AutomationLimits.messageBytesMax)
        }
        var start = 0
        for part in bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            defer { start += part.count + 1 }
            guard !part.isEmpty else { continue }
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            let value = part.dropFirst(name.count + 1)
            try self.add(
                try Self.decoded(name, from: start),
                try Self.decoded(value, from: start + name.count + 1)
            )
        }
    }

    private static func decoded(_ text: ArraySlice<UInt8>, from start: Int) throws(AutomationFault) -> String {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                let place = start + (text.count - rest.count)
                guard let high = rest.popFirst().flatMap({ Self.digit($0) }),
                    let low = rest.popFirst().flatMap({ Self.digit($0) })
                else {
                    throw AutomationFault("Byte \(place): a % needs two hexadecimal digits behind it.")
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        // Older systems send the code page of Windows.
        return String(String.UnicodeScalarView(bytes.map { MarkupText.windows1252($0) }))
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    // MARK: - XML

    /// Reads an XML document: the elements inside the outermost one, and all attributes.
    ///
    /// - Parameters:
    ///   - document: the document.
    ///   - charset: the encoding that the sender states; `nil`: none.
    /// - Throws: where it is not well-formed, has a document type, or passes a limit; it names the line.
    package init(xml document: [UInt8], charset: String? = nil) throws(AutomationFault) {
        var limits = AdFormatLimits()
        limits.documentBytesMax = AutomationLimits.messageBytesMax
        limits.elementsMax = AutomationLimits.fieldsMax
        limits.depthMax = AutomationLimits.depthMax
        let root: MarkupElement
        do throws(AdFormatError) {
            root = try MarkupReader.read(document, charset: charset, limits: limits)
        } catch {
            let isTooLarge = if case .tooLarge = error { true } else { false }
            throw AutomationFault(error.description, isTooLarge: isTooLarge)
        }
        try self.add(root, path: "")
    }

    private mutating func add(_ element: MarkupElement, path: String) throws(AutomationFault) {
        // No mapping names a field inside; each would have the long name before its own.
        guard path.utf8.count <= AutomationLimits.nameBytesMax else { return }
        for attribute in element.attributes { try self.add("\(path)@\(attribute.name)", attribute.value) }
        for child in element.children {
            let name = path.isEmpty ? child.name : "\(path)/\(child.name)"
            if child.children.isEmpty { try self.add(name, child.text) }
            try self.add(child, path: name)
        }
    }

    // MARK: - Lines

    /// Reads a line: with a pattern its groups with names are the fields; without one it is read as a form.
    ///
    /// - Parameters:
    ///   - line: the line; white space at its end is passed over.
    ///   - pattern: the pattern; `nil`: none.
    /// - Throws: where the pattern fits nothing in the line, or a limit is passed.
    package init(line: [UInt8], pattern: TextPattern?) throws(AutomationFault) {
        let end = line.lastIndex { !MarkupReader.isSpace($0) }.map { $0 + 1 } ?? 0
        let bytes = line[..<end]
        guard bytes.count <= AutomationLimits.lineBytesMax else {
            throw .limit("lineBytesMax", AutomationLimits.lineBytesMax)
        }
        guard let pattern else {
            try self.init(form: bytes)
            return
        }
        let text =
            String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { MarkupText.windows1252($0) }))
        guard let groups = pattern.firstMatch(in: text) else {
            throw AutomationFault("The line does not fit the pattern of the mapping.")
        }
        self.init()
        for (name, value) in groups.sorted(by: { $0.key < $1.key }) { try self.add(name, value) }
    }

    // MARK: - Texts

    static func folded(_ text: String) -> String {
        String(decoding: text.utf8.map { 0x41...0x5A ~= $0 ? $0 + 0x20 : $0 }, as: UTF8.self)
    }

    static func trimmed(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard let first = bytes.firstIndex(where: { !MarkupReader.isSpace($0) }),
            let last = bytes.lastIndex(where: { !MarkupReader.isSpace($0) })
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }
}
