// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import Testing

/// Broadcasters' requests over HTTP: each becomes the same request as by their socket, and its answer keeps the reason code.
@Suite(.suiteLimit)
struct BreakOperationsTests {
    private typealias Asked = AskedRequests

    private static let info = BreakInfo(
        key: BreakKey(stream: StreamID.testStream, id: BreakID.testBreak),
        state: .announced,
        start: Parts.now,
        duration: .seconds(30),
        advertisementCount: 1,
        preStream: false,
        exact: false,
        position: nil,
        announce: nil,
        end: nil,
        holdUntil: nil,
        published: Parts.now,
        firstAdvertisementTitle: "T"
    )

    private let workshop: TokenWorkshop

    init() throws { self.workshop = try TokenWorkshop() }

    /// A server whose gateway answers always the same; what it was asked is kept.
    private func parts(
        _ answer: BroadcastReply.Body,
        _ asked: Asked = Asked(),
        changed: Bool = false
    ) async throws -> Parts {
        var parts = Parts()
        parts.access = HTTPAccessHolder(try await self.workshop.access(.metrics))
        parts.broadcast = { request, principal, origin in
            asked.add(Asked.One(request: request.asked, principal: principal, origin: origin))
            return BroadcastReply(requestID: request.asked.id, gatewayTime: Parts.now, changed: changed, body: answer)
        }
        return parts
    }

    private func headers(_ scope: String = "publish:radio*") async throws -> [String: String] {
        ["Authorization": "Bearer \(try await self.workshop.token(try TokenWorkshop.claims(scope: scope)))"]
    }

    private static let path = "/v1/streams/radio1/breaks/noon-1"
    private static let body =
        #"{"in":"10s","ads":[{"id":"a","duration":"30s","media":[{"url":"https://cdn.example.com/a.mp3"}]}]}"#

    /// RFC 9112 section 7.1: such a request violates HTTP, and a retry does not help.
    @Test(arguments: ["zz\r\n", "ffffffffffffffffff\r\n", "5\r\nab"])
    func `a body that cannot be read is the asker's fault`(body: String) async throws {
        let headers = try await self.headers().map { "\($0.key): \($0.value)\r\n" }.joined()
        try await self.parts(.refused(Refusal(.invalid, "This is not asked.")))
            .serve { peer in
                let connection = try peer.connect()
                try connection.send(
                    "PUT \(Self.path) HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n\(headers)"
                        + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n\(body)"
                )
                connection.endSending()
                let answer = String(decoding: try await onThread { try connection.rest() }, as: UTF8.self)
                // Who hangs up in the middle may have no answer.
                #expect(answer.hasPrefix("HTTP/1.1 400 ") || answer.isEmpty && body.hasSuffix("ab"), "\(answer)")
                #expect(!answer.contains("ledger"))
            }
    }

    @Test(arguments: StatusCode.allCases.filter { $0 != .ok })
    func `each reason code of the wire has one status, whatever is asked`(status: StatusCode) async throws {
        let expected: [StatusCode: Int] = [
            .invalid: 400, .unsupported: 400, .tooLarge: 413, .notFound: 404, .conflict: 409, .breakOverlap: 409,
            .startInPast: 422, .tooFarAhead: 422, .leadTimeTooShort: 422, .wrongState: 409, .tooLate: 409,
            .breakTooOld: 410, .deliveryInvalid: 400, .notAllowed: 403, .rateLimited: 429, .limitReached: 503,
            .draining: 503, .unavailable: 503, .revisionConflict: 412,
        ]
        let refusal = Refusal(status, "No, because.", retryAfter: .milliseconds(1_500))
        let headers = try await self.headers()
        try await self.parts(.refused(refusal))
            .serve { peer in
                for (method, path, body) in [
                    ("PUT", Self.path, Self.body), ("POST", Self.path + "/punch", ""),
                    ("POST", Self.path + "/update", #"{"duration":"45s"}"#), ("POST", Self.path + "/end", "{}"),
                    ("POST", Self.path + "/cancel", ""),
                    ("POST", Self.path + "/postpone", #"{"by":"5s","from":"2026-05-01T12:00:00Z"}"#),
                ] {
                    let answer = try await peer.ask(method, path, body: body, headers: headers)
                    #expect(answer.status == expected[status], "\(method) \(path)")
                    let problem: ProblemDocument = try answer.decoded()
                    #expect(problem.code == status.name && problem.detail == "No, because.")
                    #expect(problem.retryable == status.canRetry && problem.status == answer.status)
                    #expect(answer.headers["retry-after"] == "2")
                    #expect(answer.headers["content-type"] == "application/problem+json")
                }
            }
    }

    @Test func `a break is published as the body says, by whom the token names`() async throws {
        let asked = Asked()
        var headers = try await self.headers()
        headers["X-Request-Id"] = "4711"
        let all = headers
        try await self.parts(.break(Self.info), asked, changed: true)
            .serve { peer in
                let answer = try await peer.ask("PUT", Self.path, body: Self.body, headers: all)
                #expect(answer.status == 201 && answer.headers["x-request-id"] == "4711")
                #expect(answer.headers["location"] == Self.path)
                let document: BreakListDocument.Break = try answer.decoded()
                #expect(document.stream == "radio1" && document.break == "noon-1" && document.state == "announced")
            }
        let one = try #require(asked.last)
        #expect(one.request.id == 4711 && one.origin.requestID == "4711" && one.origin.address.hasPrefix("127.0.0.1:"))
        #expect(one.principal.name == "studio")
        #expect(one.principal.mayPublish(on: try StreamID("radio7")))
        #expect(!one.principal.mayPublish(on: try StreamID("tv")))
        guard case .publish(let publish) = one.request.kind else { return #expect(Bool(false), "\(one.request)") }
        #expect(publish.key == Self.info.key && publish.start == .after(.seconds(10)))
        #expect(publish.duration == .seconds(30) && publish.advertisements.map(\.id.description) == ["a"])
    }

    @Test func `a publication that changes nothing, and every other change, is answered with 200`() async throws {
        let headers = try await self.headers()
        try await self.parts(.break(Self.info), changed: false)
            .serve { peer in
                let answer = try await peer.ask("PUT", Self.path, body: Self.body, headers: headers)
                #expect(answer.status == 200 && answer.headers["location"] == nil)
            }
        try await self.parts(.break(Self.info), changed: true)
            .serve { peer in
                let answer = try await peer.ask("POST", Self.path + "/punch", body: "", headers: headers)
                #expect(answer.status == 200 && answer.headers["location"] == nil)
            }
    }

    @Test func `a VAST document takes the rest from the query`() async throws {
        let vast = """
            <VAST version="3.0"><Ad id="v"><InLine><AdSystem>x</AdSystem><AdTitle>V</AdTitle><Creatives><Creative><Linear>\
            <Duration>00:00:20</Duration><MediaFiles><MediaFile delivery="progressive" type="audio/mpeg" width="0" height="0">\
            https://cdn.example.com/v.mp3</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>
            """
        let asked = Asked()
        let headers = try await self.headers().merging(["Content-Type": "application/xml; charset=utf-8"]) { $1 }
        try await self.parts(.break(Self.info), asked, changed: true)
            .serve { peer in
                let target = Self.path + "?cued=true&hold=5m&exact=true&duration=none"
                #expect(try await peer.ask("PUT", target, body: vast, headers: headers).status == 201)
                for (target, body) in [
                    (Self.path + "?cued=perhaps", vast), (Self.path + "?in=10", vast), (Self.path, "<VAST/>"),
                    (Self.path, "no XML at all"),
                ] {
                    let answer = try await peer.ask("PUT", target, body: body, headers: headers)
                    #expect(answer.status == 400, "\(target)")
                }
            }
        #expect(asked.count == 1)
        guard case .publish(let publish)? = asked.last?.request.kind else { return #expect(Bool(false)) }
        #expect(publish.start == nil && publish.hold == .seconds(300) && publish.exact && publish.duration == nil)
        #expect(publish.advertisements.map(\.duration) == [.seconds(20)])
    }

    /// RFC 7303 section 3.
    @Test func `the charset of a VAST document says how its bytes are read`() async throws {
        let vast = """
            <?xml version="1.0" encoding="koi8-r"?><VAST version="3.0"><Ad id="v"><InLine><AdSystem>x</AdSystem><AdTitle>Grün</AdTitle>\
            <Creatives><Creative><Linear><Duration>00:00:20</Duration><MediaFiles><MediaFile delivery="progressive" type="audio/mpeg" \
            width="0" height="0">https://cdn.example.com/v.mp3</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>
            """
        let asked = Asked()
        let headers = try await self.headers()
        try await self.parts(.break(Self.info), asked)
            .serve { peer in
                for (type, status) in [
                    ("text/xml", 400), ("text/xml; charset=koi8-r", 400), ("text/xml;charset=utf-8", 200),
                    ("application/xml; a=b; Charset=\"ISO-8859-1\"", 200),
                ] {
                    let answer = try await peer.ask(
                        "PUT",
                        Self.path + "?cued=true",
                        body: vast,
                        headers: headers.merging(["Content-Type": type]) { $1 }
                    )
                    #expect(answer.status == status, "\(type): \(answer.body)")
                    guard status == 200 else { continue }
                    guard case .publish(let publish)? = asked.last?.request.kind else { return #expect(Bool(false)) }
                    // The two bytes of the letter are two letters of Latin 1.
                    #expect(publish.advertisements.map(\.title) == [type.contains("utf-8") ? "Grün" : "GrÃ¼n"])
                }
            }
    }

    @Test(arguments: ["application/xml", "text/xml", "Text/XML; charset=utf-8"])
    func `the answer lists the parts of a VAST document that the break leaves out`(type: String) async throws {
        @Sendable func ad(_ index: Int, _ impressions: Int) -> String {
            """
            <Ad id="v\(index)"><InLine><AdSystem>x</AdSystem><AdTitle>V</AdTitle>\
            \(String(repeating: "<Impression>nowhere</Impression>", count: impressions))<Creatives><Creative><Linear>\
            <Duration>00:00:20</Duration><MediaFiles><MediaFile delivery="progressive" type="audio/mpeg" width="0" height="0">\
            https://cdn.example.com/v.mp3</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad>
            """
        }
        let headers = try await self.headers().merging(["Content-Type": type]) { $1 }
        try await self.parts(.break(Self.info), Asked())
            .serve { peer in
                for (ads, leftOut) in [
                    (ad(1, 0), 0), (ad(1, 1), 1), (ad(1, 100), 100), (ad(1, 101), 101),
                    (ad(1, 0) + "<Ad id=\"w\"><InLine/></Ad>", 1),
                ] {
                    let vast = "<VAST version=\"3.0\">\(ads)</VAST>"
                    let answer = try await peer.ask("PUT", Self.path + "?cued=true", body: vast, headers: headers)
                    #expect(answer.status == 200, "\(answer.body)")
                    let said = try answer.decoded(as: BreakListDocument.Break.self).leftOut ?? []
                    #expect(said.count == leftOut, "\(said)")
                    #expect(leftOut < 101 || said.last == "and 1 more")
                }
            }
    }

    @Test(arguments: [
        ("{}", 400), ("", 400), ("[]", 400), ("{", 400), (#"{"ads":[]}"#, 400), (#"{"adds":[]}"#, 400),
        (Self.body.replacing(#""in":"10s""#, with: #""in":"10s","now":true"#), 400),
        (Self.body.replacing(#""in":"10s""#, with: #""cued":true,"preStream":true"#), 400),
        (Self.body.replacing(#""in":"10s""#, with: #""hold":"10s""#), 400),
        (Self.body.replacing(#""in":"10s""#, with: #""at":"tomorrow""#), 400),
        (Self.body.replacing(#""in":"10s""#, with: #""endMode":"soon""#), 400),
        (Self.body.replacing(#""in":"10s""#, with: #""duration":"0s""#), 200),
        (Self.body.replacing(#""a""#, with: #""\#(String(repeating: "a", count: 129))""#), 400),
        (Self.body.replacing("a.mp3", with: String(repeating: "a", count: 4_096)), 413),
    ])
    func `a body that is not as it must be is refused before it is asked`(body: String, status: Int) async throws {
        let asked = Asked()
        let headers = try await self.headers()
        try await self.parts(.break(Self.info), asked)
            .serve { peer in
                let answer = try await peer.ask("PUT", Self.path, body: body, headers: headers)
                #expect(answer.status == status, "\(answer.body)")
            }
        #expect(asked.count == (status == 200 ? 1 : 0))
    }

    @Test func `nothing is changed without a token, by another method, or by another kind of body`() async throws {
        let asked = Asked()
        let (headers, reader) = (try await self.headers(), try await self.headers("read"))
        try await self.parts(.break(Self.info), asked)
            .serve { peer in
                for name in ["punch", "update", "postpone", "end", "cancel"] {
                    let path = Self.path + "/" + name
                    #expect(try await peer.ask("POST", path, body: "{}", headers: [:]).status == 401)
                    #expect(try await peer.get(path).status == 405)
                }
                #expect(try await peer.ask("PUT", Self.path, body: Self.body, headers: [:]).status == 401)
                #expect(asked.count == 0)
                let wrong = headers.merging(["Content-Type": "text/plain"]) { $1 }
                #expect(try await peer.ask("PUT", Self.path, body: Self.body, headers: wrong).status == 415)
                let packed = headers.merging(["Content-Encoding": "gzip"]) { $1 }
                #expect(try await peer.ask("PUT", Self.path, body: Self.body, headers: packed).status == 415)
                #expect(asked.count == 0)
                // Whether the scope is good for the stream, the rules for all entrances say.
                _ = try await peer.ask("PUT", Self.path, body: Self.body, headers: reader)
                #expect(asked.last?.principal.mayPublish(on: Self.info.key.stream) == false)
                #expect(try await peer.ask("DELETE", Self.path, body: "", headers: headers).status == 405)
            }
    }

    @Test func `a body at the limit is read, and one byte more is too large; all together are bounded`() async throws {
        let asked = Asked()
        let headers = try await self.headers()
        let filled = Self.body + String(repeating: " ", count: 1_048_576 - Self.body.utf8.count)
        var parts = try await self.parts(.break(Self.info), asked)
        try await parts.serve { peer in
            #expect(try await peer.ask("PUT", Self.path, body: filled, headers: headers).status == 200)
            let answer = try await peer.ask("PUT", Self.path, body: filled + " ", headers: headers)
            #expect(answer.status == 413)
        }
        parts.configuration.bodyBytesMax = 1_048_575
        let metrics = parts.metrics
        try await parts.serve { peer in
            let answer = try await peer.ask("PUT", Self.path, body: filled, headers: headers)
            #expect(answer.status == 503)
            let problem: ProblemDocument = try answer.decoded()
            #expect(problem.code == "LIMIT_REACHED" && problem.detail.contains("bodyBytesMax"))
            // What was taken is given back.
            #expect(try await peer.ask("PUT", Self.path, body: Self.body, headers: headers).status == 200)
        }
        #expect(metrics.value(.limitsHit, .limit(.httpBodyBytesMax)) == 1)
        #expect(asked.count == 2)
    }

    /// The requests about one break, with the bodies that they need.
    private static let changes: [(method: String, name: String, body: String)] = [
        ("PUT", "", Self.body), ("POST", "/punch", ""), ("POST", "/update", #"{"duration":"45s"}"#),
        ("POST", "/postpone", #"{"by":"5s","from":"2026-05-01T12:00:00Z"}"#), ("POST", "/end", "{}"),
        ("POST", "/cancel", ""),
    ]

    @Test func `each answer with a break tells its revision, and a request may expect one`() async throws {
        let asked = Asked()
        let headers = try await self.headers()
        var info = Self.info
        info.revision = 7
        try await self.parts(.break(info), asked)
            .serve { peer in
                for (method, name, body) in Self.changes {
                    for (said, expected) in [
                        ([:], nil), (["If-Match": "\"1\""], 1),
                        (["If-Match": "\"9223372036854775806\""], UInt64(Int64.max) - 1),
                        (["If-Match": "*"], ExpectedRevision.any),
                    ] as [([String: String], UInt64?)] {
                        let all = headers.merging(said) { $1 }
                        let answer = try await peer.ask(method, Self.path + name, body: body, headers: all)
                        #expect(answer.status == 200, "\(name) \(said): \(answer.body)")
                        #expect(answer.headers["etag"] == "\"7\"")
                        #expect(asked.last?.request.expectedRevision == expected, "\(name) \(said)")
                    }
                }
                let all = headers.merging(["If-None-Match": "*"]) { $1 }
                #expect(try await peer.ask("PUT", Self.path, body: Self.body, headers: all).status == 200)
                #expect(asked.last?.request.expectedRevision == ExpectedRevision.absent)
            }
    }

    @Test(arguments: [
        ("", 200), ("{}", 200), (" {\n} ", 200), ("[]", 400), ("null", 400), (#"{"at":"2026-05-01T12:00:00Z"}"#, 400),
        ("{}{}", 400), (String(repeating: " ", count: 65), 413),
    ])
    func `an operation without a body refuses one with content`(body: String, status: Int) async throws {
        let asked = Asked()
        let headers = try await self.headers()
        try await self.parts(.break(Self.info), asked)
            .serve { peer in
                let answer = try await peer.ask("POST", Self.path + "/cancel", body: body, headers: headers)
                #expect(answer.status == status, "\(answer.body)")
            }
        #expect(asked.count == (status == 200 ? 1 : 0))
    }

    @Test(arguments: [
        "2026-11-24T15:59:00Zfoo", "2026-02-30T12:00:00Z", "2026-11-24T24:00:00Z", "2016-12-31T23:59:60Z",
    ])
    func `an instant that there is not is refused`(at: String) async throws {
        let asked = Asked()
        let headers = try await self.headers()
        try await self.parts(.break(Self.info), asked)
            .serve { peer in
                let body = #"{"at":"\#(at)"}"#
                let answer = try await peer.ask("POST", Self.path + "/punch", body: body, headers: headers)
                #expect(answer.status == 400)
                #expect(try answer.decoded(as: ProblemDocument.self).detail.contains("it must be an instant"))
            }
        #expect(asked.count == 0)
    }

    @Test(arguments: [
        ["If-Match": "1"], ["If-Match": "\"\""], ["If-Match": "\"0\""], ["If-Match": "\"01\""], ["If-Match": "\"-1\""],
        ["If-Match": "W/\"1\""], ["If-Match": "\"1\", \"2\""], ["If-Match": "\"9223372036854775807\""],
        ["If-Match": "\""],
        ["If-Match": "\"18446744073709551616\""], ["If-Match": "\"1"], ["If-Match": "**"], ["If-Match": "\"+1\""],
        ["If-None-Match": "\"1\""], ["If-Match": "\"1\"", "If-None-Match": "*"], ["If-None-Match": "*, *"],
    ])
    func `an expectation that is none is refused before anything is asked`(said: [String: String]) async throws {
        let asked = Asked()
        let headers = try await self.headers()
        try await self.parts(.break(Self.info), asked)
            .serve { peer in
                for (method, name, body) in Self.changes {
                    let all = headers.merging(said) { $1 }
                    let answer = try await peer.ask(method, Self.path + name, body: body, headers: all)
                    #expect(answer.status == 400, "\(name) \(said)")
                    let problem: ProblemDocument = try answer.decoded()
                    #expect(problem.detail.contains("If-"))
                }
                // What is to be changed is there.
                let all = headers.merging(["If-None-Match": "*"]) { $1 }
                #expect(try await peer.ask("POST", Self.path + "/cancel", body: "", headers: all).status == 400)
            }
        #expect(asked.count == 0)
    }

    @Test func `a break is postponed from the start that it has, or by its revision`() async throws {
        let asked = Asked()
        let headers = try await self.headers()
        let path = Self.path + "/postpone"
        try await self.parts(.break(Self.info), asked)
            .serve { peer in
                for (text, microseconds) in [
                    ("2026-05-01T12:00:00Z", 0), ("2026-05-01T12:00:00.123Z", 123_000),
                    ("2026-05-01T12:00:00.123456Z", 123_456),
                ] as [(String, Int64)] {
                    let body = #"{"by":"1m30s","from":"\#(text)"}"#
                    #expect(try await peer.ask("POST", path, body: body, headers: headers).status == 200)
                    guard case .postpone(let postpone)? = asked.last?.request.kind else { return #expect(Bool(false)) }
                    #expect(postpone.key == Self.info.key && postpone.by == .seconds(90))
                    // In whole milliseconds at least: what is finer, the planner finds.
                    let from = try #require(postpone.from).microseconds - 1_777_636_800_000_000
                    #expect(from / 1_000 == microseconds / 1_000, "\(text): \(from)")
                }
                let expecting = headers.merging(["If-Match": "\"3\""]) { $1 }
                #expect(try await peer.ask("POST", path, body: #"{"by":30}"#, headers: expecting).status == 200)
                guard case .postpone(let postpone)? = asked.last?.request.kind else { return #expect(Bool(false)) }
                #expect(postpone.from == nil && asked.last?.request.expectedRevision == 3)
                let count = asked.count
                let any = headers.merging(["If-Match": "*"]) { $1 }
                for (body, headers) in [
                    (#"{"by":"30s"}"#, headers), (#"{"by":"30s"}"#, any),
                    (#"{"from":"2026-05-01T12:00:00Z"}"#, headers),
                    ("", headers), ("{}", expecting), (#"{"by":"-1s"}"#, expecting), (#"{"by":"soon"}"#, expecting),
                    (#"{"by":"1s","from":"noon"}"#, headers), (#"{"by":"1s","form":"2026-05-01T12:00:00Z"}"#, headers),
                ] {
                    let answer = try await peer.ask("POST", path, body: body, headers: headers)
                    #expect(answer.status == 400, "\(body)")
                }
                #expect(asked.count == count)
            }
    }

    @Test func `one break is shown, or it is not there`() async throws {
        try await Parts()
            .serve { peer in
                #expect(try await peer.get(Self.path).status == 404)
                #expect(try await peer.get("/v1/streams/radio1/breaks/no%20spaces").status == 400)
                let list: BreakListDocument = try await peer.get("/v1/streams/radio1/breaks").decoded()
                #expect(list.breaks.isEmpty)
            }
    }
}

extension StreamID {
    fileprivate static let testStream: StreamID = {
        guard let id = try? StreamID("radio1") else { preconditionFailure("no stream id") }
        return id
    }()
}

extension BreakID {
    fileprivate static let testBreak: BreakID = {
        guard let id = try? BreakID("noon-1") else { preconditionFailure("no break id") }
        return id
    }()
}
