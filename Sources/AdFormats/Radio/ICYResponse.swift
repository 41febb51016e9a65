// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The head of a radio server's answer: `HTTP/1.0 200 OK` of Icecast, or `ICY 200 OK` of SHOUTcast.
package struct ICYResponseHead: Hashable, Sendable {
    /// One field.
    package struct Field: Hashable, Sendable {
        /// Its name, in lower case.
        package var name: String
        /// Its value without the spaces around it.
        package var value: String
    }

    /// The status, such as 200.
    package var status: Int
    /// Whether the answer is HTTP/1.1 or newer: only then a body may come in chunks.
    package var mayBeChunked: Bool
    /// The fields, in order.
    package var fields: [Field] = []

    /// The first value of a field.
    ///
    /// - Parameter name: The name, in lower case.
    /// - Returns: The value; `nil`: there is no such field.
    package func value(of name: String) -> String? { self.fields.first { $0.name == name }?.value }

    /// The address that a redirect names; `nil`: the answer is no redirect.
    package var redirect: String? {
        switch self.status {
        case 301, 302, 303, 307, 308: self.value(of: "location")
        default: nil
        }
    }
}

/// The bounds of a radio server's answer; the body has none.
package struct ICYResponseLimits: Hashable, Sendable {
    /// The most bytes of the head, and of all trailers.
    package var headBytesMax = 16_384
    /// The most lines of the head, and of all trailers.
    package var headLinesMax = 128
    /// The most bytes of the line that begins a chunk.
    package var chunkLineBytesMax = 256

    /// The default limits.
    package init() {}
}

/// Why a radio server's answer cannot be read.
package struct ICYResponseError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line of the head, counted from 1; `nil`: the fault is in the body.
    package var line: Int?
    /// The place of the fault in bytes from the beginning of the answer.
    package var byteOffset: Int
    /// The fault, as a clause.
    package var fault: String

    /// A sentence for people.
    package var description: String {
        let place = self.line.map { "line \($0) of its head" } ?? "byte \(self.byteOffset)"
        return "The server's answer cannot be read: \(place): \(self.fault)."
    }
}

/// Reads a radio server's answer: its head, and the metadata between the audio.
///
/// The bytes may come in pieces of any size. The audio is passed over; nothing of it is kept.
package struct ICYResponseReader: Hashable, Sendable {
    /// A part of the answer.
    package enum Part: Hashable, Sendable {
        /// The head is complete.
        case head(ICYResponseHead)
        /// A block of metadata came; the first place for one in an answer is 1.
        case metadata(ICYMetadata, place: Int)
        /// The body is complete.
        case end
    }

    private enum Place: Hashable {
        case head
        /// Body until the server closes the connection.
        case body
        /// Body with a length.
        case measured(left: Int)
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case trailer
        case over
    }

    /// The longest body or chunk, in bytes: a number that fits everywhere.
    private static let lengthMax = 1 << 53

    private let limits: ICYResponseLimits
    private var place = Place.head
    private var line: [UInt8] = []
    private var lineCount = 0
    private var lineBytes = 0
    private var offset = 0
    private var head: ICYResponseHead?
    /// Takes the metadata out of the body; `nil`: the body has none.
    private var metadata: ICYReader?

    /// A reader that has read nothing.
    package init(limits: ICYResponseLimits = ICYResponseLimits()) { self.limits = limits }

    /// Whether the answer ends properly where the server closes the connection now.
    package var mayEndHere: Bool { self.place == .body || self.place == .over }

    /// Reads the next bytes.
    ///
    /// - Parameter bytes: What follows the bytes before.
    /// - Returns: The parts that are complete now, in order.
    /// - Throws: ``ICYResponseError``; nothing can be read after that.
    package mutating func read(_ bytes: [UInt8]) throws(ICYResponseError) -> [Part] {
        var parts: [Part] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            switch self.place {
            case .over: return parts
            case .body: self.pass(rest.count, of: &rest, &parts)
            case .measured(let left):
                let count = min(left, rest.count)
                self.pass(count, of: &rest, &parts)
                self.place = .measured(left: left - count)
                if count == left { self.end(&parts) }
            case .chunk(let left):
                let count = min(left, rest.count)
                self.pass(count, of: &rest, &parts)
                self.place = count == left ? .chunkEnd : .chunk(left: left - count)
            case .head, .chunkSize, .chunkEnd, .trailer:
                guard let line = try self.takeLine(of: &rest) else { break }
                try self.read(line, &parts)
            }
        }
        return parts
    }

    /// Takes bytes of the body.
    private mutating func pass(_ count: Int, of rest: inout ArraySlice<UInt8>, _ parts: inout [Part]) {
        if self.metadata != nil {
            for (place, metadata) in self.metadata?.readPlaces(Array(rest.prefix(count))) ?? [] {
                parts.append(.metadata(metadata, place: place))
            }
        }
        rest = rest.dropFirst(count)
        self.offset += count
    }

    private mutating func end(_ parts: inout [Part]) {
        self.place = .over
        parts.append(.end)
    }

    // MARK: - Lines

    /// Takes bytes up to the end of a line.
    ///
    /// - Returns: The line without its end; `nil`: it is not complete.
    private mutating func takeLine(of rest: inout ArraySlice<UInt8>) throws(ICYResponseError) -> [UInt8]? {
        let isChunk = self.place == .chunkSize || self.place == .chunkEnd
        let bytesMax = isChunk ? self.limits.chunkLineBytesMax : self.limits.headBytesMax
        let end = rest.firstIndex(of: UInt8(ascii: "\n"))
        let piece = rest[..<(end ?? rest.endIndex)]
        let taken = piece.count + (end == nil ? 0 : 1)
        guard self.lineBytes + taken <= bytesMax else {
            self.offset += max(bytesMax - self.lineBytes, 0)
            throw self.fault(
                isChunk
                    ? "the line of a chunk has more than \(bytesMax) bytes (chunkLineBytesMax)"
                    : "the head has more than \(bytesMax) bytes (headBytesMax)",
                inLine: self.lineCount + 1
            )
        }
        self.lineBytes += taken
        self.offset += taken
        self.line += piece
        rest = rest.dropFirst(taken)
        guard end != nil else { return nil }
        if self.line.last == UInt8(ascii: "\r") { self.line.removeLast() }
        defer { self.line = [] }
        return self.line
    }

    private mutating func read(_ line: [UInt8], _ parts: inout [Part]) throws(ICYResponseError) {
        switch self.place {
        case .head:
            try self.countLine()
            try self.readHead(line, &parts)
        case .chunkSize:
            self.lineBytes = 0
            let size = try self.chunkSize(line)
            self.place = size == 0 ? .trailer : .chunk(left: size)
            self.lineCount = 0
        case .chunkEnd:
            self.lineBytes = 0
            guard line.isEmpty else { throw self.fault("a chunk goes on behind its length") }
            self.place = .chunkSize
        case .trailer:
            try self.countLine()
            if line.isEmpty { self.end(&parts) }
        case .body, .measured, .chunk, .over: break
        }
    }

    private mutating func countLine() throws(ICYResponseError) {
        self.lineCount += 1
        guard self.lineCount <= self.limits.headLinesMax else {
            throw self.fault("the head has more than \(self.limits.headLinesMax) lines (headLinesMax)")
        }
    }

    private func chunkSize(_ line: [UInt8]) throws(ICYResponseError) -> Int {
        let digits = line.prefix { $0 != UInt8(ascii: ";") }
            .filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        let isHex = digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit && $0 < 0x80 }
        guard !digits.isEmpty, isHex, let size = Int(String(decoding: digits, as: UTF8.self), radix: 16),
            size <= Self.lengthMax
        else { throw self.fault("a chunk begins with \(Self.shown(line)) instead of its length") }
        return size
    }

    // MARK: - The head

    private mutating func readHead(_ line: [UInt8], _ parts: inout [Part]) throws(ICYResponseError) {
        guard self.head != nil else {
            self.head = try self.statusLine(line)
            return
        }
        guard line.isEmpty else { return try self.readField(line) }
        guard let head = self.head else { return }
        // An interim answer comes before the answer proper.
        if (100..<200).contains(head.status) {
            self.head = nil
            return
        }
        try self.beginBody(head)
        self.lineBytes = 0
        parts.append(.head(head))
        if case .measured(left: 0) = self.place { self.end(&parts) }
    }

    private func statusLine(_ line: [UInt8]) throws(ICYResponseError) -> ICYResponseHead {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        let version = words.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
        guard version == "ICY" || (version.hasPrefix("HTTP/1.") && version.utf8.count == 8) else {
            throw self.fault("it begins with \(Self.shown(line)) instead of “HTTP/1.0”, “HTTP/1.1” or “ICY”")
        }
        guard words.count > 1, words[1].count == 3, let status = Int(String(decoding: words[1], as: UTF8.self)),
            (100...599).contains(status)
        else { throw self.fault("there is no status of three digits behind “\(version)”") }
        return ICYResponseHead(status: status, mayBeChunked: version != "ICY" && version != "HTTP/1.0")
    }

    private mutating func readField(_ line: [UInt8]) throws(ICYResponseError) {
        guard !line.contains(0) else { throw self.fault("a byte 0 is in it") }
        // A line that begins with a space goes on with the line before.
        if let first = line.first, Self.isSpace(first) {
            guard let last = self.head?.fields.indices.last else {
                throw self.fault("it begins with a space, and there is no field before it")
            }
            self.head?.fields[last].value += " " + Self.text(line[...])
            return
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else {
            throw self.fault("\(Self.shown(line)) is no field: a name and a colon are missing")
        }
        let name = Self.text(line[..<colon]).lowercased()
        self.head?.fields.append(ICYResponseHead.Field(name: name, value: Self.text(line[(colon + 1)...])))
    }

    private mutating func beginBody(_ head: ICYResponseHead) throws(ICYResponseError) {
        if head.status == 200, let interval = head.value(of: "icy-metaint").flatMap({ PlaylistText.integer($0) }),
            interval > 0
        {
            guard let reader = ICYReader(metadataInterval: interval) else {
                throw self.fault("icy-metaint is \(interval), and \(ICYReader.metadataIntervalMax) is the most")
            }
            self.metadata = reader
        }
        if let coding = head.value(of: "transfer-encoding"), coding.lowercased() != "identity" {
            guard head.mayBeChunked, coding.lowercased() == "chunked" else {
                throw self.fault("transfer-encoding \(Self.shown(Array(coding.utf8))) is not known here")
            }
            self.place = .chunkSize
        } else if head.status == 204 || head.status == 304 {
            self.place = .measured(left: 0)
        } else if let text = head.value(of: "content-length") {
            guard let length = PlaylistText.integer(text), (0...Self.lengthMax).contains(length) else {
                throw self.fault("content-length \(Self.shown(Array(text.utf8))) is no length")
            }
            self.place = .measured(left: length)
        } else {
            self.place = .body
        }
    }

    // MARK: - Words

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// Text without the spaces around it; bytes that are not UTF-8 are taken as Windows-1252.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        var bytes = bytes.drop { Self.isSpace($0) }
        while let last = bytes.last, Self.isSpace(last) { bytes.removeLast() }
        return String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { MarkupText.windows1252($0) }))
    }

    /// The beginning of bytes of a stranger, for a sentence.
    private static func shown(_ bytes: [UInt8]) -> String {
        let shown = bytes.prefix(32).map { (0x20...0x7E).contains($0) ? Character(Unicode.Scalar($0)) : "." }
        return "“\(String(shown))\(bytes.count > 32 ? "…" : "")”"
    }

    private func fault(_ fault: String, inLine line: Int? = nil) -> ICYResponseError {
        let isHead = self.place == .head
        return ICYResponseError(line: isHead ? line ?? self.lineCount : nil, byteOffset: self.offset, fault: fault)
    }
}
