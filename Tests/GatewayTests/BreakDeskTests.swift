// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import Logging
import TestSupport
import Testing

@testable import Gateway

/// Requests of broadcasters that come by a caller inside the process: the same answers as on the broadcasters' socket.
@Suite(.suiteLimit)
struct BreakDeskTests {
    /// The ways by which a broadcaster asks.
    enum Way: CaseIterable {
        case socket
        case entrance
    }

    /// A caller, by one of the ways.
    struct Asker: Sendable {
        let way: Way
        let running: RunningGateway
        private let broadcaster: RawBroadcaster

        init(_ way: Way, _ running: RunningGateway) async throws {
            self.way = way
            self.running = running
            self.broadcaster = try await running.broadcaster()
        }

        func ask(_ kind: BroadcastRequest.Kind) async throws -> BroadcastReply.Body {
            switch self.way {
            case .socket: try await self.broadcaster.ask(kind)
            case .entrance: await self.running.call(kind).body
            }
        }
    }

    /// One step of a story: what happens first, and what is asked then.
    struct Step: Sendable {
        let name: String
        /// How far the clock goes on before it.
        var after: Duration = .zero
        let kind: BroadcastRequest.Kind
        /// How it is refused; `nil`: it is not.
        let status: StatusCode?

        init(_ name: String, after: Duration = .zero, _ kind: BroadcastRequest.Kind, _ status: StatusCode? = nil) {
            self.name = name
            self.after = after
            self.kind = kind
            self.status = status
        }
    }

    private static func publish(
        _ id: String,
        of stream: String = "radio1",
        start: BreakStart? = .after(.seconds(30)),
        duration: Duration? = .seconds(15),
        advertisements: [AdvertisementContent]? = nil,
        _ change: (inout BroadcastRequest.Publish) -> Void = { _ in }
    ) throws -> BroadcastRequest.Kind {
        var publish = BroadcastRequest.Publish(
            key: try .of(stream, id),
            start: start,
            duration: duration,
            advertisements: try advertisements ?? [.madeUp("a")]
        )
        change(&publish)
        return .publish(publish)
    }

    /// Every kind of request, and every reason why one is refused that does not depend on the log.
    private static func story() throws -> [Step] {
        let key = try BreakKey.of("radio1", "b1")
        return [
            Step("a list of nothing", .list(BroadcastRequest.List())),
            Step("a publication", try Self.publish("b1")),
            Step("the same once more", try Self.publish("b1")),
            Step("another duration", try Self.publish("b1", duration: .seconds(10)), .conflict),
            Step("part of its time", try Self.publish("b2", start: .after(.seconds(40))), .breakOverlap),
            Step("a start that is over", try Self.publish("b3", start: .at(Timestamp(microseconds: 1))), .startInPast),
            Step("a start far ahead", try Self.publish("b4", start: .after(.seconds(86_400))), .tooFarAhead),
            Step("too little lead", try Self.publish("b5", start: .now), .leadTimeTooShort),
            Step("no advertisement", try Self.publish("b6", advertisements: []), .invalid),
            Step("a duration of nothing", try Self.publish("b6", duration: .zero), .invalid),
            Step("a start and a hold", try Self.publish("b6") { $0.hold = .seconds(10) }, .invalid),
            Step("pre-stream with a start", try Self.publish("b6") { $0.preStream = true }, .invalid),
            Step(
                "an exact break into which nothing fits",
                try Self.publish("b6", start: .after(.seconds(100)), duration: .seconds(1)) { $0.exact = true },
                .invalid
            ),
            Step(
                "too many advertisements",
                try Self.publish("b7", advertisements: (0..<65).map { try .madeUp("ad-\($0)") }),
                .tooLarge
            ),
            Step("the break by its name", .list(BroadcastRequest.List(stream: key.stream, id: key.id))),
            Step("a punch of what is not cued", .punch(BroadcastRequest.Punch(key: key)), .wrongState),
            Step("a longer duration", .update(BroadcastRequest.Update(key: key, duration: .seconds(20)))),
            Step("the same duration", .update(BroadcastRequest.Update(key: key, duration: .seconds(20)))),
            Step("an update of nothing", .update(BroadcastRequest.Update(key: key)), .invalid),
            Step("an end before the start", .end(BroadcastRequest.End(key: key)), .wrongState),
            Step("an end while it plays", after: .seconds(35), .end(BroadcastRequest.End(key: key))),
            Step("the end once more", .end(BroadcastRequest.End(key: key))),
            Step("a cancellation of what is over", .cancel(key), .wrongState),
            Step("a cancellation of nothing", .cancel(try .of("radio1", "nothing")), .notFound),
            Step("a cued break", try Self.publish("cued", of: "radio2", start: nil)),
            Step("a punch", .punch(BroadcastRequest.Punch(key: try .of("radio2", "cued")))),
            Step("the punch once more", .punch(BroadcastRequest.Punch(key: try .of("radio2", "cued")))),
            Step("a cancellation", .cancel(try .of("radio2", "cued"))),
            Step("a list of all", .list(BroadcastRequest.List())),
        ]
    }

    @Test func `the same story has the same answers by either way`() async throws {
        let story = try Self.story()
        var answers: [Way: [BroadcastReply.Body]] = [:]
        for way in Way.allCases {
            var configuration = GatewayConfiguration.forTests
            configuration.breaks.leadTimeMin = .seconds(1)
            let clock = ManualClock()
            clock.set(to: Timestamp(microseconds: 1_800_000_000_000_000))
            let log = ControlledLog(InMemoryEventLog(), epoch: 7)
            try await withGateway(configuration: configuration, log: log, ledger: InMemoryLedger(), clock: clock) {
                running in
                let asker = try await Asker(way, running)
                for step in story {
                    if step.after > .zero {
                        clock.advance(by: step.after)
                        let key = try BreakKey.of("radio1", "b1")
                        try await until("it is announced") { running.board[key]?.record.phase == .announced }
                    }
                    let answer = try await asker.ask(step.kind)
                    #expect(answer.refusal?.status == step.status, "\(step.name): \(answer)")
                    answers[way, default: []].append(answer)
                }
                let refused = story.compactMap(\.status)
                for status in Set(refused) {
                    #expect(
                        running.metrics.value(.refusals, .status(status)) == refused.filter { $0 == status }.count
                    )
                }
            }
        }
        for (index, step) in story.enumerated() {
            #expect(answers[.socket]?[index] == answers[.entrance]?[index], "\(step.name)")
        }
    }

    @Test func `a log that is full or fails refuses by either way`() async throws {
        for way in Way.allCases {
            let station = Station()
            try await station.runByHand { running in
                let asker = try await Asker(way, running)
                #expect(try await asker.ask(try Self.publish("b1")).info != nil)
                station.log.set(usage: LogUsage(bytes: 100, bytesMax: 100))
                #expect(try await asker.ask(try Self.publish("b2", of: "radio2")).refusal == .logFull)
                // What ends a break may use what is left.
                #expect(try await asker.ask(.cancel(try .of("radio1", "b1"))).info?.state == .cancelled)
                station.log.set(usage: nil)
                station.log.set(.breaks, .failing)
                #expect(try await asker.ask(try Self.publish("b3", of: "radio3")).refusal == .logUnavailable)
                #expect(running.metrics.value(.limitsHit, .limit(.logBytesMax)) == 1)
            }
        }
    }

    @Test func `more than may wait for the log is refused by either way`() async throws {
        for way in Way.allCases {
            var station = Station()
            station.configuration.limits[.entriesWaitingMax] = 2
            try await station.runByHand { running in
                let asker = try await Asker(way, running)
                let appends = station.log.appendCount(of: .breaks)
                station.log.set(.breaks, .holding)
                // At most one is with the log and two wait, whatever the gateway itself records beside them. What comes together would
                // go to the log together: the log has something before the second is asked for.
                var asked: [Task<BroadcastReply.Body, any Error>] = []
                for number in 1...4 {
                    let kind = try Self.publish("b\(number)", of: "radio\(number)")
                    asked.append(Task { try await asker.ask(kind) })
                    try await until("it is decided") { running.metrics.value(.broadcastRequests, .publish) == number }
                    try await until("the log is busy") { station.log.appendCount(of: .breaks) > appends }
                }
                try await until("one is refused") { running.metrics.value(.refusals, .status(.unavailable)) >= 1 }
                station.log.set(.breaks, .passing)
                var answers: [BroadcastReply.Body] = []
                for each in asked { answers.append(try await each.value) }
                #expect(answers.contains { $0.refusal == .logBehind })
                #expect(answers.contains { $0.info != nil })
                #expect(running.metrics.value(.limitsHit, .limit(.entriesWaitingMax)) >= 1)
            }
        }
    }

    @Test func `a message that no frame could be is refused and not decided`() async throws {
        let large = try (0..<64)
            .map { number in
                var each = try AdvertisementContent.madeUp("ad-\(number)")
                each.trackers = (0..<5)
                    .map { _ in
                        .init(event: "complete", url: "https://t.example/" + String(repeating: "x", count: 4_000))
                    }
                return each
            }
        try await Station()
            .runByHand { running in
                let kind = try Self.publish("b1", advertisements: large)
                #expect(BroadcastRequest(id: 1, kind: kind).encoded().count > WireLimits.broadcastFrameBytesMax)
                let refusal = try #require(await running.call(kind).body.refusal)
                #expect(refusal.status == .tooLarge)
                #expect(refusal.sentence.contains("broadcastFrameBytesMax"))
                #expect(running.metrics.value(.broadcastRequests, .undecodable) == 1)
                #expect(running.metrics.value(.broadcastRequests, .publish) == 0)
            }
    }

    @Test func `one way sees what the other did, and a repeat by the other is a repeat`() async throws {
        try await Station()
            .runByHand { running in
                let (socket, entrance) = (try await Asker(.socket, running), try await Asker(.entrance, running))
                let first = try await socket.ask(try Self.publish("b1"))
                #expect(try await entrance.ask(try Self.publish("b1")) == first)
                #expect(try await entrance.ask(.cancel(try .of("radio1", "b1"))).info?.state == .cancelled)
                #expect(
                    try await socket.ask(.list(BroadcastRequest.List())) == entrance.ask(.list(BroadcastRequest.List()))
                )
                // One entry of the publication, one of the cancellation.
                #expect(running.metrics.value(.breakEntries, .changed) == 2)
            }
    }

    @Test func `the caller and its address are in the log of messages and in the record`() async throws {
        let station = Station()
        try await station.runByHand { running in
            let answer = await running.call(
                try Self.publish("b1"),
                by: BroadcastPrincipal(name: "studio", streams: [.every]),
                from: RequestOrigin(.http, address: "192.0.2.7", requestID: "abc")
            )
            #expect(answer.requestID == 77)
            #expect(answer.body.info?.broadcaster == "studio")
            #expect(try await station.memory.breakGroups().first?.entries.first?.broadcaster == "studio")
            let line = try #require(running.logs.entries.first { $0.metadata["kind"] == "publish" })
            #expect(line.metadata["by"] == "studio")
            #expect(line.metadata["requestId"] == "abc")
            #expect(line.metadata["entrance"] == "http")
        }
    }

    @Test func `as many calls wait as may, one more is refused, and who left still counts`() async throws {
        var station = Station()
        station.configuration.limits[.broadcastCallsWaitingMax] = 3
        try await station.runByHand { running in
            station.log.set(.breaks, .holding)
            let calls = try (1...3)
                .map { number in
                    let kind = try Self.publish("b\(number)", of: "radio\(number)")
                    return Task { await running.call(kind) }
                }
            try await until("three are decided") { running.metrics.value(.broadcastRequests, .publish) == 3 }
            calls[0].cancel()
            let left = try #require(await calls[0].value.body.refusal)
            #expect(left.status == .unavailable)
            let refusal = try #require(await running.call(.list(BroadcastRequest.List())).body.refusal)
            #expect(refusal.status == .limitReached)
            #expect(refusal.sentence.contains("broadcastCallsWaitingMax"))
            #expect(running.metrics.value(.limitsHit, .limit(.broadcastCallsWaitingMax)) == 1)
            #expect(running.metrics.value(.broadcastRequests, .list) == 0)

            station.log.set(.breaks, .passing)
            for call in calls.dropFirst() { #expect(await call.value.body.info?.state == .scheduled) }
            // What was asked by who left is done all the same, and counts no longer.
            try await until("the first is there") { running.board.breakCount == 3 }
            try await until("there is room again") {
                await running.call(.list(BroadcastRequest.List())).body.refusal == nil
            }
        }
    }

    @Test func `calls wait up to a limit in bytes`() async throws {
        let kind = try Self.publish("b1")
        let bytes = BroadcastRequest(id: 77, kind: kind).encoded().count
        for (fits, most) in [(true, bytes), (false, bytes - 1)] {
            var station = Station()
            station.configuration.limits[.broadcastCallBytesWaitingMax] = most
            try await station.runByHand { running in
                let body = await running.call(kind).body
                #expect((body.info != nil) == fits)
                #expect(body.refusal.map { $0.sentence.contains("broadcastCallBytesWaitingMax") } ?? fits)
                #expect(running.metrics.value(.limitsHit, .limit(.broadcastCallBytesWaitingMax)) == (fits ? 0 : 1))
            }
        }
    }

    @Test func `a caller that was cancelled before it asked gets an answer too`() async throws {
        try await Station()
            .runByHand { running in
                let kind = try Self.publish("b1")
                let call = Task {
                    while !Task.isCancelled { await Task.yield() }
                    return await running.call(kind)
                }
                call.cancel()
                // Answered, or left: it depends on who was faster; the gateway goes on either way.
                _ = await call.value
                try await until("the break is there") { running.board.breakCount == 1 }
            }
    }

    @Test func `while the gateway stops new calls are refused, and what was accepted is answered`() async throws {
        let station = Station()
        let running = try await station.runByHand { running in
            station.log.set(.breaks, .holding)
            let kind = try Self.publish("b1")
            let accepted = Task { await running.call(kind) }
            try await until("it is with the log") { station.log.appendCount(of: .breaks) == 1 }
            await running.beginShutdown()
            try await until("it is not ready any more") { running.gateway.readiness.missing == [.sockets] }
            #expect(await running.call(.list(BroadcastRequest.List())).body.refusal?.status == .draining)
            station.log.set(.breaks, .passing)
            #expect(await accepted.value.body.info?.state == .scheduled)
            return running
        }
        #expect(await running.call(.list(BroadcastRequest.List())).body.refusal?.status == .draining)
    }

    @Test func `a gateway that stops without an answer of the log tells who waits`() async throws {
        var station = Station()
        station.configuration.drainTimeout = .milliseconds(50)
        let call = try await station.runByHand { running in
            station.log.set(.breaks, .holding)
            let kind = try Self.publish("b1")
            let call = Task { await running.call(kind) }
            try await until("it is with the log") { station.log.appendCount(of: .breaks) == 1 }
            return call
        }
        let reply = await call.value
        #expect(reply.body.refusal?.status == .draining)
        #expect(reply.requestID == 77)
        station.log.set(.breaks, .passing)
    }

    @Test func `each caller is answered once, while others answer, leave and close`() async throws {
        for round in 0..<200 {
            let calls = BroadcastCalls(callsMax: 8, bytesMax: 1_000)
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<8 {
                    guard case .begun(let number) = calls.begin(UInt64(index), bytes: 1) else {
                        Issue.record("there was room")
                        return
                    }
                    let waiter = Task { await calls.answer(to: number) }
                    group.addTask { _ = await waiter.value }
                    if index % 2 == 0 { group.addTask { waiter.cancel() } }
                    let body = BroadcastReply.Body.refused(.draining)
                    group.addTask {
                        if index % 3 != 0 || round % 2 == 0 {
                            let reply = BroadcastReply(
                                requestID: 0,
                                gatewayTime: Timestamp(microseconds: 0),
                                body: body
                            )
                            calls.answer(number, reply)
                        }
                    }
                }
                group.addTask { if round % 2 == 1 { calls.close(at: Timestamp(microseconds: 0)) } }
            }
            #expect(calls.openCount == 0)
        }
    }
}

extension RunningGateway {
    /// Asks as a caller inside the process.
    fileprivate func call(
        _ kind: BroadcastRequest.Kind,
        by principal: BroadcastPrincipal = .anybody,
        from origin: RequestOrigin = RequestOrigin(.http, address: "127.0.0.1")
    ) async -> BroadcastReply {
        let request = CheckedBroadcastRequest(BroadcastRequest(id: 77, kind: kind))
        return await self.gateway.breakDesk.ask(request, by: principal, from: origin)
    }
}
