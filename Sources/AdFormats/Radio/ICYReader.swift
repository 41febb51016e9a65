// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The metadata of a radio stream, as servers of Icecast and SHOUTcast put it between the audio.
public struct ICYMetadata: Hashable, Sendable {
    /// One field.
    public struct Field: Hashable, Sendable {
        /// Its name, such as `StreamTitle`.
        public var name: String
        /// Its value without the quotation marks around it.
        public var value: String
    }

    /// The whole text.
    public var text: String
    /// The fields, in order.
    public var fields: [Field]

    /// Reads a block: `StreamTitle='…';StreamUrl='…';` and zeros that fill it.
    ///
    /// A value may have quotation marks and semicolons in it: it ends where `';` is the end of the text or stands before the name of
    /// another field. Text that is not UTF-8 is taken as Windows-1252.
    ///
    /// - Parameter block: The block, without the byte of its length.
    public init(_ block: [UInt8]) {
        let bytes = block.prefix { $0 != 0 }
        let text =
            String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { MarkupText.windows1252($0) }))
        self.text = text
        self.fields = Self.fields(of: Array(text.utf8))
    }

    /// The value of a field.
    ///
    /// Letter case does not matter in names.
    ///
    /// - Parameter name: The name.
    /// - Returns: The value; `nil`: there is no such field.
    public func value(of name: String) -> String? {
        let lowercased = name.lowercased()
        return self.fields.first { $0.name.lowercased() == lowercased }?.value
    }

    /// `StreamTitle`.
    public var title: String? { self.value(of: "StreamTitle") }
    /// `StreamUrl`.
    public var url: String? { self.value(of: "StreamUrl") }

    private static func fields(of text: [UInt8]) -> [Field] {
        var fields: [Field] = []
        // Where a name could begin: at the beginning, and behind each quotation mark and semicolon.
        var starts: [Int] = [0]
        starts += text.indices.dropFirst(2).filter { Self.isEnd(text, before: $0) }
        starts = starts.filter { Self.name(of: text, at: $0) != nil }
        for (index, start) in starts.enumerated() {
            guard let name = Self.name(of: text, at: start) else { continue }
            let first = start + name.count + 2
            var end = index + 1 < starts.count ? starts[index + 1] : text.count
            if end >= first + 2, Self.isEnd(text, before: end) {
                end -= 2
            } else if end > first, text[end - 1] == UInt8(ascii: "'") {
                end -= 1
            }
            let value = String(decoding: text[first..<max(first, end)], as: UTF8.self)
            fields.append(Field(name: String(decoding: name, as: UTF8.self), value: value))
        }
        return fields
    }

    /// The longest name, in bytes; with a longer one there is no field.
    private static let nameBytesMax = 64

    private static func isEnd(_ text: [UInt8], before place: Int) -> Bool {
        text[place - 2] == UInt8(ascii: "'") && text[place - 1] == UInt8(ascii: ";")
    }

    /// The name in front of `='`.
    private static func name(of text: [UInt8], at start: Int) -> ArraySlice<UInt8>? {
        let name = text[start...].prefix(self.nameBytesMax)
            .prefix { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        guard !name.isEmpty, text[name.endIndex...].starts(with: "='".utf8) else { return nil }
        return name
    }
}

/// Takes the metadata out of a radio stream.
///
/// After each `icy-metaint` bytes of audio one byte says how many times 16 bytes of metadata follow; 0 says that nothing changed.
/// The bytes may come in pieces of any size.
public struct ICYReader: Hashable, Sendable {
    /// The longest stretch of audio between two blocks, in bytes (16 MiB); servers have 8,000 to 64,000.
    public static let metadataIntervalMax = 16_777_216
    private static let bytesPerUnit = 16

    private enum Place: Hashable {
        case audio(left: Int)
        case length
        case metadata(left: Int)
    }

    private let interval: Int
    private var place: Place
    private var block: [UInt8] = []
    /// How many bytes of audio came.
    public private(set) var audioBytes = 0
    /// How many places for metadata came, with those that are empty.
    private var places = 0

    /// A reader at the beginning of a response.
    ///
    /// - Parameter metadataInterval: The header `icy-metaint` of the response; `nil` for one that is not possible.
    public init?(metadataInterval: Int) {
        guard (1...Self.metadataIntervalMax).contains(metadataInterval) else { return nil }
        self.interval = metadataInterval
        self.place = .audio(left: metadataInterval)
    }

    /// Reads the next bytes.
    ///
    /// - Parameter bytes: What follows the bytes before.
    /// - Returns: The metadata that is complete now, in order.
    public mutating func read(_ bytes: [UInt8]) -> [ICYMetadata] { self.readPlaces(bytes).map(\.metadata) }

    /// Reads the next bytes, and tells at which place for metadata each block was; the first one is 1.
    package mutating func readPlaces(_ bytes: [UInt8]) -> [(place: Int, metadata: ICYMetadata)] {
        var read: [(place: Int, metadata: ICYMetadata)] = []
        var rest = bytes[...]
        while let first = rest.first {
            switch self.place {
            case .audio(let left):
                let count = min(left, rest.count)
                rest = rest.dropFirst(count)
                self.audioBytes += count
                self.place = count == left ? .length : .audio(left: left - count)
            case .length:
                rest = rest.dropFirst()
                self.places += 1
                self.place = first == 0 ? .audio(left: self.interval) : .metadata(left: Int(first) * Self.bytesPerUnit)
            case .metadata(let left):
                let piece = rest.prefix(left)
                rest = rest.dropFirst(piece.count)
                self.block += piece
                guard piece.count == left else {
                    self.place = .metadata(left: left - piece.count)
                    continue
                }
                read.append((self.places, ICYMetadata(self.block)))
                self.block = []
                self.place = .audio(left: self.interval)
            }
        }
        return read
    }
}
