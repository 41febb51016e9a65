// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import Logging
import Synchronization
import SystemSupport
import Testing

@testable import Gateway

/// Memory goes back to the system when many connections have ended, and not more often than it is worth.
@Suite(.suiteLimit)
struct MemoryReturnTests {
    /// The policy's decisions, one look after the other: connections that ended, open ones, and seconds since the start.
    private func looks(_ looks: [(ended: Int, open: Int, seconds: Double)]) -> [Bool] {
        var policy = MemoryReturn()
        let start = ContinuousClock.now
        return looks.map { policy.isDue(ended: $0.ended, open: $0.open, at: start + .seconds($0.seconds)) }
    }

    @Test func `a hundred connections that ended are enough, one less is not`() {
        let counts = [(99, 0, 0), (100, 0, 0), (199, 0, 60), (200, 0, 60)] as [(Int, Int, Double)]
        #expect(self.looks(counts) == [false, true, false, true], "they count from the last time")
    }

    @Test func `of many that are open a quarter must have ended`() {
        #expect(self.looks([(4_499, 18_000, 0), (4_500, 18_000, 0)]) == [false, true])
    }

    @Test func `it does not happen again within half a minute`() {
        #expect(self.looks([(5_000, 0, 0), (10_000, 0, 29.999), (10_000, 0, 30)]) == [true, false, true])
    }

    /// Holds a thousand bytes until it is asked to give them back.
    private final class Store: CachingStore {
        private let bytes = Mutex(1_000)

        func releaseCaches() async { self.bytes.withLock { $0 = 0 } }
        func cacheBytes() async -> Int { self.bytes.withLock(\.self) }
    }

    @Test func `stores give back what they hold when a crowd has left, and the metric says what they hold`() async {
        let metrics = MetricRegistry()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let connections = ConnectionLimit(
            connectionsMax: 1_000,
            metrics: metrics,
            readiness: ReadinessBoard(metrics: metrics),
            logger: logger
        )
        let service = MemoryService(
            connections: connections,
            stores: [Store(), Store()],
            metrics: metrics,
            logger: logger
        )
        var policy = MemoryReturn()
        for number in 1...MemoryReturn.connectionsEndedMin {
            await service.look(&policy)
            #expect(metrics.value(.storeCacheBytes) == 2_000, "\(number - 1) have left")
            _ = connections.accepted(on: .requests)
            connections.ended(on: .requests)
        }
        await service.look(&policy)
        #expect(metrics.value(.storeCacheBytes) == 0)
    }

    @Test func `giving back does no harm`() {
        let blocks = (0..<1_000).map { [UInt8](repeating: 1, count: 10_000 + $0) }
        _ = ProcessMemory.giveBack()
        #expect(blocks.allSatisfy { $0.first == 1 && $0.last == 1 })
    }
}
