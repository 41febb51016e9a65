// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayTestKit
import Logging
import Synchronization
import TestSupport
import Testing
import ZeroMQ

/// How many lines peers can cause.
@Suite(.suiteLimit)
struct LogLimiterTests {
    @Test func `so many at once as the limit says, and not one more`() {
        var limiter = LogLimiter(perSecond: 10, atOnce: 50)
        for _ in 0..<50 { #expect(limiter.decide(at: 0) == .log(leftOut: 0)) }
        #expect(limiter.decide(at: 0) == .leaveOut)
        #expect(limiter.decide(at: 99_999) == .leaveOut)
        #expect(limiter.decide(at: 100_000) == .log(leftOut: 2))
        #expect(limiter.decide(at: 100_000) == .leaveOut)
    }

    @Test func `so many a second as the limit says, and not one more`() {
        var limiter = LogLimiter(perSecond: 10, atOnce: 1)
        #expect(limiter.decide(at: 5) == .log(leftOut: 0))
        var logged = 0
        for now in stride(from: 1_000 as Int64, through: 10_000_000, by: 1_000)
        where limiter.decide(at: now + 5) != .leaveOut {
            logged += 1
        }
        #expect(logged == 100)
    }

    @Test func `after a pause the room is full again, and not fuller`() {
        var limiter = LogLimiter(perSecond: 10, atOnce: 3)
        for _ in 0..<4 { _ = limiter.decide(at: 0) }
        #expect(limiter.decide(at: 1_000_000_000_000) == .log(leftOut: 1))
        #expect(limiter.decide(at: 1_000_000_000_000) == .log(leftOut: 0))
        #expect(limiter.decide(at: 1_000_000_000_000) == .log(leftOut: 0))
        #expect(limiter.decide(at: 1_000_000_000_000) == .leaveOut)
    }

    @Test func `the last dropped lines are reported once there is capacity`() {
        var limiter = LogLimiter(perSecond: 10, atOnce: 1)
        #expect(limiter.takeLeftOut(at: 0) == nil)
        _ = limiter.decide(at: 0)
        for _ in 0..<7 { #expect(limiter.decide(at: 0) == .leaveOut) }
        #expect(limiter.takeLeftOut(at: 99_999) == nil)
        #expect(limiter.takeLeftOut(at: 100_000) == 7)
        #expect(limiter.takeLeftOut(at: 10_000_000) == nil)
    }

    @Test func `each kind has its own room, and what is for developers has no limit`() {
        let capture = LogCapture()
        let metrics = MetricRegistry()
        let peers = PeerLog(metrics: metrics, logger: capture.logger, elapsed: { 0 })
        for _ in 0...LogLimits.linesAtOnceMax { peers.log(.frames, .notice, "frame", [:]) }
        peers.log(.refusals, .notice, "refusal", [:])
        for _ in 0...LogLimits.linesAtOnceMax { peers.log(.frames, .debug, "debug", [:]) }
        let messages = capture.messages()
        #expect(messages.filter { $0 == "frame" }.count == LogLimits.linesAtOnceMax)
        #expect(messages.filter { $0 == "refusal" }.count == 1)
        #expect(messages.filter { $0 == "debug" }.count == LogLimits.linesAtOnceMax + 1)
        #expect(metrics.value(.logLinesSuppressed, .frames) == 1)
        #expect(metrics.value(.logLinesSuppressed, .refusals) == 0)
    }

    @Test func `nothing is prepared for a line below the level`() {
        let capture = LogCapture()
        var logger = capture.logger
        logger.logLevel = .warning
        let peers = PeerLog(metrics: MetricRegistry(), logger: logger, elapsed: { 0 })
        func prepared() -> Logger.Metadata {
            Issue.record("it was prepared")
            return [:]
        }
        peers.log(.frames, .notice, "frame", prepared())
        #expect(capture.entries.isEmpty)
    }
}

/// The log lines about peers' requests.
@Suite(.suiteLimit)
struct RequestLogTests {
    var station = Station()

    private func entry(_ running: RunningGateway, _ message: String) -> LogCapture.Entry? {
        running.logs.entries.last { $0.message == message }
    }

    @Test func `a broadcaster's request is followed by its id from the answer to the log`() async throws {
        try await self.station.run { running in
            let peer = try RawPeer(.dealer, in: running.network)
            try await peer.connect(running.endpoints.broadcast)
            func ask(_ id: UInt64, _ kind: BroadcastRequest.Kind) async throws -> BroadcastReply {
                try await peer.send([[], BroadcastRequest(id: id, kind: kind).encoded()])
                return try await peer.next("a reply") { frames in
                    try? frames.count == 2 ? BroadcastReply(decoding: frames[1]) : nil
                }
            }
            // Cued, so that its state is the same whenever it is looked at.
            let publication = try BroadcastRequest.Kind.publication(of: .of("radio1", "b"), start: nil)
            _ = try await ask(9_007_199_254_740_993, publication)
            let changed = try #require(self.entry(running, "a broadcaster changed a break"))
            #expect(changed.level == .info)
            #expect(
                changed.metadata == [
                    "requestId": "9007199254740993", "kind": "publish", "stream": "radio1", "break": "b",
                    "state": "cued",
                ]
            )
            _ = try await ask(2, publication)
            let same = try #require(self.entry(running, "a broadcaster's request had no effect"))
            #expect(same.level == .info)
            #expect(same.metadata["requestId"] == "2")

            let reply = try await ask(3, .cancel(.of("radio1", "other")))
            let refused = try #require(self.entry(running, "a broadcaster's request was refused"))
            #expect(refused.level == .notice)
            #expect(refused.metadata["requestId"] == "3")
            #expect(refused.metadata["status"] == "NOT_FOUND")
            #expect(refused.metadata["sentence"] == "\(try #require(reply.body.refusal).sentence)")
            #expect(refused.metadata["break"] == "other")

            _ = try await ask(4, .list(BroadcastRequest.List()))
            #expect(self.entry(running, "a broadcaster asked for a list")?.level == .debug)
        }
    }

    @Test func `a listener's request is told to those only who ask for it, and one for another socket always`()
        async throws
    {
        try await self.station.run { running in
            let listener = try await running.listener()
            _ = try await listener.join()
            let answered = try #require(self.entry(running, "a listener's request was answered"))
            #expect(answered.level == .trace)
            #expect(answered.metadata["kind"] == "join")
            let reply = try await listener.ask(
                .getBatch(ListenerRequest.GetBatch(key: .of("radio1", "none")))
            )
            let refused = try #require(self.entry(running, "a listener's request was refused"))
            #expect(refused.level == .debug)
            #expect(refused.metadata["requestId"] == "\(reply.requestID)")
            #expect(refused.metadata["status"] == "\(try #require(reply.refusal).status.name)")

            let peer = try RawPeer(.dealer, in: running.network)
            try await peer.connect(running.endpoints.requests)
            try await peer.send([[], BroadcastRequest(id: 77, kind: .cancel(.of("radio1", "b"))).encoded()])
            try await until("it is logged") {
                self.entry(running, "a message on the listeners' socket was refused") != nil
            }
            let misdirected = try #require(self.entry(running, "a message on the listeners' socket was refused"))
            #expect(misdirected.level == .notice)
            #expect(misdirected.metadata["requestId"] == "77")
        }
    }

    /// Ways to flood a gateway.
    enum Flood: CaseIterable {
        case frames
        case unreadable
        case refusals

        var kind: (MetricLabel, Metric, message: String) {
            switch self {
            case .frames: (.frames, .framesRefused, "a message is no request, and has no answer")
            case .unreadable: (.unreadable, .listenerRequests, "a message on the listeners' socket was refused")
            case .refusals: (.refusals, .broadcastRequests, "a broadcaster's request was refused")
            }
        }

        var label: MetricLabel { self == .frames ? .noEnvelope : self == .unreadable ? .undecodable : .cancel }
    }

    @Test(arguments: Flood.allCases)
    func `a flood is a bounded number of lines, and every one that was left out is told`(flood: Flood) async throws {
        let count = 5_000
        try await self.station.run { running in
            let began = ContinuousClock.now
            let peer = try RawPeer(.dealer, in: running.network) { socket in
                // libzmq keeps them all, however late its thread has its turn.
                try socket.set(.sendHighWaterMark, to: 0)
            }
            try await peer.connect(flood == .refusals ? running.endpoints.broadcast : running.endpoints.requests)
            for _ in 0..<count {
                switch flood {
                case .frames: try await peer.send([[1, 2, 3]])
                case .unreadable: try await peer.send([[], [0xFF]])
                case .refusals:
                    try await peer.send([[], BroadcastRequest(id: 1, kind: .cancel(.of("s", "none"))).encoded()])
                }
            }
            let (kind, metric, message) = flood.kind
            try await until("all came") { running.metrics.value(metric, flood.label) == count }
            func lines() -> Int { running.logs.entries.filter { $0.message == message }.count }
            func told() -> Int {
                running.logs.entries
                    .filter { $0.message.hasPrefix("lines were left out") }
                    .compactMap { Int($0.metadata["count"]?.description ?? "") }
                    .reduce(0, +)
            }
            // The rest is told with no further line.
            try await until("all are told of") { lines() + told() == count }
            let seconds = Int((ContinuousClock.now - began).inSeconds.rounded(.up))
            #expect(lines() <= LogLimits.linesAtOnceMax + seconds * LogLimits.linesPerSecondMax)
            #expect(lines() >= LogLimits.linesAtOnceMax)
            #expect(running.metrics.value(.logLinesSuppressed, kind) == told())
        }
    }
}
