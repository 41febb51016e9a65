// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Logging
import ServiceLifecycle
import Synchronization

/// Ends a gateway in order: asks listeners to go on at other gateways, where there are some; then refuses what is new as `DRAINING`, and
/// waits until what was accepted is answered, on both sides.
///
/// It is the last of the services, so that it ends first: everything that answers still runs meanwhile.
final class GatewayDrain: Service {
    private let desk: BreakDesk
    private let listeners: ListenerService
    private let log: LogHealth
    /// Has listeners move first; `nil`: the gateway has its log for itself.
    private let move: ListenerMove?
    private let readiness: ReadinessBoard
    private let logger: Logger
    /// How long answers that were promised are waited for.
    private let timeout: Mutex<Duration>

    init(
        desk: BreakDesk,
        listeners: ListenerService,
        log: LogHealth,
        move: ListenerMove?,
        readiness: ReadinessBoard,
        timeout: Duration,
        logger: Logger
    ) {
        self.desk = desk
        self.listeners = listeners
        self.log = log
        self.move = move
        self.readiness = readiness
        self.logger = logger
        self.timeout = Mutex(timeout)
    }

    /// Waits so long from now on.
    func reload(timeout: Duration, moveWithin: Duration) {
        self.timeout.withLock { $0 = timeout }
        self.move?.reload(within: moveWithin)
    }

    /// Waits for the shutdown, and drains.
    ///
    /// Ends early when the task is cancelled: then something has failed that the answers would need.
    func run() async throws {
        try? await gracefulShutdown()
        // A log that has failed confirms nothing any more: nothing is waited for then.
        if let move, !self.log.hasFailed {
            await self.desk.refuseNewRequests()
            // The others, and balancers, send no one here any more.
            self.readiness.set(.sockets, isReady: false)
            await move.run()
        }
        let isDrained = await self.refuseAndWait()
        let waiting = self.listeners.waitingCount + (await self.desk.waitingCount)
        if !isDrained, waiting > 0 || !self.log.hasFailed {
            self.logger.error("stopping before everything was answered", metadata: ["waiting": "\(waiting)"])
        }
    }

    /// The log takes nothing until the next start: refuses what is new, and returns when everything that waits was answered, at
    /// the latest after the timeout.
    func refuseWhatWaits() async {
        self.log.failForGood()
        self.move?.ask()
        _ = await self.refuseAndWait()
    }

    /// - Returns: whether no request waits any more.
    private func refuseAndWait() async -> Bool {
        await self.desk.refuseNewRequests()
        self.listeners.refuseNewRequests()
        self.readiness.set(.sockets, isReady: false)
        let (service, desk, limit) = (self.listeners, self.desk, self.timeout.withLock { $0 })
        async let listeners = service.drain(atMost: limit)
        let broadcasters = await desk.drain(atMost: limit)
        return await listeners && broadcasters
    }
}
