// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GRDB

/// A transaction's changes of the totals of one break: gathered in memory, written at the end.
struct BreakChanges {
    /// The changes of one advertisement's totals.
    struct Advertisement {
        var played: Int64 = 0
        var ignored: Int64 = 0
        var failed: Int64 = 0
        var covered: Int64 = 0
        var uncovered: Int64 = 0
        var inferred: Int64 = 0
        var muted: Int64 = 0
        var heardMilliseconds: Int64 = 0
        var repeats: Int64 = 0
        var contradictions: Int64 = 0
        var clicked: Int64 = 0
        /// Of `ignored`, by the number of the reason; empty where nothing was ignored.
        var reasons: [Int64] = []
    }

    private static let reasonNumberMax = Outcome.Reason.allCases.map(\.rawValue).max() ?? 0

    private(set) var advertisements: [UInt32: Advertisement] = [:]
    private(set) var firsts: [Int64: Int64] = [:]

    /// A session whose largest batch began elsewhere, or that was not known (`nil`), has one that begins at `first`.
    mutating func moveSession(from before: Int64?, to first: Int64) {
        if let before { self.firsts[before, default: 0] -= 1 }
        self.firsts[first, default: 0] += 1
    }

    /// An outcome without a batch is covered by one now (1), or one that was covered is not any more (-1).
    mutating func cover(_ ordinal: UInt32, by count: Int64) {
        self.advertisements[ordinal, default: Advertisement()].covered += count
        self.advertisements[ordinal, default: Advertisement()].uncovered -= count
    }

    /// An outcome that stands.
    mutating func add(_ outcome: OutcomeDetails, ordinal: UInt32, isCovered: Bool) {
        self.advertisements[ordinal, default: Advertisement()].add(outcome, isCovered: isCovered)
    }

    /// An outcome that came too late.
    mutating func addRepeat(ordinal: UInt32, contradicts: Bool) {
        if contradicts {
            self.advertisements[ordinal, default: Advertisement()].contradictions += 1
        } else {
            self.advertisements[ordinal, default: Advertisement()].repeats += 1
        }
    }

    mutating func removeAll() {
        self.advertisements.removeAll(keepingCapacity: true)
        self.firsts.removeAll(keepingCapacity: true)
    }

    fileprivate static func countReason(_ reason: Outcome.Reason, in reasons: inout [Int64]) {
        if reasons.isEmpty { reasons = Array(repeating: 0, count: Self.reasonNumberMax + 1) }
        reasons[reason.rawValue] += 1
    }
}

extension BreakChanges.Advertisement {
    fileprivate mutating func add(_ outcome: OutcomeDetails, isCovered: Bool) {
        if isCovered { self.covered += 1 } else { self.uncovered += 1 }
        if outcome.clicked { self.clicked += 1 }
        switch outcome.kind {
        case .played:
            self.played += 1
            self.heardMilliseconds += Int64(outcome.heardMilliseconds)
            if outcome.evidence == .inferred { self.inferred += 1 }
            if outcome.muted { self.muted += 1 }
        case .ignored:
            self.ignored += 1
            if let reason = outcome.reason { BreakChanges.countReason(reason, in: &self.reasons) }
        case .failed: self.failed += 1
        }
    }
}

/// Writes changes of totals.
final class LedgerTotals {
    private let addFirsts: PreparedStatement
    private let addTotals: PreparedStatement
    private let addReason: PreparedStatement

    init(_ database: Database) throws {
        self.addFirsts = try PreparedStatement(
            """
            INSERT INTO firsts (break_number, first, sessions) VALUES (?, ?, ?)
            ON CONFLICT (break_number, first) DO UPDATE SET sessions = sessions + excluded.sessions
            """,
            in: database
        )
        self.addTotals = try PreparedStatement(
            """
            INSERT INTO totals (break_number, ordinal, played, ignored, failed, covered, uncovered, inferred, muted,
                heard_ms, repeats, contradictions, clicked)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (break_number, ordinal) DO UPDATE SET
                played = played + excluded.played, ignored = ignored + excluded.ignored,
                failed = failed + excluded.failed, covered = covered + excluded.covered,
                uncovered = uncovered + excluded.uncovered, inferred = inferred + excluded.inferred,
                muted = muted + excluded.muted, heard_ms = heard_ms + excluded.heard_ms,
                repeats = repeats + excluded.repeats, contradictions = contradictions + excluded.contradictions,
                clicked = clicked + excluded.clicked
            """,
            in: database
        )
        self.addReason = try PreparedStatement(
            """
            INSERT INTO reasons (break_number, ordinal, reason, ignored) VALUES (?, ?, ?, ?)
            ON CONFLICT (break_number, ordinal, reason) DO UPDATE SET ignored = ignored + excluded.ignored
            """,
            in: database
        )
    }

    /// Adds the changes of one break to its totals.
    func add(_ changes: BreakChanges, to number: BreakNumber) throws {
        for (first, sessions) in changes.firsts where sessions != 0 {
            self.addFirsts.bind(1, number.stored)
            self.addFirsts.bind(2, first)
            self.addFirsts.bind(3, sessions)
            try self.addFirsts.run()
        }
        for (ordinal, change) in changes.advertisements {
            try self.add(change, to: number, ordinal: ordinal)
        }
    }

    private func add(_ change: BreakChanges.Advertisement, to number: BreakNumber, ordinal: UInt32) throws {
        self.addTotals.bind(1, number.stored)
        self.addTotals.bind(2, Int64(ordinal))
        self.addTotals.bind(3, change.played)
        self.addTotals.bind(4, change.ignored)
        self.addTotals.bind(5, change.failed)
        self.addTotals.bind(6, change.covered)
        self.addTotals.bind(7, change.uncovered)
        self.addTotals.bind(8, change.inferred)
        self.addTotals.bind(9, change.muted)
        self.addTotals.bind(10, change.heardMilliseconds)
        self.addTotals.bind(11, change.repeats)
        self.addTotals.bind(12, change.contradictions)
        self.addTotals.bind(13, change.clicked)
        try self.addTotals.run()
        for (reason, count) in change.reasons.enumerated() where count > 0 {
            self.addReason.bind(1, number.stored)
            self.addReason.bind(2, Int64(ordinal))
            self.addReason.bind(3, Int64(reason))
            self.addReason.bind(4, count)
            try self.addReason.run()
        }
    }
}
