// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import SystemSupport
import TLS
import TestSupport
import Testing
import ZMTP

@testable import Edge

/// A loop whose endpoint is for WebSocket: what is served there, and what is refused by which code.
@Suite(.suiteLimit)
struct EdgeWebSocketTests {
    private func stand(
        path: String = "",
        identity: EndpointIdentity? = nil,
        balancers: Balancers? = nil,
        _ change: (inout EdgeSettings) -> Void = { _ in }
    ) throws -> LoopStand {
        try LoopStand(
            identity: identity,
            balancers: balancers,
            webSocket: WebSocketEndpoint(path: path) { origin, host in
                origin == "https://radio.example" || origin == "https://" + host
            },
            change
        )
    }

    private func peer(_ stand: LoopStand, _ type: SocketType, _ mechanism: ZWSMechanism = .null) throws -> WirePeer {
        let peer = try WirePeer(connectedTo: stand.endpoint, Session(type))
        try peer.upgrade(mechanism, as: type)
        return peer
    }

    private func count(_ stand: LoopStand, _ label: MetricLabel) -> Int {
        stand.metrics.value(.webSocketUpgrades, label)
    }

    /// A frame of a client, masked with zeros.
    private func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [first, 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload
    }

    @Test(arguments: ZWSMechanism.allCases)
    func `requests are answered, and notices are heard and pushed`(mechanism: ZWSMechanism) async throws {
        let stand = try self.stand()
        let asks = try self.peer(stand, .dealer, mechanism)
        try asks.shakeHandsAsClient()
        #expect(try asks.ask("one") == "one")
        #expect(try asks.ask("large")?.utf8.count == LoopStand.largeBytes)
        try asks.send(WirePeer.request("two") + WirePeer.request("three"))
        #expect(try asks.answer() == "two")
        #expect(try asks.answer() == "three")
        let hears = try self.peer(stand, .sub, mechanism)
        try hears.subscribe(to: "radio1")
        let pushed = try self.peer(stand, .dealer, mechanism)
        try pushed.shakeHandsAsClient()
        #expect(try pushed.ask("push radio1 0") == "head 0")
        // One by one, and more at once than go out as one write.
        try await stand.publish(1, of: "radio1")
        try await stand.publish(2...1_000, of: "radio1")
        for sequence: UInt64 in 1...1_000 {
            #expect(try hears.sequence() == sequence)
            #expect(try pushed.sequence() == sequence)
        }
        #expect(self.count(stand, .done) == 3)
        await stand.shared.stop()
        #expect(stand.shared.bytesHeld == 0)
        // Repeats of the position may come until then.
        while try hears.next() != nil {}
        #expect(hears.told.last == .close(1_001))
    }

    @Test func `everything may come byte by byte, and together`() async throws {
        let stand = try self.stand()
        let peer = try WirePeer(connectedTo: stand.endpoint, Session(.req))
        try peer.upgrade(.null, as: .req, step: 1)
        var bytes: [UInt8] = []
        ZWSFraming.append(zmtp: peer.opening + WirePeer.request("cut"), mask: { 0x0102_0304 }, to: &bytes)
        for byte in bytes { try peer.sendRaw([byte]) }
        #expect(try peer.next() == .ready)
        #expect(try peer.answer() == "cut")
        let other = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
        try other.sendRaw(
            WirePeer.upgradeRequest(protocols: "ZWS2.0") + self.frame(0x82, [0]) + self.frame(0x82, [1])
                + self.frame(0x82, [0] + Array("together".utf8)) + self.frame(0x88, [])
        )
        let said = String(decoding: try other.rest(), as: UTF8.self)
        #expect(said.hasPrefix("HTTP/1.1 101 "))
        #expect(said.contains("together"))
        await stand.shared.stop()
        #expect(stand.shared.bytesHeld == 0)
    }

    @Test func `behind TLS and a balancer it is the same`() async throws {
        let certificate = try TestCertificate("websocket")
        let identity = EndpointIdentity(
            try TLSIdentity(certificates: try certificate.certificates(), key: try certificate.key())
        )
        let encrypted = try self.stand(identity: identity)
        let options = ["-quiet", "-verify_return_error", "-CAfile", certificate.certificateFile]
        func peer(_ type: SocketType) throws -> WirePeer {
            let peer = try WirePeer(through: TLSTunnel(connectedTo: encrypted.endpoint, options), Session(type))
            try peer.upgrade(.null, as: type)
            return peer
        }
        let asks = try peer(.dealer)
        try asks.shakeHandsAsClient()
        #expect(try asks.ask("large")?.utf8.count == LoopStand.largeBytes)
        let hears = try peer(.sub)
        try hears.subscribe(to: "radio1")
        try await encrypted.publish(1...700, of: "radio1")
        for sequence: UInt64 in 1...700 { #expect(try hears.sequence() == sequence) }
        await encrypted.shared.stop()
        #expect(encrypted.shared.bytesHeld == 0)

        let networks = try #require(AddressNetworks("127.0.0.0/8"))
        let balanced = try self.stand(balancers: Balancers(trusted: networks, mustEncrypt: false))
        let header = ProxyHeaderTests.header(addresses: [192, 0, 2, 1, 127, 0, 0, 1, 0, 1, 0, 2], fields: [])
        let one = try WirePeer(connectedTo: balanced.endpoint, Session(.dealer))
        try one.sendRaw(header)
        try one.upgrade(.null, as: .dealer)
        try one.shakeHandsAsClient()
        #expect(try one.ask("one") == "one")
        let together = try WirePeer(connectedTo: balanced.endpoint, Session(.dealer))
        try together.sendRaw(header + WirePeer.upgradeRequest() + self.frame(0x88, []))
        #expect(String(decoding: try together.rest(), as: UTF8.self).hasPrefix("HTTP/1.1 101 "))
        await balanced.shared.stop()
    }

    @Test func `requests for something else get a status, and are counted`() async throws {
        let stand = try self.stand(path: "/listen")
        func refused(_ request: [UInt8], _ status: String, _ label: MetricLabel) throws {
            let peer = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
            let before = self.count(stand, label)
            try peer.sendRaw(request)
            let said = String(decoding: try peer.rest(), as: UTF8.self)
            #expect(said.hasPrefix("HTTP/1.1 \(status) "), "\(said)")
            #expect(self.count(stand, label) == before + 1)
        }
        try refused(WirePeer.upgradeRequest(path: "/"), "404", .path)
        try refused(WirePeer.upgradeRequest(path: "/listen", origin: "https://evil.example"), "403", .origin)
        try refused(WirePeer.upgradeRequest(path: "/listen", protocols: "ZWS1.0"), "400", .subprotocol)
        try refused(Array("GET /listen HTTP/1.1\r\nHost: x\r\n\r\n".utf8), "426", .noUpgrade)
        try refused(Session(.dealer).greeting, "400", .malformed)
        try refused(Array("GET / HTTP/1.1\r\n".utf8) + [UInt8](repeating: 0x61, count: 9_000), "431", .tooLong)
        for origin in ["https://radio.example", "https://gateway.example"] {
            let peer = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
            try peer.sendRaw(WirePeer.upgradeRequest(path: "/listen", origin: origin) + self.frame(0x88, []))
            #expect(String(decoding: try peer.rest(), as: UTF8.self).hasPrefix("HTTP/1.1 101 "))
        }
        // TLS at a port without a certificate.
        let encrypted = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
        try encrypted.sendRaw([0x16, 3, 1, 0])
        #expect(try encrypted.rest().isEmpty)
        try await until { stand.closings.last == .encrypted }
        await stand.shared.stop()
        #expect(stand.shared.bytesHeld == 0)
    }

    @Test func `a request that does not come in time is closed`() async throws {
        let stand = try self.stand { $0.handshakeTimeout = .milliseconds(50) }
        let peer = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
        try peer.sendRaw(Array(WirePeer.upgradeRequest().dropLast(2)))
        #expect(try peer.rest().isEmpty)
        #expect(self.count(stand, .late) == 1)
        await stand.shared.stop()
        #expect(stand.shared.bytesHeld == 0)
    }

    @Test func `a peer that violates WebSocket gets the code of the reason`() async throws {
        let stand = try self.stand()
        let giant: [UInt8] = [0x82, 0xFF, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4]
        let fragments =
            self.frame(0x02, [0])
            + (0..<EdgeSettings.fragmentsPerMessageMax).flatMap { _ in self.frame(0x00, []) }
        let cases: [([UInt8], UInt16)] = [
            (giant, 1_009), (fragments, 1_008), (self.frame(0x81, [0x61]), 1_003), ([0x82, 0x01, 0x00], 1_002),
            (self.frame(0xC2, [0]), 1_002), (self.frame(0x82, [9]), 1_002), (self.frame(0x80, [0]), 1_002),
        ]
        for (bytes, code) in cases {
            let peer = try self.peer(stand, .dealer)
            try peer.shakeHandsAsClient()
            var request: [UInt8] = []
            ZWSFraming.append(zmtp: WirePeer.request("before"), mask: { 0x0102_0304 }, to: &request)
            try peer.sendRaw(request + bytes)
            // What was asked before is answered.
            #expect(try peer.answer() == "before")
            #expect(try peer.answer() == nil)
            #expect(peer.told == [.close(code)])
        }
        try await until { stand.metrics.value(.connectionsClosed, .webSocket) == cases.count - 1 }
        #expect(stand.metrics.value(.connectionsClosed, .limit(.fragmentsPerMessageMax)) == 1)
        #expect(stand.metrics.value(.limitsHit, .limit(.fragmentsPerMessageMax)) == 1)
        await stand.shared.stop()
        #expect(stand.shared.bytesHeld == 0)
    }

    @Test func `a frame of ZeroMQ that is wrong ends the connection too`() async throws {
        let stand = try self.stand()
        let peer = try self.peer(stand, .dealer)
        // A message before the handshake.
        try peer.sendRaw(self.frame(0x82, [0, 1, 2]))
        #expect(try peer.answer() == nil)
        #expect(peer.told == [.close(1_002)])
        try await until { stand.closings == [.violation(.messageBeforeReady)] }
        await stand.shared.stop()
    }

    @Test func `pings are answered, and count as messages`() async throws {
        let stand = try self.stand { $0.messagesPerConnectionPerSecondMax = 10 }
        let peer = try self.peer(stand, .dealer)
        try peer.shakeHandsAsClient()
        try peer.sendRaw(self.frame(0x89, [1]) + self.frame(0x89, [2]))
        #expect(try peer.ask("one") == "one")
        // Of those that came at once the last one is answered.
        #expect(peer.told.last == .pong)
        let most = (0..<100).flatMap { _ in self.frame(0x89, []) }
        try peer.sendRaw(most)
        let other = try self.peer(stand, .dealer)
        try other.shakeHandsAsClient()
        #expect(try other.ask("two") == "two")
        try await until { stand.metrics.value(.limitsHit, .limit(.messagesPerConnectionPerSecondMax)) >= 1 }
        await stand.shared.stop()
    }

    @Test func `a notice that is sent in part is finished, wherever it was cut`() throws {
        let stream = EdgeStream(id: try StreamID("radio1"), ringBytesMax: 100_000, total: EdgeStream.Total())
        for count in [10, 200, 130, 300] { stream.append(EdgeLoop.framed([UInt8](repeating: 7, count: count))) }
        var notices = WebSocketNotices()
        notices.prepare(stream, behind: 0, bytesMax: 100_000)
        var whole: [UInt8] = []
        notices.append(to: &whole)
        #expect(whole.count == notices.byteCount)
        #expect(notices.next == stream.ring.end)
        for sent in 0..<whole.count {
            let (rest, next) = notices.rest(after: sent)
            var after = WebSocketNotices()
            after.prepare(stream, behind: next, bytesMax: 100_000)
            var others: [UInt8] = []
            after.append(to: &others)
            #expect(Array(whole[..<sent]) + rest + others == whole)
        }
        notices.prepare(stream, behind: 0, bytesMax: 1)
        #expect(notices.pieces.count == 1)
    }
}
