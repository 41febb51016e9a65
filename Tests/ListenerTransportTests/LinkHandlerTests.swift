// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import NIOCore
import NIOEmbedded
import Testing
import ZMTP

@testable import CuecastNIO

/// Writes down what a channel says.
private final class LinkRecord: LinkOwner {
    weak var handler: LinkHandler?
    private(set) var events: [WireLink.Event] = []
    private(set) var droppedCount = 0
    private(set) var failures: [String] = []

    func happened(_ event: WireLink.Event, on channel: WireLink.Channel) { self.events.append(event) }

    func dropped(_ count: Int) { self.droppedCount += count }

    func failed(_ reason: String, on channel: WireLink.Channel) {
        self.failures.append(reason)
        self.handler?.end()
    }
}

/// One channel on a loop whose time the test moves.
private final class LinkStand {
    let channel = EmbeddedChannel()
    let handler: LinkHandler
    private let record = LinkRecord()

    var events: [WireLink.Event] { self.record.events }
    var droppedCount: Int { self.record.droppedCount }
    var failures: [String] { self.record.failures }

    init() throws {
        self.handler = LinkHandler(.requests, timings: LinkTimings(), owner: self.record)
        self.record.handler = self.handler
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try self.channel.pipeline.syncOperations.addHandler(self.handler)
    }

    func hear(_ bytes: [UInt8]) throws { try self.channel.writeInbound(ByteBuffer(bytes: bytes)) }

    /// All that was sent since the last time.
    func sent() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let buffer = try self.channel.readOutbound(as: ByteBuffer.self) {
            bytes += Array(buffer.readableBytesView)
        }
        return bytes
    }

    func wait(_ time: TimeAmount) { self.channel.embeddedEventLoop.advanceTime(by: time) }

    static func opened(minor: UInt8 = 1) throws -> LinkStand {
        let stand = try LinkStand()
        try stand.hear(opening(.requests, minor: minor))
        #expect(stand.events == [.opened])
        _ = try stand.sent()
        return stand
    }
}

private let ping: [UInt8] = {
    var bytes: [UInt8] = []
    Outgoing.appendPing(ttlTenths: 600, to: &bytes)
    return bytes
}()

private let pong: [UInt8] = {
    var bytes: [UInt8] = []
    Outgoing.appendPong(context: [], to: &bytes)
    return bytes
}()

@Suite(.suiteLimit)
struct LinkHandlerTests {
    @Test func `a peer that accepts and says nothing is given up after 10 s`() throws {
        let stand = try LinkStand()
        #expect(try stand.sent().count == ZMTPLimits.greetingBytes)
        stand.wait(.milliseconds(9_999))
        #expect(stand.failures.isEmpty)
        stand.wait(.milliseconds(1))
        #expect(stand.failures == ["the gateway accepted the connection and said nothing"])
    }

    @Test func `nor do a few bytes of a greeting keep it`() throws {
        let stand = try LinkStand()
        for byte in opening(.requests).prefix(9) {
            try stand.hear([byte])
            stand.wait(.seconds(1))
        }
        #expect(stand.failures.isEmpty)
        stand.wait(.seconds(1))
        #expect(stand.failures.count == 1)
    }

    @Test func `a silent peer is asked after 20 s and is gone after 20 s more: within three heartbeats`() throws {
        let stand = try LinkStand.opened()
        stand.wait(.milliseconds(19_999))
        #expect(try stand.sent().isEmpty)
        stand.wait(.milliseconds(1))
        #expect(try stand.sent() == ping)
        stand.wait(.milliseconds(19_999))
        #expect(stand.failures.isEmpty)
        stand.wait(.milliseconds(1))
        #expect(stand.failures == ["the gateway does not answer any more"])
        // Nothing is left to do.
        stand.wait(.hours(1))
        #expect(try stand.sent().isEmpty)
    }

    @Test func `a peer that answers stays, and gets the next heartbeat`() throws {
        let stand = try LinkStand.opened()
        for _ in 0..<10 {
            stand.wait(.seconds(20))
            #expect(try stand.sent() == ping)
            stand.wait(.milliseconds(19_999))
            try stand.hear(pong)
            stand.wait(.milliseconds(1))
            #expect(try stand.sent().isEmpty)
        }
        #expect(stand.failures.isEmpty)
    }

    @Test func `a silent peer is closed within three heartbeats`() throws {
        let stand = try LinkStand.opened()
        stand.wait(.milliseconds(1))
        try stand.hear(message([[1]]))
        stand.wait(.milliseconds(39_998))
        #expect(try stand.sent().isEmpty)
        stand.wait(.milliseconds(1))
        #expect(try stand.sent() == ping)
        stand.wait(.milliseconds(19_999))
        #expect(stand.failures.isEmpty)
        stand.wait(.milliseconds(1))
        #expect(stand.failures == ["the gateway does not answer any more"])
    }

    @Test func `a gateway that says its position every 15 s is never asked`() throws {
        let stand = try LinkStand.opened()
        for _ in 0..<100 {
            stand.wait(.seconds(15))
            try stand.hear(message([[1]]))
        }
        #expect(try stand.sent().isEmpty)
        #expect(stand.events.count == 101)
    }

    @Test func `an app that was frozen asks before it gives up`() throws {
        let start = NIODeadline.uptimeNanoseconds(0)
        var heartbeat = Heartbeat(interval: .seconds(20), handshakeMax: .seconds(10), now: start)
        heartbeat.opened(canPing: true, now: start)
        heartbeat.heard()
        let later = start + .hours(5)
        #expect(heartbeat.look(now: later) == .wait)
        #expect(heartbeat.look(now: later) == .wait)
        #expect(heartbeat.look(now: later + .seconds(20)) == .ping)
        heartbeat.heard()
        #expect(heartbeat.look(now: later + .seconds(40)) == .wait)
        #expect(heartbeat.due == later + .seconds(60))
    }

    @Test func `a gateway that knows no PING is not asked`() throws {
        let stand = try LinkStand.opened(minor: 0)
        stand.wait(.hours(1))
        #expect(try stand.sent().isEmpty)
        #expect(stand.failures.isEmpty)
    }

    @Test(arguments: [
        Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8),
        [UInt8](repeating: 0xFF, count: 4_096),
        opening(.notices),
        opening(.requests) + [2] + [UInt8](repeating: 0x7F, count: 8),
        opening(.requests) + [0xF8, 0],
    ])
    func `a server that is no gateway ends the connection with a reason`(bytes: [UInt8]) throws {
        let stand = try LinkStand()
        try stand.hear(bytes)
        #expect(stand.failures.count == 1)
        #expect(stand.failures.first?.hasPrefix("the gateway does not speak as it must: ") == true)
    }

    @Test func `messages of another shape are told once for each read`() throws {
        let stand = try LinkStand.opened()
        try stand.hear(message([[1], [2]]) + message([[], [], []]) + message([[1]]))
        #expect(stand.droppedCount == 2)
        #expect(stand.events == [.opened, .notice([1])])
    }

    @Test func `a peer that closes is said to have closed`() throws {
        let stand = try LinkStand.opened()
        try stand.channel.close().wait()
        #expect(stand.failures == ["the gateway closed the connection"])
    }

    @Test func `while a peer takes nothing, requests are dropped and PINGs have no answer`() throws {
        let stand = try LinkStand.opened()
        stand.channel.isWritable = false
        stand.handler.send([1])
        try stand.hear(ping)
        #expect(try stand.sent().isEmpty)
        stand.channel.isWritable = true
        try stand.hear(ping)
        stand.handler.send([2])
        #expect(try stand.sent() == pong + message([[], [2]]))
    }
}
