// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Records that are gone for good before the ledger counted them.
package struct LedgerGap: Hashable, Sendable {
    package var lane: Lane
    /// The first record that is missing.
    package var first: UInt64
    /// The last record that is missing.
    package var last: UInt64
    /// Before this instant everything was counted.
    package var from: Timestamp
    /// After this instant everything is counted again.
    package var to: Timestamp

    package init(lane: Lane, first: UInt64, last: UInt64, from: Timestamp, to: Timestamp) {
        self.lane = lane
        self.first = first
        self.last = last
        self.from = from
        self.to = to
    }

    /// Whether outcomes or deliveries of a break may be among the records.
    ///
    /// - Parameters:
    ///   - published: since when there can be any.
    ///   - end: when the break ended; `nil`: it has not.
    /// - Returns: `false` where the break was published after the gap, or had ended so long before it that nothing about
    ///   it was accepted any more.
    package func mayHold(published: Timestamp, end: Timestamp?) -> Bool {
        guard published <= self.to else { return false }
        guard let end else { return true }
        return end + BoardLimits.acknowledgeWithin >= self.from
    }

    /// For people.
    package var sentence: String {
        """
        The records \(self.first) to \(self.last) of \(self.lane) are lost, from between \(self.from) and \(self.to): \
        what they held is missing from the counts.
        """
    }
}

/// A checked copy of the ledger.
package struct LedgerCopyFacts: Hashable, Sendable {
    /// When it was made.
    package var made: Timestamp
    /// Up to which offset of each lane it counts.
    package var offsets: [Lane: UInt64]
    package var bytes: Int

    package init(made: Timestamp, offsets: [Lane: UInt64], bytes: Int) {
        self.made = made
        self.offsets = offsets
        self.bytes = bytes
    }
}

/// The recovery of a ledger that was lost or damaged.
package struct LedgerRecovery: Hashable, Sendable {
    /// The fault.
    package var reason: String
    /// Where the ledger that was there is kept; `nil`: there was none.
    package var keptAside: String?
    /// When the copy was made that took its place; `nil`: the log is counted from its first record.
    package var copy: Timestamp?
    /// The records that are permanently missing from the counts.
    package var gaps: [LedgerGap]

    package init(reason: String, keptAside: String?, copy: Timestamp?, gaps: [LedgerGap]) {
        self.reason = reason
        self.keptAside = keptAside
        self.copy = copy
        self.gaps = gaps
    }

    /// For people.
    package var sentence: String {
        let source = self.copy.map { "its copy of \($0) and the event log after it" } ?? "the event log"
        let aside = self.keptAside.map { "; what was there is kept as \($0)" } ?? ""
        return "The ledger \(self.reason), and is counted anew from \(source)\(aside)."
    }
}

/// A ledger that keeps checked copies of itself, and can be made again from them and the log.
package protocol LedgerKeeping: Ledger {
    /// Which file it works on: another one after each recovery.
    var generation: Int { get }

    /// The recovery at the start from a ledger that was lost or damaged; `nil`: there was no fault.
    var recoveryAtStart: LedgerRecovery? { get }

    /// Whether a check that takes long has not been made yet: until then there are no new copies.
    var needsCheck: Bool { get }

    /// The checked copies, newest first.
    var copies: [LedgerCopyFacts] { get }

    /// Looks at the copies that an earlier run left: those that are as they were written count as checked from then on.
    func verifyCopies() async

    /// Makes a copy, checks it, and removes copies beyond the number that is kept.
    ///
    /// - Returns: the newest copy: the one before where nothing has been counted since.
    /// - Throws: also when the copy does not pass its checks; then it is gone.
    func copy(at now: Timestamp) async throws(LedgerError) -> LedgerCopyFacts

    /// Looks for damage: in the file, between totals and rows, and against a recount from the newest copy and the log.
    ///
    /// - Returns: a sentence for each thing that is wrong; empty: nothing is.
    func check() async throws(LedgerError) -> [String]

    /// Puts a copy in the place of the ledger, or an empty one where the log begins at its first record.
    ///
    /// - Parameters:
    ///   - generation: which file is the wrong one; nothing happens where it is not used any more.
    ///   - reason: the fault, as in "is damaged".
    ///   - now: by the gateway's clock.
    /// - Returns: the work that was done; `nil` where another caller had done it already.
    /// - Throws: `closed`, or `failed` where nothing could be put in its place.
    func recover(
        _ generation: Int,
        because reason: String,
        at now: Timestamp
    ) async throws(LedgerError) -> LedgerRecovery?

    /// The records that are permanently missing; oldest first.
    func gaps() async throws(LedgerError) -> [LedgerGap]

    /// The record of the lane `breaks` up to which it has not been told of every break: those that the board does not have any more are
    /// missing.
    ///
    /// - Returns: `nil` where it has been told of all.
    func owedBreaks() async throws(LedgerError) -> UInt64?

    /// It has been told of every break up to a record.
    func settleBreaks(through offset: UInt64) async throws(LedgerError)
}

extension LedgerKeeping {
    package func owedBreaks() async throws(LedgerError) -> UInt64? { nil }

    package func settleBreaks(through offset: UInt64) async throws(LedgerError) {}

    /// Up to which offset of each lane the log may forget its records: what the second newest copy holds.
    ///
    /// So a ledger that is lost can be made again although the newest copy is damaged. Empty while there are not two.
    package var prunable: [Lane: UInt64] { self.copies.count < 2 ? [:] : self.copies[1].offsets }
}
