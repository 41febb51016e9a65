// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing
import ZeroMQ

@Suite(.suiteLimit)
struct RouterTests {
    let context: Context

    init() throws {
        self.context = try Context()
    }

    /// A router that refuses what it cannot deliver.
    func makeRouter() throws -> Socket {
        let router = try Socket(.router, in: self.context)
        try router.set(.routerMandatory, to: true)
        return router
    }

    /// Receives one request and returns its sender and body.
    func request(at router: borrowing Socket) throws -> (peer: RoutingID, body: [UInt8]) {
        var frames = FrameBuffer(framesMax: 3)
        try #require(try router.waitUntilReadable(for: patience))
        try #require(try router.receive(into: &frames) == .message)
        let isRequest = frames.isRequest
        try #require(isRequest)
        return (frames.routingID, frames.bytes(at: 2))
    }

    @Test func `a plain req socket asks and is answered with head and tail`() throws {
        let router = try self.makeRouter()
        let requester = try Socket(.req, in: self.context)
        try requester.connect(try router.bind(anyPort))
        try requester.mustSend(.init(text: "join"))

        let (peer, body) = try self.request(at: router)
        #expect(body == .init(text: "join"))
        let outcome = try [UInt8](text: "head ")
            .lend { head in
                try [UInt8](text: "tail").lend { tail in try router.sendReply(to: peer, head: head, tail: tail) }
            }
        #expect(outcome == .sent)
        #expect(try requester.next().bytes() == .init(text: "head tail"))
    }

    @Test func `a dealer pipelines requests and is answered in a req socket's frames`() throws {
        let router = try self.makeRouter()
        let dealer = try Socket(.dealer, in: self.context)
        try dealer.connect(try router.bind(anyPort))
        for number in UInt8(0)..<32 {
            #expect(try dealer.sendRequest([number]) == .sent)
        }
        for number in UInt8(0)..<32 {
            let (peer, body) = try self.request(at: router)
            #expect(body == [number])
            #expect(try router.sendReply(to: peer, head: [number], tail: [number]) == .sent)
        }
        for number in UInt8(0)..<32 {
            #expect(try dealer.nextFrames() == [[], [number, number]])
        }
    }

    @Test func `the routing id that a peer chose is the one that reaches it`() throws {
        let router = try self.makeRouter()
        let dealer = try Socket(.dealer, in: self.context)
        let name = [UInt8](text: "a listener with a name of its own")
        try dealer.set(.routingID, to: name)
        try dealer.connect(try router.bind(anyPort))
        #expect(try dealer.sendRequest(RawSpan()) == .sent)
        let (peer, body) = try self.request(at: router)
        #expect(peer == RoutingID(name))
        #expect(body == [])
        #expect(try router.sendReply(to: peer, head: RawSpan()) == .sent)
        #expect(try dealer.nextFrames() == [[], []])
    }

    @Test func `a message that is not a request is told apart`() throws {
        let router = try self.makeRouter()
        let dealer = try Socket(.dealer, in: self.context)
        try dealer.connect(try router.bind(anyPort))
        try dealer.mustSend([1])
        try dealer.mustSend([1], [2])
        try dealer.mustSend([], [2], [3])
        var frames = FrameBuffer(framesMax: 4)
        for count in [2, 3, 4] {
            try #require(try router.waitUntilReadable(for: patience))
            #expect(try router.receive(into: &frames) == .message)
            #expect(frames.count == count)
            #expect(frames.isRequest == false)
        }
    }

    @Test func `a req socket that tells answers apart takes the one that begins as its request did`() throws {
        let router = try self.makeRouter()
        let requester = try Socket(.req, in: self.context)
        try requester.set(.requestCorrelate, to: true)
        try requester.set(.requestRelaxed, to: true)
        try requester.connect(try router.bind(anyPort))
        var frames = FrameBuffer(framesMax: FrameBuffer.requestFramesMax)
        var places: [RequestReturn] = []
        for number in UInt8(1)...2 {
            try requester.mustSend([number])
            try #require(try router.waitUntilReadable(for: patience))
            #expect(try router.receive(into: &frames) == .message)
            let found = frames.requestReturn
            let place = try #require(found)
            #expect(frames.isRequest == false)
            #expect(place.correlationFrame?.count == RequestReturn.correlationBytes)
            #expect(frames.bytes(at: frames.count - 1) == [number])
            places.append(place)
        }
        #expect(places[0] != places[1] && places[0].peer == places[1].peer)
        // The first answer comes late, and is passed over.
        for (place, answer) in zip(places, [[11], [12]] as [[UInt8]]) {
            #expect(try router.sendReply(to: place, answer) == .sent)
        }
        #expect(try requester.next().bytes() == [12])
    }

    @Test func `a request's correlation has four bytes or none`() throws {
        let router = try self.makeRouter()
        let dealer = try Socket(.dealer, in: self.context)
        try dealer.connect(try router.bind(anyPort))
        var frames = FrameBuffer(framesMax: FrameBuffer.requestFramesMax)
        for count in 0...8 {
            try dealer.mustSend([UInt8](repeating: 7, count: count), [], [1])
            try #require(try router.waitUntilReadable(for: patience))
            #expect(try router.receive(into: &frames) == .message)
            let place = frames.requestReturn
            #expect((place != nil) == (count == 4))
            guard let place else { continue }
            #expect(place.correlationFrame == [7, 7, 7, 7])
            #expect(try router.sendReply(to: place, [2]) == .sent)
            #expect(try dealer.nextFrames() == [[7, 7, 7, 7], [], [2]])
        }
        #expect(try dealer.sendRequest([1]) == .sent)
        try #require(try router.waitUntilReadable(for: patience))
        #expect(try router.receive(into: &frames) == .message)
        let last = frames.requestReturn
        let plain = try #require(last)
        #expect(plain.correlationFrame == nil)
        #expect(try router.sendReply(to: plain, [3]) == .sent)
        #expect(try dealer.nextFrames() == [[], [3]])
    }

    @Test func `the peer's address is read from the message`() throws {
        let router = try self.makeRouter()
        let dealer = try Socket(.dealer, in: self.context)
        try dealer.connect(try router.bind(anyPort))
        #expect(try dealer.sendRequest(RawSpan()) == .sent)
        var frames = FrameBuffer(framesMax: 3)
        try #require(try router.waitUntilReadable(for: patience))
        #expect(frames.property("Peer-Address") == nil)
        #expect(try router.receive(into: &frames) == .message)
        #expect(frames.property("Peer-Address") == "127.0.0.1")
        #expect(frames.property("Socket-Type") == "DEALER")
        #expect(frames.property("No-Such-Property") == nil)
    }

    // MARK: - Outcomes

    @Test func `a peer that never was is unreachable`() throws {
        let router = try self.makeRouter()
        try router.bind(anyPort)
        #expect(try router.sendReply(to: RoutingID([0, 1, 2, 3, 4]), head: RawSpan()) == .unreachable)
        #expect(try router.sendReply(to: RoutingID([]), Message([1])) == .unreachable)
    }

    @Test func `a peer that left is unreachable, and others are still answered`() throws {
        let router = try self.makeRouter()
        let endpoint = try router.bind(anyPort)
        let staying = try Socket(.dealer, in: self.context)
        let leaving = try Socket(.dealer, in: self.context)
        try staying.connect(endpoint)
        try leaving.connect(endpoint)
        #expect(try leaving.sendRequest([1]) == .sent)
        let left = try self.request(at: router).peer
        #expect(try staying.sendRequest([2]) == .sent)
        let stayed = try self.request(at: router).peer

        leaving.close()
        while try router.sendReply(to: left, Message([1])) != .unreachable {
            _ = try router.waitUntilReadable(for: .milliseconds(1))
        }
        #expect(try router.sendReply(to: stayed, Message([9])) == .sent)
        #expect(try staying.nextFrames() == [[], [9]])
    }

    @Test func `a peer that does not read is answered with would-block, and no half message is left`() throws {
        let router = try self.makeRouter()
        try router.set(.sendHighWaterMark, to: 1)
        let endpoint = try router.bind("inproc://high-water")
        let slow = try Socket(.dealer, in: self.context)
        try slow.set(.receiveHighWaterMark, to: 1)
        try slow.connect(endpoint)
        let other = try Socket(.dealer, in: self.context)
        try other.connect(endpoint)
        #expect(try slow.sendRequest(RawSpan()) == .sent)
        let slowPeer = try self.request(at: router).peer
        #expect(try other.sendRequest(RawSpan()) == .sent)
        let otherPeer = try self.request(at: router).peer

        // In one process the two marks add up.
        #expect(try router.sendReply(to: slowPeer, Message([1])) == .sent)
        #expect(try router.sendReply(to: slowPeer, Message([2])) == .sent)
        #expect(try router.sendReply(to: slowPeer, Message([3])) == .wouldBlock)
        #expect(try [3].lend { try router.sendReply(to: slowPeer, head: $0) } == .wouldBlock)

        // A half-sent message would end up in front of this one.
        #expect(try router.sendReply(to: otherPeer, Message([4])) == .sent)
        #expect(try other.nextFrames() == [[], [4]])

        #expect(try slow.nextFrames() == [[], [1]])
        #expect(try slow.nextFrames() == [[], [2]])
        #expect(try slow.receive() == nil)
        while try router.sendReply(to: slowPeer, Message([5])) == .wouldBlock {
            _ = try router.waitUntilReadable(for: .milliseconds(1))
        }
        #expect(try slow.nextFrames() == [[], [5]])
    }

    @Test func `a peer over the network that does not read blocks no other`() throws {
        let router = try self.makeRouter()
        try router.set(.sendHighWaterMark, to: 4)
        let dealer = try Socket(.dealer, in: self.context)
        try dealer.set(.receiveHighWaterMark, to: 4)
        try dealer.connect(try router.bind(anyPort))
        #expect(try dealer.sendRequest(RawSpan()) == .sent)
        let peer = try self.request(at: router).peer
        let body = [UInt8](repeating: 1, count: 1_000_000)
        var sent = 0
        while try body.lend({ try router.sendReply(to: peer, head: $0) }) == .sent {
            sent += 1
            try #require(sent < 1000, "a gigabyte was queued")
        }
        for _ in 0..<sent { #expect(try dealer.nextFrames() == [[], body]) }
    }

    // MARK: - Limits

    @Test func `a frame at the limit arrives, and one byte more ends the connection`() async throws {
        let limit = 1024
        let router = try self.makeRouter()
        try router.set(.messageBytesMax, to: Int64(limit))
        let endpoint = try router.bind(anyPort)
        let dealer = try Socket(.dealer, in: self.context)
        try dealer.connect(endpoint)

        let disconnected = AsyncStream.makeStream(of: SocketEvent.self, bufferingPolicy: .bufferingOldest(1))
        let monitor = try router.startMonitor([.disconnected], threadName: "router-watch") { event in
            disconnected.continuation.yield(event)
        }

        let atLimit = [UInt8](repeating: 1, count: limit)
        #expect(try dealer.sendRequest(atLimit) == .sent)
        #expect(try self.request(at: router).body == atLimit)

        #expect(try dealer.sendRequest(atLimit + [1]) == .sent)
        let event = await disconnected.stream.first { _ in true }
        guard case .disconnected = event?.change else {
            Issue.record("expected a disconnection, not \(String(describing: event))")
            return
        }
        #expect(event?.address == endpoint)
        router.stopMonitor()
        await monitor.waitForEnd()
        #expect(try router.receive() == nil)
    }

    @Test func `the frames of a message are bounded`() throws {
        let pull = try Socket(.pull, in: self.context)
        let push = try Socket(.push, in: self.context)
        try push.connect(try pull.bind(anyPort))
        let framesMax = 3
        var frames = FrameBuffer(framesMax: framesMax)
        for count in [1, framesMax, framesMax + 1, framesMax + 2, 500, framesMax] {
            for index in 1...count {
                #expect(try push.send([UInt8(truncatingIfNeeded: index)], more: index < count) == .sent)
            }
            try #require(try pull.waitUntilReadable(for: patience))
            let expected: MultipartOutcome = count <= framesMax ? .message : .tooManyFrames(count)
            #expect(try pull.receive(into: &frames) == expected)
            #expect(frames.count == min(count, framesMax))
            #expect((0..<frames.count).map { frames.bytes(at: $0) } == (1...min(count, framesMax)).map { [UInt8($0)] })
            #expect(frames.byteCount(at: 0) == 1)
        }
        #expect(try pull.receive(into: &frames) == .nothing)
    }

    @Test func `a frame that is not there cannot be read`() async {
        await #expect(processExitsWith: .failure) {
            let frames = FrameBuffer(framesMax: 2)
            _ = frames.byteCount(at: 0)
        }
    }
}
