// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Histogram
import LoadEngine
import Testing

@Suite(.suiteLimit)
struct SimulatedListenerTests {
    @Test func `thousands fit into one process`() {
        #expect(MemoryLayout<SimulatedListener>.stride <= 512, "\(MemoryLayout<SimulatedListener>.stride) bytes")
    }

    @Test func `it subscribes, proves it, and only then joins`() throws {
        var stage = try Stage()
        #expect(stage.listener.phase == .idle)
        stage.open()
        #expect(stage.pending == .connect)
        stage.connect()
        #expect(stage.pending == [.subscribe, .subscribeSync])
        #expect(stage.listener.phase == .proving)
        stage.pending = []
        stage.now += 20_000
        stage.notice(stage.gateway.tick)
        #expect(stage.pending == [.unsubscribeSync, .send])
        guard case .join(let join) = try stage.kind() else {
            Issue.record("not a join")
            return
        }
        #expect(join.instance == stage.gateway.instance)
        #expect(join.last == nil)
        #expect(join.stream == stage.gateway.stream)
        #expect(stage.listener.phase == .joining)
    }

    @Test func `once joined it follows, and the latencies count from when each thing was meant to happen`() throws {
        var stage = try Stage()
        try stage.join()
        #expect(stage.listener.last == stage.gateway.head)
        #expect(stage.counts.joined == 1)
        #expect(stage.world.statistics.connect.intended.max == 300)
        // From both connections to the answer: the tick after 20 ms and the reply after 0.2 ms.
        #expect(stage.world.statistics.join.intended.max == 20_207, "20,200 in the histogram's resolution")
        #expect(stage.world.statistics.join.service.max == 200)
        #expect(stage.listener.isSettled(in: stage.world))
        #expect(stage.findings.isEmpty)
    }

    @Test func `it asks at its slot, checks the batch, and acknowledges every advertisement`() throws {
        var stage = try Stage()
        try stage.join()
        let announced = stage.now
        let frame = try stage.announce("noon")
        stage.notice(frame)
        #expect(stage.pending == [], "its slot is not now")
        let slot = RequestSlot.instant(
            in: RequestWindow(
                from: stage.gateway.time(announced),
                by: stage.gateway.time(announced + 1_000_000)
            ),
            session: stage.listener.session,
            break: try BreakID("noon")
        )
        // The clocks are known to within half the time of a request: the model's offset is as good as that.
        let planned = stage.world.clock.local(slot)
        #expect(abs(planned - (slot.microseconds - ValueGateway.start)) <= stage.world.clock.bound)
        #expect(stage.listener.deadline == planned)
        stage.now = planned - 1
        stage.wake()
        #expect(stage.pending == [])
        stage.now = planned + 70
        stage.wake()
        let request = try stage.request()
        stage.now += 500
        stage.reply(try stage.gateway.answer(request, now: stage.now - 100))
        #expect(stage.world.statistics.batch.intended.max == 570)
        #expect(stage.world.statistics.batch.service.max == 500)
        #expect(stage.pending == .send, "it acknowledges at once")
        try stage.exchange()
        let tally = stage.world.streams[0].breaks[0].tally
        #expect(tally.notices == 1 && tally.batches == 1 && tally.batchesBeforeStart == 1)
        #expect(tally.delivered == 3 && tally.acknowledged == 3)
        #expect(stage.gateway.outcomes.count == 3 && stage.gateway.delivered.count == 3)
        #expect(stage.gateway.outcomes.values.count { $0 == .played } == tally.played)
        #expect(stage.listener.isSettled(in: stage.world))
        #expect(stage.findings.isEmpty)
    }

    @Test func `in a storm it asks at once`() throws {
        var stage = try Stage(asksAtOnce: true)
        try stage.join()
        stage.notice(try stage.announce("noon"))
        guard case .getBatch(let get) = try stage.kind() else {
            Issue.record("no request")
            return
        }
        #expect(get.key.id == (try BreakID("noon")))
    }

    @Test func `at a speed it acknowledges when everything would have been played`() throws {
        var stage = try Stage(asksAtOnce: true, speed: 10)
        try stage.join()
        let start = stage.now + 8_000_000
        stage.notice(try stage.announce("noon"))
        try stage.exchange()
        #expect(stage.listener.hasWork)
        // Three times ten seconds, ten times as fast, from the start on.
        #expect(
            abs(stage.listener.deadline - (start + 3_000_000)) <= stage.world.clock.bound
                || stage.listener.deadline < start
        )
        while stage.listener.hasWork {
            try stage.wakeAtDeadline()
            if stage.pending.contains(.disconnect) { break }
            try stage.exchange()
            stage.notice(stage.gateway.headFrame(now: stage.now))
        }
        #expect(stage.gateway.outcomes.count == 3)
        #expect(abs(stage.now - (start + 3_000_000)) < 1_000)
    }

    @Test func `at a speed a cued break is held until its punch, and one that is postponed is told later`() throws {
        var stage = try Stage(asksAtOnce: true, speed: 10)
        try stage.join()
        stage.notice(try stage.announce("cued", lead: nil))
        stage.notice(try stage.announce("noon", lead: 8_000_000))
        try stage.exchange()
        #expect(stage.gateway.delivered.count == 6 && stage.gateway.outcomes.isEmpty)
        stage.now += 4_000_000
        try stage.change("noon", .updated, startingIn: 20_000_000)
        let postponed = stage.now + 20_000_000 + 3_000_000
        #expect(stage.pending == [])
        stage.now += 1_000_000
        try stage.change("cued", .updated, startingIn: 2_000_000)
        let punched = stage.now + 2_000_000 + 3_000_000
        try stage.waitUntilItAsks()
        #expect(abs(stage.now - punched) < 1_000)
        try stage.exchange()
        #expect(stage.gateway.outcomes.count == 3)
        try stage.waitUntilItAsks()
        #expect(abs(stage.now - postponed) < 1_000)
        try stage.exchange()
        #expect(stage.gateway.outcomes.count == 6)
        #expect(stage.findings.isEmpty && stage.listener.isSettled(in: stage.world))
    }

    @Test func `a punch that comes before the answer with the batch counts`() throws {
        var stage = try Stage(asksAtOnce: true, speed: 10)
        try stage.join()
        stage.notice(try stage.announce("cued", lead: nil))
        let request = try stage.request()
        let answer = try stage.gateway.answer(request, now: stage.now)
        try stage.change("cued", .updated, startingIn: 2_000_000)
        let punched = stage.now + 2_000_000 + 3_000_000
        stage.reply(answer)
        try stage.waitUntilItAsks()
        #expect(abs(stage.now - punched) < 1_000)
        try stage.exchange()
        #expect(stage.gateway.outcomes.count == 3)
    }

    @Test(arguments: ["called off", "over", "left"])
    func `a held break that never started counts as ignored`(_ end: String) throws {
        var stage = try Stage(asksAtOnce: true, speed: 10)
        try stage.join()
        let expiry = stage.now + ValueGateway.hold
        stage.notice(try stage.announce("cued", lead: nil))
        try stage.exchange()
        // A run that only follows may end now.
        #expect(stage.listener.isSettled(in: stage.world) && !stage.listener.hasWork)
        switch end {
        case "called off":
            stage.now += 1_000_000
            try stage.change("cued", .cancelled)
        case "over":
            try stage.waitUntilItAsks()
            #expect(abs(stage.now - expiry) < 1_000)
        default: stage.pending.formUnion(stage.listener.leave(now: stage.now, in: &stage.world))
        }
        try stage.exchange()
        #expect(stage.gateway.outcomes.count == 3 && stage.gateway.outcomes.values.allSatisfy { $0 == .ignored })
        #expect(stage.world.streams[0].breaks[0].tally.ignored == 3)
    }

    @Test func `a break before the stream is played without a start`() throws {
        var stage = try Stage(asksAtOnce: true, speed: 10)
        try stage.join()
        stage.notice(try stage.announce("before", lead: nil, preStream: true))
        let begun = stage.now
        try stage.exchange()
        try stage.waitUntilItAsks()
        #expect(abs(stage.now - (begun + 3_000_000)) < 1_000)
    }

    @Test func `an update of a break that it has needs no other batch, a cancelled one none at all`() throws {
        var stage = try Stage()
        try stage.join()
        stage.notice(try stage.announce("noon"))
        try stage.wakeAtDeadline()
        try stage.exchange()
        try stage.change("noon", .updated)
        #expect(stage.pending == [] && !stage.listener.hasWork)
        stage.notice(try stage.announce("one"))
        #expect(stage.listener.hasWork)
        try stage.change("one", .cancelled)
        #expect(!stage.listener.hasWork)
        #expect(stage.gateway.delivered.count == 3)
    }

    @Test func `a break cancelled after its batch counts as ignored`() throws {
        var stage = try Stage(asksAtOnce: true, speed: 1)
        try stage.join()
        stage.notice(try stage.announce("noon", count: 20))
        try stage.exchange()
        try stage.change("noon", .cancelled)
        stage.pending.formUnion(stage.listener.leave(now: stage.now, in: &stage.world))
        try stage.exchange()
        #expect(stage.gateway.outcomes.count == 20)
        #expect(stage.gateway.outcomes.values.allSatisfy { $0 == .ignored })
        #expect(stage.world.streams[0].breaks[0].tally.ignored == 20)
    }

    @Test func `a late listener requests the open breaks at once`() throws {
        var stage = try Stage()
        _ = try stage.announce("noon", window: 1)
        stage.now += 10_000
        stage.open()
        stage.connect()
        stage.prove()
        try stage.exchange()
        #expect(stage.gateway.delivered.count == 3 && stage.gateway.outcomes.count == 3)
        #expect(stage.findings.isEmpty)
    }

    @Test func `a batch with other content is a finding`() throws {
        var stage = try Stage(asksAtOnce: true)
        try stage.join()
        let expected = try (0..<3).map { try advertisement("other-\($0)") }
        stage.world.streams[0]
            .add(try BreakID("noon"), content: AdvertisementFacts.expected(of: expected), planned: stage.now)
        stage.notice(try stage.announce("noon"))
        try stage.exchange()
        #expect(stage.findings[.wrongContent] == 1)
        #expect(stage.findings.entries[.wrongContent]?.examples.first?.contains("noon") == true)
        #expect(!stage.listener.hasWork)
    }

    @Test func `refusals that can be retried are, others are findings`() throws {
        var stage = try Stage(asksAtOnce: true)
        try stage.join()
        stage.notice(try stage.announce("noon"))
        let first = try stage.request()
        stage.reply(stage.gateway.refusal(of: first, .unavailable, retryAfter: .seconds(1), now: stage.now))
        #expect(stage.pending == [] && stage.listener.deadline >= stage.now + 1_000_000)
        #expect(stage.findings.isEmpty)
        let refusedAt = stage.now
        while !stage.pending.contains(.send) { try stage.wakeAtDeadline() }
        #expect(stage.now - refusedAt <= 1_250_000)
        let second = try stage.request()
        #expect(second != first)
        stage.reply(stage.gateway.refusal(of: second, .tooLate, now: stage.now))
        #expect(stage.findings[.batchesMissing] == 1)
        #expect(stage.world.statistics.refusals == ["UNAVAILABLE": 1, "TOO_LATE": 1])
        #expect(!stage.listener.hasWork)
    }

    @Test func `an acknowledgement is asked again until it is confirmed, and says the same each time`() throws {
        var stage = try Stage(asksAtOnce: true)
        try stage.join()
        stage.notice(try stage.announce("noon"))
        stage.reply(try stage.gateway.answer(try stage.request(), now: stage.now))
        let first = try ListenerRequest(decoding: stage.request())
        let planned = stage.now
        while !stage.pending.contains(.send) {
            try stage.wakeAtDeadline()
            stage.notice(stage.gateway.headFrame(now: stage.now))
        }
        let second = try ListenerRequest(decoding: stage.request())
        guard case .acknowledge(let one) = first.kind, case .acknowledge(let two) = second.kind else {
            Issue.record("not acknowledged twice")
            return
        }
        #expect(one.outcomes.map(\.kind) == two.outcomes.map(\.kind) && one.delivery == two.delivery)
        #expect(stage.counts.timeouts == 1 && stage.counts.retries == 1)
        stage.reply(try stage.gateway.answer(second.encoded(), now: stage.now))
        #expect(!stage.listener.hasWork)
        // The wait for the first answer counts: it was planned then.
        #expect(stage.world.statistics.acknowledge.intended.max >= UInt64(5_000_000))
        #expect(stage.now - planned >= 5_000_000)
        // The first answer comes after all, and is no fault.
        stage.reply(try stage.gateway.answer(first.encoded(), now: stage.now))
        #expect(stage.findings.isEmpty)
    }

    @Test func `three requests in a row without an answer end the connection`() throws {
        var stage = try Stage(asksAtOnce: true)
        try stage.join()
        stage.notice(try stage.announce("noon"))
        var sent = 0
        while !stage.pending.contains(.disconnect) {
            if stage.pending.contains(.send) {
                _ = try stage.request()
                sent += 1
            }
            stage.notice(stage.gateway.headFrame(now: stage.now))
            try stage.wakeAtDeadline()
        }
        #expect(sent == 3)
        #expect(stage.listener.phase == .waiting)
        #expect(stage.counts.connectionsLost == 1)
    }

    @Test func `after a lost connection it comes back, recovers, and goes on with what it had to do`() throws {
        var stage = try Stage(asksAtOnce: true)
        try stage.join()
        stage.notice(try stage.announce("noon"))
        _ = try stage.request()
        stage.pending.formUnion(stage.listener.disconnected(now: stage.now, in: &stage.world))
        #expect(stage.pending == .disconnect)
        _ = try stage.announce("one")
        let lost = stage.now
        try stage.wakeAtDeadline()
        #expect(stage.now - lost <= 250_000, "the first wait is at most a quarter of a second")
        #expect(stage.pending.contains(.connect))
        // It is away until it has joined, however many connections it loses before.
        stage.connect()
        stage.pending.formUnion(stage.listener.disconnected(now: stage.now, in: &stage.world))
        try stage.wakeAtDeadline()
        #expect(stage.world.statistics.away.intended.totalCount == 0)
        stage.connect()
        stage.prove()
        let request = stage.now
        try stage.exchange()
        #expect(stage.counts.rejoined == 1 && stage.counts.noticesRecovered == 1)
        #expect(stage.counts.connectionsLost == 2)
        let away = stage.world.statistics.away.intended
        #expect(away.totalCount == 1)
        #expect(away.max >= UInt64(request - lost) && away.max <= UInt64(stage.now - lost) * 101 / 100)
        #expect(stage.gateway.outcomes.count == 6)
        #expect(stage.listener.isSettled(in: stage.world))
        #expect(stage.findings.isEmpty, "what was missed while there was no connection is no fault")
    }

    @Test func `2.5 head intervals of silence mean that the connection is lost`() throws {
        var stage = try Stage()
        try stage.join()
        let heard = stage.now
        #expect(stage.listener.deadline == heard + 12_500_000)
        stage.now = heard + 12_499_999
        stage.wake()
        #expect(stage.pending == [])
        stage.now += 1
        stage.wake()
        #expect(stage.pending == .disconnect)
    }

    @Test func `a proof or a connection that takes too long is given up`() throws {
        for connects in [false, true] {
            var stage = try Stage()
            stage.open()
            if connects { stage.connect() }
            stage.pending = []
            try stage.wakeAtDeadline()
            #expect(stage.pending == .disconnect)
            #expect(stage.listener.phase == .waiting)
        }
    }

    @Test func `an answer of another run of the gateway needs another proof`() throws {
        var stage = try Stage()
        stage.open()
        stage.connect()
        stage.prove()
        stage.gateway.instance = 99
        try stage.exchange()
        #expect(stage.listener.phase == .proving && stage.pending == .subscribeSync)
        stage.prove()
        try stage.exchange()
        #expect(stage.listener.phase == .following)
    }

    @Test func `a leaving listener first acknowledges its batches`() throws {
        var stage = try Stage(asksAtOnce: true, speed: 1)
        try stage.join()
        stage.notice(try stage.announce("noon"))
        try stage.exchange()
        stage.notice(try stage.announce("one"))
        stage.pending.formUnion(stage.listener.leave(now: stage.now, in: &stage.world))
        let session = stage.listener.session
        try stage.exchange()
        #expect(stage.listener.phase == .gone && stage.pending == .disconnect)
        #expect(stage.gateway.outcomes.count == stage.gateway.delivered.count)
        #expect(stage.counts.left == 1)
        stage.listener.renew()
        #expect(stage.listener.phase == .idle && stage.listener.session != session)
        try stage.join()
        #expect(stage.counts.joined == 2)
    }

    @Test func `a listener that stops reading must recover missed notices; later nothing excuses a loss`() throws {
        var stage = try Stage(asksAtOnce: true)
        try stage.join()
        stage.pending.formUnion(stage.listener.stall(until: stage.now + 1_000_000, now: stage.now, in: &stage.world))
        #expect(stage.pending == .pause && stage.listener.isStalled)
        stage.pending = []
        _ = try stage.announce("noon")
        try stage.wakeAtDeadline()
        #expect(stage.pending == .resume && !stage.listener.isStalled)
        stage.now += 1_000
        stage.notice(stage.gateway.headFrame(now: stage.now))
        try stage.wakeAtDeadline()
        try stage.exchange()
        #expect(stage.findings.isEmpty)
        #expect(stage.counts.noticesMissedWhileStalled == 1 && stage.counts.noticesRecovered == 1)
        #expect(stage.gateway.outcomes.count == 3)
        _ = try stage.announce("one")
        stage.notice(stage.gateway.headFrame(now: stage.now))
        #expect(stage.findings[.noticesLost] == 1)
    }

    @Test func `with one connection it joins at once, and needs no tick`() throws {
        var stage = try Stage(asksAtOnce: true, push: true)
        stage.open()
        #expect(stage.pending == .connectOne)
        stage.connect()
        #expect(stage.pending == .send && stage.listener.phase == .joining)
        guard case .join(let join) = try ListenerRequest(decoding: stage.request()).kind else {
            Issue.record("not a join")
            return
        }
        #expect(join.push && join.instance == 0 && join.last == nil)
        stage = try Stage(asksAtOnce: true, push: true)
        _ = try stage.announce("noon")
        try stage.join()
        #expect(stage.listener.isPushed && stage.listener.last == stage.gateway.head)
        #expect(stage.counts.pushed == 1 && stage.counts.joined == 1 && stage.counts.fellBack == 0)
        stage.notice(try stage.announce("one"))
        try stage.exchange()
        #expect(stage.gateway.outcomes.count == 6, "the break of the answer and the one after it")
        #expect(stage.findings.isEmpty)
    }

    @Test func `with one connection every notice above the answer's head must come`() throws {
        var stage = try Stage(push: true)
        _ = try stage.announce("noon")
        try stage.join()
        _ = try stage.announce("one")
        stage.notice(try stage.announce("two"))
        #expect(stage.findings[.noticesLost] == 1)
        #expect(stage.listener.phase == .rejoining)
        try stage.wakeAtDeadline()
        guard case .join(let join) = try stage.kind() else {
            Issue.record("not a join")
            return
        }
        #expect(join.push && join.last?.sequence == 1)
    }

    @Test func `a gateway that does not push gets a second connection, a proof and another join`() throws {
        var stage = try Stage(asksAtOnce: true, push: true)
        stage.gateway.pushes = false
        _ = try stage.announce("noon")
        stage.open()
        stage.connect()
        try stage.exchange()
        #expect(stage.pending == .connectNotices && stage.listener.phase == .connecting)
        #expect(stage.counts.fellBack == 1 && stage.counts.joined == 0 && stage.listener.last == nil)
        stage.connect()
        #expect(stage.pending == [.subscribe, .subscribeSync])
        stage.prove()
        guard case .join(let join) = try ListenerRequest(decoding: stage.request()).kind else {
            Issue.record("not a join")
            return
        }
        #expect(!join.push && join.instance == stage.gateway.instance)
        stage = try Stage(asksAtOnce: true, push: true)
        stage.gateway.pushes = false
        stage.open()
        stage.connect()
        try stage.exchange()
        stage.connect()
        stage.prove()
        try stage.exchange()
        stage.notice(try stage.announce("one"))
        try stage.exchange()
        #expect(stage.listener.phase == .following && !stage.listener.isPushed)
        #expect(stage.counts.connected == 1 && stage.counts.joined == 1 && stage.counts.pushed == 0)
        #expect(stage.gateway.outcomes.count == 3 && stage.findings.isEmpty)
        // The next answer may offer it.
        stage.pending.formUnion(stage.listener.disconnected(now: stage.now, in: &stage.world))
        stage.gateway.pushes = true
        try stage.wakeAtDeadline()
        #expect(stage.pending.contains(.connectOne))
        stage.connect()
        try stage.exchange()
        #expect(stage.listener.isPushed && stage.listener.phase == .following && stage.findings.isEmpty)
    }

    @Test func `on one connection nothing comes before the answer, and no tick after it`() throws {
        var stage = try Stage(push: true)
        stage.open()
        stage.connect()
        stage.notice(try stage.announce("noon"))
        #expect(stage.findings[.malformed] == 1)
        try stage.exchange()
        #expect(stage.listener.phase == .following)
        stage.notice(stage.gateway.tick)
        #expect(stage.findings[.malformed] == 2)
    }

    @Test func `an answer that pushes without a request is wrong`() throws {
        var stage = try Stage()
        stage.open()
        stage.connect()
        stage.prove()
        let request = try stage.request()
        var reply = try ListenerReply(decoding: stage.gateway.answer(request, now: stage.now))
        guard case .joined(var joined) = reply.body else {
            Issue.record("no answer to a join")
            return
        }
        joined.pushed = true
        reply.body = .joined(joined)
        stage.reply(reply.encoded())
        #expect(stage.findings[.wrongJoins] == 1)
    }

    @Test func `a stall without any loss does not excuse a later one`() throws {
        var stage = try Stage(asksAtOnce: true)
        try stage.join()
        _ = stage.listener.stall(until: stage.now + 1_000_000, now: stage.now, in: &stage.world)
        try stage.wakeAtDeadline()
        stage.now += 10_000
        stage.notice(stage.gateway.headFrame(now: stage.now))
        _ = try stage.announce("noon")
        stage.notice(stage.gateway.headFrame(now: stage.now))
        #expect(stage.findings[.noticesLost] == 1)
    }

    @Test func `it asks for the time before its lease ends, where nothing else makes it ask`() throws {
        var stage = try Stage()
        try stage.join()
        // The gateway of values grants 300 s.
        for _ in 0..<3 {
            let asked = stage.now
            try stage.waitUntilItAsks()
            #expect((112_000_000...150_000_000).contains(stage.now - asked), "\(stage.now - asked) µs")
            let frame = try stage.request()
            #expect(try ListenerRequest(decoding: frame).kind == .getTime)
            stage.reply(try stage.gateway.answer(frame, now: stage.now))
            #expect(stage.pending == [] && stage.listener.isSettled(in: stage.world))
        }
        #expect(stage.findings.isEmpty)
    }

    @Test func `every request renews the lease, and sessions renew at different times`() throws {
        var waits: Set<Microseconds> = []
        for seed in UInt64(1)...20 {
            var stage = try Stage(asksAtOnce: true, seed: seed)
            try stage.join()
            stage.notice(try stage.announce("noon"))
            try stage.exchange()
            let asked = stage.now
            try stage.waitUntilItAsks()
            waits.insert(stage.now - asked)
        }
        #expect(waits.count > 15)
        let least = try #require(waits.min())
        let most = try #require(waits.max())
        #expect(least >= 112_000_000 && most <= 150_000_000 && most - least > 10_000_000)
    }

    @Test func `a renewal without an answer is asked again soon`() throws {
        var stage = try Stage()
        try stage.join()
        try stage.waitUntilItAsks()
        _ = try stage.request()
        let asked = stage.now
        try stage.waitUntilItAsks()
        #expect(stage.now - asked <= 5_000_000 + 250_000)
        #expect(stage.counts.timeouts == 1)
        try stage.exchange()
        #expect(stage.findings.isEmpty && stage.listener.isSettled(in: stage.world))
    }

    @Test(arguments: [(-1, 1), (0, 0), (1, 0)])
    func `a break that was over when its first join was answered was not missed`(
        after: Microseconds,
        expected: Int
    ) throws {
        var stage = try Stage()
        stage.open()
        stage.connect()
        stage.prove()
        let join = try stage.request()
        let content = AdvertisementFacts.expected(of: [try advertisement("noon-0")])
        let index = stage.world.streams[0].add(try BreakID("noon"), content: content, planned: stage.now)
        stage.world.streams[0].update(index) { $0.isDue = true }
        // The break is published while the join is under way, another listener reads of it, and it is over.
        let other = stage.gateway
        let frame = try stage.announce("noon", count: 1)
        let read = stage.world.streams[0].facts(of: frame.span)
        let facts = try #require(read)
        stage.gateway = other
        stage.now = facts.expires.microseconds - ValueGateway.start + after
        stage.reply(try stage.gateway.answer(join, now: stage.now))
        try #require(stage.listener.phase == .following)
        stage.listener.judgeBreaks(in: &stage.world, trustsPublication: true)
        #expect(stage.findings[.noticesLost] == expected)
    }
}
