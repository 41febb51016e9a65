// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayHTTP
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

    @Test(arguments: [
        ("variant=0", 400, "UNSUPPORTED"), ("variant=1", 400, "UNSUPPORTED"), ("ad=", 400, "INVALID"),
        ("ad=\(String(repeating: "a", count: 128))", 200, ""),
        ("ad=\(String(repeating: "a", count: 129))", 400, "INVALID"),
        ("from=noon", 400, "INVALID"), ("to=2026-13-01T00:00:00Z", 400, "INVALID"),
        ("from=2026-05-02T00:00:00Z&to=2026-05-02T00:00:00Z", 400, "INVALID"),
        ("from=2026-05-02T00:00:00Z&to=2026-05-02T00:00:01Z", 200, ""),
        ("from=2026-05-02T02:00:00%2B02:00", 200, ""), ("format=xml", 400, "INVALID"), ("format=json", 200, ""),
    ])
    func `what the ledger cannot answer is refused with a reason`(query: String, status: Int, code: String) async throws
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
                    #"radio1,b3,first,plain,\#(Parts.now - .seconds(3_420)),\#(Parts.now - .seconds(3_400)),10,7,2,1,0,0,0,0,61000,true,3,true"#,
                    #"radio1,b3,second,plain,\#(Parts.now - .seconds(3_420)),\#(Parts.now - .seconds(3_400)),10,6,2,1,1,0,0,0,61000,true,3,true"#,
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

    @Test(arguments: [
        ("plain", "plain"), ("", ""), ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"), ("\r=1", "\"'\r=1\""), ("a=1", "a=1"), ("a,b", "\"a,b\""), ("=a,b", "\"'=a,b\""),
        ("\"", "\"\"\"\""), ("a\r\nb", "\"a\r\nb\""), ("=\u{301}", "'=\u{301}"), (" =1", " =1"),
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
