// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import GatewayTestKit
import Logging
import Testing

@Suite(.suiteLimit)
struct RoutesTests {
    /// Books of one ad: 10 delivered, of which 5 played, 3 ignored, 1 failed, and the rest unknown.
    private static func written(
        _ number: UInt64,
        stream: String = "radio1",
        unknown: Int64 = 1
    ) throws -> Report.Break {
        var counts = OutcomeCounts()
        counts.delivered = 10
        counts.played = 5
        counts.ignored = 3
        counts.failed = 1
        counts.unknown = unknown
        counts.inferred = 2
        counts.repeats = 4
        counts.contradictions = 6
        counts.heardMilliseconds = 49_000
        counts.muted = 1
        counts.clicked = 7
        counts.ignoredBy = [.user: 2, .endedEarly: 1, .muted: 0]
        let ad = BreakSummary.Advertisement(id: try AdvertisementID("spot"), title: "Spot", duration: .seconds(10))
        let summary = BreakSummary(
            number: BreakNumber(rawValue: number),
            key: BreakKey(stream: try StreamID(stream), id: try BreakID("b\(number)")),
            broadcaster: "",
            published: Parts.now - .seconds(900),
            start: Parts.now - .seconds(800),
            end: Parts.now - .seconds(790),
            cancelled: false,
            expired: false,
            preStream: false,
            advertisements: [ad]
        )
        return Report.Break(
            summary: summary,
            sessions: 10,
            advertisements: [
                Report.Advertisement(id: ad.id, title: ad.title, duration: ad.duration, counts: counts)
            ],
            settled: true
        )
    }

    @Test func `the index lists every operation, and what has no parameter in its path answers`() async throws {
        var parts = Parts()
        parts.log = InMemoryEventLog()
        try await parts.serve { peer in
            let index: IndexDocument = try await peer.get("/v1").decoded()
            #expect(index.operations.count > 8)
            for operation in index.operations.keys where operation.hasPrefix("GET ") && !operation.contains("{") {
                let path = String(operation.dropFirst("GET ".count))
                let answer = try await peer.get(path)
                // Ad lists need a right to every stream, also where all may read.
                #expect(answer.status == (path == "/v1/lists" ? 401 : 200), "\(path)")
                // The page stays with a browser as long as it is the same.
                #expect(answer.headers["cache-control"] == (path == "/" ? "no-cache" : "no-store"))
            }
        }
    }

    @Test func `the description has the index's operations, each with answers and examples`() async throws {
        try await Parts()
            .serve { peer in
                let index: IndexDocument = try await peer.get("/v1").decoded()
                let description = try await peer.get("/openapi.json")
                #expect(description.headers["content-type"] == "application/json")
                guard case .object(let root) = try description.decoded(as: JSONValue.self),
                    root["openapi"] == "3.1.0", case .object(let paths)? = root["paths"]
                else { return #expect(Bool(false), "no description: \(description.body.prefix(200))") }
                var described: Set<String> = []
                for (path, item) in paths {
                    guard case .object(let methods) = item else { continue }
                    for (method, operation) in methods {
                        described.insert("\(method.uppercased()) \(path)")
                        guard case .object(let members) = operation, case .object(let answers)? = members["responses"]
                        else {
                            #expect(Bool(false), "\(method) \(path) has no answers")
                            continue
                        }
                        #expect(answers["400"] != nil && answers["503"] != nil)
                    }
                }
                // Both describe what describes, the index only what is not the description.
                #expect(described.subtracting(["GET /v1", "GET /openapi.json"]) == Set(index.operations.keys))
                #expect(described.isSuperset(of: ["GET /v1", "GET /openapi.json"]))
            }
    }

    @Test func `readiness is 503 and names what is missing`() async throws {
        var parts = Parts()
        try await parts.serve { peer in
            let answer = try await peer.get("/readyz")
            #expect(answer.status == 200)
            #expect(try answer.decoded() == ReadinessDocument(missing: []))
        }
        parts.missing = ["log", "sockets"]
        try await parts.serve { peer in
            let answer = try await peer.get("/readyz")
            #expect(answer.status == 503)
            let document: ReadinessDocument = try answer.decoded()
            #expect(!document.ready)
            #expect(document.missing == ["log", "sockets"])
            // The process lives all the same.
            let answer1 = try await peer.get("/healthz")
            #expect(answer1.status == 200)
        }
    }

    @Test func `health says 503 with the reason once something failed that only a new start mends`() async throws {
        var parts = Parts()
        parts.failure = "The event log failed."
        try await parts.serve { peer in
            let answer = try await peer.get("/healthz")
            #expect(answer.status == 503)
            #expect(answer.body == #"{"sentence":"The event log failed.","status":"failed"}"#)
        }
        try await Parts()
            .serve { peer in
                let answer = try await peer.get("/healthz")
                #expect(answer.status == 200)
            }
    }

    @Test func `readiness shows alarms and stays 200 while nothing is missing`() async throws {
        var parts = Parts()
        parts.alarms = [RaisedAlarm(.clock, "The wall clock is 1 h ahead.")]
        try await parts.serve { peer in
            let answer = try await peer.get("/readyz")
            #expect(answer.status == 200)
            #expect(
                answer.body
                    == #"{"alarms":[{"alarm":"clock","sentence":"The wall clock is 1 h ahead.","title":"The clocks are too far apart"}],"missing":[],"ready":true}"#
            )
        }
        parts.missing = ["log"]
        try await parts.serve { peer in
            let answer = try await peer.get("/readyz")
            #expect(answer.status == 503)
            let document: ReadinessDocument = try answer.decoded()
            #expect(document.missing == ["log"])
            #expect(document.alarms.map(\.alarm) == ["clock"])
        }
    }

    @Test func `metrics are the text format of Prometheus`() async throws {
        let parts = Parts()
        parts.metrics.count(.noticesSent, by: 3)
        parts.metrics.count(.refusals, .status(.conflict))
        parts.metrics.observe(.appendSeconds, .milliseconds(3))
        try await parts.serve { peer in
            let answer = try await peer.get("/metrics")
            #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            let sample = /[a-z_]+(\{[a-z]+="[^"\\]*"(,[a-z]+="[^"\\]*")*\})? -?[0-9.e+-]+/
            var values: [String: String] = [:]
            for line in answer.body.split(separator: "\n") where !line.hasPrefix("# ") {
                #expect(line.wholeMatch(of: sample) != nil, "\(line)")
                let parts = line.split(separator: " ")
                values[String(parts[0])] = String(parts[1])
            }
            #expect(answer.body.hasSuffix("\n"))
            #expect(values["cuecast_notices_sent_total"] == "3")
            #expect(values["cuecast_refusals_total{status=\"CONFLICT\"}"] == "1")
            #expect(values["cuecast_log_append_seconds_bucket{le=\"+Inf\"}"] == "1")
            for metric in Metric.allCases {
                #expect(answer.body.contains("# TYPE \(metric.rawValue) \(metric.kind.rawValue)\n"))
            }
        }
    }

    @Test func `a report balances, adds up, and says how far the books are behind`() async throws {
        var parts = Parts()
        parts.books.breaks = [try Self.written(2), try Self.written(1)]
        try await parts.serve { peer in
            let answer = try await peer.get("/v1/reports")
            #expect(answer.headers["content-type"] == "application/json")
            let report: ReportDocument = try answer.decoded()
            #expect(report.balanced)
            #expect(report.breaks.map(\.break) == ["b2", "b1"])
            #expect(report.total.delivered == 20)
            #expect(report.total.heardMilliseconds == 98_000)
            #expect(report.total.ignoredBy == ["user": 4, "endedEarly": 2])
            #expect(report.before == nil)
            #expect(report.lanes["acknowledgements/0"] == .init(offset: 17, head: 20))
            #expect(report.lanes["breaks"] == .init(offset: 3, head: 3))
            let each = try #require(report.breaks.first)
            #expect(each.stream == "radio1")
            #expect(each.number == 2)
            #expect(each.settled)
            #expect(each.start == "2023-11-14T22:00:00.000000Z")
            let counts = try #require(each.ads.first).counts
            #expect(counts.delivered == counts.played + counts.ignored + counts.failed + counts.unknown)
            #expect(counts.balanced)
            #expect([counts.inferred, counts.repeats, counts.contradictions, counts.muted] == [2, 4, 6, 1])
            #expect(counts.clicked == 7 && report.total.clicked == 14)
        }
    }

    @Test func `books that do not balance are not called balanced, even where the sum is right`() async throws {
        var parts = Parts()
        parts.books.breaks = [try Self.written(2, unknown: 0), try Self.written(1, unknown: 2)]
        try await parts.serve { peer in
            let report: ReportDocument = try await peer.get("/v1/reports").decoded()
            #expect(!report.balanced)
            #expect(!report.total.balanced)
            #expect(report.breaks.allSatisfy { !$0.balanced && !$0.ads[0].counts.balanced })
        }
    }

    @Test func `reports are filtered and come in pages`() async throws {
        var parts = Parts()
        parts.books.breaks = [
            try Self.written(4), try Self.written(3, stream: "radio2"), try Self.written(2), try Self.written(1),
        ]
        try await parts.serve { peer in
            let first: ReportDocument = try await peer.get("/v1/reports?stream=radio1&limit=2").decoded()
            #expect(first.breaks.map(\.number) == [4, 2])
            let before = try #require(first.before)
            let second: ReportDocument =
                try await peer.get("/v1/reports?limit=2&stream=radio1&before=\(before)").decoded()
            #expect(second.breaks.map(\.number) == [1])
            #expect(second.before == nil)
            let one: ReportDocument = try await peer.get("/v1/reports/radio2/b3").decoded()
            #expect(one.breaks.map(\.number) == [3])
        }
    }

    @Test(arguments: [
        ("/v1/reports?limit=0", 400), ("/v1/reports?limit=501", 400), ("/v1/reports?limit=1", 200),
        ("/v1/reports?limit=500", 200), ("/v1/reports?limit=x", 400), ("/v1/reports?before=-1", 400),
        ("/v1/reports?stream=no%20spaces", 400), ("/v1/reports?break=no%20spaces", 400), ("/v1/reports?stream", 400),
        ("/v1/reports?stream=", 400), ("/v1/reports?stream=%zz", 400), ("/v1/reports?steam=radio1", 400),
        ("/v1/reports?stream=a&stream=b", 400), ("/v1/reports?limit=%2B5", 400), ("/v1/reports/%ZZ/b", 400),
        ("/v1//breaks", 404), ("/v1/breaks/..", 404), ("/v1/breaks?after=nonsense", 400), ("/v1/breaks?limit=501", 400),
        ("/v1/breaks?before=1", 400), ("/healthz?x=1", 400), ("/v1/reports/radio1/nothing", 404),
        ("/v1/reports/radio1/no%20spaces", 400), ("/v1/reports/radio1", 404), ("/v1/", 404), ("/healthz/", 404),
        ("/nothing", 404), ("//", 404), ("/v1/reports/radio1/b1/x", 404),
    ])
    func `queries are whole and paths are known, or it is told`(_ target: String, _ status: Int) async throws {
        try await Parts()
            .serve { peer in
                let answer = try await peer.get(target)
                #expect(answer.status == status)
                guard status != 200 else { return }
                #expect(answer.headers["content-type"] == "application/problem+json")
                let document: ProblemDocument = try answer.decoded()
                #expect(document.code == (status == 400 ? "INVALID" : "NOT_FOUND"))
                #expect(document.status == status && document.type == "about:blank" && !document.retryable)
                #expect(document.detail.hasSuffix("."))
            }
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
    func `nothing but GET and HEAD is allowed`(_ method: String) async throws {
        try await Parts()
            .serve { peer in
                let answer = try await peer.get("/v1/breaks", method: method)
                #expect(answer.status == 405)
                #expect(answer.headers["allow"] == "GET, HEAD")
                #expect(try answer.decoded(as: ProblemDocument.self).code == "METHOD_NOT_ALLOWED")
            }
    }

    @Test func `HEAD answers as GET without the body`() async throws {
        try await Parts()
            .serve { peer in
                let get = try await peer.get("/healthz")
                let head = try await peer.get("/healthz", method: "HEAD")
                #expect(head.status == 200)
                #expect(head.body.isEmpty)
                #expect(head.headers["content-length"] == get.headers["content-length"])
            }
    }

    @Test func `a ledger that fails is 503, and its reason stays inside`() async throws {
        var parts = Parts()
        parts.books.failure = .failed("disk /secret/path")
        try await parts.serve { peer in
            let answer = try await peer.get("/v1/reports")
            #expect(answer.status == 503)
            #expect(!answer.body.contains("secret"))
        }
    }

    @Test func `a failed request names the part that failed, and its id finds the reason in the log`() async throws {
        let logs = LogCapture()
        var parts = Parts()
        parts.logger = logs.logger
        parts.books.failure = .failed("disk /secret/path")
        try await parts.serve { peer in
            let answer = try await peer.get("/v1/reports", headers: ["X-Request-Id": "request-17"])
            #expect(answer.status == 503)
            #expect(answer.headers["x-request-id"] == "request-17")
            #expect(answer.body.contains("The ledger failed to answer."))
            #expect(answer.body.contains("request-17"))
        }
        let line = try #require(logs.entries.first { $0.message == "a request over HTTP could not be answered" })
        #expect(line.level == .error)
        #expect(line.metadata["requestId"] == "request-17")
        #expect(line.metadata["error"].map { "\($0)" }?.contains("disk /secret/path") == true)
    }

    @Test func `a log that is away leaves out its heads`() async throws {
        var parts = Parts()
        parts.heads = [:]
        try await parts.serve { peer in
            let report: ReportDocument = try await peer.get("/v1/reports").decoded()
            #expect(report.lanes["breaks"] == .init(offset: 3, head: nil))
        }
    }

    @Test func `breaks of the board are listed by stream, in pages`() async throws {
        var parts = Parts()
        var offset: UInt64 = 0
        for (stream, id) in [("tv", "x"), ("radio1", "a"), ("radio1", "b"), ("radio2", "c")] {
            offset += 1
            let request = BroadcastRequest(
                id: 1,
                kind: .publish(
                    BroadcastRequest.Publish(
                        key: BreakKey(stream: try StreamID(stream), id: try BreakID(id)),
                        start: nil,
                        duration: .seconds(30),
                        advertisements: [
                            AdvertisementContent(
                                id: try AdvertisementID("ad"),
                                title: "T",
                                duration: .seconds(30),
                                media: []
                            )
                        ]
                    )
                )
            )
            let plan = BroadcastPlanner(policy: BreakPolicy())
                .plan(request, by: .anybody, on: parts.board, at: Parts.now, listeners: 0)
            guard case .append(let entry) = plan else { return #expect(Bool(false), "\(plan)") }
            _ = parts.board.apply(BreakGroup(entries: [entry]), offset: offset)
        }
        try await parts.serve { peer in
            let first: BreakListDocument = try await peer.get("/v1/breaks?limit=3").decoded()
            #expect(first.breaks.map { "\($0.stream)/\($0.break)" } == ["radio1/a", "radio1/b", "radio2/c"])
            #expect(first.breaks.map(\.state) == ["cued", "cued", "cued"])
            #expect(first.breaks.first?.durationMilliseconds == 30_000)
            #expect(first.breaks.first?.position == "7:1")
            let after = try #require(first.after)
            let second: BreakListDocument = try await peer.get("/v1/breaks?after=\(after)").decoded()
            #expect(second.breaks.map(\.stream) == ["tv"])
            #expect(second.after == nil)
            let one: BreakListDocument = try await peer.get("/v1/breaks?stream=radio2").decoded()
            #expect(one.breaks.map(\.break) == ["c"])
        }
    }
}
