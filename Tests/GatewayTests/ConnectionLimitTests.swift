// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import Logging
import Synchronization
import SystemSupport
import TestSupport
import Testing
import ZeroMQ

@testable import Gateway

/// The behaviour of connections at their limit.
@Suite(.suiteLimit)
struct ConnectionLimitTests {
    var station = Station()

    init() {
        self.station.configuration.limits[.connectionsMax] = 4
    }

    /// A request for the time.
    private static func time(_ id: UInt64) -> [UInt8] {
        ListenerRequest(id: id, session: .random(), kind: .getTime).encoded()
    }

    @Test func `at the limit no more are accepted, none is cut, and a closed one makes room`() async throws {
        try await self.station.run { running in
            var peers: [RawPeer] = []
            for _ in 0..<4 {
                let peer = try RawPeer(.dealer, in: running.network)
                try await peer.connect(running.endpoints.requests)
                peers.append(peer)
            }
            try await until("four are connected") { running.metrics.value(.connections, .requests) == 4 }
            try await until("the alarm is raised") {
                running.gateway.readiness.alarms.contains { $0.alarm == Alarm.connections.rawValue }
            }
            #expect(running.metrics.value(.limitsHit, .limit(.connectionsMax)) == 1)
            #expect(running.gateway.readiness.missing.isEmpty, "who is connected is served")

            // The fifth is held up; the others are answered.
            let late = try RawPeer(.dealer, in: running.network)
            try await late.connect(running.endpoints.requests)
            try await late.send([[], Self.time(5)])
            for (index, peer) in peers.enumerated() {
                try await peer.send([[], Self.time(UInt64(index))])
                _ = try await peer.next("a reply") { $0.count == 2 ? $0 : nil }
            }
            #expect(running.metrics.value(.connections, .requests) == 4)
            #expect(await late.takeAll().isEmpty)

            await peers[0].close()
            _ = try await late.next("a reply once there is room") { $0.count == 2 ? $0 : nil }
            try await until("one is gone") { running.metrics.value(.connectionsEnded, .requests) == 1 }
        }
    }

    @Test func `listeners over HTTP take places among all connections, and one more is refused`() async throws {
        try await self.station.run { running in
            let stream = try StreamID("radio1")
            @Sendable func listen() async throws(Refusal) -> ListenerEntrance.Subscription {
                try await running.gateway.listeners.listen(
                    .init(stream: stream, instance: 0),
                    of: .random(),
                    from: PeerAddress(ipv4: 0x7F00_0001)
                )
            }
            let peer = try RawPeer(.dealer, in: running.network)
            try await peer.connect(running.endpoints.requests)
            try await until("it is connected") { running.metrics.value(.connections, .requests) == 1 }
            var listening: [ListenerEntrance.Subscription] = []
            for _ in 0..<3 { listening.append(try await listen()) }
            #expect(running.metrics.value(.connections, .events) == 3)
            let refusal = await #expect(throws: Refusal.self) { try await listen() }
            #expect(refusal?.status == .limitReached && refusal?.sentence.contains("connectionsMax") == true)
            #expect(running.metrics.value(.limitsHit, .limit(.connectionsMax)) >= 1)
            // It is counted once, and given back once.
            for each in listening { running.gateway.listeners.close(each.reader) }
            running.gateway.listeners.close(listening[0].reader)
            listening = []
            try await until("their places are free") { running.metrics.value(.connections, .events) == 0 }
            #expect(running.metrics.value(.connectionsEnded, .events) == 3)
            listening.append(try await listen())
            #expect(running.metrics.value(.connections, .events) == 1)
            running.gateway.listeners.close(listening[0].reader)
        }
    }

    @Test(arguments: [
        // The limit on open files; what is kept back; of it for HTTP.
        (64, 112, 16), (128, 112, 16), (136, 113, 17), (512, 160, 64), (1_024, 224, 128), (2_047, 351, 255),
        (2_048, 352, 256), (5_647, 352, 256), (5_648, 353, 256), (20_000, 1_250, 256), (262_144, 16_384, 256),
        (1_048_576, 16_384, 256),
    ])
    func `descriptors are kept back for files, for HTTP and for connections that are not counted yet`(
        limit: Int,
        reserve: Int,
        http: Int
    ) {
        #expect(DescriptorReserve.reserve(of: limit) == reserve)
        #expect(DescriptorReserve.httpConnectionsMax(of: limit) == http)
        // The backlog of the broadcasters' endpoint fits in twice, with descriptors left for HTTP and for files.
        let backlog = ConnectionLimit.backlog(limit: limit)
        #expect(backlog >= 16 && 2 * backlog + http + 64 <= reserve)
    }

    // MARK: The listeners

    /// The log line of a start with so many connections: the level, and of the info line the message and the number.
    private func said(
        listenersMax configured: Int,
        connectionsMax: Int,
        httpListenersMax: Int = 0
    ) -> (levels: [Logger.Level], message: String, listenersMax: String?) {
        let logs = LogCapture()
        let metrics = MetricRegistry()
        let limit = ConnectionLimit(
            connectionsMax: connectionsMax,
            httpListenersMax: httpListenersMax,
            metrics: metrics,
            readiness: ReadinessBoard(metrics: metrics),
            logger: logs.logger
        )
        limit.compare(withListenersMax: configured, descriptors: 1_024)
        let lines = logs.entries
        return (
            lines.map(\.level), lines.first.map { "\($0.message)" } ?? "",
            lines.first?.metadata["listeners.max"].map { "\($0)" }
        )
    }

    @Test(arguments: [
        // Connections, listeners over HTTP, the listeners that follow.
        (663, 0, 663), (663, 128, 791), (99_999, 0, 99_999), (100_001, 0, 100_000), (99_999, 1_000, 100_000),
    ])
    func `without a number listeners follow from the descriptors, one line says so, and nothing warns`(
        connectionsMax: Int,
        httpListenersMax: Int,
        expected: Int
    ) {
        let said = self.said(listenersMax: 0, connectionsMax: connectionsMax, httpListenersMax: httpListenersMax)
        #expect(said.levels == [.info])
        #expect(said.message == "descriptors: listeners.max follows from the limit on open files")
        #expect(said.listenersMax == "\(expected)")
    }

    @Test(arguments: [(331, [Logger.Level.info]), (332, [.info, .warning]), (Int.max, [.info, .warning])])
    func `a number that leaves fewer than two connections for each listener is kept, and warned of`(
        configured: Int,
        levels: [Logger.Level]
    ) {
        let said = self.said(listenersMax: configured, connectionsMax: 663)
        #expect(said.levels == levels)
        #expect(said.listenersMax == "\(configured)")
    }

    @Test func `a reload that takes the number away has it follow again`() async throws {
        var station = self.station
        station.configuration.limits[.listenersMax] = 2
        try await station.run { running in
            func listenersMax(_ configuration: GatewayConfiguration) -> Int? {
                running.gateway.limits(configuration).first { $0.name == .listenersMax }?.maximum
            }
            var configuration = station.configuration
            #expect(listenersMax(configuration) == 2)
            configuration.limits[.listenersMax] = 0
            await running.gateway.reload(configuration, nil)
            // As many as connections.
            #expect(listenersMax(configuration) == 4)
        }
    }

    // MARK: The count

    /// A connection limit that counts how often it closes and opens its endpoint.
    private final class Counted: Sendable {
        let limit: ConnectionLimit
        let metrics = MetricRegistry()
        let readiness: ReadinessBoard
        /// How often the endpoint was shut and opened.
        let turns = Mutex((shut: 0, opened: 0))

        init(connectionsMax: Int) {
            let readiness = ReadinessBoard(metrics: self.metrics)
            self.readiness = readiness
            self.limit = ConnectionLimit(
                connectionsMax: connectionsMax,
                metrics: self.metrics,
                readiness: readiness,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
            self.limit.opened(.requests) { accepts in
                self.turns.withLock { if accepts { $0.opened += 1 } else { $0.shut += 1 } }
            }
        }

        var isFull: Bool { self.turns.withLock { $0.shut > $0.opened } }
    }

    @Test(arguments: [1, 64, 1_000])
    func `the last connection within the limit shuts the endpoint, the one before does not`(connectionsMax: Int) {
        let counted = Counted(connectionsMax: connectionsMax)
        for _ in 1..<connectionsMax {
            let hasRoom = counted.limit.accepted(on: .requests)
            #expect(hasRoom && !counted.isFull)
        }
        #expect(!counted.limit.accepted(on: .requests))
        #expect(counted.isFull)
        // Of another socket, which could not be held up in time.
        #expect(!counted.limit.accepted(on: .broadcast))
        #expect(counted.metrics.value(.limitsHit, .limit(.connectionsMax)) == 1)
        counted.limit.ended(on: .broadcast)
        #expect(counted.isFull)
        // A sixty-fourth must go.
        for _ in 0..<connectionsMax / 64 {
            counted.limit.ended(on: .requests)
            #expect(counted.isFull)
        }
        counted.limit.ended(on: .requests)
        #expect(!counted.isFull)
        #expect(counted.readiness.alarms.isEmpty)
    }

    @Test func `where the system has no descriptor, some must go before more are taken`() {
        let counted = Counted(connectionsMax: 1_000)
        for _ in 0..<640 { counted.limit.accepted(on: .requests) }
        for _ in 0..<5 { counted.limit.acceptFailed() }
        #expect(counted.metrics.value(.limitsHit, .limit(.connectionsMax)) == 1, "it is told once")
        for _ in 0..<10 {
            counted.limit.ended(on: .requests)
            #expect(counted.isFull, "fewer than may be are open, and one more could not be")
        }
        counted.limit.ended(on: .requests)
        #expect(!counted.isFull)
    }

    @Test func `where the system had no descriptor and no connection ends, it is tried again`() {
        let counted = Counted(connectionsMax: 2)
        counted.limit.acceptFailed()
        #expect(counted.isFull)
        counted.limit.tryAgain()
        #expect(!counted.isFull)
        #expect(counted.readiness.alarms.isEmpty)
        // At the limit there is nothing to try.
        for _ in 0..<2 { counted.limit.accepted(on: .requests) }
        counted.limit.tryAgain()
        #expect(counted.isFull)
    }
}
