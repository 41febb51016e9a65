// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// A JSON document of the gateway's API, or a part of one.
///
/// The type encodes and decodes the document. `documentDescription` says which fields the document has and what they mean: the schema in
/// `/openapi.json` comes from it, and a test compares it with what the type encodes and decodes.
///
/// ```swift
/// package struct LifeDocument: GatewayDocument {
///     package var status: String
///     package var sentence: String?
///
///     package static let documentDescription = DocumentDescription(
///         name: "Life",
///         fields: [DocumentField("status", .oneOf(["alive", "failed"])), .optional("sentence", .text, "Why it failed.")]
///     )
/// }
/// ```
package protocol GatewayDocument: Codable, Hashable, Sendable {
    static var documentDescription: DocumentDescription { get }
}

extension GatewayDocument {
    /// The schema of the document, made from its description.
    package static var schema: NamedSchema { Self.documentDescription.schema }
}

/// The fields of a document: the one place that says their names, kinds and meanings.
package struct DocumentDescription: Sendable {
    package let fields: [DocumentField]
    package let schema: NamedSchema

    /// A description, and the schema that follows from it.
    ///
    /// - Parameters:
    ///   - name: the name of the schema in `/openapi.json`; empty: the schema stands wherever the document is used.
    ///   - meaning: what the document is.
    ///   - takesOtherFields: whether the gateway passes over fields that it does not know.
    ///   - fields: all fields of the document.
    package init(name: String = "", meaning: String? = nil, takesOtherFields: Bool = false, fields: [DocumentField]) {
        self.fields = fields
        let properties = Dictionary(fields.map { ($0.name, $0.schema) }) { first, _ in first }
        let optional = Set(fields.filter { $0.presence == .optional }.map(\.name))
        let schema =
            takesOtherFields
            ? Schema.openObject(properties, optional: optional, meaning)
            : Schema.object(properties, optional: optional, meaning)
        self.schema = NamedSchema(name, schema, uses: fields.flatMap(\.kind.uses))
    }
}

/// One field of a document.
package struct DocumentField: Sendable {
    /// Whether the field stands in every document.
    package enum Presence: Sendable {
        /// With a value.
        case always
        /// With a value, or with `null`.
        case orNull
        /// The field is absent where it has no value.
        case optional
    }

    package let name: String
    package let kind: FieldKind
    /// A sentence; `nil`: the name says it.
    package let meaning: String?
    package let presence: Presence

    private init(_ name: String, _ kind: FieldKind, _ meaning: String?, _ presence: Presence) {
        self.name = name
        self.kind = kind
        self.meaning = meaning
        self.presence = presence
    }

    /// A field that always has a value.
    package init(_ name: String, _ kind: FieldKind, _ meaning: String? = nil) {
        self.init(name, kind, meaning, .always)
    }

    /// A field that is absent where it has no value.
    package static func optional(_ name: String, _ kind: FieldKind, _ meaning: String? = nil) -> DocumentField {
        DocumentField(name, kind, meaning, .optional)
    }

    /// A field that is `null` where it has no value.
    package static func orNull(_ name: String, _ kind: FieldKind, _ meaning: String? = nil) -> DocumentField {
        DocumentField(name, kind, meaning, .orNull)
    }

    /// The schema of its value.
    package var schema: JSONValue {
        let value = self.meaning.map { self.kind.schema.adding(["description": .string($0)]) } ?? self.kind.schema
        return self.presence == .orNull ? Schema.orNull(value) : value
    }
}

/// The values that a field may have.
package struct FieldKind: Sendable {
    package let schema: JSONValue
    /// The schemas that it refers to.
    package let uses: [NamedSchema]

    package init(_ schema: JSONValue, uses: [NamedSchema] = []) {
        self.schema = schema
        self.uses = uses
    }

    package static let text = FieldKind(Schema.text())
    package static let flag = FieldKind(Schema.flag())
    /// A whole number that is not negative.
    package static let count = FieldKind(Schema.count)
    /// A number that is not negative.
    package static let number = FieldKind(Schema.number)
    /// RFC 3339 in UTC.
    package static let instant = FieldKind(Schema.instant())
    /// The gateway's clock, in microseconds since 1970.
    package static let microseconds = FieldKind(Schema.microseconds)
    package static let base64 = FieldKind(Schema.base64)
    package static let stream = FieldKind(Schema.stream)
    package static let breakID = FieldKind(Schema.breakID)
    package static let adListName = FieldKind(Schema.adListName)
    package static let session = FieldKind(Schema.session)

    package static func integer(_ range: ClosedRange<Int>) -> FieldKind { FieldKind(Schema.integer(range)) }

    package static func oneOf(_ words: [String]) -> FieldKind { FieldKind(Schema.oneOf(words)) }

    /// Another document.
    package static func document<Document: GatewayDocument>(_ type: Document.Type) -> FieldKind {
        FieldKind(type.schema.place, uses: [type.schema])
    }

    package static func array(of items: FieldKind) -> FieldKind {
        FieldKind(Schema.array(of: items.schema), uses: items.uses)
    }

    /// An array of so many items.
    package static func array(of items: FieldKind, count: ClosedRange<Int>) -> FieldKind {
        let bounds: [String: JSONValue] = [
            "minItems": .integer(Int64(count.lowerBound)), "maxItems": .integer(Int64(count.upperBound)),
        ]
        return FieldKind(Schema.array(of: items.schema).adding(bounds), uses: items.uses)
    }

    /// An object whose fields have any names.
    package static func map(of values: FieldKind) -> FieldKind {
        FieldKind(Schema.map(of: values.schema), uses: values.uses)
    }
}

extension Duration {
    /// Whole milliseconds, towards zero; unlike `inMilliseconds`, not limited to the 32 bits of the wire.
    var milliseconds: Int64 { self.inMicroseconds / 1_000 }
}
