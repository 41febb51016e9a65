// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Where a value of the configuration comes from.
package enum ConfigurationSource: String, CaseIterable, Sendable {
    case flag
    case environment
    case file
    case `default`
}

/// The configuration in force: what `GET /v1/configuration` answers.
///
/// No value is a secret: secrets stand in files of their own, of which the configuration has the names.
package struct ConfigurationDocument: GatewayDocument {
    package struct Setting: GatewayDocument {
        package var key: String
        package var value: String
        package var `default`: String
        package var unit: String
        package var source: String
        package var environmentVariable: String
        package var reloadable: Bool
        package var meaning: String

        package init(
            key: String,
            value: String,
            default: String,
            unit: String,
            source: ConfigurationSource,
            environmentVariable: String,
            reloadable: Bool,
            meaning: String
        ) {
            self.key = key
            self.value = value
            self.default = `default`
            self.unit = unit
            self.source = source.rawValue
            self.environmentVariable = environmentVariable
            self.reloadable = reloadable
            self.meaning = meaning
        }

        /// Every unit that a value may have.
        package static let units = ["text", "flag", "duration", "bytes", "1/s", "ppm", "ratio", "count"]

        package static let documentDescription = DocumentDescription(
            name: "Setting",
            fields: [
                DocumentField("key", .text, "As in the file."),
                DocumentField("value", .text, "As it is written in the file, durations with their unit."),
                DocumentField("default", .text, "The value where no source sets one."),
                DocumentField(
                    "unit",
                    .oneOf(Self.units),
                    "The kind of the value: a text, a flag, a duration, or the unit of a number."
                ),
                DocumentField(
                    "source",
                    .oneOf(ConfigurationSource.allCases.map(\.rawValue)),
                    "Where the value comes from."
                ),
                DocumentField("environmentVariable", .text, "The variable that sets it too."),
                DocumentField("reloadable", .flag, "Whether a running gateway takes over another value."),
                DocumentField("meaning", .text),
            ]
        )
    }

    /// In the order of `cuecast check-config`.
    package var settings: [Setting]

    package init(settings: [Setting]) {
        self.settings = settings
    }

    package static let documentDescription = DocumentDescription(
        name: "Configuration",
        fields: [DocumentField("settings", .array(of: .document(Setting.self)))]
    )
}
