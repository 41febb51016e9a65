// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Gateway
import GatewayCore

/// The configuration in force: what `GET /v1/configuration` answers.
///
/// No value is a secret: secrets stand in files of their own, of which the configuration has the names.
package struct ConfigurationDocument: Codable, Hashable, Sendable {
    package struct Setting: Codable, Hashable, Sendable {
        /// As in the file.
        package var key: String
        /// As one would write it, durations with their unit.
        package var value: String
        /// The default value.
        package var `default`: String
        /// The kind of the value: a text, a flag, a duration, or a number of something.
        package var unit: String
        /// Where the value comes from.
        package var source: String
        /// By which it can be set too.
        package var environmentVariable: String
        /// Whether a running gateway takes over another value.
        package var reloadable: Bool
        package var meaning: String
    }

    /// In the order of `cuecast check-config`.
    package var settings: [Setting]
}

extension ConfigurationDocument {
    init(_ running: RunningConfiguration) {
        self.settings = ConfigurationTable.rows.map { row in
            Setting(
                key: row.key,
                value: row.text(of: running.configuration),
                default: row.defaultText,
                unit: row.unit,
                source: (running.sources[row.key] ?? .default).rawValue,
                environmentVariable: row.environmentVariable,
                reloadable: row.isReloadable,
                meaning: row.help
            )
        }
    }

    static let schema = NamedSchema(
        "Configuration",
        Schema.object(["settings": Schema.array(of: Setting.schema.reference)]),
        uses: [Setting.schema]
    )
}

extension ConfigurationDocument.Setting {
    static let schema = NamedSchema(
        "Setting",
        Schema.object([
            "key": Schema.text("As in the file."),
            "value": Schema.text("As one would write it, durations with their unit."),
            "default": Schema.text("The default value."),
            "unit": Schema.oneOf(
                ConfigurationTable.units,
                "What the value is: a text, a flag, a duration, or a number of something."
            ),
            "source": Schema.oneOf(ConfigurationSource.allCases.map(\.rawValue), "Where the value comes from."),
            "environmentVariable": Schema.text("By which it can be set too."),
            "reloadable": Schema.flag("Whether a running gateway takes over another value."),
            "meaning": Schema.text(),
        ])
    )
}

/// The limits in force: what `GET /v1/limits` answers.
package struct LimitsDocument: Codable, Hashable, Sendable {
    package struct Limit: Codable, Hashable, Sendable {
        /// As `cuecast_limits_hit_total` has it.
        package var limit: String
        /// The most that may be; absent: no limit.
        package var max: Int?
        package var unit: String
        /// The key of the configuration that sets it; absent: none does.
        package var key: String?
        /// How much is used at present; absent where it is counted for each connection, address or message.
        package var use: Int?
        /// How often it was reached since the gateway started.
        package var hits: Int
    }

    /// By name.
    package var limits: [Limit]
}

extension LimitsDocument {
    init(_ limits: [LimitState], _ metrics: MetricRegistry) {
        self.limits = limits.sorted { $0.name.rawValue < $1.name.rawValue }
            .map { each in
                Limit(
                    limit: each.name.rawValue,
                    max: each.maximum,
                    unit: each.unit.rawValue,
                    key: each.key,
                    use: each.use,
                    hits: metrics.value(.limitsHit, .limit(each.name))
                )
            }
    }

    static let schema = NamedSchema(
        "Limits",
        Schema.object(["limits": Schema.array(of: Limit.schema.reference, "By name.")]),
        uses: [Limit.schema]
    )
}

extension LimitsDocument.Limit {
    static let schema = NamedSchema(
        "Limit",
        Schema.object(
            [
                "limit": Schema.oneOf(LimitName.allCases.map(\.rawValue), "As cuecast_limits_hit_total has it."),
                "max": Schema.count("The most that may be; absent: no limit."),
                "unit": Schema.oneOf(LimitUnit.allCases.map(\.rawValue)),
                "key": Schema.text("The key of the configuration that sets it; absent: none does."),
                "use": Schema.count(
                    "How much is used at present; absent where it is counted for each connection, address or message."
                ),
                "hits": Schema.count("How often it was reached since the gateway started."),
            ],
            optional: ["max", "key", "use"]
        )
    )
}
