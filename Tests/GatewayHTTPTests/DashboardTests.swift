// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GatewayHTTP
import Testing

/// The page at `/`, as the program has it.
@Suite(.suiteLimit)
struct DashboardTests {
    /// The names of other files that a file refers to.
    private static func references(in text: String) -> Set<String> {
        Set(
            text.matches(of: /["'](?:\.\/|dashboard\/)([a-z0-9-]+\.(?:js|css|svg|html))["']/)
                .map { String($0.output.1) }
        )
    }

    @Test func `the page and everything that it refers to is there`() async throws {
        try await Parts()
            .serve { peer in
                let page = try await peer.get("/")
                #expect(page.status == 200)
                #expect(page.headers["content-type"] == "text/html; charset=utf-8")
                #expect(page.body.lowercased().hasPrefix("<!doctype html>"))
                var waiting = Self.references(in: page.body)
                #expect(waiting.contains("dashboard.js") && waiting.contains("dashboard.css"))
                var seen: Set<String> = []
                while let name = waiting.popFirst() {
                    seen.insert(name)
                    let file = try await peer.get("/dashboard/\(name)")
                    #expect(file.status == 200, "\(name)")
                    let types = ["js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"]
                    #expect(file.headers["content-type"] == types[String(name.split(separator: ".").last ?? "")])
                    waiting.formUnion(Self.references(in: file.body).subtracting(seen))
                }
                #expect(try await peer.get("/dashboard/none.js").status == 404)
                #expect(try await peer.get("/dashboard").status == 404)
                #expect(try await peer.get("/dashboard/..%2findex.html").status == 404)
                #expect(try await peer.get("/", method: "POST").status == 405)
            }
    }

    @Test(arguments: ["/", "/dashboard/dashboard.js"])
    func `nothing from elsewhere gets into the page, and no other page embeds it`(_ path: String) async throws {
        try await Parts()
            .serve { peer in
                let answer = try await peer.get(path)
                let policy = (answer.headers["content-security-policy"] ?? "").split(separator: "; ")
                #expect(
                    policy == [
                        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
                        "img-src 'self' data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
                    ]
                )
                #expect(answer.headers["x-content-type-options"] == "nosniff")
                #expect(answer.headers["referrer-policy"] == "no-referrer")
            }
    }

    @Test(arguments: ["/", "/dashboard/dashboard.css"])
    func `a cached file is not sent again`(_ path: String) async throws {
        try await Parts()
            .serve { peer in
                let answer = try await peer.get(path)
                let tag = try #require(answer.headers["etag"])
                #expect(answer.headers["cache-control"] == "no-cache")
                for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                    let again = try await peer.get(path, headers: ["If-None-Match": known])
                    #expect(again.status == 304)
                    #expect(again.body.isEmpty && again.headers["etag"] == tag)
                }
                let other = try await peer.get(path, headers: ["If-None-Match": "\"x\""])
                #expect(other.status == 200 && other.body == answer.body)
                let head = try await peer.get(path, method: "HEAD")
                #expect(head.status == 200 && head.body.isEmpty && head.headers["etag"] == tag)
            }
    }
}
