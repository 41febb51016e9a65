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

/// One break on many streams, at a gateway that runs.
@Suite(.suiteLimit)
struct GroupOperationsTests {
    private static let path = "/v1/groups/final-1"

    private let workshop: TokenWorkshop

    init() throws { self.workshop = try TokenWorkshop() }

    /// A gateway that runs, and the server before it.
    private func run(
        clock: ManualClock = ManualClock(Parts.now),
        _ body: @escaping @Sendable (HTTPPeer, _ board: @escaping @Sendable () -> Board) async throws -> Void
    ) async throws {
        let access = try await self.workshop.access(.all)
        try await withGateway(log: InMemoryEventLog(), ledger: InMemoryLedger(), clock: clock) { running in
            var parts = Parts()
            parts.running = running
            parts.clock = { clock.now() }
            parts.access = HTTPAccessHolder(access)
            parts.broadcast = { request, principal, origin in
                await running.gateway.breakDesk.ask(
                    request,
                    by: principal,
                    from: RequestOrigin(.http, address: origin.address, requestID: origin.requestID),
                    trace: origin.trace
                )
            }
            try await parts.serve { peer in try await body(peer) { running.board } }
        }
    }

    private func ask(
        _ peer: HTTPPeer,
        _ body: String,
        _ method: String = "PUT",
        to path: String = Self.path,
        scope: String = "publish:*"
    ) async throws -> HTTPPeer.Answer {
        let token = try await self.workshop.token(try TokenWorkshop.claims(scope: scope))
        let headers = [
            "Authorization": "Bearer \(token)", "Content-Type": "application/json",
            "Content-Length": "\(body.utf8.count)",
        ]
        let head = HTTPPeer.request(path, method: method, headers: headers)
        return try await peer.send(String(decoding: head, as: UTF8.self) + body)
    }

    private static func ads(_ id: String, _ duration: String = "30s") -> String {
        #""ads": [{"id": "\#(id)", "duration": "\#(duration)", "media": [{"url": "https://a.example/a.mp3"}]}]"#
    }

    private static func group(_ start: String, _ streams: String) -> String {
        #"{\#(start)\#(Self.ads("a")), "streams": [\#(streams)]}"#
    }

    private static func streams(_ names: [String]) -> String {
        #"{"streams": [\#(names.map { "\"\($0)\"" }.joined(separator: ","))]}"#
    }

    private func results(_ answer: HTTPPeer.Answer) throws -> [String] {
        #expect(answer.status == 200, "\(answer.body)")
        let document = try answer.decoded(as: GroupResultDocument.self)
        #expect(document.failed == document.streams.count { $0.result == "failed" })
        return document.streams.map { "\($0.stream) \($0.result)" }
    }

    @Test func `each stream has its own start and ads, the same again changes nothing, and one request calls it off`()
        async throws
    {
        let clock = ManualClock(Parts.now)
        let body = """
            {"in": "10s", \(Self.ads("all")), "streams": [{"stream": "radio1"}, {"stream": "radio2", "offset": "2s"},
             {"stream": "radio3", "offset": "-500ms", \(Self.ads("own", "20s"))}]}
            """
        try await self.run(clock: clock) { peer, board in
            let first = try await self.ask(peer, body)
            #expect(try self.results(first) == ["radio1 published", "radio2 published", "radio3 published"])
            let document = try first.decoded(as: GroupResultDocument.self)
            #expect(document.group == "final-1" && document.start == "2023-11-14T22:13:30.000Z")
            let breaks = document.streams.compactMap(\.status)
            #expect(
                breaks.map(\.start) == [
                    "2023-11-14T22:13:30.000000Z", "2023-11-14T22:13:32.000000Z", "2023-11-14T22:13:29.500000Z",
                ]
            )
            #expect(breaks.map(\.durationMilliseconds) == [30_000, 30_000, 20_000])

            // The start counts once, so that a later request continues an earlier one.
            clock.advance(by: .seconds(1))
            let more = body.replacing(#"{"stream": "radio1"}"#, with: #"{"stream": "radio1"}, {"stream": "radio4"}"#)
            let again = try await self.ask(peer, more)
            #expect(
                try self.results(again) == [
                    "radio1 present", "radio4 published", "radio2 present", "radio3 present",
                ]
            )
            #expect(try again.decoded(as: GroupResultDocument.self).start == document.start)

            try await until("the board has all") { board().streams.count == 4 }
            let shown = try await peer.get(Self.path).decoded(as: GroupStateDocument.self)
            #expect(shown.streams.map(\.stream) == ["radio1", "radio2", "radio3", "radio4"] && shown.missing == [])
            #expect(shown.states.values.reduce(0, +) == 4)
            let some = try await peer.get(Self.path + "?streams=radio2,tv").decoded(as: GroupStateDocument.self)
            #expect(some.streams.map(\.stream) == ["radio2"] && some.missing == ["tv"])
            #expect(try await peer.get("/v1/groups/other").decoded(as: GroupStateDocument.self).streams.isEmpty)

            let cancelled = try await self.ask(peer, Self.streams(["radio1", "tv"]), "POST", to: Self.path + "/cancel")
            #expect(try self.results(cancelled) == ["radio1 cancelled", "tv failed"])
            let missing = try cancelled.decoded(as: GroupResultDocument.self).streams[1]
            #expect(missing.code == "NOT_FOUND" && missing.retryable == false)
            // Its id stays taken.
            let after = try await self.ask(peer, body)
            #expect(try self.results(after) == ["radio1 failed", "radio2 present", "radio3 present"])
        }
    }

    @Test func `each stream decides whether the token is good for it, and none is asked if it is good for none`()
        async throws
    {
        let body = #"{"in": "10s", \#(Self.ads("a")), "streams": [{"stream": "radio1"}, {"stream": "tv"}]}"#
        try await self.run { peer, board in
            let none = try await self.ask(peer, body, scope: "publish:news")
            #expect(none.status == 403)
            #expect(try await self.ask(peer, body, scope: "read").status == 403)
            let unknown = try await peer.get(Self.path, method: "PUT")
            #expect(unknown.status == 401)
            let cancel = Self.streams(["radio1"])
            #expect(
                try await self.ask(peer, cancel, "POST", to: Self.path + "/cancel", scope: "publish:tv").status == 403
            )
            #expect(board().streams.isEmpty)
            let some = try await self.ask(peer, body, scope: "publish:radio*")
            #expect(try self.results(some) == ["radio1 published", "tv failed"])
            let refused = try some.decoded(as: GroupResultDocument.self).streams[1]
            #expect(refused.code == "NOT_ALLOWED" && refused.retryable == false && refused.status == nil)
        }
    }

    @Test func `a start that cannot be for all streams publishes nothing`() async throws {
        let early = #"{"stream": "radio1"}, {"stream": "radio2", "offset": "-3s"}"#
        try await self.run { peer, board in
            let past = try await self.ask(peer, Self.group("", early))
            #expect(past.status == 422)
            #expect(
                try past.decoded(as: ProblemDocument.self).detail
                    == "On radio2 the break would start 1000 ms before now: give a later start with in or at."
            )
            #expect(board().streams.isEmpty)
            #expect(
                try self.results(await self.ask(peer, Self.group(#""in": "3s","#, early)))
                    == ["radio1 published", "radio2 published"]
            )
            try await until("the board has both") { board().streams.count == 2 }
            // The streams that have the break say when the group started.
            let other = #"{"stream": "radio1"}, {"stream": "radio2", "offset": "-1s"}"#
            let different = try await self.ask(peer, Self.group(#""in": "3s","#, other))
            #expect(different.status == 409)
            #expect(
                try different.decoded(as: ProblemDocument.self).detail
                    == "The break starts at times that do not fit on radio1 and radio2: say with at when the group starts."
            )
        }
    }

    @Test(arguments: [
        (
            #"{"streams": [{"stream": "a"}]}"#,
            "Line 1, streams[0].ads: the stream a has no ads of its own: give ads for such streams."
        ),
        (#"{"streams": []}"#, "Line 1, streams: there must be at least one."),
        (
            #"{"cued": true, \#(GroupOperationsTests.ads("a")), "streams": [{"stream": "a", "offset": "1s"}]}"#,
            "Line 1, streams[0].offset: a break without a start has no offset: leave cued, preStream or the offset out."
        ),
        (
            #"{\#(GroupOperationsTests.ads("a")), "streams": [{"stream": "a", "offset": "3601s"}]}"#,
            #"Line 1, streams[0].offset: it must be a duration such as "2s" or "-500ms", up to 1 h."#
        ),
        (
            #"{\#(GroupOperationsTests.ads("a")), "streams": [{"stream": "a"}, {"stream": "a"}]}"#,
            "Line 1, streams[1].stream: the stream a stands on line 1 already."
        ),
        (
            #"{"in": "1s", "now": true, \#(GroupOperationsTests.ads("a")), "streams": [{"stream": "a"}]}"#,
            "Line 1, now: give one of in, at and now."
        ),
    ])
    func `a fault of the document is told with its field`(_ body: String, _ sentence: String) async throws {
        try await self.run { peer, board in
            let answer = try await self.ask(peer, body)
            #expect(answer.status == 400)
            #expect(try answer.decoded(as: ProblemDocument.self).detail == sentence)
            #expect(board().streams.isEmpty)
        }
    }

    @Test func `a group has as many streams as groupStreamsMax, and not one more`() async throws {
        let names = (0..<1_000).map { "s\($0)" }
        try await self.run { peer, _ in
            let full = try await self.ask(peer, Self.streams(names), "POST", to: Self.path + "/cancel")
            #expect(try full.decoded(as: GroupResultDocument.self).failed == 1_000)
            for (method, path, body) in [
                ("POST", Self.path + "/cancel", Self.streams(names + ["t"])),
                (
                    "PUT", Self.path,
                    #"{\#(Self.ads("a")), "streams": [\#((names + ["t"]).map { "{\"stream\": \"\($0)\"}" }.joined(separator: ","))]}"#
                ),
            ] {
                let many = try await self.ask(peer, body, method, to: path)
                #expect(many.status == 413)
                #expect(
                    try many.decoded(as: ProblemDocument.self).detail
                        == "Line 1, streams: the limit groupStreamsMax is 1000, and this has 1001."
                )
            }
        }
    }
}
