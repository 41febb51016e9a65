// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GRDB
import GatewayCore

/// Applies postings; it lives on the queue of the ledger's writing connection.
///
/// Rows are written in the order of their keys, not in the order in which they came, so that rows that lie together are
/// written together. That changes nothing: which outcome came first is kept for equal keys, and what the totals come to
/// does not depend on the order of anything else (see `LedgerSchema`).
@safe
final class LedgerWriter {
    private let insertSession: PreparedStatement
    private let selectFirst: PreparedStatement
    private let updateFirst: PreparedStatement
    private let selectOrdinals: PreparedStatement
    private let insertOutcome: PreparedStatement
    private let selectKind: PreparedStatement
    private let selectForgotten: PreparedStatement
    private let totals: LedgerTotals
    private var changes = BreakChanges()
    /// Sessions that are being forgotten in a shared log: their rows get these names.
    var forgetting: [ForgettingNames] = []
    /// The sixteen bytes of the session that is being written, where statements find them.
    private let session: UnsafeMutableRawBufferPointer

    init(_ database: Database) throws {
        self.insertSession = try PreparedStatement(
            """
            INSERT INTO sessions (break_number, session, first, variant, at_us) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """,
            in: database
        )
        self.selectFirst = try PreparedStatement(
            "SELECT first FROM sessions WHERE break_number = ? AND session = ?",
            in: database
        )
        self.updateFirst = try PreparedStatement(
            """
            UPDATE sessions SET first = ?3, variant = ?4, at_us = ?5 WHERE break_number = ?1 AND session = ?2
            """,
            in: database
        )
        self.selectOrdinals = try PreparedStatement(
            "SELECT ordinal FROM outcomes WHERE break_number = ? AND session = ? AND ordinal >= ?",
            in: database
        )
        self.insertOutcome = try PreparedStatement(
            """
            INSERT INTO outcomes (break_number, session, ordinal, kind, evidence, reason, heard_ms, quartiles, muted,
                vast_error, occurred_us, received_us, clicked)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            in: database
        )
        self.selectKind = try PreparedStatement(
            "SELECT kind FROM outcomes WHERE break_number = ? AND session = ? AND ordinal = ?",
            in: database
        )
        self.selectForgotten = try PreparedStatement(
            """
            SELECT 1 FROM breaks WHERE break_number = ?1 AND row_state <> 0
            UNION ALL SELECT 1 FROM forgotten WHERE break_number = ?1
            """,
            in: database
        )
        self.totals = try LedgerTotals(database)
        unsafe self.session = .allocate(byteCount: WireLimits.sessionBytes, alignment: 8)
    }

    deinit { unsafe self.session.deallocate() }

    /// Writes postings and the totals that follow from them; to be called in a transaction.
    ///
    /// - Returns: how many outcomes stand from now on.
    func apply(_ postings: ArraySlice<LedgerPosting>) throws -> NewOutcomes {
        var counted = NewOutcomes()
        let names = self.forgetting
        let rows = PostedRows(names.isEmpty ? postings : postings.map { $0.forgetting(names) }[...])
        let keys = rows.sortedKeys
        var index = 0
        while index < keys.count {
            let number = BreakNumber(rawValue: keys[index].number)
            let end = keys[index...].firstIndex { $0.number != number.rawValue } ?? keys.count
            if try !self.isForgotten(number) {
                self.changes.removeAll()
                try self.apply(rows, keys[index..<end], to: number)
                try self.totals.add(self.changes, to: number)
                for each in self.changes.advertisements.values {
                    counted.played += Int(each.played)
                    counted.ignored += Int(each.ignored)
                    counted.failed += Int(each.failed)
                }
            }
            index = end
        }
        return counted
    }

    /// Whether a break's rows were forgotten, so that nothing can be counted once any more.
    private func isForgotten(_ number: BreakNumber) throws -> Bool {
        self.selectForgotten.bind(1, number.stored)
        return try self.selectForgotten.integer() != nil
    }

    /// Writes what there is about one break.
    private func apply(
        _ rows: PostedRows,
        _ keys: ArraySlice<PostedRows.Key>,
        to number: BreakNumber
    ) throws {
        var index = keys.startIndex
        while index < keys.endIndex {
            let first = keys[index]
            unsafe self.session.storeBytes(of: first.high.bigEndian, as: UInt64.self)
            unsafe self.session.storeBytes(of: first.low.bigEndian, toByteOffset: 8, as: UInt64.self)
            var largest: LedgerPosting.Delivery?
            while index < keys.endIndex, keys[index].isOfSession(of: first), keys[index].isDelivery {
                let delivery = rows.deliveries[keys[index].place]
                // Of equally large ones the first.
                if largest.map({ delivery.first < $0.first }) ?? true { largest = delivery }
                index += 1
            }
            var delivered = try largest.map { try self.deliver($0, number) }
            while index < keys.endIndex, keys[index].isOfSession(of: first) {
                let row = rows.outcomes[keys[index].place]
                let known = try delivered ?? self.firstOrNever(number, at: row.received)
                delivered = known
                try self.record(row, number, first: known)
                index += 1
            }
        }
    }

    private func bindSession(to statement: borrowing PreparedStatement, _ number: BreakNumber) {
        statement.bind(1, number.stored)
        unsafe statement.bind(2, unsafeBytes: UnsafeRawBufferPointer(self.session))
    }

    /// Writes that a batch was handed to the session.
    ///
    /// - Returns: where the largest batch that it was handed begins.
    private func deliver(_ delivery: LedgerPosting.Delivery, _ number: BreakNumber) throws -> Int64 {
        let first = Int64(delivery.first)
        if try self.insertSession(number, first: first, variant: delivery.variant, at: delivery.at) { return first }
        self.bindSession(to: self.selectFirst, number)
        let before = try self.selectFirst.integer() ?? LedgerSchema.neverDelivered
        guard first < before else { return before }
        self.bindSession(to: self.updateFirst, number)
        self.updateFirst.bind(3, first)
        self.updateFirst.bind(4, Int64(delivery.variant))
        self.updateFirst.bind(5, delivery.at.microseconds)
        try self.updateFirst.run()
        self.changes.moveSession(from: before, to: first)
        self.bindSession(to: self.selectOrdinals, number)
        self.selectOrdinals.bind(3, first)
        try self.selectOrdinals.forEachRow { row in
            let ordinal = row.integer(0)
            let wasHeld = LedgerSchema.batch(from: before, holds: ordinal)
            let isHeld = LedgerSchema.batch(from: first, holds: ordinal)
            guard wasHeld != isHeld else { return }
            self.changes.cover(UInt32(truncatingIfNeeded: ordinal), by: isHeld ? 1 : -1)
        }
        return first
    }

    /// Where the largest batch begins that the session was handed; makes the session known if it was handed none.
    private func firstOrNever(_ number: BreakNumber, at received: Timestamp) throws -> Int64 {
        self.bindSession(to: self.selectFirst, number)
        if let first = try self.selectFirst.integer() { return first }
        _ = try self.insertSession(number, first: LedgerSchema.neverDelivered, variant: 0, at: received)
        return LedgerSchema.neverDelivered
    }

    /// Writes a session's row unless there is one.
    private func insertSession(
        _ number: BreakNumber,
        first: Int64,
        variant: UInt32,
        at instant: Timestamp
    ) throws -> Bool {
        self.bindSession(to: self.insertSession, number)
        self.insertSession.bind(3, first)
        self.insertSession.bind(4, Int64(variant))
        self.insertSession.bind(5, instant.microseconds)
        guard try self.insertSession.runInserts() else { return false }
        self.changes.moveSession(from: nil, to: first)
        return true
    }

    private func record(_ row: LedgerPosting.OutcomeRow, _ number: BreakNumber, first: Int64) throws {
        let ordinal = Int64(row.ordinal)
        self.bindSession(to: self.insertOutcome, number)
        self.insertOutcome.bind(3, ordinal)
        self.insertOutcome.bind(4, Int64(row.outcome.kind.rawValue))
        self.insertOutcome.bind(5, Int64(row.outcome.evidence.rawValue))
        self.insertOutcome.bind(6, Int64(row.outcome.reason?.rawValue ?? 0))
        self.insertOutcome.bind(7, Int64(row.outcome.heardMilliseconds))
        self.insertOutcome.bind(8, Int64(row.outcome.quartiles))
        self.insertOutcome.bind(9, row.outcome.muted ? 1 : 0)
        self.insertOutcome.bind(10, Int64(row.outcome.vastError))
        self.insertOutcome.bind(11, row.outcome.occurred.microseconds)
        self.insertOutcome.bind(12, row.received.microseconds)
        self.insertOutcome.bind(13, row.outcome.clicked ? 1 : 0)
        if try self.insertOutcome.runInserts() {
            self.changes.add(
                row.outcome,
                ordinal: row.ordinal,
                isCovered: LedgerSchema.batch(from: first, holds: ordinal)
            )
            return
        }
        self.bindSession(to: self.selectKind, number)
        self.selectKind.bind(3, ordinal)
        let standing = try self.selectKind.integer()
        self.changes.addRepeat(ordinal: row.ordinal, contradicts: standing != Int64(row.outcome.kind.rawValue))
    }
}

/// The rows of postings, one after the other.
private struct PostedRows {
    /// Where one delivery or outcome is, and what orders it.
    struct Key: Comparable {
        /// How many bits of `rank` are the place.
        private static let placeBits = 31

        /// The break's.
        let number: UInt64
        let high: UInt64
        let low: UInt64
        /// Deliveries come first, then outcomes by their ordinals; what is equal comes in the order in which it was posted.
        private let rank: UInt64

        init(_ number: BreakNumber, _ session: SessionID, ordinal: UInt32?, place: Int) {
            precondition(place < 1 << Self.placeBits, "so many rows do not fit into memory")
            self.number = number.rawValue
            self.high = session.high
            self.low = session.low
            self.rank = (ordinal.map { UInt64($0) + 1 } ?? 0) << Self.placeBits | UInt64(place)
        }

        var isDelivery: Bool { self.rank >> Self.placeBits == 0 }
        var place: Int { Int(self.rank & ((1 << Self.placeBits) - 1)) }

        func isOfSession(of other: Self) -> Bool { self.high == other.high && self.low == other.low }

        static func < (left: Self, right: Self) -> Bool {
            if left.number != right.number { return left.number < right.number }
            if left.high != right.high { return left.high < right.high }
            if left.low != right.low { return left.low < right.low }
            return left.rank < right.rank
        }
    }

    private(set) var deliveries: [LedgerPosting.Delivery] = []
    private(set) var outcomes: [LedgerPosting.OutcomeRow] = []

    init(_ postings: ArraySlice<LedgerPosting>) {
        self.deliveries.reserveCapacity(postings.reduce(0) { $0 + $1.deliveries.count })
        self.outcomes.reserveCapacity(postings.reduce(0) { $0 + $1.outcomes.count })
        for posting in postings {
            self.deliveries += posting.deliveries
            self.outcomes += posting.outcomes
        }
    }

    var sortedKeys: [Key] {
        var keys: [Key] = []
        keys.reserveCapacity(self.deliveries.count + self.outcomes.count)
        for (place, each) in self.deliveries.enumerated() {
            keys.append(Key(each.breakNumber, each.session, ordinal: nil, place: place))
        }
        for (place, each) in self.outcomes.enumerated() {
            keys.append(Key(each.breakNumber, each.session, ordinal: each.ordinal, place: place))
        }
        keys.sort()
        return keys
    }
}
