// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import TestSupport
import Testing

@_spi(Rendering) @testable import AdPresentation

@Suite(.suiteLimit)
struct HTTPAdFetcherTests {
    /// Gives up only where a test tells it to, however slow the machine is.
    private var fetcher: HTTPAdFetcher {
        var fetcher = HTTPAdFetcher()
        fetcher.timeout = .seconds(3_600)
        return fetcher
    }

    private func error(_ fetcher: HTTPAdFetcher, _ url: String) async -> AdContentError? {
        do throws(AdContentError) {
            _ = try await fetcher.fetch(url)
            return nil
        } catch {
            return error
        }
    }

    @Test func `content arrives with its type and bytes`() async throws {
        let bytes = Images.png(640, 200)
        let server = try LoopbackServer(["/a.png": { $0.answer(type: "Image/PNG; q=1", bytes) }])
        let content = try await self.fetcher.fetch(server.url("/a.png"))
        #expect(content == AdContent(mediaType: "image/png", bytes: bytes, url: server.url("/a.png")))
    }

    @Test(
        arguments: [
            "", "radio", "file:///etc/passwd", "ftp://example.org/a.png", "data:image/png;base64,AA", "http://",
            "https:///a.png", "javascript:alert(1)", "http:a.png",
        ]
    )
    func `only addresses of http and https are asked`(url: String) async {
        guard case .invalidURL(url) = await self.error(self.fetcher, url) else { return #expect(Bool(false)) }
    }

    @Test(arguments: ["404 Not Found", "500 Oops", "302 Found"])
    func `another status than success is an error`(status: String) async throws {
        let server = try LoopbackServer(["/a": { $0.answer(status, ["Content-Type: image/png", "Content-Length: 0"]) }])
        guard case .status(let code) = await self.error(self.fetcher, server.url("/a")) else {
            return #expect(Bool(false))
        }
        #expect(status.hasPrefix("\(code)"))
    }

    @Test func `another type than those that are taken is an error`() async throws {
        let server = try LoopbackServer([
            "/html": { $0.answer(type: "text/html", Array("<p>".utf8)) }, "/none": { $0.answer("200 OK", [], [1]) },
        ])
        for path in ["/html", "/none"] {
            guard case .mediaType = await self.error(self.fetcher, server.url(path)) else {
                return #expect(Bool(false), "\(path)")
            }
        }
        let content = try await HTTPAdFetcher(mediaTypes: ["text/html"]).fetch(server.url("/html"))
        #expect(!content.isImage)
    }

    @Test(arguments: [true, false]) func `content is bounded, with and without a length`(hasLength: Bool) async throws {
        let server = try LoopbackServer([
            "/100": {
                $0.answer(
                    "200 OK",
                    ["Content-Type: image/png"] + (hasLength ? ["Content-Length: 100"] : []),
                    Array(repeating: 7, count: 100)
                )
            },
            "/101": {
                $0.answer(
                    "200 OK",
                    ["Content-Type: image/png"] + (hasLength ? ["Content-Length: 101"] : []),
                    Array(repeating: 7, count: 101)
                )
            },
        ])
        var fetcher = self.fetcher
        fetcher.bytesMax = 100
        #expect(try await fetcher.fetch(server.url("/100")).bytes.count == 100)
        guard case .tooLarge(bytesMax: 100) = await self.error(fetcher, server.url("/101")) else {
            return #expect(Bool(false))
        }
    }

    @Test func `content without an end is given up at the limit`() async throws {
        let server = try LoopbackServer([
            "/endless": { connection in
                connection.answer("200 OK", ["Content-Type: image/png"])
                while connection.send(Array(repeating: 7, count: 4_096)) { Thread.sleep(forTimeInterval: 0.001) }
            }
        ])
        var fetcher = self.fetcher
        fetcher.bytesMax = 100_000
        guard case .tooLarge = await self.error(fetcher, server.url("/endless")) else { return #expect(Bool(false)) }
    }

    @Test func `a server that is silent, or slow without an end, times out`() async throws {
        let server = try LoopbackServer([
            "/silent": { $0.waitForClose() },
            "/slow": { connection in
                connection.answer("200 OK", ["Content-Type: image/png"])
                while connection.send([7]) { Thread.sleep(forTimeInterval: 0.01) }
            },
        ])
        var fetcher = self.fetcher
        fetcher.timeout = .milliseconds(200)
        for path in ["/silent", "/slow"] {
            let error = await self.error(fetcher, server.url(path))
            guard case .timedOut(after: .milliseconds(200)) = error else {
                return #expect(Bool(false), "\(path) gave \(String(describing: error))")
            }
        }
    }

    @Test func `an answer that breaks off is an error`() async throws {
        let server = try LoopbackServer([
            "/cut": { $0.answer("200 OK", ["Content-Type: image/png", "Content-Length: 100"], [1, 2, 3]) },
            "/none": { _ in },
        ])
        for path in ["/cut", "/none"] {
            guard case .unreachable = await self.error(self.fetcher, server.url(path)) else {
                return #expect(Bool(false), "\(path)")
            }
        }
    }

    @Test func `a refused connection is an error with its cause`() async throws {
        let closed = try HeldPort()
        let url = "http://127.0.0.1:\(closed.number)/a.png"
        guard case .unreachable(let cause) = await self.error(self.fetcher, url) else { return #expect(Bool(false)) }
        #expect(cause is URLError)
    }

    @Test func `redirects are followed within http, and not without end`() async throws {
        let server = try LoopbackServer([
            "/to": { $0.answer("302 Found", ["Location: /a.png", "Content-Length: 0"]) },
            "/file": { $0.answer("302 Found", ["Location: file:///etc/passwd", "Content-Length: 0"]) },
            "/loop": { $0.answer("302 Found", ["Location: /loop", "Content-Length: 0"]) },
            "/a.png": { $0.answer(type: "image/png", [1]) },
        ])
        #expect(try await self.fetcher.fetch(server.url("/to")).url == server.url("/a.png"))
        #expect(await self.error(self.fetcher, server.url("/file")) != nil)
        guard case .status(302) = await self.error(self.fetcher, server.url("/loop")) else {
            return #expect(Bool(false))
        }
        #expect(server.requestedPaths.count { $0 == "/loop" } == HTTPAdFetcher.redirectsMax + 1)
    }

    @Test func `no redirect leads from https to http, or to anything else`() {
        let (secure, plain) = (URL(string: "HTTPS://a.example/"), URL(string: "http://a.example/"))
        let max = HTTPAdFetcher.redirectsMax
        #expect(HTTPAdFetcher.follows(redirect: 1, from: secure, to: secure))
        #expect(HTTPAdFetcher.follows(redirect: 1, from: plain, to: secure))
        #expect(HTTPAdFetcher.follows(redirect: max, from: plain, to: plain))
        #expect(!HTTPAdFetcher.follows(redirect: max + 1, from: plain, to: plain))
        #expect(!HTTPAdFetcher.follows(redirect: 1, from: secure, to: plain))
        #expect(!HTTPAdFetcher.follows(redirect: 1, from: plain, to: URL(string: "file:///etc/passwd")))
        #expect(!HTTPAdFetcher.follows(redirect: 1, from: plain, to: nil))
    }

    @Test func `a cancelled fetch ends at once`() async throws {
        let asked = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        let server = try LoopbackServer([
            "/silent": { connection in
                asked.continuation.yield()
                connection.waitForClose()
            }
        ])
        var fetcher = self.fetcher
        fetcher.timeout = .seconds(86_400)
        let task = Task { [fetcher] in await self.error(fetcher, server.url("/silent")) }
        for await _ in asked.stream { break }
        task.cancel()
        guard case .unreachable(let cause) = await task.value else { return #expect(Bool(false)) }
        #expect(cause is CancellationError)
    }

    @Test func `requests that end at any moment of a redirect do no harm`() async throws {
        let server = try LoopbackServer([
            "/loop": { $0.answer("302 Found", ["Location: /loop", "Content-Length: 0"]) }
        ])
        for step in 0..<60 {
            var fetcher = self.fetcher
            fetcher.timeout = .microseconds(step * 100)
            switch await self.error(fetcher, server.url("/loop")) {
            case .timedOut, .status(302): break
            case let other: Issue.record("\(String(describing: other))")
            }
        }
        #expect(server.requestedPaths.contains("/loop"))
    }
}
