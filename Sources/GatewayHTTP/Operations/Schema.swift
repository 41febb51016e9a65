// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway

/// A JSON schema that stands once in `/openapi.json`, under its name.
///
/// ```swift
/// static let counts = NamedSchema("Counts", Schema.object(["played": Schema.count("How many played it.")]))
/// static let report = NamedSchema("Report", Schema.object(["total": counts.reference]), uses: [counts])
/// ```
struct NamedSchema: Sendable {
    let name: String
    /// JSON Schema 2020-12, as OpenAPI 3.1 has it.
    let schema: JSONValue
    /// The schemas that it refers to.
    let uses: [NamedSchema]

    init(_ name: String, _ schema: JSONValue, uses: [NamedSchema] = []) {
        self.name = name
        self.schema = schema
        self.uses = uses
    }

    /// The reference to it.
    var reference: JSONValue { ["$ref": .string("#/components/schemas/\(self.name)")] }

    /// A schema that stands where it is used, and has no name.
    static func inline(_ schema: JSONValue, uses: [NamedSchema] = []) -> NamedSchema {
        NamedSchema("", schema, uses: uses)
    }

    /// The schema in a document: the reference, or the schema itself if it has no name.
    var place: JSONValue { self.name.isEmpty ? self.schema : self.reference }
}

/// Parts of JSON schemas.
enum Schema {
    /// An object with these members and no others.
    ///
    /// - Parameters:
    ///   - properties: its members.
    ///   - optional: those that may be absent.
    ///   - description: what it is.
    /// - Returns: the schema.
    static func object(
        _ properties: [String: JSONValue],
        optional: Set<String> = [],
        _ description: String? = nil
    ) -> JSONValue {
        let schema: JSONValue = [
            "type": "object",
            "properties": .object(properties),
            "required": .array(properties.keys.filter { !optional.contains($0) }.sorted().map { .string($0) }),
            "additionalProperties": false,
        ]
        return Self.describe(schema, description)
    }

    /// An object whose members have any names, for instance counts by lane.
    static func map(of values: JSONValue, _ description: String? = nil) -> JSONValue {
        Self.describe(["type": "object", "additionalProperties": values], description)
    }

    static func array(of items: JSONValue, _ description: String? = nil) -> JSONValue {
        Self.describe(["type": "array", "items": items], description)
    }

    static func text(_ description: String? = nil) -> JSONValue { Self.describe(["type": "string"], description) }

    /// Text of a parameter, with the most characters that it may have.
    static func text(charactersMax: Int, _ description: String? = nil) -> JSONValue {
        Self.describe(["type": "string", "maxLength": .integer(Int64(charactersMax))], description)
    }

    static func flag(_ description: String? = nil) -> JSONValue { Self.describe(["type": "boolean"], description) }

    /// A whole number that is not negative.
    static func count(_ description: String? = nil) -> JSONValue {
        Self.describe(["type": "integer", "minimum": 0], description)
    }

    static func integer(_ range: ClosedRange<Int>, _ description: String? = nil) -> JSONValue {
        Self.describe(
            [
                "type": "integer", "minimum": .integer(Int64(range.lowerBound)),
                "maximum": .integer(Int64(range.upperBound)),
            ],
            description
        )
    }

    static func oneOf(_ words: [String], _ description: String? = nil) -> JSONValue {
        Self.describe(["type": "string", "enum": .array(words.map { .string($0) })], description)
    }

    /// An instant as RFC 3339 in UTC.
    static func instant(_ description: String? = nil) -> JSONValue {
        Self.describe(["type": "string", "format": "date-time"], description)
    }

    /// The id of a stream.
    static let stream: JSONValue = [
        "type": "string", "pattern": .string(Self.idPattern), "description": "The id of a stream.",
    ]

    /// The id of a break.
    static let breakID: JSONValue = [
        "type": "string", "pattern": .string(Self.idPattern),
        "description": "The id of a break, unique in its stream.",
    ]

    /// Of the ids that broadcasters choose; neither `.` nor `..`, which clients remove from a path.
    private static let idPattern = "^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,64}$"

    private static func describe(_ schema: JSONValue, _ description: String?) -> JSONValue {
        description.map { schema.adding(["description": .string($0)]) } ?? schema
    }
}
