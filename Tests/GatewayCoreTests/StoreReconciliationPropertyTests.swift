// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// Random operators: they copy files, put older ones back, take the ends of them away, and start the gateway in between.
@Suite(.suiteLimit)
struct StoreReconciliationPropertyTests {

    /// A record: no two have the same content, whatever their offsets.
    private struct Record: Hashable {
        let offset: UInt64
        let previous: UInt64
        let content: Int
    }

    /// The log's file.
    private struct LogFile {
        var identity: LogIdentity
        var records: [Record] = []
        var isBackup = false
        var isTailMissing = false

        var head: UInt64 { self.records.last?.offset ?? 0 }

        var facts: LogFacts {
            LogFacts(
                identity: self.identity,
                heads: [lane: self.head, .breaks: self.head],
                isNew: self.records.isEmpty,
                isBackup: self.isBackup,
                isTailMissing: self.isTailMissing
            )
        }
    }

    /// The ledger's file: what it counted, by content, and by number.
    private struct LedgerFile {
        var identity: LogIdentity?
        var applied: UInt64 = 0
        var counted: [Int: Int] = [:]
        /// The content under each offset: two contents under one would mix.
        var rows: [UInt64: Int] = [:]

        var facts: LedgerFacts {
            LedgerFacts(
                identity: self.identity,
                applied: [lane: self.applied, .breaks: self.applied],
                highestBreakOffset: self.rows.keys.max() ?? 0
            )
        }

        mutating func count(_ record: Record) {
            self.counted[record.content, default: 0] += 1
            self.rows[record.offset] = record.content
            // As the ledger's file notes it when it goes over a jump.
            if record.offset != record.previous + 1, let identity = self.identity {
                let epochs = identity.epochs.enumerated()
                    .map { ordinal, epoch in
                        guard ordinal > 0, epoch.base >= record.previous, epoch.base < record.offset else {
                            return epoch
                        }
                        var epoch = epoch
                        for lane in [lane, .breaks] {
                            epoch.last[lane] = max(epoch.last(of: lane), record.previous)
                        }
                        return epoch
                    }
                self.identity = LogIdentity(logID: identity.logID, epochs: epochs)
            }
            self.applied = record.offset
        }
    }

    private struct World {
        var log = LogFile(identity: LogIdentity())
        var ledger = LedgerFile()
        var next = 0
        var epochsBegun = 0

        mutating func append() {
            let offset = max(self.log.head, self.log.identity.current.base) + 1
            self.log.records.append(Record(offset: offset, previous: self.log.head, content: self.next))
            self.next += 1
        }

        mutating func project(_ count: Int) {
            for record in self.log.records.filter({ $0.offset > self.ledger.applied }).prefix(count) {
                #expect(
                    record.previous == self.ledger.applied,
                    "the ledger would stop for ever: CUECAST_SEED=\(SeededGenerator.seed)"
                )
                if let there = self.ledger.rows[record.offset] {
                    #expect(there == record.content, "two share the number \(record.offset)")
                }
                self.ledger.count(record)
            }
        }

        /// The difference that the start of a gateway finds beside offsets.
        ///
        /// The start compares the last record that the ledger counted, and its newest breaks up to the end of the log. Every
        /// record publishes a break here.
        var difference: HistoryDifference? {
            let breaks = self.ledger.rows.keys.filter { $0 <= self.log.head }.sorted().suffix(16)
            return ([self.ledger.applied] + breaks)
                .first { offset in
                    guard let counted = self.ledger.rows[offset] else { return false }
                    return self.log.records.contains { $0.offset == offset && $0.content != counted }
                }
                .map { .record(lane, offset: $0) }
        }

        /// Starts the gateway; `false`: it refuses.
        mutating func start(dying: Bool, epoch: UInt64) -> Bool {
            let decision = StoreReconciliation.decide(
                log: self.log.facts,
                ledger: self.ledger.facts,
                difference: self.difference,
                epoch: epoch
            )
            var move: StoreReconciliation.LedgerMove?
            switch decision {
            case .refuse: return false
            case .fits(let told): move = told
            case .beginEpoch(_, let identity, let told):
                #expect(
                    identity.current.base >= max(self.log.head, self.ledger.applied) + EventLogLimits.epochOffsetStep
                )
                self.log.identity = identity
                self.epochsBegun += 1
                self.log.isBackup = false
                move = told
            }
            self.log.isTailMissing = false
            if let move, !dying {
                self.ledger.identity = move.identity
                if let applied = move.applied[lane] { self.ledger.applied = applied }
            }
            return true
        }
    }

    @Test func `nothing is lost, nothing mixed, whatever files are put together`() {
        var random = SeededGenerator(for: #function)
        for _ in 0..<3_000 { self.round(&random) }
    }

    private func round(_ random: inout SeededGenerator) {
        var world = World()
        var logs: [LogFile] = []
        var ledgers: [LedgerFile] = []
        /// The pairs that were copied while they belonged together.
        var pairs: [(LogFile, LedgerFile)] = []
        let isStarted = world.start(dying: false, epoch: .random(in: 1 ... .max, using: &random))
        #expect(isStarted)
        for _ in 0..<Int.random(in: 3...40, using: &random) {
            let before = world
            switch Int.random(in: 0..<16, using: &random) {
            case 0...3: for _ in 0..<Int.random(in: 1...5, using: &random) { world.append() }
            case 4...5: world.project(Int.random(in: 1...6, using: &random))
            case 6:
                logs.append(world.log)
                ledgers.append(world.ledger)
                pairs.append((world.log, world.ledger))
            case 7:
                if let log = logs.randomElement(using: &random) { world.log = log }
                self.restart(&world, before, &random)
            case 8:
                if let ledger = ledgers.randomElement(using: &random) { world.ledger = ledger }
                self.restart(&world, before, &random)
            case 9:
                if let pair = pairs.randomElement(using: &random) {
                    (world.log, world.ledger) = pair
                    world.log.isBackup = true
                }
                self.restart(&world, before, &random)
            case 10:
                world.log = LogFile(identity: LogIdentity(epoch: .random(in: 1 ... .max, using: &random)))
                self.restart(&world, before, &random)
            case 11:
                // The end of the log goes with its write-ahead log; an epoch that had begun stays.
                let base = world.log.identity.current.base
                let tail = world.log.records.count { $0.offset > base }
                world.log.records.removeLast(Int.random(in: 0...min(3, tail), using: &random))
                world.log.isTailMissing = true
                self.restart(&world, before, &random)
            case 12:
                world.ledger = LedgerFile()
                self.restart(&world, before, &random)
            default: self.restart(&world, before, &random)
            }
            // Records were lost without a trace: log and ledger are both older, and fit. Whatever has counted those records
            // would meet others under their numbers.
            if world.epochsBegun == before.epochsBegun,
                !Set(before.log.records).isSubset(of: world.log.records)
            {
                (logs, ledgers, pairs) = ([], [], [])
            }
        }
        self.restart(&world, world, &random)
        world.project(.max)
        // Everything that the log holds is counted once it is projected.
        for record in world.log.records {
            #expect(
                world.ledger.counted[record.content, default: 0] >= 1,
                "a record was left out: CUECAST_SEED=\(SeededGenerator.seed)"
            )
        }
    }

    /// Starts the gateway; where it refuses, the operator puts everything back as it was.
    private func restart(_ world: inout World, _ before: World, _ random: inout SeededGenerator) {
        if Int.random(in: 0..<4, using: &random) == 0 {
            guard world.start(dying: true, epoch: .random(in: 1 ... .max, using: &random)) else {
                world.log = before.log
                world.ledger = before.ledger
                return
            }
        }
        if !world.start(dying: false, epoch: .random(in: 1 ... .max, using: &random)) {
            world.log = before.log
            world.ledger = before.ledger
            let isStarted = world.start(dying: false, epoch: .random(in: 1 ... .max, using: &random))
            #expect(isStarted, "what belonged together before still does")
        }
    }
}

private let lane = Lane.acknowledgements(0)
