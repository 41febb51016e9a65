// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization

/// Makes the attempts that a `TrackingQueue` asks for, each in a task of its own, and owns those tasks.
///
/// The queue bounds how many there are.
final class TrackingDispatcher: Sendable {
    private struct State {
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var isStopped = false
    }

    private let sender: any TrackingSender
    private let state = Mutex(State())

    init(sender: any TrackingSender) {
        self.sender = sender
    }

    deinit {
        self.stop()
    }

    /// Begins an attempt; `finished` is called once when it is over, on any thread, and not at all after `stop()`.
    func send(
        _ request: TrackingRequest,
        finished: @escaping @Sendable (_ id: UInt64, _ result: TrackingResult) -> Void
    ) {
        self.state.withLock { state in
            guard !state.isStopped else { return }
            state.tasks[request.id] = Task(name: "Cuecast tracking") { [weak self, sender] in
                let result = await sender.send(request)
                // Before the answer: the queue may ask for the next attempt at the same call.
                guard self?.remove(request.id) == true else { return }
                finished(request.id, result)
            }
        }
    }

    /// Cancels calls that are under way: how they end is not reported, and whether they arrived is unknown.
    func stop() {
        let tasks = self.state.withLock { state in
            state.isStopped = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
    }

    /// Returns when nothing is under way any more.
    func idle() async {
        while let task = self.state.withLock({ $0.tasks.first?.value }) { await task.value }
    }

    /// Whether its end is to be told.
    private func remove(_ id: UInt64) -> Bool {
        self.state.withLock { state in
            state.tasks[id] = nil
            return !state.isStopped
        }
    }
}
