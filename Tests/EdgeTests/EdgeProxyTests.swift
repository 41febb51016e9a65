// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import SystemSupport
import TestSupport
import Testing
import ZMTP

@testable import Edge

/// A loop behind balancers: who gets in, as whom, and what each refusal counts.
@Suite(.suiteLimit)
struct EdgeProxyTests {
    private func stand(
        trusted: String = "127.0.0.0/8",
        mustEncrypt: Bool = false,
        identity: EndpointIdentity? = nil,
        _ change: (inout EdgeSettings) -> Void = { _ in }
    ) throws -> LoopStand {
        let balancers = Balancers(trusted: try #require(AddressNetworks(trusted)), mustEncrypt: mustEncrypt)
        return try LoopStand(identity: identity, balancers: balancers, change)
    }

    /// The header of a client with this last number in its address.
    private func header(_ last: UInt8, fields: [UInt8] = []) -> [UInt8] {
        ProxyHeaderTests.header(addresses: [192, 0, 2, last, 127, 0, 0, 1, 0, 1, 0, 2], fields: fields)
    }

    private func peer(_ stand: LoopStand, _ header: [UInt8]) throws -> WirePeer {
        let peer = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
        try peer.send(header)
        return peer
    }

    private func count(_ stand: LoopStand, _ label: MetricLabel) -> Int {
        stand.metrics.value(.proxyHeaders, label)
    }

    @Test func `a client is served behind its header, however the bytes are cut`() async throws {
        let stand = try self.stand()
        let whole = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
        try whole.send(self.header(1) + whole.session.greeting + whole.session.ready() + WirePeer.request("together"))
        #expect(try whole.answer() == "together")
        let bytewise = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
        for byte in self.header(2) { try bytewise.send([byte]) }
        try bytewise.shakeHandsAsClient()
        #expect(try bytewise.ask("cut") == "cut")
        #expect(self.count(stand, .client) == 2)
        await stand.shared.stop()
        #expect(stand.shared.bytesHeld == 0)
    }

    @Test func `an address's limits are those of the client, not of the balancer`() async throws {
        let stand = try self.stand { $0.connectionsPerAddressMax = 2 }
        var peers: [WirePeer] = []
        for last: UInt8 in [1, 1, 2, 2] {
            let peer = try self.peer(stand, self.header(last))
            try peer.shakeHandsAsClient()
            peers.append(peer)
        }
        let one = try self.peer(stand, self.header(1))
        #expect(try one.rest().isEmpty)
        try await until { stand.closings == [.address] }
        #expect(self.count(stand, .refused) == 1)
        // Who leaves makes room.
        peers.removeFirst()
        try await until { stand.openCount == 3 }
        try self.peer(stand, self.header(1)).shakeHandsAsClient()
        await stand.shared.stop()
    }

    @Test func `a balancer's health check is served, without limits of an address`()
        async throws
    {
        let stand = try self.stand(mustEncrypt: true) {
            $0.connectionsPerAddressMax = 1
            $0.limitsOwnMachine = true
        }
        let own = ProxyHeaderTests.header(command: 0x20, family: 0, addresses: [])
        let peers = [try self.peer(stand, own), try self.peer(stand, own)]
        for peer in peers { try peer.shakeHandsAsClient() }
        #expect(self.count(stand, .balancer) == 2)
        await stand.shared.stop()
    }

    @Test func `a peer that is no balancer is refused`() async throws {
        let stand = try self.stand(trusted: "192.0.2.0/24")
        let peer = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
        #expect(try peer.rest().isEmpty)
        try await until { stand.closings == [.proxy(.untrusted)] }
        #expect(self.count(stand, .untrusted) == 1)
        try await until { stand.metrics.value(.connectionsClosed, .proxy) == 1 }
        await stand.shared.stop()
    }

    @Test func `a connection without a header, or with a wrong one, is closed and counted`() async throws {
        let stand = try self.stand()
        let cases: [([UInt8], MetricLabel)] = [
            (Session(.dealer).greeting, .noSignature), (Array("PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n".utf8), .noSignature),
            (ProxyHeaderTests.header(command: 0x2F), .version), (ProxyHeaderTests.header(length: 65_535), .tooLong),
            (ProxyHeaderTests.header(family: 0x12), .family), (ProxyHeaderTests.header(fields: [4]), .malformed),
            (ProxyHeaderTests.header(fields: [3, 0, 4, 0, 0, 0, 0]), .checksum),
        ]
        for (bytes, label) in cases {
            let before = self.count(stand, label)
            // Nothing was said before it.
            #expect(try self.peer(stand, bytes).rest().isEmpty)
            #expect(self.count(stand, label) == before + 1, "\(label.text)")
        }
        try await until { stand.metrics.value(.connectionsClosed, .proxy) == cases.count }
        await stand.shared.stop()
        #expect(stand.shared.bytesHeld == 0)
    }

    @Test func `a header that does not come is waited for only so long`() async throws {
        let stand = try self.stand { $0.handshakeTimeout = .milliseconds(500) }
        #expect(try self.peer(stand, self.header(1).dropLast()).rest().isEmpty)
        #expect(try self.peer(stand, []).rest().isEmpty)
        #expect(self.count(stand, .late) == 2)
        try await until { stand.closings == [.handshake, .handshake] }
        await stand.shared.stop()
        #expect(stand.shared.bytesHeld == 0)
    }

    @Test func `a remote connection must be encrypted, by the balancer or the gateway`() async throws {
        let stand = try self.stand(mustEncrypt: true)
        #expect(try self.peer(stand, self.header(1)).rest().isEmpty)
        #expect(try self.peer(stand, self.header(1, fields: ProxyHeaderTests.tls(6))).rest().isEmpty)
        #expect(self.count(stand, .unencrypted) == 2)
        let encrypted = try self.peer(stand, self.header(1, fields: ProxyHeaderTests.tls(1)))
        try encrypted.shakeHandsAsClient()
        let own = try self.peer(stand, ProxyHeaderTests.header(addresses: [127, 0, 0, 1, 127, 0, 0, 1, 0, 1, 0, 2]))
        try own.shakeHandsAsClient()
        #expect(try encrypted.ask("one") == "one")
        #expect(try own.ask("two") == "two")
        await stand.shared.stop()
    }
}
