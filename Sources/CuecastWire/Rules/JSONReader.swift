// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A value of a JSON document that knows its line, so that a fault in it can be found (RFC 8259).
package struct JSONNode: Sendable {
    package enum Value: Sendable {
        case object([(key: String, value: JSONNode)])
        case array([JSONNode])
        case string(String)
        /// As it is written.
        case number(String)
        case boolean(Bool)
        case null
    }

    package let value: Value
    /// Counted from 1.
    package let line: Int

    package init(value: Value, line: Int) {
        self.value = value
        self.line = line
    }

    /// The kind of value, for sentences.
    package var kind: String {
        switch self.value {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .boolean: "true or false"
        case .null: "null"
        }
    }
}

/// Reads one JSON document (RFC 8259); it refuses duplicate keys in an object, because a decoder takes one of the two and cannot
/// know which was meant.
package struct JSONReader {
    package struct Fault: Error {
        package let line: Int
        package let reason: String
    }

    /// The most values inside each other.
    package static let depthMax = 32

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads a document whole.
    ///
    /// - Returns: its value.
    /// - Throws: the first thing that is wrong, with its line.
    package static func read(_ bytes: [UInt8]) throws(Fault) -> JSONNode {
        // Only valid UTF-8 is text; bytes that a decoder would repair are a fault.
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw Fault(line: 1, reason: "the file is not UTF-8")
        }
        var reader = JSONReader(bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
        let node = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == bytes.count else { throw reader.fault("there is something after the end") }
        return node
    }

    private func fault(_ reason: String) -> Fault { Fault(line: self.line, reason: reason) }

    private var next: UInt8? { self.position < self.bytes.count ? self.bytes[self.position] : nil }

    private mutating func skipSpace() {
        while let byte = self.next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
            if byte == 0x0A { self.line += 1 }
            self.position += 1
        }
    }

    private mutating func value(depth: Int) throws(Fault) -> JSONNode {
        guard depth < Self.depthMax else { throw self.fault("there are more than \(Self.depthMax) levels") }
        self.skipSpace()
        let line = self.line
        guard let byte = self.next else { throw self.fault("the file ends too early") }
        switch byte {
        case UInt8(ascii: "{"): return JSONNode(value: .object(try self.members(depth: depth)), line: line)
        case UInt8(ascii: "["): return JSONNode(value: .array(try self.elements(depth: depth)), line: line)
        case UInt8(ascii: "\""): return JSONNode(value: .string(try self.string()), line: line)
        case UInt8(ascii: "t"):
            try self.expect("true")
            return JSONNode(value: .boolean(true), line: line)
        case UInt8(ascii: "f"):
            try self.expect("false")
            return JSONNode(value: .boolean(false), line: line)
        case UInt8(ascii: "n"):
            try self.expect("null")
            return JSONNode(value: .null, line: line)
        default: return JSONNode(value: .number(try self.number()), line: line)
        }
    }

    private mutating func expect(_ word: StaticString) throws(Fault) {
        let text = "\(word)"
        guard self.bytes[self.position...].starts(with: text.utf8) else {
            throw self.fault("a value is expected here")
        }
        self.position += text.utf8.count
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        self.skipSpace()
        guard self.next == byte else { return false }
        self.position += 1
        return true
    }

    private mutating func members(depth: Int) throws(Fault) -> [(key: String, value: JSONNode)] {
        self.position += 1
        var members: [(key: String, value: JSONNode)] = []
        var keys: Set<String> = []
        if self.take(UInt8(ascii: "}")) { return members }
        repeat {
            self.skipSpace()
            guard self.next == UInt8(ascii: "\"") else { throw self.fault("a key in quotes is expected here") }
            let key = try self.string()
            guard keys.insert(key).inserted else { throw self.fault("the key \(key) is listed twice") }
            guard self.take(UInt8(ascii: ":")) else { throw self.fault("a colon is expected after the key \(key)") }
            members.append((key, try self.value(depth: depth + 1)))
        } while self.take(UInt8(ascii: ","))
        guard self.take(UInt8(ascii: "}")) else { throw self.fault("a comma or } is expected here") }
        return members
    }

    private mutating func elements(depth: Int) throws(Fault) -> [JSONNode] {
        self.position += 1
        var elements: [JSONNode] = []
        if self.take(UInt8(ascii: "]")) { return elements }
        repeat { elements.append(try self.value(depth: depth + 1)) } while self.take(UInt8(ascii: ","))
        guard self.take(UInt8(ascii: "]")) else { throw self.fault("a comma or ] is expected here") }
        return elements
    }

    private mutating func number() throws(Fault) -> String {
        let start = self.position
        if self.next == UInt8(ascii: "-") { self.position += 1 }
        let whole = self.digits()
        guard whole == 1 || (whole > 1 && self.bytes[self.position - whole] != UInt8(ascii: "0")) else {
            throw self.fault("a value is expected here")
        }
        if self.next == UInt8(ascii: ".") {
            self.position += 1
            guard self.digits() > 0 else { throw self.fault("the number ends after its point") }
        }
        if self.next == UInt8(ascii: "e") || self.next == UInt8(ascii: "E") {
            self.position += 1
            if self.next == UInt8(ascii: "+") || self.next == UInt8(ascii: "-") { self.position += 1 }
            guard self.digits() > 0 else { throw self.fault("the number has no exponent") }
        }
        return String(decoding: self.bytes[start..<self.position], as: UTF8.self)
    }

    private mutating func digits() -> Int {
        let start = self.position
        while let byte = self.next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { self.position += 1 }
        return self.position - start
    }

    private mutating func string() throws(Fault) -> String {
        self.position += 1
        var text: [UInt8] = []
        while let byte = self.next {
            self.position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): text += try self.escaped()
            case 0..<0x20: throw self.fault("a string has a control character; write it as \\n or \\u0000")
            default: text.append(byte)
            }
        }
        throw self.fault("a string has no end")
    }

    private mutating func escaped() throws(Fault) -> [UInt8] {
        guard let byte = self.next else { throw self.fault("a string has no end") }
        self.position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            let first = try self.codeUnit()
            var units = [first]
            if UTF16.isLeadSurrogate(first), self.bytes[self.position...].starts(with: "\\u".utf8) {
                self.position += 2
                units.append(try self.codeUnit())
            }
            guard let text = String(validating: units, as: UTF16.self) else {
                throw self.fault("a string has half a character in \\u")
            }
            return Array(text.utf8)
        default: throw self.fault("a string has an escape that JSON does not know")
        }
    }

    private mutating func codeUnit() throws(Fault) -> UInt16 {
        let digits = self.bytes[self.position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy(Self.isHexadecimal),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw self.fault("\\u needs four hexadecimal digits") }
        self.position += 4
        return unit
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
