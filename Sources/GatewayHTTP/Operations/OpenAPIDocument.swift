// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayDocuments
import HTTPTypes

/// The description of the API as OpenAPI 3.1, made from the operations.
enum OpenAPIDocument {
    /// - Parameter operations: all that there are.
    /// - Returns: the document.
    static func make(_ operations: [Operation]) -> JSONValue {
        var paths: [String: JSONValue] = [:]
        var schemas: [String: JSONValue] = [:]
        func collect(_ schema: NamedSchema) {
            if !schema.name.isEmpty {
                guard schemas.updateValue(schema.schema, forKey: schema.name) == nil else { return }
            }
            for each in schema.uses { collect(each) }
        }
        collect(ProblemDocument.schema)
        for operation in operations {
            for content in operation.answers.flatMap(\.contents) + (operation.body?.contents ?? []) {
                collect(content.schema)
            }
            let item: JSONValue = [operation.method.rawValue.lowercased(): Self.describe(operation)]
            paths[operation.path] = paths[operation.path].map { Self.merge($0, item) } ?? item
        }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "Cuecast gateway",
                "summary": "Ad breaks for live streams: publish and steer them, and see who did what.",
                // Of the API: what breaks a program raises it.
                "version": "1",
                "license": ["name": "Apache-2.0", "identifier": "Apache-2.0"],
            ],
            "servers": [["url": "/"]],
            "tags": .array(Set(operations.map(\.tag)).sorted().map { ["name": .string($0)] }),
            "paths": .object(paths),
            "components": [
                "schemas": .object(schemas),
                "securitySchemes": [
                    "bearer": [
                        "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
                        "description": "A token with the scope that an operation names; `cuecast token` makes one.",
                    ]
                ],
            ],
        ]
    }

    private static func merge(_ one: JSONValue, _ other: JSONValue) -> JSONValue {
        guard case .object(let members) = other else { return one }
        return one.adding(members)
    }

    private static func describe(_ operation: Operation) -> JSONValue {
        var item: [String: JSONValue] = [
            "operationId": .string(operation.id),
            "tags": [.string(operation.tag)],
            "summary": .string(operation.summary),
            "responses": Self.responses(of: operation),
        ]
        if !operation.details.isEmpty { item["description"] = .string(operation.details) }
        if !operation.parameters.isEmpty {
            item["parameters"] = .array(operation.parameters.map(Self.describe))
        }
        if let body = operation.body {
            item["requestBody"] = [
                "required": .boolean(body.isRequired), "content": Self.describe(body.contents),
            ]
        }
        switch operation.access {
        case .open, .listener: item["security"] = []
        // The configuration says which reads need no token.
        case .metrics, .read, .ticket: item["security"] = [[:], ["bearer": []]]
        case .publish, .publishEverywhere, .admin: item["security"] = [["bearer": []]]
        }
        if let scope = operation.access.scopeName { item["x-cuecast-scope"] = .string(scope) }
        return .object(item)
    }

    private static func describe(_ parameter: OperationParameter) -> JSONValue {
        [
            "name": .string(parameter.name),
            "in": .string(parameter.place.rawValue),
            "required": .boolean(parameter.isRequired),
            "description": .string(parameter.description),
            "schema": parameter.schema,
            // Programs that try the examples of an operation send them all in one request.
            parameter.isAlternative ? "x-example" : "example": parameter.example,
        ]
    }

    private static func describe(_ contents: [OperationContent]) -> JSONValue {
        .object(
            Dictionary(
                contents.map { ($0.type, ["schema": $0.schema.place, "example": $0.example]) },
                uniquingKeysWith: { first, _ in first }
            )
        )
    }

    private static func responses(of operation: Operation) -> JSONValue {
        var answers: [Int: JSONValue] = [:]
        for answer in operation.answers {
            var described: JSONValue = ["description": .string(answer.description)]
            if !answer.contents.isEmpty {
                described = described.adding(["content": Self.describe(answer.contents)])
            }
            if !answer.headers.isEmpty {
                let headers: [String: JSONValue] = Dictionary(
                    answer.headers.map {
                        ($0.name, ["description": .string($0.description), "schema": $0.schema])
                    },
                    uniquingKeysWith: { first, _ in first }
                )
                described = described.adding(["headers": .object(headers)])
            }
            answers[answer.status.code] = described
        }
        // Problems, by status: several codes may share one.
        let codes = Dictionary(grouping: operation.allRefusals, by: { $0.httpStatus.code })
        for (status, codes) in codes {
            let names = Set(codes.map(\.name)).sorted()
            let problem: JSONValue = [
                "schema": ProblemDocument.schema.reference,
                "example": JSONValue(
                    encoding: ProblemDocument(codes[0], "What is wrong, in a sentence.", requestId: "7204418")
                ),
            ]
            let text = "A problem: \(names.joined(separator: ", "))."
            if let before = answers[status], case .object(let members) = before,
                case .object(let content)? = members["content"]
            {
                answers[status] = before.adding([
                    "content": JSONValue.object(content).adding([MediaType.problem: problem])
                ])
            } else {
                answers[status] = ["description": .string(text), "content": [MediaType.problem: problem]]
            }
        }
        return .object(Dictionary(uniqueKeysWithValues: answers.map { (String($0.key), $0.value) }))
    }
}

extension OperationAccess {
    /// The scope that a token needs, for people.
    fileprivate var scopeName: String? {
        switch self {
        case .open, .listener: nil
        case .metrics, .read, .ticket: "read"
        case .publish: "publish:{stream}"
        case .publishEverywhere: "publish:*"
        case .admin: "admin"
        }
    }
}

extension Operation {
    /// Every code with which it may be refused: its own, and those that follow from what it is.
    var allRefusals: [ProblemCode] {
        // Every request: parameters that are not known, a target that is too long, another host, another origin, too many that wait.
        var codes: [ProblemCode] = [
            .reason(.invalid), .targetTooLong, .hostNotKnown, .originNotAllowed, .reason(.limitReached),
            .reason(.unavailable),
        ]
        switch self.access {
        case .open, .listener: break
        case .metrics, .read, .publish, .publishEverywhere, .admin, .ticket:
            codes += [.unauthorized, .reason(.notAllowed)]
        }
        if self.parameters.contains(where: { $0.place == .path }) { codes.append(.reason(.notFound)) }
        if self.body != nil { codes += [.reason(.tooLarge), .mediaTypeNotTaken] }
        return codes + self.refusals
    }
}
