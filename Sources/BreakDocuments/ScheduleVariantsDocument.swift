// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import AdFormats
package import CuecastWire

/// A file of the variants of all breaks of a schedule, as `docs/broadcasters/audiences.md` describes it.
package struct ScheduleVariantsDocument: Hashable, Sendable {
    /// The ads of a variant for which no ad server has any.
    package enum Fallback: Hashable, Sendable {
        /// Those of the variant `default`.
        case ofDefault
        /// Those of a list that the gateway keeps.
        case list(String)
        /// At least one.
        case ads([AdvertisementContent])
    }

    /// Where an ad server is asked for a variant.
    package enum Question: Hashable, Sendable {
        /// At the break's own addresses, with this behind their queries.
        case query(String)
        /// At this address.
        case address(ScheduledTag)
    }

    package struct Variant: Hashable, Sendable {
        /// Unique, and not `default`.
        package var name: String
        package var conditions: [AudienceVariant.Condition]
        /// `nil`: no ad server is asked for it.
        package var question: Question?
        package var fallback: Fallback
    }

    /// In the order in which they are tried; at least one.
    package let variants: [Variant]

    /// Reads a file.
    ///
    /// - Parameter document: at most one byte more than `AdsDocument.bytesMax` of it is looked at.
    /// - Returns: its variants; names and conditions are as the wire wants them.
    /// - Throws: the first thing that is wrong.
    package static func read(_ document: some Sequence<UInt8>) throws(DocumentFault) -> ScheduleVariantsDocument {
        let bytes = Array(document.prefix(AdsDocument.bytesMax + 1))
        guard bytes.count <= AdsDocument.bytesMax else {
            throw .tooLarge(line: 1, field: "", reason: "the limit fileBytesMax is \(AdsDocument.bytesMax)")
        }
        let nodes = try JSONFields(AdsDocument.root(bytes), path: "", known: ["variants"]).elements("variants")
        guard let first = nodes.first else {
            throw DocumentFault(line: 1, field: "variants", reason: "there must be at least one")
        }
        guard nodes.count < WireLimits.variantsPerBreakMax else {
            throw .tooLarge(
                line: first.line,
                field: "variants",
                reason: "the limit variantsPerBreakMax is \(WireLimits.variantsPerBreakMax), with default"
            )
        }
        var variants: [Variant] = []
        for (index, node) in nodes.enumerated() {
            let path = "variants[\(index)]"
            variants.append(try Self.variant(node, path: path, taken: variants.map(\.name)))
        }
        return ScheduleVariantsDocument(variants: variants)
    }

    private static func variant(
        _ node: JSONNode,
        path: String,
        taken: [String]
    ) throws(DocumentFault) -> Variant {
        let fields = try JSONFields(node, path: path, known: ["name", "if", "query", "vastUrl", "list", "ads"])
        let (name, conditions) = try AdsDocument.nameAndConditions(fields, taken: taken)
        var question: Question?
        switch (try fields.text("query"), try fields.text("vastUrl")) {
        case (nil, nil): break
        case (let query?, nil):
            guard Self.isQuery(query) else {
                throw fields.fault("query", "it must be a part of a query such as aud=cars, without ? and #")
            }
            question = .query(query)
        case (nil, let text?):
            guard let tag = ScheduledTag(text: text) else {
                throw fields.fault("vastUrl", "it must be an absolute address, of http or https")
            }
            question = .address(tag)
        default: throw fields.fault("vastUrl", "give one of query and vastUrl")
        }
        var fallback = Fallback.ofDefault
        switch (try fields.text("list"), fields["ads"]) {
        case (nil, nil): break
        case (let list?, nil):
            guard (try? AdListName(list)) != nil else { throw fields.fault("list", "'\(list)' is no name of a list") }
            fallback = .list(list)
        case (nil, _): fallback = .ads(try AdsDocument.advertisements(fields, of: node, path: "\(path)."))
        default: throw fields.fault("ads", "give one of list and ads")
        }
        guard question != nil || fallback != .ofDefault else {
            throw fields.fault("name", "the variant has no ads of its own: give query, vastUrl, list or ads")
        }
        return Variant(name: name, conditions: conditions, question: question, fallback: fallback)
    }

    /// Characters of a query (RFC 3986 section 3.4), with the brackets of macros.
    private static func isQuery(_ text: String) -> Bool {
        (1...1_024).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !Array("\"#<>?\\^`{|}".utf8).contains($0) }
            && !text.hasPrefix("&")
    }
}
