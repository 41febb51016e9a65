// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import Logging
import ServiceLifecycle
import ZeroMQ

/// Decides when the memory of connections that ended is given back to the system.
struct MemoryReturn: Hashable {
    /// So many connections must have ended since the last time, or a quarter of those that are open, whichever is more.
    static let connectionsEndedMin = 100
    /// The least time between two returns.
    static let interval: Duration = .seconds(30)

    private var endedBefore = 0
    private var next: ContinuousClock.Instant?

    /// Whether it is time, given how many connections have ended in all and how many are open; if so, it counts as done.
    mutating func isDue(ended: Int, open: Int, at now: ContinuousClock.Instant) -> Bool {
        if let next, now < next { return false }
        guard ended - self.endedBefore >= max(Self.connectionsEndedMin, open / 4) else { return false }
        self.endedBefore = ended
        self.next = now + Self.interval
        return true
    }
}

/// Keeps the process as small as its connections allow, and has it take connections again that the system had no descriptor for.
struct MemoryService: Service {
    private static let lookEvery: Duration = .seconds(5)

    let connections: ConnectionLimit
    let metrics: MetricRegistry
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var policy = MemoryReturn()
            while (try? await Task.sleep(for: Self.lookEvery)) != nil {
                self.connections.tryAgain()
                let (open, ended) = self.connections.counts
                let now = ContinuousClock.now
                guard policy.isDue(ended: ended, open: open, at: now), ProcessMemory.giveBack() else { continue }
                self.metrics.count(.memoryReturns)
                self.logger.debug(
                    "gave memory of ended connections back to the system",
                    metadata: ["seconds": "\((ContinuousClock.now - now) / .seconds(1))"]
                )
            }
        }
    }
}
