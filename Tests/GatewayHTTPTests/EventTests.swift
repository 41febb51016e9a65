// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import GatewayTestKit
import Synchronization
import TestSupport
import Testing

/// Those who watch what happens, at a gateway that runs.
@Suite(.suiteLimit)
struct EventTests {
    private func run(
        clock: ManualClock = ManualClock(),
        access: HTTPAccess? = nil,
        _ configure: (inout GatewayHTTPConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningGateway, HTTPPeer) async throws -> Void
    ) async throws {
        var parts = Parts()
        // As often as possible, so that no test waits for a second.
        parts.configuration.eventInterval = .milliseconds(1)
        parts.configuration.eventPeriod = .milliseconds(1)
        parts.access = access.map { HTTPAccessHolder($0) }
        configure(&parts.configuration)
        try await withGateway(log: InMemoryEventLog(), ledger: InMemoryLedger(), clock: clock) { [parts] running in
            var parts = parts
            parts.running = running
            parts.configuration.listenersMax = running.gateway.httpListenersMax
            parts.clock = { clock.now() }
            parts.logger = running.logs.logger
            try await parts.serve { peer in try await body(running, peer) }
        }
    }

    private typealias Break = BreakListDocument.Break

    private static func ticket(_ peer: HTTPPeer, headers: [String: String] = [:]) async throws -> EventTicketDocument {
        try await peer.get("/v1/event-tickets", method: "POST", headers: headers).decoded()
    }

    // MARK: What is told

    @Test func `a viewer hears a break live its life, from its publication to its end`() async throws {
        let clock = ManualClock()
        try await self.run(clock: clock) { running, peer in
            let events = try EventConnection(peer, "/v1/events")
            let head = try await events.head().lowercased()
            #expect(head.hasPrefix("http/1.1 200"))
            #expect(head.contains("content-type: text/event-stream"))
            #expect(head.contains("cache-control: no-store") && head.contains("x-accel-buffering: no"))
            #expect(!head.contains("content-encoding"))
            _ = try await events.next("gateway")

            let broadcaster = try await running.broadcaster()
            try await broadcaster.publish("b", start: .after(.seconds(5)), duration: .seconds(30))
            func state() async throws -> Break { try await events.next("break").decoded() }
            let published = try await state()
            #expect(published.stream == "radio1" && published.break == "b")
            #expect(published.state == "announced" && published.revision == 1)
            // The same object as by its own operation.
            let asked: Break = try await peer.get("/v1/streams/radio1/breaks/b").decoded()
            #expect(published == asked)
            clock.advance(by: .seconds(5))
            #expect(try await state().state == "live")
            let key = try BreakKey(stream: StreamID("radio1"), id: BreakID("b"))
            try await broadcaster.do(.update(.init(key: key, duration: .seconds(60))))
            let updated = try await state()
            #expect(updated.state == "live" && updated.revision == 2)
            clock.advance(by: .seconds(59))
            #expect(try await events.next("gateway").decoded(as: GatewayEventDocument.self).draining == false)
            clock.advance(by: .seconds(1))
            #expect(try await state().state == "complete")

            try await broadcaster.publish("cued", start: nil)
            #expect(try await state().state == "cued")
            try await broadcaster.do(
                .punch(
                    .init(key: BreakKey(stream: StreamID("radio1"), id: BreakID("cued")), start: .after(.seconds(2)))
                )
            )
            #expect(try await state().state == "announced")
            try await broadcaster.do(.cancel(BreakKey(stream: StreamID("radio1"), id: BreakID("cued"))))
            #expect(try await state().state == "cancelled")
        }
    }

    @Test func `the gateway is told with its numbers`() async throws {
        let clock = ManualClock()
        try await self.run(clock: clock) { running, peer in
            let listener = try await running.listener()
            _ = try await listener.join()
            try await running.broadcaster().publish("b", start: .now)
            running.metrics.count(.limitsHit, .limit(.streamsMax), by: 3)
            running.gateway.readiness.raise(.clock, "The wall clock is ahead.")
            let events = try EventConnection(peer, "/v1/events")
            let event = try await events.next("gateway")
            let document: GatewayEventDocument = try event.decoded()
            #expect(document.at == clock.now().description)
            #expect(document.listeners == 1 && document.listenersHTTP == 0)
            #expect(document.streams == 1 && document.breaksRunning == 1)
            let hit = try #require(document.limits.first)
            #expect(document.limits.count == 1)
            #expect(hit.limit == "streamsMax" && hit.refused == 3 && hit.max == BoardLimits.streamsMax)
            #expect(document.alarms == [RaisedAlarm(.clock, "The wall clock is ahead.")])
            #expect(document.draining == false)
            // What has no value is there, as null.
            #expect(event.data.contains(#""scheduleLateMicroseconds":null"#))
            running.metrics.observe(.appendSeconds, .milliseconds(2))
            _ = try await events.next("gateway") {
                let later: GatewayEventDocument = try $0.decoded()
                return later.latency.appendMicroseconds != nil && later.memoryBytes > 0 && later.descriptors.open > 0
            }
        }
    }

    @Test func `the funnel moves with what listeners do, and is what the report says`() async throws {
        try await self.run { running, peer in
            let events = try EventConnection(peer, "/v1/events?streams=radio1,radio2")
            func counts(where isWanted: (CountsEventDocument) -> Bool) async throws -> CountsEventDocument {
                while true {
                    let document: CountsEventDocument = try await events.next("counts").decoded()
                    if document.stream == "radio1", isWanted(document) { return document }
                }
            }
            let empty = try await events.next("counts") { $0.data.contains("radio1") }
            #expect(empty.data == #"{"break":null,"funnel":null,"listeners":0,"stream":"radio1"}"#)
            let (one, other) = (try await running.listener(), try await running.listener())
            _ = try await one.join()
            _ = try await other.join()
            _ = try await counts { $0.listeners == 2 }
            try await running.broadcaster().publish("b", start: .after(.seconds(5)))
            let announced = try await counts { $0.funnel != nil }
            #expect(announced.break == "b")
            #expect(announced.funnel?.notified == 2 && announced.funnel?.asked == 0)

            let batch = try await one.batch(of: "b")
            _ = try await other.batch(of: "b")
            let asked = try await counts { $0.funnel?.asked == 2 }
            #expect(asked.funnel?.delivered == 4 && asked.funnel?.unknown == 4)
            _ = try await one.ask(one.acknowledgement(of: batch, of: "b"))
            let played = try await counts { $0.funnel?.played == 2 }
            let report: ReportDocument = try await peer.get("/v1/reports/radio1/b").decoded()
            let (funnel, total) = (try #require(played.funnel), report.total)
            #expect(
                [funnel.delivered, funnel.played, funnel.ignored, funnel.failed, funnel.unknown]
                    == [total.delivered, total.played, total.ignored, total.failed, total.unknown]
            )
            #expect(funnel.asked == report.breaks.first?.sessions)
            #expect(funnel.notified == 2 && funnel.unknown == 2)
        }
    }

    @Test func `counts that stand still are told once, and the gateway goes on`() async throws {
        try await self.run { running, peer in
            let events = try EventConnection(peer, "/v1/events?streams=radio1,radio2")
            var told: [String] = []
            while told.count < 2 {
                told.append(try await events.next("counts").decoded(as: CountsEventDocument.self).stream)
            }
            #expect(told.sorted() == ["radio1", "radio2"])
            for _ in 0..<20 {
                var event = try #require(try await events.next())
                while event.name != "gateway" {
                    Issue.record("it was told again: \(event)")
                    event = try #require(try await events.next())
                }
            }
            _ = try await running.listener().join()
            let changed = try await events.next("counts").decoded(as: CountsEventDocument.self)
            #expect(changed.stream == "radio1" && changed.listeners == 1)
        }
    }

    @Test func `a new or returning reader gets the present counts before the gateway's state`() async throws {
        try await self.run { running, peer in
            let first = try EventConnection(peer, "/v1/events?streams=radio1")
            let second = try EventConnection(peer, "/v1/events?streams=radio1")
            for events in [first, second] {
                _ = try await events.next("counts") { $0.data.contains(#""listeners":0"#) }
            }
            try await running.broadcaster().publish("b", start: nil)
            let known = try await first.next("break").id
            _ = try await running.listener().join()
            // They share what was made.
            let changed = try await first.next("counts") { $0.data.contains(#""listeners":1"#) }
            #expect(try await second.next("counts") { $0.data.contains(#""listeners":1"#) }.data == changed.data)
            for (query, misses) in [("", false), ("&lastEventId=\(known)", false), ("&lastEventId=0:1", true)] {
                let events = try EventConnection(peer, "/v1/events?streams=radio1" + query)
                var event = try #require(try await events.next())
                if misses {
                    #expect(event.name == "resync")
                    event = try #require(try await events.next())
                }
                #expect(event.name == "counts" && event.decodedCounts?.listeners == 1)
            }
        }
    }

    @Test func `a reader that names streams gets only their breaks`() async throws {
        try await self.run { running, peer in
            let events = try EventConnection(peer, "/v1/events?streams=radio2")
            _ = try await events.next("gateway")
            let broadcaster = try await running.broadcaster()
            for (id, stream) in [("b1", "radio1"), ("b2", "radio2"), ("b3", "radio1")] {
                try await broadcaster.publish(id, of: stream, start: nil)
            }
            try await broadcaster.publish("last", of: "radio2", start: nil)
            var heard: [String] = []
            while heard.count < 2 { heard.append(try await events.next("break").decoded(as: Break.self).stream) }
            #expect(heard == ["radio2", "radio2"])
        }
    }

    // MARK: Coming back

    @Test func `a returning reader gets the missed events in order, and none twice`() async throws {
        try await self.run { running, peer in
            let broadcaster = try await running.broadcaster()
            let first = try EventConnection(peer, "/v1/events")
            _ = try await first.next("gateway")
            let begin = first.lastID
            try await broadcaster.publish("b0", start: nil)
            #expect(try await first.next("break").decoded(as: Break.self).break == "b0")
            let known = first.lastID
            #expect(known != begin)
            for number in 1...5 { try await broadcaster.publish("b\(number)", start: nil) }

            for (headers, query, expected) in [
                (["Last-Event-ID": known], "", ["b1", "b2", "b3", "b4", "b5"]),
                ([:], "?lastEventId=\(known)", ["b1", "b2", "b3", "b4", "b5"]),
                (["Last-Event-ID": begin], "", ["b0", "b1", "b2", "b3", "b4", "b5"]),
            ] as [([String: String], String, [String])] {
                let events = try EventConnection(peer, "/v1/events\(query)", headers: headers)
                var heard: [String] = []
                while heard.count < expected.count {
                    let event = try #require(try await events.next())
                    #expect(event.name != "resync")
                    if event.name == "break" { heard.append(try event.decoded(as: Break.self).break) }
                }
                #expect(heard == expected)
            }
            // A reader without a position gets no earlier events.
            let fresh = try EventConnection(peer, "/v1/events")
            _ = try await fresh.next("gateway")
            try await broadcaster.publish("b6", start: nil)
            #expect(try await fresh.next("break").decoded(as: Break.self).break == "b6")
        }
    }

    @Test(arguments: [
        "", "x", "1:1", "0:0", "18b6f3a2c4d5e6f7:1", "INSTANCE:99", "INSTANCE:18446744073709551615", "INSTANCE:x",
    ])
    func `an id that this run never gave leads to loading anew`(_ id: String) async throws {
        try await self.run { running, peer in
            let first = try EventConnection(peer, "/v1/events")
            _ = try await first.next("gateway")
            let instance = first.lastID.split(separator: ":")[0]
            let events = try EventConnection(
                peer,
                "/v1/events",
                headers: ["Last-Event-ID": id.replacing("INSTANCE", with: instance)]
            )
            let resync = try #require(try await events.next())
            #expect(resync.name == "resync")
            #expect(resync.data == "{}" && resync.id == first.lastID)
            // It goes on from there.
            try await running.broadcaster().publish("b", start: nil)
            #expect(try await events.next("break").decoded(as: Break.self).break == "b")
        }
    }

    @Test func `a connection that is cut off before its resync leaves the reader with the id that it had`() async throws
    {
        try await self.run { _, peer in
            for (headers, hasGap) in [(["Last-Event-ID": "0:1"], true), ([:], false)] as [([String: String], Bool)] {
                let connection = try peer.connect()
                try connection.send(HTTPPeer.request("/v1/events", headers: headers))
                // The head ends with an empty line too; the opening begins with the time to come back.
                var (text, opening) = ("", "")
                while opening.isEmpty {
                    let part = try await onThread { try connection.receive() }
                    guard !part.isEmpty else { throw HTTPPeer.Failure(what: "closed after \(text)") }
                    text += String(decoding: part.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
                    guard let begin = text.range(of: "retry: "),
                        let end = text.range(of: "\n\n", range: begin.upperBound..<text.endIndex)
                    else { continue }
                    opening = String(text[begin.lowerBound..<end.lowerBound])
                }
                #expect(opening.contains("id: ") == !hasGap, "\(opening)")
            }
        }
    }

    // MARK: Who may

    @Test func `a ticket is good once, where reading needs a token`() async throws {
        let clock = ManualClock(Parts.now)
        let workshop = try TokenWorkshop()
        let token = try await workshop.token(TokenWorkshop.claims(scope: "read"))
        try await self.run(clock: clock, access: try await workshop.access(.metrics)) { running, peer in
            #expect(try await peer.get("/v1/events").status == 401)
            #expect(try await peer.get("/v1/events?ticket=00112233445566778899aabbccddeeff").status == 401)
            #expect(try await peer.get("/v1/event-tickets", method: "POST").status == 401)
            let authorization = ["Authorization": "Bearer \(token)"]
            let ticket = try await Self.ticket(peer, headers: authorization)
            #expect(ticket.ticket.count == 32 && ticket.expires == (Parts.now + .seconds(30)).description)
            let events = try EventConnection(peer, "/v1/events?ticket=\(ticket.ticket)")
            _ = try await events.next("gateway")
            #expect(running.metrics.value(.httpAuthorizations, .ticket) == 1)
            let again = try await peer.get("/v1/events?ticket=\(ticket.ticket)")
            #expect(again.status == 401)
            #expect(try again.decoded(as: ProblemDocument.self).code == "UNAUTHORIZED")
            #expect(running.metrics.value(.httpAuthorizations, .ticket) == 2)
            let withToken = try EventConnection(peer, "/v1/events", headers: authorization)
            _ = try await withToken.next("gateway")
        }
    }

    @Test(arguments: [true, false])
    func `events end with the token by which they were asked for`(byTicket: Bool) async throws {
        let clock = ManualClock(Parts.now)
        let workshop = try TokenWorkshop()
        let token = try await workshop.token(TokenWorkshop.claims(scope: "read"))
        try await self.run(clock: clock, access: try await workshop.access(.metrics)) { _, peer in
            var headers = ["Authorization": "Bearer \(token)"]
            var target = "/v1/events"
            if byTicket {
                target += "?ticket=\(try await Self.ticket(peer, headers: headers).ticket)"
                headers = [:]
            }
            headers["Connection"] = "close"
            let events = try EventConnection(peer, target, headers: headers)
            _ = try await events.next("gateway")
            clock.advance(by: .seconds(60))
            while try await events.next() != nil {}
        }
    }

    @Test func `a ticket is over after half a minute`() async throws {
        let clock = ManualClock(Parts.now)
        try await self.run(clock: clock) { _, peer in
            let (first, second) = (try await Self.ticket(peer), try await Self.ticket(peer))
            #expect(first.ticket != second.ticket)
            clock.advance(by: .microseconds(29_999_999))
            let events = try EventConnection(peer, "/v1/events?ticket=\(first.ticket)")
            _ = try await events.next("gateway")
            clock.advance(by: .microseconds(1))
            #expect(try await peer.get("/v1/events?ticket=\(second.ticket)").status == 401)
        }
    }

    @Test func `there are as many tickets as may be, until they are used or over`() async throws {
        let clock = ManualClock(Parts.now)
        try await self.run(clock: clock) { running, peer in
            var last = ""
            for _ in 0..<EventTickets.ticketsMax { last = try await Self.ticket(peer).ticket }
            func ask() async throws -> HTTPPeer.Answer { try await peer.get("/v1/event-tickets", method: "POST") }
            let refused = try await ask()
            #expect(refused.status == 503)
            #expect(try refused.decoded(as: ProblemDocument.self).code == "LIMIT_REACHED")
            #expect(running.metrics.value(.limitsHit, .limit(.httpEventTicketsMax)) == 1)
            // HEAD uses a ticket up, like GET, and begins nothing.
            #expect(try await peer.get("/v1/events?ticket=\(last)", method: "HEAD").status == 200)
            #expect(try await ask().status == 200)
            #expect(try await ask().status == 503)
            clock.advance(by: .seconds(30))
            #expect(try await ask().status == 200)
        }
    }

    @Test func `tickets are told in no message`() async throws {
        try await self.run { running, peer in
            let ticket = try await Self.ticket(peer)
            _ = try await peer.get("/v1/events?ticket=\(ticket.ticket)", method: "HEAD")
            #expect(try await peer.get("/v1/events?ticket=\(ticket.ticket)").body.contains(ticket.ticket) == false)
            let told = running.logs.entries.map { "\($0.message) \($0.metadata)" }
            #expect(told.contains { $0.contains("/v1/events") && $0.contains("ticket") })
            #expect(!told.contains { $0.contains(ticket.ticket) })
        }
    }

    // MARK: Bounds

    @Test(arguments: [(50, 200), (51, 400)])
    func `as many streams may be named as there is a limit`(_ count: Int, _ status: Int) async throws {
        try await self.run { _, peer in
            let streams = (0..<count).map { "s\($0)" }.joined(separator: ",")
            let answer = try await peer.get("/v1/events?streams=\(streams)", method: "HEAD")
            #expect(answer.status == status)
        }
    }

    @Test(arguments: ["streams=", "streams=,", "streams=a,", "streams=%20", "ticket=", "stream=radio1"])
    func `a parameter that is not as it must be is told`(_ query: String) async throws {
        try await self.run { _, peer in
            let answer = try await peer.get("/v1/events?\(query)")
            #expect(answer.status == 400)
        }
    }

    @Test func `as many watch as may, and one more is refused while others are answered`() async throws {
        try await self.run {
            $0.eventReadersMax = 2
        } _: { running, peer in
            let first = try EventConnection(peer, "/v1/events")
            _ = try await first.next("gateway")
            do {
                let second = try EventConnection(peer, "/v1/events")
                _ = try await second.next("gateway")
                let third = try await peer.get("/v1/events")
                #expect(third.status == 503)
                #expect(try third.decoded(as: ProblemDocument.self).code == "LIMIT_REACHED")
                #expect(running.metrics.value(.limitsHit, .limit(.httpEventReadersMax)) == 1)
                #expect(try await peer.get("/healthz").status == 200)
                _ = try await second.next("gateway")
            }
            // The second has gone.
            try await until("there is room again") {
                try await EventConnection(peer, "/v1/events").head().hasPrefix("HTTP/1.1 200")
            }
            _ = try await first.next("gateway")
        }
    }

    @Test func `a reader that takes nothing is closed, and others hear on`() async throws {
        let hearsOn = Mutex(false)
        // Where a busy machine kept the other one from reading for so long, once more with more time.
        for seconds in [2, 8, 32, 128] where !hearsOn.withLock({ $0 }) {
            try await self.run {
                $0.exchangeTimeout = .seconds(seconds)
            } _: { running, peer in
                // Each event is so large that few of them fill what the system keeps for a peer.
                running.gateway.readiness.raise(.clock, String(repeating: "x", count: 50_000))
                let slow = try EventConnection(peer, "/v1/events")
                let other = try EventConnection(peer, "/v1/events")
                do {
                    _ = try await other.next("gateway")
                    while running.metrics.value(.connections, .http) > 1 { _ = try await other.next("gateway") }
                    _ = try await other.next("gateway")
                } catch {
                    return
                }
                hearsOn.withLock { $0 = true }
                while try await slow.next() != nil {}
                #expect(running.metrics.value(.httpExchangesCut, .stalled) >= 1)
            }
        }
        #expect(hearsOn.withLock { $0 })
    }

    @Test func `all who watch end when the server stops`() async throws {
        let kept = KeptConnection()
        try await self.run { running, peer in
            let events = try EventConnection(peer, "/v1/events?streams=radio1")
            _ = try await events.next("counts")
            await kept.keep(events)
        }
        let events = try #require(await kept.events)
        while try await events.next() != nil {}
    }
}

extension EventConnection.Event {
    /// `nil`: it is another event.
    fileprivate var decodedCounts: CountsEventDocument? { try? self.decoded() }
}

/// A connection that a test looks at after its server has stopped.
private actor KeptConnection {
    private(set) var events: EventConnection?

    func keep(_ events: EventConnection) { self.events = events }
}
