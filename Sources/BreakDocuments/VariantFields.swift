// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

extension AdsDocument {
    /// The members `name` and `if` of a variant, by the rules of the wire: the gateway would refuse a whole break for them.
    ///
    /// - Parameters:
    ///   - fields: the variant.
    ///   - taken: the names of the variants before it.
    /// - Returns: a name that is neither taken nor `default`, and its conditions.
    /// - Throws: the first thing that is wrong.
    static func nameAndConditions(
        _ fields: JSONFields,
        taken: [String]
    ) throws(DocumentFault) -> (name: String, conditions: [AudienceVariant.Condition]) {
        let name = try fields.required("name", fields.text("name"))
        guard name != AudienceVariant.defaultName, !taken.contains(name) else {
            throw fields.fault("name", "there is a variant \(name) already")
        }
        // With a condition that is right, only the name can be wrong.
        try Self.check(name, [AudienceVariant.Condition(key: "a", values: ["a"])], fields, "name")
        let conditions = try fields.elements("if", Self.condition)
        try Self.check(name, conditions, fields, "if")
        return (name, conditions)
    }

    private static func check(
        _ name: String,
        _ conditions: [AudienceVariant.Condition],
        _ fields: JSONFields,
        _ key: String
    ) throws(DocumentFault) {
        do throws(WireError) {
            try AudienceVariant(name: name, conditions: conditions, advertisements: []).checkNameAndConditions()
        } catch {
            if case .invalid(_, let rule) = error { throw fields.fault(key, rule) }
            throw fields.fault(key, "\(error)")
        }
    }
}
