// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Synchronization
import ZeroMQ

/// A gateway made of bare sockets, which says what it saw in which order.
final class RawGateway: Sendable {
    enum Sight: Hashable, Sendable {
        case subscribed(String)
        case unsubscribed(String)
        case asked(ListenerRequest.Kind)
    }

    /// The treatment of a join that asks for notices on its connection.
    enum Push: CaseIterable, Sendable {
        /// They follow the answer.
        case pushes
        /// The answer says nothing of them.
        case ignores
        /// It is refused.
        case refuses
    }

    let notices: String
    let requests: String
    private let thread: PollingThread
    private let desk: Desk
    private let sights: AsyncStream<Sight>.Continuation
    /// The observations, in order; for one reader.
    let seen: AsyncStream<Sight>

    /// Binds to ports that are held for it, by default to those that the kernel likes.
    init(
        notices: HeldPort? = nil,
        requests: HeldPort? = nil,
        ads: [AdvertisementContent] = [],
        answers: Bool = true,
        push: Push = .pushes
    ) async throws {
        (self.seen, self.sights) = AsyncStream.makeStream(of: Sight.self, bufferingPolicy: .bufferingOldest(10_000))
        self.thread = try PollingThread(name: "raw-gateway")
        self.desk = Desk(on: self.thread, ads: ads, answers: answers, push: push, sights: self.sights)
        (self.notices, self.requests) = try await self.desk.open(
            notices: notices?.endpoint ?? "tcp://127.0.0.1:*",
            requests: requests?.endpoint ?? "tcp://127.0.0.1:*"
        )
    }

    /// Sends one message as it is, to each peer that subscribed or joined.
    func publish(_ frames: [[UInt8]]) async { await self.desk.publish(frames) }

    func publish(_ notice: Notice) async {
        await self.publish([NoticeFrame.notice(notice, stream: testStream).encoded()])
    }

    /// Closes both sockets, as a process does that dies.
    func die() async {
        await self.desk.close()
        await self.thread.stop()
        self.sights.finish()
    }
}

let testStream: StreamID = {
    guard let stream = try? StreamID("radio1") else { preconditionFailure("radio1 is a stream id") }
    return stream
}()

func wallClock() -> Timestamp {
    // Any clock will do, as long as it is the gateway's only one.
    Timestamp(microseconds: 1_750_000_000_000_000) + started.duration(to: .now)
}

private let started = ContinuousClock.now

private final class Pair {
    let notices: Socket
    let requests: Socket

    init(notices: consuming Socket, requests: consuming Socket) {
        self.notices = notices
        self.requests = requests
    }
}

private actor Desk {
    private let thread: PollingThread
    private let ads: [AdvertisementContent]
    private let answers: Bool
    private let push: RawGateway.Push
    private let sights: AsyncStream<RawGateway.Sight>.Continuation
    private let context: Context?
    private let instance = UInt64.random(in: 1...UInt64.max)
    private var sockets: Pair?
    /// Those who get notices behind the answer to their join.
    private var pushed: [RoutingID] = []
    private var frames = FrameBuffer(framesMax: 3)
    private var counter: UInt64 = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe self.thread.asUnownedSerialExecutor() }

    init(
        on thread: PollingThread,
        ads: [AdvertisementContent],
        answers: Bool,
        push: RawGateway.Push,
        sights: AsyncStream<RawGateway.Sight>.Continuation
    ) {
        self.thread = thread
        self.ads = ads
        self.answers = answers
        self.push = push
        self.sights = sights
        self.context = try? Context()
    }

    isolated deinit {}

    func open(notices: String, requests: String) async throws -> (String, String) {
        guard let context else { throw ZeroMQError(operation: "Context", code: .terminated, detail: nil) }
        let sockets = Pair(notices: try Socket(.xpub, in: context), requests: try Socket(.router, in: context))
        self.sockets = sockets
        let bound = (
            try await self.bind(notices) { (endpoint) throws(ZeroMQError) in try sockets.notices.bind(endpoint) },
            try await self.bind(requests) { (endpoint) throws(ZeroMQError) in try sockets.requests.bind(endpoint) }
        )
        self.thread.attach(sockets.notices, for: self) { $0.readSubscriptions() }
        self.thread.attach(sockets.requests, for: self) { $0.readRequests() }
        _ = self.thread.tick(every: .milliseconds(10), for: self) { $0.tick() }
        return bound
    }

    /// Binds, and waits for a gateway that has just ended there: libzmq closes its listener in the background.
    private func bind(_ endpoint: String, _ bind: (String) throws(ZeroMQError) -> String) async throws -> String {
        while true {
            do throws(ZeroMQError) {
                return try bind(endpoint)
            } catch {
                guard error.code == .addressInUse else { throw error }
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    func close() { self.sockets = nil }

    func publish(_ messageFrames: [[UInt8]]) {
        self.publishToSubscribers(messageFrames)
        for peer in self.pushed {
            guard let sockets = self.sockets else { return }
            _ = try? peer.withBytes { (id) throws(ZeroMQError) in try sockets.requests.send(id, more: true) }
            for (index, frame) in messageFrames.enumerated() {
                _ = try? sockets.requests.send(frame, more: index < messageFrames.count - 1)
            }
        }
    }

    private func publishToSubscribers(_ messageFrames: [[UInt8]]) {
        for (index, frame) in messageFrames.enumerated() {
            _ = try? self.sockets?.notices.send(frame, more: index < messageFrames.count - 1)
        }
    }

    private func tick() {
        self.readSubscriptions()
        self.counter += 1
        self.publishToSubscribers([NoticeFrame.tick(SyncTick(instance: self.instance, counter: self.counter)).encoded()]
        )
    }

    private func readSubscriptions() {
        while let sockets = self.sockets, (try? sockets.notices.receive(into: &self.frames)) == .message {
            let bytes = self.frames.bytes(at: 0)
            let topic = String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)
            self.sights.yield(bytes.first == 1 ? .subscribed(topic) : .unsubscribed(topic))
        }
    }

    private func readRequests() {
        while let sockets = self.sockets, (try? sockets.requests.receive(into: &self.frames)) == .message {
            guard self.frames.isRequest, let request = try? ListenerRequest(decoding: self.frames.bytes(at: 2)) else {
                continue
            }
            // Subscriptions that came before are seen before.
            let peer = self.frames.routingID
            self.readSubscriptions()
            self.sights.yield(.asked(request.kind))
            guard self.answers else { continue }
            let reply = ListenerReply(requestID: request.id, gatewayTime: wallClock(), body: self.body(request.kind))
            _ = try? sockets.requests.sendReply(to: peer, Message(reply.encoded()))
            if case .join(let join) = request.kind, join.push, self.push == .pushes { self.pushed.append(peer) }
        }
    }

    private func body(_ kind: ListenerRequest.Kind) -> ListenerReply.Body {
        switch kind {
        case .join(let join) where join.push && self.push == .refuses:
            .refused(Refusal(.invalid, "This gateway takes no joins of this kind."))
        case .join(let join):
            .joined(
                ListenerReply.Joined(
                    kind: .snapshot,
                    head: Position(epoch: 1, sequence: 0),
                    notices: [],
                    instance: self.instance,
                    headInterval: .seconds(3_600),
                    lease: .seconds(300),
                    pushed: join.push && self.push == .pushes
                )
            )
        case .getBatch: .batch(ListenerReply.Batch(delivery: [1], advertisements: self.ads))
        case .acknowledge(let acknowledge): .acknowledged(recorded: acknowledge.outcomes.count)
        case .getTime, .leave: .done
        }
    }
}
