// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing
import ZMTP

@testable import CuecastNIO

/// The first bytes of a gateway, to a link of this channel.
func opening(_ channel: WireLink.Channel, minor: UInt8 = 1) -> [UInt8] {
    let gateway = Session(channel == .requests ? .router : .xpub, minor: minor)
    return gateway.greeting + gateway.ready()
}

func message(_ frames: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    for (index, frame) in frames.enumerated() {
        Outgoing.appendFrame(frame, more: index < frames.count - 1, to: &bytes)
    }
    return bytes
}

extension WireLink.Event {
    var isFailure: Bool { if case .failed = self { true } else { false } }
}

extension WireLink {
    /// Takes in bytes, in parts, and gives all that they mean.
    mutating func hear(_ parts: [ArraySlice<UInt8>]) -> [Event] {
        var events: [Event] = []
        for part in parts {
            self.received(Array(part).span)
            while let event = self.next() { events.append(event) }
        }
        return events
    }

    mutating func hear(_ bytes: [UInt8]) -> [Event] { self.hear([bytes[...]]) }

    static func opened(_ channel: Channel, minor: UInt8 = 1) -> WireLink {
        var link = WireLink(channel)
        _ = link.hear(opening(channel, minor: minor))
        _ = link.takeOutput()
        return link
    }
}

@Suite(.suiteLimit)
struct WireLinkTests {
    @Test(arguments: [WireLink.Channel.requests, .notices])
    func `the handshake is that of a DEALER and a SUB`(channel: WireLink.Channel) {
        var link = WireLink(channel)
        var gateway = Session(serving: .xpub, or: .router, frameBytesMax: 1_024, commandBytesMax: 4_096)
        var said = link.takeOutput()
        #expect(said == gateway.greeting)
        var offset = 0
        #expect(gateway.next(in: said.span, at: &offset) == .greeted)
        #expect(link.hear(opening(channel)) == [.opened])
        said += link.takeOutput()
        #expect(gateway.next(in: said.span, at: &offset) == .ready)
        #expect(gateway.peerType == (channel == .requests ? .dealer : .sub))
        #expect(offset == said.count)
    }

    @Test(arguments: [0, 1] as [UInt8])
    func `subscriptions from before the handshake follow it in their order`(minor: UInt8) {
        var link = WireLink(.notices)
        for (topic, cancel) in [("b", false), ("~", false), ("b", true)] {
            let isTaken = link.subscribe(Array(topic.utf8), cancel: cancel)
            #expect(isTaken)
        }
        var gateway = Session(.xpub, minor: 1)
        var said = link.takeOutput()
        _ = link.hear(opening(.notices, minor: minor))
        said += link.takeOutput()
        var (offset, seen) = (0, [String]())
        while true {
            switch gateway.next(in: said.span, at: &offset) {
            case .subscribe(let topic): seen.append("+" + String(decoding: said[topic], as: UTF8.self))
            case .cancel(let topic): seen.append("-" + String(decoding: said[topic], as: UTF8.self))
            case .greeted, .ready: continue
            default:
                #expect(seen == ["+b", "+~", "-b"])
                return
            }
        }
    }

    @Test func `subscriptions that wait have a limit in bytes`() {
        var link = WireLink(.notices)
        let most = WireLink.subscriptionBytesWaitingMax
        let isTaken = link.subscribe([UInt8](repeating: 1, count: most - 1), cancel: false)
        let isOneMoreTaken = link.subscribe([], cancel: false)
        #expect(isTaken && !isOneMoreTaken)
    }

    @Test func `requests before the handshake are dropped, and go after it`() {
        var link = WireLink(.requests)
        _ = link.takeOutput()
        link.send([1])
        #expect(link.takeOutput().isEmpty)
        _ = link.hear(opening(.requests))
        _ = link.takeOutput()
        link.send([1])
        #expect(link.takeOutput() == message([[], [1]]))
    }

    @Test func `one frame is a notice, a delimiter and another one are a reply, and all else is dropped`() {
        var link = WireLink.opened(.requests)
        let most = WireLimits.noticeFrameBytesMax
        #expect(link.hear(message([[7]])) == [.notice([7])])
        #expect(link.hear(message([[]])) == [.notice([])])
        #expect(link.hear(message([[], [8]])) == [.reply([8])])
        #expect(link.hear(message([[], []])) == [.reply([])])
        for other: [[UInt8]] in [[[1], [2]], [[], [1], [2]], [[1], [], []]] {
            #expect(link.hear(message(other)) == [.dropped])
        }
        #expect(link.hear(message([[UInt8](repeating: 1, count: most)])) != [.dropped])
        #expect(link.hear(message([[UInt8](repeating: 1, count: most + 1)])) == [.dropped])
        var notices = WireLink.opened(.notices)
        #expect(notices.hear(message([[], [8]])) == [.dropped])
        #expect(notices.hear(message([[7]])) == [.notice([7])])
    }

    @Test func `replies of the greatest length are taken, and a longer one ends the connection at its header`() {
        var link = WireLink.opened(.requests)
        let longest = [UInt8](repeating: 5, count: WireLimits.replyFrameBytesMax)
        #expect(link.hear(message([[], longest])) == [.reply(longest)])
        let header = Array(message([[], longest + [5]]).prefix(11))
        #expect(link.hear(header).map(\.isFailure) == [true])
        #expect(link.bytesWaiting == 0)
        #expect(link.hear(message([[1]])).isEmpty)
    }

    @Test func `a header that says more than any memory has ends the connection`() {
        var link = WireLink.opened(.requests)
        #expect(link.hear([2] + [UInt8](repeating: 0xFF, count: 8)).map(\.isFailure) == [true])
    }

    @Test func `a message of 64 frames is dropped, and the 64th frame that is not the last ends the connection`() {
        var link = WireLink.opened(.requests)
        let frames = [[UInt8]](repeating: [], count: WireLink.framesPerMessageMax)
        #expect(link.hear(message(frames)) == [.dropped])
        #expect(link.hear(message(frames + [[]])).map(\.isFailure) == [true])
    }

    @Test func `a PING is answered with its context, but not while nothing can be sent`() {
        var link = WireLink.opened(.requests)
        var (ping, pong): ([UInt8], [UInt8]) = ([], [])
        Outgoing.appendPing(ttlTenths: 600, context: [1, 2], to: &ping)
        Outgoing.appendPong(context: [1, 2], to: &pong)
        #expect(link.hear(ping + ping).isEmpty)
        #expect(link.takeOutput() == pong + pong)
        link.answersPings = false
        #expect(link.hear(ping + message([[7]])) == [.notice([7])])
        #expect(link.takeOutput().isEmpty)
    }

    @Test func `a gateway of ZMTP 3,0 is not asked by a PING`() {
        #expect(WireLink.opened(.requests).canPing)
        #expect(!WireLink.opened(.requests, minor: 0).canPing)
        #expect(!WireLink(.requests).canPing)
    }
}

@Suite(.suiteLimit)
struct WireLinkPropertyTests {
    /// The most that a link may hold back of what came.
    static let bytesWaitingMax = WireLimits.replyFrameBytesMax + ZMTPLimits.frameHeaderBytesMax

    @Test func `wherever the bytes are cut, they mean the same`() {
        var random = SeededGenerator(for: "cut links")
        for _ in 0..<200 { Self.cut(using: &random) }
    }

    private static func cut(using random: inout SeededGenerator) {
        let channel = Bool.random(using: &random) ? WireLink.Channel.requests : .notices
        let bytes = opening(channel) + self.randomTraffic(using: &random)
        var whole = WireLink(channel)
        let expected = whole.hear(bytes)
        var cut = WireLink(channel)
        var parts: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Int.random(
                in: 1...max(1, min(rest.count, 1 << Int.random(in: 0...9, using: &random))),
                using: &random
            )
            parts.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        #expect(cut.hear(parts) == expected)
        #expect(cut.takeOutput() == whole.takeOutput())
    }

    @Test func `whatever comes, little is held back and a failure is the last word`() {
        var random = SeededGenerator(for: "hostile links")
        for _ in 0..<400 { Self.damage(using: &random) }
    }

    private static func damage(using random: inout SeededGenerator) {
        let channel = Bool.random(using: &random) ? WireLink.Channel.requests : .notices
        var bytes = Bool.random(using: &random) ? opening(channel) : []
        bytes += self.randomTraffic(using: &random)
        // Some damage, or nothing but noise.
        for _ in 0..<Int.random(in: 0...8, using: &random) where !bytes.isEmpty {
            bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
        }
        bytes += (0..<Int.random(in: 0...600, using: &random))
            .map { _ in UInt8.random(in: .min ... .max, using: &random) }
        var link = WireLink(channel)
        var hasFailed = false
        for start in stride(from: 0, to: bytes.count, by: 97) {
            link.received(Array(bytes[start..<min(start + 97, bytes.count)]).span)
            while let event = link.next() {
                #expect(!hasFailed)
                hasFailed = event.isFailure
                if case .notice(let frame) = event { #expect(frame.count <= WireLimits.noticeFrameBytesMax) }
            }
            #expect(link.bytesWaiting <= self.bytesWaitingMax)
            // What is answered is no more than what came.
            #expect(link.takeOutput().count <= 64 + 64 + 97 * 2)
        }
    }

    /// Messages and commands of a gateway that has lost its mind.
    private static func randomTraffic(using random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            let body = (0..<Int.random(in: 0...300, using: &random))
                .map { _ in
                    UInt8.random(in: .min ... .max, using: &random)
                }
            switch Int.random(in: 0...5, using: &random) {
            case 0: Outgoing.appendPing(ttlTenths: 1, context: Array(body.prefix(16)), to: &bytes)
            case 1: Outgoing.appendPong(context: [], to: &bytes)
            case 2: bytes += message([body])
            case 3: bytes += message([[], body])
            case 4: bytes += message([[UInt8]](repeating: body, count: Int.random(in: 1...70, using: &random)))
            default: Outgoing.appendSubscription(body, asCommand: true, to: &bytes)
            }
        }
        return bytes
    }
}
