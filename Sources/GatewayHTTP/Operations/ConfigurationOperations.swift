// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Gateway
import GatewayCore
import HTTPTypes

/// The operations that show the configuration and the limits in force.
///
/// - Parameters:
///   - parts: the parts of the gateway that operations ask.
///   - limits: of HTTP's server.
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
        ) { _ in .json(ConfigurationDocument(parts.configuration())) },
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
                                [LimitState(.listenersMax, 100_000, key: "listeners.max", use: 1_200)],
                                MetricRegistry()
                            )
                        )
                    )
                )
            ]
        ) { _ in .json(LimitsDocument(parts.limits() + limits(), parts.metrics)) },
    ]
}
