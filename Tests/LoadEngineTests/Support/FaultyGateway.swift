// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayTestKit
import LoadEngine
import Synchronization
import TestSupport
import ZeroMQ

/// A small gateway on real sockets that does what a test says, right or wrong.
struct FaultyGateway: Sendable {
    enum Fate: Sendable {
        case sent
        case dropped
        case twice
        /// After the next one.
        case late
    }

    /// The fate of the notice with this number, counted from 1.
    var notices: @Sendable (Int) -> Fate = { _ in .sent }
    /// Whether heads tell of every notice.
    var hidesHead = false
    /// Whether it sends notices on the connection of the join that asks for it.
    var pushes = false
    /// Whether batches hold what was published.
    var changesContent = false
    /// The status with which the gateway refuses acknowledgements.
    var refusal: StatusCode?
    /// Whether acknowledgements are recorded in full.
    var forgetsOutcomes = false

    private final class Shared: Sendable {
        let isDone = Atomic(false)
        let endpoints = Mutex<RunSettings.Gateway?>(nil)
    }

    /// Runs it on a thread, until the body is done.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (RunSettings.Gateway) throws -> Result
    ) async throws -> Result {
        let shared = Shared()
        async let served: Void = onThread { try self.serve(shared) }
        defer { shared.isDone.store(true, ordering: .releasing) }
        try await until("the gateway is up") { shared.endpoints.withLock { $0 } != nil }
        guard let endpoints = shared.endpoints.withLock({ $0 }) else { throw PeerError.closed }
        let result = try await onThread { try body(endpoints) }
        shared.isDone.store(true, ordering: .releasing)
        try await served
        return result
    }

    private func serve(_ shared: Shared) throws {
        let context = try Context()
        let publisher = try Socket(.xpub, in: context)
        let requests = try Socket(.router, in: context)
        let broadcast = try Socket(.router, in: context)
        try publisher.set(.sendHighWaterMark, to: 0)
        try requests.set(.sendHighWaterMark, to: 0)
        let endpoints = RunSettings.Gateway(
            notices: try publisher.bind("tcp://127.0.0.1:*"),
            requests: try requests.bind("tcp://127.0.0.1:*"),
            broadcast: try broadcast.bind("tcp://127.0.0.1:*")
        )
        var gateway = ValueGateway(stream: try StreamID("radio1"))
        gateway.pushes = self.pushes
        var pushed: [[UInt8]] = []
        /// To subscribers and to the connections that joined for it.
        func tell(_ frame: [UInt8]) throws {
            _ = try publisher.send(frame)
            for peer in pushed {
                // A closed one does not matter.
                guard try requests.send(peer, more: true) == .sent else { continue }
                _ = try requests.send(frame)
            }
        }
        var frames = FrameBuffer(framesMax: 4)
        var held: [UInt8]?
        var number = 0
        var rounds = 0
        shared.endpoints.withLock { $0 = endpoints }
        while !shared.isDone.load(ordering: .acquiring) {
            _ = try requests.waitUntilReadable(for: .milliseconds(2))
            let now = Microseconds(LoopTime.now().nanoseconds / 1_000)
            while try publisher.receive() != nil {}
            while try requests.receive(into: &frames) == .message {
                let answer = try self.answer(frames.bytes(at: 2), of: &gateway, now: now)
                try Self.reply(answer, to: frames, on: requests)
                if case .joined(let joined) = try ListenerReply(decoding: answer).body, joined.pushed,
                    !pushed.contains(frames.bytes(at: 0))
                {
                    pushed.append(frames.bytes(at: 0))
                }
            }
            while try broadcast.receive(into: &frames) == .message {
                let (answer, notice) = try self.take(frames.bytes(at: 2), to: &gateway, now: now)
                try Self.reply(answer, to: frames, on: broadcast)
                guard let notice else { continue }
                number += 1
                switch self.notices(number) {
                case .sent: try tell(notice)
                case .dropped: break
                case .twice:
                    try tell(notice)
                    try tell(notice)
                case .late:
                    held = notice
                    continue
                }
                if let late = held.take() { try tell(late) }
            }
            rounds += 1
            if rounds.isMultiple(of: 5) { _ = try publisher.send(gateway.tick) }
            if rounds.isMultiple(of: 50), !self.hidesHead { try tell(gateway.headFrame(now: now)) }
        }
    }

    private static func reply(_ answer: [UInt8], to frames: borrowing FrameBuffer, on router: borrowing Socket) throws {
        _ = try router.send(frames.bytes(at: 0), more: true)
        _ = try router.send([UInt8](), more: true)
        _ = try router.send(answer)
    }

    private func answer(_ frame: [UInt8], of gateway: inout ValueGateway, now: Microseconds) throws -> [UInt8] {
        if case .acknowledge(let acknowledge) = try ListenerRequest(decoding: frame).kind {
            if let refusal { return gateway.refusal(of: frame, refusal, now: now) }
            if self.forgetsOutcomes {
                return ListenerReply(
                    requestID: ListenerRequest.requestID(of: frame),
                    gatewayTime: gateway.time(now),
                    body: .acknowledged(recorded: acknowledge.outcomes.count - 1)
                )
                .encoded()
            }
        }
        return try gateway.answer(frame, now: now)
    }

    /// Publishes what a broadcaster sends.
    private func take(
        _ frame: [UInt8],
        to gateway: inout ValueGateway,
        now: Microseconds
    ) throws -> (answer: [UInt8], notice: [UInt8]?) {
        let request = try BroadcastRequest(decoding: frame)
        guard case .publish(let publish) = request.kind, let start = publish.start else {
            let refusal = Refusal(.unsupported, "Only breaks with a start.")
            let reply = BroadcastReply(requestID: request.id, gatewayTime: gateway.time(now), body: .refused(refusal))
            return (reply.encoded(), nil)
        }
        let lead: Duration =
            switch start {
            case .at(let instant): instant - gateway.time(now)
            case .after(let lead): lead
            case .now: .zero
            }
        var ads = publish.advertisements
        if self.changesContent { ads[ads.count - 1].title += "?" }
        let notice = gateway.announce(
            publish.key.id,
            ads: ads,
            window: 20_000,
            lead: lead.inMicroseconds,
            now: now
        )
        let info = BreakInfo(
            key: publish.key,
            state: .announced,
            start: gateway.time(now) + lead,
            duration: publish.duration,
            advertisementCount: ads.count,
            preStream: false,
            exact: false,
            position: gateway.head,
            announce: nil,
            end: nil,
            holdUntil: nil,
            published: gateway.time(now),
            firstAdvertisementTitle: ""
        )
        let reply = BroadcastReply(requestID: request.id, gatewayTime: gateway.time(now), body: .break(info))
        return (reply.encoded(), notice)
    }
}
