// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CuecastWire
import Gateway
import GatewayCore
import GatewayTestKit
import JetStreamLog
import TestSupport
import Testing

/// Gateways with sockets on one log that servers of NATS keep.
@Suite(.suiteLimit)
struct JetStreamGatewayTests {
    /// The parts of one gateway of a log.
    private struct Member {
        let log: JetStreamLog
        let parts: LogParts
        let bus: GatewayBusParts

        init(on servers: NATSServers, _ names: LogNames) async throws {
            self.log = try await openLog(on: servers, names)
            let writing = try await WriterLog(over: self.log)
            let snapshots = SnapshotsInMemory()
            self.parts = LogParts(log: writing, snapshots: snapshots, watermarks: snapshots, maintenance: nil)
            let access = servers.access
            let connection = try await eventually { try await blocking { try NATSConnection(access) } }
            self.bus = GatewayBusParts(
                bus: NATSBus(connection, names: names),
                writer: writing.writer,
                version: "1.0.0"
            )
        }
    }

    private func run(
        on servers: NATSServers,
        _ names: LogNames,
        ledger: any Ledger = InMemoryLedger(),
        _ body: (RunningGateway, JetStreamLog) async throws -> Void
    ) async throws {
        let member = try await Member(on: servers, names)
        try await withGateway(parts: member.parts, ledger: ledger, bus: member.bus) { running in
            try await body(running, member.log)
        }
    }

    /// Publishes a break on a stream, again for as long as the log is too slow for an answer.
    private func publish(_ name: String, of stream: String = "radio1", at running: RunningGateway) async throws {
        let broadcaster = try await running.broadcaster()
        while try await !self.tries(name, of: stream, broadcaster) {}
    }

    /// - Returns: whether it is taken; otherwise the log was not there.
    private func tries(_ name: String, of stream: String, _ broadcaster: RawBroadcaster) async throws -> Bool {
        do {
            _ = try await broadcaster.publish(name, of: stream, duration: .seconds(30))
            return true
        } catch PeerError.refused(let sentence) where sentence.hasPrefix("UNAVAILABLE") {
            return false
        }
    }

    /// Fetches the batch of a break, and says that it was played.
    ///
    /// It says so again for as long as the log is too slow for an answer.
    private func play(_ name: String, at listener: RawListener) async throws {
        let batch = try await listener.batch(of: name)
        while true {
            let answer = try await listener.ask(try listener.acknowledgement(of: batch, of: name))
            switch answer.body {
            case .acknowledged: return
            case .refused(let refusal) where refusal.status == .unavailable: continue
            default: throw PeerError.unexpected("\(answer)")
            }
        }
    }

    @Test
    func `a break of one gateway is heard and counted at the other, and they know of each other`() async throws {
        let servers = try NATSServers.three.get()
        let names = LogNames.random()
        _ = try await makeLog(on: servers, names)
        try await self.run(on: servers, names) { one, _ in
            try await self.run(on: servers, names) { other, _ in
                let (here, there) = (try await one.listener(), try await other.listener())
                _ = try await here.join()
                _ = try await there.join()
                try await self.publish("b", at: one)
                let notices = (try await here.notice(), try await there.notice())
                #expect(notices.0.position == notices.1.position)
                for listener in [here, there] { try await self.play("b", at: listener) }
                for running in [one, other] {
                    let report = try await running.books { report in
                        report.breaks.first?.advertisements.allSatisfy { $0.counts.played == 2 } ?? false
                    }
                    #expect(report.balances)
                    try await until("it knows of the other") { running.metrics.value(.gateways) == 2 }
                }
                try await until("both come to the same board") { one.board == other.board }
            }
        }
        // Everything is in the streams: a gateway without a file of its own comes to the same.
        try await self.run(on: servers, names) { again, _ in
            #expect(again.board.breakCount == 1)
            let report = try await again.books { report in
                report.breaks.first?.advertisements.allSatisfy { $0.counts.played == 2 } ?? false
            }
            #expect(report.balances)
        }
    }

    @Test
    func `gateways go on when a server is killed, and their books are the same`() async throws {
        let servers = try NATSServers(count: 3, answerWithin: .seconds(5))
        let names = LogNames.random()
        _ = try await makeLog(on: servers, names)
        try await self.run(on: servers, names) { one, log in
            try await self.run(on: servers, names) { other, _ in
                let listener = try await other.listener()
                _ = try await listener.join()
                try await self.publish("a", at: one)
                _ = try await listener.notice()
                let lane = Lane.breaks
                let leader = try await eventually {
                    try await blocking {
                        try log.connection.facts(of: names.stream(of: lane), in: names, lane: lane).leader
                    }
                }
                let place = try #require(servers.kill(named: leader))
                try await self.publish("b", of: "radio2", at: other)
                try await self.play("a", at: listener)
                try servers.start(place)
                try await self.publish("c", of: "radio3", at: one)
                try await until("both come to the same board") {
                    one.board == other.board && one.board.breakCount == 3
                }
                for running in [one, other] {
                    let report = try await running.books { report in
                        report.breaks.contains { $0.advertisements.allSatisfy { $0.counts.played == 1 } }
                    }
                    #expect(report.balances)
                }
            }
        }
    }

    @Test
    func `a gateway that is cut off serves what it knows, refuses the rest, and comes back by itself`() async throws {
        let servers = try NATSServers(count: 1, answerWithin: .seconds(5))
        let names = LogNames.random()
        _ = try await makeLog(on: servers, names)
        try await self.run(on: servers, names) { running, log in
            let listener = try await running.listener()
            let joined = try await listener.join()
            try await self.publish("a", at: running)
            let notice = try await listener.notice()
            servers.kill(0)
            // What waits for the log is answered, too.
            let broadcaster = try await running.broadcaster()
            #expect(try await !self.tries("b", of: "radio2", broadcaster))
            #expect(log.silence >= EventLogLimits.cutOffAfter)
            #expect(try await !self.tries("c", of: "radio3", broadcaster))
            #expect(running.gateway.readiness.missing.contains(.log))
            // A player goes on where it was, and gets its batch.
            let again = try await listener.send(
                .join(.init(stream: listener.stream, last: joined.head, instance: 0))
            )
            guard case .joined(let recovered) = try await listener.reply(to: again).body else {
                throw PeerError.unexpected("no join")
            }
            #expect(recovered.head == notice.position)
            _ = try await listener.batch(of: "a")
            try servers.start(0)
            try await self.publish("b", of: "radio2", at: running)
            try await until("it is ready") { running.gateway.readiness.missing.isEmpty }
            try await self.play("a", at: listener)
            #expect(log.failure == nil)
        }
    }
}
#endif
