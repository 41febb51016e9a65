// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Gateway
import Synchronization
import Testing

/// Threads that do one kind of work.
@Suite(.suiteLimit)
struct WorkerThreadsTests {
    private static var threadName: String {
        let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        return name?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "unknown"
    }

    @Test func `a task and its children run there, before and after they wait`() async throws {
        let threads = try WorkerThreads(name: "test-worker", count: 2)
        defer { threads.stop() }
        let names = await withTaskExecutorPreference(threads) {
            await withTaskGroup(of: [String].self, returning: [String].self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        let before = Self.threadName
                        await Task.yield()
                        return [before, Self.threadName]
                    }
                }
                return await group.reduce(into: [Self.threadName]) { $0 += $1 }
            }
        }
        #expect(names.count == 41)
        #expect(Set(names) == ["test-worker"])
    }

    @Test func `threads have the niceness that they are given, and their maker keeps its own`() async throws {
        let own = getpriority(Int32(PRIO_PROCESS.rawValue), 0)
        let threads = try WorkerThreads(name: "test-nice", count: 1, niceness: 5)
        defer { threads.stop() }
        let theirs = await withTaskExecutorPreference(threads) { getpriority(Int32(PRIO_PROCESS.rawValue), 0) }
        #expect(theirs == min(19, own + 5))
        #expect(getpriority(Int32(PRIO_PROCESS.rawValue), 0) == own)
    }

    @Test func `one that computes delays no other thread`() async throws {
        let threads = try WorkerThreads(name: "test-busy", count: 1)
        defer { threads.stop() }
        let isReleased = Flag()
        await withTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: threads) {
                // Nothing of this can be waited for: it holds its thread.
                while !isReleased.isSet { usleep(1_000) }
            }
            // More of them than the pool has threads would stop everybody here; this still runs.
            group.addTask { isReleased.set() }
            await group.waitForAll()
        }
    }

    @Test func `jobs after the end are still run`() async throws {
        let threads = try WorkerThreads(name: "test-late", count: 1)
        _ = await withTaskExecutorPreference(threads) { 1 }
        threads.stop()
        for _ in 0..<50 {
            let answer = await withTaskExecutorPreference(threads) { 2 }
            #expect(answer == 2)
        }
    }
}

/// Something that two threads tell each other.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { self.value.load(ordering: .acquiring) }
    func set() { self.value.store(true, ordering: .releasing) }
}
