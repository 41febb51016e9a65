// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// The counts of every ledger.
@Suite(.suiteLimit)
struct LedgerContractTests {
    private func withLedger(
        _ kind: StoreKind,
        _ body: (any Ledger) async throws -> Void
    ) async throws {
        var harness = try LedgerHarness(kind)
        let ledger = try await harness.open()
        try await body(ledger)
        #expect(try await ledger.everything().balances)
        #expect(try await ledger.audit().isEmpty)
        await harness.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `a delivered ad is unknown until its outcome comes`(_ kind: StoreKind) async throws {
        try await self.withLedger(kind) { ledger in
            try await ledger.record([try Books.summary()], through: 1)
            try await ledger.post([Books.delivery(1), Books.delivery(2)])
            var counts = try await ledger.counts()
            #expect(counts.map(\.delivered) == [2, 2, 2] && counts.map(\.unknown) == [2, 2, 2])
            try await ledger.post(
                [],
                [
                    try Books.outcome(1, 0, evidence: .inferred, muted: true), try Books.outcome(1, 1, .ignored),
                    try Books.outcome(2, 0, heard: .milliseconds(1_500)), try Books.outcome(2, 1, .failed),
                ]
            )
            counts = try await ledger.counts()
            #expect(counts.map(\.delivered) == [2, 2, 2] && counts.map(\.unknown) == [0, 0, 2])
            #expect(counts[0].played == 2 && counts[0].inferred == 1 && counts[0].muted == 1)
            #expect(counts[0].heardMilliseconds == 4_500)
            #expect(counts[1].ignored == 1 && counts[1].ignoredBy == [.user: 1] && counts[1].failed == 1)
            #expect(try await ledger.everything().breaks[0].sessions == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an outcome proves delivery, once`(_ kind: StoreKind) async throws {
        try await self.withLedger(kind) { ledger in
            try await ledger.record([try Books.summary()], through: 1)
            try await ledger.post([], [try Books.outcome(1, 1)])
            var counts = try await ledger.counts()
            #expect(counts.map(\.delivered) == [0, 1, 0] && counts.map(\.unknown) == [0, 0, 0])
            // Now the delivery comes.
            try await ledger.post([Books.delivery(1)])
            counts = try await ledger.counts()
            #expect(counts.map(\.delivered) == [1, 1, 1] && counts.map(\.unknown) == [1, 0, 1])
            try await ledger.post([Books.delivery(1), Books.delivery(1)])
            #expect(try await ledger.counts() == counts)
            #expect(try await ledger.everything().breaks[0].sessions == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the largest batch counts, whichever came first`(_ kind: StoreKind) async throws {
        try await self.withLedger(kind) { ledger in
            try await ledger.record([try Books.summary()], through: 1)
            try await ledger.post([Books.delivery(1, first: 2)])
            #expect(try await ledger.counts().map(\.delivered) == [0, 0, 1])
            try await ledger.post([], [try Books.outcome(1, 1), try Books.outcome(1, 2)])
            #expect(try await ledger.counts().map(\.delivered) == [0, 1, 1])
            try await ledger.post([Books.delivery(1, first: 1)])
            #expect(try await ledger.counts().map(\.delivered) == [0, 1, 1])
            #expect(try await ledger.counts().map(\.unknown) == [0, 0, 0])
            try await ledger.post([Books.delivery(1, first: 2), Books.delivery(1, first: 0)])
            #expect(try await ledger.counts().map(\.delivered) == [1, 1, 1])
            #expect(try await ledger.counts().map(\.unknown) == [1, 0, 0])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the first outcome stands, repeats and contradictions are counted`(_ kind: StoreKind) async throws {
        try await self.withLedger(kind) { ledger in
            try await ledger.record([try Books.summary()], through: 1)
            // In one group, in a later one, and for different reasons.
            try await ledger.post(
                [],
                [try Books.outcome(1, 0, .ignored, reason: .expired), try Books.outcome(1, 0, .ignored, reason: .user)]
            )
            try await ledger.post(
                [Books.delivery(1)],
                [try Books.outcome(1, 0, .played), try Books.outcome(1, 0, .ignored), try Books.outcome(1, 0, .failed)]
            )
            let counts = try await ledger.counts()[0]
            #expect(counts.ignored == 1 && counts.ignoredBy == [.expired: 1])
            #expect(counts.played == 0 && counts.failed == 0 && counts.heardMilliseconds == 0)
            #expect(counts.repeats == 2 && counts.contradictions == 2)
            #expect(counts.delivered == 1 && counts.unknown == 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `applying says how many outcomes stand from then on, each once`(_ kind: StoreKind) async throws {
        try await self.withLedger(kind) { ledger in
            try await ledger.record([try Books.summary()], through: 1)
            let rows = [
                try Books.outcome(1, 0), try Books.outcome(1, 1), try Books.outcome(2, 0, .ignored, reason: .user),
                try Books.outcome(3, 0, .failed), try Books.outcome(1, 0), try Books.outcome(1, 1, .failed),
            ]
            let posting = LedgerPosting(offset: 1, deliveries: [Books.delivery(1)], outcomes: rows)
            let counted = try await ledger.apply([posting], of: Books.lane)
            #expect(counted == NewOutcomes(played: 2, ignored: 1, failed: 1))
            #expect(try await ledger.apply([posting], of: Books.lane) == NewOutcomes(), "it is applied already")
            let again = LedgerPosting(offset: 2, deliveries: [], outcomes: rows)
            #expect(try await ledger.apply([again], of: Books.lane) == NewOutcomes(), "each outcome is a repeat")
            #expect(try await ledger.apply([], of: Books.lane) == NewOutcomes())
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `clicks are counted once, whatever the outcome, and are never a contradiction`(_ kind: StoreKind) async throws
    {
        try await self.withLedger(kind) { ledger in
            try await ledger.record([try Books.summary()], through: 1)
            try await ledger.post(
                [Books.delivery(5)],
                [
                    try Books.outcome(1, 0, clicked: true), try Books.outcome(2, 0, .ignored, clicked: true),
                    try Books.outcome(3, 0, .failed, clicked: true), try Books.outcome(4, 0),
                    try Books.outcome(1, 1, .failed),
                ]
            )
            #expect(try await ledger.counts().map(\.clicked) == [3, 0, 0])
            #expect(try await ledger.everything().total.clicked == 3)
            // The first one stands, with or without a click.
            try await ledger.post([], [try Books.outcome(1, 0), try Books.outcome(4, 0, clicked: true)])
            let counts = try await ledger.counts()
            #expect(counts.map(\.clicked) == [3, 0, 0])
            #expect(counts[0].repeats == 2 && counts[0].contradictions == 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a break may become known after what happened in it`(_ kind: StoreKind) async throws {
        try await self.withLedger(kind) { ledger in
            try await ledger.post([Books.delivery(1), Books.delivery(2, first: 1)], [try Books.outcome(3, 2)])
            #expect(try await ledger.everything().breaks.isEmpty)
            try await ledger.record([try Books.summary(advertisements: 4)], through: 1)
            let counts = try await ledger.counts()
            #expect(counts.map(\.delivered) == [1, 2, 3, 2])
            #expect(counts.map(\.unknown) == [1, 2, 2, 2])
            #expect(try await ledger.everything().breaks[0].sessions == 3)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `every reason is counted apart`(_ kind: StoreKind) async throws {
        try await self.withLedger(kind) { ledger in
            try await ledger.record([try Books.summary()], through: 1)
            let reasons = Outcome.Reason.allCases
            try await ledger.post(
                [],
                try reasons.enumerated()
                    .flatMap { number, reason in
                        try (0...number).map { try Books.outcome(100 * number + $0, 0, .ignored, reason: reason) }
                    }
            )
            let counts = try await ledger.counts()[0]
            for (number, reason) in reasons.enumerated() { #expect(counts.ignoredBy[reason] == Int64(number) + 1) }
            #expect(counts.ignored == Int64(reasons.count * (reasons.count + 1) / 2))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a jump of the offsets is crossed where it follows what is applied`(_ kind: StoreKind) async throws {
        try await self.withLedger(kind) { ledger in
            try await ledger.record([try Books.summary()], through: 1)
            func posting(_ offset: UInt64, after previous: UInt64) -> LedgerPosting {
                LedgerPosting(
                    offset: offset,
                    previous: previous,
                    deliveries: [Books.delivery(Int(offset))],
                    outcomes: []
                )
            }
            try await ledger.apply([posting(1, after: 0), posting(2, after: 1)], of: Books.lane)
            await #expect(throws: LedgerError.outOfOrder(lane: Books.lane, applied: 2, found: 1_001)) {
                try await ledger.apply([posting(1_001, after: 3)], of: Books.lane)
            }
            try await ledger.apply([posting(1_001, after: 2), posting(1_002, after: 1_001)], of: Books.lane)
            #expect(try await ledger.appliedOffset(of: Books.lane) == 1_002)
            #expect(try await ledger.counts().map(\.delivered) == [4, 4, 4])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a gap is refused and nothing of it applied`(_ kind: StoreKind) async throws {
        try await self.withLedger(kind) { ledger in
            try await ledger.record([try Books.summary()], through: 9)
            func posting(_ offset: UInt64) -> LedgerPosting {
                LedgerPosting(offset: offset, deliveries: [Books.delivery(Int(offset))], outcomes: [])
            }
            try await ledger.apply([posting(1), posting(2)], of: Books.lane)
            for (offsets, applied, found) in [([4], 2, 4), ([3, 5], 3, 5), ([3, 3], 3, 3), ([1, 2, 3, 2], 3, 2)]
                as [([UInt64], UInt64, UInt64)]
            {
                await #expect(throws: LedgerError.outOfOrder(lane: Books.lane, applied: applied, found: found)) {
                    try await ledger.apply(offsets.map(posting), of: Books.lane)
                }
            }
            #expect(try await ledger.appliedOffset(of: Books.lane) == 2)
            #expect(try await ledger.counts().map(\.delivered) == [2, 2, 2])
            try await ledger.apply([posting(1), posting(2), posting(3)], of: Books.lane)
            try await ledger.apply([], of: Books.lane)
            #expect(try await ledger.appliedOffset(of: Books.lane) == 3)
            #expect(try await ledger.counts().map(\.delivered) == [3, 3, 3])
            #expect(try await ledger.everything().offsets == [Books.lane: 3, .breaks: 9])
            #expect(try await ledger.appliedOffset(of: .acknowledgements(1)) == 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `newer facts about a break stay`(_ kind: StoreKind) async throws {
        try await self.withLedger(kind) { ledger in
            let later = try Books.summary(advertisements: 2, end: nil, title: "Later")
            try await ledger.record([later], through: 5)
            try await ledger.record([try Books.summary(), try Books.summary(2)], through: 4)
            #expect(try await ledger.everything().breaks.map(\.summary) == [try Books.summary(2), later])
            #expect(try await ledger.appliedOffset(of: .breaks) == 5)
            let same = try Books.summary(advertisements: 1, title: "Same offset")
            try await ledger.record([same], through: 5)
            #expect(try await ledger.everything().breaks.last?.summary == same)
            try await ledger.record([], through: 8)
            #expect(try await ledger.appliedOffset(of: .breaks) == 8)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `reports go from the newest break to the oldest, page by page`(_ kind: StoreKind) async throws {
        try await self.withLedger(kind) { ledger in
            let numbers = (1...UInt64(ReportQuery.breaksMax + 1))
            try await ledger.record(
                try numbers.map {
                    try Books.summary(
                        $0,
                        advertisements: 1,
                        stream: $0.isMultiple(of: 2) ? "even" : "odd",
                        id: "b\($0 % 3)"
                    )
                },
                through: 1
            )
            func page(_ query: ReportQuery) async throws -> ([UInt64], Bool) {
                let report = try await ledger.report(query)
                return (report.breaks.map(\.summary.number.rawValue), report.more)
            }
            let now = Books.start
            let all = Array(numbers.reversed())
            #expect(try await page(ReportQuery(limit: 500, now: now)) == (Array(all.prefix(500)), true))
            #expect(try await page(ReportQuery(limit: 501, now: now)) == (Array(all.prefix(500)), true))
            #expect(try await page(ReportQuery(limit: 0, now: now)) == ([501], true))
            let second = BreakNumber(rawValue: 2)
            #expect(try await page(ReportQuery(before: second, now: now)) == ([1], false))
            #expect(try await page(ReportQuery(before: BreakNumber(rawValue: 1), now: now)) == ([], false))
            let last = BreakNumber(rawValue: .max)
            #expect(try await page(ReportQuery(before: last, limit: 2, now: now)) == ([501, 500], true))
            let even = try StreamID("even")
            let multiples = all.filter { $0.isMultiple(of: 2) }
            #expect(try await page(ReportQuery(stream: even, limit: 250, now: now)) == (multiples, false))
            #expect(
                try await page(ReportQuery(stream: even, limit: 249, now: now)) == (Array(multiples.prefix(249)), true)
            )
            let id = try BreakID("b0")
            let sixths = all.filter { $0.isMultiple(of: 6) }
            #expect(
                try await page(ReportQuery(stream: even, breakID: id, before: BreakNumber(rawValue: 400), now: now))
                    == (sixths.filter { $0 < 400 }, false)
            )
            #expect(
                try await page(ReportQuery(breakID: id, limit: 500, now: now))
                    == (all.filter { $0.isMultiple(of: 3) }, false)
            )
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a report of one ad or of a time has the same numbers as the whole, and no other breaks`(
        _ kind: StoreKind
    ) async throws {
        try await self.withLedger(kind) { ledger in
            var summaries: [BreakSummary] = []
            for number in 1...40 as ClosedRange<UInt64> {
                var summary = try Books.summary(number, advertisements: 1 + Int(number % 3))
                // Some have no start.
                summary.start = number.isMultiple(of: 5) ? nil : Books.start + .seconds(Int64(number))
                summaries.append(summary)
            }
            try await ledger.record(summaries, through: 1)
            let now = Books.start
            let whole = try await ledger.report(ReportQuery(limit: 500, now: now)).breaks
            let third = try #require(summaries.first { $0.advertisements.count == 3 }?.advertisements.last?.id)
            let (from, to) = (Books.start + .seconds(7), Books.start + .seconds(31))
            for (query, isWanted) in [
                (
                    ReportQuery(advertisement: third, now: now),
                    { $0.summary.advertisements.contains { $0.id == third } }
                ),
                (ReportQuery(from: from, now: now), { $0.summary.start.map { $0 >= from } ?? false }),
                (ReportQuery(to: to, now: now), { $0.summary.start.map { $0 < to } ?? false }),
                (
                    ReportQuery(advertisement: third, from: from, to: to, now: now),
                    { each in
                        each.summary.start.map { from <= $0 && $0 < to } ?? false
                            && each.summary.advertisements.contains { $0.id == third }
                    }
                ),
                (ReportQuery(advertisement: try AdvertisementID("none"), now: now), { _ in false }),
            ] as [(ReportQuery, (Report.Break) -> Bool)] {
                let wanted = whole.filter(isWanted)
                    .map { each in
                        var part = each
                        if let ad = query.advertisement { part.advertisements.removeAll { $0.id != ad } }
                        return part
                    }
                for limit in [1, 3, 500] {
                    var query = query
                    query.limit = limit
                    var read: [Report.Break] = []
                    while true {
                        let report = try await ledger.report(query)
                        #expect(report.breaks.count <= limit)
                        read += report.breaks
                        guard report.more else { break }
                        query.before = try #require(report.lookedThrough ?? report.breaks.last?.summary.number)
                    }
                    #expect(read == wanted)
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a break is settled ten minutes after its end`(_ kind: StoreKind) async throws {
        try await self.withLedger(kind) { ledger in
            let end = Books.start + .seconds(30)
            try await ledger.record([try Books.summary(1, end: end), try Books.summary(2, end: nil)], through: 1)
            func settled(_ now: Timestamp) async throws -> [Bool] {
                try await ledger.report(ReportQuery(now: now)).breaks.map(\.settled)
            }
            #expect(try await settled(end + .seconds(600)) == [false, true])
            #expect(try await settled(end + .seconds(600) - .microseconds(1)) == [false, false])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `ordinals beyond the advertisements do no harm`(_ kind: StoreKind) async throws {
        try await self.withLedger(kind) { ledger in
            try await ledger.record([try Books.summary(advertisements: 1)], through: 1)
            try await ledger.post(
                [Books.delivery(1, first: .max)],
                [try Books.outcome(1, .max), try Books.outcome(2, .max), try Books.outcome(1, 5)]
            )
            try await ledger.post([Books.delivery(2, first: .max)])
            let report = try await ledger.everything()
            #expect(report.breaks[0].sessions == 2)
            #expect(report.breaks[0].advertisements.map(\.counts.delivered) == [0])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the books are the same after closing and opening`(_ kind: StoreKind) async throws {
        var harness = try LedgerHarness(kind)
        var ledger = try await harness.open()
        try await ledger.record([try Books.summary(), try Books.summary(2, end: nil)], through: 3)
        try await ledger.post([Books.delivery(1), Books.delivery(2, of: 2)], [try Books.outcome(1, 0)])
        let report = try await ledger.everything()
        #expect(try await ledger.checkpoint() == [Books.lane: 1, .breaks: 3])
        ledger = try await harness.open()
        #expect(try await ledger.everything() == report)
        #expect(try await ledger.audit().isEmpty)
        let closed = ledger
        await ledger.close()
        await ledger.close()
        await #expect(throws: LedgerError.closed) { try await closed.post() }
        await #expect(throws: LedgerError.closed) { _ = try await closed.everything() }
        await #expect(throws: LedgerError.closed) { try await closed.record([], through: 1) }
        await #expect(throws: LedgerError.closed) { _ = try await closed.checkpoint() }
        await #expect(throws: LedgerError.closed) { _ = try await closed.audit() }
        await harness.close()
    }
}
