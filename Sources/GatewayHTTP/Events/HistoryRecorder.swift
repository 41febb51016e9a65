// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import Synchronization

/// Keeps the history of the gateway, also while no page is open.
final class HistoryRecorder: Sendable {
    private let metrics: MetricRegistry
    private let listeners: @Sendable () -> Int
    private let now: @Sendable () -> Timestamp
    private let began = ContinuousClock.now
    private let history = Mutex(GatewayHistory())

    init(_ parts: HTTPParts) {
        let overview = parts.breaks.overview
        self.metrics = parts.metrics
        self.listeners = { overview?.listenerCount ?? 0 }
        self.now = parts.now
    }

    /// Looks at the counters until it is cancelled.
    func run() async {
        while !Task.isCancelled {
            self.look(at: .now)
            guard (try? await Task.sleep(for: GatewayHistory.interval)) != nil else { return }
        }
    }

    /// Looks at the counters once.
    func look(at instant: ContinuousClock.Instant) {
        var reading = GatewayHistory.Reading(at: self.now(), elapsed: instant - self.began)
        reading.listeners = self.listeners()
        reading.notices = self.metrics.value(.noticesSent)
        reading.batches = self.metrics.value(.batches)
        reading.played = self.metrics.value(.countedOutcomes, .played)
        reading.ignored = self.metrics.value(.countedOutcomes, .ignored)
        reading.failed = self.metrics.value(.countedOutcomes, .failed)
        self.history.withLock { $0.take(reading) }
    }

    /// The samples of a span.
    func document(of span: GatewayHistory.Span) -> HistoryDocument {
        HistoryDocument(
            span: span.rawValue,
            stepSeconds: Int(span.step.inSeconds),
            now: self.now().description,
            samples: self.history.withLock { $0.samples(of: span) }
        )
    }
}
