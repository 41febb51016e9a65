// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Synchronization

/// A ledger in memory that keeps no totals: it counts everything anew for each report, by the words of the rules.
///
/// It is the reference for what a report says.
package final class InMemoryLedger: Ledger {
    fileprivate struct Key: Hashable {
        let session: SessionID
        let ordinal: UInt32
    }

    /// What is known of one break.
    fileprivate struct Book {
        var summary: BreakSummary?
        /// The offset of the lane `breaks` up to which the summary is true.
        var through: UInt64 = 0
        /// The ordinal of the first advertisement in the largest batch that a session was handed.
        var batches: [SessionID: UInt32] = [:]
        var outcomes: [Key: OutcomeDetails] = [:]
        var repeats: [UInt32: Int64] = [:]
        var contradictions: [UInt32: Int64] = [:]
        /// Whether who did what counts as forgotten: it stays here, for the totals, and nothing is added any more.
        var isFrozen = false
    }

    fileprivate struct State {
        var books: [BreakNumber: Book] = [:]
        /// Breaks of which nothing is left.
        var forgotten: Set<BreakNumber> = []
        var applied: [Lane: UInt64] = [:]
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
            for posting in new {
                for delivery in posting.deliveries { state.post(delivery) }
                for outcome in posting.outcomes where state.post(outcome) { counted.add(outcome.outcome.kind) }
            }
            if let last = new.last { state.applied[lane] = last.offset }
            return counted
        }
    }

    package func record(_ breaks: [BreakSummary], through offset: UInt64) async throws(LedgerError) {
        try self.open { state throws(LedgerError) in
            for each in breaks where !state.forgotten.contains(each.number) {
                var book = state.books[each.number] ?? Book()
                if book.summary == nil || offset >= book.through {
                    book.summary = each
                    book.through = offset
                    state.books[each.number] = book
                }
            }
            state.applied[.breaks] = max(state.applied[.breaks] ?? 0, offset)
        }
    }

    package func checkpoint() async throws(LedgerError) -> [Lane: UInt64] {
        try self.open { state throws(LedgerError) in state.applied }
    }

    package func report(_ query: ReportQuery) async throws(LedgerError) -> Report {
        try self.open { state throws(LedgerError) in
            let wanted = state.books.values
                .compactMap { book in book.summary.map { (book, $0) } }
                .filter { _, summary in
                    (query.stream == nil || query.stream == summary.key.stream)
                        && (query.breakID == nil || query.breakID == summary.key.id)
                        && query.before.map { summary.number < $0 } ?? true
                }
                .sorted { $0.1.number > $1.1.number }
            return Report(
                breaks: wanted.prefix(query.limit).map { book, summary in book.entry(summary, now: query.now) },
                offsets: state.applied,
                more: wanted.count > query.limit
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
            var pruned: [BreakNumber] = []
            for (number, book) in state.books {
                guard let end = book.summary?.end else { continue }
                if !book.isFrozen, end < rowsLimit {
                    state.books[number]?.isFrozen = true
                    pruned.append(number)
                }
                if state.books[number]?.isFrozen == true, end < totalsLimit {
                    state.books[number] = nil
                    state.forgotten.insert(number)
                }
            }
            return pruned.sorted()
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

extension InMemoryLedger.State {
    /// Whether something about a break still counts.
    private func counts(_ number: BreakNumber) -> Bool {
        !self.forgotten.contains(number) && self.books[number]?.isFrozen != true
    }

    fileprivate mutating func post(_ delivery: LedgerPosting.Delivery) {
        guard self.counts(delivery.breakNumber) else { return }
        let before = self.books[delivery.breakNumber]?.batches[delivery.session] ?? .max
        self.books[delivery.breakNumber, default: .init()].batches[delivery.session] = min(before, delivery.first)
    }

    /// Counts an outcome.
    ///
    /// - Returns: whether it is the one that stands.
    fileprivate mutating func post(_ row: LedgerPosting.OutcomeRow) -> Bool {
        guard self.counts(row.breakNumber) else { return false }
        // Taken out, so that it is changed in place.
        var book = self.books.removeValue(forKey: row.breakNumber) ?? .init()
        let key = InMemoryLedger.Key(session: row.session, ordinal: row.ordinal)
        let standing = book.outcomes[key]
        if let standing {
            if standing.kind == row.outcome.kind {
                book.repeats[row.ordinal, default: 0] += 1
            } else {
                book.contradictions[row.ordinal, default: 0] += 1
            }
        } else {
            book.outcomes[key] = row.outcome
        }
        self.books[row.breakNumber] = book
        return standing == nil
    }
}

extension InMemoryLedger.Book {
    fileprivate func entry(_ summary: BreakSummary, now: Timestamp) -> Report.Break {
        Report.Break(
            summary: summary,
            sessions: self.sessions,
            advertisements: summary.advertisements.enumerated()
                .map { index, advertisement in
                    Report.Advertisement(
                        id: advertisement.id,
                        title: advertisement.title,
                        duration: advertisement.duration,
                        counts: self.counts(of: UInt32(index))
                    )
                },
            settled: summary.end.map { $0 + Report.settleAfter <= now } ?? false
        )
    }

    private var sessions: Int64 {
        Int64(Set(self.batches.keys).union(self.outcomes.keys.map(\.session)).count)
    }

    private func counts(of ordinal: UInt32) -> OutcomeCounts {
        let outcomes = self.outcomes.filter { $0.key.ordinal == ordinal }
        let handed = self.batches.filter { $0.value <= ordinal }.map(\.key)
        let delivered = Set(handed).union(outcomes.keys.map(\.session))
        var counts = OutcomeCounts()
        counts.delivered = Int64(delivered.count)
        counts.unknown = Int64(delivered.subtracting(outcomes.keys.map(\.session)).count)
        for outcome in outcomes.values {
            counts.clicked += outcome.clicked ? 1 : 0
            switch outcome.kind {
            case .played:
                counts.played += 1
                counts.heardMilliseconds += Int64(outcome.heardMilliseconds)
                counts.inferred += outcome.evidence == .inferred ? 1 : 0
                counts.muted += outcome.muted ? 1 : 0
            case .ignored:
                counts.ignored += 1
                if let reason = outcome.reason { counts.ignoredBy[reason, default: 0] += 1 }
            case .failed: counts.failed += 1
            }
        }
        counts.repeats = self.repeats[ordinal] ?? 0
        counts.contradictions = self.contradictions[ordinal] ?? 0
        return counts
    }
}
