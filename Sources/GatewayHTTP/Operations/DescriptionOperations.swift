// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayDocuments
import HTTPTypes
import Synchronization

/// The operations that describe all operations, for programs and people.
///
/// - Parameter operations: all others.
/// - Returns: the index, and the description.
func descriptionOperations(of operations: [Operation]) -> [Operation] {
    let index = Operation(
        .get,
        "/v1",
        id: "getIndex",
        tag: "Gateway",
        "List the operations.",
        access: .open,
        answers: [
            OperationAnswer(
                "By method and path.",
                OperationContent(
                    IndexDocument.schema,
                    example: [
                        "service": "cuecast gateway", "operations": ["GET /healthz": "Tell whether the process lives."],
                        "openapi": "/openapi.json",
                    ]
                )
            )
        ]
    ) { _ in
        var document = IndexDocument(service: "cuecast gateway", operations: [:], openapi: "/openapi.json")
        for each in operations { document.operations["\(each.method.rawValue) \(each.path)"] = each.summary }
        return .json(document)
    }
    @Sendable func openAPI(besides others: [Operation]) -> Operation {
        // Described by itself too.
        let document = MadeOnce { HTTPAnswer.encoded(OpenAPIDocument.make(others + [openAPI(besides: others)])) }
        return Operation(
            .get,
            "/openapi.json",
            id: "getOpenAPI",
            tag: "Gateway",
            "Describe all operations for programs (OpenAPI 3.1).",
            access: .open,
            answers: [
                OperationAnswer(
                    "The description.",
                    OperationContent(
                        .inline(["type": "object", "required": ["openapi", "info", "paths"]]),
                        example: ["openapi": "3.1.0", "info": ["title": "Cuecast", "version": "1"], "paths": [:]]
                    )
                )
            ]
        ) { _ in HTTPAnswer(type: MediaType.json, body: .bytes(document.value)) }
    }
    return [index, openAPI(besides: operations + [index])]
}

/// A value that is made when it is asked for first, and kept: few ask for a description of the API, and it is a part of every start otherwise.
private final class MadeOnce<Value: Sendable>: Sendable {
    private let kept = Mutex<Value?>(nil)
    private let make: @Sendable () -> Value

    init(_ make: @escaping @Sendable () -> Value) {
        self.make = make
    }

    /// The value; a caller waits while another one makes it.
    var value: Value {
        self.kept.withLock { kept in
            if let kept { return kept }
            let made = self.make()
            kept = made
            return made
        }
    }
}
