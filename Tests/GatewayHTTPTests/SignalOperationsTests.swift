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

/// Signals and ad lists over HTTP: each request becomes the same as by the broadcasters' socket.
@Suite(.suiteLimit)
struct SignalOperationsTests {
    private let workshop: TokenWorkshop

    init() throws { self.workshop = try TokenWorkshop() }

    /// A server whose gateway answers always the same; what it was asked is kept.
    private func parts(
        _ answer: BroadcastReply.Body,
        _ asked: AskedRequests = AskedRequests(),
        changed: Bool = false
    ) async throws -> Parts {
        var parts = Parts()
        parts.access = HTTPAccessHolder(try await self.workshop.access(.metrics))
        parts.broadcast = { request, principal, origin in
            asked.add(AskedRequests.One(request: request.asked, principal: principal, origin: origin))
            if case .failure(let error) = request.read {
                let refusal = Refusal(error.status, error.description)
                return BroadcastReply(requestID: request.asked.id, gatewayTime: Parts.now, body: .refused(refusal))
            }
            return BroadcastReply(requestID: request.asked.id, gatewayTime: Parts.now, changed: changed, body: answer)
        }
        return parts
    }

    private func headers(_ scope: String = "publish:*") async throws -> [String: String] {
        ["Authorization": "Bearer \(try await self.workshop.token(try TokenWorkshop.claims(scope: scope)))"]
    }

    private static func info() throws -> BreakInfo {
        BreakInfo(
            key: BreakKey(stream: try StreamID("radio1"), id: try BreakID("cue-7")),
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
            firstAdvertisementTitle: "T",
            revision: 3
        )
    }

    private static func list(_ revision: UInt64 = 1) throws -> AdListInfo {
        AdListInfo(
            name: try AdListName("spots"),
            revision: revision,
            advertisementCount: 1,
            duration: .seconds(30),
            changed: Parts.now,
            broadcaster: "studio"
        )
    }

    private static let path = "/v1/streams/radio1/signals"
    private static let out = #"{"source":"studio","event":"4711","kind":"out"}"#
    private static let ads = #"{"ads":[{"id":"a","duration":"30s","media":[{"url":"https://cdn.example.com/a.mp3"}]}]}"#

    // MARK: - Signals

    @Test func `the newest signals of a stream are listed, decoded, with what became of each`() async throws {
        var book = SignalBook()
        let stream = try StreamID("radio1")
        // A splice_insert of the event 1,207,959,695 (SCTE 35 2023r1, 14.2).
        let cue = Data(base64Encoded: "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo=") ?? Data()
        func signal(_ event: String, _ raw: [UInt8]) throws -> BroadcastRequest.Signal {
            .init(
                stream: stream,
                name: SignalName(source: try SignalSource("encoder"), event: try SignalEventID(event)),
                kind: .out,
                start: .at(Parts.now + .seconds(10)),
                duration: .seconds(30),
                raw: raw
            )
        }
        let opened = try signal("4711", Array(cue))
        var info = try Self.info()
        info.revision = 1
        let outcome = SignalOutcome(opened, on: info, changed: true, received: Parts.now, tolerance: .seconds(2))
        book.note(SeenSignal(opened, outcome, about: info.key.id, at: Parts.now), on: stream)
        let text = try signal("4712", Array("#EXT-X-CUE-OUT:30".utf8))
        let refusal = SignalOutcome(Refusal(.breakOverlap, "Another break runs."), of: text)
        book.note(SeenSignal(text, refusal, about: nil, at: Parts.now + .seconds(1)), on: stream)
        var parts = Parts()
        parts.signals = { [book] in book[$0] }
        try await parts.serve { peer in
            let document: SignalListDocument = try await peer.get(Self.path).decoded()
            #expect(document.stream == "radio1" && document.signals.map(\.event) == ["4712", "4711"])
            let (newest, first) = (try #require(document.signals.first), try #require(document.signals.last))
            #expect(
                newest.result == "refused" && newest.code == "BREAK_OVERLAP" && newest.reason == "Another break runs."
            )
            #expect(newest.decoded == "#EXT-X-CUE-OUT:30" && newest.break == nil)
            #expect(first.result == "changed" && first.effect == "opened" && first.break == "cue-7")
            #expect(first.at == (Parts.now + .seconds(10)).description && first.durationMilliseconds == 30_000)
            #expect(first.decoded?.hasPrefix("SCTE-35 splice_insert: break of event 1207959695: begins") == true)
            #expect(first.raw == cue.base64EncodedString() && first.rawBytes == cue.count)
            let source = try #require(document.sources.first)
            #expect(source.source == "encoder" && source.changed == 1 && source.refused == 1)
            #expect(source.refusedInARow == 1 && source.lastRefusal == "BREAK_OVERLAP: Another break runs.")
            let other: SignalListDocument = try await peer.get("/v1/streams/other/signals").decoded()
            #expect(other.signals.isEmpty && other.sources.isEmpty)
        }
    }

    @Test func `a signal says what its body says, by whom the token names`() async throws {
        let asked = AskedRequests()
        let headers = try await self.headers("publish:radio*")
        try await self.parts(.break(try Self.info()), asked, changed: true)
            .serve { peer in
                let body = #"""
                    {"source":"studio","event":"4711","kind":"out","at":"2026-05-01T12:00:00Z","programmeTime":true,
                     "duration":"30s","raw":"/DAA"}
                    """#
                let answer = try await peer.ask("POST", Self.path, body: body, headers: headers)
                #expect(answer.status == 200 && answer.headers["etag"] == "\"3\"")
                let document: BreakListDocument.Break = try answer.decoded()
                #expect(document.break == "cue-7" && document.stream == "radio1")
            }
        let one = try #require(asked.last)
        #expect(one.principal.name == "studio")
        #expect(one.request.expectedRevision == nil)
        guard case .signal(let signal) = one.request.kind else { return #expect(Bool(false), "\(one.request)") }
        #expect(signal.stream.description == "radio1" && signal.kind == .out)
        #expect(signal.name.source.description == "studio" && signal.name.event.description == "4711")
        #expect(signal.start == .at(Timestamp(microseconds: 1_777_636_800_000_000)) && signal.isProgrammeTime)
        #expect(signal.duration == .seconds(30) && signal.raw == [0xFC, 0x30, 0x00])
    }

    @Test(arguments: [("out", SignalKind.out), ("in", .in), ("cancel", .cancel)])
    func `a signal without a moment says none`(word: String, kind: SignalKind) async throws {
        let asked = AskedRequests()
        let headers = try await self.headers()
        let body = Self.out.replacing("out", with: word)
        try await self.parts(.break(try Self.info()), asked)
            .serve { peer in
                try await peer.expect(200, "POST", Self.path, body: body, headers: headers)
            }
        guard case .signal(let signal)? = asked.last?.request.kind else { return #expect(Bool(false)) }
        #expect(signal.kind == kind && signal.start == nil && signal.duration == nil && signal.raw.isEmpty)
        #expect(!signal.isProgrammeTime)
    }

    @Test(arguments: [
        ("", "this is not JSON"), ("[]", "must be an object"), ("{}", "source: it is missing"),
        (#"{"source":"s","kind":"out"}"#, "event: it is missing"),
        (#"{"source":"s","event":"1"}"#, "kind: it is missing"),
        (#"{"source":"s","event":"1","kind":"OUT"}"#, #"kind: it must be "out", "in" or "cancel""#),
        (#"{"source":"a b","event":"1","kind":"out"}"#, "source: "),
        (#"{"source":"s","event":"a b","kind":"out"}"#, "event: it has 1 to 64 printable"),
        (#"{"source":"s","event":"1","kind":"out","raw":"%"}"#, "raw: it must be base64"),
        (#"{"source":"s","event":"1","kind":"out","in":"1s","now":true}"#, "give one of in, at and now"),
        (#"{"source":"s","event":"1","kind":"out","start":"1s"}"#, "there is no such field"),
        (#"{"source":"s","event":"1","kind":"in","duration":"1s"}"#, "only a signal that begins a break"),
        (#"{"source":"s","event":"1","kind":"cancel","now":true}"#, "takes a break back has none"),
    ])
    func `a signal that is not as it must be is refused with its place`(body: String, sentence: String) async throws {
        let headers = try await self.headers()
        try await self.parts(.break(try Self.info()))
            .serve { peer in
                let answer = try await peer.ask("POST", Self.path, body: body, headers: headers)
                #expect(answer.status == 400)
                let problem: ProblemDocument = try answer.decoded()
                #expect(problem.detail.contains(sentence), "\(problem.detail)")
            }
    }

    @Test func `raw bytes at the limit are taken, and one more is too large`() async throws {
        let headers = try await self.headers()
        // Three bytes in four characters, and one byte in two.
        let most = String(repeating: "AAAA", count: WireLimits.signalRawBytesMax / 3) + "AA"
        #expect(WireLimits.signalRawBytesMax % 3 == 1)
        try await self.parts(.break(try Self.info()))
            .serve { peer in
                for (raw, status) in [(most, 200), (most + "A", 413)] {
                    let body = Self.out.replacing("}", with: #","raw":"\#(raw)"}"#)
                    try await peer.expect(status, "POST", Self.path, body: body, headers: headers)
                }
                let filled = Self.out + String(repeating: " ", count: 16_384 - Self.out.utf8.count)
                try await peer.expect(200, "POST", Self.path, body: filled, headers: headers)
                try await peer.expect(413, "POST", Self.path, body: filled + " ", headers: headers)
            }
    }

    @Test func `a signal needs a token, JSON, and no revision`() async throws {
        let asked = AskedRequests()
        let headers = try await self.headers()
        try await self.parts(.break(try Self.info()), asked)
            .serve { peer in
                try await peer.expect(401, "POST", Self.path, body: Self.out, headers: [:])
                try await peer.expect(405, "PUT", Self.path, body: Self.out, headers: headers)
                let text = headers.merging(["Content-Type": "text/plain"]) { $1 }
                try await peer.expect(415, "POST", Self.path, body: Self.out, headers: text)
                #expect(asked.count == 0)
                let expecting = headers.merging(["If-Match": "\"1\""]) { $1 }
                let answer = try await peer.ask("POST", Self.path, body: Self.out, headers: expecting)
                #expect(answer.status == 400)
                #expect(try answer.decoded(as: ProblemDocument.self).detail.contains("a signal has none"))
            }
    }

    // MARK: - Ad lists

    @Test func `a list is put as JSON or as VAST, and its answer tells what is new`() async throws {
        let vast = """
            <VAST version="3.0"><Ad id="v"><InLine><AdSystem>x</AdSystem><AdTitle>V</AdTitle><Impression>nowhere</Impression>\
            <Creatives><Creative><Linear><Duration>00:00:20</Duration><MediaFiles><MediaFile delivery="progressive" type="audio/mpeg" \
            width="0" height="0">https://cdn.example.com/v.mp3</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>
            """
        let headers = try await self.headers()
        for (revision, changed, status) in [(1, true, 201), (1, false, 200), (2, true, 200)] as [(UInt64, Bool, Int)] {
            let asked = AskedRequests()
            try await self.parts(.adList(try Self.list(revision), []), asked, changed: changed)
                .serve { peer in
                    let answer = try await peer.ask("PUT", "/v1/lists/spots", body: Self.ads, headers: headers)
                    #expect(answer.status == status && answer.headers["etag"] == "\"\(revision)\"")
                    #expect(answer.headers["location"] == (status == 201 ? "/v1/lists/spots" : nil))
                    let document: AdListDocument = try answer.decoded()
                    #expect(document.name == "spots" && document.adCount == 1 && document.leftOut == nil)
                    #expect(document.durationMilliseconds == 30_000 && document.ads == nil)
                    guard case .putList(let put)? = asked.last?.request.kind else { return #expect(Bool(false)) }
                    #expect(put.name.description == "spots" && put.advertisements.map(\.id.description) == ["a"])
                    let xml = headers.merging(["Content-Type": "text/xml; charset=utf-8"]) { $1 }
                    let other = try await peer.ask("PUT", "/v1/lists/spots", body: vast, headers: xml)
                    #expect(other.status == status)
                    #expect(try other.decoded(as: AdListDocument.self).leftOut?.count == 1)
                    guard case .putList(let read)? = asked.last?.request.kind else { return #expect(Bool(false)) }
                    #expect(read.advertisements.map(\.duration) == [.seconds(20)])
                }
        }
    }

    @Test func `a list that is shown can be put as it is`() async throws {
        let asked = AskedRequests()
        let headers = try await self.headers()
        var ad = AdvertisementContent(
            id: AdvertisementID(unchecked: "a"),
            title: "T",
            duration: .milliseconds(15_500),
            media: [AdvertisementContent.MediaFile(url: "https://cdn.example.com/a.mp4", type: "video/mp4")]
        )
        ad.text = "More"
        ad.advertiser = "Sellers"
        ad.skipOffset = .seconds(5)
        ad.media[0].bitrateKilobitsPerSecond = 900
        ad.media[0].streaming = true
        ad.clickThroughURL = "https://shop.example.com"
        ad.banner = AdvertisementContent.Banner(imageURL: "https://cdn.example.com/a.png")
        ad.banner?.width = 300
        ad.trackers = [
            AdvertisementContent.Tracker(event: "progress", url: "https://track.example.com/p", offset: .seconds(3))
        ]
        let shown = ad
        try await self.parts(.adList(try Self.list(), [ad]), asked)
            .serve { peer in
                let answer = try await peer.get("/v1/lists/spots", headers: headers)
                #expect(answer.status == 200 && answer.headers["etag"] == "\"1\"")
                guard case .lists(let name?)? = asked.last?.request.kind else { return #expect(Bool(false)) }
                #expect(name.description == "spots")
                let document: AdListDocument = try answer.decoded()
                let body = String(decoding: try JSONEncoder().encode(["ads": document.ads ?? []]), as: UTF8.self)
                try await peer.expect(200, "PUT", "/v1/lists/spots", body: body, headers: headers)
                guard case .putList(let put)? = asked.last?.request.kind else { return #expect(Bool(false)) }
                #expect(put.advertisements == [shown])
            }
    }

    @Test func `lists are listed and removed, and each way needs a token`() async throws {
        let asked = AskedRequests()
        let (headers, some) = (try await self.headers(), try await self.headers("publish:radio*"))
        try await self.parts(.adLists([try Self.list(2)]), asked)
            .serve { peer in
                #expect(try await peer.get("/v1/lists").status == 401)
                // A program that knows the list states no condition.
                let known = headers.merging(["If-None-Match": "\"2\""]) { $1 }
                let document: AdListsDocument = try await peer.get("/v1/lists", headers: known).decoded()
                #expect(document.lists.map(\.name) == ["spots"] && document.lists.map(\.revision) == [2])
                #expect(asked.last?.principal.mayChangeLists == true)
                // Whether the scope is good for every stream, the rules for all entrances say.
                _ = try await peer.get("/v1/lists", headers: some)
                #expect(asked.last?.principal.mayChangeLists == false)
            }
        try await self.parts(.adList(try Self.list(2), []), asked)
            .serve { peer in
                try await peer.expect(401, "DELETE", "/v1/lists/spots", body: "", headers: [:])
                let expecting = headers.merging(["If-Match": "\"2\""]) { $1 }
                try await peer.expect(200, "DELETE", "/v1/lists/spots", body: "", headers: expecting)
                guard case .removeList(let name)? = asked.last?.request.kind else { return #expect(Bool(false)) }
                #expect(name.description == "spots" && asked.last?.request.expectedRevision == 2)
                try await peer.expect(400, "PUT", "/v1/lists/a%20b", body: Self.ads, headers: headers)
                try await peer.expect(400, "PUT", "/v1/lists/spots", body: "{}", headers: headers)
            }
    }

    @Test(arguments: StatusCode.allCases.filter { $0 != .ok })
    func `each refusal keeps its reason code`(status: StatusCode) async throws {
        let headers = try await self.headers()
        try await self.parts(.refused(Refusal(status, "No, because.")))
            .serve { peer in
                for (method, path, body) in [
                    ("POST", Self.path, Self.out), ("PUT", "/v1/lists/spots", Self.ads),
                    ("DELETE", "/v1/lists/spots", ""), ("GET", "/v1/lists/spots", ""), ("GET", "/v1/lists", ""),
                ] {
                    let answer = try await peer.ask(method, path, body: body, headers: headers)
                    #expect(try answer.decoded(as: ProblemDocument.self).code == status.name, "\(method) \(path)")
                }
            }
    }

    @Test func `what is refused before the rules are asked is in the audit`() async throws {
        var parts = try await self.parts(.break(try Self.info()))
        let audit = InMemoryAudit()
        parts.audit = audit
        let headers = try await self.headers()
        try await parts.serve { peer in
            _ = try await peer.ask("POST", Self.path, body: "{}", headers: headers)
            _ = try await peer.ask("PUT", "/v1/lists/spots", body: "{}", headers: headers)
            _ = try await peer.ask("DELETE", "/v1/lists/spots", body: "", headers: [:])
        }
        let records = try await audit.records(AuditQuery(limit: 10))
        #expect(records.map(\.record.action) == ["removeList", "putList", "signal"])
        #expect(records.allSatisfy { $0.record.outcome == .refused })
    }
}
