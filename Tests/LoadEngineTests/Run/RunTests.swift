// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayTestKit
import Histogram
import LoadEngine
import Synchronization
import TestSupport
import Testing

/// Whole runs over real sockets.
@Suite(.serialized, .suiteLimit)
struct RunTests {
    /// Gives what a body gives with all times as long as it is told, or 4, 16 or 64 times as long, until a machine that is
    /// busy keeps up with it.
    ///
    /// Only ever for that: whether something was lost or wrong is no matter of pace, and `keptUp` must not look at it.
    private static func slowerUntil<Result>(
        _ keptUp: (Result) -> Bool,
        _ body: (_ factor: Int) async throws -> Result
    ) async throws -> Result {
        var factor = 1
        while true {
            let result = try await body(factor)
            if factor == 64 || keptUp(result) { return result }
            factor *= 4
        }
    }

    /// Whether a listener was told that its break is over: it had no turn in time.
    private static func cameTooLate(_ outcome: RunOutcome) -> Bool {
        outcome.statistics.findings.entries[.batchesMissing]?.examples.contains { $0.hasSuffix("TOO_LATE") } ?? false
    }

    private static func settings(
        _ gateway: RunSettings.Gateway,
        listeners: Int,
        breaks: Int,
        factor: Int = 1
    ) -> RunSettings {
        var settings = RunSettings(gateway: gateway, streams: ["radio1"])
        settings.listeners = listeners
        settings.breaks = breaks
        settings.every = 300_000 * Microseconds(factor)
        settings.lead = 1_500_000 * Microseconds(factor)
        settings.duration = 300_000 * Microseconds(factor)
        settings.seed = 17
        settings.runName = "test"
        settings.patience = 1_800_000_000
        // Longer than a busy machine makes anybody wait; what is lost is asked for again and counts as a timeout.
        settings.listenerTimeout = 120_000_000
        return settings
    }

    private static func report(_ outcome: RunOutcome) -> LoadReport {
        LoadReport(
            outcome,
            isComplete: outcome.isComplete,
            listeners: 0,
            streams: 1,
            books: .init(state: .notCompared, breaks: 0, sentence: ""),
            facts: .init(
                machine: [],
                options: [],
                gateway: [],
                began: Timestamp(microseconds: 0),
                processes: 1,
                ownCPUSeconds: 0
            )
        )
    }

    /// Runs a gateway whose listeners never take it for silent because a busy machine took its time.
    private static func withPatientGateway<Result>(
        _ body: (RunningGateway) async throws -> Result
    ) async throws -> Result {
        var configuration = GatewayConfiguration.forTests
        configuration.headInterval = waitMax
        return try await withGateway(
            configuration: configuration,
            log: InMemoryEventLog(),
            ledger: InMemoryLedger(),
            body
        )
    }

    /// Against a real gateway; the books are those of its ledger, by break.
    private func run(
        factor: Int,
        _ change: @escaping @Sendable (inout RunSettings) -> Void = { _ in }
    ) async throws -> (RunOutcome, Report) {
        try await Self.withPatientGateway { running in
            let endpoints = running.endpoints
            let outcome = try await onThread {
                var settings = Self.settings(
                    .init(
                        notices: endpoints.notices,
                        requests: endpoints.requests,
                        broadcast: endpoints.broadcast
                    ),
                    listeners: 200,
                    breaks: 3,
                    factor: factor
                )
                change(&settings)
                return try runListeners(settings)
            }
            let sent = outcome.breaks.reduce(0) { $0 + $1.tally.acknowledged }
            let books = try await running.books { report in
                report.total.played + report.total.ignored + report.total.failed == Int64(sent)
            }
            return (outcome, books)
        }
    }

    private func expectBooks(_ books: Report, equal outcome: RunOutcome) {
        #expect(books.breaks.count == outcome.breaks.count)
        for each in books.breaks {
            let tally = outcome.breaks.first { $0.id == each.summary.key.id.description }?.tally
            let counts = each.advertisements.reduce(into: OutcomeCounts()) { $0 += $1.counts }
            #expect(tally?.delivered == Int(counts.delivered))
            #expect(tally?.played == Int(counts.played))
            #expect(tally?.ignored == Int(counts.ignored))
            #expect(tally?.failed == Int(counts.failed))
            #expect(counts.contradictions == 0)
        }
    }

    @Test func `200 listeners and 3 breaks: nothing is lost, and the books say the same`() async throws {
        let (outcome, books) = try await Self.slowerUntil { (outcome, _) in
            outcome.statistics.counts.timeouts == 0 && outcome.statistics.counts.connectionsLost == 0
                && outcome.breaks.allSatisfy { $0.tally.batches == 200 && $0.tally.shareBeforeStart == 1 }
        } _: {
            try await self.run(factor: $0)
        }
        #expect(outcome.statistics.findings == Findings())
        #expect(outcome.isComplete)
        let counts = outcome.statistics.counts
        #expect(counts.joined == 200 && counts.notices == 600 && counts.batches == 600 && counts.outcomes == 1_800)
        #expect(counts.published == 3 && counts.connectionsLost == 0 && counts.timeouts == 0)
        #expect(outcome.breaks.allSatisfy { $0.tally.batches == 200 && $0.tally.shareBeforeStart == 1 })
        #expect(outcome.statistics.notice.intended.totalCount == 600)
        #expect(outcome.statistics.batch.intended.totalCount == 600)
        #expect(outcome.statistics.acknowledge.intended.totalCount == 600)
        #expect(Self.report(outcome).passed)
        self.expectBooks(books, equal: outcome)
    }

    @Test func `sessions that come and go, stalls, a storm and playing at a speed keep the books equal`() async throws {
        let (outcome, books) = try await Self.slowerUntil { (outcome, _) in
            outcome.statistics.counts.left > 50 && outcome.statistics.counts.stalls > 10
                && outcome.statistics.counts.connectionsLost == 0 && !Self.cameTooLate(outcome)
        } _: {
            try await self.run(factor: $0) { settings in
                settings.storm = true
                settings.churn = 200
                settings.stall = 0.2
                settings.stallFor = 150_000
                settings.speed = 3
                settings.breaks = 5
            }
        }
        #expect(outcome.statistics.findings == Findings())
        #expect(outcome.statistics.counts.left > 50 && outcome.statistics.counts.stalls > 10)
        #expect(outcome.statistics.counts.joined > 200)
        self.expectBooks(books, equal: outcome)
    }

    /// The outcomes of a run that follows the breaks of another, and of the other.
    private func followed(factor: Int) async throws -> [RunOutcome] {
        try await Self.withPatientGateway { running in
            let endpoints = running.endpoints
            let gateway = RunSettings.Gateway(
                notices: endpoints.notices,
                requests: endpoints.requests,
                broadcast: endpoints.broadcast
            )
            return try await withThrowingTaskGroup(of: RunOutcome.self) { group in
                let joined = Flag()
                group.addTask {
                    try await onThread {
                        var settings = Self.settings(gateway, listeners: 50, breaks: 2, factor: factor)
                        settings.follows = true
                        var hooks = RunHooks()
                        hooks.allJoined = { _ in joined.set() }
                        return try runListeners(settings, hooks: hooks)
                    }
                }
                try await until("the followers have joined") { joined.isSet }
                group.addTask {
                    try await onThread {
                        var settings = Self.settings(gateway, listeners: 10, breaks: 2, factor: factor)
                        settings.seed = 18
                        return try runListeners(settings)
                    }
                }
                var outcomes: [RunOutcome] = []
                for try await each in group { outcomes.append(each) }
                return outcomes
            }
        }
    }

    @Test func `a run that follows takes the breaks of another broadcaster`() async throws {
        let outcomes = try await Self.slowerUntil { (outcomes: [RunOutcome]) in
            outcomes.allSatisfy { each in
                each.breaks.allSatisfy { $0.tally.batches == (each.statistics.counts.published == 0 ? 50 : 10) }
            }
        } _: {
            try await self.followed(factor: $0)
        }
        #expect(outcomes.count == 2)
        for outcome in outcomes { #expect(outcome.statistics.findings == Findings()) }
        let follower = try #require(outcomes.first { $0.statistics.counts.published == 0 })
        #expect(follower.breaks.map(\.isOurs) == [false, false])
        #expect(follower.breaks.allSatisfy { $0.tally.batches == 50 && $0.tally.delivered == 150 })
    }

    /// The merged outcomes of three processes that begin together.
    private func together(factor: Int) async throws -> RunOutcome {
        try await Self.withPatientGateway { running in
            let endpoints = running.endpoints
            let start = Beginning(processes: 3)
            return try await withThrowingTaskGroup(of: RunOutcome.self) { group in
                for number in 0..<3 {
                    group.addTask {
                        try await onThread {
                            var settings = Self.settings(
                                .init(
                                    notices: endpoints.notices,
                                    requests: endpoints.requests,
                                    broadcast: endpoints.broadcast
                                ),
                                listeners: 100,
                                breaks: 2,
                                factor: factor
                            )
                            settings.process = number
                            settings.processes = 3
                            var hooks = RunHooks()
                            hooks.allJoined = { _ in start.ready() }
                            hooks.beginning = { start.beginning }
                            return try runListeners(settings, hooks: hooks)
                        }
                    }
                }
                var merged: RunOutcome?
                for try await each in group {
                    if merged == nil { merged = each } else { merged?.merge(each) }
                }
                return try #require(merged)
            }
        }
    }

    @Test func `several processes begin together and are merged`() async throws {
        let outcome = try await Self.slowerUntil {
            $0.breaks.allSatisfy { $0.tally.batches == 100 }
        } _: {
            try await self.together(factor: $0)
        }
        #expect(outcome.statistics.findings == Findings())
        #expect(outcome.statistics.counts.joined == 100 && outcome.statistics.counts.batches == 200)
        #expect(outcome.statistics.counts.published == 2)
        #expect(outcome.breaks.map(\.tally.batches) == [100, 100])
        #expect(outcome.breaks.allSatisfy { $0.isOurs })
    }

    // MARK: - Gateways with faults

    /// Compares the findings of listeners with one connection, to which the gateway sends notices, and of those with two: the same.
    private func findings(
        of gateway: FaultyGateway,
        patience: Microseconds = 1_800_000_000,
        _ isComplete: (Findings) -> Bool
    ) async throws -> Findings {
        let two = try await self.findings(of: gateway, push: false, patience: patience, isComplete)
        var pushing = gateway
        pushing.pushes = true
        let one = try await self.findings(of: pushing, push: true, patience: patience, isComplete)
        #expect(one.entries.mapValues(\.count) == two.entries.mapValues(\.count))
        return one
    }

    private func findings(
        of gateway: FaultyGateway,
        push: Bool,
        patience: Microseconds = 1_800_000_000,
        _ isComplete: (Findings) -> Bool
    ) async throws -> Findings {
        try await Self.slowerUntil(isComplete) { factor in
            let outcome = try await gateway.run {
                var settings = Self.settings($0, listeners: 10, breaks: 3, factor: factor)
                settings.push = push
                settings.patience = min(patience * Microseconds(factor), 1_800_000_000)
                return try runListeners(settings)
            }
            let report = Self.report(outcome)
            #expect(report.passed == outcome.statistics.findings.isEmpty)
            #expect(outcome.statistics.counts.fellBack == (push && !gateway.pushes ? 10 : 0))
            #expect(outcome.statistics.counts.pushed == (push && gateway.pushes ? 10 : 0))
            return outcome.statistics.findings
        }
    }

    /// How long a run waits for what a faulty gateway never sends.
    private static let patience: Microseconds = 4_000_000

    @Test func `a small gateway that does everything right passes`() async throws {
        #expect(try await self.findings(of: FaultyGateway()) { _ in true } == Findings())
    }

    @Test func `where the gateway does not push, listeners fall back to two connections and lose nothing`() async throws
    {
        #expect(try await self.findings(of: FaultyGateway(), push: true) { _ in true } == Findings())
        var gateway = FaultyGateway()
        gateway.notices = { $0 == 2 ? .twice : .sent }
        let findings = try await self.findings(of: gateway, push: true, patience: Self.patience) {
            $0[.noticesRepeated] == 10
        }
        #expect(findings.entries.mapValues(\.count) == [.noticesRepeated: 10])
    }

    @Test(arguments: [1, 2, 3])
    func `a notice that is dropped is lost for every listener, also when a join recovers it`(number: Int) async throws {
        var gateway = FaultyGateway()
        gateway.notices = { $0 == number ? .dropped : .sent }
        let findings = try await self.findings(of: gateway, patience: Self.patience) {
            Set($0.entries.keys) == [.noticesLost]
        }
        #expect(findings[.noticesLost] == 10)
        #expect(findings.entries.keys.allSatisfy { $0 == .noticesLost })
        #expect(findings.entries[.noticesLost]?.examples.first?.contains("radio1") == true)
    }

    @Test func `a last notice that is dropped is found although no head tells of it`() async throws {
        var gateway = FaultyGateway(hidesHead: true)
        gateway.notices = { $0 == 3 ? .dropped : .sent }
        let findings = try await self.findings(of: gateway, patience: Self.patience) { $0[.noticesLost] == 10 }
        #expect(findings[.noticesLost] == 10)
    }

    @Test func `a notice that comes twice is found`() async throws {
        var gateway = FaultyGateway()
        gateway.notices = { $0 == 2 ? .twice : .sent }
        let findings = try await self.findings(of: gateway, patience: Self.patience) { $0[.noticesRepeated] == 10 }
        #expect(findings[.noticesRepeated] == 10)
        #expect(findings.entries.keys.allSatisfy { $0 == .noticesRepeated })
    }

    @Test func `notices in the wrong order are found`() async throws {
        var gateway = FaultyGateway(hidesHead: true)
        gateway.notices = { $0 == 1 ? .late : .sent }
        let findings = try await self.findings(of: gateway, patience: Self.patience) {
            $0[.noticesOutOfOrder] + $0[.noticesLost] == 10
        }
        #expect(findings[.noticesOutOfOrder] + findings[.noticesLost] == 10)
    }

    @Test func `a batch with another content is found`() async throws {
        let findings = try await self.findings(of: FaultyGateway(changesContent: true), patience: Self.patience) {
            $0[.wrongContent] == 30
        }
        #expect(findings[.wrongContent] == 30)
        #expect(findings.entries[.wrongContent]?.examples.first?.contains("load-test-1") == true)
    }

    @Test func `outcomes that are refused or not recorded are found`() async throws {
        for (gateway, missing) in [
            (FaultyGateway(refusal: .deliveryInvalid), 90), (FaultyGateway(forgetsOutcomes: true), 30),
        ] {
            let findings = try await self.findings(of: gateway, patience: Self.patience) {
                $0[.acknowledgementsMissing] == missing
            }
            #expect(findings[.acknowledgementsMissing] == missing)
        }
    }

    @Test func `without a listening gateway the run ends with an error`() async throws {
        var settings = Self.settings(
            .init(notices: "tcp://127.0.0.1:9", requests: "tcp://127.0.0.1:9", broadcast: "tcp://127.0.0.1:9"),
            listeners: 2,
            breaks: 1
        )
        settings.patience = 500_000
        let run = settings
        await #expect {
            _ = try await onThread { try runListeners(run) }
        } throws: { error in
            if case LoadError.unavailable? = error as? LoadError { true } else { false }
        }
    }
}

/// Something has happened.
private final class Flag: Sendable {
    private let state = Atomic(false)
    var isSet: Bool { self.state.load(ordering: .acquiring) }
    func set() { self.state.store(true, ordering: .releasing) }
}

/// When processes begin that wait for each other.
private final class Beginning: Sendable {
    private let state: Mutex<(missing: Int, beginning: Microseconds?)>

    init(processes: Int) {
        self.state = Mutex((processes, nil))
    }

    var beginning: Microseconds? { self.state.withLock { $0.beginning } }

    func ready() {
        self.state.withLock { state in
            state.missing -= 1
            if state.missing == 0 { state.beginning = Microseconds(LoopTime.now().nanoseconds / 1_000) + 300_000 }
        }
    }
}
