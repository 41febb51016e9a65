// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A JSON schema that stands once in `/openapi.json`, under its name.
///
/// The schema of a document comes from its description (`GatewayDocument`).
package struct NamedSchema: Sendable {
    package let name: String
    /// JSON Schema 2020-12, as OpenAPI 3.1 has it.
    package let schema: JSONValue
    /// The schemas that it refers to.
    package let uses: [NamedSchema]

    package init(_ name: String, _ schema: JSONValue, uses: [NamedSchema] = []) {
        self.name = name
        self.schema = schema
        self.uses = uses
    }

    /// The reference to the schema, for the places that use it.
    package var reference: JSONValue { ["$ref": .string("#/components/schemas/\(self.name)")] }

    /// A schema that stands where it is used, and has no name.
    package static func inline(_ schema: JSONValue) -> NamedSchema { NamedSchema("", schema) }

    /// The JSON for a document: the reference, or the schema itself if it has no name.
    package var place: JSONValue { self.name.isEmpty ? self.schema : self.reference }
}

/// Parts of JSON schemas.
package enum Schema {
    /// An object with these members and no others.
    ///
    /// - Parameters:
    ///   - properties: its members.
    ///   - optional: those that may be absent.
    ///   - description: what it is.
    /// - Returns: the schema.
    package static func object(
        _ properties: [String: JSONValue],
        optional: Set<String> = [],
        _ description: String? = nil
    ) -> JSONValue {
        Self.openObject(properties, optional: optional, description).adding(["additionalProperties": false])
    }

    /// An object with these members, which may have others too.
    ///
    /// - Parameters:
    ///   - properties: its members.
    ///   - optional: those that may be absent.
    ///   - description: what it is.
    /// - Returns: the schema.
    package static func openObject(
        _ properties: [String: JSONValue],
        optional: Set<String> = [],
        _ description: String? = nil
    ) -> JSONValue {
        let schema: JSONValue = [
            "type": "object",
            "properties": .object(properties),
            "required": .array(properties.keys.filter { !optional.contains($0) }.sorted().map { .string($0) }),
        ]
        return Self.describe(schema, description)
    }

    /// An object whose members have any names, for instance counts by lane.
    package static func map(of values: JSONValue) -> JSONValue { ["type": "object", "additionalProperties": values] }

    package static func array(of items: JSONValue, _ description: String? = nil) -> JSONValue {
        Self.describe(["type": "array", "items": items], description)
    }

    package static func text(_ description: String? = nil) -> JSONValue {
        Self.describe(["type": "string"], description)
    }

    /// Text of a parameter, with the most characters that it may have.
    package static func text(charactersMax: Int) -> JSONValue {
        ["type": "string", "maxLength": .integer(Int64(charactersMax))]
    }

    package static func flag(_ description: String? = nil) -> JSONValue {
        Self.describe(["type": "boolean"], description)
    }

    /// A whole number that is not negative.
    package static let count: JSONValue = ["type": "integer", "minimum": 0]

    package static func integer(_ range: ClosedRange<Int>) -> JSONValue {
        [
            "type": "integer", "minimum": .integer(Int64(range.lowerBound)),
            "maximum": .integer(Int64(range.upperBound)),
        ]
    }

    package static func oneOf(_ words: [String], _ description: String? = nil) -> JSONValue {
        Self.describe(["type": "string", "enum": .array(words.map { .string($0) })], description)
    }

    /// An instant as RFC 3339 in UTC.
    package static func instant(_ description: String? = nil) -> JSONValue {
        Self.describe(["type": "string", "format": "date-time"], description)
    }

    /// A number that is not negative.
    package static let number: JSONValue = ["type": "number", "minimum": 0]

    package static let microseconds: JSONValue = [
        "type": "integer", "format": "int64", "description": "The gateway's clock, in microseconds since 1970.",
    ]

    package static let base64: JSONValue = ["type": "string", "contentEncoding": "base64"]

    package static let session: JSONValue = [
        "type": "string", "pattern": "^[0-9a-fA-F]{32}$",
        "description": "A listener of one stream: 16 random bytes in hexadecimal.",
    ]

    /// A schema that allows `null` too.
    package static func orNull(_ schema: JSONValue) -> JSONValue { ["anyOf": [schema, ["type": "null"]]] }

    /// The id of a stream.
    package static let stream: JSONValue = [
        "type": "string", "pattern": .string(Self.idPattern), "description": "The id of a stream.",
    ]

    /// The id of a break.
    package static let breakID: JSONValue = [
        "type": "string", "pattern": .string(Self.idPattern),
        "description": "The id of a break, unique in its stream.",
    ]

    /// The name of an ad list.
    package static let adListName: JSONValue = [
        "type": "string", "pattern": .string(Self.idPattern), "description": "The name of an ad list.",
    ]

    /// The name of a source of signals.
    package static let signalSource: JSONValue = [
        "type": "string", "pattern": .string(Self.idPattern),
        "description": "The encoder or system that says it; two watchers of one encoder have the same.",
    ]

    /// The id of a signalled event.
    package static let eventID: JSONValue = [
        "type": "string", "pattern": "^[!-~]{1,64}$",
        "description": "The id that connects the signals of one break, unique in its source while the break lasts.",
    ]

    /// Of the ids that broadcasters choose; neither `.` nor `..`, which clients remove from a path.
    private static let idPattern = "^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,64}$"

    private static func describe(_ schema: JSONValue, _ description: String?) -> JSONValue {
        description.map { schema.adding(["description": .string($0)]) } ?? schema
    }
}
