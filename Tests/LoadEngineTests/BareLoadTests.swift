// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayTestKit
import LoadEngine
import Synchronization
import TestSupport
import Testing
import ZeroMQ

/// The measurements against bare libzmq sockets, some of which lose, repeat and reorder: what is wrong must be counted.
///
/// One at a time: they block the threads that other tests share.
@Suite(.serialized, .suiteLimit)
struct BareLoadTests {
    /// The state that the thread of a peer and its test share.
    private final class Peer: Sendable {
        let isDone = Atomic(false)
        let endpoints = Mutex<[String]?>(nil)
    }

    /// Runs a peer of two libzmq sockets on a thread, until the body is done.
    private func withPeer<Result: Sendable>(
        _ kinds: (SocketKind, SocketKind),
        _ pass: @escaping @Sendable (borrowing Socket, borrowing Socket) throws -> Void,
        _ body: @escaping @Sendable ([String]) throws -> Result
    ) async throws -> Result {
        let peer = Peer()
        async let passes: Void = onThread {
            let context = try Context()
            let first = try Socket(kinds.0, in: context)
            let second = try Socket(kinds.1, in: context)
            try first.set(.sendHighWaterMark, to: 0)
            try second.set(.sendHighWaterMark, to: 0)
            let endpoints = [try first.bind("tcp://127.0.0.1:*"), try second.bind("tcp://127.0.0.1:*")]
            peer.endpoints.withLock { $0 = endpoints }
            while !peer.isDone.load(ordering: .acquiring) {
                _ = try first.waitUntilReadable(for: .milliseconds(1))
                try pass(first, second)
            }
        }
        defer { peer.isDone.store(true, ordering: .releasing) }
        try await until("the peer is up") { peer.endpoints.withLock { $0 } != nil }
        let endpoints = peer.endpoints.withLock { $0 } ?? []
        let result = try await onThread { try body(endpoints) }
        peer.isDone.store(true, ordering: .releasing)
        try await passes
        return result
    }

    /// Counts what comes to a peer.
    private final class Counter: Sendable {
        private let count = Atomic(0)
        let held = Mutex<[UInt8]?>(nil)

        func next() -> Int { self.count.add(1, ordering: .relaxed).newValue }
    }

    /// Answers every request with `reply`.
    ///
    /// Measures for a second, or for four times as long again and again until a machine that is busy has got so far.
    private func measure(
        _ kind: RequestKind,
        answers: Int,
        _ reply: @escaping @Sendable (Int) -> [UInt8]?
    ) async throws -> RequestsResult {
        var duration = Duration.seconds(1)
        while true {
            let result = try await self.measure(kind, duration: duration, drain: waitMax, reply)
            if result.count >= answers { return result }
            duration *= 4
        }
    }

    /// Answers every request with `reply`, for so long, and waits so long for what is still due then.
    private func measure(
        _ kind: RequestKind,
        duration: Duration,
        drain: Duration,
        _ reply: @escaping @Sendable (Int) -> [UInt8]?
    ) async throws -> RequestsResult {
        let counter = Counter()
        return try await self.withPeer((.router, .pair)) { router, _ in
            var frames = FrameBuffer(framesMax: 4)
            while try router.receive(into: &frames) == .message {
                guard let body = reply(counter.next()) else { continue }
                _ = try router.send(frames.bytes(at: 0), more: true)
                _ = try router.send([], more: true)
                _ = try router.send(body)
            }
        } _: { endpoints in
            var settings = RequestsSettings(
                requests: try Endpoint(endpoints[0]),
                broadcast: nil,
                kind: kind,
                connections: 4
            )
            settings.isBare = true
            settings.warmUp = .milliseconds(20)
            settings.duration = duration
            settings.patience = waitMax
            settings.drain = drain
            return try measureRequests(settings)
        }
    }

    @Test(arguments: RequestKind.allCases)
    func `a bare peer is asked with the same bytes`(kind: RequestKind) async throws {
        let result = try await self.measure(kind, answers: 1) { _ in [UInt8](repeating: 1, count: 21) }
        #expect(result.count > 0 && result.lost == 0 && result.refused == [:])
        #expect(result.replyBytes == 21)
        #expect(result.requestBytes == result.exchange.request.count)
        #expect(result.requestBytes > 20)
    }

    @Test func `replies of another length count as lost`() async throws {
        // So many that some of them have the other length.
        let result = try await self.measure(.time, answers: 100) {
            [UInt8](repeating: 1, count: $0 % 10 == 0 ? 4 : 5)
        }
        #expect(result.lost > 0)
        #expect(result.count > result.lost)
    }

    @Test func `requests that are never answered count as lost`() async throws {
        // Each of the four connections gets no further than its first.
        let result = try await self.measure(.time, duration: .milliseconds(100), drain: .milliseconds(100)) { _ in nil }
        #expect(result.lost == 4)
    }

    @Test func `a run whose last fetch is refused for now ends when it is over`() async throws {
        let duration = Duration.milliseconds(100)
        let refused = Mutex<[(frames: [[UInt8]], due: ContinuousClock.Instant)]>([])
        let counter = Counter()
        let result = try await self.withPeer((.router, .router)) { requests, broadcasts in
            var frames = FrameBuffer(framesMax: 4)
            func answer(_ socket: borrowing Socket, _ identity: [UInt8], _ body: [UInt8]) throws {
                _ = try socket.send(identity, more: true)
                _ = try socket.send([], more: true)
                _ = try socket.send(body)
            }
            while try broadcasts.receive(into: &frames) == .message {
                let id = BroadcastRequest.requestID(of: Array(frames.bytes(at: frames.count - 1)))
                let reply = BroadcastReply(
                    requestID: id,
                    gatewayTime: Timestamp(microseconds: 1),
                    body: .list([], after: [])
                )
                try answer(broadcasts, Array(frames.bytes(at: 0)), reply.encoded())
            }
            while try requests.receive(into: &frames) == .message {
                let identity = Array(frames.bytes(at: 0))
                let request = try ListenerRequest(decoding: Array(frames.bytes(at: frames.count - 1)))
                let body: ListenerReply.Body
                switch request.kind {
                case .getBatch where counter.next() > 1:
                    // Only when the run drains already; one that comes earlier is asked for again.
                    let refusal = ListenerReply.Body.refused(Refusal(.unavailable, "The log is behind."))
                    let reply = ListenerReply(
                        requestID: request.id,
                        gatewayTime: Timestamp(microseconds: 1),
                        body: refusal
                    )
                    refused.withLock { $0.append(([identity, reply.encoded()], .now + duration * 3)) }
                    continue
                case .getBatch: body = .batch(.init(delivery: [UInt8](repeating: 7, count: 30), advertisements: []))
                default: body = .acknowledged(recorded: 3)
                }
                let reply = ListenerReply(requestID: request.id, gatewayTime: Timestamp(microseconds: 1), body: body)
                try answer(requests, identity, reply.encoded())
            }
            while let next = refused.withLock({ $0.first }), next.due <= .now {
                _ = refused.withLock { $0.removeFirst() }
                try answer(requests, next.frames[0], next.frames[1])
            }
        } _: { endpoints in
            var settings = RequestsSettings(
                requests: try Endpoint(endpoints[0]),
                broadcast: try Endpoint(endpoints[1]),
                kind: .acknowledge,
                connections: 1
            )
            settings.acknowledgementsPerSecondExpected = 1
            settings.warmUp = .zero
            settings.duration = duration
            settings.patience = waitMax
            settings.drain = waitMax
            return try measureRequests(settings)
        }
        #expect(result.deliveriesFetched == 0 && result.lost == 0)
    }

    /// Sends on what comes, as `spoil` makes it: so many notices never come, and those are waited for.
    ///
    /// What comes is late on a busy machine too: where more is missing, the wait was too short, and it is four times as long
    /// the next time.
    private func measure(
        _ pattern: NoticePattern,
        missing: Int,
        _ spoil: @escaping @Sendable (Int) -> Fate
    ) async throws -> NoticesResult {
        var patience = Duration.seconds(2)
        while true {
            let result = try await self.measure(pattern, roundPatience: patience, spoil)
            if result.lost <= missing || patience >= waitMax { return result }
            patience *= 4
        }
    }

    /// Sends on what comes, as `spoil` makes it.
    private func measure(
        _ pattern: NoticePattern,
        connections: Int = 10,
        roundPatience: Duration = waitMax,
        _ spoil: @escaping @Sendable (Int) -> Fate
    ) async throws -> NoticesResult {
        let counter = Counter()
        return try await self.withPeer((.router, .xpub)) { router, publisher in
            var frames = FrameBuffer(framesMax: 4)
            while try publisher.receive() != nil {}
            while try router.receive(into: &frames) == .message {
                let notice = frames.bytes(at: 2)
                // Probes go through as they are: they only tell the position.
                guard let head = NoticeHead(notice.span), head.kind != 5 else {
                    _ = try publisher.send(notice)
                    continue
                }
                switch spoil(counter.next()) {
                case .sent: _ = try publisher.send(notice)
                case .dropped: break
                case .twice:
                    _ = try publisher.send(notice)
                    _ = try publisher.send(notice)
                case .afterTheNext:
                    counter.held.withLock { $0 = notice }
                    continue
                }
                if let late = counter.held.withLock({ $0.take() }) { _ = try publisher.send(late) }
            }
        } _: { endpoints in
            var settings = NoticesSettings(
                notices: try Endpoint(endpoints[1]),
                publisher: .forwarder(try Endpoint(endpoints[0])),
                connections: connections,
                pattern: pattern,
                silence: .milliseconds(20)
            )
            settings.rounds = 3
            settings.burst = 50
            settings.patience = waitMax
            settings.roundPatience = roundPatience
            return try measureNotices(settings)
        }
    }

    enum Fate: Sendable {
        case sent
        case dropped
        case twice
        case afterTheNext
    }

    @Test func `single notices through a bare forwarder all arrive`() async throws {
        let result = try await self.measure(.single) { _ in .sent }
        #expect(result.lost == 0 && result.repeated == 0 && result.outOfOrder == 0)
        #expect(result.rounds.map(\.received) == [10, 10, 10])
        for round in result.rounds {
            let median = try #require(round.medianMicroseconds)
            let last = try #require(round.lastMicroseconds)
            #expect(median > 0 && last >= median)
        }
    }

    @Test func `a lost notice is counted for every subscriber`() async throws {
        // Of the three bursts with a break before each, one notice in the first.
        let result = try await self.measure(.burst, missing: 10) { $0 == 20 ? .dropped : .sent }
        #expect(result.lost == 10)
        #expect(result.repeated == 0 && result.outOfOrder == 0)
        #expect(result.rounds.map(\.received) == [490, 500, 500])
    }

    @Test func `a lost last notice is counted too`() async throws {
        let result = try await self.measure(.single, missing: 10) { $0 == 3 ? .dropped : .sent }
        #expect(result.lost == 10)
        #expect(result.rounds.map(\.received) == [10, 10, 0])
    }

    @Test func `repeated notices, and notices out of order, are counted`() async throws {
        let repeated = try await self.measure(.burst) { $0 == 20 ? .twice : .sent }
        #expect(repeated.repeated == 10 && repeated.lost == 0 && repeated.outOfOrder == 0)
        // The later one comes first: a gap, and then one that is behind.
        let reordered = try await self.measure(.burst, missing: 10) { $0 == 20 ? .afterTheNext : .sent }
        #expect(reordered.outOfOrder == 10)
    }

    @Test func `a connection that is closed before it is up is made again, and not without end`() async throws {
        let listener = try ClosingListener()
        async let accepting: Void = onThread { listener.run() }
        let endpoint = try Endpoint(listener.endpoint)
        let error = try await onThread {
            #expect(throws: LoadError.self) {
                var settings = RequestsSettings(requests: endpoint, broadcast: nil, kind: .time, connections: 3)
                settings.patience = waitMax
                _ = try measureRequests(settings)
            }
        }
        // Each of the three, and three more; the next loss ends the test.
        #expect(listener.stop() >= 4)
        try await accepting
        guard case .unavailable(let sentence) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(sentence.contains("closed the connection"))
    }

    @Test func `a refused connection is reported`() async throws {
        let closed = try HeldPort()
        let endpoint = try Endpoint(closed.endpoint)
        let error = try await onThread {
            #expect(throws: LoadError.self) {
                var settings = RequestsSettings(requests: endpoint, broadcast: nil, kind: .time, connections: 1)
                settings.patience = .seconds(1)
                _ = try measureRequests(settings)
            }
        }
        guard case .unavailable = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
    }
}
