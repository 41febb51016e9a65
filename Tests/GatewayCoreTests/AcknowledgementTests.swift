// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// Which acknowledgements are accepted, and what the ledger reads of them.
@Suite(.suiteLimit)
struct AcknowledgementTests {
    private static let week = BoardLimits.acknowledgeWithin.inSeconds

    /// A counter at which `b1` started at 0 and ended at 30.
    private func counter(_ change: (inout ListenerRequestHandler.Settings) -> Void = { _ in }) -> Counter {
        var counter = Counter(change)
        _ = counter.desk.ask(.publish(Sample.publish(start: .now)), at: 0)
        return counter
    }

    @Test func `an acknowledgement waits for its group, and is confirmed when that is durable`() throws {
        var counter = self.counter()
        let deferred = try #require(
            try counter.acknowledge([Counter.played("ad2", at: 31), Counter.played("ad0", at: 11)], at: 31).deferred
        )
        #expect(deferred.outcomes == 2)
        let accepted = try #require(try counter.gathered.requests.first)
        #expect(counter.handler.group.requestCount == 1)
        #expect(accepted.ordinals == [2, 0])
        #expect(accepted.received == Sample.at(31))
        #expect(accepted.breakNumber == counter.desk["b1"]?.number)
        let request = try ListenerRequest(decoding: accepted.request)
        #expect(request.id == deferred.requestID, "what holds nothing unknown is kept as it came")

        let done = counter.handler.finish(deferred, isDurable: true, at: Sample.at(32))
        #expect(
            try ListenerReply(decoding: done.frame)
                == ListenerReply(
                    requestID: deferred.requestID,
                    gatewayTime: Sample.at(32),
                    body: .acknowledged(recorded: 2)
                )
        )
        #expect(counter.metrics.value(.acknowledgedOutcomes) == 2)
        let failed = counter.handler.finish(deferred, isDurable: false, at: Sample.at(32))
        #expect(try ListenerReply(decoding: failed.frame).body == .refused(.logUnavailable))
        #expect(counter.metrics.value(.acknowledgedOutcomes) == 2)
        #expect(counter.metrics.value(.refusals, .status(.unavailable)) == 1)
    }

    @Test func `fields of a later version stay out of the log`() throws {
        var counter = self.counter()
        let number = try #require(counter.desk["b1"]).number
        let request = ListenerRequest(
            id: 9,
            session: Sample.session(),
            kind: .acknowledge(
                .init(
                    key: Sample.key(),
                    delivery: Counter.delivery(of: number).bytes,
                    outcomes: [Counter.played(at: 10)]
                )
            )
        )
        // Field 1,000, a varint, which no version so far has.
        let frame = request.encoded() + [0xC0, 0x3E, 5]
        #expect(try counter.ask(frame, id: 9, at: Sample.at(10)).deferred != nil)
        #expect(try counter.gathered.requests.map(\.request) == [request.encoded()])
    }

    @Test func `an acknowledgement needs no lease, and makes none`() throws {
        var counter = self.counter { $0.listenersMax = 0 }
        #expect(try counter.acknowledge([Counter.played(at: 10)], at: 31).deferred != nil)
        #expect(counter.handler.leases.count == 0)
    }

    @Test func `a delivery must be of this session and this break`() throws {
        var counter = self.counter()
        _ = counter.desk.ask(.publish(Sample.publish("b2", start: .at(Sample.at(30)))), at: 1)
        let one = try #require(counter.desk["b1"]).number
        let two = try #require(counter.desk["b2"]).number
        let foreign: [[UInt8]] = [
            Counter.delivery(to: Sample.session(2), of: one).bytes,
            Counter.delivery(of: two).bytes,
            Counter.delivery(of: one, variant: 1).bytes,
            [], [1, 2, 3], [UInt8](repeating: 1, count: WireLimits.deliveryBytesMax),
        ]
        for delivery in foreign {
            let refusal = try counter.acknowledge([Counter.played(at: 10)], delivery: delivery, at: 31).refusal
            #expect(refusal?.status == .deliveryInvalid)
        }
        #expect(counter.handler.group.isEmpty)
    }

    @Test func `an outcome names an advertisement of the break, once`() throws {
        var counter = self.counter()
        let unknown = try counter.acknowledge([Counter.played("ad7", at: 10)], at: 31).refusal
        #expect(unknown == Refusal(.notFound, "The break b1 has no advertisement ad7."))
        let twice = try counter.acknowledge([Counter.played(at: 10), Counter.played(at: 11)], at: 31).refusal
        #expect(twice == Refusal(.invalid, "The advertisement ad0 is listed twice."))
        #expect(counter.handler.group.isEmpty, "one wrong outcome refuses all")
    }

    @Test func `a break that is not there, not any more, or over too long is refused`() throws {
        var counter = self.counter()
        #expect(try counter.acknowledge([Counter.played(at: 10)], of: "none", at: 31).refusal?.status == .notFound)
        let limit = 30 + Self.week
        counter.desk.runHousekeeping(at: limit)
        #expect(try counter.acknowledge([Counter.played(at: limit)], at: limit).deferred != nil)
        // A clock that is wrong makes nothing too old: the log's own time does.
        #expect(try counter.acknowledge([Counter.played(at: limit)], at: limit + 401 * 86_400).deferred != nil)
        counter.desk.runHousekeeping(at: limit + 1)
        let retired = try counter.acknowledge([Counter.played(at: limit)], at: limit + 1).refusal
        #expect(retired == Refusal(.breakTooOld, "The break b1 is older than the gateway keeps."))
    }

    @Test func `an outcome is at most eight days old`() throws {
        var counter = Counter()
        _ = counter.desk.ask(.publish(Sample.publish(start: nil)), at: 0)
        let now = Self.week
        counter.desk.runHousekeeping(at: now)
        #expect(try counter.acknowledge([Counter.played(at: 0)], at: now).deferred != nil)
        counter.desk.runHousekeeping(at: now + 0.000_001)
        let old = try counter.acknowledge([Counter.played(at: 0)], at: now).refusal
        #expect(old == Refusal(.breakTooOld, "The outcome of ad0 is more than 8 days old."))
        for end in [Int64.min, Int64.max] {
            let outcome = Outcome(
                advertisementID: Sample.advertisementID("ad0"),
                kind: .played,
                occurred: Timestamp(microseconds: end)
            )
            // An instant that cannot be says nothing of how old the break is.
            #expect(try counter.acknowledge([outcome], at: 1).refusal?.status == .invalid)
        }
    }

    @Test func `a condensed break is still acknowledged`() throws {
        var counter = self.counter()
        let later = 31 + BoardLimits.batchesWithin.inSeconds
        counter.desk.runHousekeeping(at: later)
        #expect(counter.desk["b1"]?.record.condensed == true)
        #expect(try counter.acknowledge([Counter.played("ad2", at: 10)], at: later).deferred?.outcomes == 1)
        #expect(try counter.gathered.requests.first?.ordinals == [2])
    }

    @Test func `acknowledgements wait for the log at most so many`() throws {
        var counter = self.counter { $0.acknowledgementsWaitingMax = 2 }
        for ad in ["ad0", "ad1"] {
            #expect(try counter.acknowledge([Counter.played(ad, at: 10)], at: 31).deferred != nil)
        }
        #expect(try counter.acknowledge([Counter.played("ad2", at: 10)], at: 31).refusal == .logBehind)
        #expect(counter.metrics.value(.limitsHit, .limit(.acknowledgementsWaitingMax)) == 1)
        _ = counter.handler.takeGroup()
        #expect(try counter.acknowledge([Counter.played("ad2", at: 10)], at: 31).deferred != nil)
    }

    @Test func `a record is as large as it may be, what is beyond goes into the next`() throws {
        var sizes = self.counter { $0.rememberedOutcomesMax = 0 }
        let first = sizes.handler.group.recordBytesMax
        _ = try sizes.acknowledge([Counter.played(at: 10)], at: 31)
        let one = sizes.handler.group.recordBytesMax - first
        let request = try sizes.gathered.requests[0].request.count
        // A request is let in where the most that it may take fits.
        let limit = one + request + GatheredGroup.requestOverheadBytesMax
        for (recordBytesMax, expected) in [(limit, [2, 1]), (limit - 1, [1, 1, 1])] {
            var counter = self.counter {
                $0.recordBytesMax = recordBytesMax
                $0.acknowledgementsWaitingMax = 3
                $0.rememberedOutcomesMax = 0
            }
            for _ in 0..<3 { #expect(try counter.acknowledge([Counter.played(at: 10)], at: 31).deferred != nil) }
            #expect(try counter.acknowledge([Counter.played(at: 10)], at: 31).refusal == .logBehind, "all of them wait")
            var counts: [Int] = []
            while !counter.handler.hasGatheredNothing {
                let group = counter.handler.takeGroup().group
                counts.append(group.requestCount)
                #expect(group.encoded().count <= recordBytesMax)
            }
            #expect(counts == expected)
            #expect(counter.metrics.value(.limitsHit, .limit(.recordBytesMax)) == expected.count - 1)
        }
    }

    @Test func `deliveries that come back wait for a record that has room`() throws {
        var counter = self.counter { $0.recordBytesMax = 10 * GatheredGroup.deliveryBytesMax }
        let number = try #require(counter.desk["b1"]).number
        let deliveries = (0..<25 as Range<UInt64>)
            .map { AcknowledgementGroup.Delivery(session: Sample.session($0), breakNumber: number, at: Sample.at(5)) }
        for delivery in deliveries { #expect(try counter.batch(by: delivery.session, at: 5).batch != nil) }
        var taken: [UInt64] = []
        while !counter.handler.hasGatheredNothing { taken.append(counter.handler.takeGroup().number) }
        #expect(taken.count == 3)
        for number in taken { #expect(counter.handler.answered(number, isDurable: false) == []) }
        var found: [AcknowledgementGroup.Delivery] = []
        while !counter.handler.hasGatheredNothing {
            let group = counter.handler.takeGroup().group
            #expect(group.deliveries.count <= 10)
            found += group.deliveries
        }
        #expect(found == deliveries)
    }

    // MARK: - What the ledger reads

    @Test func `the ledger reads what was accepted`() throws {
        var counter = self.counter()
        _ = try counter.batch(by: Sample.session(2), at: 11)
        var ignored = Counter.played("ad1", at: 12)
        ignored.kind = .ignored
        ignored.reason = .user
        _ = try counter.acknowledge([Counter.played("ad2", at: 12), ignored], at: 12)
        _ = try counter.acknowledge([Counter.played("ad0", at: 13)], by: Sample.session(2), at: 13)
        let group = counter.handler.takeGroup().group
        let posting = try LedgerPosting(LoggedRecord(offset: 4, bytes: group.encoded()))
        let number = try #require(counter.desk["b1"]).number
        #expect(posting.offset == 4)
        #expect(
            posting.deliveries == [
                .init(session: Sample.session(2), breakNumber: number, variant: 0, first: 1, at: Sample.at(11))
            ]
        )
        func row(_ session: UInt64, _ ordinal: UInt32, _ outcome: Outcome, _ at: Double) -> LedgerPosting.OutcomeRow {
            .init(
                breakNumber: number,
                session: Sample.session(session),
                ordinal: ordinal,
                outcome: outcome.details,
                received: Sample.at(at)
            )
        }
        #expect(
            posting.outcomes == [
                row(1, 2, Counter.played("ad2", at: 12), 12), row(1, 1, ignored, 12),
                row(2, 0, Counter.played("ad0", at: 13), 13),
            ]
        )
    }

    @Test func `the ledger stops at a record that is damaged`() throws {
        var counter = self.counter()
        _ = try counter.acknowledge([Counter.played(at: 12)], at: 12)
        let group = try AcknowledgementGroup(decoding: counter.handler.takeGroup().group.encoded())
        func refuses(_ change: (inout AcknowledgementGroup) -> Void) {
            var damaged = group
            change(&damaged)
            #expect(throws: WireError.self) { try LedgerPosting(LoggedRecord(offset: 1, bytes: damaged.encoded())) }
        }
        refuses { $0.requests[0].ordinals = [] }
        refuses { $0.requests[0].ordinals = [0, 1] }
        refuses { $0.requests[0].request.removeLast() }
        refuses { $0.requests[0].request = [] }
        refuses {
            let join = ListenerRequest.Join(stream: Sample.stream, instance: 0)
            $0.requests[0].request = ListenerRequest(id: 1, session: Sample.session(), kind: .join(join)).encoded()
        }
        #expect(throws: WireError.self) { try LedgerPosting(LoggedRecord(offset: 1, bytes: [0xFF])) }
        let empty = try LedgerPosting(LoggedRecord(offset: 1, bytes: []))
        #expect(empty.outcomes.isEmpty && empty.deliveries.isEmpty)
    }
}

@Suite(.suiteLimit)
struct ReportTests {
    private func counts(_ delivered: Int64, _ played: Int64, _ ignored: Int64, _ failed: Int64) -> OutcomeCounts {
        var counts = OutcomeCounts()
        counts.delivered = delivered
        counts.played = played
        counts.ignored = ignored
        counts.failed = failed
        counts.unknown = delivered - played - ignored - failed
        counts.inferred = played / 2
        counts.repeats = 3
        counts.contradictions = 1
        counts.heardMilliseconds = played * 1_000
        counts.muted = 1
        counts.clicked = 2
        counts.ignoredBy = [.user: ignored - 1, .expired: 1]
        return counts
    }

    @Test func `counts add up`() {
        var total = self.counts(10, 4, 3, 1)
        total += self.counts(100, 50, 20, 10)
        #expect(total.delivered == 110)
        #expect(total.played == 54)
        #expect(total.ignored == 23)
        #expect(total.failed == 11)
        #expect(total.unknown == 22)
        #expect(total.inferred == 27)
        #expect(total.repeats == 6)
        #expect(total.contradictions == 2)
        #expect(total.heardMilliseconds == 54_000)
        #expect(total.muted == 2)
        #expect(total.clicked == 4)
        #expect(total.ignoredBy == [.user: 21, .expired: 2])
        #expect(total.balances)
        #expect(OutcomeCounts().balances)
    }

    @Test func `counts balance, or not`() {
        for change in [\OutcomeCounts.delivered, \.played, \.ignored, \.failed, \.unknown] {
            var counts = self.counts(10, 4, 3, 1)
            #expect(counts.balances)
            counts[keyPath: change] += 1
            #expect(!counts.balances)
        }
    }

    @Test func `a report is the sum of its advertisements, and balances if each does`() {
        let desk = { () -> Desk in
            var desk = Desk()
            _ = desk.ask(.publish(Sample.publish(start: .now)), at: 0)
            return desk
        }()
        guard let summary = desk["b1"]?.summary else {
            Issue.record("no break")
            return
        }
        #expect(summary.advertisements.map(\.id.description) == ["ad0", "ad1", "ad2"])
        #expect(summary.end == Sample.at(30))
        func advertisement(_ counts: OutcomeCounts) -> Report.Advertisement {
            .init(id: Sample.advertisementID("ad"), title: "", duration: .seconds(1), counts: counts)
        }
        var report = Report(
            breaks: [
                .init(
                    summary: summary,
                    sessions: 10,
                    advertisements: [advertisement(self.counts(10, 4, 3, 1)), advertisement(self.counts(9, 9, 0, 0))],
                    settled: true
                ),
                .init(
                    summary: summary,
                    sessions: 1,
                    advertisements: [advertisement(self.counts(1, 0, 1, 0))],
                    settled: false
                ),
            ],
            offsets: [.breaks: 3, .acknowledgements(0): 4],
            more: false
        )
        #expect(report.total.delivered == 20)
        #expect(report.total.played == 13)
        #expect(report.balances)
        report.breaks[1].advertisements[0].counts.unknown += 1
        #expect(!report.balances)
        #expect(Report(breaks: [], offsets: [:], more: false).total == OutcomeCounts())
    }

    @Test(arguments: [(-1, 1), (0, 1), (1, 1), (499, 499), (500, 500), (501, 500), (Int.max, 500)])
    func `a query asks for one to so many breaks`(asked: Int, limit: Int) {
        #expect(ReportQuery(limit: asked, now: Sample.t0).limit == limit)
    }

    @Test func `lanes and errors have names`() {
        #expect(Lane.breaks.description == "breaks")
        #expect(Lane.acknowledgements(3).description == "acknowledgements/3")
        #expect("\(EventLogError.pruned(lane: .breaks, firstKept: 7))" == "The lane breaks begins at offset 7.")
        #expect("\(EventLogError.closed)" == "The event log is closed.")
        #expect("\(EventLogError.failed("disk full"))" == "The event log failed: disk full")
        let error = LedgerError.outOfOrder(lane: .breaks, applied: 3, found: 5)
        #expect("\(error)" == "The ledger has the lane breaks up to 3 and was given 5.")
        #expect("\(LedgerError.closed)" == "The ledger is closed.")
        #expect("\(LedgerError.failed("x"))" == "The ledger failed: x")
    }
}
