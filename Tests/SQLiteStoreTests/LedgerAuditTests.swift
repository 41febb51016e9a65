// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GRDB
import GatewayCore
import SQLiteStore
import Testing

/// The audit finds what does not add up.
@Suite(.suiteLimit)
struct LedgerAuditTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private func open() throws -> SQLiteLedger { try SQLiteLedger(in: StoreDirectory(path: self.directory.path)) }

    /// Changes a ledger's file behind its back.
    private func tamper(_ sql: String) async throws {
        let queue = try DatabaseQueue(path: self.directory.path + "/ledger.sqlite")
        let changes = try await queue.write { database in
            try database.execute(sql: sql)
            return database.totalChangesCount
        }
        try queue.close()
        try #require(changes > 0, "nothing was changed by: \(sql)")
    }

    private func fill(_ ledger: SQLiteLedger) async throws {
        try await ledger.record([try Books.summary(), try Books.summary(2, end: nil)], through: 1)
        try await ledger.post(
            [Books.delivery(1), Books.delivery(2, of: 2), Books.delivery(3, first: 1)],
            [
                try Books.outcome(1, 0), try Books.outcome(1, 1, .ignored), try Books.outcome(1, 2, .failed),
                try Books.outcome(5, 1, evidence: .inferred, muted: true), try Books.outcome(2, 0, of: 2),
            ]
        )
    }

    @Test(arguments: [
        "UPDATE totals SET played = played + 1 WHERE ordinal = 0",
        "UPDATE totals SET ignored = ignored + 1",
        "UPDATE totals SET failed = failed - 1 WHERE failed > 0",
        "UPDATE totals SET played = played - 1, failed = failed + 1 WHERE ordinal = 0",
        "UPDATE totals SET covered = covered - 1, uncovered = uncovered + 1 WHERE break_number = 1 AND ordinal = 0",
        "UPDATE totals SET inferred = inferred + 1 WHERE ordinal = 0",
        "UPDATE totals SET muted = muted + 1 WHERE ordinal = 0",
        "UPDATE totals SET heard_ms = heard_ms + 1",
        "UPDATE totals SET clicked = clicked + 1 WHERE ordinal = 2",
        "UPDATE outcomes SET clicked = 1 WHERE kind = 3",
        "UPDATE firsts SET sessions = sessions + 1 WHERE break_number = 1 AND first = 0",
        "UPDATE firsts SET first = first + 1 WHERE first = 1",
        "UPDATE reasons SET reason = reason + 1",
        "UPDATE reasons SET ignored = ignored + 1",
        "DELETE FROM totals WHERE break_number = 2",
        "DELETE FROM firsts WHERE break_number = 2",
        "DELETE FROM reasons",
        "DELETE FROM outcomes WHERE kind = 2",
        "DELETE FROM outcomes WHERE break_number = 1",
        "DELETE FROM sessions WHERE break_number = 1 AND first = 1",
        "DELETE FROM sessions WHERE break_number = 2",
        "UPDATE outcomes SET kind = 3 WHERE kind = 1",
        "UPDATE outcomes SET kind = 7 WHERE kind = 1",
        "UPDATE outcomes SET reason = 2 WHERE kind = 2",
        "UPDATE outcomes SET break_number = 9 WHERE break_number = 2",
        "UPDATE breaks SET row_state = 2 WHERE break_number = 1",
        "UPDATE breaks SET row_state = 5 WHERE break_number = 1",
    ])
    func `a corrupted ledger is found out`(_ sql: String) async throws {
        var ledger = try self.open()
        try await self.fill(ledger)
        #expect(try await ledger.audit() == [])
        await ledger.close()
        try await self.tamper(sql)
        ledger = try self.open()
        let differences = try await ledger.audit()
        #expect(!differences.isEmpty)
        #expect(differences.allSatisfy { $0.hasPrefix("break ") })
        await ledger.close()
    }

    @Test func `each thing that is wrong is named, with what is kept and what the rows come to`() async throws {
        var ledger = try self.open()
        try await self.fill(ledger)
        await ledger.close()
        try await self.tamper(
            """
            UPDATE totals SET heard_ms = heard_ms + 5, inferred = 0 WHERE break_number = 1 AND ordinal = 1;
            DELETE FROM sessions WHERE break_number = 2;
            UPDATE firsts SET sessions = 0 WHERE break_number = 2;
            INSERT INTO sessions (break_number, session, first, variant, at_us)
                VALUES (3, x'00000000000000000000000000000009', \(UInt64(UInt32.max) + 1), 0, 0);
            """
        )
        ledger = try self.open()
        let differences = try await ledger.audit()
        await ledger.close()
        let heard = 3_000
        #expect(
            Set(differences) == [
                "break 1: inferred of advertisement 1 is 0 in the totals and 1 by its rows",
                "break 1: heard_ms of advertisement 1 is \(heard + 5) in the totals and \(heard) by its rows",
                "break 2: advertisement 0 has impossible counts",
                "break 2: covered of advertisement 0 is 1 in the totals and 0 by its rows",
                "break 2: orphans of advertisement 0 is 0 in the totals and 1 by its rows",
                "break 3: the number of sessions without a batch is 0 in the totals and 1 by its rows",
                "break 3: 1 sessions have neither a batch nor an outcome",
            ]
        )
    }

    @Test func `a corrupted total does not balance`() async throws {
        var ledger = try self.open()
        try await self.fill(ledger)
        #expect(try await ledger.everything().balances)
        await ledger.close()
        try await self.tamper("UPDATE totals SET played = played + 1 WHERE break_number = 1 AND ordinal = 0")
        ledger = try self.open()
        #expect(try await !ledger.everything().balances)
        await ledger.close()
    }

    @Test(arguments: [
        "UPDATE totals SET played = played + 1 WHERE break_number = 1 AND ordinal = 0",
        "UPDATE totals SET ignored = ignored + 1, covered = covered + 1 WHERE break_number = 1 AND ordinal = 1",
        "UPDATE totals SET clicked = 9 WHERE break_number = 1 AND ordinal = 0",
        "UPDATE firsts SET sessions = 0 WHERE break_number = 1 AND first = 0",
        """
        INSERT INTO sessions (break_number, session, first, variant, at_us)
        VALUES (1, x'00000000000000000000000000000000', 0, 0, 0)
        """,
    ])
    func `totals without rows are checked as far as they can be`(_ sql: String) async throws {
        var ledger = try self.open()
        try await self.fill(ledger)
        let later = Books.start + .seconds(31)
        #expect(try await ledger.prune(rowsOfBreaksEndedBefore: later, totalsBefore: Books.start).count == 1)
        #expect(try await ledger.audit() == [])
        await ledger.close()
        try await self.tamper(sql)
        ledger = try self.open()
        #expect(try await !ledger.audit().isEmpty)
        await ledger.close()
    }

    @Test func `forgetting that was interrupted is finished the next time`() async throws {
        var ledger = try self.open()
        try await self.fill(ledger)
        let before = try await ledger.everything()
        await ledger.close()
        // What a crash between two portions leaves.
        try await self.tamper(
            "UPDATE breaks SET row_state = 1 WHERE break_number = 1; DELETE FROM outcomes WHERE break_number = 1"
        )
        ledger = try self.open()
        #expect(try await ledger.audit() == [])
        try await ledger.post([Books.delivery(77)])
        #expect(try await ledger.everything().breaks == before.breaks)
        let never = Timestamp(microseconds: 0)
        #expect(try await ledger.prune(rowsOfBreaksEndedBefore: never, totalsBefore: never).map(\.rawValue) == [1])
        #expect(try await ledger.everything().breaks == before.breaks)
        #expect(try await ledger.audit() == [])
        await ledger.close()
    }

    @Test func `a checkpoint leaves the setting of the ledger as it was`() async throws {
        let ledger = try self.open()
        #expect(try await ledger.synchronousMode() == 1)
        try await self.fill(ledger)
        #expect(try await ledger.checkpoint() == [Books.lane: 1, .breaks: 1])
        #expect(try await ledger.synchronousMode() == 1)
        await ledger.close()
        let queue = try DatabaseQueue(path: self.directory.path + "/ledger.sqlite")
        // The transaction that synchronised wrote something.
        #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT count FROM checkpoints") } == 1)
        try queue.close()
    }
}
