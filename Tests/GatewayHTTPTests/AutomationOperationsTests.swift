// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import GatewayTestKit
import Testing

/// Messages of automation systems over HTTP: each form becomes the same signal, and what runs, the board knows.
@Suite(.suiteLimit)
struct AutomationOperationsTests {
    private let workshop: TokenWorkshop

    init() throws { self.workshop = try TokenWorkshop() }

    private static let path = "/v1/streams/radio1/signals/radiodj"

    /// A board with a policy that takes every signal, and the requests that a server asks of it.
    private func parts(
        _ planner: SignalDesk,
        _ asked: AskedRequests = AskedRequests()
    ) async throws -> Parts {
        var parts = Parts()
        parts.access = HTTPAccessHolder(try await self.workshop.access(.metrics))
        parts.runningBoard = { planner.board }
        parts.clock = { planner.now }
        parts.broadcast = { request, principal, origin in
            asked.add(AskedRequests.One(request: request.asked, principal: principal, origin: origin))
            return planner.answer(request, by: principal)
        }
        return parts
    }

    private func headers(_ scope: String = "publish:radio*") async throws -> [String: String] {
        // The tests let minutes pass.
        let claims = try TokenWorkshop.claims(scope: scope, expires: Parts.now + .seconds(3_600))
        return ["Authorization": "Bearer \(try await self.workshop.token(claims))"]
    }

    private static func signal(_ asked: AskedRequests) -> BroadcastRequest.Signal? {
        guard case .signal(let signal)? = asked.last?.request.kind else { return nil }
        return signal
    }

    @Test(arguments: [
        ("application/x-www-form-urlencoded", "songtype=4&songid=12&songseconds=30&xpwd=secret"),
        ("application/json", #"{"songtype":4,"songid":"12","songseconds":30.0}"#),
        ("text/xml", "<a><assetType>4</assetType><playoutId>12</playoutId><duration>0:30</duration></a>"),
        ("text/plain; charset=utf-8", "songtype=Commercial&songid=12&songseconds=30\r\n"),
    ])
    func `each form becomes the same signal, without what the mapping does not name`(
        type: String,
        body: String
    ) async throws {
        let asked = AskedRequests()
        let headers = try await self.headers().merging(["Content-Type": type]) { $1 }
        try await self.parts(try SignalDesk(), asked)
            .serve { peer in
                let answer = try await peer.ask("POST", Self.path, body: body, headers: headers)
                #expect(answer.status == 200, "\(answer.body)")
                let document: HeardElementDocument = try answer.decoded()
                #expect(document.ad && document.signal == "out" && document.break?.stream == "radio1")
            }
        let signal = try #require(Self.signal(asked))
        #expect(signal.kind == .out && signal.start == nil && signal.duration == .milliseconds(32_000))
        #expect(signal.name.source.description == "radiodj" && signal.name.event.description == "on-air")
        #expect(
            String(decoding: signal.raw, as: UTF8.self) == "mapping=radiodj ad=true durationMilliseconds=30000 id=12"
        )
    }

    @Test func `ads begin a break and go on with it, and the first song ends it`() async throws {
        let asked = AskedRequests()
        let desk = try SignalDesk()
        let headers = try await self.headers()
        try await self.parts(desk, asked)
            .serve { peer in
                func hear(_ query: String) async throws -> HeardElementDocument {
                    let answer = try await peer.get("\(Self.path)?\(query)", headers: headers)
                    #expect(answer.status == 200, "\(answer.body)")
                    return try answer.decoded()
                }
                #expect(try await hear("songtype=0") == HeardElementDocument(isAd: false, .none, nil))
                #expect(asked.count == 0)
                let out = try await hear("songtype=4&songseconds=30")
                #expect(out.signal == "out" && out.break?.durationMilliseconds == 32_000)
                // The same once more, from another system for instance.
                desk.advance(by: .seconds(2))
                let again = try await hear("songtype=4&songseconds=30")
                #expect(again.break?.revision == out.break?.revision && again.break?.break == out.break?.break)
                desk.advance(by: .seconds(28))
                let next = try await hear("songtype=4&songseconds=20")
                #expect(next.break?.break == out.break?.break && next.break?.durationMilliseconds == 52_000)
                desk.advance(by: .seconds(20))
                let song = try await hear("songtype=0")
                #expect(!song.ad && song.signal == "in" && song.break?.break == out.break?.break)
                desk.advance(by: .seconds(1))
                let later = try await hear("songtype=1")
                #expect(later.signal == "in" && later.break?.revision == song.break?.revision)
                desk.advance(by: .seconds(700))
                let count = asked.count
                #expect(try await hear("songtype=0").signal == "none")
                #expect(asked.count == count)
                let another = try await hear("songtype=4&songseconds=30")
                #expect(another.signal == "out" && another.break?.break != out.break?.break)
            }
    }

    @Test func `the start that a message says is in programme time, and may be late`() async throws {
        let (asked, desk) = (AskedRequests(), try SignalDesk())
        var mapping = AutomationMapping(name: "studio2", type: ["type"], ads: .values(["ad"]))
        mapping.start = ["began"]
        var parts = try await self.parts(desk, asked)
        parts.mappings = [mapping]
        let headers = try await self.headers()
        try await parts.serve { peer in
            let began = desk.now.microseconds / 1_000_000
            desk.advance(by: .seconds(60))
            for (type, later) in [("ad", 0), ("song", 30)] {
                let query = "type=\(type)&began=\(began + Int64(later))"
                let answer = try await peer.get("/v1/streams/radio1/signals/studio2?\(query)", headers: headers)
                #expect(answer.status == 200, "\(answer.body)")
                let signal = Self.signal(asked)
                let start = Timestamp(microseconds: (began + Int64(later)) * 1_000_000)
                #expect(signal?.start == .at(start) && signal?.isProgrammeTime == true)
            }
        }
    }

    @Test func `a HEAD says only that there would be an answer`() async throws {
        let asked = AskedRequests()
        let headers = try await self.headers()
        try await self.parts(try SignalDesk(), asked)
            .serve { peer in
                let answer = try await peer.get("\(Self.path)?songtype=4", method: "HEAD", headers: headers)
                #expect(answer.status == 200)
            }
        #expect(asked.count == 0)
    }

    @Test func `what may not be said, or cannot be read, is refused`() async throws {
        let asked = AskedRequests()
        let (headers, other) = (try await self.headers(), try await self.headers("publish:tv"))
        try await self.parts(try SignalDesk(), asked)
            .serve { peer in
                #expect(try await peer.get("\(Self.path)?songtype=4").status == 401)
                // Also where nothing would follow from it.
                for query in ["songtype=4", "songtype=0"] {
                    #expect(try await peer.get("\(Self.path)?\(query)", headers: other).status == 403)
                }
                for (type, body, sentence) in [
                    ("application/json", "{", "Line 1: this is not JSON"),
                    ("application/json", "[]", "must be an object"),
                    ("text/xml", "<a>", "line 1"), ("application/x-www-form-urlencoded", "a=%", "Byte 3"),
                    ("application/x-www-form-urlencoded", "title=x", "has no type of the element"),
                    ("application/x-www-form-urlencoded", "songtype=4&songseconds=soon", "The field songseconds is"),
                ] {
                    let all = headers.merging(["Content-Type": type]) { $1 }
                    let answer = try await peer.ask("POST", Self.path, body: body, headers: all)
                    #expect(answer.status == 400)
                    let problem: ProblemDocument = try answer.decoded()
                    #expect(problem.detail.contains(sentence), "\(problem.detail)")
                }
                #expect(asked.count == 0)
                let unknown = try await peer.get("/v1/streams/radio1/signals/winamp?type=ad", headers: headers)
                #expect(unknown.status == 404)
                let image = headers.merging(["Content-Type": "image/png"]) { $1 }
                try await peer.expect(415, "POST", Self.path, body: "x", headers: image)
                #expect(asked.count == 0)
                let form = headers.merging(["Content-Type": "application/x-www-form-urlencoded"]) { $1 }
                let most = "songtype=4&a=" + String(repeating: "b", count: AutomationLimits.messageBytesMax - 13)
                try await peer.expect(200, "POST", Self.path, body: most, headers: form)
                try await peer.expect(413, "POST", Self.path, body: most + "b", headers: form)
            }
    }
}
