// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization
internal import SystemSupport

/// One thread of the operating system that polls sockets and is the executor of the actors that own them.
///
/// ```swift
/// actor BroadcastEndpoint {
///     private let thread: PollingThread
///     private let socket: Socket
///     private var frames = FrameBuffer(framesMax: 3)
///
///     nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe self.thread.asUnownedSerialExecutor() }
///
///     init(on thread: PollingThread, socket: consuming sending Socket) {
///         self.thread = thread
///         self.socket = socket
///     }
///
///     func start() {
///         self.thread.attach(self.socket, for: self) { $0.drain() }
///         self.thread.tick(every: .milliseconds(10), for: self) { $0.tick() }
///     }
///
///     private func drain() { … }  // up to 256 messages, then return: what is left makes the socket readable again
///
///     isolated deinit {}  // closes the socket on its thread, which also detaches it
/// }
/// ```
///
/// After each wake-up the thread runs the jobs of its actors, then the handlers of readable sockets, then the timers that
/// are due, and blocks until there is something to do again. Of each kind it runs only what was there when it began, so
/// none can starve the others. A handler should return within about a millisecond: nothing else runs meanwhile.
///
/// Sockets, timers and their handlers may be used on the thread only, which in practice means from its actors. Anything
/// else ends the process at once and names the thread.
///
/// The thread runs, and keeps itself alive, until it is stopped: see ``stop()``.
@safe
package final class PollingThread: SerialExecutor, Sendable {
    /// The name that `top -H` (its first 15 bytes) and error messages show.
    package let name: String

    private let wakeUp: WakeUp
    private let confined: Confined
    private let queue = Mutex(JobQueue())
    /// The thread until it is joined.
    private let handle = Mutex<OSThread.Handle?>(nil)
    /// The number of the thread that runs jobs now, 0 when none does.
    private let threadID = Atomic<UInt>(0)
    private let wakeUpCount = Atomic<Int>(0)
    private let signalCount = Atomic<Int>(0)

    // Safety: reached only through `loop(_:)`, which ends the process on any other thread, and by the thread's own body.
    private struct Confined: @unchecked Sendable {
        let loop: PollingLoop
    }

    /// A running thread.
    ///
    /// - Throws: `tooManyFileDescriptors` or `resourceUnavailable` when there are too many descriptors or threads.
    package init(name: String) throws(ZeroMQError) {
        self.name = name
        do throws(SystemCallError) {
            self.wakeUp = try WakeUp()
            self.confined = Confined(loop: PollingLoop(wakeUp: self.wakeUp.descriptor))
            let handle = try OSThread.start(name: name) { self.main() }
            self.handle.withLock { $0 = handle }
        } catch {
            throw ZeroMQError(error)
        }
    }

    deinit {
        self.handle.withLock { $0.take() }?.detach()
    }

    // MARK: - Facts

    /// Whether the caller runs on this thread.
    package var isCurrent: Bool {
        self.threadID.load(ordering: .relaxed) == OSThread.currentID
    }

    /// How often the thread has come out of its poll.
    ///
    /// For metrics.
    package var wakeUps: Int { self.wakeUpCount.load(ordering: .relaxed) }

    /// How often another thread had to wake this one.
    ///
    /// Jobs that arrive while it is awake cost no system call.
    package var wakeUpSignals: Int { self.signalCount.load(ordering: .relaxed) }

    /// The sockets and timers, on the thread.
    ///
    /// Elsewhere the process ends.
    func loop(_ operation: StaticString) -> PollingLoop {
        guard self.isCurrent else { self.misused(operation) }
        return self.confined.loop
    }

    func misused(_ operation: StaticString) -> Never {
        fatalError("\(operation) was called on another thread than the polling thread '\(self.name)'")
    }

    // MARK: - Executor

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        switch self.queue.withLock({ $0.enqueue(job) }) {
        case .nothing: break
        case .wake: self.signal()
        case .startLateThread: self.startLateThread()
        }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    package func checkIsolated() {
        guard self.isCurrent else { self.misused("isolated code") }
    }

    package func isIsolatingCurrentContext() -> Bool? {
        self.isCurrent
    }

    // MARK: - End

    /// Ends the thread and waits until it is gone.
    ///
    /// The jobs that wait, and those that they enqueue, are run. Then all sockets are detached and all timers
    /// dropped, which releases their handlers on the thread, and the thread ends. It does not close sockets: their owners
    /// do. Calling this more than once, or on the thread's own actors, is fine.
    ///
    /// A job that arrives later (the end of a cancelled task, an `isolated deinit`) is not lost: a short-lived thread of
    /// the same name runs it, one job at a time. Attaching and scheduling do nothing by then.
    package func stop() async {
        self.requestStop()
        await withCheckedContinuation { continuation in
            let hasEnded = self.queue.withLock { !$0.addWaiter(continuation) }
            if hasEnded { continuation.resume() }
        }
        self.join()
    }

    /// Asks the thread to end, as ``stop()`` does, without waiting for it.
    package func requestStop() {
        if self.queue.withLock({ $0.requestStop() }) { self.signal() }
    }

    /// Waits for the thread's last instructions; it has said before that it is through.
    private func join() {
        self.handle.withLock { $0.take() }?.join()
    }

    // MARK: - The thread's body

    private func main() {
        self.threadID.store(OSThread.currentID, ordering: .relaxed)
        let loop = self.confined.loop
        var batch = JobBatch()
        while true {
            let next = self.queue.withLock { $0.beforePoll(jobsLeft: !batch.isEmpty) }
            guard next != .end else { break }
            if loop.poll(canWait: next == .wait) { self.wakeUp.reset() }
            self.wakeUpCount.wrappingAdd(1, ordering: .relaxed)
            if batch.isEmpty { self.queue.withLock { $0.takeJobs(into: &batch) } }
            batch.runSome(on: self)
            loop.runReadableHandlers()
            loop.runDueTimers()
        }
        loop.end()
        self.runLastJobs()
    }

    /// Runs jobs until there is none, then resumes the waiters for the end.
    private func runLastJobs() {
        var batch = JobBatch()
        while true {
            let waiters = self.queue.withLock { queue in
                let waiters = queue.takeLastJobs(into: &batch)
                // Within the lock, because the next job may come, and bring its own thread, as soon as it is open.
                if waiters != nil { self.threadID.store(0, ordering: .relaxed) }
                return waiters
            }
            if let waiters {
                for waiter in waiters { waiter.resume() }
                return
            }
            while !batch.isEmpty { batch.runSome(on: self) }
        }
    }

    /// Runs the jobs that came after the end.
    private func startLateThread() {
        do {
            let thread = try OSThread.start(name: self.name) {
                self.threadID.store(OSThread.currentID, ordering: .relaxed)
                self.runLastJobs()
            }
            thread.detach()
        } catch {
            fatalError("the polling thread '\(self.name)' has ended and cannot run its last jobs: \(error)")
        }
    }

    private func signal() {
        self.signalCount.wrappingAdd(1, ordering: .relaxed)
        self.wakeUp.signal()
    }
}
