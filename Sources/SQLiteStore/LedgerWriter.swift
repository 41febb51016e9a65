// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GRDB
import GatewayCore

/// Applies postings inside one transaction.
///
/// Rows are written as they come; changes of totals gather, and are written at the end.
struct LedgerWriter {
    private struct AdKey: Hashable {
        let number: BreakNumber
        let ordinal: UInt32
    }

    /// Changes of one advertisement's totals.
    private struct Change {
        var played = 0
        var ignored = 0
        var failed = 0
        var covered = 0
        var uncovered = 0
        var inferred = 0
        var repeats = 0
        var contradictions = 0
        var heard: Int64 = 0
        var muted = 0
        var reasons: [Outcome.Reason: Int] = [:]
    }

    private struct FirstKey: Hashable {
        let number: BreakNumber
        let first: Int64
    }

    private struct SessionKey: Hashable {
        let number: BreakNumber
        let session: SessionID
    }

    private let database: Database
    private var changes: [AdKey: Change] = [:]
    private var firsts: [FirstKey: Int] = [:]
    /// The sessions looked up in this transaction.
    private var known: [SessionKey: Int64] = [:]

    init(_ database: Database) {
        self.database = database
    }

    mutating func post(_ posting: LedgerPosting) throws {
        for delivery in posting.deliveries { try self.post(delivery) }
        for outcome in posting.outcomes { try self.post(outcome) }
    }

    private mutating func post(_ delivery: LedgerPosting.Delivery) throws {
        let first = Int64(delivery.first)
        let session = delivery.session.asData
        let number = delivery.breakNumber
        let before = try self.first(of: delivery.session, in: number)
        guard let before else {
            try self.database
                .cachedStatement(
                    sql: "INSERT INTO sessions (break, session, first, variant, at) VALUES (?, ?, ?, ?, ?)"
                )
                .execute(arguments: [
                    number.stored, session, first, Int64(delivery.variant), delivery.at.microseconds,
                ])
            self.firsts[FirstKey(number: number, first: first), default: 0] += 1
            self.known[SessionKey(number: number, session: delivery.session)] = first
            return
        }
        // A later batch is shorter: what counts is the largest.
        guard first < before else { return }
        try self.database
            .cachedStatement(
                sql: "UPDATE sessions SET first = ?, variant = ?, at = ? WHERE break = ? AND session = ?"
            )
            .execute(arguments: [
                first, Int64(delivery.variant), delivery.at.microseconds, number.stored, session,
            ])
        self.firsts[FirstKey(number: number, first: before), default: 0] -= 1
        self.firsts[FirstKey(number: number, first: first), default: 0] += 1
        self.known[SessionKey(number: number, session: delivery.session)] = first
        // Outcomes that came without a batch are covered by it now.
        let ordinals = try UInt32.fetchAll(
            self.database.cachedStatement(
                sql: "SELECT ordinal FROM outcomes WHERE break = ? AND session = ? AND ordinal >= ? AND ordinal < ?"
            ),
            arguments: [number.stored, session, first, before]
        )
        for ordinal in ordinals {
            self.changes[AdKey(number: number, ordinal: ordinal), default: Change()].covered += 1
            self.changes[AdKey(number: number, ordinal: ordinal), default: Change()].uncovered -= 1
        }
    }

    private mutating func post(_ row: LedgerPosting.OutcomeRow) throws {
        let key = AdKey(number: row.breakNumber, ordinal: row.ordinal)
        var change = self.changes[key] ?? Change()
        defer { self.changes[key] = change }
        let outcome = row.outcome
        let session = row.session.asData
        try self.database
            .cachedStatement(
                sql: """
                    INSERT INTO outcomes (break, session, ordinal, kind, evidence, reason, heard, quartiles, muted,
                        vast_error, occurred, received)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                    """
            )
            .execute(arguments: [
                row.breakNumber.stored, session, Int64(row.ordinal), outcome.kind.rawValue, outcome.evidence.rawValue,
                outcome.reason?.rawValue ?? 0, Int64(outcome.heard.inMilliseconds), Int64(outcome.quartiles),
                outcome.muted, Int64(outcome.vastError), outcome.occurred.microseconds, row.received.microseconds,
            ])
        guard self.database.changesCount == 1 else {
            let standing = try Int.fetchOne(
                self.database.cachedStatement(
                    sql: "SELECT kind FROM outcomes WHERE break = ? AND session = ? AND ordinal = ?"
                ),
                arguments: [row.breakNumber.stored, session, Int64(row.ordinal)]
            )
            if standing == outcome.kind.rawValue { change.repeats += 1 } else { change.contradictions += 1 }
            return
        }
        switch outcome.kind {
        case .played:
            change.played += 1
            change.heard += Int64(outcome.heard.inMilliseconds)
            if outcome.evidence == .inferred { change.inferred += 1 }
            if outcome.muted { change.muted += 1 }
        case .ignored:
            change.ignored += 1
            if let reason = outcome.reason { change.reasons[reason, default: 0] += 1 }
        case .failed: change.failed += 1
        }
        let first = try self.first(of: row.session, in: row.breakNumber)
        if first == nil {
            try self.database
                .cachedStatement(
                    sql: "INSERT INTO sessions (break, session, first, variant, at) VALUES (?, ?, ?, 0, ?)"
                )
                .execute(arguments: [
                    row.breakNumber.stored, session, LedgerSchema.neverDelivered, row.received.microseconds,
                ])
            self.firsts[
                FirstKey(number: row.breakNumber, first: LedgerSchema.neverDelivered),
                default: 0
            ] += 1
            self.known[SessionKey(number: row.breakNumber, session: row.session)] = LedgerSchema.neverDelivered
        }
        if (first ?? LedgerSchema.neverDelivered) <= Int64(row.ordinal) {
            change.covered += 1
        } else {
            change.uncovered += 1
        }
    }

    /// The first ordinal that a session was handed; `nil` for a session without a row.
    private mutating func first(of session: SessionID, in number: BreakNumber) throws -> Int64? {
        let key = SessionKey(number: number, session: session)
        if let known = self.known[key] { return known }
        let first = try Int64.fetchOne(
            self.database.cachedStatement(sql: "SELECT first FROM sessions WHERE break = ? AND session = ?"),
            arguments: [number.stored, session.asData]
        )
        if let first { self.known[key] = first }
        return first
    }

    /// Writes the changes of totals.
    mutating func finish() throws {
        for (key, change) in self.firsts where change != 0 {
            try self.database
                .cachedStatement(
                    sql: """
                        INSERT INTO firsts (break, first, sessions) VALUES (?, ?, ?)
                        ON CONFLICT (break, first) DO UPDATE SET sessions = sessions + excluded.sessions
                        """
                )
                .execute(arguments: [key.number.stored, key.first, change])
        }
        for (key, change) in self.changes {
            try self.database
                .cachedStatement(
                    sql: """
                        INSERT INTO totals (break, ordinal, played, ignored, failed, covered, uncovered, inferred, repeats,
                            contradictions, heard, muted)
                        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                        ON CONFLICT (break, ordinal) DO UPDATE SET
                            played = played + excluded.played, ignored = ignored + excluded.ignored,
                            failed = failed + excluded.failed, covered = covered + excluded.covered,
                            uncovered = uncovered + excluded.uncovered, inferred = inferred + excluded.inferred,
                            repeats = repeats + excluded.repeats, contradictions = contradictions + excluded.contradictions,
                            heard = heard + excluded.heard, muted = muted + excluded.muted
                        """
                )
                .execute(arguments: [
                    key.number.stored, Int64(key.ordinal), change.played, change.ignored, change.failed, change.covered,
                    change.uncovered, change.inferred, change.repeats, change.contradictions, change.heard,
                    change.muted,
                ])
            for (reason, count) in change.reasons {
                try self.database
                    .cachedStatement(
                        sql: """
                            INSERT INTO reasons (break, ordinal, reason, ignored) VALUES (?, ?, ?, ?)
                            ON CONFLICT (break, ordinal, reason) DO UPDATE SET ignored = ignored + excluded.ignored
                            """
                    )
                    .execute(arguments: [key.number.stored, Int64(key.ordinal), reason.rawValue, count])
            }
        }
        self.changes = [:]
        self.firsts = [:]
    }
}

extension SessionID {
    /// As SQLite binds it.
    var asData: Data { Data(self.bytes) }
}
