// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastTesting
package import CuecastWire
package import GatewayCore
import Synchronization

/// A ledger in memory: `LedgerBooks` as a store has them.
///
/// It is the reference for what a report says.
package final class InMemoryLedger: Ledger {
    private struct State {
        var books = LedgerBooks()
        var applied: [Lane: UInt64] = [:]
        var writers: [Lane: WriterTable] = [:]
        var isClosed = false
    }

    private let state: Mutex<State>

    /// An empty ledger.
    package init() {
        self.state = Mutex(State())
    }

    private init(_ state: State) {
        self.state = Mutex(state)
    }

    /// The same books in a ledger that is open, as after a restart.
    package func reopened() -> InMemoryLedger {
        var state = self.state.withLock { $0 }
        state.isClosed = false
        return InMemoryLedger(state)
    }

    package func appliedOffset(of lane: Lane) async throws(LedgerError) -> UInt64 {
        try self.open { state throws(LedgerError) in state.applied[lane] ?? 0 }
    }

    @discardableResult
    package func apply(_ postings: [LedgerPosting], of lane: Lane) async throws(LedgerError) -> NewOutcomes {
        try self.open { state throws(LedgerError) in
            let new = try LedgerPosting.following(state.applied[lane] ?? 0, in: postings, of: lane)
            var counted = NewOutcomes()
            for posting in LedgerPosting.effective(new, &state.writers[lane, default: WriterTable()]) {
                for outcome in state.books.post(posting) { counted.add(outcome.outcome.kind) }
            }
            if let last = new.last { state.applied[lane] = last.offset }
            return counted
        }
    }

    package func record(_ breaks: [BreakSummary], through offset: UInt64) async throws(LedgerError) {
        try self.open { state throws(LedgerError) in
            state.books.record(breaks, through: offset)
            state.applied[.breaks] = max(state.applied[.breaks] ?? 0, offset)
        }
    }

    package func checkpoint() async throws(LedgerError) -> [Lane: UInt64] {
        try self.open { state throws(LedgerError) in state.applied }
    }

    package func report(_ query: ReportQuery) async throws(LedgerError) -> Report {
        try self.open { state throws(LedgerError) in
            let wanted = state.books.entries(at: query.now, variant: query.variant) { query.takes($0) }
            let breaks = wanted.prefix(query.limit)
            return Report(
                breaks: breaks.map { query.part(of: $0) },
                offsets: state.applied,
                more: wanted.count > query.limit,
                variant: query.variant
            )
        }
    }

    /// Nothing: there are no totals that could differ.
    package func audit() async throws(LedgerError) -> [String] {
        try self.open { state throws(LedgerError) in [] }
    }

    package func prune(
        rowsOfBreaksEndedBefore rowsLimit: Timestamp,
        totalsBefore totalsLimit: Timestamp
    ) async throws(LedgerError) -> [BreakNumber] {
        try self.open { state throws(LedgerError) in
            state.books.prune(rowsOfBreaksEndedBefore: rowsLimit, totalsBefore: totalsLimit)
        }
    }

    package func close() async {
        self.state.withLock { $0.isClosed = true }
    }

    private func open<Value: Sendable>(
        _ body: (inout State) throws(LedgerError) -> Value
    ) throws(LedgerError) -> Value {
        try self.state.withLock { (state) throws(LedgerError) -> Value in
            guard !state.isClosed else { throw .closed }
            return try body(&state)
        }
    }
}
