// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastTesting
import CuecastWire
import GatewayCore
import Testing

@_spi(Diagnostics) @_spi(Transports) @testable import Cuecast

@Suite(.suiteLimit)
struct ListenerCoreTests {
    /// The steps of a core on its connections, in a few words.
    private func steps(_ bench: CoreBench) -> [String] {
        bench.actions.compactMap { action in
            switch action {
            case .connect: return "connect"
            case .subscribe(let topic): return "+" + String(decoding: topic.dropLast(), as: UTF8.self)
            case .unsubscribe(let topic): return "-" + String(decoding: topic.dropLast(), as: UTF8.self)
            case .send(let frame):
                guard case .join(let join) = (try? ListenerRequest(decoding: frame))?.kind else { return nil }
                return join.push ? "join with push" : "join"
            default: return nil
            }
        }
    }

    @Test func `a session subscribes, proves it, and joins with what the gateway needs to know`() throws {
        var bench = try CoreBench(headInterval: .seconds(600), by: .subscribed) {
            $0.delay = .seconds(5)
            $0.delayMax = .seconds(60)
            $0.attributes = ["device": "car"]
            $0.client = "radio app/3"
        }
        bench.listen()
        #expect(bench.sent.count == 1)
        guard case .join(let join) = bench.sent.first?.kind else { return #expect(Bool(false)) }
        #expect(join.stream == stream() && join.last == nil && join.instance == 100 && !join.push)
        #expect(join.delay == ListenerDelay(now: .seconds(5), max: .seconds(60)))
        #expect(join.attributes == ["device": "car"] && join.client == "radio app/3")
        #expect(bench.core.connectionState == .listening)
        #expect(self.steps(bench) == ["connect", "+radio1", "+~sync", "-~sync", "join"])
    }

    @Test func `an announced break has the trace of its notice, as the header writes it`() throws {
        var bench = try CoreBench(headInterval: .seconds(600))
        bench.listen()
        for (sequence, name, trace) in [
            (1, "traced", TraceContext(traceHigh: 1, traceLow: 2, span: 3)), (2, "plain", nil),
        ] as [(UInt64, String, TraceContext?)] {
            var told = notice(sequence, break: name, start: 60)
            told.trace = trace
            bench.receive(told)
        }
        let announced = bench.events.compactMap { if case .announced(let it) = $0 { it } else { nil } }
        #expect(
            announced.map(\.traceparent) == ["00-00000000000000010000000000000002-0000000000000003-01", nil]
        )
    }

    @Test func `on one connection a session joins at once, and asks for the notices with it`() throws {
        var bench = try CoreBench(headInterval: .seconds(600)) { $0.attributes = ["device": "car"] }
        bench.listen()
        guard case .join(let join) = bench.sent.first?.kind else { return #expect(Bool(false)) }
        #expect(join.push && join.instance == 0 && join.last == nil && join.attributes == ["device": "car"])
        #expect(bench.core.connectionState == .listening)
        #expect(self.steps(bench) == ["connect", "join with push"])
        #expect(bench.push == .taken(session: bench.core.session, stream: stream()))
    }

    @Test func `a gateway that does not push is subscribed to on the same connection, in the same session`() throws {
        var bench = try CoreBench(headInterval: .seconds(600), by: .fellBack)
        _ = try bench.publish("pre", [content("p")], holdUntil: gateway(600), preStream: true, at: gateway(0))
        bench.step { $0.start(now: $1) }
        bench.receive(.connected)
        #expect(bench.core.connectionState == .subscribing)
        #expect(!bench.events.contains { if case .joined = $0 { true } else { false } })
        // What changes before the subscription is proven is in the answer to the second join.
        _ = try bench.publish("b1", [content("a")], start: gateway(100), at: gateway(0))
        bench.tick(bench.gateway.instance)
        #expect(bench.core.connectionState == .listening)
        #expect(
            self.steps(bench) == ["connect", "join with push", "+radio1", "+~sync", "-~sync", "join"]
        )
        bench.advance(to: 1)
        let batches = bench.requests.compactMap { if case .getBatch(let get) = $0.kind { get.key.id } else { nil } }
        #expect(Set(batches) == [breakID("pre"), breakID("b1")] && batches.count == 2)
        #expect(Set(bench.requests.map(\.session)).count == 1)
        #expect(bench.requests[1].ticket == bench.ticket, "the second join is of the session that the first began")
        // On later connections it is not asked for again.
        bench.actions = []
        bench.receive(.closed(reason: "reset"))
        bench.advance(to: 2)
        bench.connect()
        #expect(self.steps(bench) == ["connect", "+radio1", "+~sync", "-~sync", "join"])
        #expect(bench.requests.count { if case .getBatch = $0.kind { true } else { false } } == 2)
    }

    @Test func `a join with push that the gateway calls invalid is made without`() throws {
        var bench = try CoreBench()
        bench.refuse = { request in
            guard case .join(let join) = request.kind, join.push else { return nil }
            return Refusal(.invalid, "A REQ socket cannot take notices.")
        }
        bench.listen()
        #expect(bench.core.connectionState == .listening)
        #expect(
            self.steps(bench) == ["connect", "join with push", "+radio1", "+~sync", "-~sync", "join"]
        )
        var refused = try CoreBench()
        refused.refuse = { _ in Refusal(.invalid, "No.") }
        refused.listen()
        #expect(refused.core.connectionState == .refused(reason: "INVALID: No."))
        #expect(refused.sent.count == 2)
    }

    @Test func `a notice pushed before the answer waits for it`() throws {
        var bench = try CoreBench(headInterval: .seconds(600))
        bench.answers = false
        bench.listen()
        let join = try #require(bench.sent.first)
        let reply = bench.answer(join, at: gateway(0))
        let first = try bench.publish("b1", [content("a")], start: gateway(100), at: gateway(0))
        bench.receive(first)
        #expect(bench.core.book.entries.isEmpty)
        bench.receive(.reply(reply))
        #expect(bench.core.book.entries.count == 1 && bench.core.connectionState == .listening)
        bench.receive(first)
        #expect(bench.core.conversation.follower.last == bench.gateway.head)
    }

    @Test func `messages of the transport that are neither notices nor replies are told`() throws {
        var bench = try CoreBench()
        bench.listen()
        bench.receive(.messagesDropped(3))
        let told = bench.events.compactMap { if case .notUnderstood(let what) = $0 { what } else { nil } }
        #expect(told.count == 1 && told.first?.hasSuffix(": 3") == true)
        #expect(bench.core.connectionState == .listening)
    }

    @Test(arguments: NoticePath.allCases)
    func `a break is announced, fetched, held, queued, played and acknowledged`(path: NoticePath) throws {
        var bench = try CoreBench(headInterval: .seconds(600), by: path)
        bench.listen()
        let window = RequestWindow(from: gateway(1), by: gateway(6))
        let ads = [content("a"), content("b")]
        let notice = try bench.publish(
            "b1",
            ads,
            start: gateway(8),
            window: window,
            at: gateway(0)
        )
        bench.receive(notice)
        bench.advance(to: 0.99)
        #expect(bench.delivered("b1") == 0)
        bench.advance(to: 6)
        #expect(bench.delivered("b1") == 2)
        bench.expectNext(nil, at: local(6))
        #expect(bench.count { if case .tellAvailable = $0 { true } else { false } } == 0)
        bench.advance(to: 8)
        #expect(bench.count { if case .tellAvailable = $0 { true } else { false } } == 1)
        let firstHandedOut = bench.next(at: local(8))
        let first = try #require(firstHandedOut)
        #expect(first.adID == "a")
        bench.advance(to: 18)
        let secondHandedOut = bench.next(at: local(18))
        let second = try #require(secondHandedOut)
        bench.step { $0.report(.completed, second, now: $1) }
        bench.advance(to: 19)
        let outcomes = bench.outcomes
        #expect(outcomes[first.key]?.map(\.evidence) == [.inferred])
        #expect(outcomes[second.key]?.map(\.evidence) == [.reported])
        #expect(bench.core.acknowledgements.count == 0)
        #expect(bench.events.contains { if case .acknowledged("b1", ["b"]) = $0 { true } else { false } })
        let tickets = bench.requests.map(\.ticket)
        #expect(tickets.first?.isEmpty == true && tickets.dropFirst().allSatisfy { $0 == bench.ticket })
    }

    @Test func `a ticket that is not taken any more is renewed by another join`() throws {
        var bench = try CoreBench()
        bench.listen()
        bench.refuse = { request in
            guard case .getBatch = request.kind else { return nil }
            return Refusal(.notAllowed, "The ticket ended.")
        }
        bench.receive(try bench.publish("b1", [content("a")], start: gateway(40), at: gateway(0)))
        bench.advance(to: 1)
        #expect(bench.core.connectionState != .listening)
        bench.refuse = { _ in nil }
        bench.connect()
        bench.advance(to: 10)
        func joins() -> Int { bench.sent.count(where: { if case .join = $0.kind { true } else { false } }) }
        func batches() -> Int { bench.sent.count(where: { if case .getBatch = $0.kind { true } else { false } }) }
        #expect(joins() == 2 && batches() == 2)
        let sent = bench.sent.filter { if case .join = $0.kind { true } else { false } }
        let isWithout = sent.allSatisfy { $0.ticket.isEmpty }
        #expect(isWithout, "a ticket that was refused is not shown again")
        bench.advance(to: 40)
        bench.expectNext("a", at: local(40))
    }

    @Test(arguments: NoticePath.allCases)
    func `events of an earlier connection do not count`(path: NoticePath) throws {
        var bench = try CoreBench(by: path)
        bench.listen()
        bench.receive(.closed(reason: "reset"))
        bench.advance(to: 1)
        #expect(bench.core.conversation.connection.attempt == 2)
        bench.step { $0.transport(.connected, attempt: 1, now: $1) }
        #expect(bench.core.connectionState == .connecting)
        bench.step { $0.transport(.closed(reason: "late"), attempt: 1, now: $1) }
        #expect(bench.core.connectionState == .connecting)
    }

    @Test(arguments: NoticePath.allCases)
    func `a reconnect joins with the last position and gets what was missed`(path: NoticePath) throws {
        var bench = try CoreBench(by: path)
        bench.listen()
        bench.receive(.closed(reason: "reset"))
        _ = try bench.publish("b1", [content("a")], start: gateway(20), at: gateway(0))
        bench.advance(to: 1)
        bench.connect()
        guard case .join(let join) = bench.sent.last(where: { if case .join = $0.kind { true } else { false } })?.kind
        else {
            return #expect(Bool(false))
        }
        #expect(join.last == position(0))
        #expect(bench.events.contains { if case .joined(.recovered(notices: 1)) = $0 { true } else { false } })
        #expect(bench.core.book.entries.count == 1)
    }

    @Test(arguments: NoticePath.allCases)
    func `a gap leads to a join within a quarter of a second`(path: NoticePath) throws {
        var bench = try CoreBench(by: path)
        bench.listen()
        let missed = try bench.publish(
            "b1",
            [content("a")],
            start: gateway(20),
            at: gateway(0)
        )
        _ = missed
        bench.receive(.head(bench.gateway.head, sent: gateway(1)))
        bench.advance(to: 0.26)
        #expect(bench.core.conversation.follower.last == bench.gateway.head)
        #expect(bench.events.contains { if case .positionLost(.gap) = $0 { true } else { false } })
    }

    @Test(arguments: NoticePath.allCases)
    func `silence is a lost connection`(path: NoticePath) throws {
        var bench = try CoreBench(by: path)
        bench.listen()
        // The position is repeated every 5 s to subscribers and every 15 s to others.
        let limit = path == .pushed ? 37.5 : 12.5
        bench.advance(to: limit - 0.1)
        #expect(bench.core.connectionState == .listening)
        bench.advance(to: limit)
        #expect(bench.core.connectionState != .listening)
    }

    @Test func `frames that are not ours are told and change nothing`() throws {
        var bench = try CoreBench()
        bench.listen()
        bench.receive(.notice([1, 2, 3]))
        bench.receive(.reply([0xFF, 0xFF]))
        bench.receive(.notice(Array("radio1".utf8) + [0, 0xFF]))
        #expect(bench.events.count { if case .notUnderstood = $0 { true } else { false } } == 3)
        #expect(bench.core.connectionState == .listening)
    }

    @Test func `notices of another stream are not ours`() throws {
        var bench = try CoreBench()
        bench.listen()
        let other = NoticeFrame.notice(notice(1), stream: stream("radio10")).encoded()
        bench.receive(.notice(other))
        #expect(bench.core.book.entries.isEmpty && bench.core.connectionState == .listening)
    }

    @Test func `a request without a reply is asked again with another id in the same session`() throws {
        var bench = try CoreBench()
        bench.answers = false
        bench.listen()
        bench.advance(to: 5.3)
        #expect(bench.sent.count == 2)
        #expect(Set(bench.sent.map(\.id)).count == 2)
        #expect(Set(bench.sent.map(\.session)).count == 1)
        // The first one's reply is stale by now: the second is still waited for.
        let stale = bench.answer(bench.sent[0], at: gateway(5.3))
        bench.receive(.reply(stale))
        #expect(bench.core.connectionState == .joining)
        bench.receive(.reply(bench.answer(bench.sent[1], at: gateway(5.3))))
        #expect(bench.core.connectionState == .listening)
    }

    @Test(arguments: NoticePath.allCases)
    func `three requests without a reply connect anew`(path: NoticePath) throws {
        var bench = try CoreBench(by: path)
        bench.answers = false
        bench.listen()
        bench.advance(to: 17)
        #expect(bench.core.conversation.connection.attempt == 2)
    }

    @Test func `a final refusal ends it, a passing one is tried again`() throws {
        var refused = try CoreBench()
        refused.refuse = { _ in Refusal(.notAllowed, "This stream needs a token.") }
        refused.listen()
        #expect(refused.core.connectionState == .refused(reason: "NOT_ALLOWED: This stream needs a token."))
        #expect(refused.count { if case .preStreamSettled = $0 { true } else { false } } == 1)
        refused.advance(to: 100)
        #expect(refused.sent.count == 1)

        var busy = try CoreBench()
        busy.refuse = { _ in Refusal(.rateLimited, "Slowly.", retryAfter: .seconds(1)) }
        busy.listen()
        busy.refuse = { _ in nil }
        busy.advance(to: 0.9)
        #expect(busy.core.connectionState == .joining)
        busy.advance(to: 1.3)
        #expect(busy.core.connectionState == .listening)
    }

    @Test(arguments: NoticePath.allCases)
    func `a draining gateway is left`(path: NoticePath) throws {
        var bench = try CoreBench(by: path)
        bench.refuse = { _ in Refusal(.draining, "Stopping.") }
        bench.listen()
        guard case .waiting = bench.core.connectionState else { return #expect(Bool(false)) }
    }

    @Test(arguments: NoticePath.allCases)
    func `a token is carried by the join, and a refused one asked for anew`(path: NoticePath) throws {
        var bench = try CoreBench(by: path) { $0.tokenProvider = { "unused: the bench answers" } }
        bench.refuse = { _ in Refusal(.notAllowed, "The token has expired.") }
        bench.listen()
        #expect(bench.sent.isEmpty)
        bench.step { $0.tokenGiven("old", attempt: 1, now: $1) }
        guard case .waiting = bench.core.connectionState else { return #expect(Bool(false)) }
        bench.refuse = { _ in nil }
        bench.advance(to: 1)
        bench.connect()
        bench.step { $0.tokenGiven("new", attempt: 2, now: $1) }
        bench.tick(bench.gateway.instance)
        let tokens = bench.sent.compactMap { if case .join(let join) = $0.kind { join.token } else { nil } }
        // A gateway that does not push answers the first join that it takes without push, and gets another with the same token.
        #expect(tokens == (path == .fellBack ? ["old", "new", "new"] : ["old", "new"]))
        #expect(bench.core.connectionState == .listening)
    }

    @Test func `a token of 4096 bytes is taken and one of 4097 is not`() throws {
        for (count, isTaken) in [(4_096, true), (4_097, false)] {
            var bench = try CoreBench { $0.tokenProvider = { "" } }
            bench.listen()
            bench.step { $0.tokenGiven(String(repeating: "t", count: count), attempt: 1, now: $1) }
            #expect((bench.core.connectionState == .listening) == isTaken)
        }
    }

    @Test func `the clock is sampled within a minute of silence, and sooner while it is not good`() throws {
        var bench = try CoreBench(headInterval: .seconds(600))
        bench.listen()
        bench.advance(to: 59)
        #expect(bench.sent.count == 1)
        bench.advance(to: 61)
        #expect(bench.sent.last?.kind == .getTime)
        let before = bench.sent.count
        // A slow network: the reply to the next sample takes a second.
        bench.answers = false
        bench.advance(to: 121)
        guard let slow = bench.sent.last else { return }
        bench.now = local(122)
        bench.receive(.reply(bench.answer(slow, at: gateway(121.5))))
        bench.answers = true
        #expect(bench.sent.count == before + 1)
    }

    // MARK: Before the stream

    @Test func `after the device slept the clock is sampled at once`() throws {
        var bench = try CoreBench(headInterval: .seconds(6_000))
        bench.listen()
        bench.advance(to: 10)
        func samples(_ bench: CoreBench) -> Int {
            bench.sent.count { if case .getTime = $0.kind { true } else { false } }
        }
        let before = samples(bench)
        bench.step { $0.wake(now: $1) }
        #expect(samples(bench) == before)
        bench.step { $0.woke(now: $1) }
        #expect(samples(bench) == before + 1)
    }

    @Test(arguments: NoticePath.allCases)
    func `start returns when what plays before the stream is queued`(path: NoticePath) throws {
        var bench = try CoreBench(by: path)
        _ = try bench.publish(
            "pre",
            [content("p")],
            holdUntil: gateway(600),
            preStream: true,
            at: gateway(0)
        )
        bench.listen()
        #expect(bench.count { if case .preStreamSettled = $0 { true } else { false } } == 1)
        #expect(bench.core.queue.isWaitingForApp)
        bench.receive(.closed(reason: "reset"))
        bench.advance(to: 1)
        bench.connect()
        #expect(bench.requests.count { if case .getBatch = $0.kind { true } else { false } } == 1)
    }

    @Test func `start returns at once where nothing plays before the stream, and after two seconds in any case`() throws
    {
        var nothing = try CoreBench()
        nothing.listen()
        #expect(nothing.count { if case .preStreamSettled = $0 { true } else { false } } == 1)
        var silent = try CoreBench()
        silent.answers = false
        silent.listen()
        silent.advance(to: 1.99)
        #expect(silent.count { if case .preStreamSettled = $0 { true } else { false } } == 0)
        silent.advance(to: 2)
        #expect(silent.count { if case .preStreamSettled = $0 { true } else { false } } == 1)
    }

    @Test func `a break that starts during the pre-roll waits and is trimmed`() throws {
        var bench = try CoreBench()
        let pre = [content("p", seconds: 15)]
        _ = try bench.publish("pre", pre, holdUntil: gateway(600), preStream: true, at: gateway(0))
        bench.listen()
        bench.expectNext("p", at: local(0))
        bench.step { _, _ in }
        let ads = [content("a"), content("b"), content("c")]
        try bench.receive(bench.publish("b1", ads, start: gateway(2), at: gateway(0)))
        bench.advance(to: 5)
        bench.expectNext(nil, at: local(5))
        bench.advance(to: 15)
        bench.expectNext("b", at: local(15))
        bench.step { _, _ in }
        #expect(bench.core.queue.batches.flatMap(\.advertisements).map(\.adID) == ["c"])
    }

    // MARK: Time shift

    @Test func `a delay is carried by the request for the batch and moves the break`() throws {
        var bench = try CoreBench {
            $0.delay = .seconds(30)
            $0.delayMax = .seconds(60)
        }
        bench.listen()
        try bench.receive(
            bench.publish("b1", [content("a")], start: gateway(5), at: gateway(0))
        )
        bench.advance(to: 1)
        let delays = bench.sent.compactMap { if case .getBatch(let get) = $0.kind { get.delay } else { nil } }
        #expect(delays == [ListenerDelay(now: .seconds(30), max: .seconds(60))])
        bench.advance(to: 34.9)
        #expect(!bench.core.queue.isWaitingForApp)
        bench.advance(to: 35)
        #expect(bench.core.queue.isWaitingForApp)
    }

    @Test func `catching up fires a break with the remainder`() throws {
        var bench = try CoreBench(headInterval: .seconds(600)) { $0.delayMax = .seconds(60) }
        bench.listen()
        bench.step { core, now in core.changeDelay(now: now) { $0.set(delay: .seconds(60), now: now) } }
        let ads = [content("a"), content("b"), content("c")]
        try bench.receive(bench.publish("b1", ads, start: gateway(5), at: gateway(0)))
        bench.advance(to: 27)
        bench.step { core, now in core.changeDelay(now: now) { $0.set(delay: .zero, now: now) } }
        #expect(bench.core.queue.batches.flatMap(\.advertisements).map(\.adID) == ["c"])
        let skipped = bench.events.compactMap { event -> String? in
            guard case .outcome(let outcome) = event, outcome.result == .ignored(.skippedOver) else { return nil }
            return outcome.advertisement.adID
        }
        #expect(skipped == ["a", "b"])
    }

    // MARK: Stopping

    @Test func `stopping tells what is to be told, leaves, and ends`() throws {
        var bench = try CoreBench()
        bench.listen()
        try bench.receive(
            bench.publish("b1", [content("a")], start: gateway(0), at: gateway(0))
        )
        let advertisementHandedOut = bench.next(at: local(0))
        let advertisement = try #require(advertisementHandedOut)
        bench.step { $0.report(.started, advertisement, now: $1) }
        bench.now = local(4)
        bench.step { $0.stop(now: $1) }
        #expect(bench.outcomes[advertisement.key]?.map(\.heard) == [.seconds(4)])
        #expect(bench.sent.last?.kind == .leave(stream()))
        #expect(bench.count { if case .stopped = $0 { true } else { false } } == 1)
        #expect(bench.count { if case .disconnect = $0 { true } else { false } } == 1)
        #expect(bench.core.nextWake(now: local(4)) == nil)
    }

    @Test func `a gateway that does not answer does not keep the listener from stopping`() throws {
        var bench = try CoreBench()
        bench.listen()
        bench.answers = false
        bench.step { $0.stop(now: $1) }
        #expect(bench.count { if case .stopped = $0 { true } else { false } } == 0)
        bench.advance(to: 0.7)
        #expect(bench.count { if case .stopped = $0 { true } else { false } } == 1)
    }

    @Test func `stopping without a connection, twice, or before starting ends at once`() throws {
        var waiting = try CoreBench()
        waiting.step { $0.start(now: $1) }
        waiting.step { $0.stop(now: $1) }
        waiting.step { $0.stop(now: $1) }
        #expect(waiting.count { if case .stopped = $0 { true } else { false } } == 1)
        var created = try CoreBench()
        created.step { $0.stop(now: $1) }
        #expect(created.count { if case .stopped = $0 { true } else { false } } == 1)
        #expect(created.count { if case .preStreamSettled = $0 { true } else { false } } == 1)
        created.step { $0.start(now: $1) }
        #expect(created.count { if case .connect = $0 { true } else { false } } == 0)
    }

    @Test func `nothing is handed out or taken after stopping`() throws {
        var bench = try CoreBench()
        bench.listen()
        try bench.receive(
            bench.publish(
                "b1",
                [content("a"), content("b")],
                start: gateway(0),
                at: gateway(0)
            )
        )
        let firstHandedOut = bench.next(at: local(0))
        let first = try #require(firstHandedOut)
        bench.step { $0.stop(now: $1) }
        bench.expectNext(nil, at: local(0))
        bench.step { $0.ignoreAll(now: $1) }
        bench.step { $0.report(.completed, first, now: $1) }
        #expect(bench.outcomes.isEmpty)
        let unknown = bench.events.compactMap { if case .outcomeUnknown(let each) = $0 { each.adID } else { nil } }
        #expect(unknown == ["a", "b"])
    }
}
