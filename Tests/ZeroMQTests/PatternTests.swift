// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing
import ZeroMQ

@Suite(.suiteLimit)
struct PatternTests {
    let context: Context

    init() throws {
        self.context = try Context()
    }

    static let endpoints = [anyPort, "inproc://pattern"]

    @Test(arguments: endpoints)
    func `a subscriber receives its topics and nothing else`(endpoint: String) throws {
        let publisher = try Socket(.xpub, in: self.context)
        let subscriber = try Socket(.sub, in: self.context)
        let endpoint = try publisher.bind(endpoint)
        try subscriber.subscribe(.init(text: "radio1\0"))
        try subscriber.connect(endpoint)
        // The publisher is told of the subscription: from here on it is in effect.
        #expect(try publisher.next().bytes() == [1] + .init(text: "radio1\0"))

        try publisher.mustSend(.init(text: "radio10\0no"))
        try publisher.mustSend(.init(text: "radio1\0yes"))
        #expect(try subscriber.next().bytes() == .init(text: "radio1\0yes"))

        try subscriber.unsubscribe(.init(text: "radio1\0"))
        #expect(try publisher.next().bytes() == [0] + .init(text: "radio1\0"))
        try publisher.mustSend(.init(text: "radio1\0late"))
        try subscriber.subscribe([])
        #expect(try publisher.next().bytes() == [1])
        try publisher.mustSend(.init(text: "all"))
        #expect(try subscriber.next().bytes() == .init(text: "all"))
    }

    @Test func `an xsub socket subscribes with messages`() throws {
        let publisher = try Socket(.xpub, in: self.context)
        let subscriber = try Socket(.xsub, in: self.context)
        try subscriber.connect(try publisher.bind(anyPort))
        try subscriber.subscribe([7])
        #expect(try publisher.next().bytes() == [1, 7])
        try publisher.mustSend([7, 8])
        #expect(try subscriber.next().bytes() == [7, 8])
        try subscriber.unsubscribe([7])
        #expect(try publisher.next().bytes() == [0, 7])
    }

    @Test func `a publisher without subscribers sends into the void`() throws {
        let publisher = try Socket(.pub, in: self.context)
        try publisher.bind(anyPort)
        #expect(try publisher.send([1]) == .sent)
    }

    @Test(arguments: [SocketKind.sub, .xsub])
    func `a topic has at most 200 bytes`(kind: SocketKind) throws {
        let publisher = try Socket(.xpub, in: self.context)
        let subscriber = try Socket(kind, in: self.context)
        try subscriber.connect(try publisher.bind(anyPort))
        let longest = [UInt8](repeating: 7, count: Socket.topicBytesMax)
        #expect(longest.count == 200)
        try subscriber.subscribe(longest)
        #expect(try publisher.next().bytes() == [1] + longest)

        for change in ["ZMQ_SUBSCRIBE", "ZMQ_UNSUBSCRIBE"] {
            let error = #expect(throws: ZeroMQError.self) {
                if change == "ZMQ_SUBSCRIBE" {
                    try subscriber.subscribe(longest + [7])
                } else {
                    try subscriber.unsubscribe(longest + [7])
                }
            }
            #expect(error?.code == .invalidArgument)
            #expect(error?.detail == "\(change): a topic of 201 bytes")
        }
    }

    @Test func `only subscribers subscribe`() throws {
        let error = #expect(throws: ZeroMQError.self) { try Socket(.dealer, in: self.context).subscribe([1]) }
        #expect(error?.code == .invalidArgument)
    }

    @Test(arguments: endpoints)
    func `pushed messages are pulled in order`(endpoint: String) throws {
        let pull = try Socket(.pull, in: self.context)
        let push = try Socket(.push, in: self.context)
        try push.connect(try pull.bind(endpoint))
        for number in UInt8(0)..<100 { try push.mustSend([number]) }
        for number in UInt8(0)..<100 { #expect(try pull.next().bytes() == [number]) }
        #expect(try pull.receive() == nil)
    }

    @Test func `a pair exchanges frames that belong together`() throws {
        let here = try Socket(.pair, in: self.context)
        let there = try Socket(.pair, in: self.context)
        try there.connect(try here.bind("inproc://pair"))
        try here.mustSend([1], [], [3])
        let first = try there.next()
        #expect(first.bytes() == [1])
        #expect(first.hasMore == true)
        let second = try there.next()
        #expect(second.count == 0)
        #expect(second.hasMore == true)
        let third = try there.next()
        #expect(third.bytes() == [3])
        #expect(third.hasMore == false)
    }

    @Test func `a message object is sent without a copy of its bytes being left behind`() throws {
        let here = try Socket(.pair, in: self.context)
        let there = try Socket(.pair, in: self.context)
        try there.connect(try here.bind("inproc://message"))
        let body = [UInt8](repeating: 5, count: 10_000)
        var message = Message(body)
        #expect(try here.send(message.copy(), more: true) == .sent)
        #expect(try here.send(message) == .sent)
        #expect(try there.nextFrames() == [body, body])
    }

    @Test func `req and rep take turns`() throws {
        let rep = try Socket(.rep, in: self.context)
        let req = try Socket(.req, in: self.context)
        try req.connect(try rep.bind(anyPort))
        try req.mustSend(.init(text: "ask"))
        #expect(throws: ZeroMQError(operation: "zmq_send", code: .wrongState)) { try req.send([1]) }
        #expect(try rep.next().bytes() == .init(text: "ask"))
        try rep.mustSend(.init(text: "answer"))
        #expect(try req.next().bytes() == .init(text: "answer"))
    }

    @Test func `nothing waiting is a value`() throws {
        let socket = try Socket(.pull, in: self.context)
        try socket.bind(anyPort)
        #expect(try socket.receive() == nil)
        var frames = FrameBuffer()
        #expect(try socket.receive(into: &frames) == .nothing)
        #expect(frames.count == 0)
        #expect(try socket.waitUntilReadable(for: .zero) == false)
        #expect(try socket.waitUntilReadable(for: .milliseconds(1)) == false)
    }

    @Test func `a send without a peer is a value`() throws {
        #expect(try Socket(.push, in: self.context).send([1]) == .wouldBlock)
        #expect(try Socket(.dealer, in: self.context).sendRequest(RawSpan()) == .wouldBlock)
    }
}
