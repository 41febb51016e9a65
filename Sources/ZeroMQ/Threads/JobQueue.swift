// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The jobs that wait for a polling thread, and the thread's life.
///
/// It decides; ``PollingThread`` locks and acts.
struct JobQueue {
    private enum Phase {
        case running
        /// Asked to end; does so once no job is left.
        case stopping
        /// The thread has ended, and no job is left.
        case ended
        /// As `ended`, but jobs came later and a thread of their own runs them.
        case runningLateJobs
    }

    private var phase = Phase.running
    private var jobs: [UnownedJob] = []
    /// Whether the thread blocks, or is about to, and was not woken yet.
    private var isAsleep = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// The duty of the caller that adds a job.
    enum Duty {
        case nothing
        case wake
        case startLateThread
    }

    mutating func enqueue(_ job: UnownedJob) -> Duty {
        self.jobs.append(job)
        switch self.phase {
        case .running, .stopping:
            return self.mustWake() ? .wake : .nothing
        case .ended:
            self.phase = .runningLateJobs
            return .startLateThread
        case .runningLateJobs:
            return .nothing
        }
    }

    /// Whether the thread must be woken so that it looks here.
    ///
    /// True once per sleep.
    private mutating func mustWake() -> Bool {
        defer { self.isAsleep = false }
        return self.isAsleep
    }

    /// The next step of the thread.
    enum Step {
        /// Wait for a socket, a timer or a job.
        case wait
        /// Look at the sockets without waiting: there are jobs.
        case look
        case end
    }

    mutating func beforePoll(jobsLeft: Bool) -> Step {
        guard !jobsLeft, self.jobs.isEmpty else { return .look }
        if case .stopping = self.phase { return .end }
        self.isAsleep = true
        return .wait
    }

    /// Hands over the jobs, the oldest first.
    ///
    /// Until the next ``beforePoll(jobsLeft:)`` the thread needs no waking.
    mutating func takeJobs(into batch: inout JobBatch) {
        self.isAsleep = false
        batch.refill(from: &self.jobs)
    }

    /// Hands over the jobs of a thread that no longer polls.
    ///
    /// - Returns: The ones to tell that the thread is through, or `nil` when there are jobs.
    mutating func takeLastJobs(into batch: inout JobBatch) -> [CheckedContinuation<Void, Never>]? {
        self.isAsleep = false
        guard self.jobs.isEmpty else {
            batch.refill(from: &self.jobs)
            return nil
        }
        self.phase = .ended
        defer { self.waiters = [] }
        return self.waiters
    }

    /// Returns whether the thread must be woken.
    mutating func requestStop() -> Bool {
        guard case .running = self.phase else { return false }
        self.phase = .stopping
        return self.mustWake()
    }

    /// Keeps `waiter` until the thread ends, or returns false when it has.
    mutating func addWaiter(_ waiter: CheckedContinuation<Void, Never>) -> Bool {
        switch self.phase {
        case .running, .stopping:
            self.waiters.append(waiter)
            return true
        case .ended, .runningLateJobs:
            return false
        }
    }
}

/// Jobs that a thread has taken over.
struct JobBatch {
    private var jobs: [UnownedJob] = []
    private var next = 0

    /// The most jobs that run before sockets and timers get their turn.
    static let jobsPerPassMax = 1024

    var isEmpty: Bool { self.jobs.isEmpty }

    /// Exchanges this batch, which must be empty, with `jobs`.
    ///
    /// Both keep their room.
    mutating func refill(from jobs: inout [UnownedJob]) {
        precondition(self.isEmpty, "jobs would be lost")
        swap(&self.jobs, &jobs)
    }

    /// Runs the next jobs, at most ``jobsPerPassMax``.
    mutating func runSome(on thread: PollingThread) {
        let executor = unsafe thread.asUnownedSerialExecutor()
        let end = min(self.jobs.count, self.next + Self.jobsPerPassMax)
        while self.next < end {
            let job = self.jobs[self.next]
            self.next += 1
            unsafe job.runSynchronously(on: executor)
        }
        if self.next == self.jobs.count {
            self.jobs.removeAll(keepingCapacity: true)
            self.next = 0
        }
    }
}
