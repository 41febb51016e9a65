// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing
import ZeroMQ

@Suite(.suiteLimit)
struct PollingThreadSocketTests {
    let context: Context

    init() throws {
        self.context = try Context()
    }

    /// A service as a gateway has it: answers every request in the pass that received it.
    actor Echo {
        let thread: PollingThread
        private let socket: Socket
        private var frames = FrameBuffer(framesMax: 3)
        private(set) var passes = 0
        private(set) var ticks = 0

        static let messagesPerPassMax = 256

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe self.thread.asUnownedSerialExecutor() }

        init(on thread: PollingThread, socket: consuming sending Socket) {
            self.thread = thread
            self.socket = socket
        }

        func start() {
            self.thread.attach(self.socket, for: self) { $0.drain() }
            self.thread.tick(every: .milliseconds(1), for: self) { $0.ticks += 1 }
        }

        private func drain() {
            self.passes += 1
            do {
                for _ in 0..<Self.messagesPerPassMax {
                    guard try self.socket.receive(into: &self.frames) == .message else { return }
                    guard self.frames.isRequest else { continue }
                    let peer = self.frames.routingID
                    let outcome = try self.frames.withBytes(at: 2) { body in
                        try self.socket.sendReply(to: peer, head: body, tail: body)
                    }
                    #expect(outcome == .sent)
                }
            } catch {
                Issue.record(error)
            }
        }

        isolated deinit {}
    }

    @Test func `an actor answers many peers in the pass that received them`() async throws {
        let (peerCount, requestCount) = (10, 100)
        let context = self.context
        try await withPollingThread { thread in
            let router = try Socket(.router, in: context)
            try router.set(.routerMandatory, to: true)
            let endpoint = try router.bind(anyPort)
            let echo = Echo(on: thread, socket: router)
            await echo.start()
            try await withThrowingTaskGroup { group in
                for peer in 0..<peerCount {
                    group.addTask { @concurrent in
                        let dealer = try Socket(.dealer, in: context)
                        try dealer.connect(endpoint)
                        for number in 0..<requestCount {
                            let body = [UInt8(peer), UInt8(number)]
                            #expect(try dealer.sendRequest(body) == .sent)
                        }
                        for number in 0..<requestCount {
                            let body = [UInt8(peer), UInt8(number)]
                            #expect(try dealer.nextFrames() == [[], body + body])
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(await echo.passes > 0)
        }
    }

    @Test func `an actor that ends closes its socket on its thread`() async throws {
        try await withPollingThread { thread in
            let router = try Socket(.router, in: self.context)
            let closed = AsyncStream.makeStream(of: SocketEvent.self, bufferingPolicy: .bufferingOldest(1))
            try router.startMonitor([], threadName: "router-watch") { closed.continuation.yield($0) }
            do {
                let echo = Echo(on: thread, socket: router)
                await echo.start()
            }
            // Closed on another thread it would have ended the process.
            #expect(await closed.stream.first { _ in true }?.change == .monitorStopped)
        }
    }

    @Test func `a handler that leaves messages behind is called again`() async throws {
        try await withPollingThread { thread in
            let push = try Socket(.push, in: self.context)
            let pull = try Socket(.pull, in: self.context)
            try push.connect(try pull.bind(anyPort))
            for number in 0..<100 { try push.mustSend(.init(text: "\(number)")) }
            let witness = Witness(on: thread, socket: pull)
            await witness.run { $0.attach { try $0.receive() } }
            await witness.wait(forEntries: 100)
            #expect(await witness.log == (0..<100).map { "\($0)" })
        }
    }

    @Test func `a detached socket is left alone until it is attached again`() async throws {
        try await withPollingThread { thread in
            let push = try Socket(.push, in: self.context)
            let pull = try Socket(.pull, in: self.context)
            try push.connect(try pull.bind("inproc://detached"))
            for number in 0..<2 { try push.mustSend(.init(text: "\(number)")) }
            let witness = Witness(on: thread, socket: pull)
            await witness.run {
                $0.attach { witness in
                    try witness.receive()
                    witness.detach()
                    witness.detach()
                    // The second message would be received before this is noted.
                    thread.schedule(at: .now.advanced(by: .milliseconds(5)), for: witness) { witness in
                        witness.note("nothing")
                        witness.attach { try $0.receive() }
                    }
                }
            }
            await witness.wait(forEntries: 3)
            #expect(await witness.log == ["0", "nothing", "1"])
        }
    }

    @Test func `a handler may close its socket`() async throws {
        try await withPollingThread { thread in
            let push = try Socket(.push, in: self.context)
            let pull = try Socket(.pull, in: self.context)
            try push.connect(try pull.bind(anyPort))
            try push.mustSend(.init(text: "only"))
            let witness = Witness(on: thread, socket: pull)
            await witness.run {
                $0.attach { witness in
                    try witness.receive()
                    witness.socket = nil
                    witness.note("closed")
                }
            }
            await witness.wait(forEntries: 2)
            #expect(await witness.log == ["only", "closed"])
        }
    }

    @Test func `a handler may close another socket that is readable too`() async throws {
        try await withPollingThread { thread in
            let publisher = try Socket(.pub, in: self.context)
            let first = try Socket(.sub, in: self.context)
            let second = try Socket(.sub, in: self.context)
            let endpoint = try publisher.bind("inproc://readable-twice")
            try first.subscribe([])
            try first.connect(endpoint)
            try second.subscribe([])
            try second.connect(endpoint)
            try publisher.mustSend(.init(text: "news"))
            let (one, other) = (Witness(on: thread, socket: first), Witness(on: thread, socket: second))
            await one.run { one in
                // In one job, so that one poll finds both readable.
                one.attach { one in
                    other.assumeIsolated { $0.socket = nil }
                    try one.receive()
                }
                other.assumeIsolated { other in
                    other.attach { other in
                        one.assumeIsolated { $0.socket = nil }
                        try other.receive()
                    }
                }
            }
            await one.run { one in
                _ = thread.schedule(at: .now.advanced(by: .milliseconds(5)), for: one) { $0.note("later") }
            }
            await one.wait(forEntries: 2)
            let log = await one.log + other.log
            #expect(log == ["news", "later"])
            await one.run { $0.socket = nil }
        }
    }

    @Test func `a socket attached in a handler is polled from then on`() async throws {
        try await withPollingThread { thread in
            let context = self.context
            let push = try Socket(.push, in: context)
            let pull = try Socket(.pull, in: context)
            try push.connect(try pull.bind(anyPort))
            try push.mustSend(.init(text: "first"))
            let (witness, second) = (Witness(on: thread, socket: pull), Witness(on: thread))
            await witness.run {
                $0.attach { witness in
                    try witness.receive()
                    try second.assumeIsolated { second in
                        let pull = try Socket(.pull, in: context)
                        try pull.bind("inproc://second")
                        second.socket = consume pull
                        second.attach { try $0.receive() }
                    }
                }
            }
            await witness.wait(forEntries: 1)
            let other = try Socket(.push, in: context)
            try other.connect("inproc://second")
            try other.mustSend(.init(text: "second"))
            await second.wait(forEntries: 1)
            #expect(await second.log == ["second"])
        }
    }

    @Test func `a socket that is always readable does not keep jobs and timers from running`() async throws {
        try await withPollingThread { thread in
            let push = try Socket(.push, in: self.context)
            let pull = try Socket(.pull, in: self.context)
            try push.connect(try pull.bind(anyPort))
            try push.mustSend([1])
            let witness = Witness(on: thread, socket: pull)
            await witness.run { witness in
                witness.attach { _ in }
                thread.schedule(at: .now.advanced(by: .milliseconds(2)), for: witness) { $0.note("timer") }
            }
            await witness.run { $0.note("job") }
            await witness.wait(forEntries: 2)
            #expect(Set(await witness.log) == ["job", "timer"])
        }
    }

    @Test func `jobs without end do not keep sockets and timers from being served`() async throws {
        try await withPollingThread { thread in
            let push = try Socket(.push, in: self.context)
            let pull = try Socket(.pull, in: self.context)
            try push.connect(try pull.bind(anyPort))
            let witness = Witness(on: thread, socket: pull)
            let spinning = Task { await witness.spin() }
            await witness.run { witness in
                witness.attach { try $0.receive() }
                thread.schedule(at: .now.advanced(by: .milliseconds(2)), for: witness) { $0.note("timer") }
            }
            try push.mustSend(.init(text: "message"))
            await witness.wait(forEntries: 2)
            #expect(Set(await witness.log) == ["message", "timer"])
            spinning.cancel()
            await spinning.value
        }
    }
}
