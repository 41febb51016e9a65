// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore

/// A ledger's books in memory: they keep no totals and count everything anew for each report, by the words of the rules
/// (`LedgerPosting`).
package struct LedgerBooks: Sendable {
    fileprivate struct Key: Hashable {
        let session: SessionID
        let ordinal: UInt32
    }

    /// The books of one break.
    fileprivate struct Book {
        var summary: BreakSummary?
        /// The offset of the lane `breaks` up to which the summary is true.
        var through: UInt64 = 0
        /// The ordinal of the first advertisement in the largest batch that a session was handed.
        var batches: [SessionID: UInt32] = [:]
        var outcomes: [Key: OutcomeDetails] = [:]
        var repeats: [UInt32: Int64] = [:]
        var contradictions: [UInt32: Int64] = [:]
        /// Whether the sessions' rows count as forgotten: they stay here, for the totals, and nothing is added any more.
        var isFrozen = false
    }

    private var books: [BreakNumber: Book] = [:]
    /// Breaks of which nothing is left.
    private var forgotten: Set<BreakNumber> = []

    /// Books without a break.
    package init() {}

    /// Keeps what the board knows of breaks; what is known up to a later offset stays.
    package mutating func record(_ breaks: [BreakSummary], through offset: UInt64) {
        for each in breaks where !self.forgotten.contains(each.number) {
            var book = self.books[each.number] ?? Book()
            guard book.summary == nil || offset >= book.through else { continue }
            book.summary = each
            book.through = offset
            self.books[each.number] = book
        }
    }

    /// Counts a group.
    ///
    /// - Returns: the outcomes that stand from now on; repeats and contradictions are not among them.
    package mutating func post(_ posting: LedgerPosting) -> [LedgerPosting.OutcomeRow] {
        for delivery in posting.deliveries { self.post(delivery) }
        var standing: [LedgerPosting.OutcomeRow] = []
        for outcome in posting.outcomes where self.post(outcome) { standing.append(outcome) }
        return standing
    }

    /// Whether something about a break still counts.
    private func counts(_ number: BreakNumber) -> Bool {
        !self.forgotten.contains(number) && self.books[number]?.isFrozen != true
    }

    private mutating func post(_ delivery: LedgerPosting.Delivery) {
        guard self.counts(delivery.breakNumber) else { return }
        if let before = self.books[delivery.breakNumber]?.batches[delivery.session], before <= delivery.first { return }
        self.books[delivery.breakNumber, default: .init()].batches[delivery.session] = delivery.first
    }

    /// Counts an outcome.
    ///
    /// - Returns: whether it is the one that stands.
    private mutating func post(_ row: LedgerPosting.OutcomeRow) -> Bool {
        guard self.counts(row.breakNumber) else { return false }
        // Taken out, so that it is changed in place.
        var book = self.books.removeValue(forKey: row.breakNumber) ?? .init()
        let key = Key(session: row.session, ordinal: row.ordinal)
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

    /// A report's entries about breaks.
    ///
    /// - Parameters:
    ///   - now: decides which breaks are settled.
    ///   - variant: only of the ads of this variant; `nil`: all.
    ///   - isWanted: says of which breaks.
    /// - Returns: one entry for each of them, newest first.
    package func entries(
        at now: Timestamp,
        variant: UInt32? = nil,
        where isWanted: (BreakSummary) -> Bool
    ) -> [Report.Break] {
        self.books.values
            .compactMap { book in book.summary.map { (book, $0) } }
            .filter { isWanted($0.1) }
            .sorted { $0.1.number > $1.1.number }
            .map { book, summary in
                var entry = book.entry(summary, now: now)
                guard let variant else { return entry }
                entry.advertisements.removeAll { $0.variant != variant }
                entry.sessions = Int64(book.batches.values.count { AdOrdinal.variant(of: $0) == variant })
                return entry
            }
    }

    /// Forgets the sessions' rows of breaks that ended before an instant, and the totals of breaks that ended before another.
    ///
    /// - Returns: the numbers of the breaks whose rows went.
    package mutating func prune(
        rowsOfBreaksEndedBefore rowsLimit: Timestamp,
        totalsBefore totalsLimit: Timestamp
    ) -> [BreakNumber] {
        var pruned: [BreakNumber] = []
        for (number, book) in self.books {
            guard let end = book.summary?.end else { continue }
            if !book.isFrozen, end < rowsLimit {
                self.books[number]?.isFrozen = true
                pruned.append(number)
            }
            if self.books[number]?.isFrozen == true, end < totalsLimit {
                self.books[number] = nil
                self.forgotten.insert(number)
            }
        }
        return pruned.sorted()
    }
}

extension LedgerBooks.Book {
    fileprivate func entry(_ summary: BreakSummary, now: Timestamp) -> Report.Break {
        Report.Break(
            summary: summary,
            sessions: self.sessions,
            advertisements: zip(summary.ordinals, summary.advertisements)
                .map { Report.Advertisement($1, counts: self.counts(of: $0)) },
            settled: summary.end.map { $0 + Report.settleAfter <= now } ?? false
        )
    }

    fileprivate var sessions: Int64 {
        Int64(Set(self.batches.keys).union(self.outcomes.keys.map(\.session)).count)
    }

    private func counts(of ordinal: UInt32) -> OutcomeCounts {
        let outcomes = self.outcomes.filter { $0.key.ordinal == ordinal }
        let handed = self.batches.filter { AdOrdinal.batch(from: $0.value, holds: ordinal) }.map(\.key)
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
