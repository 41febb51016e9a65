// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing

@testable import Gateway

/// Gateways with sockets on one log far away.
@Suite(.suiteLimit)
struct SharedGatewaysTests {
    /// The log of one gateway, each time it starts.
    private func parts(of server: FarServer) async throws -> LogParts { try await self.parts(of: server.connect()) }

    private func parts(of far: FarLog) async throws -> LogParts {
        let log = try await WriterLog(over: far, settledAfter: .milliseconds(50))
        return LogParts(log: log, snapshots: far, watermarks: far, maintenance: nil)
    }

    private func run(
        on server: FarServer,
        ledger: any Ledger = InMemoryLedger(),
        _ body: (RunningGateway) async throws -> Void
    ) async throws {
        var configuration = GatewayConfiguration.forTests
        configuration.limits[.requestsPerSessionPerSecondMax] = 0
        try await withGateway(
            configuration: configuration,
            parts: self.parts(of: server),
            ledger: ledger,
            body
        )
    }

    @Test func `a break that is published at one gateway is announced at the other, and counted at both`() async throws
    {
        let server = FarServer(.calm, seed: SeededGenerator.seed)
        let books = (InMemoryLedger(), InMemoryLedger())
        try await self.run(on: server, ledger: books.0) { one in
            try await self.run(on: server, ledger: books.1) { other in
                let (here, there) = (try await one.listener(), try await other.listener())
                _ = try await here.join()
                _ = try await there.join()
                try await one.broadcaster().publish("b", duration: .seconds(30))
                let notices = (try await here.notice(), try await there.notice())
                #expect(notices.0.position == notices.1.position)
                #expect(notices.0.breakID == notices.1.breakID)
                for listener in [here, there] {
                    let batch = try await listener.batch(of: "b")
                    let answer = try await listener.ask(try listener.acknowledgement(of: batch, of: "b"))
                    #expect(answer.refusal == nil)
                }
                for running in [one, other] {
                    let report = try await running.books { report in
                        report.breaks.first?.advertisements.allSatisfy { $0.counts.played == 2 } ?? false
                    }
                    #expect(report.balances)
                }
                try await until("both come to the same board") { one.board == other.board }
            }
        }
    }

    /// A tenth of the records is lost, and a tenth of the answers; records come late and out of order.
    @Test func `on a log where everything goes wrong, what is confirmed is there once`() async throws {
        let seed = SeededGenerator.seed
        var conditions = FarConditions.stormy
        // Its boards stand still between its records.
        conditions.lagMilliseconds = 1...50
        let server = FarServer(conditions, seed: seed)
        var refusals = 0
        try await self.run(on: server) { one in
            try await self.run(on: server) { other in
                let broadcasters = [try await one.broadcaster(), try await other.broadcaster()]
                for (number, broadcaster) in broadcasters.enumerated() {
                    _ = try await self.insist {
                        try await broadcaster.publish("b\(number)", start: nil, hold: .seconds(600))
                    }
                }
                for round in 0..<10 {
                    for (number, broadcaster) in broadcasters.enumerated() {
                        let key = try BreakKey.of("radio1", "b\(number)")
                        let update = BroadcastRequest.Update(key: key, duration: .seconds(20 + round))
                        refusals += try await self.insist { _ = try await broadcaster.do(.update(update)) }
                    }
                }
                try await until("both come to the same board") { one.board == other.board }
            }
        }
        // Each change has an effect once, in its order.
        var writers = WriterTable()
        var durations: [BreakKey: [Duration?]] = [:]
        for record in server.everything(in: .breaks) where writers.take(record.mark) {
            for entry in try BreakGroup(decoding: record.bytes).entries {
                guard case .update(let update) = entry.kind else { continue }
                durations[update.request.key, default: []].append(update.request.duration)
            }
        }
        for number in 0...1 {
            let expected = (0..<10).map { Duration?.some(.seconds(20 + $0)) }
            var found = durations[try .of("radio1", "b\(number)")] ?? []
            // A request that was refused because the answer was late may have had its effect, and its repeat changes nothing.
            if refusals > 0 { found = found.indices.filter { $0 == 0 || found[$0] != found[$0 - 1] }.map { found[$0] } }
            #expect(found == expected, "seed \(seed)")
        }
    }

    /// Asks again for as long as the log is too slow for an answer, as it may be on a busy machine.
    ///
    /// - Returns: how often the gateway refused.
    private func insist(_ work: () async throws -> Void) async throws -> Int {
        var refusals = 0
        while true {
            do {
                try await work()
                return refusals
            } catch PeerError.refused(let sentence) where sentence.hasPrefix("UNAVAILABLE") { refusals += 1 }
        }
    }

    @Test func `a request that knows more than its gateway waits, and is never answered from the past`() async throws {
        let server = FarServer(.calm)
        let far = server.connect()
        try await self.run(on: server) { one in
            try await withGateway(parts: self.parts(of: far), ledger: InMemoryLedger()) { other in
                let listener = try await other.listener()
                let joined = try await listener.join()
                far.hold()
                let info = try await one.broadcaster().publish("b", duration: .seconds(30))
                let position = Position(epoch: joined.head.epoch, sequence: joined.head.sequence + 1)
                try await until("it is announced") { one.board.position(of: listener.stream) == position }
                // The listener, and the broadcaster, were at the first gateway meanwhile.
                let key = try BreakKey.of("radio1", "b")
                let join = try await listener.send(.join(.init(stream: listener.stream, last: position, instance: 0)))
                let batch = try await listener.send(.getBatch(.init(key: key)))
                let studio = try await other.broadcaster()
                let update = try await studio.send(.update(BroadcastRequest.Update(key: key, duration: .seconds(25))))
                try await until("they have come") { other.metrics.value(.broadcastRequests, .update) == 1 }
                try await until("they have come") { other.metrics.value(.listenerRequests, .batch) == 1 }
                #expect(await listener.requests.peer.takeAll().isEmpty)
                far.release()
                guard case .joined(let again) = try await listener.reply(to: join).body else {
                    throw PeerError.unexpected("no join")
                }
                #expect(again.kind == .current && again.head == position)
                guard case .batch(let got) = try await listener.reply(to: batch).body else {
                    throw PeerError.unexpected("no batch")
                }
                #expect(got.start == info.start)
                let updated = try #require(try await studio.reply(to: update).info)
                #expect(updated.revision > info.revision && updated.duration == .seconds(25))
            }
        }
    }

    @Test func `an acknowledgement that the log loses is recorded again, and counted once`() async throws {
        let server = FarServer(.calm)
        let far = server.connect()
        let log = try await WriterLog(over: far, settledAfter: .milliseconds(50))
        let parts = LogParts(log: log, snapshots: far, watermarks: far, maintenance: nil)
        let lane = Lane.acknowledgements(0)
        try await withGateway(parts: parts, ledger: InMemoryLedger()) { running in
            let listener = try await running.listener()
            _ = try await listener.join()
            try await running.broadcaster().publish("b", duration: .seconds(30))
            let batch = try await listener.batch(of: "b")
            try await until("the delivery is settled") {
                !server.everything(in: lane).isEmpty && log.openCount(of: lane) == 0
            }
            var lossy = FarConditions.calm
            lossy.lostPerMille = 1_000
            server.set(lossy)
            let request = try await listener.send(try listener.acknowledgement(of: batch, of: "b"))
            try await until("it is with the log") { log.openCount(of: lane) == 1 }
            #expect(await listener.requests.peer.takeAll().isEmpty)
            server.set(.calm)
            guard case .acknowledged = try await listener.reply(to: request).body else {
                throw PeerError.unexpected("it is not recorded")
            }
            let report = try await running.books { report in
                report.breaks.first?.advertisements.allSatisfy { $0.counts.played == 1 } ?? false
            }
            #expect(report.breaks[0].advertisements.allSatisfy { $0.counts.repeats == 0 })
        }
    }

    @Test func `a gateway that stops answers what it took, however late the log answers`() async throws {
        let server = FarServer(.calm)
        let far = server.connect()
        let log = try await WriterLog(over: far, settledAfter: .milliseconds(50))
        let parts = LogParts(log: log, snapshots: far, watermarks: far, maintenance: nil)
        try await withGateway(parts: parts, ledger: InMemoryLedger()) { running in
            let broadcaster = try await running.broadcaster()
            far.hold()
            let key = try BreakKey.of("radio1", "b")
            let request = try await broadcaster.send(.publication(of: key))
            try await until("it is with the log") { log.openCount(of: .breaks) == 1 }
            await running.beginShutdown()
            try await until("the gateway stops") { running.gateway.readiness.missing.contains(.sockets) }
            far.release()
            #expect(try await broadcaster.reply(to: request).info?.key == key)
        }
    }

    @Test func `of two gateways one announces each break, and the other does where the first has gone`() async throws {
        let server = FarServer(.calm)
        let clock = ManualClock()
        var configuration = GatewayConfiguration.forTests
        configuration.breaks.announceAhead = .seconds(8)
        func run(_ body: (RunningGateway) async throws -> Void) async throws {
            try await withGateway(
                configuration: configuration,
                parts: self.parts(of: server),
                ledger: InMemoryLedger(),
                clock: clock,
                body
            )
        }
        func announcements() throws -> Int {
            try server.everything(in: .breaks).flatMap { try BreakGroup(decoding: $0.bytes).entries }
                .count { if case .announce = $0.kind { true } else { false } }
        }
        try await run { one in
            try await run { other in
                let runs = (one.gateway.breakDesk.tools.log.origin, other.gateway.breakDesk.tools.log.origin)
                await one.gateway.breakDesk.gatewaysChanged(to: GatewayPeers(appending: [runs.1], rules: nil))
                await other.gateway.breakDesk.gatewaysChanged(to: GatewayPeers(appending: [runs.0], rules: nil))
                let broadcaster = try await one.broadcaster()
                for number in 0..<20 {
                    try await broadcaster.publish("b", of: "radio\(number)", start: .after(.seconds(60)))
                }
                try await until("both have them") { other.board.breakCount == 20 && one.board.breakCount == 20 }
                clock.advance(by: .seconds(52))
                // Each gateway is first for some of them.
                for running in [one, other] {
                    try await until("all are announced") {
                        running.board.sortedStreams.allSatisfy { $0.sequence == 1 }
                    }
                }
                #expect(try announcements() == 20)
                clock.advance(by: .seconds(2))

                // A gateway that has gone, and is taken for alive: the others come after it.
                await one.gateway.breakDesk.gatewaysChanged(to: GatewayPeers(appending: [runs.1, 1, 2, 3], rules: nil))
                await other.gateway.breakDesk.gatewaysChanged(
                    to: GatewayPeers(appending: [runs.0, 1, 2, 3], rules: nil)
                )
                for number in 20..<40 {
                    try await broadcaster.publish("b", of: "radio\(number)", start: .after(.seconds(60)))
                }
                try await until("both have them") { other.board.breakCount == 40 && one.board.breakCount == 40 }
                clock.advance(by: .seconds(52) + TimerRanks.rankDelay * 4)
                try await until("all are announced") { one.board.sortedStreams.allSatisfy { $0.sequence == 1 } }
            }
        }
    }

    @Test func `a gateway that starts again goes on from the snapshot with the writers in it`() async throws {
        let server = FarServer(.stormy, seed: SeededGenerator.seed)
        var revision: UInt64 = 0
        try await self.run(on: server) { running in
            let broadcaster = try await running.broadcaster()
            _ = try await self.insist {
                revision = try await broadcaster.publish("b", start: nil, hold: .seconds(600)).revision
            }
        }
        try await self.run(on: server) { running in
            let update = try BroadcastRequest.Update(key: .of("radio1", "b"), duration: .seconds(20))
            let broadcaster = try await running.broadcaster()
            var updated: UInt64 = 0
            _ = try await self.insist { updated = try await broadcaster.do(.update(update)).revision }
            #expect(updated > revision)
            #expect(running.board.writers.count >= 2)
        }
    }
}
