// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import GatewayTestKit
import Testing

/// Reports of parts, and reports as tables.
@Suite(.suiteLimit)
struct ReportFormatTests {
    /// Books of two ads, with a title that a spreadsheet might run.
    private static func written(_ number: UInt64, title: String = "Spot") throws -> Report.Break {
        let ads = try ["first", "second"]
            .map { BreakSummary.Advertisement(id: try AdvertisementID($0), title: title, duration: .seconds(10)) }
        let start = Parts.now - .seconds(3_600 - Int64(number) * 60)
        return Report.Break(
            summary: BreakSummary(
                number: BreakNumber(rawValue: number),
                key: BreakKey(stream: try StreamID("radio1"), id: try BreakID("b\(number)")),
                broadcaster: "studio",
                published: start - .seconds(60),
                start: start,
                end: start + .seconds(20),
                cancelled: false,
                expired: false,
                preStream: false,
                advertisements: ads
            ),
            sessions: 10,
            advertisements: ads.enumerated()
                .map { ordinal, ad in
                    var counts = OutcomeCounts()
                    counts.delivered = 10
                    counts.played = 7 - Int64(ordinal)
                    counts.ignored = 2
                    counts.failed = 1
                    counts.unknown = Int64(ordinal)
                    counts.heardMilliseconds = 61_000
                    counts.clicked = 3
                    return Report.Advertisement(id: ad.id, title: ad.title, duration: ad.duration, counts: counts)
                },
            settled: true
        )
    }

    private func parts(_ titles: String...) throws -> Parts {
        var parts = Parts()
        parts.books.breaks = try titles.enumerated().reversed().map { try Self.written(UInt64($0 + 1), title: $1) }
        return parts
    }

    @Test func `an ad alone, a time alone: the other breaks and ads are left out, and totals are of what is there`()
        async throws
    {
        try await self.parts("a", "b", "c")
            .serve { peer in
                let whole: ReportDocument = try await peer.get("/v1/reports").decoded()
                #expect(whole.breaks.map(\.break) == ["b3", "b2", "b1"] && whole.total.delivered == 60)
                let one: ReportDocument = try await peer.get("/v1/reports?ad=second").decoded()
                #expect(one.breaks.map { $0.ads.map(\.id) } == [["second"], ["second"], ["second"]])
                #expect(one.total.delivered == 30 && one.total.played == 18 && one.balanced)
                #expect(one.breaks[0].ads[0] == whole.breaks[0].ads[1])
                #expect(one.breaks[0].total.played == 6)
                let start = try #require(whole.breaks[1].start)
                let from: ReportDocument = try await peer.get("/v1/reports?from=\(start)").decoded()
                #expect(from.breaks.map(\.break) == ["b3", "b2"])
                let to: ReportDocument = try await peer.get("/v1/reports?to=\(start)").decoded()
                #expect(to.breaks.map(\.break) == ["b1"])
                for path in ["/v1/reports/radio1/b2", "/v1/streams/radio1/breaks/b2/report"] {
                    let single: ReportDocument = try await peer.get(path).decoded()
                    #expect(single.breaks == [whole.breaks[1]])
                    let part: ReportDocument = try await peer.get(path + "?ad=first").decoded()
                    #expect(part.breaks.map { $0.ads.map(\.id) } == [["first"]])
                    #expect(try await peer.get(path + "?ad=third").status == 404)
                }
            }
    }

    @Test func `by ad the counts of all breaks are added up`() async throws {
        try await self.parts("a", "b", "c")
            .serve { peer in
                let whole: ReportDocument = try await peer.get("/v1/reports").decoded()
                let totals: AdReportDocument = try await peer.get("/v1/reports/ads").decoded()
                #expect(totals.ads.map(\.id) == ["first", "second"])
                #expect(totals.ads.map(\.title) == ["c", "c"])
                #expect(totals.ads.map(\.breaks) == [3, 3] && totals.breaks == 3)
                #expect(totals.ads.map(\.counts.played) == [21, 18] && totals.ads.map(\.counts.unknown) == [0, 3])
                #expect(totals.total == whole.total && totals.balanced && totals.before == nil)
                let start = try #require(whole.breaks[1].start)
                let part: AdReportDocument = try await peer.get("/v1/reports/ads?ad=second&from=\(start)").decoded()
                #expect(part.ads.map(\.id) == ["second"] && part.ads.map(\.breaks) == [2])
                let until: AdReportDocument = try await peer.get("/v1/reports/ads?to=\(start)").decoded()
                #expect(until.breaks == 1)
                let table = try await peer.get("/v1/reports/ads?format=csv")
                #expect(
                    table.body
                        == AdReportDocument.csvColumns.joined(separator: ",") + "\r\n"
                        + "first,c,3,30,21,6,3,0,0,0,0,183000,true,9,true\r\n"
                        + "second,c,3,30,18,6,3,3,0,0,0,183000,true,9,true\r\n"
                )
                for query in ["?limit=3", "?variant=0", "?from=2026-05-02T00:00:00Z&to=2026-05-01T00:00:00Z"] {
                    #expect(try await peer.get("/v1/reports/ads" + query).status == 400, "\(query)")
                }
            }
    }

    @Test func `totals by ad end at the limits, and the next answer goes on behind them`() throws {
        func page(_ numbers: [UInt64], more: Bool) throws -> Report {
            Report(breaks: try numbers.map { try Self.written($0) }, offsets: [.breaks: 9], more: more)
        }
        var totals = ReportByAdvertisement()
        var next = UInt64(ReportByAdvertisement.breaksMax) + 1
        var goesOn = true
        while goesOn {
            let numbers = (0..<UInt64(ReportQuery.breaksMax)).map { next - $0 }.filter { $0 > 0 }
            goesOn = totals.take(try page(numbers, more: numbers.last ?? 1 > 1))
            next = try #require(totals.last).rawValue - 1
        }
        #expect(totals.breaks == ReportByAdvertisement.breaksMax && totals.more)
        #expect(totals.last?.rawValue == 2)
        #expect(
            totals.advertisements.map(\.breaks) == [ReportByAdvertisement.breaksMax, ReportByAdvertisement.breaksMax]
        )
        // What the next answer has is added to it.
        var rest = ReportByAdvertisement()
        let hasMore = rest.take(try page([1], more: false))
        #expect(!hasMore)
        var document = AdReportDocument(totals, heads: [:])
        #expect(document.before == 2)
        document.add(AdReportDocument(rest, heads: [:]))
        #expect(document.before == nil && document.breaks == ReportByAdvertisement.breaksMax + 1)
        #expect(document.ads.map(\.counts.delivered) == [100_010, 100_010])
        #expect(document.total.delivered == 200_020 && document.balanced)
    }

    @Test(arguments: [
        ("variant=0", 400, "UNSUPPORTED"), ("variant=1&stream=radio1", 400, "UNSUPPORTED"),
        ("variant=1&break=b1", 400, "UNSUPPORTED"), ("variant=1&from=2026-05-02T00:00:00Z", 400, "UNSUPPORTED"),
        ("variant=-1&stream=radio1&break=b1", 400, "INVALID"),
        ("variant=4294967296&stream=radio1&break=b1", 400, "INVALID"),
        ("variant=32&stream=radio1&break=b1", 400, "INVALID"),
        ("variant=31&stream=radio1&break=b1", 200, ""), ("ad=", 400, "INVALID"),
        ("ad=\(String(repeating: "a", count: 128))", 200, ""),
        ("ad=\(String(repeating: "a", count: 129))", 400, "INVALID"),
        ("from=noon", 400, "INVALID"), ("from=2026-05-02T00:00:00Zfoo", 400, "INVALID"),
        ("to=2026-02-30T00:00:00Z", 400, "INVALID"), ("from=2026-05-02t00:00:00.123456789z", 200, ""),
        ("to=2026-13-01T00:00:00Z", 400, "INVALID"),
        ("from=2026-05-02T00:00:00Z&to=2026-05-02T00:00:00Z", 400, "INVALID"),
        ("from=2026-05-02T00:00:00Z&to=2026-05-02T00:00:01Z", 200, ""),
        ("from=2026-05-02T02:00:00%2B02:00", 200, ""), ("format=xml", 400, "INVALID"), ("format=json", 200, ""),
    ])
    func `a query that the ledger cannot answer is refused with a reason`(query: String, status: Int, code: String)
        async throws
    {
        try await self.parts("a")
            .serve { peer in
                let answer = try await peer.get("/v1/reports?" + query)
                #expect(answer.status == status, "\(query): \(answer.body)")
                if status != 200 {
                    #expect(try answer.decoded(as: ProblemDocument.self).code == code)
                }
            }
    }

    @Test func `as a table it has the numbers of the JSON, by parameter or by what is accepted`() async throws {
        try await self.parts("=cmd|' /C calc'!A1", "Say \"hi\", all\nof you", "plain")
            .serve { peer in
                let csv = [
                    ReportDocument.csvColumns.joined(separator: ","),
                    #"radio1,b3,first,plain,\#(Parts.now - .seconds(3_420)),\#(Parts.now - .seconds(3_400)),10,7,2,1,0,0,0,0,61000,true,3,true,,"#,
                    #"radio1,b3,second,plain,\#(Parts.now - .seconds(3_420)),\#(Parts.now - .seconds(3_400)),10,6,2,1,1,0,0,0,61000,true,3,true,,"#,
                ]
                let path = "/v1/reports/radio1/b3"
                let answer = try await peer.get(path + "?format=csv")
                #expect(answer.status == 200)
                #expect(answer.headers["content-type"] == "text/csv; charset=utf-8; header=present")
                #expect(answer.headers["vary"] == "Accept")
                #expect(answer.body == csv.map { $0 + "\r\n" }.joined())
                for (accept, isTable) in [
                    ("text/csv", true), ("TEXT/CSV; header=present", true), ("text/csv, application/json;q=0.9", true),
                    ("application/json, text/csv;q=0.5", false), ("text/csv;q=0", false), ("*/*", false),
                    ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", false),
                    ("text/csv,*/*;q=0.1", true), ("application/json", false),
                ] {
                    let answer = try await peer.get(path, headers: ["Accept": accept])
                    #expect(answer.headers["content-type"]?.hasPrefix("text/csv") == isTable, "\(accept)")
                }
                let json = try await peer.get(path + "?format=json", headers: ["Accept": "text/csv"])
                #expect(json.headers["content-type"] == "application/json")
                let all = try await peer.get("/v1/reports?format=csv").body
                #expect(all.contains("first,'=cmd|' /C calc'!A1,"))
                #expect(all.contains("second,\"Say \"\"hi\"\", all\nof you\","))
            }
    }

    @Test func `a report by variant says which it is`() async throws {
        try await self.parts("plain")
            .serve { peer in
                let path = "/v1/streams/radio1/breaks/b1/report?variant=0"
                let answer = try await peer.get(path)
                let report: ReportDocument = try answer.decoded()
                #expect(report.variant == 0 && report.balanced && report.total.delivered == 20)
                #expect(answer.body.contains("repeats") && answer.body.contains("contradictions"))
                let whole = try await peer.get("/v1/streams/radio1/breaks/b1/report")
                #expect(!whole.body.contains("variant"))
                #expect(whole.body.contains(#""contradictions":0"#) && whole.body.contains(#""repeats":0"#))
                let table = try await peer.get(path + "&format=csv").body.split(separator: "\r\n")
                #expect(table.count == 3)
                #expect(table[1].hasSuffix(",10,7,2,1,0,0,0,0,61000,true,3,true,0,"))
                let listed: ReportDocument = try await peer.get("/v1/reports?stream=radio1&break=b1&variant=0")
                    .decoded()
                #expect(listed == report)
            }
    }

    @Test func `the reports of all variants come to that of the break, from records of the log`() async throws {
        let log = InMemoryEventLog()
        try await withGateway(log: log, ledger: InMemoryLedger()) { running in
            let key = try BreakKey(stream: StreamID("radio1"), id: BreakID("b1"))
            let ads = try [AdvertisementContent.madeUp("a"), .madeUp("b")]
            var publish = BroadcastRequest.Publish(key: key, start: .now, duration: .seconds(30), advertisements: ads)
            publish.variants = ["cars", "phones"]
                .map {
                    AudienceVariant(name: $0, conditions: [.init(key: "device", values: [$0])], advertisements: ads)
                }
            try await running.broadcaster().do(.publish(publish))
            let number = try #require(running.board[key]?.number)
            // Sessions 0 to 9 have the variants 0, 1 and 2 in turns; of every second the outcome of the first ad is known.
            let now = Parts.now
            let group = AcknowledgementGroup(
                requests: try (0..<10).filter { $0.isMultiple(of: 2) }
                    .map { session in
                        let outcome = Outcome(
                            advertisementID: try AdvertisementID("a"),
                            kind: session == 4 ? .failed : .played,
                            heard: .seconds(15),
                            quartiles: 4,
                            occurred: now
                        )
                        let acknowledge = ListenerRequest.Acknowledge(key: key, delivery: [1], outcomes: [outcome])
                        let id = SessionID(high: 7, low: UInt64(session))
                        return AcknowledgementGroup.AcceptedRequest(
                            request: ListenerRequest(id: 1, session: id, kind: .acknowledge(acknowledge)).encoded(),
                            received: now,
                            breakNumber: number,
                            ordinals: [AdOrdinal.of(0, in: UInt32(session % 3))]
                        )
                    },
                deliveries: (0..<10)
                    .map { session in
                        AcknowledgementGroup.Delivery(
                            session: SessionID(high: 7, low: UInt64(session)),
                            breakNumber: number,
                            variant: UInt32(session % 3),
                            first: AdOrdinal.of(0, in: UInt32(session % 3)),
                            at: now
                        )
                    }
            )
            _ = try await withCheckedThrowingContinuation { continuation in
                log.append(group.encoded(), to: .acknowledgements(0)) { continuation.resume(with: $0) }
            }
            _ = try await running.books { $0.breaks.first?.sessions == 10 }
            var parts = Parts()
            parts.running = running
            try await parts.serve { peer in
                func report(_ query: String) async throws -> ReportDocument {
                    try await peer.get("/v1/streams/radio1/breaks/b1/report" + query).decoded()
                }
                let whole = try await report("")
                #expect(whole.total.delivered == 20 && whole.total.played == 4 && whole.total.failed == 1)
                let parts = [
                    try await report("?variant=0"), try await report("?variant=1"), try await report("?variant=2"),
                ]
                #expect(parts.map { $0.breaks[0].sessions } == [4, 3, 3])
                #expect(parts.map { $0.breaks[0].ads[0].variantName } == ["default", "cars", "phones"])
                #expect(parts.map(\.total.played) == [2, 0, 2] && parts.map(\.total.failed) == [0, 1, 0])
                #expect(parts.map(\.total.delivered) == [8, 6, 6] && parts.map(\.total.unknown) == [6, 5, 4])
                #expect(parts.allSatisfy { $0.balanced && $0.lanes == whole.lanes })
                let empty = try await report("?variant=3")
                #expect(empty.balanced && empty.breaks[0].sessions == 0 && empty.total.delivered == 0)
                let ad = try await report("?variant=0&ad=b")
                #expect(ad.total.delivered == 4 && ad.total.unknown == 4)
            }
        }
    }

    @Test(arguments: [
        ("plain", "plain"), ("", ""), ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"), ("\r=1", "\"'\r=1\""), ("a=1", "a=1"), ("a,b", "\"a,b\""), ("=a,b", "\"'=a,b\""),
        ("\"", "\"\"\"\""), ("a\r\nb", "\"a\r\nb\""), ("=\u{301}", "'=\u{301}"), (" =1", " =1"),
        // A quote with an accent is one character, and a quote to the table's reader.
        ("\"\u{301},=1", "\"\"\"\u{301},=1\""), ("a\"\u{301}b", "\"a\"\"\u{301}b\""), ("a,\u{301}", "\"a,\u{301}\""),
        ("\n=1", "\"'\n=1\""), ("\r\n=1", "\"'\r\n=1\""), ("+\u{301}", "'+\u{301}"),
        ("\u{FF1D}1", "'\u{FF1D}1"), ("\u{FF0B}1", "'\u{FF0B}1"), ("\u{FF0D}1", "'\u{FF0D}1"),
        ("\u{FF20}A", "'\u{FF20}A"), ("a\u{FF1D}", "a\u{FF1D}"),
    ])
    func `no text of a table becomes a formula, and none ends its cell`(text: String, cell: String) {
        #expect(ReportDocument.csvCell(text) == cell)
    }

    @Test func `the head says where the next page is, with all that was asked for`() async throws {
        try await self.parts("a", "b", "c")
            .serve { peer in
                var target = "/v1/reports?format=csv&limit=1&stream=radio1&from=2001-01-01T00:00:00%2B01:00"
                var lines: [Substring] = []
                for page in 1...3 {
                    let answer = try await peer.get(target)
                    #expect(answer.status == 200, "\(target)")
                    lines += answer.body.split(separator: "\r\n").dropFirst()
                    guard let link = answer.headers["link"] else {
                        #expect(page == 3)
                        break
                    }
                    #expect(link.hasPrefix("</v1/reports?before=") && link.hasSuffix(">; rel=\"next\""))
                    #expect(link.contains("from=2001-01-01T00%3A00%3A00%2B01%3A00"))
                    target = String(link.dropFirst().prefix { $0 != ">" })
                }
                let whole = try await peer.get("/v1/reports?format=csv").body
                #expect(lines == Array(whole.split(separator: "\r\n").dropFirst()))
            }
    }
}
