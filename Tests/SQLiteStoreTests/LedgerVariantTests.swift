// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing

/// The outcomes of sessions with one choice of ads, counted from their rows.
@Suite(.suiteLimit)
struct LedgerVariantTests {
    private func query(_ variant: UInt32?, of id: String = "break-1", rowsMax: Int? = nil) throws -> ReportQuery {
        var query = ReportQuery(
            stream: try StreamID("radio1"),
            breakID: try BreakID(id),
            variant: variant,
            limit: 1,
            now: Books.start
        )
        if let rowsMax { query.rowsMax = rowsMax }
        return query
    }

    /// Sessions, and of the first ad how many it was delivered to and how many played it, by variant.
    private func table(_ ledger: any Ledger, _ variants: ClosedRange<UInt32>) async throws -> [[Int64]] {
        var table: [[Int64]] = []
        for variant in variants {
            let each = try #require(try await ledger.report(self.query(variant)).breaks.first)
            let counts = each.advertisements[0].counts
            table.append([each.sessions, counts.delivered, counts.played])
        }
        return table
    }

    @Test(arguments: StoreKind.allCases)
    func `the books of all variants come to those of the break, and each balances`(_ kind: StoreKind) async throws {
        var harness = try LedgerHarness(kind)
        let ledger = try await harness.open()
        let reference = InMemoryLedger()
        var books = RandomBooks(SeededGenerator(for: "books by variant"))
        // As the log holds them: a gateway that hands out several variants records just this.
        let records = try books.postings(lane: 0, count: 120)
            .map { LoggedRecord(offset: $0.offset, bytes: try KeptBooks.group($0).encoded()) }
        let summaries = try books.summaries(at: 5)
        for each in [ledger, reference] as [any Ledger] {
            try await each.apply(try LedgerPosting.postings(of: records), of: RandomBooks.lanes[0])
            try await each.record(summaries, through: 5)
        }
        var sessionsOf: [UInt32: Int64] = [:]
        for summary in summaries {
            let id = summary.key.id.description
            let whole = try #require(try await ledger.report(self.query(nil, of: id)).breaks.first)
            var sessions: Int64 = 0
            var sums = whole.advertisements.map { _ in OutcomeCounts() }
            for variant in RandomBooks.variants {
                let report = try await ledger.report(self.query(variant, of: id))
                #expect(report == (try await reference.report(self.query(variant, of: id))))
                #expect(report.variant == variant && report.balances)
                let each = try #require(report.breaks.first)
                #expect(each.summary == whole.summary)
                sessions += each.sessions
                sessionsOf[variant, default: 0] += each.sessions
                for (ordinal, advertisement) in each.advertisements.enumerated() {
                    #expect(advertisement.counts.repeats == 0 && advertisement.counts.contradictions == 0)
                    sums[ordinal] += advertisement.counts
                }
            }
            #expect(sessions == whole.sessions)
            let expected = whole.advertisements.map { advertisement in
                var counts = advertisement.counts
                counts.repeats = 0
                counts.contradictions = 0
                return counts
            }
            #expect(sums == expected)
            // No session had it: that is no failure.
            let empty = try await ledger.report(self.query(.max, of: id))
            #expect(empty.breaks.map(\.sessions) == [0] && empty.total == OutcomeCounts() && empty.balances)
        }
        #expect(RandomBooks.variants.allSatisfy { sessionsOf[$0] ?? 0 > 0 })
        await harness.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `a session has the variant of its largest batch, and 0 where only outcomes are known`(
        _ kind: StoreKind
    ) async throws {
        var harness = try LedgerHarness(kind)
        let ledger = try await harness.open()
        try await ledger.record([try Books.summary()], through: 1)
        try await ledger.post([Books.delivery(1, variant: 1), Books.delivery(2, variant: 1, first: 1)])
        #expect(try await self.table(ledger, 0...3) == [[0, 0, 0], [2, 1, 0], [0, 0, 0], [0, 0, 0]])
        try await ledger.post(
            [Books.delivery(2, variant: 2)],
            [try Books.outcome(1, 0), try Books.outcome(3, 0)]
        )
        #expect(try await self.table(ledger, 0...3) == [[1, 1, 1], [1, 1, 1], [1, 1, 0], [0, 0, 0]])
        // Of equally large ones the first stays; a batch takes its session's outcomes along.
        try await ledger.post([Books.delivery(2, variant: 3), Books.delivery(3, variant: 2)])
        #expect(try await self.table(ledger, 0...3) == [[0, 0, 0], [1, 1, 1], [2, 2, 1], [0, 0, 0]])
        #expect(try await ledger.audit().isEmpty)
        await harness.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `one of several pieces, and one ad of them, are counted whole`(_ kind: StoreKind) async throws {
        var harness = try LedgerHarness(kind)
        let ledger = try await harness.open()
        try await ledger.record([try Books.summary()], through: 1)
        try await ledger.post(
            (0..<9_000).map { Books.delivery($0, variant: UInt32($0 % 3)) },
            try (0..<4_500).map { try Books.outcome($0, 1, $0.isMultiple(of: 2) ? .played : .ignored) }
        )
        for variant in 0...2 as ClosedRange<UInt32> {
            var query = try self.query(variant)
            let each = try await ledger.report(query).breaks[0]
            #expect(each.sessions == 3_000)
            let counts = each.advertisements.map(\.counts)
            #expect(counts.map(\.delivered) == [3_000, 3_000, 3_000])
            #expect(counts.map(\.unknown) == [3_000, 1_500, 3_000])
            #expect(counts[1].played == 750 && counts[1].ignored == 750 && counts[1].ignoredBy == [.user: 750])
            query.advertisement = try AdvertisementID("ad-1")
            #expect(try await ledger.report(query).breaks[0].advertisements.map(\.counts) == [counts[1]])
        }
        await harness.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `as many rows are counted as may be, and one more is refused`(_ kind: StoreKind) async throws {
        var harness = try LedgerHarness(kind)
        let ledger = try await harness.open()
        try await ledger.record([try Books.summary()], through: 1)
        // Three sessions and two outcomes: the one that comes again has no row.
        try await ledger.post(
            [Books.delivery(1), Books.delivery(2, variant: 1)],
            [try Books.outcome(1, 0), try Books.outcome(3, 1), try Books.outcome(1, 0)]
        )
        #expect(try await ledger.report(self.query(1, rowsMax: 5)).breaks[0].sessions == 1)
        await #expect(throws: LedgerError.tooManyRows(5)) { try await ledger.report(self.query(1, rowsMax: 4)) }
        // What is not counted from rows has no such limit.
        #expect(try await ledger.report(self.query(nil, rowsMax: 0)).breaks[0].sessions == 3)
        #expect(ReportQuery(now: Books.start).rowsMax == ReportQuery.reportRowsMax)
        await harness.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `of a break whose rows were forgotten there is no part`(_ kind: StoreKind) async throws {
        var harness = try LedgerHarness(kind)
        let ledger = try await harness.open()
        let end = Books.start + .seconds(30)
        try await ledger.record([try Books.summary(), try Books.summary(2, end: nil)], through: 1)
        try await ledger.post([Books.delivery(1), Books.delivery(1, of: 2)])
        _ = try await ledger.prune(rowsOfBreaksEndedBefore: end + .microseconds(1), totalsBefore: end)
        await #expect(throws: LedgerError.rowsForgotten(BreakNumber(rawValue: 1))) {
            try await ledger.report(self.query(0))
        }
        #expect(try await ledger.report(self.query(nil)).breaks[0].sessions == 1)
        #expect(try await ledger.report(self.query(0, of: "break-2")).breaks[0].sessions == 1)
        await harness.close()
    }

    @Test func `a report whose task was cancelled is not counted`() async throws {
        var harness = try LedgerHarness(.sqlite)
        let ledger = try await harness.open()
        try await ledger.record([try Books.summary()], through: 1)
        try await ledger.post([Books.delivery(1)])
        for (variant, isCounted) in [(nil, true), (0, false)] as [(UInt32?, Bool)] {
            let query = try self.query(variant)
            // On an executor of its own choice, as those who read over HTTP.
            let task = Task(executorPreference: globalConcurrentExecutor) {
                while !Task.isCancelled { await Task.yield() }
                return try await ledger.report(query)
            }
            task.cancel()
            let result = await task.result
            #expect(((try? result.get()) != nil) == isCounted)
        }
        await harness.close()
    }
}
