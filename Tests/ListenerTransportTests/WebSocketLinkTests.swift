// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing
import ZMTP

@testable import CuecastNIO

/// A gateway's side of a WebSocket, from the same state machines that the gateway has.
private struct WebSocketPeer {
    private var upgrade = WebSocketUpgradeReader()
    private var received: [UInt8] = []
    private(set) var asked: WebSocketUpgrade?
    private var frames = WebSocketFrameReader(ofClient: true, frameBytesMax: 1_048_576)
    /// What the client sent, as ZMTP has it.
    private(set) var heard: [UInt8] = []
    private(set) var events: [WebSocketFrameReader.Event] = []

    mutating func hear(_ bytes: [UInt8]) throws {
        var rest = bytes
        if self.asked == nil {
            self.received += bytes
            let received = self.received
            self.asked = try self.upgrade.next(in: received.span)
            guard let asked else { return }
            rest = Array(self.received[asked.byteCount...])
        }
        var (offset, end) = (0, self.heard.count)
        while true {
            let event = self.frames.next(in: rest.span, at: &offset, into: &self.heard, at: &end)
            if event == .needsMore { break }
            self.events.append(event)
            if case .failed = event { break }
        }
        self.heard.removeLast(self.heard.count - end)
    }

    /// The answer to the request, and the routing id of its side.
    var opening: [UInt8] { (self.asked?.answer ?? []) + Self.framed(message([[]])) }

    static func framed(_ zmtp: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        ZWSFraming.append(zmtp: zmtp, to: &bytes)
        return bytes
    }
}

@Suite(.suiteLimit)
struct WebSocketLinkTests {
    private static let address = WebSocketAddress(host: "ads.example.org", path: "/listen?a=b")

    private static func opened(_ channel: WireLink.Channel) throws -> (link: WireLink, peer: WebSocketPeer) {
        var (link, peer) = (WireLink(channel, over: Self.address), WebSocketPeer())
        try peer.hear(link.takeOutput())
        let events = link.hear(peer.opening)
        #expect(events == [.opened])
        try peer.hear(link.takeOutput())
        return (link, peer)
    }

    private static func answer(_ change: (inout [String]) -> Void) -> WireLink.Event? {
        var (link, peer) = (WireLink(.requests, over: Self.address), WebSocketPeer())
        try? peer.hear(link.takeOutput())
        var lines = String(decoding: peer.asked?.answer ?? [], as: UTF8.self).split(separator: "\r\n").map(String.init)
        change(&lines)
        return link.hear(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)).first
    }

    @Test(arguments: [WireLink.Channel.requests, .notices])
    func `the request is one for WebSocket, and the client has no routing id of its own`(
        channel: WireLink.Channel
    ) throws {
        let (link, peer) = try Self.opened(channel)
        #expect(peer.asked?.host == "ads.example.org" && peer.asked?.path == "/listen")
        #expect(peer.asked?.mechanism == ZWSMechanism.none && peer.asked?.origin == nil)
        #expect(link.isOpen && link.canPing)
        #expect(peer.heard == message([[]]))
    }

    @Test func `requests go out as frames, and replies and notices come in`() throws {
        var (link, peer) = try Self.opened(.requests)
        let before = peer.heard.count
        link.send([1, 2, 3])
        try peer.hear(link.takeOutput())
        #expect(Array(peer.heard[before...]) == message([[], [1, 2, 3]]))
        let events = link.hear(WebSocketPeer.framed(message([[], [4, 5]]) + message([[6]])))
        #expect(events == [.reply([4, 5]), .notice([6])])
    }

    @Test func `subscriptions from before the handshake follow it`() throws {
        var (link, peer) = (WireLink(.notices, over: Self.address), WebSocketPeer())
        let isTaken = link.subscribe(Array("radio1".utf8), cancel: false)
        #expect(isTaken)
        try peer.hear(link.takeOutput())
        // Nothing but the request goes out before the peer agreed.
        #expect(peer.heard.isEmpty)
        _ = link.hear(peer.opening)
        try peer.hear(link.takeOutput())
        #expect(peer.heard == message([[]]) + message([[1] + Array("radio1".utf8)]))
    }

    @Test func `bytes may be cut anywhere`() throws {
        var generator = SeededGenerator(seed: 38)
        for _ in 0..<200 {
            let notices = (0..<Int.random(in: 1...5, using: &generator))
                .map { _ in
                    (0..<Int.random(in: 0...300, using: &generator))
                        .map { _ in UInt8.random(in: 0...255, using: &generator) }
                }
            var (link, peer) = (WireLink(.requests, over: Self.address), WebSocketPeer())
            try peer.hear(link.takeOutput())
            var bytes = peer.opening
            for notice in notices { bytes += WebSocketPeer.framed(message([notice])) }
            var (events, rest) = ([WireLink.Event](), bytes[...])
            while !rest.isEmpty {
                let part = rest.prefix(Int.random(in: 1...40, using: &generator))
                events += link.hear([part])
                rest = rest.dropFirst(part.count)
            }
            #expect(events == [.opened] + notices.map { .notice($0) })
            #expect(link.bytesWaiting == 0)
        }
    }

    @Test func `a ping is answered, and the peer is asked by one`() throws {
        var (link, peer) = try Self.opened(.requests)
        var ping: [UInt8] = []
        ZWSFraming.appendControl(.ping, [7, 8], to: &ping)
        #expect(link.hear(ping).isEmpty)
        link.ping(timeToLiveTenths: 600)
        try peer.hear(link.takeOutput())
        #expect(peer.events == [.pong, .ping([])])
        // Not while the peer does not take what is sent to it.
        link.answersPings = false
        #expect(link.hear(ping).isEmpty)
        #expect(link.takeOutput().isEmpty)
    }

    @Test func `the peer's close is answered with its code, after what came before it`() throws {
        var (link, peer) = try Self.opened(.requests)
        var bytes = WebSocketPeer.framed(message([[1]]))
        ZWSFraming.appendClose(1_001, "going away", to: &bytes)
        #expect(link.hear(bytes) == [.notice([1]), .closed(code: 1_001)])
        try peer.hear(link.takeOutput())
        #expect(peer.events == [.close(1_001)])
        #expect(link.hear(WebSocketPeer.framed(message([[2]]))).isEmpty)
    }

    @Test func `a client that closes says so`() throws {
        var (link, peer) = try Self.opened(.requests)
        link.close()
        try peer.hear(link.takeOutput())
        #expect(peer.events == [.close(1_000)])
    }

    @Test func `a frame that breaks the rules ends the connection with its reason`() throws {
        var (link, peer) = try Self.opened(.requests)
        #expect(link.hear([0x81, 0x01, 0x41]) == [.failed(reason: WebSocketFailure.text.description)])
        try peer.hear(link.takeOutput())
        #expect(peer.events == [.close(1_003)])
        var other = try Self.opened(.notices).link
        let long = [UInt8](repeating: 0, count: WireLimits.noticeFrameBytesMax + 1)
        #expect(other.hear(WebSocketPeer.framed(message([long]))).first?.isFailure == true)
    }

    @Test func `an answer is checked as RFC 6455 asks`() {
        #expect(Self.answer { _ in } == nil)
        // Names and lists are read without regard to capital letters, and other fields are passed over.
        #expect(
            Self.answer { lines in
                lines = lines.map { $0 == "Connection: Upgrade" ? "connection: keep-alive, UPGRADE" : $0 }
                lines.append("Server: front")
            } == nil
        )
        let faults: [(String, (inout [String]) -> Void)] = [
            ("\"HTTP/1.1 403 Forbidden\"", { $0[0] = "HTTP/1.1 403 Forbidden" }),
            ("\"HTTP/1.1 1011 x\"", { $0[0] = "HTTP/1.1 1011 x" }),
            ("does not upgrade", { $0.removeAll { $0.hasPrefix("Upgrade") } }),
            ("does not upgrade", { $0.removeAll { $0.hasPrefix("Connection") } }),
            ("Sec-WebSocket-Accept", { $0.removeAll { $0.hasPrefix("Sec-WebSocket-Accept") } }),
            ("Sec-WebSocket-Accept", { $0 = $0.map { $0.hasPrefix("Sec-WebSocket-Accept") ? $0 + "A" : $0 } }),
            ("does not speak ZWS2.0", { $0.removeAll { $0.hasPrefix("Sec-WebSocket-Protocol") } }),
            ("extensions", { $0.append("Sec-WebSocket-Extensions: permessage-deflate") }),
            ("has the line \"no colon\"", { $0.append("no colon") }),
        ]
        for (words, change) in faults {
            guard case .failed(let reason) = Self.answer(change) else {
                Issue.record("an answer passed that \(words)")
                continue
            }
            #expect(reason.contains(words), "\(reason)")
        }
    }

    @Test func `an answer of 8192 bytes is read, and a longer one is refused`() throws {
        for (extra, isTaken) in [(0, true), (1, false)] {
            var (link, peer) = (WireLink(.requests, over: Self.address), WebSocketPeer())
            try peer.hear(link.takeOutput())
            let answer = peer.asked?.answer ?? []
            let padding = WebSocketClientUpgrade.webSocketAnswerBytesMax - answer.count - "X: \r\n".utf8.count + extra
            let head = answer.dropLast(2) + Array("X: \(String(repeating: "a", count: padding))\r\n\r\n".utf8)
            let events = link.hear(Array(head))
            #expect(events.isEmpty == isTaken, "\(events)")
        }
    }

    @Test func `each frame has a mask of its own`() throws {
        var (link, _) = try Self.opened(.requests)
        var masks: Set<[UInt8]> = []
        for _ in 0..<100 {
            link.send([1])
            // Two frames: the delimiter with its flags, and the request. Each has two bytes before its mask.
            let bytes = link.takeOutput()
            masks.insert(Array(bytes[2..<6]))
            masks.insert(Array(bytes[9..<13]))
        }
        // Of 200 random masks of 32 bits, hardly ever are two the same.
        #expect(masks.count > 195)
    }
}
