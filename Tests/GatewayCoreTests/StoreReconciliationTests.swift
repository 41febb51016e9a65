// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// Whether a log and a ledger belong together.
@Suite(.suiteLimit)
struct StoreReconciliationTests {
    private static let lane = Lane.acknowledgements(0)
    private static let step = EventLogLimits.epochOffsetStep
    private let id = LogIdentity(logID: LogID(high: 1, low: 1), epoch: 11)
    private let other = LogIdentity(logID: LogID(high: 2, low: 2), epoch: 99)

    private func log(_ identity: LogIdentity, _ head: UInt64, breaks: UInt64 = 5) -> LogFacts {
        LogFacts(identity: identity, heads: [Self.lane: head, .breaks: breaks])
    }

    private func ledger(
        _ identity: LogIdentity?,
        _ applied: UInt64,
        breaks: UInt64 = 5,
        highest: UInt64 = 5
    ) -> LedgerFacts {
        LedgerFacts(
            identity: identity,
            applied: [Self.lane: applied, .breaks: breaks],
            highestBreakOffset: highest
        )
    }

    private func decide(
        _ log: LogFacts,
        _ ledger: LedgerFacts,
        difference: HistoryDifference? = nil,
        floor: UInt64 = 0
    ) -> StoreReconciliation {
        .decide(log: log, ledger: ledger, difference: difference, floor: floor, epoch: 77)
    }

    private func epoch(
        _ decision: StoreReconciliation
    ) throws -> (StoreReconciliation.Reason, LogIdentity, StoreReconciliation.LedgerMove) {
        guard case .beginEpoch(let reason, let identity, let move) = decision else {
            throw Unexpected(decision: decision)
        }
        return (reason, identity, move)
    }

    private struct Unexpected: Error { let decision: StoreReconciliation }

    @Test func `a ledger that is as far as the log, or behind, fits`() {
        for applied in [0, 1, 99, 100] as [UInt64] {
            #expect(self.decide(self.log(self.id, 100), self.ledger(self.id, applied)) == .fits(nil))
        }
        let new = LogFacts(identity: self.id, heads: [:], isNew: true)
        #expect(self.decide(new, LedgerFacts(identity: self.id, applied: [:])) == .fits(nil))
    }

    @Test func `a ledger without an identity takes the log's where its offsets fit`() throws {
        let move = StoreReconciliation.LedgerMove(identity: self.id, applied: [:])
        #expect(self.decide(self.log(self.id, 100), self.ledger(nil, 100)) == .fits(move))
        let new = LedgerFacts(identity: nil, applied: [:])
        #expect(self.decide(self.log(self.id, 100), new) == .fits(move))
        #expect(self.decide(LogFacts(identity: self.id, heads: [:], isNew: true), new) == .fits(move))
        #expect(try self.epoch(self.decide(self.log(self.id, 100), self.ledger(nil, 101))).0 == .ledgerAhead)
    }

    @Test(arguments: [(101, 5, 5), (100, 6, 5), (100, 5, 6)] as [(UInt64, UInt64, UInt64)])
    func `a ledger ahead of the log in any way begins an epoch above both`(
        _ applied: UInt64,
        _ breaks: UInt64,
        _ highest: UInt64
    ) throws {
        let ledger = self.ledger(self.id, applied, breaks: breaks, highest: highest)
        let (reason, identity, move) = try self.epoch(self.decide(self.log(self.id, 100), ledger))
        #expect(reason == .ledgerAhead)
        #expect(identity.epochs.map(\.number) == [11, 77] && identity.logID == self.id.logID)
        #expect(identity.current.base == max(applied, breaks) + Self.step)
        #expect(identity.current.last == [Self.lane: 100, .breaks: 5])
        // The ledger goes on where the log does, and knows how far it was.
        #expect(move.identity.current.last(of: Self.lane) == applied)
        #expect(move.applied[Self.lane] ?? applied == 100)
        #expect(move.applied[.breaks] ?? breaks == 5)
        // Once told, it fits, also where it still has the rows of breaks that the log lost.
        var told = ledger
        told.identity = move.identity
        told.applied.merge(move.applied) { _, new in new }
        #expect(self.decide(self.log(identity, 100), told) == .fits(nil))
        // A process that ended before the ledger was told.
        guard case .fits(let again?) = self.decide(self.log(identity, 100), ledger) else {
            Issue.record("it follows the jump")
            return
        }
        #expect(again.identity == move.identity && again.applied == move.applied)
    }

    @Test func `a ledger of the epoch before that has only what the log still has reads through the jump`() {
        let identity = self.id.continued(epoch: 12, base: 5_000, last: [Self.lane: 100, .breaks: 5])
        guard case .fits(let move?) = self.decide(self.log(identity, 5_010), self.ledger(self.id, 60)) else {
            Issue.record("it fits")
            return
        }
        #expect(move.applied.isEmpty)
        #expect(move.identity.current.number == 12 && move.identity.current.last(of: Self.lane) == 60)
    }

    @Test func `a ledger of the epoch before that has what the log lost moves over the jump`() {
        let identity = self.id.continued(epoch: 12, base: 5_000, last: [Self.lane: 100, .breaks: 5])
        guard
            case .fits(let move?) = self.decide(
                self.log(identity, 5_010, breaks: 5_001),
                self.ledger(self.id, 140, breaks: 9, highest: 9)
            )
        else {
            Issue.record("it fits")
            return
        }
        #expect(move.applied == [Self.lane: 100, .breaks: 5])
        #expect(move.identity.current.last == [Self.lane: 140, .breaks: 9])
    }

    @Test func `a jump that was too short for what the ledger has is made again`() throws {
        let identity = self.id.continued(epoch: 12, base: 5_000, last: [Self.lane: 100, .breaks: 5])
        let decision = self.decide(self.log(identity, 5_010), self.ledger(self.id, 5_001))
        let (reason, next, _) = try self.epoch(decision)
        #expect(reason == .ledgerAhead && next.current.base == 5_010 + Self.step)
    }

    @Test func `a log that is older than the ledger goes on above both`() throws {
        let counted = self.id.continued(epoch: 12, base: 5_000, last: [Self.lane: 100, .breaks: 5])
        // The older log was not that old: it has records which the newer one had lost.
        for (head, goesOnAt) in [(80, 80), (100, 100), (130, 100)] as [(UInt64, UInt64)] {
            let decision = self.decide(
                self.log(self.id, head),
                self.ledger(counted, 5_020, breaks: 5_002, highest: 5_002)
            )
            let (reason, identity, move) = try self.epoch(decision)
            #expect(reason == .logOlder && identity.epochs.map(\.number) == [11, 77])
            #expect(identity.current.base == 5_020 + Self.step)
            // What was counted of the common epoch is not counted again; what was not, is.
            #expect(move.applied[Self.lane] == goesOnAt)
            #expect(move.identity.epochs.map(\.number) == [11, 77])
            #expect(move.identity.current.last(of: Self.lane) == 100)
        }
    }

    @Test func `a log that is gone begins above the ledger, under the ledger's id`() throws {
        let new = LogFacts(identity: self.other, heads: [:], isNew: true)
        let (reason, identity, move) = try self.epoch(self.decide(new, self.ledger(self.id, 100, highest: 300)))
        #expect(reason == .logLost && identity.logID == self.id.logID)
        #expect(identity.epochs.map(\.number) == [11, 77] && identity.current.base == 300 + Self.step)
        #expect(move.applied == [Self.lane: 0, .breaks: 0])
        #expect(move.identity.current.last == [Self.lane: 100, .breaks: 300])
        // Stopped before anything was recorded, it is not lost once more.
        let empty = LogFacts(identity: identity, heads: [:], isNew: true)
        let told = LedgerFacts(identity: move.identity, applied: move.applied, highestBreakOffset: 300)
        #expect(self.decide(empty, told) == .fits(nil))
        // The old log is found again.
        let found = try self.epoch(self.decide(self.log(self.id, 120), told))
        #expect(found.0 == .logOlder && found.2.applied[Self.lane] == 100)
        // A ledger without an id is one of the first epoch.
        #expect(try self.epoch(self.decide(new, self.ledger(nil, 100))).0 == .logLost)
    }

    @Test func `a ledger of another log is refused, unless it is empty`() {
        let decision = self.decide(self.log(self.id, 100), self.ledger(self.other, 3))
        #expect(decision == .refuse(.otherLog(ledger: self.other.logID, log: self.id.logID)))
        guard
            case .fits(let move?) = self.decide(
                self.log(self.id, 100),
                LedgerFacts(identity: self.other, applied: [Self.lane: 0])
            )
        else {
            Issue.record("it has nothing to lose")
            return
        }
        #expect(move.identity == self.id)
    }

    @Test func `two that went on from one copy separately are refused`() {
        let one = self.id.continued(epoch: 12, base: 5_000, last: [:])
        let two = self.id.continued(epoch: 13, base: 5_000, last: [:])
        #expect(self.decide(self.log(one, 5_001), self.ledger(two, 5_001)) == .refuse(.otherBranch))
    }

    @Test func `a ledger that was not told of the epoch of an older log is told at the next start`() throws {
        let counted = self.id.continued(epoch: 12, base: 5_000, last: [Self.lane: 100, .breaks: 5])
        let ledger = self.ledger(counted, 5_020, breaks: 5_002, highest: 5_002)
        let (_, identity, move) = try self.epoch(self.decide(self.log(self.id, 130), ledger))
        // The process ended in between, and the log went on.
        for head in [130, identity.current.base + 9] {
            #expect(self.decide(self.log(identity, head), ledger) == .fits(move))
        }
    }

    @Test func `a ledger whose place the log has lost twice goes on where the log does`() {
        let counted = self.id.continued(epoch: 12, base: 5_000, last: [Self.lane: 100, .breaks: 5])
        // The log lost more at its second jump than at its first.
        let identity = counted.continued(epoch: 13, base: 9_000, last: [Self.lane: 40, .breaks: 5])
        guard case .fits(let move?) = self.decide(self.log(identity, 9_001), self.ledger(self.id, 70)) else {
            Issue.record("it fits")
            return
        }
        #expect(move.applied == [Self.lane: 40])
    }

    @Test(arguments: [HistoryDifference.record(Self.lane, offset: 7), .breakNumber(BreakNumber(rawValue: 9))])
    func `another history at the same offsets is refused`(_ difference: HistoryDifference) {
        let decision = self.decide(self.log(self.id, 100), self.ledger(self.id, 7), difference: difference)
        #expect(decision == .refuse(.otherHistory(difference)))
    }

    @Test func `a backup's copy and a lost write-ahead log begin an epoch although they fit`() throws {
        var log = self.log(self.id, 100)
        log.isBackup = true
        log.isTailMissing = true
        var decision = try self.epoch(self.decide(log, self.ledger(self.id, 60), floor: 9_000))
        #expect(decision.0 == .backup && decision.1.current.base == 9_000 + Self.step)
        #expect(decision.2.applied.isEmpty && decision.2.identity.current.last(of: Self.lane) == 60)
        log.isBackup = false
        decision = try self.epoch(self.decide(log, self.ledger(self.id, 60)))
        #expect(decision.0 == .tailMissing && decision.1.current.base == 100 + Self.step)
        // A copy of the ledger alone is only behind; it loses its mark.
        log.isTailMissing = false
        var copy = self.ledger(self.id, 60)
        copy.isBackup = true
        #expect(self.decide(log, copy) == .fits(.init(identity: self.id, applied: [:])))
    }

    @Test func `offsets that are used up are refused, and not one epoch earlier`() throws {
        let last = EventLogLimits.offsetsPerLaneMax - 2 * Self.step
        var log = self.log(self.id, last)
        log.isBackup = true
        let identity = try self.epoch(self.decide(log, self.ledger(self.id, 1))).1
        #expect(identity.current.base == EventLogLimits.offsetsPerLaneMax - Self.step)
        log.heads[Self.lane] = last + 1
        #expect(self.decide(log, self.ledger(self.id, 1)) == .refuse(.offsetsExhausted))
    }

    @Test func `every reason and refusal says something`() {
        for reason in StoreReconciliation.Reason.allCases { #expect(reason.sentence.hasSuffix(".")) }
        for refusal in [
            .otherLog(ledger: LogID(high: 1, low: 1), log: LogID(high: 2, low: 2)), .otherBranch,
            .otherHistory(.record(Self.lane, offset: 7)), .otherHistory(.breakNumber(BreakNumber(rawValue: 9))),
        ] as [StoreReconciliation.Refusal] { #expect(refusal.sentence.contains("move ledger.sqlite away")) }
        #expect(StoreReconciliation.Refusal.offsetsExhausted.sentence.contains("empty folder"))
    }
}
