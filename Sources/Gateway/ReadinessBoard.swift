// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore
import Synchronization

/// The parts that must work before a gateway accepts requests, and the alarms of a ready one.
///
/// The ledger is not among what has to work: it only reads, and may be behind.
///
/// ```swift
/// readiness.set(.log, isReady: false)  // requests are refused: /readyz answers 503
/// readiness.raise(.clock, "The wall clock is 1 h ahead of the gateway's clock.")  // /readyz still answers 200
/// ```
package final class ReadinessBoard: Sendable {
    package enum Part: String, CaseIterable, Sendable {
        case log
        case board
        case sockets

        var metricLabel: MetricLabel {
            switch self {
            case .log: .log
            case .board: .board
            case .sockets: .sockets
            }
        }
    }

    private struct State {
        var ready: Set<Part> = []
        var alarms: [Alarm: String] = [:]
        var failure: String?
        /// The parts that have worked once.
        var begun: Set<Part> = []
        /// Those who wait until all have.
        var waiters: [AsyncStream<Void>.Continuation] = []
    }

    private let state: Mutex<State> = Mutex(State())
    private let metrics: MetricRegistry

    /// - Parameter metrics: shows each part and each alarm as 0 or 1.
    package init(metrics: MetricRegistry = MetricRegistry()) {
        self.metrics = metrics
        for alarm in Alarm.allCases { metrics.set(.alarm, .alarm(alarm), to: 0) }
    }

    package func set(_ part: Part, isReady: Bool) {
        let waiters = self.state.withLock { state in
            self.metrics.set(.ready, part.metricLabel, to: isReady ? 1 : 0)
            guard isReady else {
                state.ready.remove(part)
                return [] as [AsyncStream<Void>.Continuation]
            }
            state.ready.insert(part)
            state.begun.insert(part)
            guard state.begun.count == Part.allCases.count else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.finish() }
    }

    /// Returns when every part has worked once, or when the task is cancelled.
    ///
    /// A gateway has started then, also where something fails again soon after: its log may have no room, for instance.
    package func begun() async {
        let (begun, waiter) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        let waits = self.state.withLock { state in
            guard state.begun.count < Part.allCases.count else { return false }
            state.waiters.append(waiter)
            return true
        }
        guard waits else { return }
        for await _ in begun {}
    }

    /// The parts that do not work; empty when the gateway is ready.
    package var missing: [Part] {
        self.state.withLock { state in Part.allCases.filter { !state.ready.contains($0) } }
    }

    /// Whether requests were taken once and are taken no more: the gateway is about to stop.
    package var isDraining: Bool {
        self.state.withLock { $0.begun.contains(.sockets) && !$0.ready.contains(.sockets) }
    }

    /// Something failed that only a new start mends: the process ends as soon as it has answered what it can.
    ///
    /// - Parameter sentence: for people: what failed.
    package func fail(_ sentence: String) {
        self.state.withLock { state in
            if state.failure == nil { state.failure = sentence }
        }
    }

    /// The permanent failure, for `/healthz`; `nil`: none.
    package var failure: String? { self.state.withLock(\.failure) }

    /// Raises an alarm, or gives a raised one another sentence.
    ///
    /// - Parameters:
    ///   - alarm: which one.
    ///   - sentence: for people: what is wrong, and what to do.
    /// - Returns: whether it was not raised before, for those who log a change once.
    @discardableResult
    package func raise(_ alarm: Alarm, _ sentence: String) -> Bool {
        self.state.withLock { state in
            // Inside the lock, so that the metric never says the opposite of the document for long.
            self.metrics.set(.alarm, .alarm(alarm), to: 1)
            return state.alarms.updateValue(sentence, forKey: alarm) == nil
        }
    }

    /// Ends an alarm.
    ///
    /// - Returns: whether it was raised.
    @discardableResult
    package func clear(_ alarm: Alarm) -> Bool {
        self.state.withLock { state in
            self.metrics.set(.alarm, .alarm(alarm), to: 0)
            return state.alarms.removeValue(forKey: alarm) != nil
        }
    }

    /// The alarms that are raised, always in the same order.
    package var alarms: [RaisedAlarm] {
        self.state.withLock { state in
            Alarm.allCases.compactMap { alarm in state.alarms[alarm].map { RaisedAlarm(alarm, $0) } }
        }
    }
}
