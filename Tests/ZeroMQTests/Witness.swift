// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing
import ZeroMQ

/// An actor that lives on a polling thread, runs what a test hands it, and notes what happens there.
actor Witness {
    let thread: PollingThread
    private(set) var log: [String] = []
    private var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    /// A socket of the test's, closed on the thread like those of a service.
    var socket: Socket?

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe self.thread.asUnownedSerialExecutor() }

    init(on thread: PollingThread, socket: consuming sending Socket? = nil) {
        self.thread = thread
        self.socket = consume socket
    }

    isolated deinit {}

    func run<Result: Sendable>(_ body: @Sendable (isolated Witness) throws -> Result) rethrows -> Result {
        try body(self)
    }

    func note(_ entry: String) {
        self.log.append(entry)
        self.resumeWaiter()
    }

    /// Waits until at least this much was noted.
    func wait(forEntries count: Int) async {
        await withCheckedContinuation { continuation in
            self.waiter = (count, continuation)
            self.resumeWaiter()
        }
    }

    private func resumeWaiter() {
        guard let waiter, self.log.count >= waiter.count else { return }
        self.waiter = nil
        waiter.continuation.resume()
    }

    /// Polls the socket from now on.
    func attach(_ onReadable: @escaping @Sendable (isolated Witness) throws -> Void) {
        guard let socket = self.socket.take() else { return }
        self.thread.attach(socket, for: self) { witness in
            do {
                try onReadable(witness)
            } catch {
                Issue.record(error)
            }
        }
        self.socket = consume socket
    }

    /// Polls the socket no longer.
    func detach() {
        guard let socket = self.socket.take() else { return }
        self.thread.detach(socket)
        self.socket = consume socket
    }

    /// Notes the events of the socket, as the monitor of this name.
    func startMonitor(_ kinds: SocketEvent.Kinds, as name: String) throws -> SocketMonitor {
        guard let socket = self.socket.take() else { throw CancellationError() }
        let monitor = try socket.startMonitor(kinds, on: self.thread, for: self) { witness, event in
            witness.note("\(name) \(String("\(event.change)".prefix { $0 != "(" }))")
        }
        self.socket = consume socket
        return monitor
    }

    /// Ends the monitor of the socket.
    func stopMonitor() {
        guard let socket = self.socket.take() else { return }
        socket.stopMonitor()
        self.socket = consume socket
    }

    /// Keeps a job of this actor waiting at all times until the task is cancelled.
    func spin() async {
        while !Task.isCancelled { await Task.yield() }
    }

    /// Receives a message, if there is one, and notes it as text.
    func receive() throws {
        guard let message = try self.socket?.receive() else { return }
        self.note(String(decoding: message.bytes(), as: UTF8.self))
    }
}

/// Runs `body` with a polling thread that is stopped afterwards.
func withPollingThread<Result>(
    _ name: String = "test-thread",
    _ body: (PollingThread) async throws -> Result
) async throws -> Result {
    let thread = try PollingThread(name: name)
    do {
        let result = try await body(thread)
        await thread.stop()
        return result
    } catch {
        await thread.stop()
        throw error
    }
}
