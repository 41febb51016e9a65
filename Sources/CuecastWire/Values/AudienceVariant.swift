// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

/// Advertisements for the listeners whose attributes fit: one list of a break, beside that of all other listeners.
///
/// The variant with the number 0 is `default`: the break's own list. The others follow in the order in which they are tried.
package struct AudienceVariant: Hashable, Sendable {
    /// A condition about one attribute of a listener.
    package struct Condition: Hashable, Sendable {
        package var key: String
        /// The attribute has one of these values, byte by byte.
        package var values: [String]
        /// It has none of them, or is not there.
        package var isNegated: Bool

        package init(key: String, values: [String], isNegated: Bool = false) {
            self.key = key
            self.values = values
            self.isNegated = isNegated
        }

        /// Whether it holds for a listener with these attributes.
        package func holds(_ attributes: [String: String]) -> Bool {
            let isThere = attributes[self.key]
                .map { value in self.values.contains { value.utf8.elementsEqual($0.utf8) } }
            return (isThere ?? false) != self.isNegated
        }
    }

    /// The name of the list that listeners get for whom no variant fits.
    package static let defaultName = "default"

    package var name: String
    /// All must hold.
    package var conditions: [Condition]
    package var advertisements: [AdvertisementContent]

    package init(name: String, conditions: [Condition], advertisements: [AdvertisementContent]) {
        self.name = name
        self.conditions = conditions
        self.advertisements = advertisements
    }

    /// Whether it is for a listener with these attributes.
    package func fits(_ attributes: [String: String]) -> Bool { self.conditions.allSatisfy { $0.holds(attributes) } }

    /// With only the essentials of its advertisements.
    package var condensed: Self {
        var variant = self
        variant.advertisements = self.advertisements.map(\.condensed)
        return variant
    }
}

extension [AudienceVariant] {
    /// The number of the variant for a listener: of the first one that fits, counted from 1; 0: `default`.
    package func choose(for attributes: [String: String]) -> UInt32 {
        UInt32(self.firstIndex { $0.fits(attributes) }.map { $0 + 1 } ?? 0)
    }
}

/// The number of an advertisement across all variants of its break: 256 times the variant, and the place in the variant's list.
///
/// Of a break with one list the ordinal is the place. A number says by itself of which variant it is, so that what is counted by it
/// needs no knowledge of the lists.
package enum AdOrdinal {
    /// Above every place: `first` of a delivery has one byte.
    private static let placeBits: UInt32 = 8

    /// The number of the advertisement at a place of a variant's list.
    @inline(__always)
    package static func of(_ place: Int, in variant: UInt32) -> UInt32 {
        variant << Self.placeBits | UInt32(truncatingIfNeeded: place)
    }

    /// The variant that an advertisement is of.
    @inline(__always)
    package static func variant(of ordinal: UInt32) -> UInt32 { ordinal >> Self.placeBits }

    /// The place in its variant's list.
    @inline(__always)
    package static func place(of ordinal: UInt32) -> Int { Int(ordinal & (1 << Self.placeBits - 1)) }

    /// Whether a batch that begins with one advertisement has another one: of the same variant, and not before it.
    @inline(__always)
    package static func batch(from first: UInt32, holds ordinal: UInt32) -> Bool {
        first <= ordinal && Self.variant(of: first) == Self.variant(of: ordinal)
    }
}

/// A variant as broadcasters and operators see it.
package struct VariantInfo: Hashable, Sendable {
    package var name: String
    package var conditions: [AudienceVariant.Condition]
    package var advertisementCount: Int

    package init(name: String, conditions: [AudienceVariant.Condition], advertisementCount: Int) {
        self.name = name
        self.conditions = conditions
        self.advertisementCount = advertisementCount
    }

    package init(_ variant: AudienceVariant) {
        self.init(
            name: variant.name,
            conditions: variant.conditions,
            advertisementCount: variant.advertisements.count
        )
    }
}

extension AudienceVariant.Condition: CustomStringConvertible {
    /// For people, for instance `device=phone|car` or `region!=de`.
    package var description: String {
        "\(self.key)\(self.isNegated ? "!=" : "=")\(self.values.joined(separator: "|"))"
    }
}

// MARK: - Rules

extension AudienceVariant {
    /// Looks at all rules of a break's variants, and puts the advertisements in.
    ///
    /// - Parameters:
    ///   - sources: the variants without their advertisements, each with the sources of these.
    ///   - content: makes an advertisement.
    /// - Returns: the variants.
    /// - Throws: the first rule that one breaks.
    static func list<Source>(
        _ sources: [(variant: AudienceVariant, advertisements: [Source])],
        _ content: (Source) -> AdvertisementContent
    ) throws(WireError) -> [AudienceVariant] {
        // `default` is one of them.
        if !sources.isEmpty {
            try requireAtMost(WireLimits.variantsPerBreakMax, sources.count + 1, limit: "variantsPerBreakMax")
        }
        var names: Set<String> = [Self.defaultName]
        var list: [AudienceVariant] = []
        for source in sources {
            var variant = source.variant
            try variant.checkNameAndConditions()
            guard names.insert(variant.name).inserted else {
                let isDefault = variant.name == Self.defaultName
                throw .invalid(
                    field: "variants",
                    rule: isDefault
                        ? "the variant default is the break's own list, and has no conditions"
                        : "the name \(variant.name) is there twice"
                )
            }
            variant.advertisements = try AdvertisementContent.list(source.advertisements, content)
            list.append(variant)
        }
        return list
    }

    /// Looks at the rules of its name and its conditions, and not at its advertisements.
    ///
    /// - Throws: the first rule that it breaks.
    package func checkNameAndConditions() throws(WireError) {
        guard ChosenID.isValid(self.name, bytesMax: WireLimits.variantNameBytesMax) else {
            throw .invalid(field: "variants", rule: "a variant's name \(ChosenID.rule)")
        }
        // Of `default` something else is wrong than that it has no conditions.
        guard self.name != Self.defaultName else { return }
        try Self.check(self.conditions, of: self.name)
    }

    private static func check(_ conditions: [Condition], of name: String) throws(WireError) {
        guard !conditions.isEmpty else {
            throw .invalid(field: "variants", rule: "the variant \(name) needs a condition, or no other would be tried")
        }
        try requireAtMost(WireLimits.attributesMax, conditions.count, limit: "attributesMax (conditions of \(name))")
        var keys: Set<String> = []
        for condition in conditions {
            guard keys.insert(condition.key).inserted else {
                throw .invalid(
                    field: "variants",
                    rule: "the variant \(name) has two conditions about the attribute \(condition.key)"
                )
            }
            guard !condition.key.isEmpty, !condition.values.isEmpty, !condition.values.contains("") else {
                throw .invalid(
                    field: "variants",
                    rule: "a condition of the variant \(name) has a key, and values that are not empty"
                )
            }
            try requireAtMost(
                WireLimits.valuesPerConditionMax,
                condition.values.count,
                limit: "valuesPerConditionMax"
            )
            for text in [condition.key] + condition.values {
                try requireText(
                    text,
                    field: "variants",
                    atMost: WireLimits.attributeBytesMax,
                    limit: "attributeBytesMax"
                )
            }
        }
    }

    /// The same for variants that are values already.
    static func checked(_ variants: [AudienceVariant]) throws(WireError) -> [AudienceVariant] {
        try Self.list(variants.map { ($0, $0.advertisements) }) { $0 }
    }

    var encodedByteCount: Int {
        var count = EncodedSize.text(self.name)
        for each in self.conditions { count += EncodedSize.message(each.encodedByteCount) }
        for each in self.advertisements { count += EncodedSize.message(each.encodedByteCount) }
        return count
    }
}

extension AudienceVariant.Condition {
    fileprivate var encodedByteCount: Int {
        self.values.reduce(EncodedSize.text(self.key) + EncodedSize.flag(self.isNegated)) {
            $0 + EncodedSize.message($1.utf8.count)
        }
    }
}

// MARK: - Wire

extension AudienceVariant {
    /// Reads and checks the variants of a break.
    static func list(wire: [Cuecast_V1_Variant]) throws(WireError) -> [AudienceVariant] {
        try Self.list(
            wire.map { each in
                (
                    AudienceVariant(
                        name: each.name,
                        conditions: each.conditions.map { Condition(wire: $0) },
                        advertisements: []
                    ),
                    each.advertisements
                )
            }
        ) { AdvertisementContent(wire: $0) }
    }

    var wire: Cuecast_V1_Variant {
        .with {
            $0.name = self.name
            $0.conditions = self.conditions.map(\.wire)
            $0.advertisements = self.advertisements.map(\.wire)
        }
    }
}

extension AudienceVariant.Condition {
    init(wire: Cuecast_V1_AttributeCondition) {
        self.init(key: wire.key, values: wire.values, isNegated: wire.negated)
    }

    var wire: Cuecast_V1_AttributeCondition {
        .with {
            $0.key = self.key
            $0.values = self.values
            $0.negated = self.isNegated
        }
    }
}

extension VariantInfo {
    init(wire: Cuecast_V1_VariantInfo) {
        self.init(
            name: wire.name,
            conditions: wire.conditions.map { AudienceVariant.Condition(wire: $0) },
            advertisementCount: Int(wire.advertisementCount)
        )
    }

    var wire: Cuecast_V1_VariantInfo {
        .with {
            $0.name = self.name
            $0.conditions = self.conditions.map(\.wire)
            $0.advertisementCount = UInt32(clamping: self.advertisementCount)
        }
    }
}
