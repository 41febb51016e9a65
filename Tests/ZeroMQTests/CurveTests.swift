// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing
import ZeroMQ

@Suite(.suiteLimit)
struct CurveTests {
    @Test func `a key pair survives being written down`() throws {
        let keys = try CurveKeyPair.generate()
        #expect(keys.publicKey.z85.count == 40)
        #expect(CurvePublicKey(z85: keys.publicKey.z85) == keys.publicKey)
        #expect(CurvePublicKey(bytes: keys.publicKey.bytes) == keys.publicKey)
        let secret = try #require(CurveSecretKey(z85: keys.secretKey.z85))
        #expect(try CurveKeyPair(secretKey: secret) == keys)
        #expect(try CurveKeyPair.generate() != keys)
    }

    @Test func `a known secret key has a known public key`() throws {
        // The keys of the libzmq manual (zmq_curve).
        let secret = try #require(CurveSecretKey(z85: "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"))
        #expect(try CurveKeyPair(secretKey: secret).publicKey.z85 == "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7")
    }

    @Test(arguments: [
        "", "short", String(repeating: "a", count: 39), String(repeating: "a", count: 41),
        String(repeating: "a", count: 39) + "\"", String(repeating: "#", count: 40),
        String(repeating: "a", count: 35) + "\0aaaa", String(repeating: "é", count: 20),
    ])
    func `text that is no key is refused`(text: String) {
        #expect(CurvePublicKey(z85: text) == nil)
        #expect(CurveSecretKey(z85: text) == nil)
    }

    @Test(arguments: [0, 31, 33])
    func `a key has 32 bytes`(count: Int) {
        #expect(CurvePublicKey(bytes: [UInt8](repeating: 1, count: count)) == nil)
        #expect(CurveSecretKey(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test func `a secret key does not show itself`() throws {
        let key = try CurveKeyPair.generate().secretKey
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(describing: key), String(reflecting: key), dumped] {
            #expect(!text.contains(key.z85))
            #expect(!text.contains("\(key.bytes[0]), \(key.bytes[1])"))
        }
        let pair = try CurveKeyPair(secretKey: key)
        #expect(!"\(pair)".contains(key.z85))
    }

    @Test func `two sockets talk over an encrypted connection`() throws {
        let context = try Context()
        let (server, client) = (try CurveKeyPair.generate(), try CurveKeyPair.generate())
        let router = try Socket(.router, in: context)
        try router.secureAsServer(server)
        let requester = try Socket(.req, in: context)
        try requester.secureAsClient(client, serverKey: server.publicKey)
        try requester.connect(try router.bind(anyPort))
        #expect(try router.get(.mechanism) == .curve)

        try requester.mustSend(.init(text: "secret"))
        let frames = try router.nextFrames()
        #expect(frames.last == .init(text: "secret"))
        #expect(try router.sendReply(to: RoutingID(frames[0]), Message([7])) == .sent)
        #expect(try requester.next().bytes() == [7])
    }

    @Test func `a client with the wrong server key does not get in`() async throws {
        let context = try Context()
        let (server, client) = (try CurveKeyPair.generate(), try CurveKeyPair.generate())
        let router = try Socket(.router, in: context)
        try router.secureAsServer(server)
        // Else a handshake that takes 30 s ends for that.
        try router.set(.handshakeInterval, to: patience)
        let requester = try Socket(.dealer, in: context)
        try requester.set(.handshakeInterval, to: patience)
        try requester.secureAsClient(client, serverKey: client.publicKey)
        let events = AsyncStream.makeStream(of: SocketEvent.self, bufferingPolicy: .bufferingOldest(1))
        try router.startMonitor(.handshakeFailed, threadName: "curve-watch") { events.continuation.yield($0) }
        try requester.connect(try router.bind(anyPort))
        let event = await events.stream.first { _ in true }
        #expect(event?.change == .handshakeFailedProtocol(.cryptographic))
    }

    @Test func `a client without keys does not get in`() async throws {
        let context = try Context()
        let router = try Socket(.router, in: context)
        try router.secureAsServer(try CurveKeyPair.generate())
        try router.set(.handshakeInterval, to: patience)
        let requester = try Socket(.stream, in: context)
        let events = AsyncStream.makeStream(of: SocketEvent.self, bufferingPolicy: .bufferingOldest(1))
        try router.startMonitor(.handshakeFailed, threadName: "curve-watch") { events.continuation.yield($0) }
        try requester.connect(try router.bind(anyPort))
        try requester.sendGreeting(mechanism: "NULL")
        let event = await events.stream.first { _ in true }
        #expect(event?.change == .handshakeFailedProtocol(.mechanismMismatch))
    }
}
