// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import TestSupport
package import ZeroMQ

/// One context and one thread for all the peers of a test.
package final class PeerNetwork: Sendable {
    package let context: Context
    package let thread: PollingThread

    package init() throws {
        self.context = try Context(ioThreads: 1)
        self.thread = try PollingThread(name: "test-peers")
    }

    /// Ends the thread; peers can do nothing more.
    package func stop() async {
        await self.thread.stop()
    }
}

/// A ZeroMQ socket that sends and receives whatever frames it is told to.
package actor RawPeer {
    /// A message: its frames.
    package typealias Frames = [[UInt8]]

    private struct Waiter {
        let id: Int
        let take: (Frames) -> Bool
        let fail: (PeerError) -> Void
        let timer: PollingThread.Timer
    }

    private let network: PeerNetwork
    private var socket: Socket?
    private let eager: Bool
    private var frames = FrameBuffer(framesMax: 64)
    private var inbox: [Frames] = []
    private var waiters: [Waiter] = []
    private var counter = 0
    /// How often the connection was lost; counted only after `watchConnection`.
    package private(set) var disconnections = 0

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe self.network.thread.asUnownedSerialExecutor()
    }

    /// A socket that is connected nowhere yet.
    ///
    /// - Parameters:
    ///   - kind: its pattern.
    ///   - network: where it lives.
    ///   - eager: whether it takes in what comes; otherwise everything stays in libzmq's queue, as with a peer that hangs.
    ///   - configure: sets its options.
    /// - Throws: what `configure` throws, or when there are too many sockets.
    package init(
        _ kind: SocketKind,
        in network: PeerNetwork,
        eager: Bool = true,
        configure: (borrowing Socket) throws -> Void = { _ in }
    ) throws {
        let socket = try Socket(kind, in: network.context)
        // libzmq gives up a handshake after 30 s and begins a new connection, which a test would count.
        try socket.set(.handshakeInterval, to: waitMax)
        try configure(socket)
        self.network = network
        self.eager = eager
        self.socket = consume socket
    }

    isolated deinit {}  // The socket is closed on its thread.

    /// Connects, and begins to take in what comes.
    package func connect(_ endpoint: String) throws {
        try self.socket?.connect(endpoint)
        guard self.eager else { return }
        self.attach()
    }

    /// Counts from now on how often the connection is lost.
    package func watchConnection() throws {
        try self.socket?
            .startMonitor([.disconnected], on: self.network.thread, for: self) { peer, event in
                if case .disconnected = event.change { peer.disconnections += 1 }
            }
    }

    private func attach() {
        guard let socket = self.socket.take() else { return }
        self.network.thread.attach(socket, for: self) { $0.drain() }
        self.socket = consume socket
    }

    package func subscribe(_ topic: [UInt8]) throws {
        try self.socket?.subscribe(topic)
    }

    package func unsubscribe(_ topic: [UInt8]) throws {
        try self.socket?.unsubscribe(topic)
    }

    /// Sends a message of any frames.
    ///
    /// - Returns: whether libzmq took it; `false` when its queue is full or no peer is connected.
    @discardableResult
    package func send(_ message: Frames) throws -> Bool {
        for (index, frame) in message.enumerated() {
            guard try self.socket?.send(frame, more: index < message.count - 1) == .sent else {
                guard index == 0 else { throw PeerError.unexpected("a message was cut in two") }
                return false
            }
        }
        return true
    }

    /// The first message, of those that came and those that come, that `pick` makes something of; others stay.
    package func next<Value: Sendable>(
        _ what: String,
        _ pick: @escaping @Sendable (Frames) -> Value?
    ) async throws -> Value {
        for (index, message) in self.inbox.enumerated() {
            guard let value = pick(message) else { continue }
            self.inbox.remove(at: index)
            return value
        }
        guard self.socket != nil else { throw PeerError.closed }
        return try await withCheckedThrowingContinuation { continuation in
            self.counter += 1
            let id = self.counter
            self.waiters.append(
                Waiter(
                    id: id,
                    take: { message in
                        guard let value = pick(message) else { return false }
                        continuation.resume(returning: value)
                        return true
                    },
                    fail: { continuation.resume(throwing: $0) },
                    timer: self.network.thread.schedule(at: .now + TestPatience.condition, for: self) {
                        $0.expire(id, what)
                    }
                )
            )
        }
    }

    /// All messages that have arrived without being awaited.
    package func takeAll() -> [Frames] {
        defer { self.inbox = [] }
        return self.inbox
    }

    /// Reads what libzmq has queued, for a peer that is not eager.
    package func readNow() {
        self.drain()
    }

    /// Goes away without a word.
    package func close() {
        self.socket = nil
        for waiter in self.waiters {
            waiter.timer.cancel()
            waiter.fail(.closed)
        }
        self.waiters = []
    }

    private func expire(_ id: Int, _ what: String) {
        guard let index = self.waiters.firstIndex(where: { $0.id == id }) else { return }
        self.waiters.remove(at: index).fail(.timedOut(what))
    }

    private func drain() {
        while let outcome = try? self.socket?.receive(into: &self.frames), outcome != .nothing {
            guard outcome == .message else { continue }
            let message = (0..<self.frames.count).map { self.frames.bytes(at: $0) }
            if let index = self.waiters.firstIndex(where: { $0.take(message) }) {
                self.waiters.remove(at: index).timer.cancel()
            } else {
                self.inbox.append(message)
            }
        }
    }
}
