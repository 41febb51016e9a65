// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing

/// The books of breaks with several variants: each ad's counts are those of the sessions that got its variant.
@Suite(.suiteLimit)
struct LedgerVariantTests {
    private static let names = ["cars", "phones"]

    private func query(_ variant: UInt32?, of id: String = "break-1") throws -> ReportQuery {
        ReportQuery(
            stream: try StreamID("radio1"),
            breakID: try BreakID(id),
            variant: variant,
            limit: 1,
            now: Books.start
        )
    }

    /// An outcome of the ad at a place of a variant's list.
    private func outcome(
        _ session: Int,
        _ place: Int,
        in variant: UInt32,
        _ kind: Outcome.Kind = .played
    ) throws -> LedgerPosting.OutcomeRow {
        try Books.outcome(session, AdOrdinal.of(place, in: variant), kind)
    }

    /// Sessions, and of the first ad how many it was delivered to and how many played it, by variant.
    private func table(_ ledger: any Ledger) async throws -> [[Int64]] {
        var table: [[Int64]] = []
        for variant in 0...2 as ClosedRange<UInt32> {
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
        let records = try books.postings(lane: 0, count: 120)
            .map { LoggedRecord(offset: $0.offset, bytes: try KeptBooks.group($0).encoded()) }
        let summaries = try books.summaries(at: 5)
        for each in [ledger, reference] as [any Ledger] {
            try await each.apply(try LedgerPosting.postings(of: records), of: RandomBooks.lanes[0])
            try await each.record(summaries, through: 5)
        }
        for summary in summaries {
            let id = summary.key.id.description
            let whole = try #require(try await ledger.report(self.query(nil, of: id)).breaks.first)
            #expect(whole.summary == summary)
            var parts: [Report.Advertisement] = []
            var sessions: Int64 = 0
            for variant in RandomBooks.variants {
                let report = try await ledger.report(self.query(variant, of: id))
                #expect(report == (try await reference.report(self.query(variant, of: id))))
                #expect(report.variant == variant && report.balances)
                let each = try #require(report.breaks.first)
                #expect(each.summary == whole.summary)
                sessions += each.sessions
                #expect(each.advertisements.allSatisfy { $0.variant == variant })
                parts += each.advertisements
            }
            #expect(parts == whole.advertisements)
            // A session has one variant, and one that is known by its outcomes alone has none.
            #expect((1...whole.sessions).contains(sessions))
            // There is no such variant: that is no failure.
            let empty = try await ledger.report(self.query(31, of: id))
            #expect(empty.breaks.map(\.sessions) == [0] && empty.total == OutcomeCounts() && empty.balances)
        }
        #expect(try await ledger.audit().isEmpty)
        await harness.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `a batch is counted for the ads of its variant only`(_ kind: StoreKind) async throws {
        var harness = try LedgerHarness(kind)
        let ledger = try await harness.open()
        try await ledger.record([try Books.summary(variants: Self.names)], through: 1)
        try await ledger.post(
            [
                Books.delivery(1), Books.delivery(2, variant: 1), Books.delivery(3, variant: 1, first: 1),
                Books.delivery(4, variant: 2),
            ],
            [try self.outcome(2, 0, in: 1), try self.outcome(4, 2, in: 2, .ignored), try self.outcome(5, 0, in: 2)]
        )
        #expect(try await self.table(ledger) == [[1, 1, 0], [2, 1, 1], [1, 2, 1]])
        let whole = try #require(try await ledger.report(self.query(nil)).breaks.first)
        #expect(whole.sessions == 5)
        #expect(whole.advertisements.map(\.counts.delivered) == [1, 1, 1, 1, 2, 2, 2, 1, 1])
        #expect(whole.advertisements.map(\.counts.unknown) == [1, 1, 1, 0, 2, 2, 1, 1, 0])
        #expect(whole.advertisements.map { whole.summary.name(ofVariant: $0.variant) }.last == "phones")
        #expect(whole.balances)
        #expect(try await ledger.audit().isEmpty)
        await harness.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `a session with batches of two variants counts for the first of them, in any order`(
        _ kind: StoreKind
    ) async throws {
        let events: [(delivery: LedgerPosting.Delivery?, outcome: LedgerPosting.OutcomeRow?)] = [
            (Books.delivery(1, variant: 2), nil), (Books.delivery(1, variant: 1), nil),
            (nil, try self.outcome(1, 0, in: 2)), (nil, try self.outcome(1, 1, in: 1)),
        ]
        for order in [[0, 1, 2, 3], [1, 0, 3, 2], [2, 0, 3, 1], [0, 2, 1, 3], [3, 2, 1, 0]] {
            var harness = try LedgerHarness(kind)
            let ledger = try await harness.open()
            try await ledger.record([try Books.summary(variants: Self.names)], through: 1)
            for index in order {
                let event = events[index]
                try await ledger.post([event.delivery].compactMap(\.self), [event.outcome].compactMap(\.self))
            }
            // The outcome of the other variant's ad proves that it was delivered as well.
            #expect(try await self.table(ledger) == [[0, 0, 0], [1, 1, 0], [0, 1, 1]], "\(order)")
            #expect(try await ledger.report(self.query(nil)).balances)
            #expect(try await ledger.audit().isEmpty)
            await harness.close()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the variants stay when the rows are forgotten, and go with the totals`(_ kind: StoreKind) async throws {
        var harness = try LedgerHarness(kind)
        let ledger = try await harness.open()
        let end = Books.start + .seconds(30)
        try await ledger.record([try Books.summary(variants: Self.names)], through: 1)
        try await ledger.post([Books.delivery(1, variant: 2)], [try self.outcome(1, 0, in: 2)])
        _ = try await ledger.prune(rowsOfBreaksEndedBefore: end + .microseconds(1), totalsBefore: end)
        #expect(try await self.table(ledger) == [[0, 0, 0], [0, 0, 0], [1, 1, 1]])
        let after = end + .microseconds(1)
        _ = try await ledger.prune(rowsOfBreaksEndedBefore: after, totalsBefore: after)
        #expect(try await ledger.report(self.query(nil)).breaks.isEmpty)
        await harness.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `a break that changes has the variants of its newest summary`(_ kind: StoreKind) async throws {
        var harness = try LedgerHarness(kind)
        let ledger = try await harness.open()
        for (offset, variants) in [(1, Self.names), (2, ["cars"]), (3, [])] as [(UInt64, [String])] {
            let summary = try Books.summary(variants: variants)
            try await ledger.record([summary], through: offset)
            #expect(try await ledger.report(self.query(nil)).breaks.map(\.summary) == [summary])
        }
        await harness.close()
    }
}
