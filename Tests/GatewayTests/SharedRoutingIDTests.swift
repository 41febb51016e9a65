// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import SystemSupport
import TestSupport
import Testing
import ZeroMQ

@testable import Gateway

/// Broadcasters that set a ROUTING_ID that another connection has.
@Suite(.suiteLimit)
struct SharedRoutingIDTests {
    private let station: Station

    init() {
        var station = Station()
        // Connections of these tests ask as soon as they are there. One that a busy machine kept from asking connects again.
        station.configuration.unusedTimeout = .seconds(2)
        self.station = station
    }

    private func broadcaster(_ running: RunningGateway) async throws -> RawBroadcaster {
        try await RawBroadcaster(connectedTo: running.endpoints.broadcast, in: running.network) { socket in
            try socket.set(.routingID, to: Array("studio".utf8))
        }
    }

    /// Asks again and again, as a broadcaster does that gets no answer, until there is one.
    private func insist(_ broadcaster: RawBroadcaster) async throws {
        let answers = Task {
            try await broadcaster.requests.peer.next("an answer") { frames in
                frames.last.flatMap { try? BroadcastReply(decoding: $0) }
            }
        }
        let asking = Task {
            while !Task.isCancelled {
                _ = try await broadcaster.send(.list(BroadcastRequest.List()))
                try await Task.sleep(for: .milliseconds(200))
            }
        }
        defer { asking.cancel() }
        guard case .list = try await answers.value.body else {
            Issue.record("no list")
            return
        }
    }

    @Test func `the second connection with a routing id is ended and told of, and served once the first is gone`()
        async throws
    {
        try await self.station.runByHand { running in
            let first = try await self.broadcaster(running)
            try await self.insist(first)
            let second = try await self.broadcaster(running)
            try await second.requests.peer.watchConnection()
            _ = try await second.send(.list(BroadcastRequest.List()))
            try await until("it is ended") { await second.requests.peer.disconnections > 0 }
            #expect(running.metrics.value(.connectionsClosed, .unused) > 0)
            try await until("it is told of") {
                running.logs.messages().contains { $0.hasSuffix("another open connection has its ROUTING_ID") }
            }
            // The first one is served all the while.
            try await self.insist(first)
            await first.requests.peer.close()
            try await self.insist(second)
        }
    }

    @Test func `a connection that vanished half open gives its routing id to the next one`() async throws {
        try await self.station.runByHand { running in
            let vanished = try TCPPeer(connectedTo: running.endpoints.broadcast)
            try vanished.send(TCPPeer.handshake(as: "studio"))
            // It may be over before anybody looks.
            try await until("it is there") {
                running.metrics.value(.connections, .broadcast) == 1
                    || running.metrics.value(.connectionsClosed, .unused) > 0
            }
            let restarted = try await self.broadcaster(running)
            try await self.insist(restarted)
            try await vanished.waitForEnd()
        }
    }
}

/// Which connections count as unused.
@Suite(.suiteLimit)
struct BroadcastConnectionsTests {
    private static let peer = ConnectionPeer(address: IPAddress(ipv4: 0x7F00_0001), port: 50_123)
    private let connections = BroadcastConnections(unusedTimeout: .seconds(30), handshakeTimeout: .seconds(3))
    private let start = ContinuousClock.now

    @Test func `a connection is unused at the limit, not before, and is named once`() {
        self.connections.accepted(7, from: Self.peer, at: self.start)
        #expect(self.connections.takeUnused(at: self.start + .seconds(30) - .nanoseconds(1)).isEmpty)
        #expect(
            self.connections.takeUnused(at: self.start + .seconds(30)) == [
                .init(descriptor: 7, peer: Self.peer, isLate: true)
            ]
        )
        #expect(self.connections.takeUnused(at: self.start + .seconds(60)).isEmpty)
    }

    @Test func `a connection that has asked is never unused, whichever is known first`() {
        self.connections.accepted(7, from: Self.peer, at: self.start)
        self.connections.brought(7)
        self.connections.brought(8)
        self.connections.accepted(8, from: Self.peer, at: self.start)
        #expect(self.connections.takeUnused(at: self.start + .seconds(3_600)).isEmpty)
    }

    @Test func `a descriptor that is used again is another connection`() {
        self.connections.accepted(7, from: Self.peer, at: self.start)
        self.connections.brought(7)
        self.connections.ended(7, at: self.start + .seconds(9))
        self.connections.accepted(7, from: Self.peer, at: self.start + .seconds(10))
        #expect(self.connections.takeUnused(at: self.start + .seconds(39)).isEmpty)
        #expect(self.connections.takeUnused(at: self.start + .seconds(40)).count == 1)
    }

    @Test func `when another connection has gone, an unused one is ended after three seconds`() {
        self.connections.accepted(7, from: Self.peer, at: self.start)
        self.connections.accepted(8, from: Self.peer, at: self.start)
        self.connections.brought(8)
        #expect(self.connections.takeUnused(at: self.start + .seconds(10)).isEmpty)
        self.connections.ended(9, at: self.start + .seconds(1))
        #expect(self.connections.takeUnused(at: self.start + .seconds(3) - .nanoseconds(1)).isEmpty)
        #expect(
            self.connections.takeUnused(at: self.start + .seconds(3))
                == [.init(descriptor: 7, peer: Self.peer, isLate: false)]
        )
        // One that came after that end has its whole time.
        self.connections.ended(7, at: self.start + .seconds(3))
        self.connections.accepted(7, from: Self.peer, at: self.start + .seconds(4))
        #expect(self.connections.takeUnused(at: self.start + .seconds(33)).isEmpty)
    }

    @Test func `only the connection that is meant is ended`() throws {
        let listening = try System.listen(host: "127.0.0.1", port: 0, backlog: 1)
        defer { System.close(listening) }
        let client = try TCPPeer(connectedTo: "tcp://127.0.0.1:\(System.port(of: listening))")
        let descriptor = System.accept(listening).result
        defer { System.close(descriptor) }
        let peer = try #require(System.peer(of: descriptor))
        #expect(peer.description.hasPrefix("127.0.0.1:"))
        #expect(System.peer(of: listening) == nil)
        #expect(!System.shutDown(descriptor, to: ConnectionPeer(address: peer.address, port: peer.port &+ 1)))
        #expect(client.receive() == .nothing)
        #expect(!System.shutDown(-1, to: peer))
        #expect(System.shutDown(descriptor, to: peer))
        // On loopback the end is there when the call returns.
        #expect(client.receive() == .end)
    }

    @Test func `an address of IPv6 has brackets`() {
        let peer = ConnectionPeer(address: IPAddress(high: 0x2001_0DB8_0000_0000, low: 7), port: 1)
        #expect(peer.description == "[2001:db8:0:0:0:0:0:7]:1")
    }
}
