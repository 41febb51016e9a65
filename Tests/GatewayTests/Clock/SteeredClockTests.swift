// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayTestKit
import Synchronization
import TestSupport
import Testing

/// Two clocks that tests set.
final class HandClocks: Sendable {
    private struct State {
        var monotonic: Int64 = 1_000_000_000
        var wall: Timestamp
    }

    private let state: Mutex<State>

    init(wall: Timestamp = Timestamp(microseconds: 1_800_000_000_000_000)) {
        self.state = Mutex(State(wall: wall))
    }

    var wall: Timestamp { self.state.withLock(\.wall) }

    var sources: ClockSources {
        ClockSources(
            monotonic: { self.state.withLock(\.monotonic) },
            wall: { self.state.withLock(\.wall) }
        )
    }

    /// Time passes.
    func pass(_ duration: Duration) {
        self.state.withLock {
            $0.monotonic += duration.inMicroseconds * 1_000
            $0.wall = $0.wall + duration
        }
    }

    /// Sets the wall clock.
    func setWall(by duration: Duration) {
        self.state.withLock { $0.wall = $0.wall + duration }
    }
}

@Suite(.suiteLimit)
struct SteeredClockTests {
    private static let hour: Duration = .seconds(3_600)

    /// The state that the threads of a test share.
    private final class Shared: Sendable {
        /// How far the wall clock was set.
        let set = Mutex(Duration.zero)
        /// The latest time that anybody has seen.
        let newest = Atomic<Int64>(.min)
    }

    @Test func `many threads that read while the clock is bent never see it go back`() async throws {
        // The machine's monotonic clock, and a wall clock that is set all the time.
        let shared = Shared()
        let sources = ClockSources(
            monotonic: ClockSources.system.monotonic,
            wall: { ClockSources.system.wall() + shared.set.withLock { $0 } }
        )
        var settings = ClockSettings()
        settings.slewPartsPerMillion = 500
        settings.stepBackPartsPerMillion = 500_000
        let clock = SteeredClock(settings: settings, sources: sources)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<100_000 {
                        // What anybody has seen before this look begins.
                        let seen = shared.newest.load(ordering: .acquiring)
                        let now = clock.now().microseconds
                        if now < seen { Issue.record("\(now) after \(seen)") }
                        shared.newest.max(now, ordering: .acquiringAndReleasing)
                    }
                }
            }
            group.addTask {
                for round in 0..<20_000 {
                    shared.set.withLock { $0 = .milliseconds((round % 7 - 3) * 400) }
                    if round % 5 == 0 { _ = try? clock.step() } else { _ = clock.observe() }
                }
            }
        }
    }

    @Test func `a start within the tolerance begins at the newest record and lets the wall clock catch up`() throws {
        let clocks = HandClocks()
        let clock = SteeredClock(sources: clocks.sources)
        let newest = clocks.wall + .seconds(5)
        try clock.begin(newest: newest, shown: nil, retention: nil, acceptsWall: false)
        #expect(clock.now() == newest)
        for _ in 0..<110 {
            clocks.pass(.seconds(1))
            _ = clock.observe()
        }
        #expect(clock.observe().state == .following)
        #expect(abs((clock.now() - clocks.wall).inMicroseconds) < 1_000)
    }

    @Test func `the alarm says what to do, and ends when the clock is set right or accepted`() async throws {
        let clocks = HandClocks()
        let station = Station()
        let clock = SteeredClock(sources: clocks.sources)
        try await withGateway(
            configuration: station.configuration,
            log: station.log,
            ledger: InMemoryLedger(),
            clock: clock
        ) {
            running in
            let gateway = running.gateway
            #expect(gateway.readiness.alarms.isEmpty)
            clocks.setWall(by: Self.hour)
            let shown = try await gateway.control.perform("clock", [:])
            #expect(shown["state"] == "apart")
            #expect(shown["differenceMicroseconds"]?.asInteger == Self.hour.inMicroseconds)
            try await until("the alarm is raised") { gateway.readiness.alarms.contains { $0.alarm == "clock" } }
            #expect(gateway.readiness.alarms.first?.sentence.contains("cuecast clock step") == true)
            #expect(gateway.readiness.missing.isEmpty)
            #expect(gateway.metrics.exposition().contains("cuecast_clock_difference_seconds 3600.0\n"))

            clocks.setWall(by: .zero - Self.hour)
            try await until("the alarm ends") { gateway.readiness.alarms.isEmpty }

            clocks.setWall(by: Self.hour)
            let stepped = try await gateway.control.perform("clock.step", [:])
            #expect(stepped["state"] == "following")
            #expect(clock.now() == clocks.wall)
            #expect(gateway.readiness.alarms.isEmpty)

            clocks.setWall(by: .zero - Self.hour)
            let refusal = await #expect(throws: ControlError.self) {
                try await gateway.control.perform("clock.step", [:])
            }
            #expect(refusal?.sentence.contains("--accept-clock") == true)
            #expect(refusal?.exitCode == 65)
            #expect(clock.now() == clocks.wall + Self.hour)
        }
    }

    @Test func `a wall clock that is set by an hour, and a command that follows it, end no lease and no break`()
        async throws
    {
        for hour in [Self.hour, .zero - Self.hour] {
            let clocks = HandClocks()
            let station = Station()
            let clock = SteeredClock(sources: clocks.sources)
            try await withGateway(
                configuration: station.configuration,
                log: station.log,
                ledger: InMemoryLedger(),
                clock: clock
            ) { running in
                let listener = try await running.listener()
                _ = try await listener.join()
                let broadcaster = try await running.broadcaster()
                let live = try BreakKey.of("radio1", "live")
                let later = try BreakKey.of("radio1", "later")
                _ = try await broadcaster.ask(try .publication(of: live, start: .now, duration: .seconds(600)))
                _ = try await broadcaster.ask(try .publication(of: later, start: .after(.seconds(1_800))))
                try await until("both are there") { running.board.keys.count == 2 }
                let sequence = running.board.position(of: live.stream).sequence
                let offset = running.board.offset

                clocks.setWall(by: hour)
                try await until("the alarm is raised") { !running.gateway.readiness.alarms.isEmpty }
                let looked = running.metrics.value(.listenerRequests, .time)
                let reply = try await listener.ask(.getTime)
                #expect(running.metrics.value(.listenerRequests, .time) == looked + 1)
                // By the wall clock one would be over, or the other due.
                #expect(abs((reply.gatewayTime - (clocks.wall - hour)).inMicroseconds) < 60_000_000)
                #expect(running.metrics.value(.listeners) == 1)
                #expect(running.board.position(of: live.stream).sequence == sequence)
                #expect(running.board.offset == offset)
                #expect(running.board[later]?.record.phase == .scheduled)

                guard hour > .zero else { return }
                // The command makes time jump over the later break's start, but all still listen.
                _ = try await running.gateway.control.perform("clock.step", [:])
                try await until("what is due by the new time is recorded") {
                    running.board[later]?.record.phase != .scheduled
                }
                _ = try await listener.ask(.getTime)
                try await until("leases were looked at") { running.metrics.value(.listeners) == 1 }
                #expect(running.gateway.readiness.alarms.isEmpty)
            }
        }
    }

    @Test func `a gateway does not start behind its books, unless the operator says so, and is not asked again`()
        async throws
    {
        let clocks = HandClocks()
        let station = Station()
        let store = MemoryState()
        func run(accepts: Bool = false, _ body: (RunningGateway) async throws -> Void) async throws {
            var configuration = station.configuration
            configuration.acceptsClock = accepts
            try await withGateway(
                configuration: configuration,
                log: station.log,
                ledger: InMemoryLedger(),
                clock: SteeredClock(sources: clocks.sources),
                state: store,
                body
            )
        }
        clocks.setWall(by: .seconds(401 * 86_400))
        try await run { running in
            let broadcaster = try await running.broadcaster()
            _ = try await broadcaster.ask(try .publication(of: try .of("radio1", "early")))
        }
        clocks.setWall(by: .seconds(-401 * 86_400))
        await #expect(throws: ClockStart.Refusal.self) { try await run { _ in } }
        try await run(accepts: true) { running in
            let reply = try await running.listener().ask(.getTime)
            #expect(abs((reply.gatewayTime - clocks.wall).inMicroseconds) < 60_000_000)
        }
        // What was called wrong once is known to be.
        try await run { running in
            #expect(running.gateway.readiness.alarms.isEmpty)
        }
    }

    @Test func `a start far ahead of the books freezes retention until it is confirmed, also over a restart`()
        async throws
    {
        let clocks = HandClocks()
        let station = Station()
        func run(_ body: (RunningGateway, RetentionGate) async throws -> Void) async throws {
            let gate = RetentionGate()
            try await withGateway(
                configuration: station.configuration,
                log: station.log,
                ledger: InMemoryLedger(),
                clock: SteeredClock(sources: clocks.sources),
                retention: gate
            ) { try await body($0, gate) }
        }
        try await run { running, gate in
            let broadcaster = try await running.broadcaster()
            _ = try await broadcaster.ask(try .publication(of: try .of("radio1", "first")))
            #expect(gate.isOpen)
        }
        clocks.setWall(by: .seconds(401 * 86_400))
        for id in ["second", "third"] {
            try await run { running, gate in
                #expect(!gate.isOpen)
                #expect(running.gateway.readiness.alarms.map(\.alarm) == ["retention"])
                let retention = running.board.retentionTime
                let broadcaster = try await running.broadcaster()
                // Work goes on, and what it records makes nothing older.
                _ = try await broadcaster.ask(try .publication(of: try .of(id, id)))
                try await until("it is recorded") { running.board[try .of(id, id)] != nil }
                #expect(running.board.retentionTime == retention)
            }
        }
        try await run { running, gate in
            let shown = try await running.gateway.control.perform("clock", [:])
            #expect(shown["retention"] == "frozen")
            let confirmed = try await running.gateway.control.perform("clock.confirm", [:])
            #expect(confirmed["retention"] == "running")
            #expect(gate.isOpen)
            #expect(running.gateway.readiness.alarms.isEmpty)
        }
    }

    @Test func `after a restart a break's window is sized by those who listened before it`() async throws {
        let station = Station()
        let store = MemoryState()
        var configuration = station.configuration
        configuration.breaks.batchRequestsPerSecond = 1
        func window(_ id: String, listeners: Int) async throws -> Duration {
            try await withGateway(
                configuration: configuration,
                log: station.log,
                ledger: InMemoryLedger(),
                clock: SteeredClock(),
                state: store
            ) { running in
                for _ in 0..<listeners { _ = try await running.listener().join() }
                let broadcaster = try await running.broadcaster()
                let key = try BreakKey.of("radio1", id)
                _ = try await broadcaster.ask(try .publication(of: key, start: .now, duration: .seconds(60)))
                try await until("it is recorded") { running.board[key] != nil }
                if listeners > 0 {
                    try await until("the number is kept") {
                        store.load()?.listeners.values.reduce(0, +) == listeners
                    }
                }
                _ = try await broadcaster.ask(.cancel(key))
                let window = try #require(running.board[key]?.record.window)
                return window.by - window.from
            }
        }
        let before = try await window("before", listeners: 3)
        #expect(before == .seconds(3))
        // No listener has come back yet when this one is published.
        let after = try await window("after", listeners: 0)
        #expect(after == .seconds(3))
    }
}

/// Keeps a gateway's state in memory.
final class MemoryState: GatewayStateStore {
    private let state: Mutex<GatewayState?> = Mutex(nil)

    func load() -> GatewayState? { self.state.withLock { $0 } }

    func save(_ state: GatewayState) -> Bool {
        self.state.withLock { $0 = state }
        return true
    }

    func save(time: Timestamp) -> Bool {
        self.state.withLock { $0?.time = time }
        return true
    }
}
