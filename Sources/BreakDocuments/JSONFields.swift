// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The fields of one object of a document, each read as what it must be.
struct JSONFields {
    private let line: Int
    private let path: String
    private let members: [String: JSONNode]

    /// Takes an object apart; a member that its shape does not have is refused.
    init(_ node: JSONNode, path: String, shape: RequestShape) throws(DocumentFault) {
        try self.init(node, path: path, known: shape.names)
    }

    /// Takes an object apart; a key that is not known is refused.
    init(_ node: JSONNode, path: String, known: Set<String>) throws(DocumentFault) {
        guard case .object(let members) = node.value else {
            throw DocumentFault(line: node.line, field: path, reason: "it must be an object, and is \(node.kind)")
        }
        self.line = node.line
        self.path = path
        var byKey: [String: JSONNode] = [:]
        for (key, value) in members {
            guard known.contains(key) else {
                throw DocumentFault(
                    line: value.line,
                    field: path.isEmpty ? key : "\(path).\(key)",
                    reason: "there is no such field; known are \(known.sorted().joined(separator: ", "))"
                )
            }
            // null says the same as leaving it out.
            if case .null = value.value { continue }
            byKey[key] = value
        }
        self.members = byKey
    }

    subscript(key: String) -> JSONNode? { self.members[key] }

    private func name(_ key: String) -> String { self.path.isEmpty ? key : "\(self.path).\(key)" }

    func fault(_ key: String, _ reason: String) -> DocumentFault {
        DocumentFault(line: self.members[key]?.line ?? self.line, field: self.name(key), reason: reason)
    }

    func required<Value>(_ key: String, _ value: Value?) throws(DocumentFault) -> Value {
        guard let value else { throw self.fault(key, "it is missing") }
        return value
    }

    func elements(_ key: String) throws(DocumentFault) -> [JSONNode] {
        let node = try self.required(key, self.members[key])
        guard case .array(let elements) = node.value else {
            throw self.fault(key, "it must be an array, and is \(node.kind)")
        }
        return elements
    }

    /// The elements of an array that must be there.
    ///
    /// - Parameters:
    ///   - key: the member.
    ///   - read: reads one, at its path.
    /// - Returns: them, in their order.
    /// - Throws: where there is no array, or one of them is wrong.
    func elements<Value>(
        _ key: String,
        _ read: (JSONNode, String) throws(DocumentFault) -> Value
    ) throws(DocumentFault) -> [Value] {
        var values: [Value] = []
        for (index, node) in try self.elements(key).enumerated() {
            values.append(try read(node, "\(self.name(key))[\(index)]"))
        }
        return values
    }

    /// The same of an array that may be absent: none.
    func list<Value>(
        _ key: String,
        _ read: (JSONNode, String) throws(DocumentFault) -> Value
    ) throws(DocumentFault) -> [Value] {
        self[key] == nil ? [] : try self.elements(key, read)
    }

    func text(_ key: String) throws(DocumentFault) -> String? {
        guard let node = self.members[key] else { return nil }
        guard case .string(let text) = node.value else {
            throw self.fault(key, "it must be a string, and is \(node.kind)")
        }
        return text
    }

    func flag(_ key: String) throws(DocumentFault) -> Bool? {
        guard let node = self.members[key] else { return nil }
        guard case .boolean(let flag) = node.value else {
            throw self.fault(key, "it must be true or false, and is \(node.kind)")
        }
        return flag
    }

    func count(_ key: String) throws(DocumentFault) -> UInt32? {
        guard let node = self.members[key] else { return nil }
        guard case .number(let text) = node.value, let count = UInt32(text) else {
            throw self.fault(key, "it must be a whole number from 0 to \(UInt32.max)")
        }
        return count
    }

    /// A duration as text, or as a number of seconds; in whole milliseconds.
    func duration(_ key: String) throws(DocumentFault) -> Duration? {
        guard let node = self.members[key] else { return nil }
        switch node.value {
        case .string(let text):
            if let duration = Duration(text: text) { return duration }
        case .number(let text):
            if let seconds = Double(text), seconds >= 0, seconds <= Double(UInt32.max) / 1_000 {
                return .milliseconds(Int64((seconds * 1_000).rounded()))
            }
        default: break
        }
        throw self.fault(key, "it must be a duration such as \"30s\" or \"1m30s\", or a number of seconds")
    }
}
