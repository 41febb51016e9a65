// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// Each request of a listener with each way in which it ends: join, batch, time, leave.
@Suite(.suiteLimit)
struct ListenerRequestTests {
    private func join(
        last: Position? = nil,
        delay: ListenerDelay = ListenerDelay(),
        stream: StreamID = Sample.stream
    ) -> ListenerRequest.Kind {
        .join(.init(stream: stream, last: last, instance: Counter.instance, delay: delay))
    }

    /// A counter at which `b1` starts at 20, lasts 30 s and has three advertisements of 10 s; announced at 12.
    private func announced(_ change: (inout ListenerRequestHandler.Settings) -> Void = { _ in }) -> Counter {
        var counter = Counter(change)
        _ = counter.desk.ask(.publish(Sample.publish()), at: 0)
        counter.desk.tick(at: 12)
        return counter
    }

    // MARK: - Join

    @Test func `a join says where the stream stands and what the listener must know`() throws {
        var counter = self.announced()
        let joined = try #require(try counter.ask(self.join(), at: 13).joined)
        #expect(joined.kind == .snapshot)
        #expect(joined.head == Position(epoch: Sample.epoch, sequence: 1))
        #expect(joined.notices == counter.desk.notices.map(\.notice))
        #expect(joined.instance == Counter.instance)
        #expect(joined.headInterval == .seconds(5))
        #expect(joined.lease == .seconds(300))
        #expect(counter.handler.leases.count(of: Sample.stream) == 1)
        #expect(counter.metrics.value(.joins, .snapshot) == 1)
        #expect(counter.metrics.value(.listenerRequests, .join) == 1)
    }

    @Test func `a join with a position gets what was missed, or nothing`() throws {
        var counter = self.announced()
        let missed = try counter.ask(self.join(last: Position(epoch: Sample.epoch, sequence: 0)), at: 13).joined
        #expect(missed?.kind == .recovered)
        #expect(missed?.notices.map(\.position.sequence) == [1])
        let current = try counter.ask(self.join(last: Position(epoch: Sample.epoch, sequence: 1)), at: 13).joined
        #expect(current?.kind == .current)
        #expect(current?.notices == [])
        let lost = try counter.ask(self.join(last: Position(epoch: 1, sequence: 1)), at: 13).joined
        #expect(lost?.kind == .snapshot)
        #expect(counter.metrics.value(.joins, .recovered) == 1)
        #expect(counter.metrics.value(.joins, .current) == 1)
    }

    @Test func `a player that is ahead of the head gets a snapshot and is counted`() throws {
        var counter = self.announced()
        for sequence in [2, .max] as [UInt64] {
            let joined = try counter.ask(self.join(last: Position(epoch: Sample.epoch, sequence: sequence)), at: 13)
                .joined
            #expect(joined?.kind == .snapshot)
            #expect(joined?.notices.map(\.position.sequence) == [1])
        }
        #expect(counter.metrics.value(.joins, .ahead) == 2)
        #expect(counter.metrics.value(.joins, .snapshot) == 0)
        // Of another epoch is not ahead: it cannot be compared.
        _ = try counter.ask(self.join(last: Position(epoch: 1, sequence: 9)), at: 13)
        #expect(counter.metrics.value(.joins, .ahead) == 2)
        #expect(counter.metrics.value(.joins, .snapshot) == 1)
    }

    @Test func `a stream without a break can be joined`() throws {
        var counter = Counter()
        let joined = try #require(try counter.ask(self.join(stream: Sample.stream("quiet")), at: 0).joined)
        #expect(joined.kind == .snapshot)
        #expect(joined.head == Position(epoch: Sample.epoch, sequence: 0))
        #expect(joined.notices.isEmpty)
        #expect(counter.handler.leases.count(of: Sample.stream("quiet")) == 1)
        let again = self.join(last: joined.head, stream: Sample.stream("quiet"))
        #expect(try counter.ask(again, at: 1).joined?.kind == .current)
    }

    @Test func `a listener that hears the stream late is told of breaks that it can still play`() throws {
        var counter = self.announced()
        func notices(_ delay: ListenerDelay, _ seconds: Double) throws -> Int? {
            try counter.ask(self.join(delay: delay), at: seconds).joined?.notices.count
        }
        #expect(try notices(ListenerDelay(), 49.999_999) == 1)
        #expect(try notices(ListenerDelay(), 50) == 0)
        #expect(try notices(ListenerDelay(now: .seconds(30)), 79.999_999) == 1)
        #expect(try notices(ListenerDelay(now: .seconds(30)), 80) == 0)
        #expect(try notices(ListenerDelay(max: .seconds(30)), 79.999_999) == 1)
        #expect(
            try notices(ListenerDelay(now: .seconds(20), max: .seconds(10)), 69.999_999) == 1,
            "the larger one counts"
        )
    }

    @Test func `there are at most so many listeners, and one that is known may always join`() throws {
        var counter = self.announced { $0.listenersMax = 2 }
        for session in 1...2 as ClosedRange<UInt64> {
            #expect(try counter.ask(self.join(), by: Sample.session(session), at: 13).joined != nil)
        }
        let refusal = try counter.ask(self.join(), by: Sample.session(3), at: 13).refusal
        #expect(refusal?.status == .limitReached)
        #expect(refusal?.sentence == "The limit listenersMax is 2 and is reached.")
        #expect(refusal?.retryAfter == .seconds(10))
        #expect(counter.metrics.value(.limitsHit, .limit(.listenersMax)) == 1)
        #expect(counter.metrics.value(.refusals, .status(.limitReached)) == 1)
        #expect(try counter.ask(self.join(), by: Sample.session(1), at: 14).joined != nil)
        #expect(try counter.batch(by: Sample.session(4), at: 14).refusal?.status == .limitReached)
        #expect(counter.handler.group.isEmpty, "what is refused is not delivered")
        #expect(try counter.ask(.leave(Sample.stream), by: Sample.session(2), at: 15).body == .done)
        #expect(try counter.ask(self.join(), by: Sample.session(3), at: 15).joined != nil)
    }

    // MARK: - Batch

    @Test func `a batch has the advertisements, and its delivery joins the group`() throws {
        var counter = self.announced()
        let batch = try #require(try counter.batch(at: 13).batch)
        let number = try #require(counter.desk["b1"]).number
        #expect(batch.advertisements == Sample.advertisements())
        #expect(batch.start == Sample.at(20))
        #expect(batch.duration == .seconds(30))
        #expect(batch.skipped == 0)
        #expect(batch.endMode == .cut)
        #expect(batch.delivery == Counter.delivery(of: number, at: 13).bytes)
        let delivery = AcknowledgementGroup.Delivery(
            session: Sample.session(),
            breakNumber: number,
            first: 0,
            at: Sample.at(13)
        )
        #expect(counter.handler.group.deliveries == [delivery])
        #expect(counter.handler.leases.count == 1, "a session that asks for a batch listens")
        #expect(counter.metrics.value(.batches) == 1)

        let (groupNumber, group) = counter.handler.takeGroup()
        #expect(group.deliveries == [delivery])
        #expect(counter.handler.group.isEmpty)
        #expect(counter.handler.answered(groupNumber, isDurable: false) == [])
        #expect(counter.handler.group.deliveries == [delivery])
    }

    @Test func `asking again gives the same, less what is over`() throws {
        var counter = self.announced()
        for (seconds, skipped) in [(13, 0), (19, 0), (20, 0), (29.999_999, 0), (30, 1), (49.999_999, 2)]
            as [(Double, Int)]
        {
            let batch = try #require(try counter.batch(at: seconds).batch)
            #expect(batch.skipped == skipped)
            #expect(batch.advertisements == Array(Sample.advertisements()[skipped...]))
        }
        #expect(counter.handler.group.deliveries.map(\.first) == [0], "what it got before needs no second record")
        #expect(counter.metrics.value(.deliveredAdvertisements) == 3, "nor is it counted again")
        #expect(try counter.batch(at: 50).refusal?.status == .tooLate)
        #expect(counter.handler.group.deliveries.count == 1)
    }

    @Test func `a batch that holds more than the one before is recorded too, one after a lease is not`() throws {
        var counter = self.announced()
        _ = try counter.batch(at: 31)
        #expect(counter.handler.group.deliveries.map(\.first) == [1])
        _ = try counter.batch(delay: .seconds(20), at: 31)
        #expect(counter.handler.group.deliveries.map(\.first) == [1, 0])
        _ = try counter.batch(by: Sample.session(2), at: 31)
        #expect(counter.handler.group.deliveries.map(\.first) == [1, 0, 1], "another session is not the same")
        _ = try counter.ask(.leave(Sample.stream), at: 31)
        _ = try counter.batch(delay: .seconds(20), at: 31)
        #expect(counter.handler.group.deliveries.map(\.first) == [1, 0, 1], "memory knows it without the lease")
    }

    @Test func `a listener that hears the stream late gets what is ahead of its playhead`() throws {
        var counter = self.announced()
        #expect(try counter.batch(delay: .seconds(60), at: 80).batch?.skipped == 0)
        #expect(try counter.batch(delay: .seconds(60), at: 90).batch?.skipped == 1)
        #expect(try counter.batch(delay: .seconds(60), at: 109.999_999).batch?.skipped == 2)
        #expect(try counter.batch(delay: .seconds(60), at: 110).refusal?.status == .tooLate)
        #expect(try counter.batch(delay: .seconds(3_600), at: 3_649.999_999).batch?.skipped == 2)
    }

    @Test func `an early end shows in the batch, in whole milliseconds`() throws {
        var counter = self.announced()
        let end = BroadcastRequest.End(key: Sample.key(), endMode: .finishAd, at: Sample.at(35.000_7))
        #expect(counter.desk.ask(.end(end), at: 13).word == "ended")
        let batch = try #require(try counter.batch(at: 14).batch)
        #expect(batch.duration == .seconds(15))
        #expect(batch.endMode == .finishAd)
    }

    @Test func `a batch that cannot be had says why`() throws {
        var counter = Counter()
        _ = counter.desk.ask(.publish(Sample.publish("hidden", start: .at(Sample.at(100)))), at: 0)
        _ = counter.desk.ask(.publish(Sample.publish("cancelled", start: nil)), at: 0)
        _ = counter.desk.ask(.publish(Sample.publish("expired", start: nil, hold: .seconds(1))), at: 0)
        _ = counter.desk.ask(.cancel(Sample.key("cancelled")), at: 1)
        counter.desk.tick(at: 1)
        let hidden = try counter.batch("hidden", at: 2).refusal
        #expect(
            hidden == Refusal(.notFound, "There is no break hidden of the stream radio1."),
            "it was not announced yet"
        )
        #expect(try counter.batch("none", at: 2).refusal?.status == .notFound)
        #expect(try counter.batch("cancelled", at: 2).refusal == Refusal(.tooLate, "The break cancelled is cancelled."))
        #expect(try counter.batch("expired", at: 2).refusal == Refusal(.tooLate, "The break expired is expired."))
        #expect(counter.handler.group.isEmpty)
        #expect(counter.handler.leases.count == 0)
    }

    @Test func `a batch after its request window is too late, then too old`() throws {
        var counter = self.announced()
        let condensed = 51 + BoardLimits.batchesWithin.inSeconds
        counter.desk.runHousekeeping(at: condensed)
        #expect(counter.desk["b1"]?.encoded == nil)
        #expect(try counter.batch(delay: .seconds(3_600), at: condensed).refusal?.status == .tooLate)
        let retired = 51 + BoardLimits.acknowledgeWithin.inSeconds
        counter.desk.runHousekeeping(at: retired)
        let refusal = try counter.batch(at: retired).refusal
        #expect(refusal == Refusal(.breakTooOld, "The break b1 is older than the gateway keeps."))
    }

    @Test func `an exact break of which nothing fits is too late`() throws {
        var counter = Counter()
        _ = counter.desk.ask(.publish(Sample.publish(start: .now, exact: true)), at: 0)
        #expect(try counter.batch(at: 20).batch?.skipped == 2)
        #expect(try counter.batch(at: 20.000_001).refusal?.status == .tooLate)
    }

    @Test func `batches wait for the log at most so many, and are refused until it has caught up`() throws {
        var counter = self.announced { $0.deliveriesWaitingMax = 2 }
        for session in 1...2 as ClosedRange<UInt64> {
            #expect(try counter.batch(by: Sample.session(session), at: 13).batch != nil)
        }
        let refusal = try counter.batch(by: Sample.session(3), at: 13).refusal
        #expect(refusal == .logBehind)
        #expect(refusal?.status.canRetry == true)
        #expect(counter.metrics.value(.limitsHit, .limit(.deliveriesWaitingMax)) == 1)
        #expect(counter.handler.group.deliveries.count == 2)
        _ = counter.handler.takeGroup()
        #expect(try counter.batch(by: Sample.session(3), at: 13).batch != nil)
    }

    // MARK: - Time and leave, and what goes for all

    @Test func `the time is told to anybody`() throws {
        var counter = Counter()
        #expect(try counter.ask(.getTime, at: 3).body == .done)
        #expect(counter.handler.leases.count == 0)
        #expect(counter.metrics.value(.listenerRequests, .time) == 1)
    }

    @Test func `a session that leaves is not counted any more`() throws {
        var counter = Counter()
        _ = try counter.ask(self.join(), at: 0)
        #expect(try counter.ask(.leave(Sample.stream), at: 1).body == .done)
        #expect(try counter.ask(.leave(Sample.stream), at: 1).body == .done, "twice is no error")
        #expect(counter.handler.leases.count == 0)
        #expect(counter.metrics.value(.listenerRequests, .leave) == 2)
    }

    @Test func `leases end in time, and any request renews them`() throws {
        var counter = Counter { $0.lease = .seconds(10) }
        _ = try counter.ask(self.join(), at: 0)
        _ = try counter.ask(.getTime, at: 9)
        counter.handler.expireLeases(at: Sample.at(18.999_999))
        #expect(counter.handler.leases.count == 1)
        counter.handler.expireLeases(at: Sample.at(19))
        #expect(counter.handler.leases.count == 0)
    }

    @Test func `a session that asks too often is told to wait`() throws {
        var counter = self.announced { $0.requestsPerSessionPerSecondMax = 1 }
        _ = try counter.ask(self.join(), at: 13)
        let kinds: [ListenerRequest.Kind] = [.getTime, self.join()]
        for kind in kinds { #expect(try counter.ask(kind, at: 13).refusal == nil) }
        for kind in kinds + [.getBatch(.init(key: Sample.key())), .leave(Sample.stream)] {
            let refusal = try counter.ask(kind, at: 13).refusal
            #expect(refusal?.status == .rateLimited)
            #expect(refusal?.retryAfter == .seconds(1))
        }
        #expect(try counter.acknowledge([Counter.played(at: 13)], at: 13).refusal?.status == .rateLimited)
        #expect(counter.metrics.value(.limitsHit, .limit(.requestsPerSessionPerSecondMax)) == 5)
        #expect(counter.handler.group.isEmpty)
        #expect(counter.handler.leases.count == 1, "a leave that was refused is none")
        #expect(try counter.ask(.getTime, at: 14).body == .done)
        #expect(try counter.ask(.getTime, by: Sample.session(2), at: 13).body == .done)
    }

    @Test func `a gateway that stops refuses everything`() throws {
        var counter = self.announced()
        counter.handler.isDraining = true
        let kinds: [ListenerRequest.Kind] = [
            self.join(), .getBatch(.init(key: Sample.key())), .getTime, .leave(Sample.stream),
        ]
        for kind in kinds { #expect(try counter.ask(kind, at: 13).refusal == .draining) }
        #expect(try counter.acknowledge([Counter.played(at: 13)], at: 13).refusal == .draining)
        #expect(counter.handler.group.isEmpty)
        #expect(counter.handler.leases.count == 0)
        #expect(counter.metrics.value(.refusals, .status(.draining)) == 5)
    }

    @Test func `an unreadable request is refused, with its id if that can be read`() throws {
        var counter = Counter()
        let garbage = try counter.ask([0xFF, 0xFF], id: 0, at: Sample.t0).refusal
        #expect(garbage?.status == .invalid)
        #expect(garbage?.sentence == "This is not a request.")
        // Field 1 is the id, field 2 the session, field 15 a kind of a later version.
        let later: [UInt8] = [0x08, 77, 0x12, 16] + [UInt8](repeating: 1, count: 16) + [0x7A, 0]
        #expect(try counter.ask(later, id: 77, at: Sample.t0).refusal?.status == .unsupported)
        let short: [UInt8] = [0x08, 78, 0x12, 1, 1, 0x6A, 0]
        #expect(try counter.ask(short, id: 78, at: Sample.t0).refusal?.status == .invalid)
        let large = [UInt8](repeating: 0, count: WireLimits.requestFrameBytesMax + 1)
        #expect(try counter.ask(large, id: 0, at: Sample.t0).refusal?.status == .tooLarge)
        #expect(counter.metrics.value(.listenerRequests, .undecodable) == 4)
    }
}
