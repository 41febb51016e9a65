// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ServiceLifecycle
import ZeroMQ

/// Sends the service manager a sign of life twice in each of its watchdog intervals.
///
/// The desk's thread sends it: if the thread hangs in a handler, there is no sign, and a busy thread runs its timers after each
/// pass. There is no sign either while one of the listeners' loops makes no iteration.
actor ThreadWatchdog: Service {
    private let thread: PollingThread
    private let manager: ServiceManager
    private let listeners: ListenerService
    /// The number of iterations of each of the listeners' loops at the last sign.
    private var listenerIterations: [Int] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe self.thread.asUnownedSerialExecutor()
    }

    init(thread: PollingThread, manager: ServiceManager, listeners: ListenerService) {
        self.thread = thread
        self.manager = manager
        self.listeners = listeners
    }

    func run() async throws {
        self.giveSignOfLife()
        // A stop takes time too, so signs go on until the thread ends.
        try? await gracefulShutdown()
    }

    private func giveSignOfLife() {
        guard let interval = self.manager.watchdog else { return }
        let iterations = self.listeners.iterationCounts
        defer { self.listenerIterations = iterations }
        let allAdvance = zip(iterations, self.listenerIterations).allSatisfy { $0 != $1 }
        // If there was no sign, or it could not be sent, the next try comes soon, so that it is still in time.
        let isGiven = allAdvance && self.manager.giveSignOfLife()
        let wait = isGiven ? interval / 2 : interval / 16
        self.thread.schedule(at: .now + max(wait, .milliseconds(1)), for: self) { $0.giveSignOfLife() }
    }
}
