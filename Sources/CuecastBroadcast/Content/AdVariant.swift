// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Other ads of a break, for the listeners whose attributes fit.
///
/// The gateway tries the variants of a break in their order, and a listener gets the ads of the first one that fits. A listener that no
/// variant fits gets the ads of the break itself, the variant `default`.
///
/// ```swift
/// noon.variants = [AdVariant(name: "cars", conditions: [.init("device", isAnyOf: ["car"])], advertisements: [carSpot])]
/// ```
public struct AdVariant: Hashable, Sendable {
    /// A condition about one attribute of a listener; values are compared byte by byte.
    public struct Condition: Hashable, Sendable {
        /// The attribute; at most 128 bytes.
        public var attribute: String
        /// 1 to 64 values with at most 128 bytes each.
        public var values: [String]
        /// Whether the attribute must have none of the values, or be absent.
        public var isNegated: Bool

        /// The attribute has one of these values.
        public init(_ attribute: String, isAnyOf values: [String]) {
            self.attribute = attribute
            self.values = values
            self.isNegated = false
        }

        /// The attribute has none of these values, or the listener does not have it.
        public init(_ attribute: String, isNoneOf values: [String]) {
            self.attribute = attribute
            self.values = values
            self.isNegated = true
        }
    }

    /// Unique in its break, and not `default`: 1 to 64 characters `A–Z a–z 0–9 . _ -`.
    public var name: String
    /// All must hold; 1 to 16, each about another attribute.
    public var conditions: [Condition]
    /// The advertisements that play, first to last; 1 to 64.
    public var advertisements: [AdvertisementDescription]

    /// A variant.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - conditions: the conditions for a listener to get its ads.
    ///   - advertisements: the advertisements, first to last.
    public init(name: String, conditions: [Condition], advertisements: [AdvertisementDescription]) {
        self.name = name
        self.conditions = conditions
        self.advertisements = advertisements
    }
}

extension AdVariant {
    var wire: AudienceVariant {
        get throws(BroadcastError) {
            var variant = AudienceVariant(
                name: self.name,
                conditions: self.conditions.map {
                    AudienceVariant.Condition(key: $0.attribute, values: $0.values, isNegated: $0.isNegated)
                },
                advertisements: []
            )
            for each in self.advertisements { variant.advertisements.append(try each.wire) }
            return variant
        }
    }

    init(_ variant: AudienceVariant) {
        self.init(
            name: variant.name,
            conditions: variant.conditions.map { Condition($0) },
            advertisements: variant.advertisements.map { AdvertisementDescription($0) }
        )
    }
}

extension AdVariant.Condition {
    init(_ condition: AudienceVariant.Condition) {
        self.init(condition.key, isAnyOf: condition.values)
        self.isNegated = condition.isNegated
    }
}

extension AdVariant.Condition: CustomStringConvertible {
    /// For people, for instance `device=phone|car` or `region!=de`.
    public var description: String {
        AudienceVariant.Condition(key: self.attribute, values: self.values, isNegated: self.isNegated).description
    }
}
