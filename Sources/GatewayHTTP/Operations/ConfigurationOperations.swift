// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Gateway
import GatewayCore
import GatewayDocuments
import HTTPTypes

/// The operations that show the configuration and the limits in force.
///
/// - Parameters:
///   - parts: the parts of the gateway that operations ask.
///   - limits: all that are in force.
/// - Returns: the operations.
func configurationOperations(_ parts: HTTPParts, _ limits: @escaping @Sendable () -> [LimitState]) -> [Operation] {
    [
        Operation(
            .get,
            "/v1/configuration",
            id: "getConfiguration",
            tag: "Gateway",
            "Show the configuration in force, also after a reload, and where each value comes from.",
            details: "Secrets are not in it: they stand in files of their own.",
            access: .read,
            answers: [
                OperationAnswer(
                    "Every key.",
                    OperationContent(
                        ConfigurationDocument.schema,
                        example: JSONValue(
                            encoding: ConfigurationDocument(
                                settings: Array(ConfigurationDocument(RunningConfiguration()).settings.prefix(2))
                            )
                        )
                    )
                )
            ]
        ) { _ in .json(ConfigurationDocument(parts.administration.configuration())) },
        Operation(
            .get,
            "/v1/limits",
            id: "getLimits",
            tag: "Gateway",
            "Show the limits in force, how much of them is used, and how often each was reached.",
            access: .read,
            answers: [
                OperationAnswer(
                    "Every limit that is counted.",
                    OperationContent(
                        LimitsDocument.schema,
                        example: JSONValue(
                            encoding: LimitsDocument(
                                [LimitState(.listenersMax, 100_000, use: 1_200)],
                                MetricRegistry()
                            )
                        )
                    )
                )
            ]
        ) { _ in .json(LimitsDocument(limits(), parts.metrics)) },
    ]
}

extension ConfigurationDocument {
    fileprivate init(_ running: RunningConfiguration) {
        self.init(
            settings: ConfigurationTable.rows.map { row in
                Setting(
                    key: row.key,
                    value: row.text(of: running.configuration),
                    default: row.defaultText,
                    unit: row.unit,
                    source: running.sources[row.key] ?? .default,
                    environmentVariable: row.environmentVariable,
                    reloadable: row.isReloadable,
                    meaning: row.help
                )
            }
        )
    }
}

extension LimitsDocument {
    fileprivate init(_ limits: [LimitState], _ metrics: MetricRegistry) {
        self.init(
            limits: limits.sorted { $0.name.rawValue < $1.name.rawValue }
                .map { each in
                    Limit(
                        each.name,
                        max: each.maximum,
                        unit: each.unit,
                        key: each.key,
                        use: each.use,
                        hits: metrics.value(.limitsHit, .limit(each.name))
                    )
                }
        )
    }
}
