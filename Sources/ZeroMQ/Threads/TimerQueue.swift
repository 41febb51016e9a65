// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The timers of a polling thread, soonest first.
///
/// A binary heap. A cancelled timer stays until it is due or until cancelled ones are the majority, so that cancelling
/// costs next to nothing: most deadlines are cancelled.
struct TimerQueue {
    private var heap: [PollingThread.Timer] = []
    private var cancelledCount = 0

    /// Fewer cancelled timers than this are not worth a clean-up.
    private static let cancelledCountMin = 64

    /// The number of timers held, the cancelled ones included.
    var count: Int { self.heap.count }

    /// When the next timer is due.
    var nextDeadline: ContinuousClock.Instant? {
        mutating get {
            while let first = self.heap.first, first.isCancelled {
                self.removeFirst()
                self.cancelledCount -= 1
            }
            return self.heap.first?.deadline
        }
    }

    mutating func insert(_ timer: PollingThread.Timer) {
        timer.isQueued = true
        self.heap.append(timer)
        var child = self.heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard self.heap[child].isBefore(self.heap[parent]) else { return }
            self.heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes the timers due at `now` and adds them to `due`, the earliest first.
    mutating func takeDue(at now: ContinuousClock.Instant, into due: inout [PollingThread.Timer]) {
        while let deadline = self.nextDeadline, deadline <= now {
            due.append(self.removeFirst())
        }
    }

    /// Notes that one of the timers held was cancelled.
    mutating func noteCancelled() {
        self.cancelledCount += 1
        guard self.cancelledCount >= Self.cancelledCountMin, self.cancelledCount > self.heap.count / 2 else { return }
        let live = self.heap.filter { !$0.isCancelled }
        self.heap.removeAll(keepingCapacity: true)
        self.cancelledCount = 0
        for timer in live { self.insert(timer) }
    }

    /// Removes all timers.
    mutating func removeAll() -> [PollingThread.Timer] {
        defer {
            self.heap = []
            self.cancelledCount = 0
        }
        return self.heap
    }

    @discardableResult
    private mutating func removeFirst() -> PollingThread.Timer {
        self.heap.swapAt(0, self.heap.count - 1)
        let first = self.heap.removeLast()
        first.isQueued = false
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < self.heap.count {
                if self.heap[child].isBefore(self.heap[least]) { least = child }
            }
            guard least != parent else { return first }
            self.heap.swapAt(least, parent)
            parent = least
        }
    }
}
