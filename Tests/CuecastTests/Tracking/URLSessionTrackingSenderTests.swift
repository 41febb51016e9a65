// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Synchronization
import TestSupport
import Testing

@_spi(Tracking) @testable import Cuecast

private func request(_ url: String) -> TrackingRequest {
    TrackingRequest(id: 1, url: url, userAgent: "Player/1.0", event: "start", breakID: "b", adID: "a", attempt: 1)
}

private func response(_ status: String, _ headers: String..., body: String = "") -> LoopbackServer.Reply {
    let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)", "Connection: close"] + headers
    return .bytes(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
}

@Suite(.suiteLimit)
struct URLSessionTrackingSenderTests {
    let sender = URLSessionTrackingSender(timeout: .seconds(3_600))

    @Test(arguments: [
        ("200 OK", 200), ("204 No Content", 204), ("404 Not Found", 404), ("500 Oh", 500), ("503 Busy", 503),
        ("304 Not Modified", 304),
    ])
    func `a status is given as it is`(line: String, status: Int) async throws {
        let server = try LoopbackServer { _ in response(line) }
        defer { server.stop() }
        #expect(await self.sender.send(request(server.url("/t?a=1"))) == .answered(status: status))
        #expect(server.heads.count == 1)
    }

    @Test func `the request is a plain GET with the user agent and no cookies`() async throws {
        let server = try LoopbackServer { _ in response("200 OK", "Set-Cookie: a=b") }
        defer { server.stop() }
        #expect(await self.sender.send(request(server.url("/t?a=%20b&c=[FOO]#x"))) == .answered(status: 200))
        #expect(await self.sender.send(request(server.url("/again"))) == .answered(status: 200))
        #expect(server.heads.first?.hasPrefix("GET /t?a=%20b&c=%5BFOO%5D HTTP/1.1\r\n") == true)
        for head in server.heads {
            #expect(head.contains("\r\nUser-Agent: Player/1.0\r\n"))
            #expect(!head.lowercased().contains("cookie"))
        }
    }

    @Test(arguments: [
        ("http://t.example/a%20b?c=[FOO]&d=é|%%x%4", "http://t.example/a%20b?c=%5BFOO%5D&d=%C3%A9%7C%25%25x%254"),
        ("http://t.example", "http://t.example"), ("http://[::1]:80/[", "http://[::1]:80/%5B"),
        ("http://bücher.example/ü%41", "http://xn--bcher-kva.example/%C3%BC%41"), ("http://a b/", nil),
    ])
    func `characters that a URL does not allow are encoded, and none twice`(text: String, sent: String?) {
        #expect(URLSessionTrackingSender.url(text)?.absoluteString == sent)
    }

    @Test func `a redirect is followed, and its answer counts`() async throws {
        let server = try LoopbackServer { path in
            path == "/one" ? response("302 Found", "Location: /two?b=2") : response("204 No Content")
        }
        defer { server.stop() }
        #expect(await self.sender.send(request(server.url("/one"))) == .answered(status: 204))
        #expect(server.heads.map { $0.split(separator: " ")[1] } == ["/one", "/two?b=2"])
    }

    @Test func `redirects are followed so far and no further`() async throws {
        let server = try LoopbackServer { path in
            let number = Int(path.dropFirst()) ?? 0
            return number > 0 ? response("302 Found", "Location: /\(number - 1)") : response("200 OK")
        }
        defer { server.stop() }
        let most = URLSessionTrackingSender.redirectsMax
        #expect(await self.sender.send(request(server.url("/\(most)"))) == .answered(status: 200))
        #expect(server.heads.count == most + 1)
        #expect(await self.sender.send(request(server.url("/\(most + 1)"))) == .answered(status: 302))
        #expect(server.heads.count == 2 * (most + 1))
    }

    @Test(arguments: ["ftp://127.0.0.1/x", "file:///etc/hostname", "mailto:a@b.example"])
    func `a redirect to something else than http is the answer`(location: String) async throws {
        let server = try LoopbackServer { _ in response("302 Found", "Location: \(location)") }
        defer { server.stop() }
        #expect(await self.sender.send(request(server.url("/"))) == .answered(status: 302))
    }

    @Test func `a failure after a redirect is uncertain, because the first server accepted it`() async throws {
        let closed = try HeldPort()
        let server = try LoopbackServer { path in
            switch path {
            case "/closed": response("302 Found", "Location: http://127.0.0.1:\(closed.number)/")
            case "/busy": response("302 Found", "Location: /503")
            default: response("503 Busy")
            }
        }
        defer { server.stop() }
        for path in ["/closed", "/busy"] {
            guard case .uncertain = await self.sender.send(request(server.url(path))) else {
                Issue.record("\(path) was not uncertain")
                continue
            }
        }
    }

    @Test(arguments: [
        ("17", Duration.seconds(17)), (" 0 ", .seconds(0)), ("99999999999", .seconds(86_400)),
        ("99999999999999999999999999", nil), ("-5", nil), ("soon", nil),
    ])
    func `a server can ask to wait`(value: String, wait: Duration?) async throws {
        let server = try LoopbackServer { _ in response("429 Slow down", "Retry-After: \(value)") }
        defer { server.stop() }
        #expect(await self.sender.send(request(server.url("/"))) == .answered(status: 429, retryAfter: wait))
    }

    @Test func `a server can ask to wait until a date`() {
        let now = Date(timeIntervalSince1970: 1_445_412_430)
        let text = "Wed, 21 Oct 2015 07:28:00 GMT"
        #expect(URLSessionTrackingSender.wait(text, now: now) == .seconds(50))
        #expect(URLSessionTrackingSender.wait(text, now: now + 1_000) == .zero)
        #expect(URLSessionTrackingSender.wait(text, now: now - 1_000_000) == URLSessionTrackingSender.retryAfterMax)
    }

    @Test func `without a listening server nothing was sent`() async throws {
        let closed = try HeldPort()
        guard case .couldNotConnect = await self.sender.send(request("http://127.0.0.1:\(closed.number)/")) else {
            Issue.record("not told as not connected")
            return
        }
    }

    @Test func `a name that does not exist means that nothing was sent`() async {
        // RFC 2606 section 2: no name ends with "invalid".
        let result = await self.sender.send(request("http://tracker.invalid/"))
        guard case .couldNotConnect = result else {
            Issue.record("\(result)")
            return
        }
    }

    @Test func `a server that never answers leaves it uncertain, in time`() async throws {
        let impatient = URLSessionTrackingSender(timeout: .seconds(5))
        let server = try LoopbackServer { _ in .silence }
        defer { server.stop() }
        let result = await impatient.send(request(server.url("/")))
        // On a busy machine the session's own limit, which is the same, may be noticed before ours.
        guard case .uncertain = result else {
            Issue.record("\(result)")
            return
        }
        #expect(server.heads.count == 1)
    }

    @Test(arguments: ["127.0.0.1", "localhost"], [true, false])
    func `a connection closed without an answer leaves it uncertain`(host: String, readsOnlyTheFirstLine: Bool)
        async throws
    {
        let server = try LoopbackServer(readsOnlyTheFirstLine: readsOnlyTheFirstLine) { _ in .close }
        defer { server.stop() }
        let result = await self.sender.send(request(server.url("/", host: host)))
        guard case .uncertain = result else {
            Issue.record("\(result)")
            return
        }
        #expect(server.heads.count == 1)
    }

    @Test func `a cancelled task ends the attempt, and it is uncertain`() async throws {
        let (asked, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let server = try LoopbackServer { _ in
            continuation.yield()
            return .silence
        }
        defer { server.stop() }
        let url = server.url("/")
        let task = Task { await self.sender.send(request(url)) }
        var iterator = asked.makeAsyncIterator()
        await iterator.next()
        task.cancel()
        guard case .uncertain = await task.value else {
            Issue.record("not uncertain")
            return
        }
    }

    @Test func `an endless body is not read to its end`() async throws {
        let body = String(repeating: "x", count: 20 * URLSessionTrackingSender.bodyBytesMax)
        let server = try LoopbackServer { _ in response("200 OK", body: body) }
        defer { server.stop() }
        #expect(await self.sender.send(request(server.url("/"))) == .answered(status: 200))
    }

    @Test(arguments: [
        "", "nonsense", "ftp://a.example/x", "file:///etc/hostname", "http://", "https:///x", "http://a b/",
    ])
    func `a URL that is not http or https is not sent`(url: String) async {
        guard case .notSendable = await self.sender.send(request(url)) else {
            Issue.record("\(url) was sent")
            return
        }
    }

    @Test func `an attempt that is cancelled at any moment ends, also before it begins`() async throws {
        let server = try LoopbackServer { path in
            path == "/one" ? response("302 Found", "Location: /two") : .silence
        }
        defer { server.stop() }
        for round in 0..<300 {
            let url = server.url(round % 2 == 0 ? "/one" : "/silent")
            let attempt = Task { await self.sender.send(request(url)) }
            for _ in 0..<(round % 50) { await Task.yield() }
            attempt.cancel()
            guard case .uncertain = await attempt.value else {
                Issue.record("a cancelled attempt proves nothing")
                return
            }
        }
    }

    @Test func `the dispatcher tells how each attempt ended, and nothing once it is stopped`() async throws {
        let server = try LoopbackServer { $0 == "/silent" ? .silence : response("204 No Content") }
        defer { server.stop() }
        let told = Mutex<[UInt64: TrackingResult]>([:])
        let dispatcher = TrackingDispatcher(sender: self.sender)
        for id in 1...3 as ClosedRange<UInt64> {
            let call = TrackingRequest(
                id: id,
                url: server.url("/\(id)"),
                userAgent: "Player/1.0",
                event: "start",
                breakID: "b",
                adID: "a",
                attempt: 1
            )
            dispatcher.send(call) { id, result in told.withLock { $0[id] = result } }
        }
        await dispatcher.idle()
        #expect(
            told.withLock { $0 } == [
                1: .answered(status: 204), 2: .answered(status: 204), 3: .answered(status: 204),
            ]
        )
        dispatcher.send(request(server.url("/silent"))) { id, _ in told.withLock { $0[id] = nil } }
        dispatcher.stop()
        dispatcher.send(request(server.url("/later"))) { id, _ in told.withLock { $0[id] = nil } }
        await dispatcher.idle()
        #expect(told.withLock { $0.count } == 3)
        #expect(!server.heads.contains { $0.contains("/later") })
    }
}

@Suite(.suiteLimit)
struct TrackingErrorTests {
    @Test(arguments: [
        URLError.Code.cannotFindHost, .dnsLookupFailed, .notConnectedToInternet, .internationalRoamingOff,
        .callIsActive, .dataNotAllowed, .serverCertificateHasBadDate,
        .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
    ])
    func `an error before anything was sent lets it be sent again`(code: URLError.Code) {
        guard case .couldNotConnect = TrackingResult(URLError(code)) else {
            Issue.record("\(code)")
            return
        }
    }

    @Test(arguments: [
        URLError.Code.timedOut, .networkConnectionLost, .badServerResponse, .secureConnectionFailed,
        .clientCertificateRejected, .cancelled, .unknown, .resourceUnavailable, .cannotParseResponse,
        .userAuthenticationRequired,
    ])
    func `any other error proves nothing`(code: URLError.Code) {
        guard case .uncertain = TrackingResult(URLError(code)) else {
            Issue.record("\(code)")
            return
        }
    }

    #if canImport(FoundationNetworking)
    @Test func `a refused connection counts only where it was not followed by another one`() {
        for (text, isSafe) in [
            ("Failed to connect to t.example port 80 after 0 ms: Couldn't connect to server", true),
            ("Empty reply from server", false), (nil, false),
        ] {
            let facts = text.map { [NSLocalizedDescriptionKey: $0] } ?? [:]
            let result = TrackingResult(URLError(.cannotConnectToHost, userInfo: facts))
            if case .couldNotConnect = result { #expect(isSafe) } else { #expect(!isSafe) }
        }
    }
    #endif

    @Test func `no error and a foreign one prove nothing`() {
        for result in [TrackingResult(nil), TrackingResult(CancellationError())] {
            guard case .uncertain = result else {
                Issue.record("\(result)")
                return
            }
        }
    }
}
