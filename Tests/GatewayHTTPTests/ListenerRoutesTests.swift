// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import GatewayTestKit
import TestSupport
import Testing

/// Listeners over HTTP, at a gateway that runs.
@Suite(.suiteLimit)
struct ListenerRoutesTests {
    private static let session = "00112233445566778899aabbccddeeff"

    private struct Batch: Decodable {
        struct Advertisement: Decodable {
            let id: String
        }

        let gatewayUs: Int64
        let delivery: String
        let advertisements: [Advertisement]
    }

    private struct Acknowledged: Decodable {
        let recorded: Int
    }

    private func run(
        _ configuration: GatewayConfiguration = .forTests,
        origins: [String] = [],
        tokens: ListenerTokenCheck? = nil,
        configure: @escaping @Sendable (inout GatewayHTTPConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningGateway, HTTPPeer) async throws -> Void
    ) async throws {
        let workshop = try TokenWorkshop()
        let access = HTTPAccess(
            verifier: try await workshop.verifier(),
            openReads: .all,
            listenerOrigins: ListenerOrigins(try origins.map { try OriginPattern($0) })
        )
        try await withGateway(
            configuration: configuration,
            log: InMemoryEventLog(),
            ledger: InMemoryLedger(),
            tokens: tokens
        ) { running in
            var parts = Parts()
            parts.listeners = running.gateway.listeners
            parts.configuration.listenersMax = running.gateway.httpListenersMax
            configure(&parts.configuration)
            parts.metrics = running.metrics
            parts.access = HTTPAccessHolder(access)
            try await parts.serve { peer in try await body(running, peer) }
        }
    }

    private static func post(_ peer: HTTPPeer, _ path: String, _ body: String) async throws -> HTTPPeer.Answer {
        try await peer.send(
            "POST \(path) HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
    }

    /// Leaves until its events have ended: they begin a moment after the join was decided.
    private static func leave(_ running: RunningGateway, _ peer: HTTPPeer) async throws {
        try await until("it has left") {
            let answer = try await Self.post(peer, "/v1/streams/radio1/leave", #"{"session":"\#(Self.session)"}"#)
            guard answer.status == 200 else { throw HTTPPeer.Failure(what: answer.body) }
            return running.metrics.value(.httpListeners) == 0
        }
    }

    @Test func `a listener hears, fetches, acknowledges and leaves, and the books balance`() async throws {
        try await self.run { running, peer in
            let base = "/v1/streams/radio1"
            let said = try await withThrowingTaskGroup(of: HTTPPeer.Answer.self) { tasks in
                tasks.addTask { try await peer.get("\(base)/listen?session=\(Self.session)") }
                try await until("it listens") { running.metrics.value(.listeners) == 1 }
                #expect(running.metrics.value(.httpListeners) == 1)
                // So long that no machine is too slow for it.
                let ads = try ["a", "b"].map { try AdvertisementContent.madeUp($0, duration: .seconds(1_500)) }
                try await running.broadcaster().publish("b", duration: .seconds(3_000), advertisements: ads)
                let who = #""session":"\#(Self.session)""#
                let batch: Batch = try await Self.post(peer, "\(base)/breaks/b/batch", "{\(who)}").decoded()
                #expect(batch.advertisements.map(\.id) == ["a", "b"])
                let outcomes = batch.advertisements
                    .map {
                        #"{"advertisementId":"\#($0.id)","kind":"played","heardMs":15000,"quartiles":4,"occurredUs":\#(batch.gatewayUs)}"#
                    }
                let request =
                    #"{\#(who),"delivery":"\#(batch.delivery)","outcomes":[\#(outcomes.joined(separator: ","))]}"#
                for _ in 0..<2 {
                    let recorded: Acknowledged = try await Self.post(peer, "\(base)/breaks/b/acknowledge", request)
                        .decoded()
                    #expect(recorded.recorded == 2)
                }
                let books = try await running.books { $0.total.played == 2 }
                #expect(books.total.delivered == 2 && books.balances)
                // Who leaves another stream, late perhaps, goes on hearing this one.
                #expect(try await Self.post(peer, "/v1/streams/radio2/leave", "{\(who)}").status == 200)
                #expect(running.metrics.value(.listeners) == 1 && running.metrics.value(.httpListeners) == 1)
                try await Self.leave(running, peer)
                return try await tasks.next()
            }
            let answer = try #require(said)
            #expect(answer.status == 200)
            #expect(answer.headers["content-type"] == "text/event-stream")
            #expect(answer.body.contains("event: joined\ndata: {"))
            #expect(answer.body.contains(#""session":"\#(Self.session)""#))
            #expect(answer.body.contains(#""breakId":"b""#))
            #expect(answer.body.contains("id: end:left\nevent: end\n" + #"data: {"reason":"left","retryable":false}"#))
            #expect(running.metrics.value(.listeners) == 0)
            #expect(running.metrics.value(.httpListenersEnded, .left) == 1)
        }
    }

    @Test func `a page may name the last position in the query, and the header counts first`() async throws {
        try await self.run { running, peer in
            let broadcaster = try await running.broadcaster()
            try await broadcaster.publish("b1", start: nil)
            try await broadcaster.publish("b2", start: nil)
            try await until("both are announced") { running.metrics.value(.noticesSent) == 2 }
            let epoch = String(running.board.epoch, radix: 16)
            func joined(_ query: String, _ headers: [String: String] = [:]) async throws -> String {
                let said = try await withThrowingTaskGroup(of: HTTPPeer.Answer.self) { tasks in
                    tasks.addTask {
                        try await peer.get(
                            "/v1/streams/radio1/listen?session=\(Self.session)\(query)",
                            headers: headers
                        )
                    }
                    try await until("it listens") { running.metrics.value(.listeners) == 1 }
                    try await Self.leave(running, peer)
                    return try await tasks.next()
                }
                return try #require(said).body
            }
            let recovered = try await joined("&lastEventId=\(epoch):1")
            #expect(recovered.contains(#""kind":"recovered""#) && recovered.contains(#""breakId":"b2""#))
            #expect(
                try await joined("&lastEventId=\(epoch):1", ["Last-Event-ID": "\(epoch):2"])
                    .contains(#""kind":"current""#)
            )
            // What is no position is as none.
            #expect(try await joined("&lastEventId=nonsense").contains(#""kind":"snapshot""#))
            #expect(try await joined("&lastEventId=").contains(#""kind":"snapshot""#))
        }
    }

    @Test(arguments: ["left", "replaced", "expired"])
    func `a reader that comes back after an end for good is stopped and not counted`(_ reason: String) async throws {
        try await self.run { running, peer in
            let path = "/v1/streams/radio1/listen?session=\(Self.session)"
            for (target, headers) in [
                (path, ["Last-Event-ID": "end:\(reason)"]), (path + "&lastEventId=end:\(reason)", [:]),
            ] {
                let answer = try await peer.get(target, headers: headers)
                #expect(answer.status == 204 && answer.body.isEmpty)
            }
            #expect(running.metrics.value(.listeners) == 0)
            #expect(running.metrics.value(.listenerRequests, .join) == 0)
        }
    }

    @Test func `a listener that returns with its last position gets the missed notices`() async throws {
        try await self.run { running, peer in
            let broadcaster = try await running.broadcaster()
            try await broadcaster.publish("b1", start: nil)
            try await broadcaster.publish("b2", start: nil)
            try await until("both are announced") { running.metrics.value(.noticesSent) == 2 }
            let epoch = String(running.board.epoch, radix: 16)
            let said = try await withThrowingTaskGroup(of: HTTPPeer.Answer.self) { tasks in
                tasks.addTask {
                    try await peer.get(
                        "/v1/streams/radio1/listen?session=\(Self.session)",
                        headers: ["Last-Event-ID": "\(epoch):1"]
                    )
                }
                try await until("it listens") { running.metrics.value(.listeners) == 1 }
                try await Self.leave(running, peer)
                return try await tasks.next()
            }
            let body = try #require(said).body
            #expect(body.contains(#""kind":"recovered""#))
            #expect(body.contains(#""breakId":"b2""#) && !body.contains(#""breakId":"b1""#))
            #expect(body.contains("id: \(epoch):2\nevent: joined"))
        }
    }

    @Test(arguments: [
        ("", 400), ("[]", 400), ("{", 400), ("{}", 400), (#"{"session":7}"#, 400), (#"{"session":"00"}"#, 400),
        (#"{"session":"0011223344556677889900112233445g"}"#, 400),
        (#"{"session":"00112233445566778899aabbccddeeff","delayMs":-1}"#, 400),
        (#"{"session":"00112233445566778899aabbccddeeff","delayMs":3600001}"#, 413),
        (#"{"session":"00112233445566778899aabbccddeeff","ticket":"%"}"#, 400),
        (#"{"session":"00112233445566778899aabbccddeeff"}"#, 404),
        // A member twice, also one that is not known.
        (#"{"session":"00112233445566778899aabbccddeeff","delayMs":0,"delayMs":1}"#, 400),
        (#"{"session":"00112233445566778899aabbccddeeff","session":"00112233445566778899aabbccddeeff"}"#, 400),
        (#"{"session":"00112233445566778899aabbccddeeff","other":{"a":1,"a":1}}"#, 400),
        (#"{"session":"00112233445566778899aabbccddeeff","delayMs":1e999}"#, 400),
        (String(repeating: "[", count: 60_000), 400), (String(repeating: " ", count: 65_536), 400),
        (String(repeating: " ", count: 65_537), 413),
    ])
    func `a body that is not as it must be has a status and a sentence`(_ body: String, _ status: Int) async throws {
        try await self.run { _, peer in
            let answer = try await Self.post(peer, "/v1/streams/radio1/breaks/b/batch", body)
            #expect(answer.status == status)
            let problem: ProblemDocument = try answer.decoded()
            #expect(problem.status == status && problem.detail.hasSuffix("."))
            #expect(try await peer.get("/healthz").status == 200)
        }
    }

    @Test func `outcomes are as the wire has them, or it is told`() async throws {
        try await self.run { _, peer in
            func acknowledge(_ outcome: String) async throws -> ProblemDocument {
                let body = #"{"session":"\#(Self.session)","delivery":"AAAA","outcomes":[\#(outcome)]}"#
                return try await Self.post(peer, "/v1/streams/radio1/breaks/b/acknowledge", body).decoded()
            }
            for (outcome, code) in [
                ("", "INVALID"), (#"{"advertisementId":"a","kind":"heard","occurredUs":1}"#, "INVALID"),
                // Without a reason.
                (#"{"advertisementId":"a","kind":"ignored","occurredUs":1}"#, "INVALID"),
                (#"{"advertisementId":"a","kind":"played","occurredUs":1}"#, "NOT_FOUND"),
            ] {
                let problem = try await acknowledge(outcome)
                #expect(problem.code == code)
            }
            let problem = try await acknowledge(#"{"advertisementId":"a","kind":"played"}"#)
            #expect(problem.detail == "The body has no outcomes[0].occurredUs.")
        }
    }

    @Test func `as many listen as may, and one more is refused while others are answered`() async throws {
        var configuration = GatewayConfiguration.forTests
        configuration.limits[.httpListenersMax] = 1
        try await self.run(configuration) { running, peer in
            try await withThrowingTaskGroup(of: HTTPPeer.Answer.self) { tasks in
                tasks.addTask { try await peer.get("/v1/streams/radio1/listen?session=\(Self.session)") }
                try await until("it listens") { running.metrics.value(.listeners) == 1 }
                let second = try await peer.get("/v1/streams/radio1/listen")
                #expect(second.status == 503)
                #expect(second.headers["retry-after"] == "10")
                let problem: ProblemDocument = try second.decoded()
                #expect(problem.code == "LIMIT_REACHED" && problem.retryable)
                #expect(try await peer.get("/healthz").status == 200)
                #expect(try await peer.get("/v1/time").status == 200)
                try await Self.leave(running, peer)
                for try await answer in tasks { #expect(answer.status == 200) }
            }
        }
    }

    @Test func `a listener behind whose request another one comes stays at the server, which takes as many as may`()
        async throws
    {
        let configure: @Sendable (inout GatewayHTTPConfiguration) -> Void = {
            $0.listenersMax = 1
            $0.handsListenersOver = true
        }
        try await self.run(configure: configure) { running, peer in
            // Those whose connections go to the loops are none of them.
            var events: [EventConnection] = []
            for count in 1...3 {
                let each = try EventConnection(peer, "/v1/streams/radio1/listen")
                _ = try await each.next("joined")
                events.append(each)
                // One at a time: as many may be on their way.
                try await until("the server has none of them") {
                    running.metrics.value(.connections, .events) == count
                        && running.metrics.value(.connections, .http) == 0
                }
            }
            let connection = try peer.connect()
            let request = HTTPPeer.request("/v1/streams/radio1/listen", headers: ["Connection": "keep-alive"])
            try connection.send(request + request)
            try await until("it listens") { running.metrics.value(.httpListeners) == 4 }
            let refused = try await peer.get("/v1/streams/radio1/listen")
            #expect(refused.status == 503)
            let problem: ProblemDocument = try refused.decoded()
            #expect(problem.code == "LIMIT_REACHED" && problem.detail.contains("httpHandOversMax is 1"))
            #expect(running.metrics.value(.limitsHit, .limit(.httpHandOversMax)) == 1)
            #expect(running.metrics.value(.httpListeners) == 4)
            try await running.broadcaster().publish("b", start: nil)
            for each in events { _ = try await each.next("notice") }
        }
    }

    @Test func `HEAD begins nothing`() async throws {
        try await self.run { running, peer in
            let answer = try await peer.get("/v1/streams/radio1/listen", method: "HEAD")
            #expect(answer.status == 200)
            #expect(running.metrics.value(.listenerRequests, .join) == 0)
        }
    }

    @Test func `a protected stream is heard with a token`() async throws {
        var configuration = GatewayConfiguration.forTests
        configuration.protectedStreams = [.every]
        let check: ListenerTokenCheck = { token, now in
            token == "true"
                ? .success(ListenerGrant(subject: "one", streams: [.every], until: now + .seconds(3_600)))
                : .failure(Refusal(.notAllowed, "No."))
        }
        let other = try #require(
            SigningKey(secret: Array(repeating: 9, count: 32), state: .signing, since: Timestamp(microseconds: 0))
        )
        try await self.run(configuration, tokens: check) { [configuration] running, peer in
            let path = "/v1/streams/radio1/listen?session=\(Self.session)"
            for headers: [String: String] in [[:], ["Authorization": "Bearer false"], ["Authorization": "Basic true"]] {
                #expect(try await peer.get(path, headers: headers).status == 403)
            }
            try await withThrowingTaskGroup(of: HTTPPeer.Answer.self) { tasks in
                tasks.addTask { try await peer.get(path, headers: ["Authorization": "Bearer true"]) }
                try await until("it listens") { running.metrics.value(.listeners) == 1 }
                let answer = try await Self.post(
                    peer,
                    "/v1/streams/radio1/breaks/b/batch",
                    #"{"session":"\#(Self.session)"}"#
                )
                #expect(answer.status == 403, "without its ticket")
                // The key that signed its ticket is not taken any more.
                await running.gateway.reload(configuration, nil, MessageKeys(try KeyRing([other])))
                for try await answer in tasks { #expect(answer.body.contains(#""reason":"expired""#)) }
            }
        }
    }

    @Test func `pages of listed origins may listen, others may not, and nothing else is open to them`() async throws {
        try await self.run(origins: ["https://radio.example"]) { _, peer in
            let listed = ["Origin": "https://radio.example"]
            let preflight = try await peer.get("/v1/streams/radio1/breaks/b/batch", method: "OPTIONS", headers: listed)
            #expect(preflight.status == 204)
            #expect(preflight.headers["access-control-allow-origin"] == "https://radio.example")
            #expect(preflight.headers["access-control-allow-methods"] == "POST")
            #expect(preflight.headers["access-control-allow-credentials"] == "true")
            let allowed =
                preflight.headers["access-control-allow-headers"]?.split(separator: ", ").map(String.init) ?? []
            #expect(allowed.first == "x-request-id")
            for name in [
                "authorization", "cache-control", "baggage", "tracestate", "x-requested-with", "last-event-id",
            ] {
                #expect(allowed.contains(name), "\(name)")
            }
            let time = try await peer.get("/v1/time", headers: listed)
            #expect(time.status == 200)
            #expect(time.headers["access-control-allow-origin"] == "https://radio.example")
            #expect(time.headers["vary"] == "Origin")
            #expect(time.headers["access-control-allow-credentials"] == "true")
            // What has no origin is kept apart by caches, too.
            #expect(try await peer.get("/v1/time").headers["vary"] == "Origin")
            // A page may read a problem too.
            let problem = try await peer.get("/v1/streams/%20/listen", headers: listed)
            #expect(problem.status == 400)
            #expect(problem.headers["access-control-allow-origin"] == "https://radio.example")
            let other = ["Origin": "https://other.example"]
            for method in ["GET", "OPTIONS"] {
                let answer = try await peer.get("/v1/time", method: method, headers: other)
                #expect(answer.status == 403)
                #expect(answer.headers["access-control-allow-origin"] == nil)
                #expect(answer.headers["access-control-allow-credentials"] == nil)
            }
            #expect(try await peer.get("/v1/time", headers: ["Origin": "http://test"]).status == 200, "its own")
            let breaks = try await peer.get("/v1/breaks", headers: listed)
            #expect(breaks.status == 403)
            #expect(breaks.headers["access-control-allow-origin"] == nil)
        }
    }

    @Test func `every origin may listen where that is said`() async throws {
        try await self.run(origins: ["*"]) { _, peer in
            let answer = try await peer.get("/v1/time", headers: ["Origin": "https://any.example"])
            #expect(answer.status == 200)
            // With `*` browsers refuse credentials.
            #expect(answer.headers["access-control-allow-origin"] == "https://any.example")
            #expect(answer.headers["access-control-allow-credentials"] == "true")
            #expect(try await peer.get("/v1/breaks", headers: ["Origin": "https://any.example"]).status == 403)
        }
    }

    @Test(arguments: ["capacitor://localhost", "null", "https://morning.radio.example", "https://radio.example:8443"])
    func `pages of apps, of no origin and of subdomains may listen where a rule says so`(_ origin: String) async throws
    {
        let rules = ["capacitor://localhost", "null", "https://*.radio.example", "https://radio.example:8443"]
        try await self.run(origins: rules) { _, peer in
            let answer = try await peer.get("/v1/time", headers: ["Origin": origin])
            #expect(answer.status == 200)
            #expect(answer.headers["access-control-allow-origin"] == origin)
            for other in [
                "https://radio.example", "http://morning.radio.example", "https://a.b.radio.example",
                "capacitor://host",
            ] {
                #expect(try await peer.get("/v1/time", headers: ["Origin": other]).status == 403, "\(other)")
            }
        }
    }

    @Test func `acknowledgements and leaves are accepted from beacons`() async throws {
        try await self.run(origins: ["https://radio.example"]) { running, peer in
            let base = "/v1/streams/radio1"
            func send(_ path: String, _ type: String, _ body: String) async throws -> HTTPPeer.Answer {
                try await peer.send(
                    "POST \(base)\(path) HTTP/1.1\r\nHost: test\r\nConnection: close\r\nOrigin: https://radio.example\r\n"
                        + "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
            }
            try await running.broadcaster().publish("b", duration: .seconds(600))
            let session = #""session":"\#(Self.session)""#
            let batch: Batch = try await send("/breaks/b/batch", "application/json", "{\(session)}").decoded()
            let beacon = "text/plain;charset=UTF-8"
            let outcome = """
                {\(session),"delivery":"\(batch.delivery)","outcomes":[{"advertisementId":\
                "\(batch.advertisements[0].id)","kind":"failed","occurredUs":\(batch.gatewayUs)}]}
                """
            let recorded = try await send("/breaks/b/acknowledge", beacon, outcome)
            #expect(recorded.status == 200, "\(recorded.body)")
            #expect(recorded.headers["access-control-allow-credentials"] == "true")
            #expect(try recorded.decoded(as: Acknowledged.self).recorded == 1)
            #expect(try await send("/leave", beacon, "{\(session)}").status == 200)
            // Nothing else is taken as text.
            #expect(try await send("/breaks/b/batch", beacon, "{\(session)}").status == 415)
            #expect(try await send("/leave", "application/x-www-form-urlencoded", "{\(session)}").status == 415)
        }
    }

    @Test func `a cookie gives a page no right and changes no answer`() async throws {
        try await self.run(origins: ["https://radio.example"]) { _, peer in
            let page = ["Origin": "https://radio.example", "Cookie": "token=x; session=\(Self.session)"]
            let time = try await peer.get("/v1/time", headers: page)
            #expect(time.status == 200)
            // The operations of others stay closed to pages, whatever a browser adds by itself.
            for target in ["/v1/breaks", "/v1/reports", "/metrics", "/v1/configuration"] {
                #expect(try await peer.get(target, headers: page).status == 403, "\(target)")
            }
        }
    }
}
