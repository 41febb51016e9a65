// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import Logging
import TestSupport
import Testing

@testable import Gateway

/// Group commit, and a log that is slow or fails.
@Suite(.suiteLimit)
struct DurabilityTests {
    var station = Station()
    static let lane = Lane.acknowledgements(0)

    init() {
        self.station.configuration.limits[.requestsPerSessionPerSecondMax] = 0
        // Every repeat goes to the log, and all groups are of one thread: these tests are about groups.
        self.station.configuration.edgeThreads = 1
        self.station.configuration.limits[.rememberedOutcomesMax] = 0
    }

    /// A listener with the batch of a break `b`, and its acknowledgement.
    private func fetched(
        from running: RunningGateway
    ) async throws -> (listener: RawListener, acknowledgement: ListenerRequest.Kind) {
        let listener = try await running.listener()
        _ = try await listener.join()
        try await running.broadcaster().publish("b", duration: .seconds(30))
        let batch = try await listener.batch(of: "b")
        // The delivery's own group is through before anything is held back.
        try await until("the delivery is recorded") { try await !self.station.memory.acknowledgementGroups().isEmpty }
        return (listener, try listener.acknowledgement(of: batch, of: "b"))
    }

    /// Connections that say what `listener` says: one connection may have 32 requests under way.
    private func connections(
        _ count: Int,
        as listener: RawListener,
        to running: RunningGateway
    ) async throws -> [RawListener] {
        var connections: [RawListener] = []
        for _ in 0..<count {
            connections.append(
                try await RawListener(
                    of: listener.stream,
                    at: running.endpoints,
                    session: listener.session,
                    in: running.network
                )
            )
        }
        return connections
    }

    @Test func `nothing is confirmed before it is durable, and what waited becomes durable together`() async throws {
        try await self.station.runByHand { running in
            let (listener, acknowledgement) = try await self.fetched(from: running)
            let before = self.station.log.appendCount(of: Self.lane)
            self.station.log.set(Self.lane, .holding)

            let first = try await listener.send(acknowledgement)
            try await until("the first is with the log") {
                self.station.log.appendCount(of: Self.lane) == before + 1
            }
            let others = try await self.connections(8, as: listener, to: running)
            var waiting = [(listener, first)]
            for other in others {
                for _ in 0..<25 { waiting.append((other, try await other.send(acknowledgement))) }
                // What needs no log is answered meanwhile; this comes after the acknowledgements.
                #expect(try await other.ask(.getTime).body == .done)
            }
            #expect(running.metrics.value(.listenerRequests, .acknowledge) == 201)
            #expect(self.station.log.appendCount(of: Self.lane) == before + 1)
            #expect(running.metrics.value(.acknowledgedOutcomes) == 0)
            for other in others { #expect(await other.requests.peer.takeAll().isEmpty) }

            self.station.log.set(Self.lane, .passing)
            for (connection, id) in waiting {
                #expect(try await connection.reply(to: id).body == .acknowledged(recorded: 2))
            }
            #expect(self.station.log.appendCount(of: Self.lane) == before + 2)
            #expect(try await self.station.memory.acknowledgementGroups().suffix(2).map(\.requests.count) == [1, 200])
        }
    }

    @Test func `a full group does not wait, but only four are under way`() async throws {
        try await self.station.runByHand { running in
            let (listener, acknowledgement) = try await self.fetched(from: running)
            let before = self.station.log.appendCount(of: Self.lane)
            self.station.log.set(Self.lane, .holding)
            var waiting: [(RawListener, UInt64)] = []
            for connection in try await self.connections(150, as: listener, to: running) {
                for _ in 0..<30 { waiting.append((connection, try await connection.send(acknowledgement))) }
            }
            try await until("all have come") { running.metrics.value(.listenerRequests, .acknowledge) == 4_500 }
            try await until("four groups are with the log") {
                self.station.log.appendCount(of: Self.lane) == before + 4
            }

            self.station.log.set(Self.lane, .passing)
            for (connection, id) in waiting {
                #expect(try await connection.reply(to: id).body == .acknowledged(recorded: 2))
            }
            let sizes = try await self.station.memory.acknowledgementGroups().map(\.requests.count)
            #expect(sizes.reduce(0, +) == 4_500)
        }
    }

    @Test func `a failed group is not confirmed, and its deliveries are recorded later`() async throws {
        try await self.station.runByHand { running in
            let (listener, acknowledgement) = try await self.fetched(from: running)
            let recorded = try await self.station.memory.acknowledgementGroups().count
            self.station.log.set(Self.lane, .failing)

            let refusal = try #require(try await listener.ask(acknowledgement).refusal)
            #expect(refusal.status == .unavailable)
            #expect(refusal.retryAfter > .zero)
            #expect(running.metrics.value(.acknowledgedOutcomes) == 0)
            try await until("it says that the log fails") { running.gateway.readiness.missing == [.log] }

            // Batches do not wait for the log.
            let second = try await running.listener()
            #expect(try await second.batch(of: "b").advertisements.count == 2)
            // A log that fails at once is not asked again and again.
            let attempts = self.station.log.appendCount(of: Self.lane)
            let begun = ContinuousClock.now
            try await Task.sleep(for: .seconds(2))
            let made = self.station.log.appendCount(of: Self.lane) - attempts
            // Once a second, and for everybody who asks.
            #expect(made <= Int((ContinuousClock.now - begun) / .seconds(1)) + 2)
            #expect(try await self.station.memory.acknowledgementGroups().count == recorded)

            self.station.log.set(Self.lane, .passing)
            let session = second.session
            try await until("the delivery is recorded") {
                try await self.station.memory.acknowledgementGroups().flatMap(\.deliveries).map(\.session)
                    .contains(session)
            }
            #expect(try await listener.ask(acknowledgement).body == .acknowledged(recorded: 2))
            let deliveries = try await self.station.memory.acknowledgementGroups().flatMap(\.deliveries)
            #expect(deliveries.count == 2)
            #expect(try await self.station.memory.acknowledgementGroups().flatMap(\.requests).count == 1)
        }
    }

    @Test func `a gateway whose log works again says so without a request`() async throws {
        try await self.station.runByHand { running in
            let (listener, acknowledgement) = try await self.fetched(from: running)
            self.station.log.set(Self.lane, .failing)
            #expect(try await listener.ask(acknowledgement).refusal?.status == .unavailable)
            try await until("it says that the log fails") { running.gateway.readiness.missing == [.log] }
            self.station.log.set(Self.lane, .passing)
            try await until("it is ready again") { running.gateway.readiness.missing.isEmpty }
        }
    }

    @Test func `a publication is answered when it is durable and on the board`() async throws {
        try await self.station.runByHand { running in
            let broadcaster = try await running.broadcaster()
            self.station.log.set(.breaks, .holding)
            let id = try await broadcaster.send(.publication(of: .of("radio1", "held")))
            // Lists need no log; this comes after the publication.
            #expect(try await broadcaster.ask(.list(BroadcastRequest.List())) == .list([], after: []))
            try await until("the publication is with the log") { self.station.log.appendCount(of: .breaks) == 1 }
            #expect(await broadcaster.requests.peer.takeAll().isEmpty)
            self.station.log.set(.breaks, .passing)
            #expect(try await broadcaster.reply(to: id).info?.state == .announced)
        }
    }

    @Test func `the ledger counts a record that changes no break`() async throws {
        try await self.station.runByHand { running in
            let broadcaster = try await running.broadcaster()
            self.station.log.set(.breaks, .holding)
            let first = try await broadcaster.send(.publication(of: .of("radio1", "twice")))
            try await until("the first is with the log") { self.station.log.appendCount(of: .breaks) == 1 }
            // The board does not have the first yet, so that this is recorded too, and refused when it is applied.
            let second = try await broadcaster.send(
                .publication(of: .of("radio1", "twice"), duration: .seconds(7))
            )
            #expect(try await broadcaster.ask(.list(BroadcastRequest.List())) == .list([], after: []))
            self.station.log.set(.breaks, .passing)
            #expect(try await broadcaster.reply(to: first).info?.state == .announced)
            #expect(try await broadcaster.reply(to: second).refusal?.status == .conflict)
            let head = try await self.station.memory.head(of: .breaks)
            #expect(head == 2)
            try await until("the ledger has counted both") {
                running.metrics.value(.ledgerOffset, .lane(.breaks)) == Int(head)
            }
        }
    }

    @Test func `a publication that the board has before the log has answered is answered all the same`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let broadcaster = try await running.broadcaster()
            self.station.log.set(.breaks, .holdingAnswers)
            let id = try await broadcaster.send(.publication(of: .of("radio1", "early")))
            #expect(try await listener.notice().breakID?.description == "early")
            #expect(await broadcaster.requests.peer.takeAll().isEmpty)
            self.station.log.set(.breaks, .passing)
            #expect(try await broadcaster.reply(to: id).info?.state == .announced)
        }
    }

    @Test func `a publication that the log failed has not happened, and can be repeated`() async throws {
        try await self.station.runByHand { running in
            let broadcaster = try await running.broadcaster()
            self.station.log.set(.breaks, .failing)
            let publication = try BroadcastRequest.Kind.publication(of: .of("radio1", "again"))
            #expect(try await broadcaster.ask(publication).refusal?.status == .unavailable)
            #expect(running.board.keys.isEmpty)
            try await until("the failure is counted") { running.metrics.value(.logFailures) == 1 }
            self.station.log.set(.breaks, .passing)
            #expect(try await broadcaster.ask(publication).info?.state == .announced)
        }
    }

    @Test func `an announcement that the log failed goes out as soon as it works`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            try await running.broadcaster().publish("later", start: .after(.seconds(60)))
            self.station.log.set(.breaks, .failing)
            self.station.clock.advance(by: .seconds(53))
            try await until("the announcement was tried") { running.metrics.value(.logFailures) >= 2 }
            self.station.log.set(.breaks, .passing)
            #expect(try await listener.notice().kind == .available)
        }
    }

    @Test func `a ledger that fails is tried again and loses nothing`() async throws {
        let ledger = FailingLedger(InMemoryLedger())
        ledger.fail(.apply)
        ledger.fail(.record)
        try await self.station.runByHand(ledger: ledger) { running in
            let (listener, acknowledgement) = try await self.fetched(from: running)
            #expect(try await listener.ask(acknowledgement).body == .acknowledged(recorded: 2))
            let books = try await running.books { $0.total.played == 2 && !$0.breaks.isEmpty }
            #expect(books.total.delivered == 2)
            #expect(books.balances)
            #expect(running.metrics.value(.ledgerFailures) == 2)
        }
    }

    @Test func `a ledger that goes on failing is an alarm, and what waits is told, until it works`() async throws {
        let ledger = FailingLedger(InMemoryLedger())
        ledger.failEvery(.apply)
        try await self.station.runByHand(ledger: ledger) { running in
            let (listener, acknowledgement) = try await self.fetched(from: running)
            #expect(try await listener.ask(acknowledgement).body == .acknowledged(recorded: 2))
            func alarm() -> String? { running.gateway.readiness.alarms.first { $0.alarm == "ledger" }?.sentence }
            try await until("it is an alarm") { alarm()?.contains("counts nothing at present") == true }
            #expect(running.metrics.value(.ledgerLag, .lane(Self.lane)) == 2)
            #expect(running.metrics.value(.ledgerFailures) >= LedgerFailures.alarmAfter)
            ledger.heal()
            try await until("it is over") { alarm() == nil }
            #expect(running.metrics.value(.ledgerLag, .lane(Self.lane)) == 0)
            #expect(try await running.books { $0.total.played == 2 }.balances)
        }
    }

    @Test func `a paused ledger counts nothing, loses nothing, and catches up at the next start`() async throws {
        var station = self.station
        station.configuration.ledgerPaused = true
        let ledger = InMemoryLedger()
        try await station.runByHand(ledger: ledger) { running in
            let (listener, acknowledgement) = try await self.fetched(from: running)
            #expect(try await listener.ask(acknowledgement).body == .acknowledged(recorded: 2))
            try await until("it is said how much waits") { running.metrics.value(.ledgerLag, .lane(Self.lane)) == 2 }
            #expect(running.metrics.value(.ledgerOffset, .lane(Self.lane)) == 0)
            let books = try await running.books { !$0.breaks.isEmpty }
            #expect(books.total.played == 0)
            #expect(books.total.delivered == 0)
        }
        station.configuration.ledgerPaused = false
        try await station.runByHand { running in
            let books = try await running.books { $0.total.played == 2 && !$0.breaks.isEmpty }
            #expect(books.total.delivered == 2)
            #expect(books.balances)
        }
    }

    @Test func `a log that cannot be read any more ends the gateway, also while answers are due`() async throws {
        let error = await #expect(throws: (any Error).self) {
            try await self.station.runByHand { running in
                let (listener, acknowledgement) = try await self.fetched(from: running)
                self.station.log.set(Self.lane, .holding)
                _ = try await listener.send(acknowledgement)
                #expect(try await listener.ask(.getTime).body == .done)
                self.station.log.failReads()
                try await until("the gateway has ended") {
                    running.logs.messages(.error).contains { $0.contains("stopping") }
                }
            }
        }
        #expect("\(try #require(error))".contains("the test wants it so"))
    }
}
