// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import GatewayTestKit
import TestSupport
import Testing

/// Streams with what happens on them now, at a gateway that runs.
@Suite(.suiteLimit)
struct StreamOperationsTests {
    private func run(
        clock: ManualClock = ManualClock(),
        access: HTTPAccess? = nil,
        _ body: @escaping @Sendable (RunningGateway, HTTPPeer) async throws -> Void
    ) async throws {
        try await withGateway(log: InMemoryEventLog(), ledger: InMemoryLedger(), clock: clock) { running in
            var parts = Parts()
            parts.running = running
            parts.clock = { clock.now() }
            parts.access = access.map { HTTPAccessHolder($0) }
            try await parts.serve { peer in try await body(running, peer) }
        }
    }

    private static func list(_ peer: HTTPPeer, _ query: String = "") async throws -> StreamListDocument {
        try await peer.get("/v1/streams\(query)").decoded()
    }

    @Test func `streams with a listener or a break are listed in the order of their ids, page by page`() async throws {
        try await self.run { running, peer in
            let empty = try await Self.list(peer)
            #expect(empty.streams.isEmpty && empty.after == nil && empty.total == 0)
            let broadcaster = try await running.broadcaster()
            for stream in ["radio2", "Jazz", "radio1"] { try await broadcaster.publish("b", of: stream) }
            let listener = try await running.listener(of: "radio10")
            _ = try await listener.join()
            let second = try await running.listener(of: "radio1")
            _ = try await second.join()

            let all = try await Self.list(peer)
            #expect(all.streams.map(\.stream) == ["Jazz", "radio1", "radio10", "radio2"])
            #expect(all.streams.map(\.listeners) == [0, 1, 1, 0])
            #expect(all.after == nil && all.total == 4)

            let first = try await Self.list(peer, "?limit=3")
            #expect(first.streams.map(\.stream) == ["Jazz", "radio1", "radio10"])
            #expect(first.after == "radio10" && first.total == 4)
            let rest = try await Self.list(peer, "?limit=3&after=radio10")
            #expect(rest.streams.map(\.stream) == ["radio2"])
            #expect(rest.after == nil && rest.total == 4)
            // A page that ends with the last stream is the last.
            #expect(try await Self.list(peer, "?limit=4").after == nil)
            // Where the page before ended, there need be no stream any more.
            #expect(try await Self.list(peer, "?after=radio11").streams.map(\.stream) == ["radio2"])
            #expect(try await Self.list(peer, "?after=zzz").streams.isEmpty)

            _ = try await listener.ask(.leave(StreamID("radio10")))
            #expect(try await Self.list(peer).streams.map(\.stream) == ["Jazz", "radio1", "radio2"])
        }
    }

    @Test(arguments: [
        ("GET", "/v1/streams"), ("GET", "/v1/streams/radio1"), ("HEAD", "/v1/events"), ("POST", "/v1/event-tickets"),
    ])
    func `looking at streams needs the right to read`(_ method: String, _ path: String) async throws {
        let workshop = try TokenWorkshop()
        let access = try await workshop.access(.metrics)
        try await self.run(clock: ManualClock(Parts.now), access: access) { _, peer in
            #expect(try await peer.get(path, method: method).status == 401)
            for (scope, status) in [("read", 200), ("publish:radio1", 403), ("admin", 403)] {
                let token = try await workshop.token(TokenWorkshop.claims(scope: scope))
                let answer = try await peer.get(path, method: method, headers: ["Authorization": "Bearer \(token)"])
                #expect(answer.status == status, "\(scope)")
            }
        }
    }

    @Test func `a search finds parts of ids, in upper and lower case`() async throws {
        try await self.run { running, peer in
            let broadcaster = try await running.broadcaster()
            for stream in ["News-24", "newsroom", "radio1"] { try await broadcaster.publish("b", of: stream) }
            for (search, found) in [
                ("news", ["News-24", "newsroom"]), ("NEWS", ["News-24", "newsroom"]), ("-24", ["News-24"]),
                ("m", ["newsroom"]), ("radio1", ["radio1"]), ("radio12", []), ("%C3%BC", []),
            ] {
                let list = try await Self.list(peer, "?search=\(search)")
                #expect(list.streams.map(\.stream) == found, "\(search)")
                #expect(list.total == found.count)
            }
            let page = try await Self.list(peer, "?search=news&limit=1&after=News-24")
            #expect(page.streams.map(\.stream) == ["newsroom"])
            #expect(page.total == 2)
        }
    }

    @Test(arguments: [
        ("?limit=0", 400), ("?limit=1", 200), ("?limit=200", 200), ("?limit=201", 400), ("?limit=x", 400),
        ("?after=%20", 400), ("?search=", 400), ("?search=\(String(repeating: "a", count: 64))", 200),
        ("?search=\(String(repeating: "a", count: 65))", 400), ("?sort=listeners", 200),
        ("?sort=stream&after=a", 200), ("?sort=listeners&after=a", 400), ("?sort=Listeners", 400),
        ("?order=stream", 400),
    ])
    func `parameters are as they must be, or it is told`(_ query: String, _ status: Int) async throws {
        try await self.run { _, peer in
            let answer = try await peer.get("/v1/streams\(query)")
            #expect(answer.status == status)
            if status != 200 { #expect(try answer.decoded(as: ProblemDocument.self).detail.hasSuffix(".")) }
        }
    }

    @Test func `streams with most listeners come first where that is asked for`() async throws {
        try await self.run { running, peer in
            let broadcaster = try await running.broadcaster()
            for stream in ["radio2", "Jazz", "radio1", "radio3"] { try await broadcaster.publish("b", of: stream) }
            for stream in ["radio2", "radio1", "radio2", "news"] {
                let listener = try await running.listener(of: stream)
                _ = try await listener.join()
            }
            // Where as many listen, by id.
            let all = try await Self.list(peer, "?sort=listeners")
            #expect(all.streams.map(\.stream) == ["radio2", "news", "radio1", "Jazz", "radio3"])
            #expect(all.streams.map(\.listeners) == [2, 1, 1, 0, 0] && all.after == nil)
            let first = try await Self.list(peer, "?sort=listeners&limit=2&search=RADIO")
            #expect(first.streams.map(\.stream) == ["radio2", "radio1"])
            // There is one page of these, and how many there are is said.
            #expect(first.after == nil && first.total == 3)
            #expect(try await Self.list(peer, "?sort=stream&limit=1").after == "Jazz")
        }
    }

    @Test func `a line has the break that runs and the one that comes next`() async throws {
        let clock = ManualClock()
        try await self.run(clock: clock) { running, peer in
            func line() async throws -> StreamListDocument.Stream {
                try await peer.get("/v1/streams/radio1").decoded()
            }
            let broadcaster = try await running.broadcaster()
            let unknown = try await peer.get("/v1/streams/radio1")
            #expect(unknown.status == 200)
            #expect(unknown.body == #"{"listeners":0,"next":null,"running":null,"stream":"radio1"}"#)

            try await broadcaster.publish("cued", start: nil)
            #expect(try await line().next?.break == "cued")
            try await broadcaster.publish("later", start: .after(.seconds(3_600)))
            try await broadcaster.publish("soon", start: .after(.seconds(5)))
            try await broadcaster.publish("pre", start: nil, preStream: true, hold: .seconds(60))
            var now = try await line()
            #expect(now.running == nil)
            #expect(now.next?.break == "soon" && now.next?.state == "announced" && now.next?.revision == 1)
            #expect(now.next?.start != nil && now.next?.end != nil)

            clock.advance(by: .seconds(5))
            now = try await line()
            #expect(now.running?.break == "soon" && now.running?.state == "live")
            #expect(now.next?.break == "later" && now.next?.state == "scheduled")

            clock.advance(by: .seconds(30))
            now = try await line()
            #expect(now.running == nil && now.next?.break == "later")

            try await broadcaster.do(.cancel(BreakKey(stream: StreamID("radio1"), id: BreakID("later"))))
            try await until("it is cancelled") { try await line().next?.break == "cued" }
        }
    }

    @Test func `the open breaks of a stream are those that are not over`() async throws {
        let clock = ManualClock()
        try await self.run(clock: clock) { running, peer in
            func open(_ query: String = "") async throws -> [String] {
                let list: BreakListDocument = try await peer.get("/v1/streams/radio1/breaks?open=true\(query)")
                    .decoded()
                return list.breaks.map(\.break)
            }
            let broadcaster = try await running.broadcaster()
            #expect(try await open().isEmpty)
            try await broadcaster.publish("cued", start: nil)
            try await broadcaster.publish("later", start: .after(.seconds(3_600)))
            try await broadcaster.publish("soon", start: .after(.seconds(5)))
            #expect(try await open() == ["cued", "later", "soon"])
            clock.advance(by: .seconds(5))
            #expect(try await open() == ["cued", "later", "soon"])
            #expect(try await open("&limit=2") == ["cued", "later"])
            clock.advance(by: .seconds(30))
            #expect(try await open() == ["cued", "later"])
            let page: BreakListDocument = try await peer.get("/v1/streams/radio1/breaks?open=true&limit=1").decoded()
            #expect(try await open("&after=\(try #require(page.after))") == ["later"])
            let all: BreakListDocument = try await peer.get("/v1/streams/radio1/breaks?open=false").decoded()
            #expect(all.breaks.count == 3)
            #expect(try await peer.get("/v1/streams/radio1/breaks?open=yes").status == 400)
        }
    }
}
