// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// When the core is woken next.
///
/// One task sleeps for as long as it is the timer: each further one would wake another thread. It may fire too early, which
/// does no harm, and never too late: a time that is set stays until an earlier one is wanted.
struct WakeTimer: Sendable {
    private enum State: Sendable {
        case off
        case set(LocalInstant)
        /// The task wakes the core. What is wanted last meanwhile is when it fires again.
        case firing(next: LocalInstant?)
        case ended
    }

    private var state = State.off
    /// Tells the timer from those whose place it took.
    private var number = 0
    /// The task of the timer that was set last.
    private(set) var task: Task<Void, Never>?

    /// The core wants to be woken at `wake`; `nil`: nothing waits for the timer.
    ///
    /// `begin` makes the task of a timer that has this number and fires at this time first.
    mutating func want(
        _ wake: LocalInstant?,
        begin: (_ number: Int, _ wake: LocalInstant) -> Task<Void, Never>
    ) {
        switch self.state {
        case .firing: self.state = .firing(next: wake)
        case .ended: break
        case .off:
            guard let wake else { return }
            self.set(wake, begin)
        case .set(let earliest):
            guard let wake, wake < earliest else { return }
            self.set(wake, begin)
        }
    }

    private mutating func set(_ wake: LocalInstant, _ begin: (Int, LocalInstant) -> Task<Void, Never>) {
        self.task?.cancel()
        self.number += 1
        self.state = .set(wake)
        self.task = begin(self.number, wake)
    }

    /// The time of a timer has come.
    ///
    /// - Returns: Whether the core is to be woken: another timer may have taken the place of this one.
    mutating func fires(number: Int) -> Bool {
        guard case .set = self.state, self.number == number else { return false }
        self.state = .firing(next: nil)
        return true
    }

    /// The core was woken.
    ///
    /// - Returns: When the same timer fires again; `nil`: it is over.
    mutating func fired() -> LocalInstant? {
        guard case .firing(let next) = self.state else { return nil }
        self.state = next.map { .set($0) } ?? .off
        return next
    }

    /// No timer fires any more.
    mutating func end() {
        self.task?.cancel()
        self.state = .ended
    }
}

extension WakeTimer {
    /// The task of a timer: sleeps until `wake`, calls `fires`, and goes on so until that names no further time.
    static func task(
        from wake: LocalInstant,
        origin: ContinuousClock.Instant,
        fires: @escaping @Sendable () -> LocalInstant?
    ) -> Task<Void, Never> {
        Task(name: "Cuecast timer") {
            var wake = wake
            do {
                while true {
                    try await Task.sleep(until: origin + wake.sinceStart, tolerance: .zero, clock: .continuous)
                    guard let next = fires() else { return }
                    wake = next
                }
            } catch {
                return  // Another timer was set, or the session is over.
            }
        }
    }
}
