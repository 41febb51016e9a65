// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing
import ZMTP

/// The codec without a network.
@Suite(.suiteLimit)
struct CodecTests {
    /// A frame of a message as RFC 23 writes it, here once more by hand.
    private func frame(_ body: [UInt8], more: Bool = false, command: Bool = false, long: Bool = false) -> [UInt8] {
        let flags: UInt8 = (more ? 1 : 0) | (command ? 4 : 0)
        guard long || body.count > 255 else { return [flags, UInt8(body.count)] + body }
        let length = (0..<8).map { UInt8(truncatingIfNeeded: body.count >> (56 - 8 * $0)) }
        return [flags | 2] + length + body
    }

    private func command(_ name: String, _ data: [UInt8]) -> [UInt8] {
        self.frame([UInt8(name.utf8.count)] + name.utf8 + data, command: true)
    }

    private func property(_ name: String, _ value: [UInt8]) -> [UInt8] {
        [UInt8(name.utf8.count)] + name.utf8 + [0, 0, UInt8(value.count >> 8), UInt8(value.count & 255)] + value
    }

    /// A SUB's session whose handshake with an XPUB is done.
    private func subscriber(frameBytesMax: Int = 1_000_000) -> Session {
        var session = Session(.sub, frameBytesMax: frameBytesMax)
        #expect(session.hear(opening(of: .xpub)) == [.greeted, .ready])
        return session
    }

    @Test func `a greeting is as the RFC draws it`() {
        let bytes = Session(.sub).greeting
        #expect(bytes.count == ZMTPLimits.greetingBytes)
        #expect(Array(bytes[0..<12]) == [0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F, 3, 0])
        #expect(Array(bytes[12..<32]) == Array("NULL".utf8) + [UInt8](repeating: 0, count: 16))
        #expect(bytes[32...].allSatisfy { $0 == 0 })
    }

    @Test(arguments: [0, 1, 2, 254, 255, 256, 257, 65_535, 65_536, 1_000_000])
    func `a frame of any length comes back as it was`(count: Int) {
        var session = self.subscriber()
        let body = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var bytes: [UInt8] = []
        Outgoing.appendFrame(body, more: true, to: &bytes)
        Outgoing.appendFrame(body, to: &bytes)
        #expect(bytes == self.frame(body, more: true) + self.frame(body))
        #expect(session.hear(bytes) == [.frame(body, more: true), .frame(body, more: false)])
    }

    @Test func `a short body behind a long header is read`() {
        var session = self.subscriber()
        #expect(session.hear(self.frame([1, 2], long: true)) == [.frame([1, 2], more: false)])
    }

    @Test func `a frame at the limit passes and one byte more does not`() {
        var session = self.subscriber(frameBytesMax: 300)
        let body = [UInt8](repeating: 7, count: 300)
        #expect(session.hear(self.frame(body)) == [.frame(body, more: false)])
        // The header alone is enough to refuse it.
        let error = ZMTPError.frameTooLong(bytes: 301, bytesMax: 300)
        #expect(session.hear(Array(self.frame(body + [7]).prefix(9))) == [.failed(error)])
        #expect(session.hear(self.frame([1])) == [.failed(error)], "a failed session stays so")
    }

    @Test func `a length beyond what fits into memory is refused`() {
        var session = self.subscriber()
        let bytes: [UInt8] = [2] + [UInt8](repeating: 0xFF, count: 8)
        #expect(session.hear(bytes) == [.failed(.frameTooLong(bytes: .max, bytesMax: 1_000_000))])
    }

    @Test(arguments: [8, 16, 32, 64, 128, 5, 7])
    func `reserved flags, and commands of several frames, are refused`(flags: UInt8) {
        var session = self.subscriber()
        #expect(session.hear([flags, 0]) == [.failed(.reservedFlags(flags))])
    }

    @Test func `commands have a limit of their own`() {
        let topic = [UInt8](repeating: 1, count: ZMTPLimits.commandBytesMax - 10)
        var publisher = Session(.xpub)
        _ = publisher.hear(opening(of: .sub))
        #expect(publisher.hear(self.command("SUBSCRIBE", topic)) == [.subscribe(topic)])
        let bytes = ZMTPLimits.commandBytesMax + 1
        #expect(
            publisher.hear(self.command("SUBSCRIBE", topic + [1]))
                == [.failed(.frameTooLong(bytes: UInt64(bytes), bytesMax: bytes - 1))]
        )
    }

    @Test func `strangers are recognised by their first bytes`() {
        for text in ["GET / HTTP/1.1\r\n", "\u{16}\u{3}"] {
            var session = Session(.sub)
            #expect(session.hear(Array(text.utf8)) == [.failed(.noSignature)])
        }
        var session = Session(.sub)
        #expect(session.hear([0xFF, 0, 0, 0, 0, 0, 0, 0, 0]) == [])
        #expect(session.hear([0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0]) == [.failed(.noSignature)])
    }

    @Test func `older versions and other mechanisms are refused`() {
        var greeting = Session(.xpub).greeting
        greeting[10] = 2
        var session = Session(.sub)
        #expect(session.hear(greeting) == [.failed(.versionTooOld(2))])
        greeting[10] = 4
        session = Session(.sub)
        #expect(session.hear(greeting) == [.greeted])
        greeting[10] = 3
        greeting.replaceSubrange(12..<17, with: "PLAIN".utf8)
        session = Session(.sub)
        #expect(session.hear(greeting) == [.failed(.mechanismNotNull)])
        greeting.replaceSubrange(12..<17, with: "NULLX".utf8)
        session = Session(.sub)
        #expect(session.hear(greeting) == [.failed(.mechanismNotNull)])
    }

    @Test func `only socket types that talk to each other complete the handshake`() {
        let pairs: Set<[SocketType]> = [
            [.pub, .sub], [.pub, .xsub], [.xpub, .sub], [.xpub, .xsub], [.req, .rep], [.req, .router],
            [.rep, .dealer], [.dealer, .dealer], [.dealer, .router], [.router, .router], [.pair, .pair],
            [.push, .pull],
        ]
        for own in SocketType.allCases {
            for peer in SocketType.allCases {
                var session = Session(own)
                let heard = session.hear(opening(of: peer))
                if pairs.contains([own, peer]) || pairs.contains([peer, own]) {
                    #expect(heard == [.greeted, .ready])
                    #expect(session.isReady)
                } else {
                    #expect(heard == [.greeted, .failed(.incompatible(own, peer))])
                }
            }
        }
    }

    @Test func `properties are read whatever their case and order`() {
        var session = Session(.req)
        let ready = self.command(
            "READY",
            self.property("x-other", [1, 2, 3]) + self.property("IDENTITY", [9])
                + self.property("socket-TYPE", Array("ROUTER".utf8))
        )
        #expect(session.hear(session.greeting + ready) == [.greeted, .ready])
    }

    @Test func `a handshake that is not one is refused`() {
        let type = self.property("Socket-Type", Array("XPUB".utf8))
        let identity = self.property("Identity", [UInt8](repeating: 1, count: ZMTPLimits.identityBytesMax))
        let tooLong = self.property("Identity", [UInt8](repeating: 1, count: ZMTPLimits.identityBytesMax + 1))
        let filler = self.property("X", [])
        let many = (1..<ZMTPLimits.propertiesMax).flatMap { _ in filler }
        let cases: [([UInt8], Heard)] = [
            (self.command("READY", type + identity), .ready),
            (self.command("READY", type + tooLong), .failed(.malformedCommand)),
            (self.command("READY", type + many), .ready),
            (self.command("READY", type + many + filler), .failed(.malformedCommand)),
            (self.command("READY", filler), .failed(.unknownSocketType)),
            (self.command("READY", self.property("Socket-Type", Array("RADIO".utf8))), .failed(.unknownSocketType)),
            (self.command("READY", [0, 0, 0, 0, 0]), .failed(.malformedCommand)),
            (self.command("READY", type.dropLast()), .failed(.malformedCommand)),
            (self.command("PING", [0, 1]), .failed(.unexpectedCommand)),
            (self.command("HELLO", []), .failed(.unexpectedCommand)),
            (self.frame([6] + "HELLO".utf8, command: true), .failed(.malformedCommand)),
            (self.frame([0] + "HELLO".utf8, command: true), .failed(.malformedCommand)),
            (self.command("ERROR", [3] + "bad".utf8), .failed(.refused(reason: "bad"))),
            (self.command("ERROR", [4] + "bad".utf8), .failed(.malformedCommand)),
            (self.frame([1, 2, 3]), .failed(.messageBeforeReady)),
            (self.frame([], command: true), .failed(.malformedCommand)),
        ]
        for (bytes, expected) in cases {
            var session = Session(.sub)
            #expect(session.hear(session.greeting + bytes) == [.greeted, expected])
        }
    }

    @Test func `a ping carries at most sixteen bytes of context`() {
        var session = self.subscriber()
        let context = Array("0123456789abcdef".utf8)
        var ping: [UInt8] = []
        Outgoing.appendPing(ttlTenths: 600, context: context, to: &ping)
        Outgoing.appendPong(context: context, to: &ping)
        #expect(session.hear(ping) == [.ping(context), .pong])
        #expect(session.hear(self.command("PING", [0, 1] + context + [1])) == [.failed(.malformedCommand)])
        session = self.subscriber()
        #expect(session.hear(self.command("PING", [0])) == [.failed(.malformedCommand)])
    }

    @Test func `subscriptions come as messages and as commands, and only to who publishes`() {
        let topic = Array("radio1\0".utf8)
        var bytes: [UInt8] = []
        for asCommand in [false, true] {
            Outgoing.appendSubscription(topic, asCommand: asCommand, to: &bytes)
            Outgoing.appendSubscription(topic, cancel: true, asCommand: asCommand, to: &bytes)
        }
        var publisher = Session(.xpub)
        _ = publisher.hear(opening(of: .sub))
        #expect(publisher.hear(bytes) == [.subscribe(topic), .cancel(topic), .subscribe(topic), .cancel(topic)])
        // On other sockets the same bytes are a message.
        var dealer = Session(.dealer)
        _ = dealer.hear(opening(of: .router))
        #expect(dealer.hear(self.frame([1, 65])) == [.frame([1, 65], more: false)])
    }

    @Test func `unknown commands are passed over once messages flow`() {
        var session = self.subscriber()
        #expect(session.hear(self.command("LATER", [1, 2]) + self.frame([5])) == [.frame([5], more: false)])
    }

    @Test func `subscriptions go as commands only where both sides speak 3.1`() {
        for (own, peer) in [(0, 0), (0, 1), (1, 0), (1, 1)] as [(UInt8, UInt8)] {
            var session = Session(.sub, minor: own)
            #expect(session.hear(opening(of: .xpub, minor: peer)) == [.greeted, .ready])
            #expect(session.subscribesByCommand == (own == 1 && peer == 1))
        }
    }
}
