// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing
import ZeroMQ

/// The rights of peers at the socket of notices, and the connections below.
@Suite(.suiteLimit)
struct ConnectionTests {
    let station = Station()

    /// Publishes a break and makes sure that a listener hears of it.
    private func checkNotices(_ id: String, _ listener: RawListener, _ running: RunningGateway) async throws {
        try await running.broadcaster().publish(id, start: nil)
        #expect(try await listener.notice().breakID?.description == id)
    }

    @Test func `strange subscriptions match nothing, are counted, and notices go on`() async throws {
        var station = self.station
        // Its last subscription is one, and would be told the position of that stream.
        station.configuration.headInterval = waitMax
        try await station.runByHand { running in
            let listener = try await running.listener()
            let peer = try RawPeer(.sub, in: running.network)
            try await peer.connect(running.endpoints.notices)
            var generator = SeededGenerator(seed: 4)
            var topics: [[UInt8]] = [[], [0], [0, 0], Array("radio".utf8), Array("radio1".utf8), Array("~".utf8)]
            topics.append([UInt8](repeating: UInt8(ascii: "a"), count: WireLimits.streamIDBytesMax + 1) + [0])
            for length in 1...200 {
                topics.append((0..<length).map { _ in UInt8.random(in: 128...255, using: &generator) })
            }
            for topic in topics { try await peer.subscribe(topic) }
            try await until("they are counted") {
                running.metrics.value(.framesRefused, .unknownTopic) == topics.count
            }
            // The longest name of a stream is one.
            try await peer.subscribe([UInt8](repeating: UInt8(ascii: "a"), count: WireLimits.streamIDBytesMax) + [0])
            try await until("it counts") { running.metrics.value(.subscribedStreams) == 2 }
            try await self.checkNotices("one", listener, running)
            for topic in topics { try await peer.unsubscribe(topic) }
            try await self.checkNotices("two", listener, running)
            #expect(await peer.takeAll().isEmpty, "nothing it asked for was ever said")
            await peer.close()
            try await self.checkNotices("three", listener, running)
            try await until("only the listener's stream counts") { running.metrics.value(.subscribedStreams) == 1 }
        }
    }

    @Test func `as many subscriptions as may be are taken, one more ends that connection and no other`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let peer = try RawPeer(.sub, in: running.network)
            try await peer.watchConnection()
            try await peer.connect(running.endpoints.notices)
            for number in 1...16 { try await peer.subscribe(Array("many\(number)".utf8) + [0]) }
            try await until("all count") { running.metrics.value(.subscribedStreams) == 17 }
            // Twice the same is one.
            try await peer.subscribe(Array("many1".utf8) + [0])
            try await running.broadcaster().publish("sixteenth", of: "many16", start: nil)
            #expect(try await peer.next("the notice") { $0.notice }.breakID?.description == "sixteenth")
            #expect(await peer.disconnections == 0)
            try await peer.subscribe(Array("many17".utf8) + [0])
            try await until("it is cut off") { await peer.disconnections >= 1 }
            #expect(running.metrics.value(.limitsHit, .limit(.subscriptionsPerConnectionMax)) >= 1)
            await peer.close()
            try await self.checkNotices("one", listener, running)
        }
    }

    @Test func `messages to the socket of notices that are no subscriptions are counted`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let peer = try RawPeer(.xsub, in: running.network)
            try await peer.connect(running.endpoints.notices)
            // An XSUB socket sends what it is given; only 0 and 1 as the first byte mean something.
            let refused: [RawPeer.Frames] = [[[]], [[2]], [Array("hello".utf8)], [[9] + Array("radio1\0".utf8)]]
            for message in refused { try await peer.send(message) }
            try await until("they are counted") {
                running.metrics.value(.framesRefused, .notSubscription) == refused.count
            }
            let long: [RawPeer.Frames] = [[[3], [4]], [[5], [6], [7]]]
            for message in long { try await peer.send(message) }
            try await until("they are counted, too") {
                running.metrics.value(.framesRefused, .tooManyFrames)
                    + running.metrics.value(.framesRefused, .notSubscription) >= refused.count + 2
            }
            try await self.checkNotices("one", listener, running)
        }
    }

    @Test func `a subscription of the limit is taken, a longer one cuts that peer and no other`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let peer = try RawPeer(.xsub, in: running.network)
            try await peer.watchConnection()
            try await peer.connect(running.endpoints.notices)
            // Who subscribes to no stream at all is closed after a while.
            try await peer.send([[1] + Array("radio1".utf8) + [0]])
            try await peer.send([[1] + [UInt8](repeating: 0x41, count: 4_095)])
            try await self.checkNotices("one", listener, running)
            #expect(await peer.disconnections == 0)
            try await peer.send([[2] + [UInt8](repeating: 0x41, count: 4_096)])
            // libzmq connects again by itself, and may be cut off again before anybody looks.
            try await until("it is cut off") { await peer.disconnections > 0 }
            try await self.checkNotices("two", listener, running)
        }
    }

    @Test func `connections are counted on each socket, up and down`() async throws {
        try await self.station.runByHand { running in
            let metrics = running.metrics
            let listeners = [try await running.listener(), try await running.listener(of: "radio2")]
            let broadcaster = try await running.broadcaster()
            _ = try await broadcaster.ask(.list(BroadcastRequest.List()))
            for listener in listeners { _ = try await listener.join() }
            try await until("they count") {
                metrics.value(.connections, .notices) == 2 && metrics.value(.connections, .requests) == 2
                    && metrics.value(.connections, .broadcast) == 1
            }
            for listener in listeners { await listener.close() }
            await broadcaster.requests.peer.close()
            try await until("none counts") {
                [MetricLabel.notices, .requests, .broadcast].allSatisfy { metrics.value(.connections, $0) == 0 }
            }
        }
    }

    @Test func `a connection that does not speak the protocol is closed and does not count any more`() async throws {
        var station = self.station
        // libzmq waits until then for more of a greeting that is none.
        station.configuration.handshakeTimeout = .seconds(1)
        try await station.runByHand { running in
            let endpoints = running.endpoints
            for (endpoint, label) in [
                (endpoints.notices, MetricLabel.notices), (endpoints.requests, .requests),
                (endpoints.broadcast, .broadcast),
            ] {
                let peer = try TCPPeer(connectedTo: endpoint)
                try peer.send(
                    Array("GET / HTTP/1.1\r\nHost: example\r\nUser-Agent: a-browser-that-is-lost\r\n\r\n".utf8)
                )
                try await peer.waitForEnd()
                try await until("it does not count") { running.metrics.value(.connections, label) == 0 }
            }
        }
    }

    @Test func `a connection that says nothing at all is closed after its time, and does not count`() async throws {
        var station = self.station
        station.configuration.handshakeTimeout = .seconds(1)
        try await station.runByHand { running in
            let endpoints = running.endpoints
            var silent = try TCPPeer(connectedTo: endpoints.requests)
            try await until("it counts") {
                // It may be over before anybody looks.
                if silent.receive() == .end { silent = try TCPPeer(connectedTo: endpoints.requests) }
                return running.metrics.value(.connections, .requests) == 1
            }
            try await silent.waitForEnd()
            try await until("it does not count") { running.metrics.value(.connections, .requests) == 0 }
        }
    }

    @Test func `a frame that announces more than may come is cut off before it comes`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let peer = try TCPPeer(connectedTo: running.endpoints.requests)
            try peer.send(TCPPeer.handshake)
            // A message frame of 2^62 bytes. (ZMTP 3.0, "message-long")
            try peer.send([0x02, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3])
            try await peer.waitForEnd()
            #expect(try await listener.ask(.getTime).body == .done)
        }
    }
}

extension RawPeer.Frames {
    /// The notice, where it is one.
    fileprivate var notice: Notice? {
        guard case .notice(let notice, _)? = try? NoticeFrame(decoding: self[0]), notice.kind != .head else {
            return nil
        }
        return notice
    }
}
