// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GatewayDocuments
import HTTPTypes

/// A file of the dashboard.
///
/// `scripts/embed-dashboard` puts them all into the program, so that no folder must lie beside it.
struct DashboardFile: Sendable {
    /// The name after `/dashboard/`.
    let name: String
    /// The media type.
    let type: String
    let bytes: [UInt8]
    /// Changes with its bytes.
    let tag: String

    init(name: String, type: String, text: String) {
        self.name = name
        self.type = type
        self.bytes = Array(text.utf8)
        self.tag = "\"\(Self.hash(self.bytes))\""
    }

    /// FNV-1a with 64 bits: it distinguishes versions of the gateway's own files, and protects nothing.
    private static func hash(_ bytes: [UInt8]) -> String {
        String(bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }, radix: 16)
    }
}

/// The page at `/`, and what it is made of.
func dashboardOperations() -> [Operation] {
    let files = Dictionary(DashboardFile.all.map { ($0.name, $0) }) { first, _ in first }
    guard let page = files["index.html"] else { preconditionFailure("the dashboard has no page") }
    let others = files.keys.filter { $0 != page.name }.sorted()
    return [
        Operation(
            .get,
            "/",
            id: "getDashboard",
            tag: "Dashboard",
            "Show the dashboard.",
            details: "The page itself is open to everybody; what it shows it asks like everybody else.",
            access: .open,
            parameters: [.ifNoneMatch],
            answers: [.file("The page.", page.type), .notModified]
        ) { call in .file(page, for: call) },
        Operation(
            .get,
            "/dashboard/{file}",
            id: "getDashboardFile",
            tag: "Dashboard",
            "Get a part of the dashboard's page.",
            access: .open,
            parameters: [
                OperationParameter(
                    "file",
                    in: .path,
                    "Its name.",
                    Schema.text(),
                    example: .string(others.first ?? page.name)
                ),
                .ifNoneMatch,
            ],
            answers: [
                OperationAnswer(
                    .ok,
                    "The file.",
                    contents: Set(files.values.map(\.type)).sorted().map { .file($0) }
                ),
                .notModified,
            ]
        ) { call in
            guard let file = files[call.path["file"] ?? ""] else {
                throw Problem.notFound("The dashboard has no such file.")
            }
            return .file(file, for: call)
        },
    ]
}

extension HTTPAnswer {
    /// A file, or that it is as the browser has it.
    fileprivate static func file(_ file: DashboardFile, for call: OperationCall) -> HTTPAnswer {
        let headers: HTTPFields = [
            .eTag: file.tag,
            // Another version of the program has other files: it is asked each time.
            .cacheControl: "no-cache",
            .contentSecurityPolicy: """
            default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
            base-uri 'none'; form-action 'none'; frame-ancestors 'none'
            """,
            .referrerPolicy: "no-referrer",
        ]
        let known = (call.header(.ifNoneMatch) ?? "").split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces).replacing("W/", with: "") }
        if known.contains(file.tag) || known.contains("*") {
            return HTTPAnswer(.notModified, type: file.type, body: .bytes([]), headers: headers)
        }
        return HTTPAnswer(type: file.type, body: .bytes(file.bytes), headers: headers)
    }
}

extension OperationParameter {
    fileprivate static let ifNoneMatch = OperationParameter(
        "If-None-Match",
        in: .header,
        "The ETag of the file that the browser has.",
        Schema.text(),
        example: "\"1\""
    )
}

extension OperationAnswer {
    fileprivate static func file(_ description: String, _ type: String) -> OperationAnswer {
        OperationAnswer(description, .file(type))
    }

    fileprivate static let notModified = OperationAnswer(.notModified, "It is as the browser has it.")
}

extension OperationContent {
    fileprivate static func file(_ type: String) -> OperationContent {
        OperationContent(type, .inline(Schema.text()), example: "…")
    }
}
