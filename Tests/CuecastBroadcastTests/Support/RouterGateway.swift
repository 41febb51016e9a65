// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import ZeroMQ

/// The gateway's side of the broadcasters' socket: a ROUTER, the gateway's own planner and board, and faults on demand.
actor RouterGateway {
    /// The reaction to one request.
    enum Reaction: Sendable {
        case answer
        /// It takes effect, and the reply is lost.
        case answerIsLost
        /// It is lost before it takes effect.
        case ignore
        case refuse(Refusal)
        case reply([UInt8])
        /// Answered when this many are held.
        case hold(until: Int)
    }

    /// Decides about each request by its number, counted from 1.
    typealias Script = @Sendable (Int, BroadcastRequest) -> Reaction

    private let thread: PollingThread
    private let socket: Socket
    private let script: Script
    private var frames = FrameBuffer(framesMax: 3)
    private var offset: UInt64 = 0
    private var held: [(RoutingID, [UInt8])] = []
    private var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    private(set) var board = Board(epoch: 7)
    /// As they came.
    private(set) var requests: [[UInt8]] = []
    private(set) var heldMax = 0
    private let began = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
    /// Its clock goes on by a millisecond with each request, and by nothing else: no break ends because a test takes long.
    private var now: Timestamp { self.began + .milliseconds(self.requests.count) }

    nonisolated let endpoint: String
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe self.thread.asUnownedSerialExecutor() }

    private init(thread: PollingThread, socket: consuming sending Socket, endpoint: String, script: @escaping Script) {
        self.thread = thread
        self.socket = socket
        self.endpoint = endpoint
        self.script = script
    }

    isolated deinit {}  // The socket is closed on its thread.

    private func start() {
        self.thread.attach(self.socket, for: self) { $0.drain() }
    }

    /// Runs a gateway while `body` runs; with keys it accepts each client that knows its public one.
    static func with<Result: Sendable>(
        at port: HeldPort? = nil,
        keys: CurveKeyPair? = nil,
        script: @escaping Script = { _, _ in .answer },
        _ body: @Sendable (RouterGateway) async throws -> Result
    ) async throws -> Result {
        let thread = try PollingThread(name: "test-gateway")
        let socket = try Socket(.router, in: Context())
        try socket.set(.routerMandatory, to: true)
        if let keys { try socket.secureAsServer(keys) }
        let endpoint = try await Self.bind(socket, port?.endpoint ?? "tcp://127.0.0.1:*")
        let gateway = RouterGateway(thread: thread, socket: socket, endpoint: endpoint, script: script)
        await gateway.start()
        do {
            let result = try await body(gateway)
            await gateway.stop()
            await thread.stop()
            return result
        } catch {
            await gateway.stop()
            await thread.stop()
            throw error
        }
    }

    /// Binds, and waits for a gateway that has just ended there: libzmq closes its listener in the background.
    private static func bind(_ socket: borrowing Socket, _ endpoint: String) async throws -> String {
        while true {
            do throws(ZeroMQError) {
                return try socket.bind(endpoint)
            } catch {
                guard error.code == .addressInUse else { throw error }
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func stop() {
        self.thread.detach(self.socket)
    }

    /// Returns once this many requests came.
    func waitForRequests(_ count: Int) async {
        guard self.requests.count < count else { return }
        await withCheckedContinuation { self.waiters.append((count, $0)) }
    }

    private func drain() {
        while (try? self.socket.receive(into: &self.frames)) == .message {
            guard self.frames.isRequest else { continue }
            let peer = self.frames.routingID
            self.requests.append(self.frames.bytes(at: 2))
            self.react(to: self.frames.bytes(at: 2), from: peer)
            let count = self.requests.count
            for waiter in self.waiters where waiter.count <= count { waiter.continuation.resume() }
            self.waiters.removeAll { $0.count <= count }
        }
    }

    private func react(to frame: [UInt8], from peer: RoutingID) {
        guard let request = try? BroadcastRequest(decoding: frame) else { return }
        switch self.script(self.requests.count, request) {
        case .answer: self.send(self.encoded(self.body(for: request), request), to: peer)
        case .answerIsLost: _ = self.body(for: request)
        case .ignore: break
        case .refuse(let refusal): self.send(self.encoded(.refused(refusal), request), to: peer)
        case .reply(let bytes): self.send(bytes, to: peer)
        case .hold(let count):
            self.held.append((peer, self.encoded(self.body(for: request), request)))
            self.heldMax = max(self.heldMax, self.held.count)
            guard self.held.count >= count else { return }
            for (peer, reply) in self.held { self.send(reply, to: peer) }
            self.held = []
        }
    }

    private func body(for request: BroadcastRequest) -> BroadcastReply.Body {
        switch BroadcastPlanner(policy: BreakPolicy())
            .plan(request, by: .anybody, on: self.board, at: self.now, listeners: 0)
        {
        case .answer(let body): return body
        case .append(let entry):
            self.offset += 1
            switch self.board.apply(BreakGroup(entries: [entry]), offset: self.offset)[0] {
            case .changed(let each, _), .unchanged(let each): return .break(each.info(at: self.now))
            case .refused(let refusal): return .refused(refusal)
            case .list(let list, _): return .adList(list.info, [])
            case .housekept, .activated: preconditionFailure("no broadcaster asks for housekeeping")
            }
        }
    }

    /// Publishes without a socket.
    func publish(_ publish: BroadcastRequest.Publish) {
        _ = self.body(for: BroadcastRequest(id: 0, kind: .publish(publish)))
    }

    private func encoded(_ body: BroadcastReply.Body, _ request: BroadcastRequest) -> [UInt8] {
        BroadcastReply(requestID: request.id, gatewayTime: self.now, body: body).encoded()
    }

    private func send(_ reply: [UInt8], to peer: RoutingID) {
        _ = unsafe try? self.socket.sendReply(to: peer, head: reply.span.bytes)
    }

}
