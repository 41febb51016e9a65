// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Synchronization
import Testing
import ZeroMQ

@Suite(.suiteLimit)
struct MonitorTests {
    let context: Context

    init() throws {
        self.context = try Context()
    }

    /// The events of a monitor as a stream that ends with the monitor.
    final class Log: Sendable {
        let stream: AsyncStream<SocketEvent>
        private let continuation: AsyncStream<SocketEvent>.Continuation

        init() {
            // More than any test here causes.
            (self.stream, self.continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(10_000))
        }

        func add(_ event: SocketEvent) {
            self.continuation.yield(event)
            if event.change == .monitorStopped { self.continuation.finish() }
        }

        /// The events up to the first that `isLast` accepts.
        func events(until isLast: (SocketEvent.Change) -> Bool) async -> [SocketEvent] {
            var events: [SocketEvent] = []
            for await event in self.stream {
                events.append(event)
                if isLast(event.change) { break }
            }
            return events
        }
    }

    /// The events' names without their values.
    static func names(_ events: [SocketEvent]) -> [String] {
        events.map { String("\($0.change)".prefix { $0 != "(" }) }
    }

    @Test func `a server sees a peer come and go`() async throws {
        let server = try Socket(.router, in: self.context)
        // Else a handshake that takes 30 s ends, and another one begins.
        try server.set(.handshakeInterval, to: patience)
        let log = Log()
        let kinds: SocketEvent.Kinds = [.listening, .accepted, .handshakeSucceeded, .disconnected, .closed]
        let monitor = try server.startMonitor(kinds, threadName: "server-watch") { log.add($0) }
        let endpoint = try server.bind(anyPort)
        let client = try Socket(.dealer, in: self.context)
        try client.set(.handshakeInterval, to: patience)
        try client.connect(endpoint)
        let coming = await log.events { $0 == .handshakeSucceeded }
        #expect(Self.names(coming) == ["listening", "accepted", "handshakeSucceeded"])
        #expect(coming.allSatisfy { $0.address == endpoint })

        client.close()
        let going = await log.events { if case .disconnected = $0 { true } else { false } }
        #expect(Self.names(going) == ["disconnected"])

        server.stopMonitor()
        await monitor.waitForEnd()
        let end = await log.events { _ in false }
        #expect(Self.names(end) == ["monitorStopped"])
    }

    @Test func `a client sees refusals, then its connection, then its loss`() async throws {
        let server = try Socket(.router, in: self.context)
        try server.set(.handshakeInterval, to: patience)
        let endpoint = try server.bind(anyPort)
        let client = try Socket(.dealer, in: self.context)
        try client.set(.handshakeInterval, to: patience)
        try client.set(.reconnectInterval, to: .milliseconds(1))
        let log = Log()
        try client.startMonitor(.connection, threadName: "client-watch") { log.add($0) }
        try client.connect(endpoint)
        let coming = await log.events { $0 == .handshakeSucceeded }
        #expect(Self.names(coming) == ["connected", "handshakeSucceeded"])

        server.close()
        let going = await log.events { if case .connectRetried = $0 { true } else { false } }
        #expect(Self.names(going).first == "disconnected")
        guard case .connectRetried(let pause) = going.last?.change else { return }
        #expect(pause >= .milliseconds(1))
    }

    @Test func `faults of a handshake are reported`() async throws {
        let server = try Socket(.rep, in: self.context)
        try server.set(.handshakeInterval, to: patience)
        let log = Log()
        try server.startMonitor(.handshakeFailed, threadName: "server-watch") { log.add($0) }
        let endpoint = try server.bind(anyPort)
        // Refused by the greeting's mechanism: this peer asks for encryption and that server does not.
        let client = try Socket(.stream, in: self.context)
        try client.connect(endpoint)
        try client.sendGreeting(mechanism: "CURVE")
        let events = await log.events { _ in true }
        #expect(events.first?.change == .handshakeFailedProtocol(.mechanismMismatch))
        #expect("\(SocketEvent.ProtocolFailure.mechanismMismatch)" == "mechanismMismatch")
        #expect("\(SocketEvent.ProtocolFailure(rawValue: 0x1000_0001))" == "0x10000001")
    }

    @Test func `only what was asked for is reported`() async throws {
        let server = try Socket(.router, in: self.context)
        let log = Log()
        let monitor = try server.startMonitor([.handshakeSucceeded], threadName: "server-watch") { log.add($0) }
        let client = try Socket(.req, in: self.context)
        try client.connect(try server.bind(anyPort))
        try client.mustSend([1])
        #expect(try server.nextFrames().count == 3)
        server.stopMonitor()
        await monitor.waitForEnd()
        #expect(Self.names(await log.events { _ in false }) == ["handshakeSucceeded", "monitorStopped"])
    }

    @Test func `closing the socket ends its monitor`() async throws {
        let server = try Socket(.router, in: self.context)
        let log = Log()
        let monitor = try server.startMonitor(.acceptance, threadName: "server-watch") { log.add($0) }
        server.close()
        await monitor.waitForEnd()
        #expect(await log.events { _ in false }.last?.change == .monitorStopped)
    }

    @Test func `a monitor can be started again`() async throws {
        let server = try Socket(.router, in: self.context)
        for _ in 0..<3 {
            let log = Log()
            let monitor = try server.startMonitor([.listening], threadName: "server-watch") { log.add($0) }
            try server.bind(anyPort)
            server.stopMonitor()
            server.stopMonitor()
            await monitor.waitForEnd()
            #expect(Self.names(await log.events { _ in false }) == ["listening", "monitorStopped"])
        }
    }

    @Test func `a monitor on a polling thread can be started again before the last one has ended`() async throws {
        try await withPollingThread { thread in
            let witness = Witness(on: thread, socket: try Socket(.router, in: self.context))
            let monitors = try await witness.run { witness in
                try (0..<3)
                    .map { number in
                        witness.stopMonitor()
                        return try witness.startMonitor([.listening], as: "\(number)")
                    }
            }
            try await witness.run { _ = try $0.socket?.bind(anyPort) }
            await monitors[0].waitForEnd()
            await monitors[1].waitForEnd()
            // The last one runs on, and is told apart by what it reports after the others have ended.
            try await witness.run { _ = try $0.socket?.bind(anyPort) }
            await witness.wait(forEntries: 4)
            await witness.run { $0.socket = nil }
            await monitors[2].waitForEnd()
            let log = await witness.log
            let last = log.filter { $0.hasPrefix("2") }
            #expect(last == ["2 listening", "2 listening", "2 monitorStopped"])
            let earlier = log.filter { !$0.hasPrefix("2") }
            #expect(earlier == ["0 monitorStopped", "1 monitorStopped"])
        }
    }

    @Test func `a slow handler does not hold up the connections`() async throws {
        // Each listener is an event: more than the 2,000 that two default high-water marks hold.
        let socket = try Socket(.pull, in: self.context)
        let gate = Mutex(())
        let count = Atomic<Int>(0)
        // Two events per bind: the new listener, and the one that fails.
        let monitor = try gate.withLock { _ in
            let monitor = try socket.startMonitor([.listening, .bindFailed], threadName: "slow-watch") { event in
                gate.withLock { _ in }
                if event.change != .monitorStopped { count.add(1, ordering: .relaxed) }
            }
            let endpoint = try socket.bind(anyPort)
            for _ in 0..<3000 { #expect(throws: ZeroMQError.self) { try socket.bind(endpoint) } }
            return monitor
        }
        socket.stopMonitor()
        await monitor.waitForEnd()
        #expect(count.load(ordering: .relaxed) == 3001)
    }

    @Test func `one polling thread reads the monitors of many sockets`() async throws {
        let server = try Socket(.router, in: self.context)
        let endpoint = try server.bind(anyPort)
        let context = self.context
        let clientCount = 50
        try await withPollingThread { thread in
            let swarm = Swarm(on: thread, in: context)
            let monitors = try await swarm.start(clientCount, endpoint)
            await swarm.waitForHandshakes(of: clientCount)
            await swarm.closeAll()
            for monitor in monitors { await monitor.waitForEnd() }
            #expect(await swarm.stoppedCount == clientCount)
        }
        server.close()
    }

    /// Many clients of one process, with a monitor each.
    actor Swarm {
        private let thread: PollingThread
        private let context: Context
        private var clients: [Client] = []
        private var connected: Set<Int> = []
        private var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?
        private(set) var stoppedCount = 0

        final class Client {
            let socket: Socket

            init(_ socket: consuming Socket) {
                self.socket = socket
            }
        }

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe self.thread.asUnownedSerialExecutor() }

        init(on thread: PollingThread, in context: Context) {
            self.thread = thread
            self.context = context
        }

        func start(_ count: Int, _ endpoint: String) throws -> [SocketMonitor] {
            try (0..<count)
                .map { number in
                    let client = Client(try Socket(.dealer, in: self.context))
                    let monitor = try client.socket.startMonitor(.connection, on: self.thread, for: self) {
                        swarm,
                        event in
                        swarm.note(event, of: number)
                    }
                    try client.socket.connect(endpoint)
                    self.clients.append(client)
                    return monitor
                }
        }

        func waitForHandshakes(of count: Int) async {
            await withCheckedContinuation { continuation in
                self.waiter = (count, continuation)
                self.resumeWaiter()
            }
        }

        func closeAll() {
            self.clients = []
        }

        private func note(_ event: SocketEvent, of number: Int) {
            if event.change == .handshakeSucceeded { self.connected.insert(number) }
            if event.change == .monitorStopped { self.stoppedCount += 1 }
            self.resumeWaiter()
        }

        private func resumeWaiter() {
            guard let waiter, self.connected.count >= waiter.count else { return }
            self.waiter = nil
            waiter.continuation.resume()
        }
    }

    @Test func `a polling thread that ends first does not leave an unread monitor`() async throws {
        let socket = try await withPollingThread { thread in
            let context = self.context
            return try await Witness(on: thread)
                .run { _ in
                    let socket = try Socket(.pull, in: context)
                    try socket.startMonitor([.listening, .bindFailed], on: thread) { _ in }
                    return Box(socket)
                }
        }
        // With a monitor that has lost its reader the first of these would block.
        let endpoint = try socket.socket.bind(anyPort)
        #expect(throws: ZeroMQError.self) { try socket.socket.bind(endpoint) }
    }

    /// A socket that leaves its thread.
    // Safety: the thread has ended before the socket is used again.
    final class Box: @unchecked Sendable {
        let socket: Socket

        init(_ socket: consuming Socket) {
            self.socket = socket
        }
    }
}
