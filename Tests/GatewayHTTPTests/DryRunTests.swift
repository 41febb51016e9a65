// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakPlanning
import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import GatewayTestKit
import Testing

/// Dry runs over HTTP: the rules of choosing, the books of the stream, and the bounds.
@Suite(.suiteLimit)
struct DryRunTests {
    private static let path = "/v1/streams/radio1/dry-run"
    private static let usual = "?break=noon-1&fill=60s"

    private let workshop: TokenWorkshop

    init() throws { self.workshop = try TokenWorkshop() }

    private func headers(_ scope: String = "publish:radio*") async throws -> [String: String] {
        let token = try await self.workshop.token(try TokenWorkshop.claims(scope: scope))
        return ["Authorization": "Bearer \(token)", "Content-Type": "application/json"]
    }

    private func parts() async throws -> Parts {
        var parts = Parts()
        parts.access = HTTPAccessHolder(try await self.workshop.access(.metrics))
        return parts
    }

    /// One candidate of a file.
    private static func ad(_ id: String, _ duration: String = "20s", _ members: String = "") -> String {
        """
        {"ad": {"id": "\(id)", "title": "T", "duration": "\(duration)", "media": [{"url": "https://a.example/a.mp3"}]}\(members)}
        """
    }

    private static func file(_ candidates: [String], _ members: String = "") -> String {
        #"{"candidates": [\#(candidates.joined(separator: ","))]\#(members)}"#
    }

    /// A file whose rules look at the books.
    private static func apart(_ candidates: [String]) -> String {
        Self.file(candidates, #", "rules": {"apart": {"ad": "30m"}}"#)
    }

    private func post(
        _ peer: HTTPPeer,
        _ body: String,
        to target: String = Self.path + Self.usual,
        headers: [String: String]
    ) async throws -> HTTPPeer.Answer {
        let all = headers.merging(["Content-Length": "\(body.utf8.count)"]) { first, _ in first }
        let head = HTTPPeer.request(target, method: "POST", headers: all)
        return try await peer.send(String(decoding: head, as: UTF8.self) + body)
    }

    private func problem(_ answer: HTTPPeer.Answer) throws -> ProblemDocument { try answer.decoded() }

    /// Books of a break with one ad.
    private static func entry(_ number: UInt64, _ breakID: String, minutes: Int64, ad: String) throws -> Report.Break {
        let start = Parts.now + .seconds(minutes * 60)
        let summary = BreakSummary(
            number: BreakNumber(rawValue: number),
            key: BreakKey(stream: try StreamID("radio1"), id: try BreakID(breakID)),
            broadcaster: "",
            published: Parts.now,
            start: start,
            end: start + .seconds(20),
            cancelled: false,
            expired: false,
            preStream: false,
            advertisements: []
        )
        let own = Report.Advertisement(
            id: AdvertisementID(unchecked: ad),
            title: "",
            duration: .seconds(20),
            counts: OutcomeCounts()
        )
        return Report.Break(summary: summary, sessions: 0, advertisements: [own], settled: false)
    }

    @Test func `what would play is told with its reasons, and nothing is asked of the broadcasters' desk`() async throws
    {
        let asked = AskedRequests()
        var parts = try await self.parts()
        parts.broadcast = { request, principal, origin in
            asked.add(AskedRequests.One(request: request.asked, principal: principal, origin: origin))
            return BroadcastReply(
                requestID: 1,
                gatewayTime: Parts.now,
                body: .refused(Refusal(.unavailable, "This is not asked."))
            )
        }
        let body = Self.file(
            [
                Self.ad("intro", "3s", #", "role": "opener""#), Self.ad("sale", "30s", #", "priority": 1"#),
                Self.ad("house", "20s", #", "priority": 9, "variants": ["default"]"#),
                Self.ad("car", "10s", #", "variants": ["cars"]"#),
            ],
            #", "variants": [{"name": "cars", "if": [{"attribute": "device", "is": "car"}]}]"#
        )
        let headers = try await self.headers()
        try await parts.serve { peer in
            let at = "?break=noon-1&fill=45s&duration=40s&at=2026-11-21T12:00:00Z"
            let answer = try await self.post(peer, body, to: Self.path + at, headers: headers)
            #expect(answer.status == 200, "\(answer.body)")
            let document = try answer.decoded(as: DryRunDocument.self)
            #expect(document.stream == "radio1" && document.break == "noon-1")
            #expect(document.start == "2026-11-21T12:00:00.000Z" && document.durationSeconds == 40)
            #expect(document.variants.map(\.variant) == ["default", "cars"])
            #expect(document.variants.map(\.conditions) == [[], ["device=car"]])
            let usual = document.variants[0]
            #expect(usual.ads.map(\.id) == ["intro", "sale"] && usual.durationSeconds == 33 && usual.best == true)
            #expect(usual.ads.map(\.startsAfterSeconds) == [0, 3])
            #expect(usual.ads[1].sentence == "priority 1, weight 1")
            #expect(usual.left.map(\.id) == ["house"] && usual.left[0].reason == "lowerPriority")
            #expect(usual.left[0].sentence == "only 12 s are left by ads of higher priority")
            let cars = document.variants[1]
            #expect(cars.ads.map(\.id) == ["intro", "sale", "car"] && cars.left.isEmpty)
            // The break ends 3 s before its last ad does.
            #expect(cars.ads.map(\.cutAfterSeconds) == [nil, nil, 7])
            #expect(try await self.post(peer, body, to: Self.path + at, headers: headers).body == answer.body)
        }
        #expect(asked.count == 0)
        #expect(try await parts.audit?.records(AuditQuery()).isEmpty == true)
    }

    @Test
    func `a start is an instant, after a while, or now, and without a duration the ads say how long the break is`()
        async throws
    {
        let headers = try await self.headers()
        let body = Self.file([Self.ad("a", "20s")])
        try await self.parts()
            .serve { peer in
                for (query, start) in [
                    ("", "2023-11-14T22:13:20.000Z"), ("&in=1m30s", "2023-11-14T22:14:50.000Z"),
                    ("&at=2026-11-21T12:00:00.5Z", "2026-11-21T12:00:00.500Z"),
                ] {
                    let answer = try await self.post(peer, body, to: Self.path + Self.usual + query, headers: headers)
                    let document = try answer.decoded(as: DryRunDocument.self)
                    #expect(document.start == start && document.durationSeconds == 20)
                }
                let none = try await self.post(peer, body, to: Self.path + "?break=b&fillExactly=29s", headers: headers)
                let document = try none.decoded(as: DryRunDocument.self)
                #expect(none.status == 200 && document.variants[0].ads.isEmpty)
                #expect(document.variants[0].summary == "nothing: no filling lasts 29 s exactly")
                #expect(document.variants[0].left[0].reason == "noFilling")
            }
    }

    @Test func `it needs the right to publish on the stream, and a refusal is no change that was refused`() async throws
    {
        let parts = try await self.parts()
        try await parts.serve { peer in
            let body = Self.file([Self.ad("a")])
            let none = try await self.post(peer, body, headers: ["Content-Type": "application/json"])
            #expect(none.status == 401)
            for (scope, status) in [
                ("publish:radio1", 200), ("publish:*", 200), ("publish:tv", 403), ("read", 403), ("admin", 403),
            ] {
                let answer = try await self.post(peer, body, headers: try await self.headers(scope))
                #expect(answer.status == status, "\(scope)")
            }
        }
        #expect(try await parts.audit?.records(AuditQuery()).isEmpty == true)
    }

    @Test(arguments: [
        ("?fill=60s", "The parameter break is missing."),
        ("?break=no%20spaces&fill=60s", ""),
        ("?break=b", "Give fill, fillExactly or duration."),
        ("?break=b&duration=0s", "duration must be more than 0s and at most 6h, which are 21600s."),
        ("?break=b&duration=21601s", "duration must be more than 0s and at most 6h, which are 21600s."),
        ("?break=b&fill=21600001ms", "fill must be more than 0s and at most 6h, which are 21600s."),
        ("?break=b&fillExactly=0s", "fillExactly must be more than 0s and at most 6h, which are 21600s."),
        ("?break=b&fill=1s&fillExactly=1s", "Give one of fill and fillExactly."),
        ("?break=b&fillAtLeast=1s&fillExactly=1s", "fillAtLeast and fillExactly contradict each other."),
        ("?break=b&fill=1s&fillAtLeast=2s", "fillAtLeast is more than fill."),
        ("?break=b&duration=1s&fillAtLeast=2s", "fillAtLeast is more than duration."),
        ("?break=b&fill=soon", "The parameter fill must be a duration such as 30s or 1m30s."),
        ("?break=b&fill=1s&in=5s&at=2026-11-21T12:00:00Z", "Give one of at and in."),
        ("?break=b&fill=1s&at=noon", "The parameter at must be an instant such as 2026-05-01T12:00:00Z."),
        ("?break=b&fill=1s&history=all", "The parameter history must be none, or is left out."),
        ("?break=b&fill=1s&now=true", ""),
    ])
    func `parameters are as they must be, or it is told`(_ query: String, _ sentence: String) async throws {
        let headers = try await self.headers()
        try await self.parts()
            .serve { peer in
                let answer = try await self.post(
                    peer,
                    Self.file([Self.ad("a")]),
                    to: Self.path + query,
                    headers: headers
                )
                #expect(answer.status == 400)
                let detail = try self.problem(answer).detail
                #expect(detail.hasSuffix(".") && (sentence.isEmpty || detail == sentence), "\(detail)")
            }
    }

    @Test(arguments: [
        ("", 400, "Line 1"),
        ("{", 400, "Line 1"),
        (#"{"candidates": []}"#, 400, "Line 1, candidates: there must be at least one."),
        (#"{"ads": []}"#, 400, "Line 1, ads: there is no such field; known are candidates, rules, timeZone, variants."),
        (
            Self.file([Self.ad("a", "20s", #", "weight": 0"#)]), 400,
            "Line 1, candidates[0].weight: it must be from 1 to 100."
        ),
        (
            Self.file([Self.ad("a", "20s", #", "role": "middle""#)]), 400,
            "Line 1, candidates[0].role: it must be ad, opener, closer or jingle."
        ),
        (
            Self.file([Self.ad("a"), Self.ad("a")]), 400,
            "Line 1, candidates[1].ad.id: the ad on line 1 has the id a already."
        ),
        (
            Self.file([Self.ad("a")], #", "timeZone": "CST""#), 400,
            "timeZone: 'CST' is not known; write a name such as Europe/Oslo, or UTC."
        ),
        (
            Self.file([Self.ad("a")], #", "timeZone": "../\#(String(repeating: "x", count: 200))""#), 400,
            "timeZone: '../\(String(repeating: "x", count: 61))' is not known; write a name such as Europe/Oslo, or UTC."
        ),
        (Self.file([Self.ad("a")], #", "timeZone": "Europe/Oslo""#), 200, ""),
    ])
    func `a file with a fault has a status, and a sentence with the field`(
        _ body: String,
        _ status: Int,
        _ sentence: String
    ) async throws {
        let headers = try await self.headers()
        try await self.parts()
            .serve { peer in
                let answer = try await self.post(peer, body, headers: headers)
                #expect(answer.status == status)
                guard status != 200 else { return }
                let detail = try self.problem(answer).detail
                #expect(detail == sentence || sentence == "Line 1" && detail.hasPrefix(sentence), "\(detail)")
            }
    }

    @Test func `a file may have as many bytes and candidates as the limits say, and not one more`() async throws {
        let headers = try await self.headers()
        let small = Self.file([Self.ad("a")])
        let bytesMax = 4_194_304
        let thousand = (0..<1_000).map { Self.ad("a\($0)") }
        try await self.parts()
            .serve { peer in
                let full = small + String(repeating: " ", count: bytesMax - small.utf8.count)
                #expect(try await self.post(peer, full, headers: headers).status == 200)
                let large = try await self.post(peer, full + " ", headers: headers)
                #expect(large.status == 413)
                #expect(try self.problem(large).detail == "The body has more than 4194304 bytes.")
                #expect(try await self.post(peer, Self.file(thousand), headers: headers).status == 200)
                let many = try await self.post(peer, Self.file(thousand + [Self.ad("b")]), headers: headers)
                #expect(many.status == 413)
                #expect(
                    try self.problem(many).detail
                        == "Line 1, candidates: the limit candidatesMax is 1000, and this has 1001."
                )
                let text = ["Content-Type": "text/plain"].merging(headers) { first, _ in first }
                #expect(try await self.post(peer, small, headers: text).status == 415)
                for (query, status) in [("fill=21600s", 200), ("fill=21601s", 400)] {
                    let answer = try await self.post(peer, small, to: "\(Self.path)?break=b&\(query)", headers: headers)
                    #expect(answer.status == status)
                }
            }
    }

    @Test func `ads of other breaks keep ads away, those of the break itself and of breaks far away do not`()
        async throws
    {
        let headers = try await self.headers()
        var parts = try await self.parts()
        parts.books.breaks = [
            try Self.entry(4, "far", minutes: 31, ad: "c"), try Self.entry(3, "next", minutes: 10, ad: "b~2"),
            try Self.entry(2, "noon-1", minutes: 0, ad: "a"),
        ]
        let body = Self.apart([Self.ad("a"), Self.ad("b"), Self.ad("c")])
        try await parts.serve { peer in
            for (query, expected) in [
                ("", ["b": "it plays 600 s after in another break"]),
                ("&in=1m", ["b": "it plays 540 s after in another break"]),
                (
                    "&in=2m",
                    [
                        "b": "it plays 480 s after in another break",
                        "c": "it plays 1740 s after in another break",
                    ]
                ), ("&in=2m&history=none", [:]),
            ] as [(String, [String: String])] {
                let answer = try await self.post(peer, body, to: Self.path + Self.usual + query, headers: headers)
                let document = try answer.decoded(as: DryRunDocument.self)
                let left = document.variants[0].left.map { ($0.id, $0.sentence) }
                #expect(Dictionary(uniqueKeysWithValues: left) == expected, "\(query)")
            }
        }
    }

    @Test func `a ledger that stays behind is waited for, and then the answer is to try again`() async throws {
        let headers = try await self.headers()
        var parts = try await self.parts()
        // The ledger of these books has read 3.
        parts.heads = [.breaks: 4, .acknowledgements(0): 20]
        try await parts.serve { peer in
            let answer = try await self.post(peer, Self.apart([Self.ad("a")]), headers: headers)
            #expect(answer.status == 503 && answer.headers["retry-after"] == "1")
            let detail = try self.problem(answer).detail
            #expect(detail == "The ads of other breaks are not known: the gateway's ledger is behind its event log.")
            // Without such rules the books do not matter.
            #expect(try await self.post(peer, Self.file([Self.ad("a")]), headers: headers).status == 200)
        }
    }

    @Test func `as many run at a time as httpPlansMax, one more is turned away, and lists do not wait for them`()
        async throws
    {
        #expect(GatewayHTTPConfiguration().plansMax == 4)
        let barrier = Barrier()
        let headers = try await self.headers()
        var parts = try await self.parts()
        parts.configuration.plansMax = 2
        // Tokens are checked there too, while the reports are held.
        parts.configuration.readersMax = 8
        parts.books.beforeReport = { await barrier.pass() }
        let body = Self.apart([Self.ad("a")])
        try await parts.serve { [metrics = parts.metrics] peer in
            try await withThrowingTaskGroup(of: HTTPPeer.Answer.self) { group in
                for _ in 0..<3 { group.addTask { try await self.post(peer, body, headers: headers) } }
                let turnedAway = try #require(try await group.next())
                #expect(turnedAway.status == 503 && turnedAway.headers["retry-after"] == "1")
                let problem = try self.problem(turnedAway)
                #expect(problem.code == "LIMIT_REACHED" && problem.detail.contains("httpPlansMax is 2"))
                #expect(metrics.value(.limitsHit, .limit(.httpPlansMax)) == 1)
                barrier.open()
                for try await answer in group { #expect(answer.status == 200) }
            }
            // The places are free again.
            #expect(try await self.post(peer, body, headers: headers).status == 200)
        }
    }

    @Test func `choosing has httpPlanTimeMax of time, which is looked at before each further variant`() async throws {
        #expect(GatewayHTTPConfiguration().planTimeMax == .seconds(10))
        let headers = try await self.headers()
        var parts = try await self.parts()
        parts.configuration.planTimeMax = .zero
        let variants = #", "variants": [{"name": "cars", "if": [{"attribute": "device", "is": "car"}]}]"#
        try await parts.serve { [metrics = parts.metrics] peer in
            #expect(try await self.post(peer, Self.file([Self.ad("a")]), headers: headers).status == 200)
            #expect(metrics.value(.limitsHit, .limit(.httpPlanTimeMax)) == 0)
            let answer = try await self.post(peer, Self.file([Self.ad("a")], variants), headers: headers)
            #expect(answer.status == 413)
            #expect(try self.problem(answer).detail.hasPrefix("The limit httpPlanTimeMax is 0 s"))
            #expect(metrics.value(.limitsHit, .limit(.httpPlanTimeMax)) == 1)
        }
    }
}
