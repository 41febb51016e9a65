// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import Synchronization

/// One connection at a time to the gateway, made when it is needed, and the requests that are out on it.
///
/// Everything happens under one lock, on the thread that brings the event. Calls to the outside (the transport, waiting tasks)
/// are made after the lock is left, because a transport may call back at once.
final class RequestChannel: Sendable {
    /// The most requests that are out on one connection (`docs/broadcasters/zeromq.md`); further ones wait their turn.
    static let inFlightMax = 32

    private struct Request {
        let frame: [UInt8]
        let promise: ReplyPromise
        var isSent = false
    }

    private struct State {
        /// Counts connections: events of an older one are not ours any more.
        var generation = 0
        var isConnecting = false
        var isConnected = false
        var isClosed = false
        var connection: (any BroadcastConnection)?
        /// By id, which is the order in which they came.
        var requests: [UInt64: Request] = [:]
        /// Begins anywhere, so that the requests of two clients can be told apart in the gateway's log; in 53 bits, which
        /// every reader of JSON keeps.
        var lastID = UInt64.random(in: 0..<(1 << 53))
    }

    private enum Effect {
        case connect(generation: Int)
        case send([UInt8], on: any BroadcastConnection)
        case fulfil(ReplyPromise, AttemptOutcome)
        case close(any BroadcastConnection)
    }

    private let endpoint: String
    private let transport: any BroadcastTransport
    private let state = Mutex(State())

    init(endpoint: String, transport: any BroadcastTransport) {
        self.endpoint = endpoint
        self.transport = transport
    }

    deinit { self.close() }

    /// The id of the next request: its attempts share it, so that any of their replies is its reply.
    func nextID() -> UInt64 {
        self.state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// Sends a request as soon as there is a connection, and waits for the end of this attempt.
    func attempt(_ id: UInt64, _ frame: [UInt8], until deadline: ContinuousClock.Instant) async -> AttemptOutcome {
        let promise = ReplyPromise()
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                guard (try? await Task.sleep(until: deadline, clock: .continuous)) != nil else { return }
                self.giveUp(id, promise) { .timedOut(wasSent: $0) }
            }
            let outcome = await withTaskCancellationHandler {
                self.open(id, frame, promise)
                return await promise.outcome()
            } onCancel: {
                self.giveUp(id, promise) { _ in .cancelled }
            }
            // No task waits for a request that was opened after the cancellation.
            self.giveUp(id, promise) { _ in outcome }
            group.cancelAll()
            return outcome
        }
    }

    /// Ends everything; later attempts end at once.
    func close() {
        self.change { state in
            state.isClosed = true
            let connection = state.connection
            return Self.drop(&state) { _ in .closed } + (connection.map { [.close($0)] } ?? [])
        }
    }

    private func open(_ id: UInt64, _ frame: [UInt8], _ promise: ReplyPromise) {
        self.change { state in
            guard !state.isClosed else { return [.fulfil(promise, .closed)] }
            state.requests[id] = Request(frame: frame, promise: promise)
            return Self.advance(&state)
        }
    }

    private func giveUp(_ id: UInt64, _ promise: ReplyPromise, _ outcome: @Sendable (Bool) -> AttemptOutcome) {
        self.change { state in
            guard let request = state.requests[id], request.promise === promise else {
                return [.fulfil(promise, outcome(false))]
            }
            state.requests[id] = nil
            return [.fulfil(promise, outcome(request.isSent))] + Self.advance(&state)
        }
    }

    private func received(_ event: BroadcastConnectionEvent, generation: Int) {
        self.change { state in
            guard generation == state.generation else { return [] }
            switch event {
            case .connected:
                state.isConnected = true
                return Self.advance(&state)
            case .reply(let frame): return Self.replied(frame, &state)
            case .refused(let reason): return Self.drop(&state) { _ in .refused(reason: reason) }
            case .closed(let reason):
                return Self.drop(&state) { .disconnected(reason: reason, wasSent: $0) }
            }
        }
    }

    private static func replied(_ frame: [UInt8], _ state: inout State) -> [Effect] {
        do throws(WireError) {
            let reply = try BroadcastReply(decoding: frame)
            guard let request = state.requests.removeValue(forKey: reply.requestID) else { return [] }
            return [.fulfil(request.promise, .replied(reply))] + Self.advance(&state)
        } catch {
            // Whose it is cannot be told; to wait for the time-out would hide what is wrong.
            let sent = state.requests.filter(\.value.isSent)
            for id in sent.keys { state.requests[id] = nil }
            return sent.values.map { .fulfil($0.promise, .unreadable(error.description)) } + Self.advance(&state)
        }
    }

    /// Makes a connection if one is needed, and sends what may go out.
    private static func advance(_ state: inout State) -> [Effect] {
        guard !state.isClosed, !state.requests.isEmpty else { return [] }
        guard state.isConnecting || state.connection != nil else {
            state.isConnecting = true
            state.generation += 1
            return [.connect(generation: state.generation)]
        }
        guard state.isConnected, let connection = state.connection else { return [] }
        let room = Self.inFlightMax - state.requests.values.count(where: \.isSent)
        let next = state.requests.filter { !$0.value.isSent }.keys.sorted().prefix(max(0, room))
        return next.compactMap { id in
            state.requests[id]?.isSent = true
            return state.requests[id].map { .send($0.frame, on: connection) }
        }
    }

    /// Forgets the connection and all that waits on it.
    private static func drop(_ state: inout State, _ outcome: (Bool) -> AttemptOutcome) -> [Effect] {
        let requests = state.requests.values
        state.requests = [:]
        state.connection = nil
        state.isConnecting = false
        state.isConnected = false
        state.generation += 1
        return requests.map { .fulfil($0.promise, outcome($0.isSent)) }
    }

    private func change(_ body: (inout State) -> [Effect]) {
        for effect in self.state.withLock({ body(&$0) }) {
            switch effect {
            case .connect(let generation): self.connect(generation)
            case .send(let frame, let connection): connection.send(frame)
            case .fulfil(let promise, let outcome): promise.fulfil(outcome)
            case .close(let connection): connection.close()
            }
        }
    }

    private func connect(_ generation: Int) {
        let connection = self.transport.connect(to: self.endpoint) { [weak self] event in
            self?.received(event, generation: generation)
        }
        self.change { state in
            guard generation == state.generation else { return [.close(connection)] }
            state.isConnecting = false
            state.connection = connection
            return Self.advance(&state)
        }
    }
}
