// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import AdFormats
internal import CuecastWire

extension AutomationFields {
    /// Reads a message in JSON: an object, with objects and arrays in it; items of arrays have their number as the name, from 0 on.
    ///
    /// - Throws: where it is no JSON object, or passes a limit; it names the line.
    package init(json document: [UInt8]) throws(AutomationFault) {
        self.init()
        guard document.count <= AutomationLimits.messageBytesMax else {
            throw AutomationFault(
                "The limit messageBytesMax is \(AutomationLimits.messageBytesMax), and the message has more.",
                isTooLarge: true
            )
        }
        let root: JSONNode
        do throws(JSONReader.Fault) {
            root = try JSONReader.read(document)
        } catch {
            throw AutomationFault("Line \(error.line): this is not JSON: \(error.reason).")
        }
        guard case .object = root.value else {
            throw AutomationFault("Line \(root.line): it must be an object, and is \(root.kind).")
        }
        try self.add(root, path: "")
    }

    private mutating func add(_ node: JSONNode, path: String) throws(AutomationFault) {
        // No mapping names a field inside; each would have the long name before its own.
        guard path.utf8.count <= AutomationLimits.nameBytesMax else { return }
        func inside(_ name: String) -> String { path.isEmpty ? name : "\(path)/\(name)" }
        switch node.value {
        case .object(let members):
            for (key, value) in members { try self.add(value, path: inside(key)) }
        case .array(let elements):
            for (index, value) in elements.enumerated() { try self.add(value, path: inside(String(index))) }
        case .string(let text), .number(let text): try self.add(path, text)
        case .boolean(let flag): try self.add(path, flag ? "true" : "false")
        case .null: return
        }
    }
}

/// Reads mappings for automation systems from JSON.
///
/// ```json
/// { "mappings": [ { "name": "studio2", "type": ["category"], "ads": ["spot"], "duration": ["length"] } ] }
/// ```
package enum AutomationMappingDocument {
    private static let known: Set<String> = [
        "name", "source", "type", "typeIsOptional", "ads", "adPattern", "id", "duration", "durationUnit", "start",
        "line",
    ]

    /// The mappings of a document, and the ready ones whose names it does not have.
    ///
    /// - Parameter document: a longer one than `AutomationLimits.messageBytesMax` is refused.
    /// - Returns: the mappings; their names differ.
    /// - Throws: the first thing that is wrong.
    package static func read(_ document: [UInt8]) throws(DocumentFault) -> [AutomationMapping] {
        guard document.count <= AutomationLimits.messageBytesMax else {
            throw .tooLarge(
                line: 1,
                field: "",
                reason: "the limit messageBytesMax is \(AutomationLimits.messageBytesMax)"
            )
        }
        let root = try AdsDocument.root(document)
        let nodes = try JSONFields(root, path: "", known: ["mappings"]).elements("mappings")
        guard nodes.count <= AutomationLimits.mappingsMax else {
            throw .tooLarge(
                line: root.line,
                field: "mappings",
                reason: "the limit mappingsMax is \(AutomationLimits.mappingsMax)"
            )
        }
        var mappings: [AutomationMapping] = []
        for (index, node) in nodes.enumerated() {
            let mapping = try Self.mapping(node, path: "mappings[\(index)]")
            guard !mappings.contains(where: { $0.name == mapping.name }) else {
                throw DocumentFault(
                    line: node.line,
                    field: "mappings[\(index)].name",
                    reason: "another mapping has the name \(mapping.name) already"
                )
            }
            mappings.append(mapping)
        }
        return mappings + AutomationMapping.ready.filter { ready in !mappings.contains { $0.name == ready.name } }
    }

    private static func mapping(_ node: JSONNode, path: String) throws(DocumentFault) -> AutomationMapping {
        let fields = try JSONFields(node, path: path, known: Self.known)
        let name = try fields.required("name", try Self.sourceName(fields, "name"))
        var mapping = AutomationMapping(
            name: name,
            source: try Self.sourceName(fields, "source"),
            type: try fields.required("type", try Self.names(fields, "type")),
            ads: try Self.ads(fields)
        )
        mapping.isTypeOptional = try fields.flag("typeIsOptional") ?? false
        mapping.id = try Self.names(fields, "id") ?? []
        mapping.duration = try Self.names(fields, "duration") ?? []
        if let text = try fields.text("durationUnit") {
            guard let unit = AutomationMapping.Unit(rawValue: text) else {
                throw fields.fault("durationUnit", "it must be \"seconds\" or \"milliseconds\"")
            }
            mapping.durationUnit = unit
        }
        mapping.start = try Self.names(fields, "start") ?? []
        mapping.line = try Self.pattern(fields, "line")
        return mapping
    }

    private static func ads(_ fields: JSONFields) throws(DocumentFault) -> AutomationMapping.Ads {
        let values = try Self.names(fields, "ads")
        let pattern = try Self.pattern(fields, "adPattern")
        switch (values, pattern) {
        case (let values?, nil): return .values(values)
        case (nil, let pattern?): return .pattern(pattern)
        default: throw fields.fault("ads", "give one of ads and adPattern")
        }
    }

    /// A name that may be that of a source.
    private static func sourceName(_ fields: JSONFields, _ key: String) throws(DocumentFault) -> String? {
        guard let text = try fields.text(key) else { return nil }
        guard (try? SignalSource(text)) != nil else {
            throw fields.fault(key, "it has 1 to 64 characters A–Z, a–z, 0–9, “.”, “_” and “-”")
        }
        return text
    }

    private static func pattern(_ fields: JSONFields, _ key: String) throws(DocumentFault) -> TextPattern? {
        guard let text = try fields.text(key) else { return nil }
        do throws(TextPatternError) {
            return try TextPattern(text)
        } catch {
            throw fields.fault(key, "column \(error.column): \(error.fault)")
        }
    }

    /// One text or several.
    private static func names(_ fields: JSONFields, _ key: String) throws(DocumentFault) -> [String]? {
        guard let node = fields[key] else { return nil }
        var texts: [String] = []
        if case .array(let elements) = node.value {
            for case .string(let text) in elements.map(\.value) { texts.append(text) }
            guard texts.count == elements.count else { throw fields.fault(key, "its items must be strings") }
        } else if let text = try fields.text(key) {
            texts = [text]
        }
        guard (1...AutomationLimits.namesMax).contains(texts.count) else {
            throw fields.fault(key, "it must have 1 to \(AutomationLimits.namesMax) items (namesMax)")
        }
        guard texts.allSatisfy({ (1...AutomationLimits.nameBytesMax).contains($0.utf8.count) }) else {
            throw fields.fault(key, "its items have 1 to \(AutomationLimits.nameBytesMax) bytes (nameBytesMax)")
        }
        return texts
    }
}
