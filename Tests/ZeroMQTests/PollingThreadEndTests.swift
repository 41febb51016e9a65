// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Synchronization
import Testing
import ZeroMQ

@Suite(.suiteLimit)
struct PollingThreadEndTests {
    @Test func `jobs that wait are run before the thread ends`() async throws {
        let thread = try PollingThread(name: "ending")
        let witness = Witness(on: thread)
        await withTaskGroup { group in
            for number in 0..<1000 { group.addTask { await witness.note("\(number)") } }
            group.addTask { await thread.stop() }
        }
        // Those that came too late for the thread ran all the same.
        #expect(await witness.log.count == 1000)
    }

    @Test func `jobs that jobs enqueue are run before the thread ends`() async throws {
        let thread = try PollingThread(name: "ending")
        let witness = Witness(on: thread)
        let original = await witness.run { _ in pthread_self() }
        let threads = Threads()
        await witness.run { witness in
            thread.requestStop()
            Self.spawn(20, on: witness) { threads.noteCurrent() }
        }
        await thread.stop()
        #expect(await witness.log.count == 20)
        #expect(Set(threads.all) == [original])
    }

    private static func spawn(_ count: Int, on witness: isolated Witness, _ body: @escaping @Sendable () -> Void) {
        guard count > 0 else { return }
        _ = Task {
            body()
            witness.note("\(count)")
            Self.spawn(count - 1, on: witness, body)
        }
    }

    @Test func `a job that comes after the end still runs, and is isolated`() async throws {
        let thread = try PollingThread(name: "ended")
        let witness = Witness(on: thread)
        await thread.stop()
        for _ in 0..<100 {
            await witness.run { witness in
                witness.assertIsolated()
                #expect(thread.isCurrent)
                #expect(!thread.name.isEmpty)
            }
        }
        #expect(!thread.isCurrent)
    }

    @Test func `attaching or scheduling after the end has no effect`() async throws {
        let context = try Context()
        let thread = try PollingThread(name: "ended")
        await thread.stop()
        let pull = try Socket(.pull, in: context)
        let push = try Socket(.push, in: context)
        try push.connect(try pull.bind(anyPort))
        try push.mustSend([1])
        let witness = Witness(on: thread, socket: pull)
        try await witness.run { witness in
            witness.attach { $0.note("readable") }
            let timer = thread.schedule(at: .now, for: witness) { $0.note("timer") }
            #expect(timer.isCancelled)
            timer.cancel()
            witness.detach()
            let isReadable = try witness.socket?.waitUntilReadable(for: patience)
            #expect(isReadable == true)
        }
        #expect(await witness.log.isEmpty)
    }

    @Test func `the end releases handlers on the thread`() async throws {
        let thread = try PollingThread(name: "ending")
        let witness = Witness(on: thread)
        let original = await witness.run { _ in pthread_self() }
        let released = Threads()
        let context = try Context()
        let box = MonitorTests.Box(try Socket(.pull, in: context))
        await witness.run { witness in
            let (first, second, third) = (Token(released), Token(released), Token(released))
            thread.attach(box.socket) { first.use() }
            thread.schedule(at: .now.advanced(by: .seconds(3600))) { second.use() }
            thread.tick(every: .seconds(3600)) { third.use() }
        }
        await thread.stop()
        #expect(released.all == [original, original, original])
        // Not attached any more: usable, and closed, on any thread.
        try box.socket.bind(anyPort)
    }

    /// Notes the thread of its end.
    final class Token {
        private let threads: Threads

        init(_ threads: Threads) {
            self.threads = threads
        }

        func use() {}

        deinit {
            self.threads.noteCurrent()
        }
    }

    /// The threads that something happened on.
    final class Threads: Sendable {
        private let noted = Mutex<[UInt]>([])

        var all: [UInt] { self.noted.withLock { $0 } }

        func noteCurrent() {
            self.noted.withLock { $0.append(pthread_self()) }
        }
    }

    @Test func `stopping twice, at once or later, is fine`() async throws {
        let thread = try PollingThread(name: "ending")
        await withTaskGroup { group in
            for _ in 0..<10 { group.addTask { await thread.stop() } }
        }
        await thread.stop()
        thread.requestStop()
    }

    @Test func `an actor of the thread may stop it`() async throws {
        let thread = try PollingThread(name: "ending")
        let stopper = Stopper(on: thread)
        await stopper.end()
        #expect(await stopper.hasSurvived)
    }

    actor Stopper {
        private let thread: PollingThread
        private(set) var hasSurvived = false

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe self.thread.asUnownedSerialExecutor() }

        init(on thread: PollingThread) {
            self.thread = thread
        }

        func end() async {
            await self.thread.stop()
            self.hasSurvived = true
        }
    }

    @Test func `stopping with messages, timers and jobs in flight loses no reply to a caller`() async throws {
        let context = try Context()
        for _ in 0..<20 {
            let thread = try PollingThread(name: "ending")
            let pull = try Socket(.pull, in: context)
            let push = try Socket(.push, in: context)
            try push.connect(try pull.bind(anyPort))
            for _ in 0..<100 { try push.mustSend([1]) }
            let witness = Witness(on: thread, socket: pull)
            await witness.run { witness in
                witness.attach { try $0.receive() }
                thread.tick(every: .microseconds(100), for: witness) { $0.note("tick") }
            }
            let answers = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<50 { group.addTask { await witness.run { _ in 1 } } }
                group.addTask {
                    await thread.stop()
                    return 0
                }
                return await group.reduce(0, +)
            }
            #expect(answers == 50)
        }
    }

    // In a process of its own, because the tests beside it open descriptors and threads too.
    @Test func `a hundred threads leave no descriptor and no thread behind`() async {
        await #expect(processExitsWith: .success) {
            let context = try Context()
            // Whatever is made once is made here: the pool of the runtime, libzmq's own threads.
            try await Self.live(in: context)
            let before = try Self.usage()
            for _ in 0..<100 { try await Self.live(in: context) }
            // libzmq closes sockets in the background, so that there may be a few more for a moment, now as before.
            let end = ContinuousClock.now.advanced(by: patience)
            while try Self.usage() > before {
                try #require(ContinuousClock.now < end, "more descriptors or threads than before")
                await Task.yield()
            }
        }
    }

    /// The number of open descriptors and of threads, but for those of the runtime's pool.
    private static func usage() throws -> Int {
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        let names = threads.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return descriptors.count + names.count { $0.hasPrefix("leak-") || $0.hasPrefix("ZMQbg") }
    }

    /// The whole life of a thread with a socket, both kinds of monitor, a tick and a late job.
    private static func live(in context: Context) async throws {
        let thread = try PollingThread(name: "leak-poll")
        let socket = try Socket(.router, in: context)
        let monitor = try socket.startMonitor(.acceptance, threadName: "leak-watch") { _ in }
        let witness = Witness(on: thread, socket: socket)
        let other = try Socket(.dealer, in: context)
        let inner = Witness(on: thread, socket: other)
        try await inner.run { inner in
            _ = try inner.socket?.startMonitor(.connection, on: thread) { _ in }
        }
        await witness.run { witness in
            witness.attach { _ in }
            thread.tick(every: .milliseconds(1), for: witness) { _ in }
        }
        await witness.run { $0.socket = nil }
        await monitor.waitForEnd()
        await thread.stop()
        await inner.run { $0.socket = nil }
    }
}
