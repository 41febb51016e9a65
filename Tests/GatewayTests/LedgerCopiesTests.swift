// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayTestKit
import Synchronization
import TestSupport
import Testing

/// A gateway with a ledger that keeps copies of itself.
@Suite(.suiteLimit)
struct LedgerCopiesTests {
    private var station = Station()
    private static let lane = Lane.acknowledgements(0)

    init() {
        self.station.configuration.ledgerFirstCopyAfter = .milliseconds(1)
        self.station.configuration.ledgerCopiesInterval = .milliseconds(10)
        self.station.configuration.keepLogRecords = 0
    }

    private func run(_ ledger: KeepingLedger, _ body: (RunningGateway) async throws -> Void) async throws {
        try await withGateway(configuration: self.station.configuration, log: self.station.log, ledger: ledger, body)
    }

    /// Publishes a break that others may stand beside, fetches it, and acknowledges it.
    private func acknowledge(_ id: String, from running: RunningGateway) async throws {
        let listener = try await running.listener()
        _ = try await listener.join()
        try await running.broadcaster().publish(id, start: nil, duration: .seconds(30), preStream: true)
        let batch = try await listener.batch(of: id)
        let reply = try await listener.ask(try listener.acknowledgement(of: batch, of: id))
        #expect(reply.body == .acknowledged(recorded: 2))
    }

    /// The first record that the log still has; one more than its head where it has none.
    private func firstKept() async throws -> UInt64 {
        let head = try await self.station.memory.head(of: Self.lane)
        for offset in 0..<head {
            do {
                _ = try await self.station.memory.read(Self.lane, after: offset, recordsMax: 1, bytesMax: 1)
                return offset + 1
            } catch EventLogError.pruned {
                continue
            }
        }
        return head + 1
    }

    @Test func `the log forgets only what the second newest copy holds`() async throws {
        let ledger = KeepingLedger()
        try await self.run(ledger) { running in
            try await self.acknowledge("b", from: running)
            try await until("two copies hold it") {
                let head = try await self.station.memory.head(of: Self.lane)
                return ledger.prunable[Self.lane] == head
            }
            try await until("the log forgets it") {
                try await self.firstKept() > ledger.prunable[Self.lane] ?? .max
            }
            #expect(running.metrics.value(.ledgerCopies, .made) >= 2)
            #expect(running.metrics.value(.ledgerCopyTime) > 0)
        }
    }

    @Test func `the next copy waits ten times as long as the last one took, the second one too`() async throws {
        let ledger = KeepingLedger()
        let took = Duration.milliseconds(30)
        ledger.set { $0.copyTakes = took }
        try await self.run(ledger) { running in
            try await until("three copies are made") { running.metrics.value(.ledgerCopies, .made) >= 3 }
        }
        let (begun, ended) = ledger.copyTimes
        for (before, next) in zip(ended, begun.dropFirst()).prefix(2) {
            #expect(next - before >= took * 10)
        }
    }

    @Test func `while copies fail the log forgets nothing, and an alarm says why`() async throws {
        let ledger = KeepingLedger()
        ledger.set { $0.copyError = .failed("the disk is full") }
        try await self.run(ledger) { running in
            try await self.acknowledge("b", from: running)
            try await until("the alarm is raised") {
                running.gateway.readiness.alarms.contains { $0.alarm == Alarm.ledgerCopies.rawValue }
            }
            #expect(running.gateway.readiness.missing.isEmpty)
            #expect(running.metrics.value(.ledgerCopies, .failed) >= 1)
            #expect(try await self.firstKept() == 1)
            ledger.set { $0.copyError = nil }
            try await until("the alarm ends") {
                !running.gateway.readiness.alarms.contains { $0.alarm == Alarm.ledgerCopies.rawValue }
            }
        }
    }

    @Test func `a ledger that is damaged while it runs is replaced, and counts everything`() async throws {
        let ledger = KeepingLedger()
        // Nothing is copied, so that the log keeps everything.
        ledger.set { $0.copyError = .failed("not in this test") }
        try await self.run(ledger) { running in
            try await self.acknowledge("b", from: running)
            ledger.set { $0.applyError = .damaged("a page is not what was written") }
            try await self.acknowledge("c", from: running)
            try await until("it is replaced") { ledger.generation == 1 }
            let books = try await running.books { $0.breaks.count == 2 && $0.total.played == 4 }
            #expect(books.balances)
            #expect(running.metrics.value(.ledgerRecoveries) == 1)
            try await until("the alarm ends") {
                !running.gateway.readiness.alarms.contains { $0.alarm == Alarm.ledger.rawValue }
            }
        }
    }

    @Test func `records that were lost before they were counted are an alarm`() async throws {
        let ledger = KeepingLedger()
        ledger.set { state in
            state.gaps = [
                LedgerGap(
                    lane: Self.lane,
                    first: 1,
                    last: 2,
                    from: SystemClock().now() - .seconds(60),
                    to: SystemClock().now()
                )
            ]
        }
        try await self.run(ledger) { running in
            try await until("the alarm is raised") {
                running.gateway.readiness.alarms.contains { $0.alarm == Alarm.history.rawValue }
            }
            #expect(running.metrics.value(.ledgerGaps) == 1)
            #expect(running.gateway.readiness.missing.isEmpty)
        }
    }

    @Test func `a ledger that still has to be checked is checked before it is copied`() async throws {
        let ledger = KeepingLedger()
        ledger.set {
            $0.needsCheck = true
            $0.faults = ["totals differ"]
        }
        try await self.run(ledger) { running in
            try await until("it is replaced") { ledger.generation == 1 }
            try await until("it is copied") { !ledger.copies.isEmpty }
            #expect(ledger.copiedUnchecked == 0)
            #expect(running.metrics.value(.ledgerRecoveries) == 1)
        }
    }
}

/// A ledger in memory that keeps copies as a store would: only the facts of them.
private final class KeepingLedger: LedgerKeeping {
    struct State {
        var base = InMemoryLedger()
        var generation = 0
        var needsCheck = false
        var faults: [String] = []
        var gaps: [LedgerGap] = []
        var copies: [LedgerCopyFacts] = []
        var copyError: LedgerError?
        var copyTakes: Duration = .zero
        var copyTimes: (begun: [ContinuousClock.Instant], ended: [ContinuousClock.Instant]) = ([], [])
        var applyError: LedgerError?
        var copiedUnchecked = 0
    }

    private let state = Mutex(State())

    let recoveryAtStart: LedgerRecovery? = nil
    var generation: Int { self.state.withLock(\.generation) }
    var needsCheck: Bool { self.state.withLock(\.needsCheck) }
    var copies: [LedgerCopyFacts] { self.state.withLock(\.copies) }
    var copyTimes: (begun: [ContinuousClock.Instant], ended: [ContinuousClock.Instant]) {
        self.state.withLock(\.copyTimes)
    }
    var copiedUnchecked: Int { self.state.withLock(\.copiedUnchecked) }
    private var base: InMemoryLedger { self.state.withLock(\.base) }

    func set(_ body: (inout sending State) -> Void) { self.state.withLock { body(&$0) } }

    func verifyCopies() async {}

    func copy(at now: Timestamp) async throws(LedgerError) -> LedgerCopyFacts {
        if let error = self.state.withLock(\.copyError) { throw error }
        self.state.withLock { $0.copyTimes.begun.append(.now) }
        // Cut short only by the end of the service.
        try? await Task.sleep(for: self.state.withLock(\.copyTakes))
        defer { self.state.withLock { $0.copyTimes.ended.append(.now) } }
        let offsets = try await self.base.checkpoint()
        let facts = LedgerCopyFacts(made: now, offsets: offsets, bytes: 1)
        self.state.withLock {
            if $0.needsCheck { $0.copiedUnchecked += 1 }
            $0.copies = [facts] + $0.copies.prefix(2)
        }
        return facts
    }

    func check() async throws(LedgerError) -> [String] { self.state.withLock(\.faults) }

    func recover(
        _ generation: Int,
        because reason: String,
        at now: Timestamp
    ) async throws(LedgerError) -> LedgerRecovery? {
        self.state.withLock { state in
            guard state.generation == generation else { return nil }
            // The log of these tests is whole, or what it forgot is in the copies: nothing of it matters here.
            state.base = InMemoryLedger()
            state.generation += 1
            state.needsCheck = false
            state.faults = []
            state.applyError = nil
            state.copies = []
            return LedgerRecovery(reason: reason, keptAside: nil, copy: nil, gaps: [])
        }
    }

    func gaps() async throws(LedgerError) -> [LedgerGap] { self.state.withLock(\.gaps) }

    func appliedOffset(of lane: Lane) async throws(LedgerError) -> UInt64 {
        try await self.base.appliedOffset(of: lane)
    }

    @discardableResult
    func apply(_ postings: [LedgerPosting], of lane: Lane) async throws(LedgerError) -> NewOutcomes {
        if let error = self.state.withLock(\.applyError) { throw error }
        return try await self.base.apply(postings, of: lane)
    }

    func record(_ breaks: [BreakSummary], through offset: UInt64) async throws(LedgerError) {
        try await self.base.record(breaks, through: offset)
    }

    func checkpoint() async throws(LedgerError) -> [Lane: UInt64] { try await self.base.checkpoint() }

    func report(_ query: ReportQuery) async throws(LedgerError) -> Report { try await self.base.report(query) }

    func audit() async throws(LedgerError) -> [String] { try await self.base.audit() }

    func prune(
        rowsOfBreaksEndedBefore rowsLimit: Timestamp,
        totalsBefore totalsLimit: Timestamp
    ) async throws(LedgerError) -> [BreakNumber] {
        try await self.base.prune(rowsOfBreaksEndedBefore: rowsLimit, totalsBefore: totalsLimit)
    }

    func close() async { await self.base.close() }
}
