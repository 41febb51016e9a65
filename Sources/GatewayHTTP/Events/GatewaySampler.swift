// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments

/// Works out how the gateway is from what its metrics say from one second to the next.
struct GatewaySampler {
    private struct Counters {
        var at: ContinuousClock.Instant
        var notices: Int
        var batches: Int
        var acknowledgements: Int
        /// By histogram.
        var buckets: [[Int]]
    }

    private static let histograms: [Metric] = [.noticeSeconds, .appendSeconds, .scheduleLateSeconds]
    /// Latencies are those of so many samples.
    private static let samplesKeptMax = 60

    private let parts: HTTPParts
    private let overview: StreamOverview
    private let changes: BreakChanges
    /// Those in force.
    private let limits: @Sendable () -> [LimitState]
    /// The oldest first; never empty.
    private var samples: [Counters]
    /// Since when the ledger is behind; `nil`: it is not.
    private var behindSince: ContinuousClock.Instant?

    init(
        _ parts: HTTPParts,
        _ overview: StreamOverview,
        _ changes: BreakChanges,
        limits: @escaping @Sendable () -> [LimitState],
        at now: ContinuousClock.Instant
    ) {
        self.limits = limits
        self.parts = parts
        self.overview = overview
        self.changes = changes
        self.samples = [Self.counters(parts.metrics, at: now)]
    }

    private static func counters(_ metrics: MetricRegistry, at now: ContinuousClock.Instant) -> Counters {
        Counters(
            at: now,
            notices: metrics.value(.noticesSent),
            batches: metrics.value(.batches),
            acknowledgements: metrics.value(.acknowledgedOutcomes),
            buckets: Self.histograms.map { metrics.buckets(of: $0) }
        )
    }

    /// How it is now, with the rates since this was last asked.
    mutating func sample(at now: ContinuousClock.Instant) -> GatewayEventDocument {
        let metrics = self.parts.metrics
        let (newest, before) = (Self.counters(metrics, at: now), self.samples[self.samples.count - 1])
        let oldest = self.samples[0]
        self.samples.append(newest)
        if self.samples.count > Self.samplesKeptMax { self.samples.removeFirst() }
        let seconds = max((newest.at - before.at).inSeconds, 0.001)
        func rate(_ count: KeyPath<Counters, Int>) -> Double {
            // Two digits behind the point say enough.
            (Double(newest[keyPath: count] - before[keyPath: count]) / seconds * 100).rounded() / 100
        }
        func percentiles(_ index: Int) -> GatewayEventDocument.Percentiles? {
            let counts = zip(newest.buckets[index], oldest.buckets[index]).map { $0 - $1 }
            guard let half = HistogramQuantile.seconds(0.5, of: counts),
                let most = HistogramQuantile.seconds(0.99, of: counts)
            else { return nil }
            return GatewayEventDocument.Percentiles(
                p50: Int((half * 1e6).rounded()),
                p99: Int((most * 1e6).rounded())
            )
        }
        let lag = (0..<Lane.acknowledgementLaneCount)
            .reduce(0) { $0 + metrics.value(.ledgerLag, .lane(.acknowledgements($1))) }
        if lag == 0 { self.behindSince = nil } else if self.behindSince == nil { self.behindSince = now }
        return GatewayEventDocument(
            at: self.parts.now(),
            listeners: self.overview.listenerCount,
            listenersHere: self.overview.ownListenerCount,
            listenersHTTP: metrics.value(.httpListeners),
            gateways: metrics.value(.gateways),
            streams: self.overview.streamIDs.count,
            breaksRunning: self.changes.runningCount,
            rates: GatewayEventDocument.Rates(
                notices: rate(\.notices),
                batches: rate(\.batches),
                acknowledgements: rate(\.acknowledgements)
            ),
            latency: GatewayEventDocument.Latency(
                noticeMicroseconds: percentiles(0),
                appendMicroseconds: percentiles(1),
                scheduleLateMicroseconds: percentiles(2)
            ),
            ledgerLagRecords: lag,
            ledgerLagSeconds: self.behindSince.map { ((now - $0).inSeconds * 10).rounded() / 10 } ?? 0,
            disk: GatewayEventDocument.Disk(
                bytes: metrics.value(.logBytes) + metrics.value(.ledgerBytes),
                free: metrics.value(.diskFreeBytes)
            ),
            memoryBytes: metrics.value(.residentMemory),
            descriptors: GatewayEventDocument.Descriptors(
                open: metrics.value(.openDescriptors),
                max: metrics.value(.descriptorsMax)
            ),
            limits: self.limitsHit,
            alarms: self.parts.health.alarms(),
            draining: self.parts.health.draining(),
            version: self.parts.administration.version
        )
    }

    /// The limits that were reached since the start, by name; a limit's value is looked up only then.
    private var limitsHit: [GatewayEventDocument.Limit] {
        let hit = LimitName.allCases.filter { self.parts.metrics.value(.limitsHit, .limit($0)) > 0 }
        guard !hit.isEmpty else { return [] }
        let states = Dictionary(self.limits().map { ($0.name, $0.maximum) }) { first, _ in first }
        return hit.map { name in
            GatewayEventDocument.Limit(
                name,
                refused: self.parts.metrics.value(.limitsHit, .limit(name)),
                max: states[name] ?? nil
            )
        }
    }
}
