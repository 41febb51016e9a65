// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

extension Unicode.Scalar {
    /// C0, DEL or C1 (Unicode 16, section 23.1): nothing that is published may have them, because terminals act on all of them.
    var isControl: Bool { self.value < 0x20 || (0x7F...0x9F).contains(self.value) }
}

extension MarkupElement {
    /// The VAST elements of a name directly in this one.
    ///
    /// An element in a namespace that is neither this element's, nor VAST's, nor none belongs to another vocabulary (VAST 4.3
    /// section 3, "XML Namespace").
    func children(named name: String) -> [MarkupElement] {
        self.children.filter { child in
            child.name == name
                && (child.namespace.isEmpty || child.namespace == self.namespace || child.namespace == VAST.namespace)
        }
    }

    /// The first VAST element of a name directly in this one.
    func child(_ name: String) -> MarkupElement? { self.children(named: name).first }

    /// An attribute without the white space around it; nil where it is absent or empty.
    ///
    /// Letter case does not matter: what is `AdID` in VAST 2.0 is `adId` in VAST 4.
    func attribute(_ name: String) -> String? {
        let key = name.lowercased()
        let value = self.attributes.first { $0.name.lowercased() == key }?.value.trimmed
        return value?.isEmpty ?? true ? nil : value
    }

    /// Whether an attribute says yes, in the manner of XML Schema but in any letter case.
    func isTrue(_ name: String) -> Bool {
        let value = self.attribute(name)?.lowercased()
        return value == "true" || value == "1"
    }

    /// An attribute that counts something: a number of at least 0, of which a fraction is cut off.
    func number(_ name: String) -> Int? { self.attribute(name).flatMap { Self.number($0) } }

    /// The same for a text.
    static func number(_ text: String) -> Int? {
        guard text.utf8.count <= 16, let value = Double(text), (0...Double(Int32.max)).contains(value) else {
            return nil
        }
        return Int(value)
    }
}

extension StringProtocol {
    /// Without the white space of XML 1.0 section 2.3 around it.
    var trimmed: String {
        let isSpace: (Character) -> Bool = { $0.utf8.allSatisfy(MarkupReader.isSpace) }
        guard let first = self.firstIndex(where: { !isSpace($0) }), let last = self.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(self[first...last])
    }

    /// As many of the first characters as fit.
    func prefix(bytesMax: Int) -> String {
        guard self.utf8.count > bytesMax else { return String(self) }
        var bytes = 0
        return String(
            self.prefix { character in
                bytes += character.utf8.count
                return bytes <= bytesMax
            }
        )
    }
}
