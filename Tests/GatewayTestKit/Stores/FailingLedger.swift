// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Synchronization

/// A ledger whose calls fail when a test says so.
package final class FailingLedger: Ledger {
    package enum Call: Hashable, Sendable {
        case appliedOffset
        case apply
        case record
        case checkpoint
        case report
        case audit
        case prune
    }

    /// The error of every failure made here.
    package static let error = LedgerError.failed("as the test wants it")

    private let base: any Ledger
    private let plan = Mutex(FailurePlan<Call>())

    package init(_ base: any Ledger) {
        self.base = base
    }

    /// Makes one call fail.
    ///
    /// - Parameters:
    ///   - call: of which kind.
    ///   - number: 1 is the next call of this kind.
    ///   - effect: whether it is done all the same.
    package func fail(_ call: Call, at number: Int = 1, _ effect: FailureEffect = .nothingHappened) {
        self.plan.withLock { $0.fail(call, at: number, effect) }
    }

    /// Makes every call of a kind fail until `heal()`.
    package func failEvery(_ call: Call, _ effect: FailureEffect = .nothingHappened) {
        self.plan.withLock { $0.failEvery(call, effect) }
    }

    /// Forgets every failure to come.
    package func heal() {
        self.plan.withLock { $0.heal() }
    }

    package func appliedOffset(of lane: Lane) async throws(LedgerError) -> UInt64 {
        try await self.call(.appliedOffset) { base throws(LedgerError) in try await base.appliedOffset(of: lane) }
    }

    @discardableResult
    package func apply(_ postings: [LedgerPosting], of lane: Lane) async throws(LedgerError) -> NewOutcomes {
        try await self.call(.apply) { base throws(LedgerError) in try await base.apply(postings, of: lane) }
    }

    package func record(_ breaks: [BreakSummary], through offset: UInt64) async throws(LedgerError) {
        try await self.call(.record) { base throws(LedgerError) in try await base.record(breaks, through: offset) }
    }

    package func checkpoint() async throws(LedgerError) -> [Lane: UInt64] {
        try await self.call(.checkpoint) { base throws(LedgerError) in try await base.checkpoint() }
    }

    package func report(_ query: ReportQuery) async throws(LedgerError) -> Report {
        try await self.call(.report) { base throws(LedgerError) in try await base.report(query) }
    }

    package func audit() async throws(LedgerError) -> [String] {
        try await self.call(.audit) { base throws(LedgerError) in try await base.audit() }
    }

    package func prune(
        rowsOfBreaksEndedBefore rowsLimit: Timestamp,
        totalsBefore totalsLimit: Timestamp
    ) async throws(LedgerError) -> [BreakNumber] {
        try await self.call(.prune) { base throws(LedgerError) in
            try await base.prune(rowsOfBreaksEndedBefore: rowsLimit, totalsBefore: totalsLimit)
        }
    }

    package func close() async {
        await self.base.close()
    }

    private func call<Value: Sendable>(
        _ call: Call,
        _ body: (any Ledger) async throws(LedgerError) -> Value
    ) async throws(LedgerError) -> Value {
        let effect = self.plan.withLock { $0.next(call) }
        if effect == .nothingHappened { throw Self.error }
        let value = try await body(self.base)
        if effect == .happened { throw Self.error }
        return value
    }
}
