// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import GatewayDocuments
import HTTPTypes

/// The operation that tells what the gateway did in the last hours.
func historyOperations(_ recorder: HistoryRecorder) -> [Operation] {
    let spans = GatewayHistory.Span.allCases.map(\.rawValue)
    return [
        Operation(
            .get,
            "/v1/history",
            id: "getHistory",
            tag: "Gateway",
            "Tell what the gateway did in the last hour, six hours, or day: listeners and rates.",
            details: """
                The gateway keeps \(GatewayHistory.samplesMax) samples of each span in memory. They begin with its start.
                """,
            access: .read,
            parameters: [
                OperationParameter(
                    "span",
                    in: .query,
                    "How far back; 1h unless told.",
                    Schema.oneOf(spans),
                    example: "1h"
                )
            ],
            answers: [
                OperationAnswer(
                    "The samples.",
                    OperationContent(HistoryDocument.schema, example: JSONValue(encoding: HistoryDocument.example))
                )
            ]
        ) { call in
            let name = call.query["span"] ?? GatewayHistory.Span.hour.rawValue
            guard let span = GatewayHistory.Span(rawValue: name) else {
                throw Problem.badRequest("The parameter span must be one of \(spans.joined(separator: ", ")).")
            }
            return .json(recorder.document(of: span))
        }
    ]
}
