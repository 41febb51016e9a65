// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakDocuments
import GatewayDocuments

/// The examples of bodies of requests about breaks.
enum BreakBodies {
    static let publishExample: JSONValue = ["in": "10s", "duration": "30s", "ads": [Self.adExample]]

    static let vastExample = """
        <VAST version="4.2"><Ad id="spring"><InLine><AdSystem>Example</AdSystem><AdTitle>Spring sale</AdTitle><Creatives><Creative>\
        <Linear><Duration>00:00:30</Duration><MediaFiles><MediaFile delivery="progressive" type="audio/mpeg" width="0" height="0">\
        https://cdn.example.com/spring.mp3</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>
        """

    static let adExample: JSONValue = [
        "id": "spring-sale-30", "title": "Spring sale", "duration": "30s",
        "media": [["url": "https://cdn.example.com/spring.mp3", "type": "audio/mpeg", "bitrate": 128]],
        "clickThrough": "https://example.com/spring",
    ]
}

extension RequestShape {
    /// The schema of the object.
    var schema: NamedSchema {
        let properties = Dictionary(self.members.map { ($0.name, $0.schema) }) { first, _ in first }
        let optional = Set(self.members.filter { !$0.isRequired }.map(\.name))
        let schema = Schema.object(properties, optional: optional, self.meaning)
        return NamedSchema(
            self.name,
            self.needsMember ? schema.adding(["minProperties": 1]) : schema,
            uses: self.members.flatMap(\.kind.uses)
        )
    }
}

extension RequestMember {
    /// The schema of its value.
    fileprivate var schema: JSONValue { self.described(self.kind.schema) }

    /// The member as a parameter of a query, where every value is text.
    var parameter: (schema: JSONValue, example: JSONValue) { (self.kind.textSchema, self.kind.example) }

    private func described(_ schema: JSONValue) -> JSONValue {
        self.meaning.map { schema.adding(["description": .string($0)]) } ?? schema
    }
}

extension RequestKind {
    /// Units in falling order, each at most once, at least one of them.
    private static let durationPattern =
        "(?=[0-9])([0-9]{1,5}d)?([0-9]{1,5}h)?([0-9]{1,7}m)?([0-9]{1,8}s)?([0-9]{1,9}ms)?"

    fileprivate var schema: JSONValue {
        switch self {
        case .duration: ["anyOf": [self.textSchema, Schema.number]]
        case .instant: Schema.instant()
        case .flag: Schema.flag()
        case .count: Schema.integer(0...Int(UInt32.max))
        case .text(let bytesMin, let bytesMax): Self.text(bytesMin, bytesMax)
        case .word(let words): Schema.oneOf(words)
        case .base64: Schema.base64
        case .signalSource: Schema.signalSource
        case .signalEvent: Schema.eventID
        case .oneOrMore(let kind, let countMax):
            ["anyOf": [kind.schema, Schema.array(of: kind.schema).adding(Self.bounds(1...countMax))]]
        case .list(let kind, let count): Schema.array(of: kind.schema).adding(Self.bounds(count))
        case .object(let shape): shape.schema.place
        }
    }

    /// The schema of a value that stands in a query.
    fileprivate var textSchema: JSONValue {
        guard case .duration(let word) = self else { return self.schema }
        let pattern = word.map { "^(\($0)|\(Self.durationPattern))$" } ?? "^\(Self.durationPattern)$"
        return ["type": "string", "pattern": .string(pattern)]
    }

    fileprivate var example: JSONValue {
        switch self {
        case .duration: "30s"
        case .instant: "2026-05-01T12:00:00Z"
        case .flag: true
        case .word(let words): .string(words.first ?? "")
        case .count, .text, .base64, .signalSource, .signalEvent, .oneOrMore, .list, .object:
            preconditionFailure("a query has no such value")
        }
    }

    /// The named schemas that the value's schema refers to.
    fileprivate var uses: [NamedSchema] {
        switch self {
        case .object(let shape): shape.name.isEmpty ? shape.schema.uses : [shape.schema]
        case .list(let kind, _), .oneOrMore(let kind, _): kind.uses
        case .duration, .instant, .flag, .count, .text, .word, .base64, .signalSource, .signalEvent: []
        }
    }

    /// The most characters are as many as bytes may be: a text with longer characters is refused by its bytes.
    private static func text(_ bytesMin: Int, _ bytesMax: Int?) -> JSONValue {
        var members: [String: JSONValue] = [:]
        if bytesMin > 0 { members["minLength"] = .integer(Int64(bytesMin)) }
        if let bytesMax { members["maxLength"] = .integer(Int64(bytesMax)) }
        return Schema.text().adding(members)
    }

    private static func bounds(_ count: ClosedRange<Int>) -> [String: JSONValue] {
        var members: [String: JSONValue] = ["maxItems": .integer(Int64(count.upperBound))]
        if count.lowerBound > 0 { members["minItems"] = .integer(Int64(count.lowerBound)) }
        return members
    }
}
