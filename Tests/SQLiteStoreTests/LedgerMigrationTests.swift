// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GRDB
import GatewayCore
import Testing

@testable import SQLiteStore

/// Ledgers that earlier versions made are opened, and what they counted stays.
@Suite(.suiteLimit)
struct LedgerMigrationTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    /// Writes a ledger of the first schema: one break, two sessions, of which the first played the first advertisement and
    /// ignored the second.
    private func writeFirstVersion() async throws {
        let queue = try DatabaseQueue(path: self.directory.path + "/ledger.sqlite")
        try LedgerSchema.migrator.migrate(queue, upTo: "ledger 1")
        let columns = try await queue.read { try $0.columns(in: "outcomes").map(\.name) }
        try #require(!columns.contains("clicked"))
        let start = Books.start.microseconds
        let sessions = [1, 2]
            .map { session in
                "x'"
                    + Books.session(session).bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
                    .joined()
                    + "'"
            }
        try await queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO applied VALUES ('\(Lane.breaks)', 1), ('\(Books.lane)', 2);
                    INSERT INTO breaks VALUES (1, 'radio1', 'break-1', 'somebody', \(start), \(start), \(start), 0, 0, 0, 1, 0);
                    INSERT INTO advertisements VALUES (1, 0, 'ad-0', 'Title 0', 15000000), (1, 1, 'ad-1', 'Title 1', 1);
                    INSERT INTO sessions VALUES (1, \(sessions[0]), 0, 0, \(start)), (1, \(sessions[1]), 0, 0, \(start));
                    INSERT INTO outcomes VALUES
                        (1, \(sessions[0]), 0, 1, 1, 0, 3000, 4, 1, 0, \(start), \(start)),
                        (1, \(sessions[0]), 1, 2, 1, 1, 0, 0, 0, 0, \(start), \(start));
                    INSERT INTO firsts VALUES (1, 0, 2);
                    INSERT INTO totals VALUES (1, 0, 1, 0, 0, 1, 0, 0, 1, 3000, 0, 0), (1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0);
                    INSERT INTO reasons VALUES (1, 1, 1, 1);
                    """
            )
        }
        try queue.close()
    }

    @Test func `a ledger from before clicks were counted is opened and counts on`() async throws {
        try await self.writeFirstVersion()
        var ledger = try SQLiteLedger(in: StoreDirectory(path: self.directory.path))
        var counts = try await ledger.counts()
        #expect(counts.map(\.delivered) == [2, 2] && counts.map(\.unknown) == [1, 1])
        #expect(counts[0].played == 1 && counts[0].muted == 1 && counts[0].heardMilliseconds == 3_000)
        #expect(counts[1].ignoredBy == [.user: 1])
        #expect(counts.map(\.clicked) == [0, 0])
        #expect(try await ledger.audit() == [])
        #expect(try await ledger.appliedOffset(of: Books.lane) == 2)
        // What stands is not told anew; what is new is counted with its click.
        try await ledger.post(
            [],
            [try Books.outcome(1, 0, clicked: true), try Books.outcome(2, 0, clicked: true), try Books.outcome(2, 1)]
        )
        for _ in 0..<2 {
            counts = try await ledger.counts()
            #expect(counts.map(\.clicked) == [1, 0] && counts.map(\.repeats) == [1, 0])
            #expect(counts.map(\.played) == [2, 1] && counts.map(\.unknown) == [0, 0])
            #expect(try await ledger.everything().balances)
            #expect(try await ledger.audit() == [])
            await ledger.close()
            // Opening it again brings nothing up to date a second time.
            ledger = try SQLiteLedger(in: StoreDirectory(path: self.directory.path))
        }
        await ledger.close()
    }
}
