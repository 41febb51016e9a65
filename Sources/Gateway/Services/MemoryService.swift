// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import Logging
import ServiceLifecycle
import SystemSupport

/// Decides when memory that a crowd of connections left behind is given back to the system.
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
    /// The stores, whose caches are of no use once a crowd of listeners has left.
    let stores: [any CachingStore]
    let metrics: MetricRegistry
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // A store whose disk does not answer keeps no connection from being taken.
            await withDiscardingTaskGroup { group in
                group.addTask { await self.every(Self.lookEvery) { self.connections.tryAgain() } }
                group.addTask {
                    var policy = MemoryReturn()
                    await self.every(Self.lookEvery) { await self.look(&policy) }
                }
            }
        }
    }

    /// Does something again and again, until it is cancelled.
    private func every(_ interval: Duration, _ body: () async -> Void) async {
        while (try? await Task.sleep(for: interval)) != nil { await body() }
    }

    /// Counts what the stores hold, and has them and the allocator give back what a crowd that has left does not need.
    func look(_ policy: inout MemoryReturn) async {
        let (open, ended) = self.connections.counts
        let now = ContinuousClock.now
        let isDue = policy.isDue(ended: ended, open: open, at: now)
        var cached = 0
        for each in self.stores {
            if isDue { await each.releaseCaches() }
            cached += await each.cacheBytes()
        }
        self.metrics.set(.storeCacheBytes, to: cached)
        guard isDue, ProcessMemory.giveBack() else { return }
        self.metrics.count(.memoryReturns)
        self.logger.debug(
            "gave memory of ended connections and of caches back to the system",
            metadata: ["seconds": "\((ContinuousClock.now - now) / .seconds(1))"]
        )
    }
}
