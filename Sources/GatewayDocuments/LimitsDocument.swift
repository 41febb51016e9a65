// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore

/// The limits in force: what `GET /v1/limits` answers.
package struct LimitsDocument: GatewayDocument {
    package struct Limit: GatewayDocument {
        package var limit: String
        package var max: Int?
        package var unit: String
        package var key: String?
        package var use: Int?
        package var hits: Int

        package init(_ limit: LimitName, max: Int?, unit: LimitUnit, key: String?, use: Int?, hits: Int) {
            self.limit = limit.rawValue
            self.max = max
            self.unit = unit.rawValue
            self.key = key
            self.use = use
            self.hits = hits
        }

        package static let documentDescription = DocumentDescription(
            name: "Limit",
            fields: [
                DocumentField(
                    "limit",
                    .oneOf(LimitName.allCases.map(\.rawValue)),
                    "As cuecast_limits_hit_total has it."
                ),
                .optional("max", .count, "The most that may be; absent: no limit."),
                DocumentField("unit", .oneOf(LimitUnit.allCases.map(\.rawValue))),
                .optional("key", .text, "The key of the configuration that sets it; absent: none does."),
                .optional(
                    "use",
                    .count,
                    "How much is used at present; absent where it is counted for each connection, address or message."
                ),
                DocumentField("hits", .count, "How often it was reached since the gateway started."),
            ]
        )
    }

    package var limits: [Limit]

    package init(limits: [Limit]) {
        self.limits = limits
    }

    package static let documentDescription = DocumentDescription(
        name: "Limits",
        fields: [DocumentField("limits", .array(of: .document(Limit.self)), "By name.")]
    )
}
