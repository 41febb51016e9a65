// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

extension PollingThread {
    /// A call at a later time on a polling thread.
    ///
    /// Used on that thread only.
    package final class Timer {
        private let thread: PollingThread
        private let period: Duration?
        private var action: (() -> Void)?

        /// When it is due next.
        package private(set) var deadline: ContinuousClock.Instant

        /// Tells timers of the same deadline apart: the one scheduled first comes first.
        var number: UInt64 = 0

        /// Whether the thread's queue holds it.
        var isQueued = false

        /// Whether it will not run any more.
        package var isCancelled: Bool { self.action == nil }

        fileprivate init(
            thread: PollingThread,
            deadline: ContinuousClock.Instant,
            period: Duration? = nil,
            action: @escaping () -> Void
        ) {
            self.thread = thread
            self.deadline = deadline
            self.period = period
            self.action = action
        }

        /// Makes sure that it does not run any more, and releases its handler.
        ///
        /// May be called at any time.
        package func cancel() {
            let loop = self.thread.loop("cancel()")
            // `take`, because a handler's release may come back here.
            guard self.action.take() != nil else { return }
            if self.isQueued { loop.noteCancelledTimer() }
        }

        func isBefore(_ other: Timer) -> Bool {
            (self.deadline, self.number) < (other.deadline, other.number)
        }

        /// Runs the handler unless it was cancelled.
        ///
        /// - Returns: Whether it is to be queued again.
        func fire() -> Bool {
            guard let action = self.action else { return false }
            guard let period else {
                self.action = nil
                action()
                return false
            }
            action()
            guard !self.isCancelled else { return false }
            // After the action, so that one that takes longer than a period leaves time for others.
            let (next, now) = (self.deadline.advanced(by: period), ContinuousClock.now)
            self.deadline = next > now ? next : now.advanced(by: period)
            return true
        }

        /// Drops the handler because the thread has ended.
        func end() {
            self.isQueued = false
            _ = self.action.take()
        }
    }

    /// Calls `action` on this thread once `deadline` has come.
    ///
    /// Call it on this thread.
    ///
    /// - Returns: The timer, to cancel it; it may be dropped.
    @discardableResult
    package func schedule(at deadline: ContinuousClock.Instant, _ action: @escaping () -> Void) -> Timer {
        self.insert(Timer(thread: self, deadline: deadline, action: action), "schedule(at:_:)")
    }

    /// As ``schedule(at:_:)``, isolated to `owner`, an actor of this thread that is not retained.
    @discardableResult
    package func schedule<Owner: Actor>(
        at deadline: ContinuousClock.Instant,
        for owner: Owner,
        _ action: @escaping @Sendable (isolated Owner) -> Void
    ) -> Timer {
        self.schedule(at: deadline) { [weak owner] in
            owner?.assumeIsolated { action($0) }
        }
    }

    /// Calls `action` on this thread after each `period`, for the first time one period from now.
    ///
    /// Call it on this thread.
    ///
    /// Ticks that the thread is too busy for are left out, not made up for.
    ///
    /// - Returns: The timer, to cancel it; it may be dropped.
    @discardableResult
    package func tick(every period: Duration, _ action: @escaping () -> Void) -> Timer {
        precondition(period > .zero, "a tick needs a period")
        let deadline = ContinuousClock.now.advanced(by: period)
        return self.insert(Timer(thread: self, deadline: deadline, period: period, action: action), "tick(every:_:)")
    }

    /// As ``tick(every:_:)``, isolated to `owner`, an actor of this thread that is not retained.
    ///
    /// The tick outlives its owner, without effect, unless it is cancelled.
    @discardableResult
    package func tick<Owner: Actor>(
        every period: Duration,
        for owner: Owner,
        _ action: @escaping @Sendable (isolated Owner) -> Void
    ) -> Timer {
        self.tick(every: period) { [weak owner] in
            owner?.assumeIsolated { action($0) }
        }
    }

    private func insert(_ timer: Timer, _ operation: StaticString) -> Timer {
        self.loop(operation).insert(timer)
        return timer
    }
}
