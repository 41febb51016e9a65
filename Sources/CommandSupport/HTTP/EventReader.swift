// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// One server-sent event.
package struct ServerEvent: Hashable, Sendable {
    /// The event's name; `message` if it has none.
    package let name: String
    package let data: String

    package init(name: String, data: String) {
        self.name = name
        self.data = data
    }
}

/// Bytes of an answer → server-sent events (WHATWG, HTML, section 9.2.6), whatever pieces the bytes come in.
///
/// It skips ids: its users load everything again after a gap.
package struct EventReader: Sendable {
    /// An event has more bytes than it may.
    package struct TooLarge: Error, Hashable, Sendable {}

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let eventBytesMax: Int
    private var line: [UInt8] = []
    private var name = ""
    /// Its lines, each with the byte that ends it.
    private var data: [UInt8] = []
    /// The bytes that are kept of an event that is not whole, its line among them.
    private var bytesKept = 0
    private var isFirstLine = true
    private var lastWasReturn = false

    /// - Parameter eventBytesMax: the most bytes of one event's lines.
    package init(eventBytesMax: Int) {
        self.eventBytesMax = eventBytesMax
    }

    /// Takes bytes as they come.
    ///
    /// - Parameter bytes: in any pieces.
    /// - Returns: the events that are whole, in order.
    /// - Throws: where one is too large; nothing can be read after that.
    package mutating func take(_ bytes: some Sequence<UInt8>) throws(TooLarge) -> [ServerEvent] {
        var events: [ServerEvent] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n") where self.lastWasReturn: self.lastWasReturn = false
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                self.lastWasReturn = byte == UInt8(ascii: "\r")
                if let event = self.endLine() { events.append(event) }
            default:
                self.lastWasReturn = false
                self.bytesKept += 1
                guard self.bytesKept <= self.eventBytesMax else { throw TooLarge() }
                self.line.append(byte)
            }
        }
        return events
    }

    private mutating func endLine() -> ServerEvent? {
        var line = self.line[...]
        self.line = []
        if self.isFirstLine {
            self.isFirstLine = false
            if line.starts(with: Self.mark) { line = line.dropFirst(Self.mark.count) }
        }
        guard !line.isEmpty else { return self.endEvent() }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        let field = String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self)
        var value = colon.map { line[($0 + 1)...] } ?? []
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch field {
        case "event": self.name = String(decoding: value, as: UTF8.self)
        case "data": self.data += value + [UInt8(ascii: "\n")]
        // Comments, ids and what is to come: nothing is kept of them.
        default: break
        }
        self.bytesKept = self.name.utf8.count + self.data.count
        return nil
    }

    private mutating func endEvent() -> ServerEvent? {
        defer {
            self.name = ""
            self.data = []
            self.bytesKept = 0
        }
        guard !self.data.isEmpty else { return nil }
        return ServerEvent(
            name: self.name.isEmpty ? "message" : self.name,
            data: String(decoding: self.data.dropLast(), as: UTF8.self)
        )
    }
}
