// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ServiceLifecycle
import ZeroMQ

/// Tells the service manager that the desk's thread and the listeners' loops go round, twice in each interval that it watches.
///
/// Only the desk's thread gives a sign: a thread that hangs in a handler gives none, and a busy one has its timers after each pass. There
/// is no sign either while one of the listeners' loops does not go round.
actor ThreadWatchdog: Service {
    private let thread: PollingThread
    private let manager: ServiceManager
    private let listeners: ListenerService
    /// How often each of the listeners' loops had gone round at the last sign.
    private var listenerRounds: [Int] = []

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
        let rounds = self.listeners.roundCounts
        defer { self.listenerRounds = rounds }
        let allGoRound = zip(rounds, self.listenerRounds).allSatisfy { $0 != $1 }
        // A sign that was not given or not taken is repeated soon, so that it still comes in time.
        let isGiven = allGoRound && self.manager.giveSignOfLife()
        let wait = isGiven ? interval / 2 : interval / 16
        self.thread.schedule(at: .now + max(wait, .milliseconds(1)), for: self) { $0.giveSignOfLife() }
    }
}
