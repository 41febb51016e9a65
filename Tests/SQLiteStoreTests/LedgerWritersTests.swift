// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GRDB
import GatewayCore
import TestSupport
import Testing

@testable import SQLiteStore

/// A ledger passes over groups that come after a later one of their writer.
@Suite(.suiteLimit)
struct LedgerWritersTests {
    private func posting(_ offset: UInt64, _ writer: UInt64, _ number: UInt64, session: Int) -> LedgerPosting {
        LedgerPosting(
            offset: offset,
            mark: AppendMark(AppendID(origin: writer, number: number), at: Books.start),
            deliveries: [Books.delivery(session)],
            outcomes: []
        )
    }

    @Test(arguments: StoreKind.allCases)
    func `a group counts only above the highest number of its writer, also after a restart`(_ kind: StoreKind)
        async throws
    {
        var harness = try LedgerHarness(kind)
        var ledger = try await harness.open()
        try await ledger.record([try Books.summary()], through: 1)
        try await ledger.apply([self.posting(1, 7, 1, session: 1), self.posting(2, 7, 3, session: 2)], of: Books.lane)
        try await ledger.apply([self.posting(3, 7, 2, session: 3), self.posting(4, 8, 1, session: 4)], of: Books.lane)
        #expect(try await ledger.counts()[0].delivered == 3)
        ledger = try await harness.open()
        try await ledger.apply([self.posting(5, 7, 3, session: 5), self.posting(6, 7, 4, session: 6)], of: Books.lane)
        // Another lane has its own numbers.
        let other = Lane.acknowledgements(1)
        try await ledger.apply([self.posting(1, 7, 1, session: 7)], of: other)
        #expect(try await ledger.counts()[0].delivered == 5)
        #expect(try await ledger.appliedOffset(of: Books.lane) == 6, "what is passed over is done with")
        #expect(try await ledger.audit().isEmpty)
        await harness.close()
    }

    @Test func `a ledger of a log with one writer has no table of writers`() async throws {
        let directory = try TemporaryDirectory()
        func hasTable() async throws -> Bool {
            let queue = try DatabaseQueue(path: directory.path + "/ledger.sqlite")
            defer { try? queue.close() }
            return try await queue.read { try $0.tableExists("writers") }
        }
        var ledger = try SQLiteLedger(in: StoreDirectory(path: directory.path))
        try await ledger.post([Books.delivery(1)])
        await ledger.close()
        #expect(try await !hasTable())
        ledger = try SQLiteLedger(in: StoreDirectory(path: directory.path))
        try await ledger.apply([self.posting(2, 7, 1, session: 2)], of: Books.lane)
        await ledger.close()
        #expect(try await hasTable())
    }

    /// What SQLite keeps is what the table in memory says, however the groups are cut into transactions.
    @Test func `random groups of several writers count as in memory`() async throws {
        var generator = SeededGenerator(for: "ledger writers")
        let directory = try TemporaryDirectory()
        let ledger = try SQLiteLedger(in: StoreDirectory(path: directory.path))
        try await ledger.record([try Books.summary()], through: 1)
        var table = WriterTable()
        var expected: Set<Int> = []
        var offset: UInt64 = 0
        for _ in 0..<40 {
            var postings: [LedgerPosting] = []
            for _ in 0..<generator.number(1...9) {
                offset += 1
                let (writer, number) = (
                    generator.number(1...4 as ClosedRange<UInt64>), generator.number(1...60 as ClosedRange<UInt64>)
                )
                let session = Int(offset)
                postings.append(self.posting(offset, writer, number, session: session))
                if table.take(postings[postings.count - 1].mark) { expected.insert(session) }
            }
            try await ledger.apply(postings, of: Books.lane)
            #expect(try await ledger.counts()[0].delivered == Int64(expected.count))
        }
        #expect(try await ledger.audit().isEmpty)
        await ledger.close()
    }
}
