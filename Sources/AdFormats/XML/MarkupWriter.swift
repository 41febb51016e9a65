// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Writes an XML document in UTF-8 in which every text is a text, whatever stands in it.
///
/// Characters that XML 1.0 cannot express (section 2.2) become U+FFFD.
struct MarkupWriter {
    private(set) var bytes = Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".utf8)

    /// An element with a text.
    ///
    /// - Parameters:
    ///   - name: its name; a constant of the caller's.
    ///   - text: the content of the element.
    ///   - attributes: names and values, in order; those with the value `nil` are left out.
    mutating func element(
        _ name: StaticString,
        _ text: String,
        _ attributes: KeyValuePairs<StaticString, String?> = [:]
    ) {
        self.begin(name, attributes)
        self.bytes.append(UInt8(ascii: ">"))
        self.write(text, isAttribute: false)
        self.end(name)
    }

    /// An element with others in it.
    ///
    /// - Parameters:
    ///   - name: its name; a constant of the caller's.
    ///   - attributes: names and values, in order; those with the value `nil` are left out.
    ///   - content: writes the content of the element.
    mutating func element(
        _ name: StaticString,
        _ attributes: KeyValuePairs<StaticString, String?> = [:],
        _ content: (inout MarkupWriter) -> Void = { _ in }
    ) {
        self.begin(name, attributes)
        let place = self.bytes.count
        self.bytes += Array(">\n".utf8)
        content(&self)
        guard self.bytes.count > place + 2 else {
            self.bytes.replaceSubrange(place..., with: Array("/>\n".utf8))
            return
        }
        self.end(name)
    }

    private mutating func begin(_ name: StaticString, _ attributes: KeyValuePairs<StaticString, String?>) {
        self.bytes += Array("<\(name)".utf8)
        for (key, value) in attributes {
            guard let value else { continue }
            self.bytes += Array(" \(key)=\"".utf8)
            self.write(value, isAttribute: true)
            self.bytes.append(UInt8(ascii: "\""))
        }
    }

    private mutating func end(_ name: StaticString) { self.bytes += Array("</\(name)>\n".utf8) }

    private mutating func write(_ text: String, isAttribute: Bool) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": self.bytes += Array("&amp;".utf8)
            case "<": self.bytes += Array("&lt;".utf8)
            // Behind two brackets it must not stand as it is (section 2.4).
            case ">": self.bytes += Array("&gt;".utf8)
            case "\"": self.bytes += Array("&quot;".utf8)
            // Readers make a line feed of it, and in attributes a space of all three (sections 2.11 and 3.3.3).
            case "\r": self.bytes += Array("&#13;".utf8)
            case "\n" where isAttribute: self.bytes += Array("&#10;".utf8)
            case "\t" where isAttribute: self.bytes += Array("&#9;".utf8)
            default: self.bytes += Array(String(Self.isAllowed(scalar) ? scalar : "\u{FFFD}").utf8)
            }
        }
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x9, 0xA, 0xD, 0x20...0xFFFD, 0x1_0000...0x10_FFFF: true
        default: false
        }
    }
}
