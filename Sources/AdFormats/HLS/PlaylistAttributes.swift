// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The list of attributes of a tag (RFC 8216 section 4.2).
///
/// It takes more than the specification allows, since packagers write more: names in any case, spaces around them, values
/// without a name.
struct PlaylistAttributes {
    /// The values of the attributes, by name in capitals; of two with one name the first counts.
    private(set) var values: [String: String] = [:]
    /// The first value that has no name.
    private(set) var bare: String?

    /// The value of the first of these attributes that is there.
    subscript(names: String...) -> String? {
        names.lazy.compactMap { self.values[$0] }.first
    }

    /// Reads a list.
    ///
    /// - Throws: ``PlaylistTagFault`` where an opening quotation mark has no closing one, or there are too many attributes.
    init(_ text: ArraySlice<UInt8>, countMax: Int) throws(PlaylistTagFault) {
        var position = text.startIndex
        var count = 0
        while position < text.endIndex {
            let byte = text[position]
            if byte == UInt8(ascii: ",") || PlaylistText.isSpace(byte) {
                position += 1
                continue
            }
            count += 1
            guard count <= countMax else {
                throw PlaylistTagFault("has more than \(countMax) attributes (attributesPerTagMax)")
            }
            var name: String?
            if byte != UInt8(ascii: "\"") {
                let end = text[position...].firstIndex { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ",") }
                if let end, text[end] == UInt8(ascii: "=") {
                    name = PlaylistText.string(text[position..<end]).uppercased()
                    position = end + 1
                }
            }
            let value = try Self.value(of: text, at: &position)
            if let name {
                if self.values[name] == nil { self.values[name] = value }
            } else if self.bare == nil {
                self.bare = value
            }
        }
    }

    /// The value that begins at a position, without its quotation marks; the position moves to the comma behind it.
    private static func value(of text: ArraySlice<UInt8>, at position: inout Int) throws(PlaylistTagFault) -> String {
        while position < text.endIndex, PlaylistText.isSpace(text[position]) { position += 1 }
        if position < text.endIndex, text[position] == UInt8(ascii: "\"") {
            guard let end = text[(position + 1)...].firstIndex(of: UInt8(ascii: "\"")) else {
                throw PlaylistTagFault("has an opening quotation mark without a closing one")
            }
            let value = String(decoding: text[(position + 1)..<end], as: UTF8.self)
            position = text[end...].firstIndex(of: UInt8(ascii: ",")) ?? text.endIndex
            return value
        }
        let end = text[position...].firstIndex(of: UInt8(ascii: ",")) ?? text.endIndex
        let value = PlaylistText.string(text[position..<end])
        position = end
        return value
    }
}

/// A fault of a tag, as the end of a sentence that begins with the tag's name.
struct PlaylistTagFault: Error, Equatable {
    let fault: String

    init(_ fault: String) { self.fault = fault }
}
