// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Gateway
import GatewayCore
import GatewayDocuments
import HTTPTypes
import Logging

/// Health, readiness, metrics and reload.
func statusOperations(_ parts: HTTPParts) -> [Operation] {
    [
        Operation(
            .get,
            "/healthz",
            id: "getHealth",
            tag: "Gateway",
            "Tell whether the process lives.",
            access: .open,
            answers: [
                OperationAnswer("It lives.", OperationContent(LifeDocument.schema, example: ["status": "alive"])),
                OperationAnswer(
                    .serviceUnavailable,
                    "Something failed, and the process is about to end.",
                    OperationContent(
                        LifeDocument.schema,
                        example: ["status": "failed", "sentence": "The event log failed."]
                    )
                ),
            ]
        ) { _ in
            if let failure = parts.health.failure() {
                return .json(LifeDocument(status: "failed", sentence: failure), status: .serviceUnavailable)
            }
            return .json(LifeDocument(status: "alive"))
        },
        Operation(
            .get,
            "/readyz",
            id: "getReadiness",
            tag: "Gateway",
            "Tell whether requests are taken, what is missing, and which alarms are raised.",
            access: .open,
            answers: [
                OperationAnswer(
                    "Requests are taken.",
                    OperationContent(
                        ReadinessDocument.schema,
                        example: JSONValue(encoding: ReadinessDocument(missing: []))
                    )
                ),
                OperationAnswer(
                    .serviceUnavailable,
                    "Something is missing.",
                    OperationContent(
                        ReadinessDocument.schema,
                        example: JSONValue(
                            encoding: ReadinessDocument(
                                missing: ["log"],
                                alarms: [RaisedAlarm(.clock, "The wall clock is 1 h ahead.")]
                            )
                        )
                    )
                ),
            ]
        ) { _ in
            let document = ReadinessDocument(missing: parts.health.missing(), alarms: parts.health.alarms())
            return .json(document, status: document.ready ? .ok : .serviceUnavailable)
        },
        Operation(
            .get,
            "/metrics",
            id: "getMetrics",
            tag: "Gateway",
            "Show the metrics in the text format of Prometheus.",
            access: .metrics,
            answers: [
                OperationAnswer(
                    "The metrics.",
                    OperationContent(
                        MediaType.metrics,
                        .inline(Schema.text()),
                        example: "# TYPE cuecast_listeners gauge\ncuecast_listeners 0\n"
                    )
                )
            ]
        ) { _ in .text(parts.metrics.exposition(), type: MediaType.metrics) },
        Operation(
            .post,
            "/v1/reload",
            id: "reload",
            tag: "Gateway",
            "Read configuration, keys and certificates again.",
            details: "Where anything is wrong, everything stays as it was.",
            access: .admin,
            answers: [
                OperationAnswer(
                    "What holds from now on.",
                    OperationContent(
                        ReloadDocument.schema,
                        example: JSONValue(
                            encoding: ReloadDocument(changed: ["log.level: info → debug"], needRestart: [])
                        )
                    )
                )
            ],
            refusals: [.notReloaded]
        ) { call in
            parts.peers.log(.http, .notice, "a reload is asked for over HTTP", ["by": "\(call.principal?.name ?? "")"])
            do {
                return .json(try await parts.administration.reload())
            } catch let faults as ConfigurationFaults {
                throw Problem(
                    .notReloaded,
                    "Everything stays as it was: \(faults.faults.map(\.description).joined(separator: "; "))"
                )
            }
        },
    ]
}
