// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing
import ZeroMQ

/// Bad input of each kind on each socket: an answer where there can be one, and no other peer is disturbed.
@Suite(.suiteLimit)
struct BadInputTests {
    var station = Station()

    init() {
        self.station.configuration.limits[.requestsPerSessionPerSecondMax] = 0
        self.station.configuration.limits[.messagesPerConnectionPerSecondMax] = 0
        self.station.configuration.limits[.sessionsPerConnectionMax] = 0
    }

    /// The two sockets that answer.
    enum Side: CaseIterable {
        case requests
        case broadcast

        func endpoint(of running: RunningGateway) -> String {
            self == .requests ? running.endpoints.requests : running.endpoints.broadcast
        }

        var frameBytesMax: Int {
            self == .requests ? WireLimits.requestFrameBytesMax : WireLimits.broadcastFrameBytesMax
        }

        /// A request that is answered with `OK`.
        func goodRequest() throws -> [UInt8] {
            switch self {
            case .requests:
                ListenerRequest(
                    id: 1,
                    session: .random(),
                    kind: .join(ListenerRequest.Join(stream: try StreamID("radio1"), instance: 1, client: "test"))
                )
                .encoded()
            case .broadcast:
                BroadcastRequest(id: 1, kind: .list(BroadcastRequest.List(stream: try StreamID("radio1")))).encoded()
            }
        }

        func status(of reply: [UInt8]) throws -> StatusCode {
            switch self {
            case .requests: try ListenerReply(decoding: reply).refusal?.status ?? .ok
            case .broadcast: try BroadcastReply(decoding: reply).body.refusal?.status ?? .ok
            }
        }
    }

    /// The next reply to a peer.
    private func reply(to peer: RawPeer) async throws -> [UInt8] {
        try await peer.next("a reply") { frames in frames.count == 2 && frames[0].isEmpty ? frames[1] : nil }
    }

    @Test(arguments: Side.allCases)
    func `bytes that are no request are answered with a status, whatever they are`(side: Side) async throws {
        try await self.station.runByHand { running in
            let peer = try RawPeer(.dealer, in: running.network)
            try await peer.connect(side.endpoint(of: running))
            var generator = SeededGenerator(seed: 20_260_801)
            for _ in 0..<1_000 {
                let bytes = (0..<Int.random(in: 0...300, using: &generator))
                    .map { _ in UInt8.random(in: 0...255, using: &generator) }
                try await peer.send([[], bytes])
                let status = try side.status(of: await self.reply(to: peer))
                #expect(status == .invalid || status == .unsupported || status == .tooLarge)
            }
        }
    }

    @Test(arguments: Side.allCases)
    func `every prefix and many damaged copies of a request are answered`(side: Side) async throws {
        try await self.station.runByHand { running in
            let peer = try RawPeer(.dealer, in: running.network)
            try await peer.connect(side.endpoint(of: running))
            let good = try side.goodRequest()
            for length in 0..<good.count {
                try await peer.send([[], Array(good.prefix(length))])
                _ = try side.status(of: await self.reply(to: peer))
            }
            var generator = SeededGenerator(seed: 7)
            for _ in 0..<1_000 {
                var bytes = good
                for _ in 0..<3 {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^=
                        1 << Int.random(in: 0...7, using: &generator)
                }
                try await peer.send([[], bytes])
                _ = try side.status(of: await self.reply(to: peer))
            }
            try await peer.send([[], good])
            #expect(try side.status(of: await self.reply(to: peer)) == .ok)
        }
    }

    @Test(arguments: Side.allCases)
    func `a request for the other socket is refused with its own id, and told which one it is for`(
        side: Side
    ) async throws {
        try await self.station.run { running in
            let peer = try RawPeer(.dealer, in: running.network)
            try await peer.connect(side.endpoint(of: running))
            let key = BreakKey(stream: try StreamID("radio1"), id: try BreakID("b1"))
            switch side {
            case .requests:
                let kinds: [BroadcastRequest.Kind] = [
                    .cancel(key), .list(.init()), .punch(.init(key: key)), .end(.init(key: key)),
                    .update(.init(key: key, duration: .seconds(9))),
                ]
                for (index, kind) in kinds.enumerated() {
                    let id = UInt64(index + 100)
                    try await peer.send([[], BroadcastRequest(id: id, kind: kind).encoded()])
                    let reply = try ListenerReply(decoding: await self.reply(to: peer))
                    #expect(reply.requestID == id)
                    #expect(reply.refusal?.status == .invalid)
                    #expect(reply.refusal?.sentence.contains("This is the listeners' address (requests)") == true)
                    #expect(reply.refusal?.sentence.contains("(broadcast,") == true)
                }
            case .broadcast:
                let kinds: [ListenerRequest.Kind] = [
                    .getTime, .leave(key.stream), .getBatch(.init(key: key)),
                    .join(.init(stream: key.stream, instance: 1)),
                ]
                for (index, kind) in kinds.enumerated() {
                    let id = UInt64(index + 100)
                    try await peer.send([[], ListenerRequest(id: id, session: .random(), kind: kind).encoded()])
                    let reply = try BroadcastReply(decoding: await self.reply(to: peer))
                    #expect(reply.requestID == id)
                    #expect(reply.body.refusal?.status == .invalid)
                    #expect(
                        reply.body.refusal?.sentence.contains("This is the broadcasters' address (broadcast)") == true
                    )
                    #expect(reply.body.refusal?.sentence.contains("(requests,") == true)
                }
            }
            // The right one is answered all the same.
            try await peer.send([[], try side.goodRequest()])
            #expect(try side.status(of: await self.reply(to: peer)) == .ok)
        }
    }

    @Test(arguments: Side.allCases)
    func `messages without the envelope, or with too many frames, are counted and passed over`(
        side: Side
    ) async throws {
        try await self.station.runByHand { running in
            let peer = try RawPeer(.dealer, in: running.network)
            try await peer.connect(side.endpoint(of: running))
            let good = try side.goodRequest()
            let strange: [RawPeer.Frames] = [[good], [[1], good], [[]], [good, []]]
            for message in strange { try await peer.send(message) }
            for count in [3, 4, 60] {
                try await peer.send([[]] + RawPeer.Frames(repeating: good, count: count))
            }
            // The next good one is answered; nothing before it was.
            try await peer.send([[], good])
            #expect(try side.status(of: await self.reply(to: peer)) == .ok)
            #expect(await peer.takeAll().isEmpty)
            #expect(running.metrics.value(.framesRefused, .noEnvelope) == 4)
            #expect(running.metrics.value(.framesRefused, .tooManyFrames) == 3)
        }
    }

    @Test(arguments: Side.allCases)
    func `a frame of the limit is read, one byte more cuts that peer and no other`(side: Side) async throws {
        try await self.station.runByHand { running in
            let other = try await running.listener()
            let peer = try RawPeer(.dealer, in: running.network)
            try await peer.watchConnection()
            try await peer.connect(side.endpoint(of: running))

            try await peer.send([[], try side.goodRequest().padded(to: side.frameBytesMax)])
            #expect(try side.status(of: await self.reply(to: peer)) == .ok)
            #expect(await peer.disconnections == 0)

            try await peer.send([[], try side.goodRequest().padded(to: side.frameBytesMax + 1)])
            try await until("it is cut off") { await peer.disconnections == 1 }
            #expect(try await other.ask(.getTime).body == .done)
            // It may come again, and do better.
            try await peer.send([[], try side.goodRequest()])
            #expect(try side.status(of: await self.reply(to: peer)) == .ok)
            #expect(await peer.takeAll().isEmpty)
        }
    }

    @Test func `peers that send garbage without end hold up neither requests nor timers`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let broadcaster = try await running.broadcaster()
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for _ in 0..<3 {
                    tasks.addTask {
                        let peer = try RawPeer(.dealer, in: running.network, eager: false)
                        try await peer.connect(running.endpoints.requests)
                        while !Task.isCancelled {
                            for _ in 0..<1_000 { try await peer.send([[1], [2]]) }
                            await Task.yield()
                        }
                    }
                }
                try await until("garbage comes") { running.metrics.value(.framesRefused, .noEnvelope) > 1_000 }
                for index in 0..<5 {
                    try await broadcaster.publish("break-\(index)", start: nil)
                    #expect(try await listener.notice().breakID?.description == "break-\(index)")
                    #expect(try await listener.ask(.getTime).body == .done)
                }
                tasks.cancelAll()
            }
        }
    }

    @Test func `a listener that never reads is not read from, and has all its replies when it reads`() async throws {
        try await self.station.runByHand { running in
            // About 200 kB a batch: the kernel's buffers are full soon.
            let large = try (0..<50)
                .map { number in
                    var advertisement = try AdvertisementContent.madeUp("ad-\(number)", duration: .seconds(60))
                    advertisement.text = String(repeating: "x", count: WireLimits.textBytesMax)
                    advertisement.advertiser = String(repeating: "y", count: WireLimits.textBytesMax)
                    return advertisement
                }
            try await running.broadcaster().publish("large", duration: .seconds(3_000), advertisements: large)
            let listener = try await running.listener()
            let request = ListenerRequest(
                id: 1,
                session: .random(),
                kind: .getBatch(ListenerRequest.GetBatch(key: try .of("radio1", "large")))
            )
            let slow = try RawPeer(.dealer, in: running.network, eager: false) { socket in
                try socket.set(.receiveHighWaterMark, to: 1)
                try socket.set(.sendHighWaterMark, to: 0)
            }
            try await slow.connect(running.endpoints.requests)
            let count = 100
            for _ in 0..<count { try await slow.send([[], request.encoded()]) }
            try await until("replies wait") { running.metrics.value(.bytesWaiting) > 0 }
            for _ in 0..<10 { #expect(try await listener.batch(of: "large").advertisements.count == 50) }
            #expect(running.metrics.value(.listenerRequests, .batch) < count)
            // One reply beyond what is enough, and what is left of its requests.
            #expect(running.metrics.value(.bytesWaiting) < 1_048_576)

            var replies = 0
            try await until("all replies are there") {
                for _ in 0..<20 { await slow.readNow() }
                replies += await slow.takeAll().count
                return replies == count
            }
            #expect(running.metrics.value(.listenerRequests, .batch) == count + 10)
            #expect(running.metrics.value(.repliesDropped, .peerGone) == 0)
        }
    }

    @Test func `a listener that is gone when its answer is due is counted`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            try await running.broadcaster().publish("b", duration: .seconds(30))
            let batch = try await listener.batch(of: "b")
            let leaver = try await RawListener(
                of: listener.stream,
                at: running.endpoints,
                session: listener.session,
                in: running.network
            )
            try await until("the delivery is recorded") {
                try await !self.station.memory.acknowledgementGroups().isEmpty
            }
            self.station.log.set(.acknowledgements(0), .holding)
            // The listener has had the gateway's time; by another clock this may have happened in the future.
            _ = try await leaver.send(listener.acknowledgement(of: batch, of: "b"))
            try await until("it is accepted") { running.metrics.value(.listenerRequests, .acknowledge) == 1 }
            await leaver.close()
            try await until("it is gone") { running.metrics.value(.connectionsEnded, .requests) == 1 }
            self.station.log.set(.acknowledgements(0), .passing)
            try await until("its answer has nowhere to go") { running.metrics.value(.repliesDropped, .peerGone) == 1 }
            let books = try await running.books { $0.total.played == 2 }
            #expect(books.balances, "what it said counts")
        }
    }

    @Test func `a delivery of another session is refused`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let other = try await running.listener()
            try await running.broadcaster().publish("b", duration: .seconds(30))
            let batch = try await listener.batch(of: "b")
            let stolen = try await other.ask(other.acknowledgement(of: batch, of: "b"))
            #expect(stolen.refusal?.status == .deliveryInvalid)
        }
    }
}

extension [UInt8] {
    /// The same message with an unknown field, so that it has a given length. (Protocol Buffers, "Message Structure")
    func padded(to length: Int) -> [UInt8] {
        // Field 2,000, length-delimited: two bytes of tag, three of length.
        let content = length - self.count - 5
        precondition((0..<1 << 21).contains(content))
        let tag = 2_000 << 3 | 2
        return self + [UInt8(tag & 0x7F | 0x80), UInt8(tag >> 7)]
            + [UInt8(content & 0x7F | 0x80), UInt8(content >> 7 & 0x7F | 0x80), UInt8(content >> 14)]
            + [UInt8](repeating: 0, count: content)
    }
}
