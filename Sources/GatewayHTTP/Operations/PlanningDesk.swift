// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import Synchronization

/// Bounds the dry runs and forecasts that are under way, and makes choices on a thread that does nothing else.
///
/// A choice may take a hundred times as long as a page of a list. On the readers' threads, those who list breaks or prove their rights
/// would wait for it.
final class PlanningDesk: Sendable {
    /// The place of one of them; given back when the last reference is released.
    final class Place: Sendable {
        private let desk: PlanningDesk

        fileprivate init(_ desk: PlanningDesk) {
            self.desk = desk
        }

        deinit { self.desk.count.withLock { $0 -= 1 } }
    }

    /// How long the choices of one dry run may take together.
    let timeMax: Duration
    private let plansMax: Int
    private let threads: WorkerThreads
    private let metrics: MetricRegistry
    private let count = Mutex(0)

    /// - Parameters:
    ///   - threads: make the choices.
    ///   - configuration: the bounds.
    ///   - metrics: count the hits of limits.
    init(_ threads: WorkerThreads, _ configuration: GatewayHTTPConfiguration, metrics: MetricRegistry) {
        self.threads = threads
        self.plansMax = configuration.plansMax
        self.timeMax = configuration.planTimeMax
        self.metrics = metrics
    }

    /// How many there are at present.
    var underWay: Int { self.count.withLock(\.self) }

    /// Takes a place.
    ///
    /// - Throws: `LIMIT_REACHED` where there is none; a retry in a second may find one.
    func take() throws(Problem) -> Place {
        let isTaken = self.count.withLock { count in
            guard count < self.plansMax else { return false }
            count += 1
            return true
        }
        guard isTaken else {
            self.metrics.count(.limitsHit, .limit(.httpPlansMax))
            throw Problem(
                .reason(.limitReached),
                "The limit httpPlansMax is \(self.plansMax) dry runs and forecasts at a time, and is reached."
            )
        }
        return Place(self)
    }

    /// Does what takes much computing, one after the other.
    ///
    /// - Throws: the errors of `body`.
    func compute<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await self.threads.run(body)
    }

    /// The answer where the choices take too long.
    func tooLong() -> Problem {
        self.metrics.count(.limitsHit, .limit(.httpPlanTimeMax))
        return Problem(
            .reason(.tooLarge),
            "The limit httpPlanTimeMax is \(self.timeMax.inSecondsText), and choosing took longer: give fewer candidates or variants, or ask with cuecast dry-run."
        )
    }
}
