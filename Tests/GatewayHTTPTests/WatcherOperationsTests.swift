// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import GatewayTestKit
import Testing

/// Reports of watchers over HTTP: each is the same request as by the broadcasters' socket.
@Suite(.suiteLimit)
struct WatcherOperationsTests {
    private static let path = "/v1/streams/radio1/watchers"
    private static let least = #"{"source":"encoder","watcher":"w1","kind":"hls","number":1}"#

    private let workshop: TokenWorkshop

    init() throws { self.workshop = try TokenWorkshop() }

    private func parts(_ asked: AskedRequests = AskedRequests()) async throws -> Parts {
        var segments = SegmentPolicy()
        segments.openingTypes = [0x34, 0x22]
        segments.endingTypes = []
        segments.restrictions = [.blackout, .web]
        let rule = CueRule(
            isKnown: true,
            segments: segments,
            programmeLateMax: .seconds(90),
            reportInterval: .seconds(30)
        )
        var parts = Parts()
        parts.access = HTTPAccessHolder(try await self.workshop.access(.metrics))
        parts.broadcast = { request, principal, origin in
            asked.add(AskedRequests.One(request: request.asked, principal: principal, origin: origin))
            let body: BroadcastReply.Body
            switch request.read {
            case .success: body = .cueRule(rule)
            case .failure(let error): body = .refused(Refusal(error.status, error.description))
            }
            return BroadcastReply(requestID: request.asked.id, gatewayTime: Parts.now, body: body)
        }
        return parts
    }

    private func headers(_ scope: String = "publish:*") async throws -> [String: String] {
        ["Authorization": "Bearer \(try await self.workshop.token(try TokenWorkshop.claims(scope: scope)))"]
    }

    @Test func `a report says what its body says, and the answer is the rule`() async throws {
        let asked = AskedRequests()
        let headers = try await self.headers("publish:radio*")
        try await self.parts(asked)
            .serve { peer in
                let body = #"""
                    {"source":"encoder","watcher":"w1","kind":"ts","address":"udp://@239.1.1.1:5000","number":7,"heardAge":"2s",
                     "steady":true,"ignored":3,"unusable":1,"problem":"It is cut.","problemAge":4.5,"ends":true,
                     "cues":[{"result":"ignored","seen":"a cue","reason":"a repeat","times":2},
                             {"result":"unusable","reason":"unreadable"}]}
                    """#
                let answer = try await peer.ask("POST", Self.path, body: body, headers: headers)
                #expect(answer.status == 200)
                let rule: CueRuleDocument = try answer.decoded()
                #expect(rule.known && rule.opens == ["0x22", "0x34"] && rule.ends == [])
                #expect(rule.restrictions == ["web", "blackout"])
                #expect(rule.lateMilliseconds == 90_000 && rule.reportMilliseconds == 30_000)
                guard case .watchReport(let report)? = asked.last?.request.kind else { return #expect(Bool(false)) }
                #expect(report.stream.description == "radio1" && report.kind == .transportStream && report.number == 7)
                #expect(report.heardAge == .seconds(2) && report.isSteady && report.isLast)
                #expect(report.ignored == 3 && report.unusable == 1 && report.problem == "It is cut.")
                #expect(report.problemAge == .milliseconds(4_500))
                #expect(report.cues.map(\.isUnusable) == [false, true] && report.cues.map(\.times) == [2, 1])
                let short = try await peer.ask("POST", Self.path, body: Self.least, headers: headers)
                #expect(short.status == 200)
                guard case .watchReport(let least)? = asked.last?.request.kind else { return #expect(Bool(false)) }
                #expect(least.heardAge == nil && !least.isSteady && least.cues.isEmpty && !least.isLast)
            }
    }

    @Test(arguments: [
        (#"{"source":"encoder","watcher":"a b","kind":"hls","number":1}"#, "watcher"),
        (#"{"source":"encoder","watcher":"w1","kind":"dvb","number":1}"#, "kind: it must be one of hls, ts, icecast"),
        (#"{"source":"encoder","watcher":"w1","kind":"hls","number":0}"#, "number"),
        (
            #"{"source":"encoder","watcher":"w1","kind":"hls","number":1,"address":"https://u:p@a.example/"}"#,
            "it has a user, a query or a fragment"
        ),
        (
            #"{"source":"encoder","watcher":"w1","kind":"hls","number":1,"address":"https://a.example/?token=1"}"#,
            "it has a user, a query or a fragment"
        ),
        (
            #"{"source":"encoder","watcher":"w1","kind":"hls","number":1,"cues":[{"result":"ignored","reason":"r"}]}"#,
            "they are more than ignored and unusable say"
        ),
        (
            #"{"source":"encoder","watcher":"w1","kind":"hls","number":1,"cues":[{"result":"sent","reason":"r"}]}"#,
            "cues[0].result"
        ),
    ])
    func `what is wrong with a report is named`(body: String, words: String) async throws {
        let headers = try await self.headers()
        try await self.parts()
            .serve { peer in
                let answer = try await peer.ask("POST", Self.path, body: body, headers: headers)
                #expect(answer.status == 400)
                let problem: ProblemDocument = try answer.decoded()
                #expect(problem.detail.contains(words), "\(problem.detail)")
            }
    }

    @Test func `as many things as the limit says are told one by one, and one more is refused`() async throws {
        let headers = try await self.headers()
        try await self.parts()
            .serve { peer in
                for (count, status) in [
                    (WireLimits.watchedCuesPerReportMax, 200), (WireLimits.watchedCuesPerReportMax + 1, 400),
                ] {
                    let cues = Array(repeating: #"{"result":"ignored","reason":"r"}"#, count: count)
                        .joined(separator: ",")
                    let body =
                        #"{"source":"encoder","watcher":"w1","kind":"hls","number":1,"ignored":99,"cues":[\#(cues)]}"#
                    let answer = try await peer.ask("POST", Self.path, body: body, headers: headers)
                    #expect(answer.status == status, "\(count)")
                }
            }
    }

    @Test func `the watchers of a stream stand beside its signals`() async throws {
        var report = BroadcastRequest.WatchReport(
            stream: try StreamID("radio1"),
            source: try SignalSource("encoder"),
            watcher: try SignalSource("w1"),
            kind: .hls,
            address: "https://a.example/live.m3u8",
            number: 1
        )
        report.heardAge = .seconds(2)
        report.isSteady = true
        var book = WatcherBook()
        book.note(report, at: Parts.now, interval: .seconds(30))
        report.watcher = try SignalSource("w2")
        report.heardAge = nil
        (report.problem, report.problemAge) = ("The server is away.", .seconds(1))
        book.note(report, at: Parts.now - .seconds(91), interval: .seconds(30))
        var parts = Parts()
        parts.watchers = { [book] in book.watchers(of: $0) }
        try await parts.serve { peer in
            let document: SignalListDocument = try await peer.get("/v1/streams/radio1/signals").decoded()
            #expect(document.watchers.map(\.watcher) == ["w1", "w2"])
            let (first, second) = (try #require(document.watchers.first), try #require(document.watchers.last))
            #expect(first.state == "present" && first.heard == (Parts.now - .seconds(2)).description)
            #expect(first.address == "https://a.example/live.m3u8" && first.problem == nil && first.steady)
            #expect(second.state == "gone" && second.heard == nil && second.problem == "The server is away.")
            #expect(second.problemAt == (Parts.now - .seconds(92)).description)
            let other: SignalListDocument = try await peer.get("/v1/streams/other/signals").decoded()
            #expect(other.watchers.isEmpty)
        }
    }
}
