// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import GatewayTestKit
import TestSupport
import Testing

/// Single outcomes by their place in the event log: each once, however they are read.
@Suite(.suiteLimit)
struct OutcomeTests {
    private static let lane = Lane.acknowledgements(0)

    /// The content of an answer.
    private struct Page {
        var rows: [OutcomeDocument] = []
        /// `nil`: it was cut off.
        var end: OutcomesEndDocument?

        init(_ body: String) throws {
            for line in body.split(separator: "\n") {
                let data = Data(line.utf8)
                if let end = try? JSONDecoder().decode(OutcomesEndDocument.self, from: data) {
                    #expect(self.end == nil, "there are two ends")
                    self.end = end
                } else {
                    #expect(self.end == nil, "a row follows the end")
                    self.rows.append(try JSONDecoder().decode(OutcomeDocument.self, from: data))
                }
            }
        }
    }

    /// A request as the log keeps it: what a session says of the first so many ads of a break.
    private static func accepted(
        _ name: String = "b1",
        of stream: String = "radio1",
        session: UInt64 = 1,
        outcomes: Int
    ) throws -> AcknowledgementGroup.AcceptedRequest {
        let session = SessionID(high: 7, low: session)
        let number = BreakNumber(rawValue: 2_048)
        let acknowledge = ListenerRequest.Acknowledge(
            key: BreakKey(stream: try StreamID(stream), id: try BreakID(name)),
            delivery: DeliveryToken(session: session, breakNumber: number, variant: 3).bytes,
            outcomes: try (0..<outcomes)
                .map { ordinal in
                    Outcome(
                        advertisementID: try AdvertisementID("ad\(ordinal)"),
                        kind: ordinal == 1 ? .ignored : ordinal == 2 ? .failed : .played,
                        evidence: ordinal == 0 ? .reported : .inferred,
                        reason: ordinal == 1 ? .endedEarly : nil,
                        heard: .milliseconds(29_500),
                        quartiles: 4,
                        muted: ordinal == 0,
                        vastError: ordinal == 2 ? 405 : 0,
                        occurred: Parts.now - .seconds(1),
                        clicked: ordinal == 0
                    )
                }
        )
        return AcknowledgementGroup.AcceptedRequest(
            request: ListenerRequest(id: 1, session: session, kind: .acknowledge(acknowledge)).encoded(),
            received: Parts.now,
            breakNumber: number,
            ordinals: (0..<outcomes).map { UInt32($0) }
        )
    }

    private static func append(
        _ requests: [AcknowledgementGroup.AcceptedRequest],
        to log: InMemoryEventLog
    ) async throws -> UInt64 {
        let delivery = AcknowledgementGroup.Delivery(
            session: SessionID(high: 7, low: 9),
            breakNumber: BreakNumber(rawValue: 2_048),
            at: Parts.now
        )
        let group = AcknowledgementGroup(requests: requests, deliveries: [delivery])
        return try await log.append(group.encoded(), to: Self.lane)
    }

    private func page(_ query: String = "", of peer: HTTPPeer) async throws -> Page {
        let answer = try await peer.get("/v1/outcomes" + query)
        #expect(answer.status == 200, "\(query): \(answer.body)")
        #expect(answer.headers["content-type"] == "application/x-ndjson")
        return try Page(answer.chunks)
    }

    @Test func `a row tells what the log has of one outcome`() async throws {
        let log = InMemoryEventLog()
        _ = try await Self.append([], to: log)
        _ = try await Self.append([try Self.accepted(session: 5, outcomes: 3)], to: log)
        var parts = Parts()
        parts.log = log
        try await parts.serve { peer in
            let page = try await self.page(of: peer)
            #expect(page.rows.map(\.position) == ["2:1", "2:2", "2"])
            #expect(page.end == OutcomesEndDocument(next: "2", more: false))
            let first = try #require(page.rows.first)
            #expect(first.stream == "radio1" && first.break == "b1" && first.number == 2_048)
            #expect(first.session == "00000000000000070000000000000005")
            #expect(first.ad == "ad0" && first.ordinal == 0 && first.variant == 3)
            #expect(first.outcome == "played" && first.evidence == "reported" && first.reason == nil)
            #expect(first.heardMilliseconds == 29_500 && first.quartiles == 4 && first.muted && first.clicked)
            #expect(first.recorded == Parts.now.description && first.occurred == (Parts.now - .seconds(1)).description)
            #expect(page.rows[1].outcome == "ignored" && page.rows[1].reason == "endedEarly")
            #expect(page.rows[2].outcome == "failed" && page.rows[2].vastError == 405)
            #expect(page.rows[2].evidence == "inferred" && page.rows[2].clicked == false)
        }
    }

    @Test func `each row is read exactly once, however it is asked and wherever an answer was cut off`() async throws {
        var generator = SeededGenerator(for: #function)
        let log = InMemoryEventLog()
        var all: [String] = []
        for _ in 0..<60 {
            var requests: [AcknowledgementGroup.AcceptedRequest] = []
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                requests.append(
                    try Self.accepted(
                        "b\(Int.random(in: 1...3, using: &generator))",
                        of: Bool.random(using: &generator) ? "radio1" : "radio2",
                        session: .random(in: 1...9, using: &generator),
                        outcomes: Int.random(in: 1...5, using: &generator)
                    )
                )
            }
            let offset = try await Self.append(requests, to: log)
            let count = requests.reduce(0) { $0 + $1.ordinals.count }
            all += (0..<count).map { $0 == count - 1 ? "\(offset)" : "\(offset):\($0 + 1)" }
        }
        let positions = all
        // Half of it is read before a restart, the rest after it.
        var stops: [(limit: Int, cutAfter: Int)] = []
        for _ in 0..<400 {
            stops.append((Int.random(in: 1...25, using: &generator), Int.random(in: 0...40, using: &generator)))
        }
        let plan = stops
        var parts = Parts()
        parts.log = log
        try await parts.serve { peer in
            let whole = try await self.page(of: peer)
            #expect(whole.rows.map(\.position) == positions)
            for each in 0..<4 {
                var read: [OutcomeDocument] = []
                var from: String?
                var isMore = true
                var step = each * 100
                while isMore {
                    let stop = plan[step % plan.count]
                    step += 1
                    let page = try await self.page(
                        "?limit=\(stop.limit)" + (from.map { "&from=\($0)" } ?? ""),
                        of: peer
                    )
                    #expect(page.rows.count <= stop.limit)
                    let end = try #require(page.end)
                    if stop.cutAfter < page.rows.count, stop.cutAfter > 0 {
                        // The peer went away before the rest: the last row that it has says where to go on.
                        read += page.rows.prefix(stop.cutAfter)
                        from = page.rows[stop.cutAfter - 1].position
                    } else {
                        read += page.rows
                        from = end.next
                        isMore = end.more
                    }
                }
                #expect(read == whole.rows)
                let last = try #require(from)
                let after = try await self.page("?from=\(last)", of: peer)
                #expect(after.rows.isEmpty && after.end?.more == false)
            }
            // Of one stream and one break.
            for (query, isWanted) in [
                ("stream=radio1", { $0.stream == "radio1" }), ("break=b2", { $0.break == "b2" }),
                ("stream=radio2&break=b3", { $0.stream == "radio2" && $0.break == "b3" }),
                ("stream=none", { _ in false }),
            ] as [(String, (OutcomeDocument) -> Bool)] {
                var read: [OutcomeDocument] = []
                var end = OutcomesEndDocument(next: "0", more: true)
                while end.more {
                    let page = try await self.page("?\(query)&limit=7&from=\(end.next)", of: peer)
                    read += page.rows
                    end = try #require(page.end)
                }
                #expect(read == whole.rows.filter(isWanted), "\(query)")
                #expect(end.next == "60")
            }
        }
        // After a restart a position means the same, and what came later follows it.
        let later = log.reopened()
        let offset = try await Self.append([try Self.accepted(outcomes: 2)], to: later)
        parts.log = later
        try await parts.serve { peer in
            let page = try await self.page("?from=\(positions[positions.count / 2])", of: peer)
            let rest = Array(positions.dropFirst(positions.count / 2 + 1)) + ["\(offset):1", "\(offset)"]
            #expect(page.rows.map(\.position) == rest)
        }
    }

    @Test func `a record with more outcomes than are made at a time is read to its end`() async throws {
        let log = InMemoryEventLog()
        let requests = try (0..<200).map { try Self.accepted(session: UInt64($0), outcomes: 64) }
        _ = try await Self.append(requests, to: log)
        _ = try await Self.append([try Self.accepted(outcomes: 1)], to: log)
        var parts = Parts()
        parts.log = log
        try await parts.serve { peer in
            let page = try await self.page(of: peer)
            #expect(page.rows.map(\.position) == (1..<12_800).map { "1:\($0)" } + ["1", "2"])
            #expect(page.end == OutcomesEndDocument(next: "2", more: false))
            // At what is made at a time, and one beside it.
            for limit in [4_095, 4_096, 4_097] {
                let page = try await self.page("?limit=\(limit)", of: peer)
                #expect(page.rows.count == limit && page.end == OutcomesEndDocument(next: "1:\(limit)", more: true))
                let next = try await self.page("?from=1:\(limit)&limit=1", of: peer)
                #expect(next.rows.map(\.position) == ["1:\(limit + 1)"])
            }
        }
    }

    /// RFC 9112 section 6.1: HTTP/1.0 knows no chunks; proxies ask in it unless they are told otherwise.
    @Test(arguments: ["HTTP/1.0", "HTTP/1.1"])
    func `an answer whose length is not known comes as the version of the request has it`(version: String) async throws
    {
        let log = InMemoryEventLog()
        _ = try await Self.append([try Self.accepted(outcomes: 3)], to: log)
        var parts = Parts()
        parts.log = log
        try await parts.serve { peer in
            let bytes = try await peer.exchange(
                Array("GET /v1/outcomes \(version)\r\nHost: test\r\nConnection: close\r\n\r\n".utf8)
            )
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text.hasPrefix("\(version) 200 "))
            let isOld = version == "HTTP/1.0"
            #expect(text.lowercased().contains("transfer-encoding") == !isOld)
            let body = try #require(text.range(of: "\r\n\r\n").map { text[$0.upperBound...] })
            #expect(body.hasPrefix("{") == isOld, "\(body.prefix(40))")
            #expect(isOld ? body.hasSuffix("}\n") : body.hasSuffix("0\r\n\r\n"), "\(body.suffix(40))")
        }
    }

    @Test func `a position that is gone is refused, with the oldest that is kept`() async throws {
        let log = InMemoryEventLog()
        for session in 1...5 as ClosedRange<UInt64> {
            _ = try await Self.append([try Self.accepted(session: session, outcomes: 2)], to: log)
        }
        try await log.prune(Self.lane, through: 3)
        var parts = Parts()
        parts.log = log
        try await parts.serve { peer in
            for gone in ["0", "1", "2:1", "2", "3:1"] {
                let answer = try await peer.get("/v1/outcomes?from=\(gone)")
                #expect(answer.status == 410, "\(gone)")
                let problem: ProblemDocument = try answer.decoded()
                #expect(problem.code == "POSITION_GONE" && problem.goOnFrom == "3" && !problem.retryable)
                #expect(
                    problem.detail
                        == "What follows the position \(gone) is not kept any more; the oldest that is kept follows 3."
                )
            }
            for kept in ["", "?from=3"] {
                #expect(try await self.page(kept, of: peer).rows.map(\.position) == ["4:1", "4", "5:1", "5"])
            }
            #expect(try await self.page("?from=4:1", of: peer).rows.map(\.position) == ["4", "5:1", "5"])
        }
        try await log.prune(Self.lane, through: 5)
        try await parts.serve { peer in
            let gone = try await peer.get("/v1/outcomes?from=4")
            #expect(gone.status == 410)
            #expect(try await self.page("?from=5", of: peer).rows.isEmpty)
            #expect(try await self.page(of: peer).end == OutcomesEndDocument(next: "5", more: false))
        }
    }

    @Test func `a reader that is ahead of a restored log is told from where on history is another one`() async throws {
        let log = InMemoryEventLog()
        for session in 1...5 as ClosedRange<UInt64> {
            _ = try await Self.append([try Self.accepted(session: session, outcomes: 2)], to: log)
        }
        var parts = Parts()
        parts.log = log
        try await parts.serve { peer in
            // Of another gateway, or of none.
            let answer = try await peer.get("/v1/outcomes?from=6")
            #expect(answer.status == 410)
            #expect(try answer.decoded(as: ProblemDocument.self).goOnFrom == "5")
        }
        let restored = log.restored(keepingThrough: [Self.lane: 3])
        let offset = try await Self.append([try Self.accepted(session: 9, outcomes: 1)], to: restored)
        parts.log = restored
        try await parts.serve { peer in
            for lost in ["4:1", "4", "5"] {
                let answer = try await peer.get("/v1/outcomes?from=\(lost)")
                #expect(answer.status == 410, "\(lost)")
                let problem: ProblemDocument = try answer.decoded()
                #expect(problem.code == "POSITION_GONE" && problem.goOnFrom == "3")
            }
            #expect(try await self.page("?from=3", of: peer).rows.map(\.position) == ["\(offset)"])
            #expect(try await self.page("?from=2", of: peer).rows.map(\.position) == ["3:1", "3", "\(offset)"])
        }
    }

    @Test(arguments: [
        "from=", "from=x", "from=-1", "from=1:", "from=1:0", "from=:1", "from=1:2:3", "from=0:1", "from=+1",
        "from=281474976710656", "from=18446744073709551616", "limit=0", "limit=1000001", "limit=x", "stream=%00",
        "break=no%20spaces",
        "after=1", "from=1&from=2",
    ])
    func `an invalid position or parameter is refused`(query: String) async throws {
        var parts = Parts()
        parts.log = InMemoryEventLog()
        try await parts.serve { peer in
            let answer = try await peer.get("/v1/outcomes?" + query)
            #expect(answer.status == 400, "\(query)")
            #expect(try answer.decoded(as: ProblemDocument.self).code == "INVALID")
        }
    }

    @Test func `an empty log has an end, and the largest limit is taken`() async throws {
        var parts = Parts()
        parts.log = InMemoryEventLog()
        try await parts.serve { peer in
            let page = try await self.page("?limit=1000000", of: peer)
            #expect(page.rows.isEmpty && page.end == OutcomesEndDocument(next: "0", more: false))
            #expect(try await self.page("?from=0", of: peer).end?.next == "0")
        }
    }

    @Test func `a damaged record is no end: the answer is cut off before it`() async throws {
        let log = InMemoryEventLog()
        // More than one reading, so that the answer has begun.
        for session in 1...40 as ClosedRange<UInt64> {
            _ = try await Self.append([try Self.accepted(session: session, outcomes: 2)], to: log)
        }
        _ = try await log.append([0xFF, 0xFF], to: Self.lane)
        var parts = Parts()
        parts.log = log
        try await parts.serve { peer in
            let page = try Page(try await peer.get("/v1/outcomes").chunks)
            #expect(page.end == nil)
            #expect(page.rows.count >= 32 && page.rows.count <= 80)
            let answer = try await peer.get("/v1/outcomes?from=40")
            #expect(answer.status == 503)
        }
    }

    /// So many rows are far more than what waits on the way: a reader that stops delays only itself, and a second one is
    /// refused where there is room for one.
    @Test func `how many read at a time is bounded`() async throws {
        let log = InMemoryEventLog()
        let requests = try (0..<200).map { try Self.accepted(session: UInt64($0), outcomes: 64) }
        for _ in 0..<3 { _ = try await Self.append(requests, to: log) }
        var parts = Parts()
        parts.log = log
        parts.configuration.streamsMax = 1
        let metrics = parts.metrics
        try await parts.serve { peer in
            let slow = try peer.connect()
            try slow.send(HTTPPeer.request("/v1/outcomes"))
            // Its head and the first rows are here; of the rest, some 12 MB, most waits until it is taken.
            var text = ""
            while !text.contains("\"position\"") { text += String(decoding: try slow.receive(), as: UTF8.self) }
            let second = try await peer.get("/v1/outcomes")
            #expect(second.status == 503)
            #expect(try second.decoded(as: ProblemDocument.self).code == "LIMIT_REACHED")
            #expect(try await peer.get("/healthz").status == 200)
            let rest = try await onThread { try slow.rest() }
            let whole = text + String(decoding: rest, as: UTF8.self)
            #expect(whole.contains(#"{"more":false,"next":"3"}"#))
        }
        #expect(metrics.value(.limitsHit, .limit(.httpStreamsMax)) == 1)
    }
}

extension HTTPPeer.Answer {
    /// The body without the marks of its chunks (RFC 9112 section 7.1), where it came in chunks.
    var chunks: String {
        guard self.headers["transfer-encoding"] == "chunked" else { return self.body }
        var (rest, text) = (Substring(self.body), "")
        while let end = rest.firstRange(of: "\r\n"), let size = Int(rest[..<end.lowerBound], radix: 16), size > 0 {
            let bytes = rest[end.upperBound...].utf8
            guard bytes.count >= size else { return text + String(rest[end.upperBound...]) }
            text += String(bytes.prefix(size)) ?? ""
            rest = Substring(bytes.dropFirst(size)).dropFirst("\r\n".count)
        }
        return text
    }
}
