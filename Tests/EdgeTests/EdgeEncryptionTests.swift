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

/// A loop whose endpoint has a certificate, with OpenSSL's own command as the peer.
@Suite(.suiteLimit)
struct EdgeEncryptionTests {
    private let certificate: TestCertificate
    private let identity: EndpointIdentity

    init() throws {
        self.certificate = try TestCertificate("first")
        self.identity = EndpointIdentity(try Self.identity(self.certificate))
    }

    private static func identity(_ certificate: TestCertificate) throws -> TLSIdentity {
        try TLSIdentity(certificates: try certificate.certificates(), key: try certificate.key())
    }

    private func stand(_ change: (inout EdgeSettings) -> Void = { _ in }) throws -> LoopStand {
        try LoopStand(identity: self.identity, change)
    }

    /// The options with which a peer accepts only this certificate.
    private func trusting(_ certificate: TestCertificate) -> [String] {
        ["-quiet", "-verify_return_error", "-CAfile", certificate.certificateFile]
    }

    private func peer(_ stand: LoopStand, _ type: SocketType, _ options: [String]) throws -> WirePeer {
        try WirePeer(through: TLSTunnel(connectedTo: stand.endpoint, options), Session(type))
    }

    private func handshakes(_ stand: LoopStand, _ label: MetricLabel) -> Int {
        stand.metrics.value(.encryptionHandshakes, label)
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `requests are answered and notices are heard`(version: String) async throws {
        let stand = try self.stand()
        let options = self.trusting(self.certificate) + [version]
        let asks = try self.peer(stand, .dealer, options)
        try asks.shakeHandsAsClient()
        #expect(try asks.ask("one") == "one")
        // Longer than a record, and than what waits before nothing more is read.
        #expect(try asks.ask("large")?.utf8.count == LoopStand.largeBytes)
        try asks.send(WirePeer.request("two") + WirePeer.request("three"))
        #expect(try asks.answer() == "two")
        #expect(try asks.answer() == "three")
        let hears = try self.peer(stand, .sub, options)
        try hears.subscribe(to: "radio1")
        // One by one, and more at once than are encrypted in one piece.
        for sequence in 1...20 { try await stand.publish(UInt64(sequence), of: "radio1") }
        try await stand.publish(21...2_000, of: "radio1")
        for sequence in 1...2_000 { #expect(try hears.sequence() == UInt64(sequence)) }
        #expect(stand.metrics.value(.encryptedConnections) == 2)
        #expect(self.handshakes(stand, .done) == 2)
        await stand.shared.stop()
        // The end was said, and not only a connection cut: openssl would complain.
        for peer in [asks, hears] {
            while try peer.next() != nil {}
            #expect(peer.tunnel?.end().contains("unexpected eof") == false)
        }
        #expect(stand.metrics.value(.encryptedConnections) == 0)
        #expect(stand.shared.bytesHeld == 0)
    }

    @Test func `a laggard gets all that its ring holds, whole and in order`() async throws {
        let stand = try self.stand { $0.ringBytesMax = 64 * 1_048_576 }
        let hears = try self.peer(stand, .sub, self.trusting(self.certificate))
        try hears.subscribe(to: "radio1")
        var sequence: UInt64 = 0
        // Until the kernel and openssl take no more.
        while stand.shared.bytesHeld == 0 {
            try await stand.publish(sequence + 1...sequence + 5_000, of: "radio1")
            sequence += 5_000
        }
        // What is encrypted already is a piece or two, however much waits.
        #expect(stand.shared.bytesHeld < 100_000)
        for expected in 1...sequence { try #require(try hears.sequence() == expected) }
        await stand.shared.stop()
    }

    @Test func `a new certificate is for later connections, and none is cut off`() async throws {
        let stand = try self.stand()
        let first = try self.peer(stand, .dealer, self.trusting(self.certificate))
        try first.shakeHandsAsClient()
        #expect(try first.ask("before") == "before")
        let other = try TestCertificate("second")
        self.identity.replace(by: try Self.identity(other))
        let second = try self.peer(stand, .dealer, self.trusting(other))
        try second.shakeHandsAsClient()
        #expect(try second.ask("new") == "new")
        #expect(try first.ask("after") == "after")
        // Who trusts only the old one does not go on.
        let third = try self.peer(stand, .dealer, self.trusting(self.certificate))
        #expect(try third.next() == nil)
        try await until { self.handshakes(stand, .alert) == 1 }
        await stand.shared.stop()
    }

    @Test func `a port is either plain or encrypted`() async throws {
        let encrypted = try self.stand()
        let plainPeer = try WirePeer(connectedTo: encrypted.endpoint, Session(.dealer))
        try plainPeer.send(plainPeer.session.greeting)
        #expect(try plainPeer.rest().isEmpty)
        #expect(self.handshakes(encrypted, .plaintext) == 1)
        try await until { encrypted.closings == [.encryption(.plaintext)] }
        await encrypted.shared.stop()
        let plain = try LoopStand()
        let encryptedPeer = try self.peer(plain, .dealer, self.trusting(self.certificate))
        #expect(try encryptedPeer.next() == nil)
        try await until { plain.closings == [.encrypted] }
        #expect(plain.metrics.value(.connectionsClosed, .encrypted) == 1)
        await plain.shared.stop()
    }

    @Test func `older versions and weak ciphers are refused`() async throws {
        let stand = try self.stand()
        let old = try self.peer(stand, .dealer, ["-quiet", "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"])
        #expect(try old.next() == nil)
        #expect(self.handshakes(stand, .version) == 1)
        // Without forward secrecy.
        let weak = try self.peer(stand, .dealer, ["-quiet", "-tls1_2", "-cipher", "AES128-SHA256"])
        #expect(try weak.next() == nil)
        #expect(self.handshakes(stand, .cipher) == 1)
        await stand.shared.stop()
    }

    @Test func `a handshake that does not end is over in time, and costs what is counted`() async throws {
        let stand = try self.stand { $0.handshakeTimeout = .milliseconds(500) }
        let silent = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
        let half = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
        try half.send([22, 3, 1, 2, 0, 1, 0])
        #expect(try silent.rest().isEmpty)
        #expect(try half.rest().isEmpty)
        #expect(self.handshakes(stand, .late) == 2)
        try await until { stand.closings == [.handshake, .handshake] }
        await stand.shared.stop()
        #expect(stand.shared.bytesHeld == 0)
    }

    @Test func `the bytes of a handshake count`() async throws {
        let stand = try self.stand()
        let half = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
        try half.send([22, 3, 1, 2, 0, 1, 0])
        try await until { stand.shared.bytesHeld == TLSSession.handshakeMemoryBytes }
        await stand.shared.stop()
        #expect(self.handshakes(stand, .gone) == 1)
        #expect(stand.shared.bytesHeld == 0)
    }

    @Test(arguments: [0, 1]) func `a handshake has a longest length`(more: Int) async throws {
        let stand = try self.stand()
        let peer = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
        // A hello of 100,000 bytes, of which so many come, in records of 1,024 bytes with their headers.
        let hello = [1, 1, 0x86, 0xA0] + [UInt8](repeating: 0, count: 100_000)
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: hello.count, by: 1_019) {
            let part = hello[start..<min(start + 1_019, hello.count)]
            bytes += [22, 3, 1, UInt8(part.count >> 8), UInt8(part.count & 0xFF)] + part
        }
        try peer.send(Array(bytes.prefix(TLSSession.handshakeBytesMax)))
        // The loop has read all of it once it holds a request of a later connection.
        let other = try self.peer(stand, .dealer, self.trusting(self.certificate))
        try other.shakeHandsAsClient()
        #expect(try other.ask("seen") == "seen")
        #expect(stand.closings.isEmpty)
        try peer.send([UInt8](repeating: 22, count: more))
        if more > 0 {
            _ = try peer.rest()
            try await until { stand.closings == [.encryption(.tooLong)] }
            #expect(self.handshakes(stand, .tooLong) == 1)
        }
        #expect(try other.ask("again") == "again")
        await stand.shared.stop()
    }

    @Test func `pieces of notices are whole frames, up to their limit`() {
        var ring = NoticeRing(bytesMax: 1_000)
        func expect(_ cursor: NoticeRing.Cursor, _ bytesMax: Int, _ count: Int, _ next: NoticeRing.Cursor) {
            let piece = ring.wholeFrames(behind: cursor, bytesMax: bytesMax)
            #expect(piece.count == count)
            #expect(piece.next == next)
        }
        // With its header a hundred bytes.
        for _ in 0..<5 { ring.append(EdgeLoop.framed([UInt8](repeating: 1, count: 98))) }
        expect(0, 300, 300, 300)
        expect(0, 299, 200, 200)
        expect(100, 299, 200, 300)
        // One frame at least.
        expect(0, 1, 100, 100)
        expect(0, 500, 500, 500)
        expect(500, 500, 0, 500)
        ring.keep(atMost: 200)
        // The overrun notices are lost.
        expect(100, 500, 0, 100)
        expect(300, 150, 100, 400)
    }

    @Test func `no connection renegotiates`() async throws {
        let stand = try self.stand()
        // Without -quiet its commands are taken: a line with R asks for another handshake.
        let peer = try self.peer(stand, .dealer, ["-tls1_2"])
        try await until { stand.metrics.value(.encryptedConnections) == 1 }
        try peer.send(Array("R\n".utf8))
        try await until { stand.closings == [.encryption(.renegotiation)] }
        #expect(self.handshakes(stand, .renegotiation) == 1)
        await stand.shared.stop()
    }

    @Test func `keys are changed only so often`() async throws {
        let stand = try self.stand()
        let peer = try self.peer(stand, .dealer, ["-tls1_3"])
        try await until { stand.metrics.value(.encryptedConnections) == 1 }
        // A line that begins with k changes the peer's keys; lines that openssl reads at once are one.
        for _ in 0..<TLSSession.keyUpdatesMax { try peer.send(Array("k\n".utf8)) }
        #expect(stand.closings.isEmpty)
        while stand.closings.isEmpty {
            // It may have been closed since it was looked at.
            _ = peer.offer(Array("k\n".utf8))
            try await Task.sleep(for: .milliseconds(1))
        }
        try await until { stand.closings == [.encryption(.keyUpdates)] }
        await stand.shared.stop()
    }

    @Test func `changed bytes end their connection and no other`() async throws {
        let stand = try self.stand()
        let honest = try self.peer(stand, .dealer, self.trusting(self.certificate))
        try honest.shakeHandsAsClient()
        var generator = SeededGenerator(for: #function)
        for _ in 0..<50 {
            let peer = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
            let count = Int.random(in: 1...2_000, using: &generator)
            let body = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            try peer.send([22, 3, 1, UInt8(count >> 8), UInt8(count & 0xFF)] + body)
            peer.endSending()
            _ = try peer.rest()
        }
        #expect(try honest.ask("still") == "still")
        await stand.shared.stop()
    }
}
