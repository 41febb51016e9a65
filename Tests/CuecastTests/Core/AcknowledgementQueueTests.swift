// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@testable import Cuecast

@Suite(.suiteLimit)
struct AcknowledgementQueueTests {
    let session = SessionID(high: 1, low: 2)
    var jitter = JitterSource(seed: 1)
    var queue = AcknowledgementQueue(recordsMax: 100, retries: .testing, kept: [])

    @discardableResult
    mutating func add(_ id: String, break name: String = "b1") -> OutboxRecord {
        self.queue
            .add(
                Outcome(advertisementID: adID(id), kind: .played, occurred: gateway(0)),
                session: self.session,
                ticket: [9],
                key: BreakKey(stream: stream(), id: breakID(name)),
                delivery: [1]
            )
            .record
    }

    mutating func due(_ now: Double, room: Int = 8) -> [(id: AcknowledgementQueue.GroupKey, records: [OutboxRecord])] {
        self.queue.due(now: local(now), room: room)
    }

    @Test mutating func `outcomes of one break go together, and stay until they are confirmed`() throws {
        let a = self.add("a")
        let b = self.add("b")
        self.add("c", break: "b2")
        let told = self.due(0)
        #expect(told.map { $0.records.count } == [2, 1])
        #expect(told[0].records == [a, b])
        #expect(self.due(0).isEmpty)
        #expect(self.queue.count == 3)
        let answer = self.queue.confirmed(told[0].id, recorded: 2)
        #expect(answer.confirmed == [a, b] && answer.givenUp == nil)
        #expect(self.queue.count == 1)
    }

    @Test mutating func `sixty-four outcomes fit into one request and one more does not`() {
        for number in 0..<65 { self.add("a\(number)") }
        let told = self.due(0)
        #expect(told.map { $0.records.count } == [64])
        _ = self.queue.confirmed(told[0].id, recorded: 64)
        #expect(self.due(1).map { $0.records.count } == [1])
    }

    @Test mutating func `an outcome that comes while its group is told waits for the answer`() {
        self.add("a")
        let told = self.due(0)
        self.add("b")
        #expect(self.due(0).isEmpty)
        let answer = self.queue.confirmed(told[0].id, recorded: 1)
        #expect(answer.confirmed.count == 1)
        #expect(self.due(1).first?.records.map(\.outcome.advertisementID) == [adID("b")])
    }

    @Test mutating func `without an answer it is told again after a growing wait, for ever`() {
        let a = self.add("a")
        var now = 0.0
        for limit in [0.25, 0.5, 1, 2, 4, 8, 16, 30, 30, 30] {
            let told = self.due(now)
            #expect(told.first?.records == [a])
            self.queue.unanswered(told[0].id, now: local(now), jitter: &self.jitter)
            #expect(self.queue.nextDeadline(now: local(now)).map { $0 <= local(now + limit) } == true)
            now += limit
        }
    }

    @Test mutating func `a gateway that asks to wait is obeyed`() {
        self.add("a")
        let told = self.due(0)
        let busy = Refusal(.unavailable, "The log does not answer.", retryAfter: .seconds(3))
        #expect(self.queue.refused(told[0].id, busy, now: local(0), jitter: &self.jitter) == nil)
        #expect(self.due(2.9).isEmpty)
        #expect(self.due(3.3).count == 1)
    }

    @Test(arguments: [StatusCode.breakTooOld, .deliveryInvalid, .notFound, .invalid, .notAllowed, .unsupported])
    mutating func `a final refusal gives one outcome up, visibly`(status: StatusCode) {
        let a = self.add("a")
        let told = self.due(0)
        let givenUp = self.queue.refused(told[0].id, Refusal(status, "No."), now: local(0), jitter: &self.jitter)
        let reason: JournalEntry.GivenUp.Reason = status == .breakTooOld ? .breakTooOld : .refused
        #expect(givenUp == AcknowledgementQueue.GivenUp(records: [a], why: .init(reason, "\(status.name): No.")))
        #expect(self.queue.count == 0)
        #expect(self.due(100).isEmpty)
    }

    @Test mutating func `a group that is refused is told one by one, so that only what is at fault is given up`() {
        let a = self.add("a")
        let b = self.add("b")
        let refusal = Refusal(.notFound, "No advertisement a.")
        let id = self.due(0)[0].id
        #expect(self.queue.refused(id, refusal, now: local(0), jitter: &self.jitter) == nil)
        #expect(self.due(0).first?.records == [a])
        #expect(self.queue.refused(id, refusal, now: local(0), jitter: &self.jitter)?.records == [a])
        #expect(self.due(0).first?.records == [b])
        #expect(self.queue.confirmed(id, recorded: 1).confirmed == [b])
    }

    @Test mutating func `a confirmation of fewer outcomes than were told is not believed for all`() {
        self.add("a")
        self.add("b")
        let id = self.due(0)[0].id
        let first = self.queue.confirmed(id, recorded: 1)
        #expect(first.confirmed.isEmpty && first.givenUp == nil)
        #expect(self.due(0).first?.records.count == 1)
        let second = self.queue.confirmed(id, recorded: 0)
        #expect(second.givenUp?.records.count == 1 && second.givenUp?.why.reason == .notRecorded)
    }

    @Test mutating func `a lost connection tells everything again on the next one, at once`() {
        self.add("a")
        let told = self.due(0)
        self.queue.abandoned(told[0].id)
        #expect(self.due(0).count == 1)
    }

    @Test mutating func `at most eight groups are told at a time, and no more than there is room for`() {
        for number in 0..<10 { self.add("a", break: "b\(number)") }
        let first = self.due(0, room: 3)
        #expect(first.count == 3)
        #expect(self.due(0, room: 28).count == 5)
        #expect(self.due(0, room: 28).isEmpty)
        #expect(self.queue.nextDeadline(now: local(0)) == nil)
    }

    @Test mutating func `at the limit the oldest makes room for the newest, visibly`() {
        for number in 0..<100 { self.add("a\(number)") }
        let (record, givenUp) = self.queue.add(
            Outcome(advertisementID: adID("new"), kind: .played, occurred: gateway(0)),
            session: self.session,
            ticket: [],
            key: BreakKey(stream: stream(), id: breakID("b1")),
            delivery: [1]
        )
        #expect(record.number == 101)
        #expect(givenUp.flatMap(\.records).map(\.outcome.advertisementID) == [adID("a0")])
        #expect(givenUp.first?.why == .init(.tooMany, "more than 100 outcomes are not confirmed"))
        #expect(self.queue.count == 100)
    }

    @Test func `bytes are bounded too: at the limit nothing is given up, and one more byte makes room`() {
        let outcome = Outcome(advertisementID: adID("a"), kind: .played, occurred: gateway(0))
        let key = BreakKey(stream: stream(), id: breakID("b1"))
        let session = SessionID(high: 1, low: 1)
        let size = OutboxRecord(number: 0, session: session, ticket: [], key: key, delivery: [], outcome: outcome)
            .byteCount
        var queue = AcknowledgementQueue(recordsMax: 100, bytesMax: 2 * size, retries: .testing, kept: [])
        #expect(queue.add(outcome, session: session, ticket: [], key: key, delivery: []).givenUp.isEmpty)
        #expect(queue.add(outcome, session: session, ticket: [], key: key, delivery: []).givenUp.isEmpty)
        #expect(queue.byteCount == 2 * size)
        let third = queue.add(outcome, session: session, ticket: [0], key: key, delivery: [])
        #expect(third.givenUp.flatMap(\.records).map(\.number) == [1, 2], "two make room for one byte more")
        #expect(third.givenUp.first?.why.sentence == "more than \(2 * size) bytes of outcomes are not confirmed")
        #expect(queue.byteCount == size + 1)
    }

    @Test func `an outcome that is too old is given up with the reason, a younger one is not`() {
        let key = BreakKey(stream: stream(), id: breakID("b1"))
        let session = SessionID(high: 1, low: 1)
        var queue = AcknowledgementQueue(recordsMax: 100, retries: .testing, kept: [])
        let limit = gateway(10)
        for (index, occurred) in [limit - .microseconds(1), limit].enumerated() {
            let outcome = Outcome(advertisementID: adID("a\(index)"), kind: .played, occurred: occurred)
            _ = queue.add(outcome, session: session, ticket: [], key: key, delivery: [])
        }
        let givenUp = queue.expire(before: limit, age: .seconds(60))
        #expect(givenUp.flatMap(\.records).map(\.outcome.advertisementID) == [adID("a0")])
        #expect(givenUp.first?.why == .init(.tooOld, "too old: it was not confirmed for 60.0 seconds"))
        #expect(queue.count == 1)
    }

    @Test func `a kept outcome is sent with the session and ticket of its time`() {
        let kept = OutboxRecord(
            number: 7,
            session: SessionID(high: 8, low: 8),
            ticket: [4],
            key: BreakKey(stream: stream("other"), id: breakID("b9")),
            delivery: [5],
            outcome: Outcome(advertisementID: adID("a"), kind: .played, occurred: gateway(0))
        )
        var queue = AcknowledgementQueue(recordsMax: 10, retries: .testing, kept: [kept])
        #expect(queue.due(now: local(0), room: 1).first?.records == [kept])
        let next = queue.add(kept.outcome, session: kept.session, ticket: [], key: kept.key, delivery: [])
        #expect(next.record.number == 8)
    }

    @Test mutating func `hurrying forgets the waits`() {
        self.add("a")
        let told = self.due(0)
        self.queue.unanswered(told[0].id, now: local(0), jitter: &self.jitter)
        self.queue.hurry()
        #expect(self.due(0).count == 1)
    }

    @Test mutating func `answers for groups that are not told change nothing`() {
        self.add("a")
        let id = self.due(0)[0].id
        self.queue.abandoned(id)
        #expect(self.queue.confirmed(id, recorded: 1).confirmed.isEmpty)
        #expect(self.queue.refused(id, Refusal(.invalid, ""), now: local(0), jitter: &self.jitter) == nil)
        #expect(self.queue.count == 1)
    }
}
