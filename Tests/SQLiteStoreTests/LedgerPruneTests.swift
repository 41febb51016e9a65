// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// The data that every ledger forgets.
@Suite(.suiteLimit)
struct LedgerPruneTests {
    private let end = Books.start + .seconds(30)
    private let one = BreakNumber(rawValue: 1)

    /// A ledger with two breaks, of which the second has not ended.
    private func filled(_ harness: inout LedgerHarness) async throws -> any Ledger {
        let ledger = try await harness.open()
        try await ledger.record([try Books.summary(), try Books.summary(2, end: nil)], through: 1)
        try await ledger.post(
            [Books.delivery(1), Books.delivery(2, of: 2)],
            [try Books.outcome(1, 0), try Books.outcome(3, 2, .ignored), try Books.outcome(1, 0, .failed)]
        )
        return ledger
    }

    @Test(arguments: StoreKind.allCases)
    func `the totals stay when it is forgotten who did what`(_ kind: StoreKind) async throws {
        var harness = try LedgerHarness(kind)
        let ledger = try await self.filled(&harness)
        let before = try await ledger.everything()
        #expect(try await ledger.prune(rowsOfBreaksEndedBefore: self.end, totalsBefore: self.end) == [])
        let later = self.end + .microseconds(1)
        #expect(try await ledger.prune(rowsOfBreaksEndedBefore: later, totalsBefore: self.end) == [self.one])
        #expect(try await ledger.prune(rowsOfBreaksEndedBefore: later, totalsBefore: self.end) == [])
        #expect(try await ledger.everything() == before)
        // A new outcome may be a repeat: that is not known.
        try await ledger.post(
            [Books.delivery(9), Books.delivery(9, of: 2)],
            [try Books.outcome(1, 0), try Books.outcome(8, 1)]
        )
        let after = try await ledger.everything()
        #expect(after.breaks[1] == before.breaks[1])
        #expect(after.breaks[0].sessions == 2)
        #expect(after.balances)
        #expect(try await ledger.audit().isEmpty)
        await harness.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `a break whose totals are forgotten does not come back`(_ kind: StoreKind) async throws {
        var harness = try LedgerHarness(kind)
        var ledger = try await self.filled(&harness)
        let later = self.end + .microseconds(1)
        #expect(try await ledger.prune(rowsOfBreaksEndedBefore: later, totalsBefore: later) == [self.one])
        #expect(try await ledger.everything().breaks.map(\.summary.number.rawValue) == [2])
        ledger = try await harness.open()
        try await ledger.record([try Books.summary()], through: 7)
        try await ledger.post([Books.delivery(1)], [try Books.outcome(1, 0)])
        #expect(try await ledger.everything().breaks.map(\.summary.number.rawValue) == [2])
        #expect(try await ledger.audit().isEmpty)
        await harness.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `totals stay as long as rows do`(_ kind: StoreKind) async throws {
        var harness = try LedgerHarness(kind)
        let ledger = try await self.filled(&harness)
        let before = try await ledger.everything()
        let later = self.end + .seconds(100)
        #expect(try await ledger.prune(rowsOfBreaksEndedBefore: self.end, totalsBefore: later) == [])
        #expect(try await ledger.everything() == before)
        #expect(try await ledger.audit().isEmpty)
        await harness.close()
    }

    /// More rows than one transaction deletes.
    @Test(arguments: StoreKind.allCases)
    func `large breaks are forgotten too`(_ kind: StoreKind) async throws {
        var harness = try LedgerHarness(kind)
        let ledger = try await harness.open()
        try await ledger.record([try Books.summary()], through: 1)
        try await ledger.post(
            (0..<21_000).map { Books.delivery($0) },
            try (0..<20_500).map { try Books.outcome($0, 0) }
        )
        let before = try await ledger.everything()
        #expect(before.breaks[0].advertisements[0].counts.unknown == 500)
        let later = self.end + .microseconds(1)
        #expect(try await ledger.prune(rowsOfBreaksEndedBefore: later, totalsBefore: self.end) == [self.one])
        #expect(try await ledger.everything() == before)
        #expect(try await ledger.audit().isEmpty)
        await harness.close()
    }
}
