// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Dispatch
import Foundation
import Testing
import ZeroMQ

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite(.suiteLimit)
struct PollingThreadJobTests {
    /// An actor whose jobs are enqueued in the order in which they are made.
    @globalActor
    actor Recorder {
        static let shared = Recorder()

        // A global actor lives as long as the process, and so does its thread.
        private let thread = try? PollingThread(name: "recorder")
        private var records: [Int: [Int]] = [:]
        private(set) var threads: Set<UInt> = []

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            guard let thread else { fatalError("no thread for the recorder") }
            return unsafe thread.asUnownedSerialExecutor()
        }

        nonisolated var wakeUpSignals: Int { self.thread?.wakeUpSignals ?? 0 }

        func add(_ number: Int, of producer: Int) {
            self.records[producer, default: []].append(number)
            self.threads.insert(pthread_self())
        }

        func take(_ producer: Int) -> [Int]? {
            self.records.removeValue(forKey: producer)
        }

        func block(on gate: DispatchSemaphore) {
            gate.wait()
        }
    }

    @Test func `jobs from many threads run on one thread, in order per producer`() async throws {
        let (producerCount, jobCount) = (8, 1000)
        await withTaskGroup { group in
            for producer in 0..<producerCount {
                group.addTask { @concurrent in
                    // Enqueued at once: a task that is isolated to a global actor begins on its executor.
                    let tasks = (0..<jobCount)
                        .map { number in
                            Task { @Recorder in await Recorder.shared.add(number, of: producer) }
                        }
                    for task in tasks { await task.value }
                }
            }
        }
        for producer in 0..<producerCount {
            #expect(await Recorder.shared.take(producer) == Array(0..<jobCount))
        }
        #expect(await Recorder.shared.threads.count == 1)
    }

    @Test func `jobs that come while the thread is awake cost no system call`() async {
        let gate = DispatchSemaphore(value: 0)
        // From here on the thread is awake, in this job.
        await withCheckedContinuation { continuation in
            _ = Task { @Recorder in
                continuation.resume()
                await Recorder.shared.block(on: gate)
            }
        }
        let before = Recorder.shared.wakeUpSignals
        let tasks = (0..<1000)
            .map { number in
                Task { @Recorder in await Recorder.shared.add(number, of: -1) }
            }
        #expect(Recorder.shared.wakeUpSignals == before)
        gate.signal()
        for task in tasks { await task.value }
        #expect(await Recorder.shared.take(-1) == Array(0..<1000))
        // And when it sleeps, a job does wake it.
        while Recorder.shared.wakeUpSignals == before { _ = await Recorder.shared.take(-1) }
    }

    @Test func `ten thousand elements of a stream are consumed on the one thread`() async throws {
        try await withPollingThread { thread in
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingOldest(10_000))
            let consumer = Consumer(on: thread)
            async let sum = consumer.consume(stream)
            for number in 0..<10_000 { continuation.yield(number) }
            continuation.finish()
            #expect(await sum == 10_000 * 9_999 / 2)
            #expect(await consumer.threads.count == 1)
        }
    }

    actor Consumer {
        let thread: PollingThread
        private(set) var threads: Set<UInt> = []

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe self.thread.asUnownedSerialExecutor() }

        init(on thread: PollingThread) {
            self.thread = thread
        }

        func consume(_ stream: AsyncStream<Int>) async -> Int {
            var sum = 0
            for await number in stream {
                sum += number
                self.threads.insert(pthread_self())
                #expect(self.thread.isCurrent)
            }
            return sum
        }
    }

    @Test func `the thread has its name, cut to what the kernel keeps`() async throws {
        try await withPollingThread("requests-and-broadcasts") { thread in
            let name = try await Witness(on: thread)
                .run { _ in
                    try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
                }
            #expect(name == "requests-and-br\n")
            #expect(thread.name == "requests-and-broadcasts")
        }
    }

    @Test func `the thread knows itself`() async throws {
        try await withPollingThread { thread in
            #expect(!thread.isCurrent)
            #expect(thread.isIsolatingCurrentContext() == false)
            await Witness(on: thread)
                .run { witness in
                    #expect(thread.isCurrent)
                    #expect(thread.isIsolatingCurrentContext() == true)
                    witness.assertIsolated()
                }
        }
    }

    @Test func `handlers on the thread are isolated to its actors`() async throws {
        try await withPollingThread { thread in
            let witness = Witness(on: thread)
            let isIsolated = await withCheckedContinuation { continuation in
                Task {
                    await witness.run { witness in
                        _ = thread.schedule(at: .now) {
                            // No job runs here: the runtime has to ask the executor.
                            continuation.resume(returning: witness.assumeIsolated { $0.thread.isCurrent })
                        }
                    }
                }
            }
            #expect(isIsolated)
        }
    }
}
