// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
package import SystemSupport

/// Threads that do one kind of work and no other, as an executor that tasks may prefer.
///
/// ```swift
/// let readers = try WorkerThreads(name: "cuecast-reader", count: 2, niceness: 10)
/// let answer = try await readers.run { try await read() }
/// readers.stop()
/// ```
///
/// The pool of Swift's concurrency has as many threads as there are cores, for all tasks: a task that computes for long there
/// makes all others wait. What runs here may compute, and may block, at the cost of what runs here only.
///
/// Safety: `state` is touched only while `condition` is locked; the other members are constants.
@safe
package final class WorkerThreads: TaskExecutor, @unchecked Sendable {
    private struct State {
        var jobs: [UnownedJob] = []
        /// The first of `jobs` that no thread has taken.
        var next = 0
        var isStopped = false
        var threadCount = 0
    }

    /// The name that `top -H` shows (its first 15 bytes).
    package let name: String
    private let condition = NSCondition()
    private var state = State()

    /// Running threads.
    ///
    /// - Parameters:
    ///   - name: for `top -H`.
    ///   - count: how many.
    ///   - niceness: how much lower their priority is than that of the process's other threads (`man 2 nice`); where threads have
    ///     no niceness of their own, nothing.
    /// - Throws: when there are too many threads.
    package init(name: String, count: Int, niceness: Int32 = 0) throws(SystemCallError) {
        self.name = name
        self.state.threadCount = max(1, count)
        for started in 0..<max(1, count) {
            do {
                try OSThread.start(name: name) { self.main(niceness: niceness) }.detach()
            } catch {
                self.condition.withLock { self.state.threadCount = started }
                self.stop()
                throw error
            }
        }
    }

    /// Lets the threads end once there is nothing left to do; what comes later is done nevertheless.
    package func stop() {
        self.condition.withLock {
            self.state.isStopped = true
            self.condition.broadcast()
        }
    }

    /// Does something here, in a task of its own that ends with the caller's.
    ///
    /// A task that only prefers these threads from now on stays where it is as long as nothing makes it move.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask(executorPreference: self) { try await body() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isLate = self.condition.withLock {
            // The threads are gone, and the task must end nevertheless.
            guard self.state.threadCount > 0 else { return true }
            self.state.jobs.append(job)
            self.condition.signal()
            return false
        }
        if isLate { Thread.detachNewThread { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) } }
    }

    private func main(niceness: Int32) {
        System.lowerPriority(by: niceness)
        while let job = self.nextJob() { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// The next job, as soon as there is one; `nil`: the thread is to end.
    private func nextJob() -> UnownedJob? {
        self.condition.withLock {
            while self.state.next == self.state.jobs.count {
                if self.state.isStopped {
                    self.state.threadCount -= 1
                    return nil
                }
                self.condition.wait()
            }
            let job = self.state.jobs[self.state.next]
            self.state.next += 1
            if self.state.next == self.state.jobs.count {
                self.state.jobs.removeAll(keepingCapacity: true)
                self.state.next = 0
            }
            return job
        }
    }
}
