// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A client's request to speak ZeroMQ over WebSocket (RFC 6455 section 4.2.1), whose form is right.
package struct WebSocketUpgrade: Hashable, Sendable {
    /// The path that it asks for, without a query.
    package let path: String
    package let host: String
    /// The origin of the page that asks; `nil`: it is no browser.
    package let origin: String?
    package let key: String
    /// The first subprotocol of its list that there is here.
    package let mechanism: ZWSMechanism
    /// The length of its head, in bytes.
    package let byteCount: Int

    /// The answer that accepts it.
    package var answer: [UInt8] {
        Array(
            """
            HTTP/1.1 101 Switching Protocols\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Accept: \(WebSocketKey.accept(self.key))\r
            Sec-WebSocket-Protocol: \(self.mechanism.rawValue)\r
            \r

            """
            .utf8
        )
    }
}

/// Reads the head of a request that should be a ``WebSocketUpgrade``, however its bytes are cut.
///
/// It keeps no bytes, and looks at each byte once until the head is there. A head is bounded in bytes and lines.
package struct WebSocketUpgradeReader: Sendable {
    /// The longest head, in bytes.
    package static let headBytesMax = 8_192
    /// The most lines of a head.
    package static let linesMax = 64

    /// How many bytes were looked at.
    private var scanned = 0
    /// Where the line at hand begins.
    private var lineStart = 0
    private var lines: [Range<Int>] = []

    package init() {}

    /// Looks at what came since the last call.
    ///
    /// - Parameter bytes: everything that came: the same bytes as before, and more behind them.
    /// - Returns: the request; `nil`: its head is not there in full.
    /// - Throws: why it is refused.
    package mutating func next(in bytes: Span<UInt8>) throws(WebSocketRefusal) -> WebSocketUpgrade? {
        while self.scanned < bytes.count {
            let byte = bytes[self.scanned]
            // A client that speaks something else is not waited for.
            guard self.scanned > 0 || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) else { throw .notHTTP }
            guard self.scanned < Self.headBytesMax else { throw .headTooLong }
            self.scanned += 1
            guard byte == UInt8(ascii: "\n") else {
                guard byte >= 0x20 && byte != 0x7F || byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\t") else {
                    throw .malformedLine(self.lines.count + 1)
                }
                continue
            }
            let end = self.scanned - 2
            guard end >= self.lineStart, bytes[end] == UInt8(ascii: "\r") else {
                throw .malformedLine(self.lines.count + 1)
            }
            guard end > self.lineStart else {
                return try HeadFields(bytes, self.lines).upgrade(byteCount: self.scanned)
            }
            self.lines.append(self.lineStart..<end)
            guard self.lines.count <= Self.linesMax else { throw .tooManyLines }
            self.lineStart = self.scanned
        }
        return nil
    }
}

/// The fields of a head that matter to an upgrade.
private struct HeadFields {
    private let path: String
    private var hosts: [String] = []
    private var origins: [String] = []
    private var keys: [String] = []
    private var versions: [String] = []
    private var upgrades: [String] = []
    private var connections: [String] = []
    private var protocols: [String] = []

    init(_ bytes: Span<UInt8>, _ lines: [Range<Int>]) throws(WebSocketRefusal) {
        guard let first = lines.first else { throw .malformedLine(1) }
        let words = Self.text(bytes, first).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2].hasPrefix("HTTP/") else { throw .malformedLine(1) }
        guard words[0] == "GET" else { throw .method }
        guard words[2] == "HTTP/1.1" else { throw .httpVersion }
        guard words[1].hasPrefix("/") else { throw .malformedLine(1) }
        self.path = String(words[1].prefix { $0 != "?" })
        for (number, line) in lines.enumerated().dropFirst() {
            let text = Self.text(bytes, line)
            guard let colon = text.firstIndex(of: ":"), Self.isToken(text[..<colon]) else {
                throw .malformedLine(number + 1)
            }
            try self.take(text[..<colon].lowercased(), Self.trimmed(text[text.index(after: colon)...]))
        }
    }

    private mutating func take(_ name: String, _ value: String) throws(WebSocketRefusal) {
        switch name {
        case "host": self.hosts.append(value)
        case "origin": self.origins.append(value)
        case "sec-websocket-key": self.keys.append(value)
        case "sec-websocket-version": self.versions.append(value)
        case "upgrade": self.upgrades += Self.list(value).map { $0.lowercased() }
        case "connection": self.connections += Self.list(value).map { $0.lowercased() }
        case "sec-websocket-protocol": self.protocols += Self.list(value)
        case "transfer-encoding": throw .body
        case "content-length": if value != "0" { throw .body }
        default: break
        }
    }

    func upgrade(byteCount: Int) throws(WebSocketRefusal) -> WebSocketUpgrade {
        guard self.upgrades.contains("websocket"), self.connections.contains("upgrade") else { throw .noUpgrade }
        guard self.versions == ["13"] else { throw .version }
        guard self.hosts.count == 1 else { throw .field("Host") }
        guard self.keys.count == 1, WebSocketKey.isValid(self.keys[0]) else { throw .field("Sec-WebSocket-Key") }
        guard self.origins.count <= 1 else { throw .field("Origin") }
        guard let mechanism = self.protocols.lazy.compactMap(ZWSMechanism.init(rawValue:)).first else {
            throw .subprotocol
        }
        return WebSocketUpgrade(
            path: self.path,
            host: self.hosts[0],
            origin: self.origins.first,
            key: self.keys[0],
            mechanism: mechanism,
            byteCount: byteCount
        )
    }

    private static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
        var text: [UInt8] = []
        for index in range { text.append(bytes[index]) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isToken(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    private static func list(_ value: String) -> [String] { value.split(separator: ",").map(self.trimmed) }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        return String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
