// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing
import ZMTP
import ZeroMQ

/// Sessions against libzmq's own sockets, in both directions.
///
/// One at a time: they block the threads that other tests share.
@Suite(.serialized, .suiteLimit)
struct WireTests {
    let context: Context
    private let anyPort = "tcp://127.0.0.1:*"
    private let topic = Array("radio1\0".utf8)

    init() throws {
        self.context = try Context()
    }

    private func subscription(cancel: Bool = false, asCommand: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        Outgoing.appendSubscription(self.topic, cancel: cancel, asCommand: asCommand, to: &bytes)
        return bytes
    }

    @Test(arguments: [0, 1])
    func `a session subscribes to an xpub socket, by message and by command`(minor: UInt8) throws {
        let publisher = try Socket(.xpub, in: self.context)
        let peer = try WirePeer(connectedTo: try publisher.bind(self.anyPort), Session(.sub, minor: minor))
        try peer.shakeHands()
        let asCommand = peer.session.subscribesByCommand
        try peer.send(self.subscription(asCommand: asCommand))
        #expect(try publisher.nextFrames() == [[1] + self.topic])

        for count in [0, 1, 200, 255, 256, 70_000] {
            let body = self.topic + [UInt8](repeating: 9, count: count)
            #expect(try publisher.send(body) == .sent)
            #expect(try peer.next() == .frame(body, more: false))
        }
        #expect(try publisher.send(self.topic, more: true) == .sent)
        #expect(try publisher.send([1, 2]) == .sent)
        #expect(try peer.next() == .frame(self.topic, more: true))
        #expect(try peer.next() == .frame([1, 2], more: false))

        try peer.send(self.subscription(cancel: true, asCommand: asCommand))
        #expect(try publisher.nextFrames() == [[0] + self.topic])
    }

    @Test(arguments: [0, 1])
    func `a sub socket subscribes to a session`(minor: UInt8) throws {
        let subscriber = try Socket(.sub, in: self.context)
        try subscriber.subscribe(self.topic)
        let peer = try WirePeer.accepting(Session(.xpub, minor: minor)) { try subscriber.connect($0) }
        try peer.shakeHands()
        #expect(try peer.next() == .subscribe(self.topic))
        var bytes: [UInt8] = []
        Outgoing.appendFrame(self.topic + [7], to: &bytes)
        try peer.send(bytes)
        #expect(try subscriber.nextFrames() == [self.topic + [7]])
        try subscriber.unsubscribe(self.topic)
        #expect(try peer.next() == .cancel(self.topic))
    }

    @Test(arguments: [SocketType.req, .dealer])
    func `a session asks a router socket, also with large frames`(type: SocketType) throws {
        let router = try Socket(.router, in: self.context)
        let peer = try WirePeer(connectedTo: try router.bind(self.anyPort), Session(type))
        try peer.shakeHands()
        for count in [0, 1, 255, 256, 1_500_000] {
            let body = [UInt8](repeating: 3, count: count)
            var bytes: [UInt8] = []
            Outgoing.appendRequest(body, to: &bytes)
            try peer.send(bytes)
            let frames = try router.nextFrames()
            #expect(Array(frames.dropFirst()) == [[], body])
            #expect(try router.send(frames[0], more: true) == .sent)
            #expect(try router.send([], more: true) == .sent)
            #expect(try router.send(body + [4]) == .sent)
            #expect(try peer.next() == .frame([], more: true))
            #expect(try peer.next() == .frame(body + [4], more: false))
        }
    }

    @Test(arguments: [SocketKind.req, .dealer])
    func `a session answers a req and a dealer socket`(kind: SocketKind) throws {
        let client = try Socket(kind, in: self.context)
        let peer = try WirePeer.accepting(Session(.router)) { try client.connect($0) }
        try peer.shakeHands()
        if kind == .dealer { #expect(try client.send([], more: true) == .sent) }
        #expect(try client.send([5, 6]) == .sent)
        #expect(try peer.next() == .frame([], more: true))
        #expect(try peer.next() == .frame([5, 6], more: false))
        var bytes: [UInt8] = []
        Outgoing.appendRequest([7], to: &bytes)
        try peer.send(bytes)
        #expect(try client.nextFrames() == (kind == .dealer ? [[], [7]] : [[7]]))
    }

    @Test func `libzmq's heartbeats are heard, and a connection that answers them lives`() throws {
        let router = try Socket(.router, in: self.context)
        try router.set(.heartbeatInterval, to: .milliseconds(50))
        try router.set(.heartbeatTimeout, to: .milliseconds(400))
        let peer = try WirePeer(connectedTo: try router.bind(self.anyPort), Session(.dealer))
        try peer.shakeHands()
        // Longer than the time after which libzmq gives up a peer that does not answer.
        for _ in 0..<15 {
            guard case .ping(let context)? = try peer.next() else {
                Issue.record("something else than a ping")
                return
            }
            var pong: [UInt8] = []
            Outgoing.appendPong(context: context, to: &pong)
            try peer.send(pong)
        }
        // One that does not answer any more is given up.
        while let heard = try peer.next() {
            guard case .ping = heard else {
                Issue.record("something else than a ping: \(heard)")
                return
            }
        }
    }

    @Test func `libzmq answers our pings`() throws {
        let router = try Socket(.router, in: self.context)
        let peer = try WirePeer(connectedTo: try router.bind(self.anyPort), Session(.dealer))
        try peer.shakeHands()
        var ping: [UInt8] = []
        Outgoing.appendPing(ttlTenths: 100, context: [1, 2], to: &ping)
        try peer.send(ping)
        #expect(try peer.next() == .pong)
    }

    @Test func `a peer of a type that does not fit is refused, on both sides`() throws {
        let publisher = try Socket(.xpub, in: self.context)
        let peer = try WirePeer(connectedTo: try publisher.bind(self.anyPort), Session(.req))
        try peer.send(peer.session.greeting)
        #expect(try peer.next() == .greeted)
        try peer.send(peer.session.ready())
        // libzmq closes the connection when it has read our type; its own READY may come before.
        let heard = try peer.next()
        #expect(heard == nil || heard == .failed(.incompatible(.req, .xpub)))
    }

    @Test func `a refusal by libzmq's ERROR is heard with its reason`() throws {
        // The handler of authentication that libzmq asks (RFC 27) says no.
        let handler = try Socket(.router, in: self.context)
        try handler.bind("inproc://zeromq.zap.01")
        let router = try Socket(.router, in: self.context)
        try router.set(.zapDomain, to: "test")
        let peer = try WirePeer(connectedTo: try router.bind(self.anyPort), Session(.dealer))
        try peer.send(peer.session.greeting)
        #expect(try peer.next() == .greeted)
        try peer.send(peer.session.ready())
        let asked = try handler.nextFrames()
        let answer = [asked[0], [], Array("1.0".utf8), asked[3], Array("400".utf8), Array("no".utf8), [], []]
        for (index, frame) in answer.enumerated() {
            #expect(try handler.send(frame, more: index < answer.count - 1) == .sent)
        }
        #expect(try peer.next() == .failed(.refused(reason: "400")))
    }

    @Test func `a socket that asks for keys is not talked to`() throws {
        let publisher = try Socket(.xpub, in: self.context)
        try publisher.secureAsServer(try .generate())
        let peer = try WirePeer(connectedTo: try publisher.bind(self.anyPort), Session(.sub))
        // libzmq says its mechanism once it knows our version, and closes the connection when it knows ours.
        try peer.send(Array(peer.session.greeting.prefix(12)))
        #expect(try peer.next() == .failed(.mechanismNotNull))
    }
}

extension Socket {
    /// The frames of the next message, waited for.
    borrowing func nextFrames() throws -> [[UInt8]] {
        var frames = FrameBuffer(framesMax: 16)
        try #require(try self.waitUntilReadable(for: .seconds(30)), "nothing came")
        try #require(try self.receive(into: &frames) == .message)
        return (0..<frames.count).map { frames.bytes(at: $0) }
    }
}
