// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayTestKit
import Testing
import ZeroMQ

/// Stock REQ sockets that tell answers apart (`ZMQ_REQ_CORRELATE`), and ask again without an answer (`ZMQ_REQ_RELAXED`).
@Suite(.suiteLimit)
struct CorrelationTests {
    var station = Station()

    init() {
        self.station.configuration.limits[.requestsPerSessionPerSecondMax] = 0
    }

    /// A REQ socket that takes an answer only to the request that it sent last.
    private func requester(_ running: RunningGateway, relaxed: Bool) throws -> RawPeer {
        try RawPeer(.req, in: running.network) { socket in
            try socket.set(.requestCorrelate, to: true)
            try socket.set(.requestRelaxed, to: relaxed)
        }
    }

    /// The next answer; libzmq has checked the envelope, and takes it away.
    private func answer(to peer: RawPeer) async throws -> [UInt8] {
        try await peer.next("an answer") { frames in frames.count == 1 ? frames[0] : nil }
    }

    private func ask(_ kind: ListenerRequest.Kind, _ id: UInt64, _ session: SessionID, _ peer: RawPeer) async throws
        -> ListenerReply
    {
        #expect(try await peer.send([ListenerRequest(id: id, session: session, kind: kind).encoded()]))
        let reply = try ListenerReply(decoding: await self.answer(to: peer))
        #expect(reply.requestID == id)
        return reply
    }

    @Test(arguments: [false, true])
    func `a listener joins, fetches, acknowledges and is refused`(relaxed: Bool) async throws {
        try await self.station.runByHand { running in
            try await running.broadcaster().publish("noon", start: nil)
            let peer = try self.requester(running, relaxed: relaxed)
            try await peer.connect(running.endpoints.requests)
            let session = SessionID.random()
            let key = try BreakKey.of("radio1", "noon")
            let join = ListenerRequest.Join(stream: key.stream, instance: 1, client: "test")
            guard case .joined = try await self.ask(.join(join), 1, session, peer).body else {
                Issue.record("not joined")
                return
            }
            let reply = try await self.ask(.getBatch(.init(key: key)), 2, session, peer)
            guard case .batch(let batch) = reply.body else {
                Issue.record("no batch: \(reply.body)")
                return
            }
            let outcomes = batch.advertisements.map {
                Outcome(advertisementID: $0.id, kind: .ignored, reason: .user, occurred: reply.gatewayTime)
            }
            // Answered once it is durable, and not at once.
            let acknowledge = ListenerRequest.Acknowledge(key: key, delivery: batch.delivery, outcomes: outcomes)
            #expect(
                try await self.ask(.acknowledge(acknowledge), 3, session, peer).body
                    == .acknowledged(recorded: outcomes.count)
            )
            let unknown = try BreakKey.of("radio1", "unknown")
            #expect(try await self.ask(.getBatch(.init(key: unknown)), 4, session, peer).refusal != nil)
            // Nothing is pushed to a REQ.
            var pushed = join
            pushed.push = true
            #expect(try await self.ask(.join(pushed), 5, session, peer).refusal?.status == .invalid)
            #expect(try await self.ask(.leave(key.stream), 6, session, peer).body == .done)
            #expect(running.metrics.value(.framesRefused, .tooManyFrames) == 0)
        }
    }

    @Test(arguments: [false, true])
    func `a broadcaster publishes, lists and is refused`(relaxed: Bool) async throws {
        try await self.station.runByHand { running in
            let peer = try self.requester(running, relaxed: relaxed)
            try await peer.connect(running.endpoints.broadcast)
            let key = try BreakKey.of("radio1", "noon")
            let kinds: [BroadcastRequest.Kind] = [
                // Answered once it is durable.
                try .publication(of: key),
                .list(BroadcastRequest.List(stream: key.stream)),
                // Another break under the same name.
                try .publication(of: key, duration: .seconds(99)),
            ]
            for (index, kind) in kinds.enumerated() {
                let id = UInt64(index + 1)
                #expect(try await peer.send([BroadcastRequest(id: id, kind: kind).encoded()]))
                let reply = try BroadcastReply(decoding: await self.answer(to: peer))
                #expect(reply.requestID == id)
                #expect((reply.body.refusal == nil) == (id < 3), "\(reply.body)")
            }
            // Bytes that are no request are answered too.
            #expect(try await peer.send([[0xFF]]))
            #expect(try BroadcastReply(decoding: await self.answer(to: peer)).body.refusal != nil)
            #expect(running.metrics.value(.framesRefused, .tooManyFrames) == 0)
        }
    }

    @Test func `a repeated request gets its own answer, and no other`() async throws {
        try await self.station.runByHand { running in
            for endpoint in [running.endpoints.requests, running.endpoints.broadcast] {
                let isListener = endpoint == running.endpoints.requests
                let peer = try self.requester(running, relaxed: true)
                try await peer.connect(endpoint)
                let session = SessionID.random()
                let list = BroadcastRequest.Kind.list(BroadcastRequest.List(stream: try StreamID("radio1")))
                for id in UInt64(1)...5 {
                    let request =
                        isListener
                        ? ListenerRequest(id: id, session: session, kind: .getTime).encoded()
                        : BroadcastRequest(id: id, kind: list).encoded()
                    #expect(try await peer.send([request]))
                }
                let last = try await peer.next("the answer to the last request") { frames -> UInt64? in
                    guard frames.count == 1 else { return nil }
                    let id =
                        isListener
                        ? try? ListenerReply(decoding: frames[0]).requestID
                        : try? BroadcastReply(decoding: frames[0]).requestID
                    return id == 5 ? id : nil
                }
                #expect(last == 5)
            }
        }
    }

    @Test(arguments: [[], [1, 2, 3], [1, 2, 3, 4, 5]] as [[UInt8]])
    func `an envelope of another length is refused and counted, on both sockets`(envelope: [UInt8]) async throws {
        try await self.station.runByHand { running in
            for endpoint in [running.endpoints.requests, running.endpoints.broadcast] {
                let peer = try RawPeer(.dealer, in: running.network)
                try await peer.connect(endpoint)
                let four: [UInt8] = [1, 2, 3, 4]
                try await peer.send([envelope, [], [0xFF]])
                try await peer.send([four, four, [], [0xFF]])
                // It is echoed where it is one.
                try await peer.send([four, [], [0xFF]])
                let frames = try await peer.next("an answer") { $0 }
                #expect(frames.count == 3 && frames[0] == four && frames[1] == [])
                #expect(await peer.takeAll().isEmpty)
            }
            #expect(running.metrics.value(.framesRefused, .tooManyFrames) == 4)
        }
    }
}
